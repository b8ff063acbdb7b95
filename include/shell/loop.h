#ifndef SHELL_LOOP_H
#define SHELL_LOOP_H

/* The program: stdin and stdout, the server, one session, one libev loop. */

#include "shell/configfile.h"
#include "shell/log.h"
#include "shell/options.h"
#include "shell/signals.h"
#include "shell/trace.h"

/*
 * Starts the server and relays between it and this process's stdin and stdout, until one side has ended and the
 * server's process tree is gone. Returns the exit status. If the server cannot be started, the client's first request
 * is answered with the reason. trace: open, or NULL.
 */
int loop_run(struct options *options, struct configfile *file, struct log *log, struct trace *trace,
    const struct saved_signals *saved);

#endif
