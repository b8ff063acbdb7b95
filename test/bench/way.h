#ifndef BENCH_WAY_H
#define BENCH_WAY_H

/* A way from the client to the server, started: directly, or through something. */

#include <stdbool.h>
#include <sys/types.h>

enum way { WAY_DIRECT, WAY_RELAY, WAY_SOCAT, WAY_TEE, WAY_CANCELD, WAYS };

struct peer {
	enum way way;
	pid_t pid;
	int to, from;
	long peak, resident; /* KiB of the process in between, since its start and now; 0: not known */
};

const char *way_name(enum way way);

/* Whether its program is there. */
bool way_exists(enum way way);

/* Starts the server (its command, NULL at the end), with pipes or with sockets as stdin and stdout. */
void peer_start(struct peer *peer, enum way way, bool sockets, char **server);

/* Reads peak and resident. */
void peer_measure(struct peer *peer);

/* Closes, waits for its end. */
void peer_end(struct peer *peer);

_Noreturn void give_up(const char *what);

#endif
