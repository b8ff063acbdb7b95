#include "party.h"

enum {
	OUTCOME_BITS = 2,           /* of a mark; the others stand for the id or token */
	MARKS = 2 * LIMIT_FINISHED, /* of one requester */
};

/* For the log, and for the client: ABP "Edge Cases". */
static const struct {
	const char *word, *members;
} outcomes[] = {
	[OUTCOME_UNKNOWN] = { "not found",
	    "\"cancelled\":false,\"reason\":\"Operation not found\"" },
	[OUTCOME_COMPLETED] = { "already completed",
	    "\"cancelled\":false,\"reason\":\"Operation already completed\"" },
	[OUTCOME_CANCELLED] = { "cancelled", "\"cancelled\":true" },
	[OUTCOME_CONFIRMED] = { "confirmed", "\"cancelled\":true,\"confirmed\":true" },
	[OUTCOME_FORBIDDEN] = { "cannot be cancelled",
	    "\"cancelled\":false,\"reason\":\"Operation cannot be cancelled\"" },
};

bool
acks_add(struct ack **waiting, struct span text, const struct request *request)
{
	struct ack **end = waiting;
	size_t bytes = text.len, count = 0;

	for (; *end != NULL; end = &(*end)->next, count++)
		bytes += (*end)->text.len;
	if (count >= LIMIT_ACKS || (count > 0 && bytes > LIMIT_ACK_BYTES))
		return false;
	*end = mem_new(sizeof(**end) + text.len);
	**end = (struct ack){ .request = request,
		.text = { memcpy(*end + 1, text.ptr, text.len), text.len } };
	return true;
}

void
acks_note_end(struct buf *marks, struct id id, enum name_kind kind, enum outcome outcome)
{
	const uint64_t mark = (id.hash + kind) << OUTCOME_BITS | outcome;

	buf_push(marks, mark);
	if (marks->len > MARKS * sizeof(mark))
		buf_consume(marks, sizeof(mark));
}

void
acks_report(const struct outlet *outlet, const struct scan *ack, const char *outcome)
{
	struct action action = action_of(VERB_SEND, SIDE_CLIENT, WHY_CANCEL_ACKNOWLEDGED, NULL);

	action.message = ack->text;
	action.id = scan_text(ack, SCAN_PARAMS_ID);
	action.detail = scan_text(ack, SCAN_REASON);
	action.outcome = span_of(outcome);
	journal_report(outlet->journal, &action);
}

void
acks_send(struct outlet *outlet, const struct scan *ack, enum outcome outcome)
{
	compose_json(outlet_scratch(outlet),
	    "{\"jsonrpc\":\"2.0\",\"id\":%b,\"result\":{\"id\":%b,%b}}", scan_text(ack, SCAN_ID),
	    scan_text(ack, SCAN_PARAMS_ID), span_of(outcomes[outcome].members));
	outlet_answer(outlet, SIDE_SERVER);
	acks_report(outlet, ack, outcomes[outcome].word);
}

void
acks_end(struct party *requester, const struct request *request, enum outcome outcome)
{
	struct ack **at = &requester->acks, *ack;
	struct scan scan;

	while ((ack = *at) != NULL) {
		if (ack->request != request) {
			at = &ack->next;
			continue;
		}
		scan_read(&scan, ack->text);
		acks_send(requester->outlet, &scan, outcome);
		*at = ack->next;
		free(ack);
	}
	acks_note_end(&requester->marks, request->id, NAME_WIRE, outcome);
	if (request->token.text.len > 0)
		acks_note_end(&requester->marks, request->token, NAME_TOKEN, outcome);
}

enum outcome
acks_outcome(const struct buf *marks, struct id id, enum name_kind kind)
{
	struct span ended = buf_span(marks);
	uint64_t mark, wanted = (id.hash + kind) << OUTCOME_BITS;

	for (; ended.len > 0; ended.len -= sizeof(mark)) {
		memcpy(&mark, ended.ptr + ended.len - sizeof(mark), sizeof(mark));
		if (mark >> OUTCOME_BITS == wanted >> OUTCOME_BITS)
			return (enum outcome)(mark - wanted);
	}
	return OUTCOME_UNKNOWN;
}
