#ifndef CORE_SESSION_H
#define CORE_SESSION_H

/*
 * THE DECISIONS. A session stands between a client and a server: bytes and ticks in, bytes and actions out. It reads no
 * clock and no descriptor. Bytes lie in two lanes, one a direction: read into them, tell the session, write what they give.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/journal.h"
#include "core/config.h"
#include "core/lane.h"
#include "core/server.h"

struct session;

struct session *session_new(const struct session_config *config, action_fn *act, void *user, msec_t now);
void session_free(struct session *session);

/* The lane of the bytes that `from` writes; the other side reads them. */
struct lane *session_lane(struct session *session, enum side from);

/* Decides on what was received in the lane of `from`. */
void session_hear(struct session *session, enum side from, msec_t now);

/* That side has closed its output: a last line without a newline is decided. */
void session_end_of_input(struct session *session, enum side from, msec_t now);

enum leaving {
	LEAVE_CANCEL, /* the client has gone: what is outstanding is cancelled */
	LEAVE_DRAIN, /* the client has closed its output: answers are awaited; only streams are cancelled, and answered */
	LEAVE_TERMINATED, /* canceld was told to end: all is cancelled, and answered, as the client may still listen */
};

void session_client_leaves(struct session *session, enum leaving leaving, msec_t now);

/* The server has gone for good: all requests are answered with an error, later ones too. status, signal: -1: unknown. */
void session_server_gone(struct session *session, int status, int signal, msec_t now);

/*
 * The server has gone, and another one will be started. Requests that it was working on are answered with an error, what it asked is
 * cancelled. Requests that were not written yet, and those that come until session_server_back, wait for the new one.
 */
void session_server_lost(struct session *session, int status, int signal, msec_t now);

/* The new server is there: what had opened the session is replayed to it, then it gets what waits. */
void session_server_back(struct session *session, msec_t now);

/* Why a new server could not go on with this session; NULL: it could. */
const char *session_cannot_restart(const struct session *session);

/* What the session can tell the server now. */
enum server_life session_server(const struct session *session);

/* This server has answered a request of the client's. */
bool session_server_served(const struct session *session);

/* The client has told the server to end (LSP 3.17 "Exit"): however it does so, that is no crash. */
bool session_closed(const struct session *session);

/* The client has opened the session, or has asked anything at all. */
bool session_opened(const struct session *session);

/* The server's last words, any bytes: quoted in the error to a request that would have opened the session. */
void session_quote(struct session *session, struct span words);

/* The servers have failed too often: from now on every error in their place says so, with the last words. */
void session_give_up(struct session *session);

/* The server closed its stdin: requests that it did not read are answered with an error; it may still answer the others. */
void session_server_deaf(struct session *session, msec_t now);

/* The server has a whole request of the client's, and the client waits for the answer. */
bool session_server_owes(const struct session *session);

/*
 * Expires what is due. heard: all that the server had written by now was read; without it no request of the client's
 * expires, as its answer may lie in the pipe.
 */
void session_expire(struct session *session, bool heard, msec_t now);

/*
 * When session_expire is due next by the caller's clock, or earlier; MSEC_NEVER if nothing waits. stalled: the server is not read
 * from now on.
 */
msec_t session_wake(const struct session *session, bool stalled);

/*
 * The caller is about to wait, until session_wake's time at most. A later call that comes long after that shifts all deadlines:
 * the machine or canceld stood still. While the server is stalled the idle deadlines of the client's requests stand still.
 */
void session_sleep(struct session *session, bool stalled, msec_t now);

/* Requests of that side whose answers are still awaited. */
size_t session_outstanding(const struct session *session, enum side requester);

bool session_wants_end(const struct session *session);                         /* initialize was never answered */
bool session_timed_out(const struct session *session);                         /* some request was */
uint64_t session_count(const struct session *session, enum why why);           /* how often that was decided */
uint64_t session_requests(const struct session *session, enum side requester); /* how many were seen */

#endif
