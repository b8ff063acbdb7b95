#ifndef SHELL_LOG_H
#define SHELL_LOG_H

/*
 * One line an event, to stderr or a file: `canceld[PID]: WHY key=value ...`, or one JSON object.
 * Never blocks: what the reader does not take at once waits in a bounded queue, and what does not
 * fit is counted and told later (LINES_LOST). Values may be any bytes. errno is kept.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/why.h"
#include "shell/descriptor.h"

enum {
	LOG_QUEUE_MAX = 64 << 10, /* bytes not taken yet */
	LOG_VALUE_MAX = 512,      /* bytes shown of one value */
	LOG_NOISE_MAX = 1024,     /* bytes shown of a line of noise */
	LOG_LAST_WAIT = 50,       /* ms, for the last lines to be taken */
};

struct log_config {
	enum why_level level; /* what is above it is not shown */
	bool json;
	const char *file; /* NULL: stderr */
};

struct log {
	struct descriptor descriptor;
	enum why_level level;
	bool json;
	bool dated;       /* text lines begin with the time: in a file nobody else adds it */
	struct buf queue; /* lines not written yet, the first perhaps in part */
	uint64_t lost;    /* lines dropped; until that is told all that come are */
	uint64_t told;    /* how many LINES_LOST tells, if it is the queue's first line; else 0 */
};

enum log_kind {
	LOG_TEXT, /* any bytes; an empty one is left out */
	LOG_ID,   /* JSON as spelled on the wire; an empty one is left out */
	LOG_NUMBER,
	LOG_TIME, /* a duration in ms; MSEC_NEVER is left out */
};

struct log_field {
	const char *key;
	enum log_kind kind;
	struct span text;
	int64_t number;
};

/* 0, or -1 with errno if the file cannot be opened (nothing is to be closed then). */
int log_open(struct log *log, const struct log_config *config) __attribute__((warn_unused_result));

/* Waits at most LOG_LAST_WAIT for the last lines to be taken. */
void log_close(struct log *log);

bool log_shows(const struct log *log, enum why why);

/* Nothing is done if the level hides it. */
void log_event(struct log *log, enum why why, const struct log_field *fields, size_t count);

/*
 * The same with the fields as one JSON object in either format, and at every level: a person asked
 * for it.
 */
void log_statistics(struct log *log, const struct log_field *fields, size_t count);

/* A line of the server's that is no message: `NOISE | the line`, cut after LOG_NOISE_MAX. */
void log_noise(struct log *log, struct span line);

/* FAILED: what canceld could not do, and errno's text (0: none). */
void log_failure(struct log *log, const char *doing, int error);

/* Tries to write what waits. Call it when log->descriptor.fd is writable, and once a turn. */
void log_flush(struct log *log);
bool log_wants_write(const struct log *log);

/* Fields, shorter. */
struct log_field log_text(const char *key, struct span text);
struct log_field log_string(const char *key, const char *text); /* NULL is left out */
struct log_field log_id(const char *key, struct span id);
struct log_field log_number(const char *key, int64_t number);
struct log_field log_time(const char *key, msec_t duration);

#endif
