#ifndef SHELL_PROXY_H
#define SHELL_PROXY_H

/* The wiring: stdin and stdout, the server's pipes, one session, one supervisor, one libev loop. */

#include "shell/child.h"
#include "shell/log.h"
#include "shell/options.h"

/*
 * Starts the server and relays between it and this process's stdin and stdout, until one of them has ended and nothing
 * is left of the server. Returns the exit status. If the server cannot be started, the client's first request is
 * answered with the reason.
 */
int proxy_run(const struct options *options, struct log *log, const struct saved_signals *signals);

#endif
