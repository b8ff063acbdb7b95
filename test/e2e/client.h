/*
 * client: the client's side of a session: what it sends, and what must then come back, be logged or
 * be received by the server. Every run_expect_* fails the test when HARNESS_LIMIT passes. A message
 * that a function returns lives until the next one is taken. Ids are given as JSON text. Includes
 * what the suites need.
 */
#pragma once

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "process.h"

#define INITIALIZE \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"
/*
 * A signal to canceld is soon one to the server. This one reads its cancels first, and ends by
 * itself.
 */
#define PATIENT_SERVER "demo --ignore-term"
#define FOR_EVER "{\"ms\":600000}" /* the arguments of a call that hangs */

#define CODE_CANCELLED (-32800)
#define CODE_INTERNAL (-32603)

/* Writes a line to canceld's stdin, with its newline; returns when all is written. */
void run_send(struct run *run, const char *line);
void run_send_text(struct run *run, const char *data, size_t len);
__attribute__((format(printf, 2, 3))) void run_sendf(struct run *run, const char *format, ...);

void run_call(struct run *run, const char *id, const char *tool, const char *arguments);
void run_cancel(struct run *run, const char *id);
void run_handshake(struct run *run);

/* Asks a ping, with the id 1; makes a call that hangs, which the demo server has then received. */
void run_ping(struct run *run);
void run_hang(struct run *run, const char *id);

/* A session with one call that is never answered, whatever is cancelled. */
struct run *run_hanging(const char *options, const char *id);

/* run_options, then run_handshake. */
struct run *run_session(const char *options, const char *command);

/* The next line on stdout, or NULL if the stream ends or the time passes first. */
const char *run_line(struct run *run, long limit);

/*
 * The next line must be: a message; a response with this id; one with a result; an error made by
 * canceld.
 */
json_t *run_expect_message(struct run *run);
json_t *run_expect_answer(struct run *run, const char *id);
json_t *run_expect_result(struct run *run, const char *id);
json_t *run_expect_error(struct run *run, const char *id, int code, const char *cause);

/* Makes the demo server answer all stubborn calls, of which no answer may be passed on. */
void run_release(struct run *run);

/* Calls echo; its answer must be the next line, so nothing else was sent before. */
void run_expect_echo(struct run *run, const char *id);
void run_expect_quiet(struct run *run, long time); /* no line on stdout for so long */
void run_expect_end(struct run *run);              /* stdout is at its end, without further lines */

void run_expect_logged(struct run *run, const char *text);
/* in the last line of the log; words */
void run_expect_summary(struct run *run, const char *fields);
void run_expect_received(struct run *run, const char *text); /* by the demo server */
void run_expect_cancelled(struct run *run, const char *id);  /* the demo server received a cancel */
bool run_received(const struct run *run, const char *text);  /* up to now */

/* Closes stdin and expects this status. */
void run_leave(struct run *run, int status);

/* Waits until every process of the run sleeps: nothing goes on any more. */
void run_settle(struct run *run);

/*
 * Makes the puppet (peers.h) stop reading, and writes until canceld reads nothing any more either.
 */
void run_fill(struct run *run);

/* The member at a path of names with a space between them; the test fails if it is not there. */
json_t *at(json_t *message, const char *path);
const char *at_text(json_t *message, const char *path);
long at_number(json_t *message, const char *path);
const char *answer_text(json_t *message); /* of a tool's result */
bool at_exists(json_t *message, const char *path);
