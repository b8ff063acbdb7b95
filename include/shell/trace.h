#ifndef SHELL_TRACE_H
#define SHELL_TRACE_H

/*
 * A record of a session in a file, one JSON object a line:
 *
 *   {"trace":1,"part":1,"unix_ms":..,"mono":..,"pid":..,"version":..,"server":..,"command":..,"payload":..,"session":{..}}
 *   an event of the log, as with --log-format json and -vv, with "mono"; one that a call has led to has its number, "of"
 *   {"call":"hear","n":7,"mono":..,"side":"client","bytes":52,"text":".."}     with payload: each call of the session
 *   {"trace":"end","mono":..,"calls":8}
 *
 * mono: milliseconds of the clock that the session is told. text: the bytes of one read, secrets redacted (redact.h);
 * base64 instead if they are not UTF-8. Lines are kept in memory until trace_flush.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/config.h"
#include "core/journal.h"
#include "shell/log.h"
#include "shell/redact.h"

enum {
	TRACE_VERSION = 1,
	TRACE_PATH_MAX = 4096,
	TRACE_LEAST = 2 << 20, /* a smaller file could not hold the record of the longest read */
};

struct trace_config {
	const char *file; /* as given; NULL: no trace */
	bool payload;
	size_t most; /* bytes of both files; 0: one file, without a bound */
};

struct trace {
	int fd; /* -1: a write has failed, and nothing more is recorded */
	char path[TRACE_PATH_MAX];
	bool payload;
	size_t most;             /* of one file; SIZE_MAX: no bound */
	size_t size;             /* bytes written to the file */
	bool fresh;              /* ... which are the first record only */
	int64_t part;            /* how many files were begun */
	uint64_t calls;          /* so far */
	bool called;             /* a call runs: what is decided now follows from it */
	msec_t now;              /* of the last call */
	json_t *head;            /* the first record of each file */
	struct buf lines;        /* not written yet */
	struct redact redact[2]; /* by enum side */
	struct log *log;
	struct log_tap tap;
};

/*
 * Creates the file, which must not exist, with mode 0600: %p in its name is the process id, which is appended as ".PID"
 * if there is no %p. The former file, if the size is bounded, has ".1" behind that. 0, or -1 with errno; then
 * trace_close must not be called.
 */
int trace_open(struct trace *trace, const struct trace_config *config) __attribute__((warn_unused_result));

/* Writes the first record and listens to the log, which is borrowed until trace_close. command: as command_append has it. */
void trace_begin(struct trace *trace, const struct session_config *config, struct log *log, struct span command,
    msec_t now);

/* The last record, and the end of the file. */
void trace_close(struct trace *trace, msec_t now);

/* Whether calls are recorded. */
bool trace_records(const struct trace *trace);

/* A call of the session begins; fields: an object with its arguments, which is taken over. Then trace_return. */
void trace_call(struct trace *trace, const char *call, json_t *fields, msec_t now);
void trace_return(struct trace *trace);

/* The same for bytes that side `from` has written. */
void trace_hear(struct trace *trace, enum side from, struct span bytes, msec_t now);

/* Adds the bytes to the object, as "text", or as "base64" where they are not UTF-8. */
void trace_set_bytes(json_t *object, struct span bytes);

/* The bytes that trace_set_bytes has added, appended to the buffer. false: there are none. */
bool trace_get_bytes(json_t *object, struct buf *bytes);

/* Writes what was recorded. A failure is logged, and ends the trace. */
void trace_flush(struct trace *trace);

#endif
