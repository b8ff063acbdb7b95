#ifndef SHELL_SWEEP_H
#define SHELL_SWEEP_H

/*
 * Ends processes that were left behind. Only own children are signalled: nobody else can reap them, so their ids cannot
 * have become those of others. What they leave becomes a child when they have ended, as the caller is a subreaper
 * (prctl(2)); so it goes round by round, until none is left.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	SWEEP_NAME = 16, /* what Linux keeps of a process's name, and the NUL */
	SWEEP_SPARED = 32,
};

typedef void sweep_ended(void *context, pid_t pid, const char *name);

struct sweep {
	pid_t leader; /* ended with its group and reaped last, so that the group's id stays taken; 0: none */
	bool group;   /* spare what is not in its group */
	pid_t spared[SWEEP_SPARED]; /* not to be touched */
	size_t spared_count;
	bool begun, leader_dead;
	sweep_ended *ended; /* told of each that SIGKILL ended, if it is not NULL; name may be empty */
	void *context;
};

/* Spares the children that there are now. */
void sweep_spare(struct sweep *sweep);

/*
 * SIGKILL for each child that is alive; what is dead is reaped. true: none is left. To be called again whenever a child
 * has ended, and now and then. It never blocks.
 */
bool sweep_round(struct sweep *sweep);

#endif
