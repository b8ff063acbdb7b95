#pragma once

/*
 * THE DECISIONS. A session stands between a client and a server. Bytes and the time go in; bytes
 * and actions come out. It reads no clock and no descriptor. The bytes are in two lanes, one for
 * each direction: the caller reads into a lane, tells the session, and writes what the lane gives.
 *
 *   session ─┬─ 2 parties, by side ─┬─ a lane: the bytes that this side writes
 *            │                      ├─ requests that it sent, by its own id, by the id that the
 *            │                      │    receiver sees, and by progress token
 *            │                      ├─ tasks that its requests became, by id
 *            │                      ├─ marks: how its last requests ended
 *            │                      ├─ questions: what canceld asks in its place, by minted id
 *            │                      └─ acks, of the client alone: each $/canceld/cancel that is not
 *            │                           answered, by the request that it names
 *            ├─ turns (ACP v2) of the client's, by the id of their session
 *            ├─ records: messages of the client's that a new server must be told, by method and
 *            │    what they are about; ACP sessions that are lost, by id
 *            ├─ a handshake: what is spoken
 *            ├─ the server: what can be sent to it now, and how its last process ended
 *            ├─ an outlet: what canceld itself says, into the lanes and the journal
 *            ├─ places of --parallel, by their rule
 *            └─ one probe: is the server alive?
 *
 *   what      ends with                                           ended by
 *   request   its answer, or a deadline, a cancel, the end of a    the cell of THE TABLE (apply.c);
 *             side; a tombstone waits for a late answer           requests.c forgets tombstones
 *   task      its status, its result, its time, the server's end  receive.c, requests.c, ends.c
 *   question  its answer, its time, the end of the server         replay.c
 *   turn      an update that says idle, the end of the agent      turns.c
 *   record    what undoes it; a request that is not granted       records.c
 *   ack       the end of the request that it names                acks.c
 *   place     the session: a request takes one and gives it back  parallel.c
 *   probe     its answer, or --kill-stuck: the server has to end  probe.c
 */

#include "core/client.h"
#include "core/table.h"

struct session_config {
	const struct dialect *dialect; /* NULL: the one that the traffic shows */
	/* borrowed: its rules are marked; the caller may change those of deadlines */
	struct policy *policy;
	int64_t pid;  /* for cancelctl; 0: that does not find the session */
	msec_t grace; /* MSEC_NEVER: the built-in time */
	size_t max_message, max_inflight;
	bool no_cancel, answer_cancelled, tool_errors;
	bool ask_progress; /* a request without a progress token is given one */
	bool clean_text;   /* what some clients choke on in the server's strings is replaced */
	bool legacy;       /* server/discover is answered as an unknown method */
	/* the server is started again: keep the messages that a new one must be told */
	bool restarts;
	bool stateless; /* ... even if the protocol cannot tell a new server everything */
	/*
	 * the messages pass elsewhere: it hears them, under its own ids and tokens, and adds
	 * nothing
	 */
	bool dry_run;
	/*
	 * keep what a person may ask for: the latest progress of requests; for a restart, as above
	 */
	bool observed;
	/*
	 * while a request with a token waits, progress in a silent server's name so often; 0: none
	 */
	msec_t heartbeat;
	/* how long the server may take to show that it is alive, after a cancel; 0: for ever */
	msec_t kill_stuck;
	/* how long it may go on with a request that was cancelled; 0: for ever */
	msec_t kill_ignoring;
};

enum server_life {
	SERVER_OPEN,      /* it takes messages */
	SERVER_STUCK,     /* it does not answer, or refused the replay: the shell has to end it */
	SERVER_DEAF,      /* it closed its stdin and runs on; it may still answer what it has */
	SERVER_RETIRED,   /* ... and a new one will follow */
	SERVER_AWAY,      /* it has gone; a new one will be started */
	SERVER_HANDSHAKE, /* a new one was sent the handshake, and has not answered */
	SERVER_SESSIONS,  /* ... it has answered, and was told to open the ACP sessions again */
	SERVER_LOGIN,     /* ... it wants to be logged in to first, and was sent that */
	SERVER_SETTINGS,  /* ... they are open, and it was sent the settings */
	SERVER_GONE,      /* it has gone for good */
};

/* The server as the session sees it: what can be sent to it now, and how its last process ended */
struct server {
	enum server_life life;
	bool served;     /* the present server has answered a request of the client's */
	msec_t answered; /* when it last did, in steady time ... */
	uint64_t next;   /* ... and the serial of the next request that it sends */
	bool restarted;  /* it is not the first server */
	/* the last one that went ended on server/discover, which is answered as with --legacy */
	bool probed;
	/* the client has told it to end (LSP 3.17 "Exit"): any exit after that is not a crash */
	bool closed;
	bool hung;      /* a server never answered the handshake: the session has to end */
	bool shut;      /* canceld has closed its stdin, to end it */
	bool unstarted; /* there never was one, and there will be none */
	bool dismissed; /* a person wants another one in its place */
	bool logged_in; /* SERVER_LOGIN was tried */
	/* an unanswered question whether it is alive, behind which new messages wait; or NULL */
	struct request *probe;
	/*
	 * --kill-ignoring: what it had asked the client when it was last told of a cancel, the
	 * newest that is still open. If it does one thing after another, it waits for that and
	 * reads no cancel; NULL: for nothing, or it has answered a request since.
	 */
	const struct request *excuse;
	msec_t owed; /* steady time when it last waited for an answer of the client's */
	/* exit status of the last server, or STATUS_SILENT; -1: unknown, as for signal */
	int status;
	int signal;
	/* the first and the last lines of text on its stdout, until it has served the last ones */
	struct buf said;
	bool spoke_text;  /* the first one was kept */
	size_t kept;      /* bytes at the beginning of said that stay: see server_keep_said */
	struct buf quote; /* the last bytes of said and of its stderr, in any encoding */
	/* why the last server could not continue the session; empty: it could */
	struct buf refusal;
	/* the method that the client did not know when it asked; empty: it has answered since */
	struct buf refused;
	const char *obstacle; /* see session_explain */
};

struct session;

/* --- Bytes and time: session.c, but for session_outstanding */

struct session *session_new(const struct session_config *config, action_fn *act, void *user,
    msec_t now);
void session_free(struct session *session);

/* Sets the time for all calls until the next call of this function. */
void session_set_time(struct session *session, msec_t now);

/* The lane of the bytes that this side writes; the other side reads them. */
struct lane *session_lane(struct session *session, enum side side);

/* Whether somebody sees decisions of LEVEL_TRAFFIC; else they are counted and not reported. */
void session_report_traffic(struct session *session, bool seen);

/* Decides on the bytes received in the lane of side `from`. */
void session_hear(struct session *session, enum side from);

/*
 * That side has closed its output: decides its last line even without a newline. The second call
 * does nothing.
 */
void session_end_of_input(struct session *session, enum side from);

/*
 * Expires what is due. heard: everything that the server had written by now was read and heard.
 * Without it no request of the client's expires, as its answer may still be in the pipe.
 */
void session_expire(struct session *session, bool heard);

/*
 * The caller is about to wait, at most until the time that is returned: by its clock, when
 * session_expire is due next, or earlier, as at `look`; MSEC_NEVER: nothing waits. If the next
 * session_set_time comes much later than that, the machine or canceld stood still: nobody knows
 * since when, so all deadlines are shifted by twice as much as that is late, at most by the whole
 * wait. While the server is stalled (not read), the idle deadlines of the client's requests stand
 * still.
 */
msec_t session_sleep(struct session *session, bool stalled, msec_t look);

/* ACP v2: whether the server works on a prompt that it has answered, and that was not cancelled. */
bool session_turn_runs(const struct session *session);

/* Requests of that side whose answers are still awaited. */
size_t session_outstanding(const struct session *session, enum side requester);

/* --- The client leaves, the server goes or is deaf: ends.c */

/* Not with LEAVE_NOT. */
void session_client_leaves(struct session *session, enum leaving leaving);

enum { STATUS_SILENT = -2 /* it has closed its stdout; it may run on */ };

/*
 * The server has gone; status, signal: -1: unknown. last: for good: all requests, later ones too,
 * are answered with an error. Else another one will be started: requests that the server was
 * working on are answered with an error, and its own are cancelled; those that were not yet
 * written, those of which it had read nothing (lane->unread) and that were kept, and those that
 * arrive before session_server_back, wait for it.
 */
void session_server_gone(struct session *session, int status, int signal, bool last);

/*
 * MCP: whether the first server seems to end because it was asked for server/discover: it has read
 * that whole and has answered nothing, so that another server can take its place.
 */
bool session_ended_on_probe(const struct session *session);

/*
 * For a server that has gone, and is not the last one: whether the client asks something that the
 * next one has to answer.
 */
bool session_asks(const struct session *session);

/*
 * The server closed its stdin and runs on. What was written to it may still be answered, within the
 * grace. What was not is answered with an error now or, retired: another server will follow, waits
 * for that one.
 */
void session_server_deaf(struct session *session, bool retired);

/*
 * canceld has closed the server's stdin, to end it: no message of canceld's own is sent to it any
 * more, and the log says so. If the server has gone already, nothing changes.
 */
void session_server_shut(struct session *session);

/*
 * Whether to wait for the deaf server: it may still answer within the grace, also a request that
 * cannot be tracked, or the session is no JSON-RPC.
 */
bool session_server_owes(const struct session *session);

/* --- Another server comes: replay.c */

/*
 * The new server has started: the messages that opened the session are replayed to it, then it gets
 * the queued ones.
 */
void session_server_back(struct session *session);

/* Why a new server could not continue this session; NULL: it could. A static string. */
const char *session_cannot_restart(const struct session *session);

/* --- What the errors in the place of the server say: server.c */

/*
 * Hands over the last bytes of the server's stderr, in any encoding, which errors after its end
 * quote.
 */
void session_quote(struct session *session, struct span words);

/*
 * Why no other server comes, as the errors in its place say from now on: a static string; NULL:
 * that is not known.
 */
void session_explain(struct session *session, const char *obstacle);

/* Says why no server will be started: every error in a server's place gives this reason. */
void session_refuse(struct session *session, struct span words);

/* --- What a person may see and do from outside while it runs: operator.c */

struct session_view {
	/* these two live as long as the session */
	const struct journal *journal; /* what was counted */
	const struct server *server;
	const struct dialect *dialect; /* never NULL: a guess until the client's first request */
	const char *protocol, *era;    /* as in the log; "" if it is not known, or there is none */
	bool plain;                    /* the client does not speak JSON-RPC: everything passes */
	/* clientInfo, an object of JSON; empty if there is none, or it is too long */
	struct span client;
	/* of the client's, those too that are awaited no more; or NULL */
	const struct request *oldest;
	msec_t now;        /* by the clock of request->received */
	msec_t probe_took; /* the server's last answer to a probe; MSEC_NEVER: it has given none */
};

/* But for the journal and the server valid until the session is called again. */
struct session_view session_view(const struct session *session);

/* For how long a probe of the server has been unanswered; MSEC_NEVER: none is. */
msec_t session_unanswered(const struct session *session);

struct request_view { /* valid until the session is called again */
	const struct request *request;
	enum request_state state; /* QUEUED, WAITING or CANCELLING */
	/* of request->progress, which is empty if there was none, or it is too long */
	const struct progress_form *form;
	msec_t age;
	msec_t silent; /* since its last sign of life, on the clock of the idle deadlines */
	/* negative: overdue; of CANCELLING, cap_left: its grace; MSEC_NEVER: none */
	msec_t idle_left, cap_left;
	bool exempt; /* by its nature it has no deadline */
	enum session_verdict {
		VERDICT_NONE,
		/* it waits for a place (--parallel), or for a server that takes messages */
		VERDICT_HELD,
		/*
		 * it reports progress, or the server has answered something lately; or it is a
		 * stream
		 */
		VERDICT_WORKS,
		VERDICT_SILENT, /* neither for TIME_SILENT, or a quarter of its deadline */
		VERDICT_ASKS,   /* the client asks a person something for the server */
		/* the server has not answered a probe within TIME_PROBE, and nothing since */
		VERDICT_STUCK,
	} verdict;
};

/*
 * The oldest outstanding request of that side (after NULL), or the next younger one. false: there
 * is none.
 */
bool session_next_request(const struct session *session, enum side from,
    const struct request *after, struct request_view *view);

enum cancelling {
	CANCELLING_DONE,
	CANCELLING_REFUSED, /* it opens the session, which only its deadline ends */
	CANCELLING_NONE,    /* there is no such request */
};

/*
 * A person gives the request with this id up, that with this serial, or, if that is 0, the newest:
 * its receiver is told, and its requester answered, as at a deadline. reason: UTF-8 text for the
 * requester and the log; may be empty.
 */
enum cancelling session_cancel(struct session *session, enum side from, struct span id,
    uint64_t serial, struct span reason);

/*
 * Adds this rule to the session's policy as POLICY_SET, in place of an earlier one for the same
 * METHOD and NAME. in_flight: outstanding requests get the new deadline too, counted from their
 * last sign of life; what is overdue then expires at the next session_expire. *changed: how many.
 * false: there are LIMIT_RULES_SET of them already.
 */
bool session_set(struct session *session, struct policy_rule *rule, bool in_flight,
    size_t *changed) MUST_USE;

/* How many requests that were given up still count for --parallel. */
size_t session_places_taken(const struct session *session);

/*
 * How long the oldest outstanding request has been there, but for streams; MSEC_NEVER: there is
 * none. *worst: the verdict on the server: the last one, in their order, of all that it has to do.
 */
msec_t session_oldest(const struct session *session, enum session_verdict *worst);

/*
 * A person asks the server whether it is alive. If an earlier question is not answered yet, it
 * stands for this one. NULL, or why it cannot be asked: a static string, as for session_restart.
 */
const char *session_ping(struct session *session);

/*
 * A person has the server ended, and another one started in its place, which continues the session.
 * force: it is ended even if none can.
 */
const char *session_restart(struct session *session, bool force);
