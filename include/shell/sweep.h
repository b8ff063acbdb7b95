#ifndef SHELL_SWEEP_H
#define SHELL_SWEEP_H

/*
 * Ends processes that were left behind. Only children are signalled: no other process can reap them, so their ids
 * cannot have become those of other processes. When a child ends, its own children become children of the caller, which
 * is a subreaper (prctl(2)); so the sweep goes in rounds, until no child is left.
 *
 * Children are listed in /proc/thread-self/children. Without it (no /proc, or a kernel without CONFIG_PROC_CHILDREN)
 * all process ids are tried, as long as there is a child outside of the leader's group.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>

enum { SWEEP_NAME = 16 }; /* the longest process name that Linux keeps, with its NUL */

/* name: empty if it is unknown. */
typedef void sweep_ended(void *context, pid_t pid, const char *name);

struct sweep {
	pid_t
	    leader; /* leader of the server's process group; not reaped before the sweep, so that the group's id stays taken; 0: none */
	bool group; /* spare processes that are not in the leader's group */
	pid_t *spared;
	size_t spared_count;
	bool begun;
	bool denied; /* the last round left only processes that may not be signalled, as they changed their user */
	pid_t ended_group; /* the leader's group, once it was sent SIGKILL */
	pid_t next, tried; /* the process id to try next, and how many were tried since the last one that was a child */
};

void sweep_init(struct sweep *sweep, bool group);
void sweep_free(struct sweep *sweep);

/* Finds a child that has ended and is not reaped yet; false: there is none. */
bool sweep_find_dead(siginfo_t *info);

/* Whether there are children, in any state, of that kind (waitid(2)). */
bool sweep_has_children(idtype_t type, pid_t id);

/* Sets the leader; 0: there is none, or it was reaped elsewhere. */
void sweep_set_leader(struct sweep *sweep, pid_t leader);

/* Spares the children that exist now; if they cannot be listed, all processes outside of the leader's group. */
void sweep_spare(struct sweep *sweep);

/* A child was reaped elsewhere: its number may become another process's. */
void sweep_forget(struct sweep *sweep, pid_t pid);

/* Reaps dead children, but not the leader, if children can be listed. */
void sweep_reap(struct sweep *sweep);

/*
 * Sends SIGKILL to each child that is alive, and reaps dead ones. ended, unless NULL, is called for each process that
 * SIGKILL ended. true: no child is left. Call it again when a child has ended, and from time to time. Never blocks.
 */
bool sweep_round(struct sweep *sweep, sweep_ended *ended, void *context);

#endif
