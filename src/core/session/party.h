#pragma once

/* One side: the bytes that it writes, the requests that it sends, and what these become. */

#include "acks.h"
#include "outlet.h"
#include "records.h"

enum skipping {
	SKIP_NOTHING,
	/* a line that is longer than LIMIT_TEXT and no JSON: all, or up to what may be messages */
	SKIP_TEXT,
	SKIP_OVERSIZED, /* a message that is longer than --max-message */
	SKIP_UNDECIDED, /* ... whose id may stand at its end */
};

struct party {
	enum side side;
	struct lane *lane;
	struct frame frame;  /* the one at lane->decided */
	struct party *other; /* the other side */
	struct outlet *outlet;
	struct edits edits;    /* of the message at lane->decided */
	struct pending *turns; /* the client's, as the records: see struct session */
	struct records *records;
	struct pending pending;
	struct pending tasks; /* which its requests became */
	struct ack *acks; /* the client's, owned: wait for one of these to end; the oldest first */
	struct buf marks; /* acks.c: how its last requests ended, by hashes of ids and tokens */
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

/* Whether the request is a turn of an ACP session; its token is the session's id. */
static inline bool
request_is_turn(const struct request *request)
{
	return request->from == SIDE_CLIENT && (request->traits & METHOD_TURN) &&
	    request->token.text.len > 0;
}

/*
 * How long the receiver may still take to answer a request that was cancelled. request may be NULL.
 */
msec_t request_grace(const struct session_config *config, const struct request *request);

/* --kill-ignoring: how long the server may go on with the request, which is cancelled. */
msec_t request_heed_time(const struct session_config *config, const struct request *request);

/*
 * Whether the client asks a person for the server, perhaps by way of a task: its own requests do
 * not idle meanwhile.
 */
bool party_asks_person(const struct party *server);

/* Whether the requester still waits for an answer after its cancel. */
static inline bool
party_is_owed(const struct party *requester)
{
	const struct outlet *outlet = requester->outlet;

	return (outlet->handshake->dialect->flags & DIALECT_OWES_ANSWER) ||
	    (outlet->config->answer_cancelled && requester->side == SIDE_CLIENT);
}

/*
 * Whether messages of canceld's own may be written to the server: it has answered initialize (LSP
 * 3.17 "Initialize Request", ACP RFD "Request Cancellation"). In MCP: initialize is answered, or
 * the first modern request was written whole.
 */
bool party_is_settled(const struct party *client);

/*
 * The server has not opened the session yet, as it may still be starting: the deadlines of what the
 * client has asked do not run. Of a modern session without a handshake its first message shows that
 * it is there. One that has served is not asked to start by another server/discover.
 */
static inline bool
party_is_opening(const struct party *client)
{
	const struct handshake *handshake = client->outlet->handshake;

	return (client->pending.starting > 0 &&
		   !(handshake->opened && client->outlet->server->served)) ||
	    (handshake->era == ERA_MODERN && !client->other->spoke &&
		client->pending.clocks->steady < handshake->open_by);
}

/*
 * Ends the wait of the client's messages (lane_stop_at). The idle deadlines of the requests among
 * them start now.
 */
void party_release(struct party *client);

/* The request was just sent, ahead of the requester's queue. */
static inline void
party_sent_ahead(const struct party *requester, struct request *request)
{
	pending_set_position(request, 0, lane_urgent_end(requester->lane), true);
	request->silent_from = lane_received_to(requester->other->lane);
}

/*
 * Remembers that the request's receiver was told of the cancel. With --kill-ignoring the time in
 * which the server must heed it begins.
 */
void party_note_told(const struct party *requester, struct request *request);

/*
 * Keeps the task that, by its answer, continues the request: a person may be asked in it, or
 * progress may come.
 */
void party_keep_task(struct party *requester, const struct request *request, struct id id);

/* Forgets the requester's task with this id, if the status says that it has ended. */
static inline void
party_end_task(const struct party *requester, struct id id, struct span status)
{
	struct request *task;

	while (dialect_ends_task(status) &&
	    (task = pending_find(&requester->tasks, id, NAME_ID)) != NULL)
		pending_remove(task);
}

/*
 * ACP: the newest prompt of this session (after NULL), or the next one; tombstones
 * come last; or NULL.
 */
struct request *party_next_turn(const struct party *client, struct id session_id,
    const struct request *after);

/* ACP: how many turns of this session run that were not cancelled. */
size_t party_turns_running(const struct party *client, struct id session_id);
