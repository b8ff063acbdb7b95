#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

/* The client: sends requests of one size, counts the lines that come back, and looks at the clock. */

#include <stdint.h>

#include "way.h"

enum { REQUEST_LEN = 200 };

struct load {
	struct peer *peer;
	uint64_t sent, answered; /* requests; lines that came back */
	uint64_t bytes;          /* that came back */
	uint64_t unwritten;      /* bytes of requests that are prepared and not taken yet */
	uint64_t prepared;
	bool bulk; /* requests are written together */
};

double clock_ns(void);

/* Greets the server and waits for its answer. */
void load_start(struct load *load, struct peer *peer, bool bulk);

/* One request at a time: how many nanoseconds each took. */
void load_round_trips(struct load *load, double *ns, unsigned count);

/* Until so many more lines came back, with as many requests on their way as the window has, and `held` besides. */
void load_stream(struct load *load, uint64_t answers, uint64_t window, uint64_t held);

/* Makes the server answer all that it holds back. */
void load_flush(struct load *load);

#endif
