#ifndef CORE_SESSION_H
#define CORE_SESSION_H

/*
 * THE DECISIONS. A session stands between a client and a server. Bytes and the time go in; bytes and actions come out.
 * It reads no clock and no descriptor. The bytes are in two lanes, one for each direction: the caller reads into a
 * lane, tells the session, and writes what the lane gives.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dialect.h"
#include "core/lane.h"
#include "core/table.h"

struct session_config {
	const struct dialect *dialect; /* NULL: the one that the traffic shows */
	const struct policy *policy;   /* its rules are copied */
	msec_t grace;                  /* MSEC_NEVER: the built-in time */
	size_t max_message, max_inflight;
	bool no_cancel, answer_cancelled, tool_errors;
	bool ask_progress; /* a request without a progress token is given one */
	bool legacy;       /* server/discover is answered as an unknown method */
	bool restarts;     /* the server may be started again: keep the messages that a new one must be told */
	bool stateless;    /* ... even if the protocol cannot tell a new server everything */
	bool
	    dry_run; /* the messages pass elsewhere: it hears what passes, under its own ids and tokens, and adds nothing */
	bool observed;     /* keep what a person may ask for: the latest progress of requests, how long answers took */
	msec_t kill_stuck; /* how long the server may take to show that it is alive, after a cancel; 0: for ever */
	uint64_t seed;     /* of the hash tables: any random number */
};

enum server_life {
	SERVER_OPEN,      /* it takes messages */
	SERVER_STUCK,     /* it does not answer, or refused the replay: the shell has to end it */
	SERVER_DEAF,      /* it closed its stdin and runs on; it may still answer what it has */
	SERVER_RETIRED,   /* ... and a new one will follow */
	SERVER_AWAY,      /* it has gone; a new one will be started */
	SERVER_HANDSHAKE, /* a new one was sent the handshake, and has not answered */
	SERVER_SETTINGS,  /* ... it has answered, and was sent the settings */
	SERVER_GONE,      /* it has gone for good */
};

struct server { /* as the session sees it: what can be sent to it now, and how the last process ended */
	enum server_life life;
	bool served;    /* this one has answered a request of the client's */
	bool restarted; /* it is not the first server */
	bool given_up;  /* no further server will be started: they have failed too often */
	bool closed;    /* the client has told it to end (LSP 3.17 "Exit"): any exit after that is not a crash */
	bool hung;      /* one has never answered the handshake: the session has to end */
	bool shut;      /* canceld has closed its stdin, to end it */
	bool unstarted; /* there never was one, and there will be none */
	int status;     /* exit status of the last server that ended; -1: unknown, as for signal */
	int signal;
	struct buf said;    /* the last lines of text on its stdout */
	struct buf quote;   /* the last bytes of said and of its stderr, in any encoding */
	struct buf refusal; /* why the last server could not continue the session; empty: it could */
};

struct session;

struct session *session_new(const struct session_config *config, action_fn *act, void *user, msec_t now);
void session_free(struct session *session);

/* Other rules of the configuration's; those of options and of a person stay. Requests keep the deadlines they have. */
void session_set_rules(struct session *session, const struct policy *policy);

/* The session's rules, which tell whether they have named a request. */
const struct policy *session_rules(const struct session *session);

/* The lane of the bytes that side `from` writes; the other side reads them. */
struct lane *session_lane(struct session *session, enum side from);

/* Decides on the bytes received in the lane of side `from`. */
void session_hear(struct session *session, enum side from, msec_t now);

/* That side has closed its output: decides its last line even without a newline. */
void session_end_of_input(struct session *session, enum side from, msec_t now);

enum leaving {
	LEAVE_CANCEL,     /* the client has gone: outstanding requests are cancelled */
	LEAVE_DRAIN,      /* its output is closed: answers are awaited; only streams are cancelled, and answered */
	LEAVE_TERMINATED, /* canceld was told to end: all is cancelled and answered, as the client may still read */
};

void session_client_leaves(struct session *session, enum leaving leaving, msec_t now);

/*
 * The server has gone for good: all requests, later ones too, are answered with an error. status, signal: -1: unknown.
 */
void session_server_gone(struct session *session, int status, int signal, msec_t now);

/*
 * The server has gone, and another one will be started. Requests that the server was working on are answered with an
 * error; its own requests are cancelled. Requests that were not yet written, and those that arrive before
 * session_server_back, wait for the new server.
 */
void session_server_lost(struct session *session, int status, int signal, msec_t now);

/* The new server has started: the messages that opened the session are replayed to it, then it gets the queued ones. */
void session_server_back(struct session *session, msec_t now);

/* Why a new server could not continue this session; NULL: it could. A static string. */
const char *session_cannot_restart(const struct session *session);

const struct server *session_server(const struct session *session);

/* The client has opened the session, or has sent any request. */
bool session_opened(const struct session *session);

/*
 * The last bytes of the server's stderr, in any encoding: quoted in the error to a request that would have opened the
 * session.
 */
void session_quote(struct session *session, struct span words);

/* No server will be started, for this reason: every error in a server's place gives it. */
void session_refuse(struct session *session, struct span words);

/* The servers have failed too often: from now on every error in a server's place says so, with the last words. */
void session_give_up(struct session *session);

/*
 * The server closed its stdin and runs on. What was written to it may still be answered, within the grace. What was not
 * is answered with an error now or, retired: another server will follow, waits for that one.
 */
void session_server_deaf(struct session *session, bool retired, msec_t now);

/*
 * canceld has closed the server's stdin, to end it: no message of canceld's own is sent to it any more, and the log says
 * so. If the server has gone already, nothing changes.
 */
void session_server_shut(struct session *session, msec_t now);

/*
 * Whether to wait for the deaf server: it may still answer within the grace, also a request that cannot be tracked, or
 * the session is no JSON-RPC.
 */
bool session_server_owes(const struct session *session);

/*
 * Expires what is due. heard: everything that the server had written by now was read and heard. Without it no request
 * of the client's expires, as its answer may still be in the pipe.
 */
void session_expire(struct session *session, bool heard, msec_t now);

/*
 * When session_expire is due next by the caller's clock, or earlier; MSEC_NEVER: nothing waits. stalled: the server
 * will not be read from now on.
 */
msec_t session_wake(const struct session *session, bool stalled);

/*
 * The caller is about to wait, at most until the time of session_wake. If the next call comes much later than that, the
 * machine or canceld stood still, and all deadlines are shifted. While the server is stalled (not read), the idle
 * deadlines of the client's requests stand still. Returns session_wake.
 */
msec_t session_sleep(struct session *session, bool stalled, msec_t now);

/* It is `now`, which every call that takes the time does by itself. */
void session_set_time(struct session *session, msec_t now);

/* From now on decisions of LEVEL_TRAFFIC are reported, or only counted. */
void session_show_traffic(struct session *session, bool shown);

/* Requests of that side whose answers are still awaited. */
size_t session_outstanding(const struct session *session, enum side requester);

/* ACP v2: whether the server works on a prompt that it has answered, and that was not cancelled. */
bool session_turn_runs(const struct session *session);

const struct journal *session_journal(const struct session *session); /* what was counted */

/* --- What a person, outside of the session, may see and do while it runs */

struct request_view { /* valid until the session is called again */
	const struct request *request;
	enum request_state state; /* QUEUED, WAITING or CANCELLING */
	const struct progress_form
	    *form; /* of request->progress, which is empty if there was none, or it is too long */
	msec_t age;
	msec_t silent;              /* since its last sign of life, on the clock of the idle deadlines */
	msec_t idle_left, cap_left; /* negative: overdue; of CANCELLING, cap_left: its grace; MSEC_NEVER: none */
	bool exempt;                /* by its nature it has no deadline */
};

/*
 * The oldest outstanding request of that side (after NULL), or the next younger one; the request with this id, as
 * session_cancel would find it: with this serial, or, if that is 0, the newest. false: there is none.
 */
bool session_next_request(const struct session *session, enum side from, const struct request *after,
    struct request_view *view);
bool session_find_request(const struct session *session, enum side from, struct span id, uint64_t serial,
    struct request_view *view);

/*
 * A person gives the request with this id and serial up: its receiver is told, and its requester answered, as at a deadline.
 * reason: UTF-8 text for the requester and the log; may be empty. false: there is no such request, or it opens the
 * session, which only its deadline ends.
 */
bool session_cancel(struct session *session, enum side from, struct span id, uint64_t serial, struct span reason,
    msec_t now) __attribute__((warn_unused_result));

/*
 * Adds this rule to the session's policy as POLICY_SET, in place of an earlier one for the same METHOD and NAME.
 * in_flight: outstanding requests get the new deadline too, counted from their last sign of life; what is overdue then
 * expires at the next session_expire. *changed: how many. false: there are LIMIT_RULES_SET of them already.
 */
bool session_set(struct session *session, const struct policy_rule *rule, bool in_flight, msec_t now, size_t *changed)
    __attribute__((warn_unused_result));

/* The dialect's name, and the era as in the log; "" if it is not known or has none. */
const char *session_dialect(const struct session *session);
const char *session_era(const struct session *session);

/* How long the oldest outstanding request has been there; MSEC_NEVER: there is none. */
msec_t session_oldest(const struct session *session);

#endif
