#ifndef CTL_SERVE_H
#define CTL_SERVE_H

/* A small HTTP/1.1 server that answers GET /metrics and nothing else. */

#include "core/buf.h"

enum {
	SERVE_VISITORS = 32,      /* connections at a time; more are closed at once */
	SERVE_HEAD_MAX = 8 << 10, /* bytes of a request */
	SERVE_LIMIT = 10          /* seconds that a connection has for its request and the answer */
};

/*
 * Serves on ADDRESS:PORT, [ADDRESS]:PORT or PORT (then of 127.0.0.1; 0: any free port), which it tells on stderr, until
 * a signal ends the process; compose appends the body of an answer. Returns an exit status if it cannot.
 */
int serve_metrics(const char *where, void (*compose)(void *user, struct buf *body), void *user);

#endif
