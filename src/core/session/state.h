#pragma once

/*
 * The session, which only the files of this folder see: a struct for each concern, written by the
 * file of its name, but where a message or an event that another file handles shows a single fact.
 */

#include "core/compose.h"
#include "acks.h"
#include "handshake.h"
#include "records.h"
#include "server.h"

enum trial {
	TRIAL_NONE,
	TRIAL_DUE, /* it is to be asked once nothing else is open */
	TRIAL_ASKED,
	TRIAL_UNREAD, /* when its time was over, perhaps the server had not read it */
	TRIAL_ANSWERED,
	TRIAL_FAILED, /* it was not answered in time: the server is not probed */
};

enum skipping {
	SKIP_NOTHING,
	/* a line that is longer than LIMIT_TEXT and no JSON: all, or up to what may be messages */
	SKIP_TEXT,
	SKIP_OVERSIZED, /* a message that is longer than --max-message */
	SKIP_UNDECIDED, /* ... whose id may stand at its end */
};

/*
 * What canceld itself says goes out here: a message into a lane, a decision to the journal. All but
 * the buffers is the session's, and is looked at to find the words.
 */
struct outlet {
	struct journal *journal;
	struct handshake *handshake;
	struct server *server;
	const struct session_config *config;
	struct lane *lanes[2]; /* by the side that writes them */
	uint32_t minted;       /* how many ids were minted */
	struct edits edits;
	/* what is wrong with the frame at hand, or a person's reason, for the log and the error */
	struct buf fault;
	struct buf words;   /* for a text or an id that is being composed */
	struct buf scratch; /* for one message that is being composed; reused for the next one */
};

struct party { /* one side: the bytes it writes, and the requests it sends */
	enum side side;
	struct lane *lane;
	struct frame frame;  /* the one at lane->decided */
	struct party *other; /* the other side */
	struct outlet *outlet;
	struct pending pending;
	struct pending tasks; /* which its requests became */
	struct ack *acks; /* the client's, owned: wait for one of these to end; the oldest first */
	struct buf marks; /* acks.c: how its last requests ended, by hashes of ids and tokens */
	/*
	 * ACP v2, the client's: by id, sessions whose prompt was answered and runs; CANCELLING:
	 * told
	 */
	struct pending turns;
	struct records records; /* the client's */
	/* what canceld asks in its place: WAITING, with a cap as deadline */
	struct pending questions;
	msec_t heard;  /* steady time of its last bytes */
	bool asked[2]; /* it has sent a request whose id is a number; a string */
	bool spoke;    /* it has sent a message ... */
	/* ... and the first one had the member "jsonrpc": so must all but answers */
	bool needs_jsonrpc;
	bool ended;   /* no more bytes come from this side */
	bool leaving; /* the client: it has left or is about to, as its output is closed ... */
	bool left;    /* ... and its requests are not waited for */
	/* end of its last request that cannot be tracked: any response may answer it; 0: none */
	uint64_t untracked;
	enum skipping skipping; /* noise.c: the frame at hand is thrown away ... */
	bool answers, asks;     /* ... it has members of a response; of a request or notification */
	uint64_t skipped;       /* ... so many bytes of it were already */
	struct buf kept; /* ... of text: how it began; of SKIP_UNDECIDED: how it ends, so far */
};

struct probe {                /* recovery.c: is the server alive? */
	struct party *client; /* in whose place it is asked */
	struct server *server;
	struct outlet *outlet;
	struct pending cause; /* a copy of the request that was cancelled last */
	uint64_t taken; /* bytes of the client's lane that the server had taken at the last check */
	uint64_t released_to; /* how far the client's queue has waited for a probe already */
	msec_t since;         /* idle time from which the server may have read the question */
	/* how long the last answer to such a question has taken; MSEC_NEVER: none has come */
	msec_t took;
	enum trial trial; /* does it answer such questions at all? */
	bool again; /* to be asked when the present question is answered, and the era settled */
};

struct session {
	struct journal journal; /* what was counted */
	struct handshake handshake;
	struct server server;
	struct outlet outlet;
	/* the lane of each has the bytes that this side writes; the other side reads them */
	union {
		struct party party[2];
		struct {
			struct party client, server_party; /* the same */
		};
	};

	struct session_config config;
	struct clocks clocks;
	struct probe probe;
	struct place *places; /* owned, by the number of their rule, as many as had been added */
	size_t place_count;
	bool waiting; /* deadlines wait until the session is open */
};

/* An action about a request or task, which may be NULL. */
static inline struct action
action_of(enum verb verb, enum side side, enum why why, const struct request *request)
{
	struct action action = { .verb = verb,
		.side = side,
		.why = why,
		.elapsed = MSEC_NEVER,
		.timeout = MSEC_NEVER };

	if (request != NULL) {
		action.id = request->id.text;
		action.method = request->method;
		action.name = request->shown;
		action.elapsed = request_age(request);
	}
	return action;
}

/* A note to a side about a request, which may be NULL. */
void state_note(const struct outlet *outlet, enum side side, enum why why,
    const struct request *request, struct span detail);

/* The same about a message that is in no table. */
void state_note_message(enum side side, enum why why, const struct message *message,
    struct span detail);

/*
 * Whether the client asks a person for the server, perhaps by way of a task: its own requests do
 * not idle meanwhile.
 */
bool state_asks_person(const struct party *server);

/*
 * How long the receiver may still take to answer a request that was cancelled. request may be NULL.
 */
msec_t state_grace(const struct session_config *config, const struct request *request);

/*
 * ACP: the newest prompt of this session in the table (after NULL), or the next one; tombstones
 * come last; or NULL.
 */
struct request *state_next_turn(const struct pending *prompts, struct id session_id,
    const struct request *after);

/* ACP: how many turns of this session run that were not cancelled. */
size_t state_turns_running(const struct party *client, struct id session_id);

/*
 * The server has not opened the session yet, as it may still be starting: the deadlines of what the
 * client has asked do not run. Of a modern session without a handshake its first message shows that
 * it is there. One that has served is not asked to start by another server/discover.
 */
static inline bool
state_is_opening(const struct party *client)
{
	const struct handshake *handshake = client->outlet->handshake;
	bool open = handshake->opened && client->outlet->server->served;

	return (client->pending.starting > 0 && !open) ||
	    (handshake->era == ERA_MODERN && !client->other->spoke &&
		client->pending.clocks->steady < handshake->open_by);
}

/*
 * Ends the wait of the client's messages (lane_stop_at). The idle deadlines of the requests among
 * them start now.
 */
void state_release(struct party *client);

/* --kill-ignoring: how long the server may go on with the request, which is cancelled. */
msec_t state_heed_time(const struct session_config *config, const struct request *request);

/*
 * Remembers that the request's receiver was told of the cancel. With --kill-ignoring the time in
 * which the server must heed it begins.
 */
void state_tell(const struct party *requester, struct request *request);

/*
 * The newest question of the server's to the client, from this one back, for whose answer the
 * server may wait; NULL: there is none. See excuse in struct server.
 */
static inline const struct request *
state_excuse(const struct server *server, const struct request *question)
{
	while (question != NULL && question->received >= server->answered &&
	    !request_is_awaited(question))
		question = question->older;
	return question != NULL && question->received >= server->answered ? question : NULL;
}

/*
 * Keeps the task that, by its answer, continues the request: a person may be asked in it, or
 * progress may come.
 */
void state_keep_task(struct party *requester, const struct request *request, struct id id);

/*
 * Counts the request at hand, which does not enter the table, and its end, under this word;
 * $/canceld/cancel is not counted.
 */
void state_count(const struct message *message, enum tally tally, enum why why);

/*
 * Whether canceld's own messages to that side are written: to a server until it or canceld has
 * closed its stdin.
 */
static inline bool
state_may_write(const struct server *server, enum side to)
{
	return to == SIDE_CLIENT || !(server_is_deaf(server) || server->shut);
}

/*
 * Whether new messages of the client's are kept from the server, except those that it may need to
 * go on.
 */
static inline bool
state_is_blocked(const struct server *server)
{
	return server->probe != NULL || server->life == SERVER_STUCK || server_is_replaying(server);
}

/*
 * Whether messages of canceld's own may be written to the server: it has answered initialize (LSP
 * 3.17 "Initialize Request", ACP RFD "Request Cancellation"). In MCP: initialize is answered, or
 * the first modern request was written whole.
 */
bool state_is_settled(const struct party *client);

/* Whether a requester of that side still waits for an answer after its cancel. */
static inline bool
state_owes_answer(const struct outlet *outlet, enum side requester)
{
	return (outlet->handshake->dialect->flags & DIALECT_OWES_ANSWER) ||
	    (outlet->config->answer_cancelled && requester == SIDE_CLIENT);
}

/* The empty scratch buffer, to compose one message in; its content lasts until the next call. */
static inline struct buf *
state_scratch(struct outlet *outlet)
{
	buf_clear(&outlet->scratch);
	return &outlet->scratch;
}

/*
 * Sends what was composed as if `from` had written it: ahead of all messages, or in its place among
 * them.
 */
static inline void
state_overtake(struct outlet *outlet, enum side from)
{
	lane_overtake(outlet->lanes[from], buf_span(&outlet->scratch));
}

static inline void
state_answer(struct outlet *outlet, enum side from)
{
	lane_answer(outlet->lanes[from], buf_span(&outlet->scratch));
}

/* The same, ahead of all messages, with its note about a request, which may be NULL. */
void state_send(struct outlet *outlet, enum side from, enum why why, const struct request *request,
    struct span detail);

/* Whether the request is a turn of an ACP session; its token is the session's id. */
static inline bool
request_is_turn(const struct request *request)
{
	return request->from == SIDE_CLIENT && (request->traits & METHOD_TURN) &&
	    request->token.text.len > 0;
}

/*
 * Whether to keep the messages that a new server must be told: for --restart, or because a person
 * may restart the server.
 */
static inline bool
state_keeps(const struct session_config *config)
{
	return config->restarts || config->observed;
}

/* Forgets the requester's task with this id, if the status says that it has ended. */
static inline void
state_end_task(struct pending *tasks, struct id id, struct span status)
{
	struct request *task;

	while (dialect_ends_task(status) && (task = pending_find(tasks, id, NAME_ID)) != NULL)
		pending_remove(task);
}
