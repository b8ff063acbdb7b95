/* leak: a client that can be killed while another process still holds all its descriptors open. */
#pragma once

#include "harness.h"

struct leak {
	struct run *run; /* to look at what it leaves */
	pid_t client, holder;
};

/* Starts the client and canceld with the puppet behind it; full: its queues are full. */
struct leak leak_start(struct setup setup, bool full);

/* Ends the holder, and what is left of the run; the client has been killed. */
void leak_end(const struct leak *leak);
