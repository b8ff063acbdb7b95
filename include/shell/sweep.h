#ifndef SHELL_SWEEP_H
#define SHELL_SWEEP_H

/*
 * Ends processes that were left behind. Only children are signalled: no other process can reap them, so their ids
 * cannot have become those of other processes. When a child ends, its own children become the caller's, which is a
 * subreaper (prctl(2)): so the sweep takes rounds, until no child is left.
 *
 * Children are listed in /proc/thread-self/children. Without it (no /proc, or a kernel without CONFIG_PROC_CHILDREN)
 * all numbers are tried, as long as there is a child that was not in the leader's group.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>

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

/* A child that has ended and is not reaped yet; false: there is none. */
bool sweep_find_dead(siginfo_t *info);

/* Whether there are children, in any state, of that kind (waitid(2)). */
bool sweep_has_children(idtype_t type, pid_t id);

/* 0: there is no leader, or it was reaped elsewhere. */
void sweep_set_leader(struct sweep *sweep, pid_t leader);

/* Spares the children that exist now; if they cannot be listed, all processes outside of the leader's group. */
void sweep_spare(struct sweep *sweep);

/* A child was reaped elsewhere: its number may become another process's. */
void sweep_forget(struct sweep *sweep, pid_t pid);

/* Reaps dead children, but not the leader, if children can be listed. */
void sweep_reap(struct sweep *sweep);

/*
 * SIGKILL for each child that is alive; dead ones are reaped. ended, unless NULL, is told of each process that
 * SIGKILL ended. true: no child is left. To be called again when a child has ended, and from time to time. Never
 * blocks.
 */
bool sweep_round(struct sweep *sweep, sweep_ended *ended, void *context);

#endif
