#pragma once

/*
 * One line for each event, to stderr or a file: `canceld[PID] NAME: WHY key=value ...`, or one JSON
 * object. Never blocks: bytes that cannot be written at once wait in a bounded queue; lines that do
 * not fit are counted, and logged later as LINES_LOST. Values may be any bytes. errno is preserved.
 * The relay passes the server's stderr on, through the same queue if the log is on stderr: so a
 * line of the log begins a line even after a part of the server's.
 */

#include "shell/writer.h"

enum {
	/* bytes not written yet, unless one line is longer; more than those of the relay */
	LOG_QUEUE_MAX = 128 << 10,
	/* ... to a regular file, which takes some time for long messages */
	LOG_FILE_QUEUE_MAX = 1 << 20,
	LOG_VALUE_MAX = 512,       /* bytes shown of one value */
	LOG_NOISE_MAX = 1024,      /* bytes shown of a line of noise */
	LOG_PAYLOAD_MAX = 1 << 20, /* ... of a message */
	LOG_TAIL_MAX = 16 << 10,   /* bytes kept of the last lines */
	LOG_LAST_WAIT = 50,        /* ms, to write the last lines */
	LOG_FILE_WAIT = 1000,      /* ... to a regular file that is not shared */

	RELAY_QUEUE_MAX = 64 << 10, /* bytes of the server's stderr not written yet */
	RELAY_TAIL_MAX = 4 << 10,   /* bytes of it kept */
};

struct log_config {
	enum why_level level; /* events of a higher level are not shown */
	bool json;
	bool payload;     /* each line about a message has its text */
	bool dry_run;     /* each line says so: "canceld[PID] NAME (dry run): WHY ..." */
	const char *file; /* NULL: stderr */
	const char *name; /* the server's, borrowed as long as the log is open; NULL or "": none */
	/* the file, if several canceld share it; `file` is NULL then */
	const struct writer_shared *shared;
	bool by_round;             /* events are queued, and only log_flush writes them */
	bool tail;                 /* the last lines are kept */
	const struct buf *members; /* of each JSON object, behind the server's name; NULL: none */
};

struct log_field;

/* An event with its fields. */
typedef void log_hearer(void *user, enum why why, const struct log_field *fields, size_t count);

struct log {
	struct log_config config;     /* anyone may change the level at any time */
	struct descriptor descriptor; /* fd -1: the writer is started with the first line */
	struct writer writer;         /* of a regular file */
	int file;                     /* the file until the writer is started; -1: none */
	pid_t pid;                    /* of canceld */
	struct buf queue;             /* not written yet: lines, and parts of the server's */
	/*
	 * lines dropped; while it is not 0, new lines are dropped too, until LINES_LOST is queued
	 */
	uint64_t lost;
	bool failed;     /* log_failed has told it */
	bool inside;     /* the queue ends inside a line */
	struct buf tail; /* the last lines, in JSON, without payloads */
	/*
	 * Called for events up to hear_level, whatever the log shows and in whatever format.
	 * It must not log anything, and may give the fields to log_append_line. Anyone may set it.
	 * NULL: nobody hears.
	 */
	log_hearer *hear;
	void *hearer;
	enum why_level hear_level;
	/*
	 * Called for the events that the history keeps about the session itself, whatever the level
	 * is. NULL: nobody keeps them.
	 */
	log_hearer *keep;
	void *keeper;
};

enum log_kind {
	LOG_TEXT, /* any bytes; an empty one is left out of the line */
	LOG_ID,   /* JSON text as received; an empty one is left out */
	/*
	 * the text of a message; the last field, shown only if the log has payloads, and never
	 * given to `hear`
	 */
	LOG_PAYLOAD,
	LOG_NUMBER,   /* this and the next have a number */
	LOG_POSITIVE, /* else it is left out */
	LOG_TIME,     /* a duration in ms; MSEC_NEVER is left out */
};

struct log_field {
	const char *key;
	enum log_kind kind;
	struct span text;
	int64_t number;
};

/*
 * A file is created with mode 0600; if it exists and has wider rights, its first line is
 * LOG_EXPOSED, or with payloads the log is refused. NULL, or what is wrong, for a person: then
 * log_close must not be called.
 */
const char *log_open(struct log *log, const struct log_config *config) MUST_USE;

/* A log of JSON in a shared file, which is opened later; or one for log_open, without a file. */
void log_init(struct log *log, const struct log_config *config);

/* Starts another writer of the shared file, after the former one has ended. */
void log_reopen(struct log *log);

/*
 * Writes the last lines, for at most LOG_LAST_WAIT or LOG_FILE_WAIT, and closes the log. Returns
 * what log_failed does.
 */
int log_close(struct log *log);

/*
 * The errno of the first failed write to the log's file. It is returned once; 0: there was none, it
 * was returned before, or the log has no file.
 */
int log_failed(struct log *log);

/* Sets up the watchers for the next wait. */
void log_watch(struct log *log);

extern const char *const log_levels[]; /* the names of enum why_level */

/* The level of this name. false: there is none. */
bool log_level_named(struct span name, enum why_level *level);

/* Whether an event with this word is shown, heard or kept. */
bool log_shows(const struct log *log, enum why why);

/* An array of fields, and their number. */
#define LOG_FIELDS(...) \
	(const struct log_field[]){ __VA_ARGS__ }, \
	    sizeof((struct log_field[]){ __VA_ARGS__ }) / sizeof(struct log_field)

/*
 * Logs one event, unless the level hides it. In text, NOISE is written as `NOISE | TEXT`: its first
 * field without quotes.
 */
void log_fields(struct log *log, enum why why, const struct log_field *fields, size_t count);
#define log_event(log, why, ...) log_fields(log, why, LOG_FIELDS(__VA_ARGS__))

/*
 * A line of the log: a JSON object; or `canceld[PID] NAME: WHY` and the fields, after the time if
 * it goes to a file.
 */
void log_append_line(struct buf *line, const struct log *log, bool json, enum why why,
    const struct log_field *fields, size_t count);

/* Logs FAILED: what canceld could not do, and the text of an errno (0: none). */
void log_failure(struct log *log, const char *doing, int error);

/*
 * Queues bytes that are no line of the log. false: more than `most` would wait, so they were not
 * queued.
 */
bool log_pass(struct log *log, struct span bytes, size_t most) MUST_USE;

/* Ends a line that is unfinished in the queue. */
void log_end_line(struct log *log);

/* Writes as much of the queue as possible without blocking. */
void log_write(struct log *log);

/* Writes like log_write, and logs how many lines were lost. To be called once a round. */
void log_flush(struct log *log);

#define LOG_FIELD(name, is, member, value) \
	((struct log_field){ .key = (name), .kind = (is), .member = (value) })
#define log_text(name, value) LOG_FIELD(name, LOG_TEXT, text, value)
#define log_id(name, id) LOG_FIELD(name, LOG_ID, text, id)
#define log_payload(message) LOG_FIELD("payload", LOG_PAYLOAD, text, message)
#define log_number(name, value) LOG_FIELD(name, LOG_NUMBER, number, (int64_t)(value))
#define log_positive(name, value) LOG_FIELD(name, LOG_POSITIVE, number, (int64_t)(value))
#define log_time(name, time) LOG_FIELD(name, LOG_TIME, number, time)
struct log_field log_string(const char *key, const char *text); /* NULL is left out */

struct action;
struct dialect;
struct policy;
struct session;

/* Logs a decision of the session's. */
void report_action(struct log *log, const struct action *action);

/* Logs how a request ended. action: a VERB_END. */
void report_end(struct log *log, const struct action *action);

/*
 * why: RULE_DOUBTED, to log once each rule that was most likely meant otherwise; or RULE_UNUSED, to
 * log these again, and the rules for this server alone that have named no request. dialect: NULL:
 * not known.
 */
void report_rules(struct log *log, enum why why, struct policy *policy,
    const struct dialect *dialect);

/* Logs RULE_UNUSED, and SUMMARY with the counts of the whole session. */
void report_summary(struct log *log, const struct session *session, struct policy *policy);

/*
 * Passes the server's stderr on to canceld's own, and keeps the last bytes. Neither side ever waits
 * for the other: lines that do not fit into the queue are dropped whole, and counted. If stderr is
 * a terminal, the server writes to it directly.
 */
struct relay {
	struct descriptor in;
	struct log own, *out; /* the log that writes to stderr: own, or the shared one */
	int write_end;        /* the server's stderr; -1: canceld's own */
	struct buf tail;      /* the last bytes that were read */
	uint64_t lost;        /* lines dropped since relay_lost last returned some */
	bool dropping;        /* inside a line that is dropped */
};

/*
 * 0, or -1 with errno. inherited: the server writes to canceld's stderr directly, so that a process
 * that outlives canceld can still write. shared: a log on stderr; NULL: none. relay must not move
 * in memory until relay_close.
 */
int relay_open(struct relay *relay, bool inherited, struct log *shared) MUST_USE;

/*
 * Closes the relay. Bytes that wait in the shared log are written by that log. Also to be called
 * after a failed relay_open.
 */
void relay_close(struct relay *relay);

/* Sets up the watchers for the next wait; the caller does that for the shared log. */
void relay_watch(struct relay *relay);

/*
 * Its part of a round of the loop: reads what is ready, as much as one round has time for, and
 * writes as much as possible.
 */
void relay_round(struct relay *relay);

/* Writes a line of canceld's own, given without its newline and the program's name. */
void relay_say(struct relay *relay, struct span line);

/* The number of lines that were lost since the last call; 0 while the queue is not empty. */
uint64_t relay_lost(struct relay *relay);

/* The last lines that the server has written until now; valid until the next call. */
struct span relay_last_lines(struct relay *relay);

/* Forgets the last lines, before another server is started. */
void relay_forget(struct relay *relay);
