/*
 * talk: what the client says, and what it and others must then be seen to hear. Every
 * run_expect_* fails the test when the limit passes. A message that a function returns lives until
 * the next one is taken.
 */
#ifndef E2E_TALK_H
#define E2E_TALK_H

#include "harness.h"

#define CODE_CANCELLED (-32800)
#define CODE_INTERNAL (-32603)

/* A line to canceld's stdin; the newline is added. Returns when it is on its way. */
void run_send(struct run *run, const char *line);
void run_send_text(struct run *run, const char *data, size_t len);
__attribute__((format(printf, 2, 3))) void run_say(struct run *run, const char *format, ...);

/* ids are JSON text. */
void run_call(struct run *run, const char *id, const char *tool, const char *arguments);
void run_cancel(struct run *run, const char *id);
void run_handshake(struct run *run);

/* The same for run_options and then run_handshake. */
struct run *run_session(const char *options, const char *command);

/* The next line on stdout, or NULL if the stream ends or the time passes first. */
const char *run_line(struct run *run, long limit);

/* The next line must be a message; an answer with this very id; one that is a result; an error of canceld's own. */
json_t *run_expect_message(struct run *run);
json_t *run_expect_answer(struct run *run, const char *id);
json_t *run_expect_result(struct run *run, const char *id);
json_t *run_expect_error(struct run *run, const char *id, int code, const char *cause);

/* Calls echo; its answer must be the very next line: so nothing else was on its way before. */
void run_expect_echo(struct run *run, const char *id);
void run_expect_quiet(struct run *run, long time); /* no line on stdout for so long */
void run_expect_end(struct run *run);              /* stdout is at its end, and had no more lines */

void run_expect_logged(struct run *run, const char *text);
void run_expect_received(struct run *run, const char *text); /* by the demo server */
void run_expect_cancelled(struct run *run, const char *id);  /* the demo server received a cancel */
bool run_received(const struct run *run, const char *text);  /* up to now */

/* The member at a path of names with a space between them; the test fails if it is not there. */
json_t *at(json_t *message, const char *path);
const char *at_text(json_t *message, const char *path);
long at_number(json_t *message, const char *path);
const char *answer_text(json_t *message); /* of a tool's result */
bool at_exists(json_t *message, const char *path);

#endif
