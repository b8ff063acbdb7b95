#include "core/state.h"

#include "core/id.h"
#include "core/limits.h"

void
state_note(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = state_action(session, verb, side, why, request);

	action.detail = detail;
	journal_tell(&session->journal, &action);
}

bool
state_is_opening(const struct session *session, enum side from, struct span method)
{
	return session->records.wanted && from == SIDE_CLIENT && dialect_is(method, session->handshake.dialect->opened);
}

msec_t
state_grace(const struct session *session, const struct request *request)
{
	if (session->config.grace != MSEC_NEVER)
		return session->config.grace;
	return request != NULL && request_is_turn(request) ? TIME_GRACE_TURN : TIME_GRACE;
}

bool
state_deadline_waits(const struct session *session, enum side requester, const struct request *request)
{
	return (session->handshake.dialect->flags & DIALECT_DEADLINE_WAITS) &&
	    !(request_traits(request) & METHOD_NO_CANCEL) && !(session->config.no_cancel && requester == SIDE_CLIENT);
}

bool
state_names_request(const struct session *session, enum side from, const struct scan *scan)
{
	enum side requester = side_other(from);
	struct span id = message_id(scan, SCAN_ID);

	if (scan_value(scan, SCAN_METHOD)->type != VALUE_ABSENT)
		return false;
	/* A request that is PASSING is not found by its id; one with so long an id is not tracked. */
	if (session->party[from].parts.request != NULL || scan_value(scan, SCAN_ID)->unkept)
		return session->party[from].parts.request != NULL || session->party[requester].untracked > 0;
	return id.len > 0 &&
	    (pending_by_wire(&session->party[requester].pending, id) != NULL ||
		questions_find(&session->questions, requester, id) != NULL);
}

void
state_message(const struct session *session, enum side from, enum message_extent extent, struct message *message)
{
	const struct party *party = &session->party[from];
	const struct frame *frame = &party->frame;
	bool needs_jsonrpc = party->needs_jsonrpc;
	struct span body;

	message_init(message, from, frame->scan);
	message->extent = extent;
	message->origin = frame->body;
	message->start = frame->body + (scan_bom(frame->scan) ? 3 : 0);
	message->begin = frame->framing == FRAMING_NEWLINE ? message->start : frame->start;
	message->end = message->next = frame->scanned;
	if (extent == MESSAGE_WHOLE) {
		body = lane_from(party->lane, message->start);
		body.len = (size_t)(frame->scanned - message->start);
		if (frame->framing == FRAMING_NEWLINE && body.ptr[body.len - 1] == '\n')
			message->end -= body.len > 1 && body.ptr[body.len - 2] == '\r' ? 2 : 1;
		message->text = span_part(body, 0, (size_t)(message->end - message->start));
	}
	if (needs_jsonrpc && scan_value(frame->scan, SCAN_JSONRPC)->type == VALUE_ABSENT)
		needs_jsonrpc = !state_names_request(session, from, frame->scan);
	if (frame->split)
		message->word = WHY_RECOVERED;
	envelope_read(&message->envelope, frame->scan, needs_jsonrpc);
	if (extent == MESSAGE_WHOLE && message->envelope.kind == ENVELOPE_BATCH &&
	    !envelope_is_batch(session->salvage, lane_from(party->lane, frame->body + scan_value_start(frame->scan)),
		from == SIDE_SERVER && party->needs_jsonrpc))
		message->envelope.kind = ENVELOPE_NO_MESSAGE;
}

bool
state_id_is_taken(const struct session *session, enum side requester, struct span id)
{
	const struct party *receiver = &session->party[side_other(requester)];
	const struct request *presumed =
	    scan_value(receiver->frame.scan, SCAN_ID)->type == VALUE_ABSENT ? receiver->parts.request : NULL;

	return pending_by_wire(&session->party[requester].pending, id) != NULL ||
	    questions_find(&session->questions, requester, id) != NULL ||
	    (presumed != NULL && id_equal(presumed->wire_id, id));
}

void
state_release(struct session *session)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;
	struct pending *pending = &session->party[SIDE_CLIENT].pending;
	struct request *request, *first = NULL;

	/* Those that wait are the newest ones: each is visited only when its own wait ends. */
	for (request = pending->newest; request != NULL && lane_holds(lane, request->start); request = request->older)
		first = request;
	for (request = first; request != NULL; request = request->newer)
		if (state_of(session, SIDE_CLIENT, request) == REQUEST_QUEUED)
			pending_start_idle(pending, request, session->clocks.idle);
	lane_stop_at(lane, LANE_FREE);
}

void
state_extend(struct session *session, enum side requester, struct request *request)
{
	pending_extend(&session->party[requester].pending, request, clocks_idle(&session->clocks, requester));
}

void
state_note_untracked(struct session *session, const struct message *message, bool all)
{
	struct party *other = &session->party[side_other(message->from)];

	session->party[message->from].untracked = message->next;
	if (all)
		other->untracked = lane_received_to(other->lane);
}

void
state_lose_untracked(struct session *session)
{
	struct party *client = &session->party[SIDE_CLIENT];

	session->party[SIDE_SERVER].untracked = 0;
	if (client->untracked <= lane_written_to(client->lane)) /* else it waits for the next server */
		client->untracked = 0;
}
