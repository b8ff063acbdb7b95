#pragma once

/* The state of a session, a struct for each concern, which the module of the same name writes; and questions about it. */

#include <stdbool.h>
#include <stddef.h>

#include "core/limits.h"
#include "core/scan.h"
#include "core/session.h"

/* --- message.c */

struct edits {            /* of the message at hand, or of the batch that it is in */
	struct buf list;  /* struct edit, by offset */
	struct buf texts; /* of them */
};

/* Of a JSON-RPC 2.0 message, judged by its top-level members alone. */
enum message_kind {
	MESSAGE_NONE, /* no JSON, also for its UTF-8; no JSON-RPC; refused for its depth or repeated members */
	MESSAGE_REQUEST,
	MESSAGE_NOTIFICATION,
	MESSAGE_RESPONSE,
	MESSAGE_BATCH, /* an array, one of whose elements is a message */
	MESSAGE_BLANK, /* white space only */
};

enum { METHOD_MAX = 256 };

/*
 * The message at hand, whole: one frame of a lane with its positions, and the edits to be made before it
 * passes. It borrows the lane's bytes: it is invalid after the next byte is read or decided. It is not copied.
 */
struct message {
	enum side from;
	const struct scan *scan;
	enum message_kind kind;
	enum message_kind meant;     /* as far as it was read; REQUEST, NOTIFICATION, RESPONSE or NONE */
	bool malformed;              /* a response that is no sound answer */
	struct span id;              /* as spelled; empty if absent, null, repeated or not kept: it cannot be tracked */
	struct span method;          /* unescaped; or empty */
	struct span text;            /* without byte order mark and newline */
	uint64_t start, next;        /* positions in the lane of `from`: of text, and behind its newline */
	struct request *request;     /* whose answer it is, or is meant to be, by its id; or NULL */
	struct request *question;    /* ... of canceld's own; or NULL */
	const struct cancel *cancel; /* its form, if it is a cancel; else NULL */
	enum why word;               /* the word that it passes under: RELAYED, RECOVERED or ID_COERCED */
	struct span obstacle;        /* a cancel: why it is withheld */
	bool bound;                  /* meaningful to the current server only, which may need it now */
	bool urgent;                 /* it overtakes the messages that wait */
	bool swallowed;              /* only canceld had asked for it: it is dropped where it would pass */
	struct message *batch;       /* of an element: the batch, with which it passes in any case; else NULL */
	struct edits *edits;
	size_t edits_from;          /* of an element: bytes of the list before its own edits; else 0 */
	char unescaped[METHOD_MAX]; /* private, as the next */
	struct scan storage;
};

/*
 * Reads the text as a message of side `from`: scans it, tells its kind, and finds what it answers. needs_jsonrpc: a
 * text without the member "jsonrpc" is MESSAGE_NONE, unless it names a request: some SDKs leave it out of answers.
 */
void message_read(struct message *message, struct session *session, enum side from, struct span text,
    bool needs_jsonrpc);

/* Replaces len bytes from this offset of the text on, or the field's value, by `with`. */
void message_edit(struct message *message, uint64_t offset, uint64_t len, struct span with);
void message_replace(struct message *message, enum scan_field field, struct span with);

/* Not a batch: a single message. */
static inline bool
message_is_single(const struct message *message)
{
	return message->kind == MESSAGE_REQUEST || message->kind == MESSAGE_NOTIFICATION ||
	    message->kind == MESSAGE_RESPONSE;
}

/* Whether the text was read to its end: its members are all known, even if it has a fault. */
static inline bool
message_is_read(const struct message *message)
{
	return !message->scan->failed && scan_value(message->scan, SCAN_TEXT)->end > 0;
}

/* The message is a sound response with a result. */
static inline bool
message_grants(const struct message *message)
{
	return scan_has(message->scan, SCAN_RESULT) && !message->malformed;
}

static inline const struct edit *
message_edits(const struct message *message)
{
	return (const struct edit *)(const void *)message->edits->list.data;
}

static inline size_t
message_edit_count(const struct message *message)
{
	return message->edits->list.len / sizeof(struct edit);
}

/* They were made, or are not to be. */
static inline void
message_drop_edits(struct message *message)
{
	message->edits->list.len = message->edits_from;
	if (message->edits_from == 0)
		message->edits->texts.len = 0;
}

/* The bytes of the text from one offset to another. */
struct span message_part(const struct message *message, uint64_t from, uint64_t to);

/* Appends the bytes that the message would pass as, edits made, to out. */
void message_copy(const struct message *message, struct buf *out);

/* The field's value if it can be an id or a token: a string or a number, and kept; else empty. */
static inline struct span
message_id(const struct scan *scan, enum scan_field field)
{
	enum value_type type = scan_type(scan, field);

	return type == VALUE_STRING || type == VALUE_NUMBER ? scan_text(scan, field) : SPAN_NONE;
}

/* --- the clocks */

/*
 * The session's clocks, all derived from the caller's. The steady clock leaves out the time in which everything stood
 * still; the idle clock also leaves out the time in which the client's requests do not count as idle: while the client
 * asks a person something for the server, or the server is not read.
 */
struct clocks {
	msec_t now;     /* the caller's */
	msec_t planned; /* when the caller meant to wake up; MSEC_NEVER: it did not say */
	msec_t steady, idle;
	bool stalled; /* the server is not being read */
};

/* The clock of that side's idle deadlines. */
static inline msec_t
clocks_idle(const struct clocks *clocks, enum side requester)
{
	return requester == SIDE_CLIENT ? clocks->idle : clocks->steady;
}

/* --- the server */

/* Sets the life. SERVER_AWAY also resets what was true of the former server only. */
void server_enter(struct server *server, enum server_life life);

/* A line of text on the server's stdout, without its newline. */
void server_note_said(struct server *server, struct span text);

/* Keeps the reason why this server does not continue the session; empty: it does. */
void server_refuse(struct server *server, struct span words);

/* No server will read what is sent from now on: it has gone for good, or is deaf and the last one. */
static inline bool
server_takes_nothing(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_GONE;
}

/* The server has closed its stdin and runs on. */
static inline bool
server_is_deaf(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_RETIRED;
}

/* The server is new and the replay to it has not ended. */
static inline bool
server_is_replaying(const struct server *server)
{
	return server->life == SERVER_HANDSHAKE || server->life == SERVER_SETTINGS;
}

/* --- questions and acknowledgements */

/*
 * Questions: requests of canceld's own, asked in one side's place and not answered yet: a probe, a replayed request,
 * the cancel of a task. Their answers do not pass.
 */

enum { MINTED_MAX = 32 }; /* bytes of a minted id, at most */

/*
 * Acknowledgements of canceld's own request $/canceld/cancel {id, reason?}, with the guarantees of ABP "Cancellation":
 * each waits until the request that it names has ended, and is then answered with {id, cancelled, reason?, confirmed?}.
 */
#define ACKS_METHOD SPAN("$/canceld/cancel")

enum outcome { OUTCOME_UNKNOWN, OUTCOME_COMPLETED, OUTCOME_CANCELLED, OUTCOME_CONFIRMED, OUTCOME_FORBIDDEN };

struct acks {
	struct pending waiting; /* by id; method: the wire id of the request, meta: params.id, name: params.reason */
	uint64_t marks[LIMIT_FINISHED]; /* a ring: how the client's last requests ended, by the hashes of their ids */
	size_t marked;                  /* how many ends were ever noted */
};

/* --- handshake.c */

/* The protocol of the session, as far as the traffic has shown it: framing, dialect, era, capabilities. */

enum era { ERA_NONE, ERA_LEGACY, ERA_MODERN };

struct handshake {
	const struct dialect *dialect; /* never NULL: a guess until dialect_known */
	bool dialect_known, framing_known;
	bool plain;                /* the client does not speak JSON-RPC: everything passes */
	bool opened;               /* the handshake was answered with a result, or the session needs none */
	bool declared[2];          /* by enum side: that side declared the capability cancellation.request (ACP RFD) */
	bool has_tasks;            /* MCP: see tasks_since in struct dialect */
	bool discovered, extended; /* MCP: server/discover was answered; with the extension for tasks */
	unsigned tasks[2];         /* MCP, by enum side: what it declared about tasks; private */
	struct buf version;        /* of the first server, as spelled in its answer to the handshake */
	bool lists[DIALECT_LISTS]; /* ... which announces changes of this list; see struct dialect */
	enum era era;
	uint64_t era_end; /* position in the client's lane behind the request that showed the era */
};

/*
 * Reads the first bytes of a side, to find how both sides frame their messages, or that the session is plain. The
 * client's bytes decide; a server that writes before its client is read with the framing that its own bytes suggest.
 * ended: no more bytes will come. *framing: the framing for now. false: more bytes are needed.
 */
bool handshake_read_framing(struct handshake *handshake, enum side from, struct span bytes, bool ended,
    enum framing *framing);

/* Reads a request of the client's: the first one shows the dialect, the first ones of MCP the era. Returns its row. */
const struct method *handshake_read_request(struct handshake *handshake, enum framing framing,
    const struct message *message);

/*
 * Reads a response with a result: of the first server to the handshake; of a later one, for what it declares about
 * tasks; to a METHOD_DISCOVERY.
 */
void handshake_read_answer(struct handshake *handshake, const struct message *message);
void handshake_read_tasks(struct handshake *handshake, const struct message *message);
void handshake_read_discovery(struct handshake *handshake, const struct message *message);

/* MCP 2025-11-25 basic/utilities/tasks: whether the request may become a task: its receiver has declared that. */
bool handshake_may_make_task(const struct handshake *handshake, const struct request *request);

/* The id of the task that the response created, as spelled, or empty. SEP-2663: of any request in the modern era. */
struct span handshake_created_task(const struct handshake *handshake, const struct request *request,
    const struct scan *response);

/* Whether the receiver has declared that tasks may be cancelled, or, in the modern era, that it has tasks. */
bool handshake_may_cancel_task(const struct handshake *handshake, const struct request *request);

/* The form of a cancel for that receiver; NULL: its protocol has none. */
static inline const struct cancel *
handshake_cancel(const struct handshake *handshake, enum side receiver)
{
	return handshake->declared[receiver] ? handshake->dialect->declared_cancel : handshake->dialect->cancel;
}

/* --- records.c */

/*
 * The messages that a new server must be told to continue the session: the handshake, the notification after it,
 * settings, streams; LIMIT_RECORD_BYTES in all. A request's message is in request->record until it is granted.
 */

struct record {             /* granted, or sent */
	unsigned traits;    /* of its method */
	const char *method; /* its name; NULL: METHOD_OPENED */
	bool string;        /* its id was one */
	struct buf text;    /* the message */
	struct buf name;    /* of a setting: what it sets; empty: all */
};

struct records {
	struct record *list; /* owned, in their order */
	size_t count;
	size_t bytes;  /* with those in requests */
	bool overflow; /* the handshake was too long */
};

void records_free(struct records *records);

/*
 * Keeps a request of the client's that passes, if its method needs it; or the notification after its handshake. false:
 * it should be kept, but there is no room.
 */
bool records_keep(struct records *records, const struct message *message, struct request *request)
    __attribute__((warn_unused_result));
bool records_add_opened(struct records *records, const struct message *message) __attribute__((warn_unused_result));

/* The request was answered with a result; it has ended, in any way. */
void records_grant(struct records *records, struct request *request);
void records_end(struct records *records, struct request *request);

/* --- the session */

struct probe {                    /* recovery.c: is the server alive? */
	struct request *question; /* the question while it is not answered; or NULL */
	struct pending cause;     /* a copy of the request that was cancelled last */
	uint64_t taken;           /* bytes of the client's lane that the server had taken at the last check */
	uint64_t freed_to;        /* how far the client's queue has waited for a probe already */
	bool again;               /* to be asked when the present question is answered, and the era settled */
};

enum skipping {
	SKIP_NOTHING,
	SKIP_TEXT,      /* a line that is longer than LIMIT_TEXT and no JSON */
	SKIP_OVERSIZED, /* a message that is longer than --max-message */
};

struct party { /* one side: the bytes it writes, and the requests it sends */
	struct lane *lane;
	struct frame frame; /* the one at lane->decided */
	struct pending pending;
	msec_t heard;       /* steady time of its last bytes */
	bool asked[2];      /* it has sent a request whose id is a number; a string */
	bool spoke;         /* it has sent a message ... */
	bool needs_jsonrpc; /* ... and the first one had the member "jsonrpc": so must all but answers */
	uint64_t
	    untracked; /* where its last request ends that cannot be tracked: any response may answer it; 0: none */
	bool ended;    /* no more bytes come from this side */
	enum skipping skipping; /* noise.c: the frame at hand is thrown away ... */
	uint64_t skipped;       /* ... of which so many bytes were already */
	char told[LIMIT_TOLD];  /* ... of SKIP_TEXT: how it began */
};

enum client_life {
	CLIENT_HERE,
	CLIENT_DRAINS, /* it sends nothing more, and its requests are waited for */
	CLIENT_LEFT,
};

struct session {
	struct session_config config; /* without policy */
	struct policy policy;
	struct journal journal;
	struct clocks clocks;
	struct handshake handshake;
	struct server server;
	struct party party[2];       /* by enum side */
	struct pending questions[2]; /* by the side in whose place it was asked: WAITING, with a cap as deadline */
	uint32_t minted;             /* how many ids were minted */
	struct pending tasks[2];     /* by requester */
	struct pending turns;        /* ACP v2: by id, sessions whose prompt was answered and runs; CANCELLING: told */
	struct acks acks;
	struct records records;
	size_t replaying; /* recovery.c: answers to the replay that have not arrived */
	struct probe probe;
	bool era_awaited; /* a cancel or a probe waits until the era is settled */
	enum client_life client;
	msec_t client_owed;        /* steady time when the server last waited for an answer of the client's */
	const struct span *reason; /* operator.c: while a person gives a request up, the reason; else NULL */
	struct edits edits;
	bool batch_told;    /* receive.c */
	struct buf words;   /* for a text or an id that is being composed */
	struct buf scratch; /* for one message that is being composed; reused for the next one */
};

/* An action about a request, which may be NULL. */
static inline struct action
state_action(const struct session *session, enum verb verb, enum side side, enum why why, const struct request *request)
{
	struct action action = { .verb = verb, .side = side, .why = why, .elapsed = MSEC_NEVER, .timeout = MSEC_NEVER };

	if (request != NULL) {
		action.id = request->id;
		action.method = request->method;
		action.name = request->name;
		action.elapsed = session->clocks.steady - request->received;
	}
	return action;
}

/* A note to a side about a request, which may be NULL. */
void state_note(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail);

/* The same about a message that is in no table. */
void state_note_message(struct session *session, enum side side, enum why why, const struct message *message,
    struct span detail);

/* The request's state, QUEUED included. */
static inline enum request_state
state_of(const struct session *session, const struct request *request)
{
	if (request->state == REQUEST_WAITING && lane_untouched(session->party[request->from].lane, request->start))
		return REQUEST_QUEUED;
	return request->state;
}

/* How long the receiver may still take to answer a request that was cancelled. request may be NULL. */
msec_t state_grace(const struct session *session, const struct request *request);

/* ACP: the newest prompt of this session in the table (after NULL), or the next one; tombstones come last; or NULL. */
struct request *state_next_turn(const struct session *session, struct span session_id, const struct request *after);

/* ACP: how many turns of this session run that were not cancelled. */
size_t state_turns_running(const struct session *session, struct span session_id);

/* Whether the request has to wait for the answer to a probe or for a new server: it does not idle meanwhile. */
static inline bool
state_is_held(const struct session *session, const struct request *request)
{
	return request->from == SIDE_CLIENT && state_of(session, request) == REQUEST_QUEUED &&
	    request->start >= session->party[SIDE_CLIENT].lane->stop;
}

/* Ends the wait of the client's messages (lane_stop_at). The idle deadlines of the requests among them start now. */
void state_release(struct session *session);

/* Counts the request at hand, which does not enter the table, and its end; a $/canceld/cancel is none. */
void state_count(struct session *session, const struct message *message, enum tally tally);

/* A request that passes in this message cannot be tracked; all: of either side, as the message was not read whole. */
void state_note_untracked(struct session *session, const struct message *message, bool all);

/* Whether canceld's own messages to that side are written: to a server until it or canceld has closed its stdin. */
static inline bool
state_may_write(const struct session *session, enum side to)
{
	return to == SIDE_CLIENT || !(server_is_deaf(&session->server) || session->server.shut);
}

/* New messages of the client's are not written to the server, except those that it may need to go on. */
static inline bool
state_is_blocked(const struct session *session)
{
	return session->probe.question != NULL || session->server.life == SERVER_STUCK ||
	    server_is_replaying(&session->server);
}

/*
 * Messages of canceld's own may be written to the server: the server has answered initialize (LSP 3.17 "Initialize
 * Request", ACP RFD "Request Cancellation"). MCP: not before it is answered, or the first modern request was written
 * whole.
 */
bool state_is_settled(const struct session *session);

/* Whether the era has just been settled and something has waited for that. */
static inline bool
state_has_settled(const struct session *session)
{
	return session->era_awaited && state_is_settled(session);
}

/* Whether a requester of that side still waits for an answer after its cancel. */
static inline bool
state_owes_answer(const struct session *session, enum side requester)
{
	return (session->handshake.dialect->flags & DIALECT_OWES_ANSWER) ||
	    (session->config.answer_cancelled && requester == SIDE_CLIENT);
}

/* Emptied, for one message that is being composed; it lasts until the next one is. */
static inline struct buf *
state_scratch(struct session *session)
{
	buf_clear(&session->scratch);
	return &session->scratch;
}

/* Sends what was composed as if `from` had written it: ahead of all messages, or in its place among them. */
static inline void
state_overtake(struct session *session, enum side from)
{
	lane_overtake(session->party[from].lane, buf_span(&session->scratch));
}

static inline void
state_answer(struct session *session, enum side from)
{
	lane_answer(session->party[from].lane, buf_span(&session->scratch));
}

/* The same, ahead of all messages, with its note about a request, which may be NULL. */
void state_send(struct session *session, enum side from, enum why why, const struct request *request,
    struct span detail);

/* Whether the request is a turn of an ACP session; its token is the session's id. */
static inline bool
request_is_turn(const struct request *request)
{
	return request->from == SIDE_CLIENT && (request->traits & METHOD_TURN) && request->token.len > 0;
}
