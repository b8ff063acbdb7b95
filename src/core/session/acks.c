#include "core/inside.h"

enum { OUTCOME_BITS = 2 }; /* of a mark; the others stand for the id or token */

/* For the log, and for the client: ABP "Edge Cases". */
static const struct {
	const char *word, *members;
} outcomes[] = {
	[OUTCOME_UNKNOWN] = { "not found", "\"cancelled\":false,\"reason\":\"Operation not found\"" },
	[OUTCOME_COMPLETED] = { "already completed", "\"cancelled\":false,\"reason\":\"Operation already completed\"" },
	[OUTCOME_CANCELLED] = { "cancelled", "\"cancelled\":true" },
	[OUTCOME_CONFIRMED] = { "confirmed", "\"cancelled\":true,\"confirmed\":true" },
	[OUTCOME_FORBIDDEN] = { "cannot be cancelled",
	    "\"cancelled\":false,\"reason\":\"Operation cannot be cancelled\"" },
};

bool
acks_add(struct acks *acks, const struct ack *ack, const struct request *request)
{
	struct request like = { .id = ack->id, .method = request->wire_id.text, .name = ack->reason };

	like.meta = ack->target;
	if (ack->text.len <= LIMIT_META)
		like.shown = ack->text;
	return acks->waiting.count < LIMIT_ACKS && pending_add(&acks->waiting, &like) != NULL;
}

void
acks_note_end(struct acks *acks, enum side requester, struct id id, enum name_kind kind, enum outcome outcome)
{
	acks->marks[requester][acks->marked[requester]++ % ACKS_MARKS] = (id.hash + kind) << OUTCOME_BITS | outcome;
}

void
acks_report(struct session *session, const struct ack *ack, const char *outcome)
{
	struct action action = state_action(session, VERB_SEND, SIDE_CLIENT, WHY_CANCEL_ACKNOWLEDGED, NULL);

	action.message = ack->text;
	action.id = ack->target;
	action.detail = ack->reason;
	action.outcome = span_of(outcome);
	journal_tell(&session->journal, &action);
}

void
acks_send(struct session *session, const struct ack *ack, enum outcome outcome)
{
	compose(state_scratch(session), "{'jsonrpc':'2.0','id':%b,'result':{'id':%b,%s}}", ack->id.text, ack->target,
	    outcomes[outcome].members);
	state_answer(session, SIDE_SERVER);
	acks_report(session, ack, outcomes[outcome].word);
}

void
acks_end(struct session *session, const struct request *request, enum outcome outcome)
{
	struct acks *acks = &session->acks;
	struct request *kept, *next;

	for (kept = request->from == SIDE_CLIENT ? acks->waiting.oldest : NULL; kept != NULL; kept = next) {
		next = kept->newer;
		if (!span_equal(kept->method, request->wire_id.text))
			continue;
		acks_send(session, &(struct ack){ kept->id, kept->shown, kept->meta, kept->name }, outcome);
		pending_remove(kept);
	}
	acks_note_end(acks, request->from, request->id, NAME_WIRE_ID, outcome);
	if (request->token.text.len > 0)
		acks_note_end(acks, request->from, request->token, NAME_TOKEN, outcome);
}

enum outcome
acks_outcome(const struct acks *acks, enum side requester, struct id id, enum name_kind kind)
{
	uint64_t wanted = (id.hash + kind) << OUTCOME_BITS;

	for (size_t i = 1; i <= ACKS_MARKS; i++) {
		uint64_t mark = acks->marks[requester][(acks->marked[requester] - i) % ACKS_MARKS];

		if (mark >> OUTCOME_BITS == wanted >> OUTCOME_BITS)
			return (enum outcome)(mark - wanted);
	}
	return OUTCOME_UNKNOWN;
}
