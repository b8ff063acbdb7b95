#ifndef SHELL_SPIN_H
#define SHELL_SPIN_H

/*
 * Where the next message comes within some microseconds, to be put to sleep and woken for it takes longer than all that
 * canceld does with it. So while messages follow each other so closely, it looks for the next one before it sleeps:
 * never longer than SPIN_TIME, and not at all where there is only one processor, which the others need.
 */

#include <stdbool.h>
#include <stdint.h>

enum { SPIN_TIME = 50 }; /* microseconds */

struct spin {
	bool alone;   /* there is one processor */
	bool heard;   /* bytes came since spin_wait */
	int64_t last; /* when they last did, in microseconds */
};

void spin_init(struct spin *spin);

/* Bytes have come. */
void spin_heard(struct spin *spin);

/*
 * Waits until one of the descriptors is readable, if bytes have come since the last call, at now (CLOCK_MONOTONIC, in
 * microseconds), and had come less than SPIN_TIME before that. Returns whether one is readable; false: not waited, or
 * in vain.
 */
bool spin_wait(struct spin *spin, const int *fds, int count, int64_t now);

#endif
