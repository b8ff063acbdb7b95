#pragma once

/*
 * What the lines of the JSON log tell of sessions and their requests, as a tree, and the formats in
 * which it is handed on.
 *
 *   session: pid, server, start, end, since (its start as the log has it), events, calls; as far as
 *            it is known dialect, protocol, clientInfo and serverInfo (objects with a name and a
 *            version), session and client, of the history; over, if it is
 *   call:    a request: title, from (client or server), id, method, name, start, events; ended and
 *            outcome, if it has ended: "result", "isError", the code of an error, or the word of
 *            the log by which it was given up; answered, if its answer came; reason, why it was
 *            given up; tally, how it ended, if that is of the history, which then has a reason at
 *            least in its outcome, unless it was answered; traceparent; request and response, the
 *            texts of its messages; open: it was the oldest of so many as canceld was killed
 *   event:   a line of the log, about the call or about none; its word why is "progress" for
 *            progress of the call
 *
 * Times are ms since 1970: the line's time too. Calls are in the order in which they were heard of.
 */

#include <jansson.h>

#include "core/buf.h"
#include "core/timeline.h"

struct trace {
	const char *which; /* only of this server, or of the canceld with this pid; NULL: of all */
	bool payload;      /* keep the texts of messages */
	msec_t since;     /* of older lines only the head of their session is told, if it goes on */
	msec_t until;     /* lines from then on are not meant; 0: all are */
	json_t *sessions; /* an array; this and the next are owned by who made them */
	json_t *open;     /* an object: those that are not over, by the session, or else the pid */
};

/*
 * Reads a JSON log, an object a line, into the trace. path "-": standard input; a path at which no
 * file is names a server, as trace->which does, whose history is read. The trace borrows the path.
 * Returns the exit status.
 */
int trace_read(const char *path, struct trace *trace);

/* Called with an object, which it then owns. Returns whether that was a line of the log. */
typedef bool trace_hearer(void *user, json_t *line);

/*
 * Hands each line of the history to `hear`, the oldest first; there may be none. tells: faults are
 * written to stderr. Returns the exit status.
 */
int trace_read_history(trace_hearer *hear, void *user, bool tells);

/*
 * Reads the value of --since or --until as local time; NULL: 0. A value that is no time ends the
 * program.
 */
msec_t trace_read_since(const char *text);

/* 2026-11-26 08:21:37 CET: as people here read it; until the call after the next one. */
struct span trace_clock(msec_t time);

/*
 * Appends what the history tells of the servers of this name, or of the canceld with this pid
 * (NULL: of all), as lines.
 */
void history_append(struct buf *out, const char *which, size_t cells);

/*
 * The time at which a line was written, -1 if it has none. Not for lines that trace_hear has taken.
 */
msec_t trace_time(const json_t *line);

/* Whether the line is of the servers and of the time that are meant. */
bool trace_is_meant(const struct trace *trace, const json_t *line);

/*
 * Whether the line says that canceld or the server ended unexpectedly, or could not be started
 * again.
 */
bool trace_is_loss(const json_t *line);

/*
 * The text that explains an event: its reason, exit status, signal or number of open requests. The
 * caller owns it.
 */
json_t *trace_reason(const json_t *event);

/* A trace_hearer, for a struct trace: an object of the JSON log or of the history. */
bool trace_hear(void *trace, json_t *line);

/* To be called when the struct trace will hear nothing more of that process. */
void trace_close(void *trace, long pid);

/*
 * Moves into `taken`, an empty trace, the events that belong to no call, and each call that was
 * answered, was given up before that time, or belongs to a session that is over.
 */
void trace_take(struct trace *trace, msec_t before, struct trace *taken);

/* The tallies in the history that are no failure. A request that its client gave up is none. */
#define TRACE_FINE "answered streams cancelled left open"

/* Whether the call ended with an error, or was given up by somebody else than its client. */
bool trace_failed(const json_t *call);

/* When the call ended; of an open call, when its session did. */
msec_t trace_end(const json_t *session, const json_t *call);

/*
 * The row, from 0 to TRACE_ROWS - 1, in which a drawing shows the call: calls that ran at the same
 * time get different rows. To be asked for all calls in their order. taken: zeroed before the first
 * one.
 */
enum { TRACE_ROWS = 1000 };
size_t trace_row(const json_t *session, const json_t *call, msec_t taken[TRACE_ROWS]);

/*
 * What is counted of sessions: an object, to which a session's requests are added, those too that
 * the history has only counted; and, once all are in it, the rows of those with so many failures,
 * the slowest last: title, server, method, name, count, failed, p50, p95 and, if not all were only
 * counted, max.
 */
void trace_count(json_t *tools, const json_t *session);
json_t *trace_tools(json_t *tools, json_int_t least);

/* Write all to standard output. */
void trace_perfetto(const struct trace *trace);
void trace_otlp(const struct trace *trace);
void trace_html(const struct trace *trace); /* at most 1 MiB */
