#ifndef CTL_FIND_H
#define CTL_FIND_H

/*
 * The control sockets of this user's canceld, in all its places (shell/place.h). A directory that is not ours, or that
 * others may enter, is left out.
 */

#include <stddef.h>

#include "shell/place.h"

enum {
	FIND_PATH_SIZE = PLACE_PATH,
	FIND_MOST = 1024, /* sockets; more are not looked at */
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
