#include "core/pass.h"

static void
tell(struct session *session, const struct message *message, enum verb verb, enum why why,
    const struct request *request)
{
	bool in_batch = message->extent == MESSAGE_ELEMENT && verb == VERB_DROP;
	struct span dropped_as = span_of(why_word(why));
	struct action action;

	if (why == WHY_RELAYED)
		why = message->word;
	if (message->word == WHY_RECOVERED && why != WHY_RECOVERED && verb == VERB_SEND)
		state_note(session, VERB_NOTE, side_other(message->from), WHY_RECOVERED, request, SPAN_NONE);
	if (in_batch) {
		verb = VERB_SEND;
		why = WHY_IN_BATCH;
	}
	if (journal_counts_only(&session->journal, why))
		return;
	action = state_action(session, verb, side_other(message->from), why, request);
	action.message = message->text;
	if (request == NULL) {
		action.id =
		    message->cancel != NULL ? scan_text(message->scan, message->cancel->field) : message->envelope.id;
		action.method = message->envelope.method;
	}
	if (in_batch)
		action.detail = dropped_as;
	else if (scan_value(message->scan, SCAN_REASON)->type == VALUE_STRING)
		action.detail = scan_text(message->scan, SCAN_REASON);
	if (why == WHY_UNKNOWN_CANCEL)
		action.detail =
		    request == NULL ? SPAN("no such request is outstanding") : SPAN("its answer is already passing");
	journal_tell(&session->journal, &action);
}

/* Passes, or drops, the undecided bytes before this position. */
static void
pass_to(struct lane *lane, uint64_t position)
{
	lane_pass(lane, (size_t)(position - lane_decided_to(lane)));
}

static void
drop_to(struct lane *lane, uint64_t position)
{
	lane_drop(lane, (size_t)(position - lane_decided_to(lane)));
}

void
pass_head(struct party *party, uint64_t start, uint64_t len)
{
	char storage[FRAMING_HEAD_MAX];
	struct span head, before;

	if (party->frame.framing == FRAMING_NEWLINE) {
		if (start > lane_decided_to(party->lane))
			drop_to(party->lane, start);
		return;
	}
	head = framing_head(FRAMING_HEADER, len, storage);
	before = lane_from(party->lane, lane_decided_to(party->lane));
	before.len = (size_t)(start - lane_decided_to(party->lane));
	if (span_equal(before, head)) {
		lane_pass(party->lane, head.len);
		return;
	}
	lane_insert_head(party->lane, len);
	lane_drop(party->lane, before.len);
}

void
pass_replace_crs(struct session *session, const struct message *message)
{
	const struct party *party = &session->party[message->from];

	if (party->frame.framing == FRAMING_NEWLINE &&
	    lane_replace(party->lane, message->start, message->end, '\r', ' '))
		state_note(session, VERB_NOTE, side_other(message->from), WHY_CR_REPLACED, NULL, SPAN_NONE);
}

static void
pass_bytes(struct party *party, const struct message *message)
{
	uint64_t len = message->end - message->start;
	const struct edit *edits = message_edits(message), *edit, *end = edits + message->edit_count;
	bool line = party->frame.framing == FRAMING_NEWLINE, as_it_is;

	as_it_is = line && message->edit_count == 0 && message->next == message->end + 1;
	if (!as_it_is)
		lane_set_open(party->lane, true);
	for (edit = edits; edit < end; edit++)
		len = len - edit->len + edit->with.len;
	pass_head(party, message->start, len);
	for (edit = edits; edit < end; edit++) {
		pass_to(party->lane, message->origin + edit->offset);
		lane_insert(party->lane, edit->with);
		lane_drop(party->lane, edit->len);
	}
	if (line && message->next != message->end + 1) { /* no newline, or CR LF */
		/* A newline that is added must be withdrawn with the message: it stands before the message's last position. */
		if (message->next == message->end) {
			const char last[] = { message->text.ptr[message->text.len - 1], '\n' };

			pass_to(party->lane, message->end - 1);
			lane_insert(party->lane, (struct span){ last, sizeof(last) });
		} else {
			pass_to(party->lane, message->end);
		}
		drop_to(party->lane, message->next - (message->next > message->end));
	}
	pass_to(party->lane, message->next);
	if (!as_it_is)
		lane_set_open(party->lane, false);
}

/* Sends the message ahead of the waiting ones: the server may need it to answer the probe or the replay. */
static void
pass_ahead(struct session *session, const struct message *message)
{
	struct buf copy;

	buf_init(&copy);
	message_copy(message, &copy);
	lane_overtake(session->party[message->from].lane, buf_span(&copy));
	buf_free(&copy);
	pass_discard(session, message);
}

void
pass_on(struct session *session, struct message *message, enum why why, const struct request *request)
{
	struct party *party = &session->party[message->from];

	if (message->swallowed) {
		pass_drop(session, message, WHY_SWALLOWED, request);
		return;
	}
	if (message->extent == MESSAGE_ELEMENT) {
		message_carry_edits(message);
		if (why == WHY_UNTRACKED)
			return; /* which is said of the batch */
	} else if (message->extent == MESSAGE_WHOLE && message->bound && state_is_blocked(session)) {
		pass_ahead(session, message);
	} else if (message->extent == MESSAGE_WHOLE) {
		lane_bind(party->lane, message->bound);
		pass_bytes(party, message);
		lane_bind(party->lane, false);
	}
	tell(session, message, VERB_SEND, why, request);
}

void
pass_discard(struct session *session, const struct message *message)
{
	if (message->extent == MESSAGE_WHOLE)
		drop_to(session->party[message->from].lane, message->next);
}

void
pass_take(struct session *session, struct message *message, enum why why, const struct request *request)
{
	tell(session, message, VERB_SEND, why, request);
	pass_discard(session, message);
}

void
pass_drop(struct session *session, struct message *message, enum why why, const struct request *request)
{
	tell(session, message, VERB_DROP, why, request);
	pass_discard(session, message);
}
