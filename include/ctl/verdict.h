#ifndef CTL_VERDICT_H
#define CTL_VERDICT_H

/*
 * The checklist of `cancelctl doctor`: what a server has to keep, what was found, and the report of it as text, JSON
 * and JUnit's XML. Names and texts of servers are hostile: each report escapes them.
 */

#include <stdbool.h>
#include <stdio.h>

#include "core/clock.h"

/* In the order of the reports; src/ctl/verdict.c has a row for each. */
enum check {
	CHECK_INITIALIZE,
	CHECK_DISCOVER,
	CHECK_TOOLS,
	CHECK_CALL,
	CHECK_PROGRESS,
	CHECK_BUSY,
	CHECK_CANCEL,
	CHECK_SILENCE,
	CHECK_ALIVE,
	CHECK_TIMEOUT,
	CHECK_STDOUT,
	CHECK_ONCE,
	CHECK_EXIT,
	CHECK_ORPHANS,
	CHECK_MEMORY,
	CHECKS
};

enum verdict { VERDICT_NOT_TESTED, VERDICT_YES, VERDICT_NO };

enum { VERDICT_EVIDENCE = 512, VERDICT_DIALECTS = 3 };

struct verdicts {
	const char *command; /* borrowed, printable */
	const char *dialect; /* its name */
	int column;          /* of the protocol in the table: an enum dialogue_kind */
	char server[256];    /* what it calls itself; may be empty */
	bool ended;          /* it ended before it opened a session, as the evidence of CHECK_INITIALIZE says */
	struct finding {
		enum verdict verdict;
		msec_t time; /* MSEC_NEVER: no time was taken */
		char evidence[VERDICT_EVIDENCE];
	} findings[CHECKS];
};

/* dialect, and column: the name and the number of the protocol, an enum dialogue_kind. */
void verdict_init(struct verdicts *verdicts, const char *command, const char *dialect, int column);

/* What the server calls itself; version: may be NULL. */
void verdict_name_server(struct verdicts *verdicts, const char *name, const char *version);

void verdict_end(struct verdicts *verdicts);

/* A later finding replaces an earlier one unless that was worse: no is worse than yes, and yes than not tested. */
void verdict_tell(struct verdicts *verdicts, enum check check, enum verdict verdict, msec_t time, const char *format,
    ...) __attribute__((format(printf, 5, 6)));

/* Whether a promise is broken: one that the protocol demands, not one that it only permits. */
bool verdict_is_broken(const struct verdicts *verdicts);

/* What was not tested because no session was opened is only counted. colour: with escapes for a terminal. */
void verdict_print(const struct verdicts *verdicts, FILE *to, bool colour);

/* One object, on one line. */
void verdict_print_json(const struct verdicts *verdicts, FILE *to);

void verdict_print_junit(const struct verdicts *verdicts, FILE *to);

#endif
