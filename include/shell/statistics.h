#pragma once

/*
 * What became of the requests of a session: counted by method and name, with their times; and the
 * last ones that ended.
 */

#include "core/journal.h"

enum {
	/* bytes of a method or name, which are hostile input, that tell it from others */
	STATISTICS_NAME = 128,
	/*
	 * the bounds of a histogram: those of OpenTelemetry's conventions, and one for all longer
	 * times
	 */
	STATISTICS_TIMES = 15,
};

/*
 * The bounds in ms. A time is counted for the first bound that is not less than it. The last is
 * MSEC_NEVER.
 */
extern const msec_t statistics_times[STATISTICS_TIMES];

struct method_totals { /* of the client's requests of one method and name that have ended */
	struct span method, name;
	char storage[2][STATISTICS_NAME];
	/* count: of all tallies; sum: ms from each request to its end, in all */
	uint64_t tallies[TALLIES], count, sum;
	uint64_t times[STATISTICS_TIMES];
	msec_t longest;
	/*
	 * of requests that were answered at once: how many, and their time; the history resets both
	 */
	uint64_t at_once, at_once_ms;
};

struct ended { /* a request that has ended, or is awaited no more; its spans are in storage */
	struct action action;
	msec_t at;
	char storage[3][STATISTICS_NAME];
};

struct statistics {                                      /* zeroed: nothing has ended yet */
	struct method_totals methods[LIMIT_METHODS + 1]; /* the last one is that of all others */
	size_t method_count;                             /* of those in use */
	/* the last requests that ended, without those answered at once; a ring */
	struct ended ended[LIMIT_ENDED];
	size_t ended_count; /* how many there were */
};

/* Counts and keeps a request that has ended now. action: a VERB_END. */
void statistics_end(struct statistics *statistics, const struct action *action, msec_t now);
