/*
 * load: a client that starts a server, directly or behind another program, sends requests of one
 * size and counts the lines that come back. Every failure ends the program.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct load {
	pid_t pid;      /* of what was started */
	pid_t beside;   /* of what loads its control socket; 0: nothing */
	size_t request; /* bytes of one */
	int to, from;
	uint64_t sent, answered; /* requests; lines that came back */
	uint64_t bytes;          /* that came back */
};

double clock_ns(void);

/*
 * Starts the command (NULL at its end) with pipes as stdin and stdout; returns after the handshake.
 * Requests will have so many bytes, 105 to 200.
 */
void load_start(struct load *load, char *const *command, size_t request);

/*
 * Sends so many requests, each after the answer to the one before; stores how many nanoseconds each
 * took.
 */
void load_round_trips(struct load *load, double *ns, unsigned count);

/*
 * Sends so many requests, each in one write, at most `window` of them unanswered; returns after the
 * last answer.
 */
void load_stream(struct load *load, uint64_t count, uint64_t window);

/* Closes the pipes and waits for the exit. */
void load_end(struct load *load);

/*
 * Sends 3,000 requests that are never answered, and until load_end loads the control socket in the
 * row's way; name "": not.
 */
void load_beside(struct load *load, const char *name, const char *path);
