#ifndef SHELL_SPIN_H
#define SHELL_SPIN_H

/*
 * Where an answer comes within some microseconds, to be put to sleep and woken for it takes longer than all that canceld
 * does with it, and on a virtual machine longer still. So while both sides have just spoken, it looks for the next
 * message before it sleeps; not at all where its affinity is one processor, which the others need. Looking in
 * vain takes a processor from whoever is waited for, so it is given up for a while where that happens again and again.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
	SPIN_TIME = 100, /* how long it looks, in microseconds */
	SPIN_NEAR = 200, /* both sides have spoken within so many */
	SPIN_TRIES = 3,  /* in vain, one after the other; then each try in vain costs it ... */
	SPIN_PAUSE = 64, /* ... so many occasions */
};

struct spin {
	bool alone; /* there is one processor */
	unsigned in_vain, pause;
	unsigned heard;  /* a bit for each side that bytes came from since spin_wait */
	int64_t last[2]; /* when they did before, in microseconds */
};

void spin_init(struct spin *spin);

/* Bytes have come from that side, 0 or 1. */
void spin_heard(struct spin *spin, unsigned side);

/*
 * Waits until one of the descriptors is readable, at most SPIN_TIME from now (CLOCK_MONOTONIC, in microseconds), if bytes
 * have come since the last call, and from the other side too less than SPIN_NEAR before. Returns whether one is readable;
 * false: not waited, or in vain.
 */
bool spin_wait(struct spin *spin, const int *fds, int count, int64_t now);

#endif
