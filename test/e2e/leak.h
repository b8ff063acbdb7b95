/*
 * leak: a client that can be killed, also while another process still holds all its descriptors
 * open.
 */
#pragma once

#include "harness.h"

struct leak {
	struct run *run; /* to look at what it leaves */
	pid_t client, holder;
};

typedef void begin_function(struct run *run, int argument);

begin_function leak_ping; /* argument: not 0 to fill the queues of the puppet behind canceld */

/* Starts the client; returns when `begin` has in it. leaks: there is a holder. */
struct leak leak_start(struct setup setup, bool leaks, begin_function *begin, int argument);

/* Ends the holder, and expects that nothing is left of the run; the client has been killed. */
void leak_end(const struct leak *leak);
