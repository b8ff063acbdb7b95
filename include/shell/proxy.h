#ifndef SHELL_PROXY_H
#define SHELL_PROXY_H

/* The wiring: stdin and stdout, the server's pipes, one session, one supervisor, one libev loop. */

#include "shell/child.h"
#include "shell/log.h"
#include "shell/options.h"

/*
 * Relays between this process's stdin and stdout and the child that was started, until one of them has ended and nothing
 * is left of the child. Returns the exit status. The child's two pipes are taken over.
 */
int proxy_run(const struct options *options, struct log *log, struct child *child, const struct saved_signals *signals);

#endif
