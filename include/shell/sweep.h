#ifndef SHELL_SWEEP_H
#define SHELL_SWEEP_H

/*
 * Ends processes that were left behind. Only own children are signalled: nobody else can reap them, so their ids cannot
 * have become those of others. What they leave becomes a child when they have ended, as the caller is a subreaper
 * (prctl(2)); so it goes round by round, until none is left.
 *
 * Children are found in /proc/thread-self/children. Without it (no /proc, or a kernel without CONFIG_PROC_CHILDREN) every
 * number is tried, but only while a child is left that was not in the leader's group.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SWEEP_NAME = 16 }; /* what Linux keeps of a process's name, and the NUL */

/* name: empty if it is unknown. */
typedef void sweep_ended(void *context, pid_t pid, const char *name);

struct sweep {
	pid_t leader; /* of the group; not reaped before the sweep, so that the group's id stays taken; 0: none */
	bool group;   /* spare what is not in the leader's group */
	pid_t *spared;
	size_t spared_count;
	bool begun;
	pid_t ended_group; /* the leader's, once it was sent SIGKILL */
	pid_t next, tried; /* the number to be tried next, and how many were since the last that was a child */
};

void sweep_init(struct sweep *sweep, bool group);
void sweep_free(struct sweep *sweep);

/* 0: there is none, or it was reaped elsewhere. */
void sweep_set_leader(struct sweep *sweep, pid_t leader);

/* Spares the children that there are now; if they cannot be listed, whatever is not in the leader's group. */
void sweep_spare(struct sweep *sweep);

/* A child was reaped elsewhere: its number may become another process's. */
void sweep_forget(struct sweep *sweep, pid_t pid);

/* Reaps what is dead but the leader, as far as children can be listed. */
void sweep_reap(struct sweep *sweep);

/*
 * SIGKILL for each child that is alive; what is dead is reaped. ended, unless NULL, is told of each process that SIGKILL ended.
 * true: none is left. To be called again whenever a child has ended, and now and then. It never blocks.
 */
bool sweep_round(struct sweep *sweep, sweep_ended *ended, void *context);

#endif
