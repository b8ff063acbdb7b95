#pragma once

/* What canceld itself says. */

#include "core/compose.h"
#include "handshake.h"
#include "server.h"

/*
 * It goes out here: a message into a lane, a decision to the journal. All but the buffers is the
 * session's, and is looked at to find the words.
 */
struct outlet {
	struct journal *journal;
	struct handshake *handshake;
	struct server *server;
	const struct session_config *config;
	struct lane *lanes[2]; /* by the side that writes them */
	uint32_t minted;       /* how many ids it has made up, for either side */
	/* what is wrong with the frame at hand, or a person's reason, for the log and the error */
	struct buf fault;
	struct buf words;   /* for a text or an id that is being composed */
	struct buf scratch; /* for one message that is being composed; reused for the next one */
};

static inline const struct dialect *
message_dialect(const struct message *message)
{
	return message->outlet->handshake->dialect;
}

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
void outlet_note(const struct outlet *outlet, enum side side, enum why why,
    const struct request *request, struct span detail);

/* The same about a message that is in no table. */
void outlet_note_message(enum side side, enum why why, const struct message *message,
    struct span detail);

/*
 * Counts the request at hand, which does not enter the table, and its end, under this word;
 * $/canceld/cancel is not counted.
 */
void outlet_count(const struct message *message, enum tally tally, enum why why);

/*
 * Whether canceld's own messages to that side are written: to a server until it or canceld has
 * closed its stdin.
 */
static inline bool
outlet_may_write(const struct outlet *outlet, enum side to)
{
	return to == SIDE_CLIENT || !(server_is_deaf(outlet->server) || outlet->server->shut);
}

/* The empty scratch buffer, to compose one message in; its content lasts until the next call. */
static inline struct buf *
outlet_scratch(struct outlet *outlet)
{
	buf_clear(&outlet->scratch);
	return &outlet->scratch;
}

/*
 * Sends what was composed as if `from` had written it: ahead of all messages, or in its place among
 * them.
 */
static inline void
outlet_overtake(struct outlet *outlet, enum side from)
{
	lane_overtake(outlet->lanes[from], buf_span(&outlet->scratch));
	buf_free(&outlet->scratch); /* it may be large */
}

static inline void
outlet_answer(struct outlet *outlet, enum side from)
{
	lane_answer(outlet->lanes[from], buf_span(&outlet->scratch));
}

/* The same, ahead of all messages, with its note about a request, which may be NULL. */
void outlet_send(struct outlet *outlet, enum side from, enum why why, const struct request *request,
    struct span detail);
