#ifndef CTL_CONFIGURED_H
#define CTL_CONFIGURED_H

/* A server as a client starts it: the command, the directory and the environment from the client's file. */

#include <stdbool.h>

struct configured {
	char **command;     /* the server's own, without canceld; ended by NULL */
	char **environment; /* NAME=VALUE: what clients pass on of their own, and the entry's; ended by NULL */
	char *directory;    /* NULL: this one */
	char fault[512];    /* why there is none; printable by ctl_no */
};

/*
 * Looks in the files of the client, those of the project here only if trusted. 0, or -1 with the fault. Call
 * configured_free in any case.
 */
int configured_find(struct configured *configured, const char *client, const char *server, bool trust)
    __attribute__((warn_unused_result));
void configured_free(struct configured *configured);

#endif
