#ifndef SHELL_SPIN_H
#define SHELL_SPIN_H

/*
 * Where an answer comes within some microseconds, to be put to sleep and woken for it takes longer than all that canceld
 * does with it. So while the two sides speak in turn, and as closely, it looks for the next message before it sleeps: never
 * longer than SPIN_TIME, and not at all where it may use one processor only, which the others need. A virtual machine
 * takes up to 50 us to wake a processor, and the other two may sleep as well.
 */

#include <stdbool.h>
#include <stdint.h>

enum { SPIN_TIME = 150 }; /* microseconds */

struct spin {
	bool alone; /* there is one processor */
	unsigned heard,
	    before;   /* a bit for each side that bytes came from: since spin_wait; before the last one that was so */
	int64_t last; /* when they last did, in microseconds */
};

void spin_init(struct spin *spin);

/* Bytes have come from that side, 0 or 1. */
void spin_heard(struct spin *spin, unsigned side);

/*
 * Waits until one of the descriptors is readable, if bytes have come since the last call, at now (CLOCK_MONOTONIC, in
 * microseconds), and others, from the other side, less than SPIN_TIME before. Returns whether one is readable; false: not
 * waited, or in vain.
 */
bool spin_wait(struct spin *spin, const int *fds, int count, int64_t now);

#endif
