#ifndef CTL_WITNESS_H
#define CTL_WITNESS_H

/*
 * What canceld's decisions show about a server: counts and times, from the lines of its log (canceld(7), DIAGNOSTICS).
 * What follows a cancel has canceld's own times, counted from when it read the request.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/clock.h"

enum { WITNESS_TEXT = 256, WITNESS_LATE = 8 };

struct witness {
	pid_t server;              /* 0: it was not started */
	uint64_t dirty;            /* times that something on stdout was no proper message */
	uint64_t strays;           /* responses that match no request */
	uint64_t swept;            /* processes that it left behind */
	uint64_t lost;             /* lines of the log that are missing */
	bool timed_out;            /* canceld gave a request up at its deadline */
	char dirt[WITNESS_TEXT];   /* the first of it */
	char left[WITNESS_TEXT];   /* names of processes that were swept */
	char failed[WITNESS_TEXT]; /* what canceld could not do; empty: nothing */
	struct late {
		json_int_t id;
		msec_t after;
	} late[WITNESS_LATE]; /* the first answers to requests that were abandoned */
	size_t late_count;
	uint64_t late_progress;
	msec_t last_progress; /* of the last such progress; MSEC_NEVER: none */
	msec_t cancelled;     /* the last cancel was forwarded; 0: none was */
	bool unsent;          /* a request was cancelled before the server could see it */
	msec_t closed;        /* its stdin was closed; MSEC_NEVER: not yet */
	msec_t ended;         /* it ended; MSEC_NEVER: not yet */
	bool early;           /* by itself, before its stdin was closed */
	bool terminated;      /* SIGTERM was sent */
	bool killed;          /* SIGKILL was sent */
	int status, signal;   /* how it ended; -1: not so */
};

void witness_init(struct witness *witness);

/* One object of the log, heard at that time. */
void witness_hear(struct witness *witness, const json_t *event, msec_t now);

/* After what time the late answer to this request came; MSEC_NEVER: none did. */
msec_t witness_late(const struct witness *witness, int64_t id);

#endif
