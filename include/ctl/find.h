#ifndef CTL_FIND_H
#define CTL_FIND_H

/*
 * The control sockets of this user's canceld: PID-RANDOM.sock in the private directories /run/user/UID/canceld,
 * $HOME/.local/state/canceld and the same in the home of the account. A directory that is not ours, or that others may
 * enter, is left out.
 */

#include <stddef.h>

enum {
	FIND_PATH_SIZE = 104, /* of a path with its NUL: what the address of a socket holds on all systems */
	FIND_MOST = 1024,     /* sockets; more are not looked at */
};

struct socket_file {
	char path[FIND_PATH_SIZE];
	long pid; /* as its name says */
};

struct sockets {
	struct socket_file *files; /* owned; in the order of their pids */
	size_t count;
};

/* Stale ones may be among them: to connect tells, see call.h. */
void sockets_find(struct sockets *sockets);
void sockets_free(struct sockets *sockets);

#endif
