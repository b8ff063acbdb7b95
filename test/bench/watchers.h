/*
 * watchers: three clients of canceld's control socket that watch its decisions, as `cancelctl watch` does. Two read,
 * one never does. Every failure ends the program.
 */
#ifndef BENCH_WATCHERS_H
#define BENCH_WATCHERS_H

#include <sys/types.h>

struct watchers {
	pid_t pid; /* of the process that holds the connections; 0: none */
};

/* Returns once canceld has accepted all three as watchers. */
void watchers_start(struct watchers *watchers, const char *path);

void watchers_end(struct watchers *watchers);

#endif
