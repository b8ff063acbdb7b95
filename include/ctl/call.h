#ifndef CTL_CALL_H
#define CTL_CALL_H

/*
 * A connection to the control socket of one canceld (shell/control.h): JSON-RPC 2.0, one line a message. Nothing here
 * waits longer than the caller says.
 */

#include <jansson.h>
#include <stdbool.h>

#include "core/buf.h"
#include "core/clock.h"

enum {
	CALL_LIMIT = 3000,       /* ms that a canceld has for its answer */
	CALL_LINE_MAX = 64 << 20 /* bytes of one line from canceld */
};

struct connection {
	int fd; /* non-blocking; -1: there is none */
	bool ended;
	struct buf in;
	size_t searched; /* bytes of `in` that hold no newline */
	json_int_t asked;
};

/*
 * -1 with errno: ECONNREFUSED: it is stale, and was removed if it stands in one of the places; ETIMEDOUT: it takes no
 * connections before the time `end` of monotonic_now.
 */
int connection_open(struct connection *connection, const char *path, bool ours, msec_t end)
    __attribute__((warn_unused_result));
void connection_close(struct connection *connection);

/* Sends a request and takes the reference to params (NULL: none). -1 with errno. */
int connection_ask(struct connection *connection, const char *method, json_t *params, msec_t end)
    __attribute__((warn_unused_result));

/* Waits for the answer to the last request; the caller owns it. NULL with errno: ETIMEDOUT, ECONNRESET or EPROTO. */
json_t *connection_answer(struct connection *connection, msec_t end) __attribute__((warn_unused_result));

/* Reads what has come, without waiting. false: the connection has ended. */
bool connection_read(struct connection *connection);

/* The next whole message of what was read, which the caller owns; NULL: none; one that is no object ends the connection. */
json_t *connection_take(struct connection *connection) __attribute__((warn_unused_result));

#endif
