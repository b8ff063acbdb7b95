/* The message at hand passes, as it is or changed, or leaves its lane. */
#include <assert.h>

#include "session_inside.h"

static APART void
tell_message(struct session *session, const struct message *message, enum verb verb, enum why why,
    const struct request *request)
{
	struct action action = action_of(session, verb, side_other(message->from), why, request);

	action.message = message->text;
	if (request == NULL) {
		action.id =
		    message->cancel != NULL ? scan_text(message->scan, message->cancel->field) : message->envelope.id;
		action.method = message->envelope.method;
	}
	if (scan_value(message->scan, SCAN_REASON)->type == VALUE_STRING)
		action.detail = scan_text(message->scan, SCAN_REASON);
	session_report(session, &action);
}

/* Most that pass are only counted. */
static void
report_message(struct session *session, const struct message *message, enum verb verb, enum why why,
    const struct request *request)
{
	if (session_tells(session, why))
		tell_message(session, message, verb, why, request);
	else
		session->counts[why]++;
}

static void
add_edit(struct message *message, struct edit edit)
{
	int i = message->edit_count++;

	assert(i < MESSAGE_EDITS);
	for (; i > 0 && message->edits[i - 1].offset > edit.offset; i--)
		message->edits[i] = message->edits[i - 1];
	message->edits[i] = edit;
}

void
message_edit(struct message *message, enum scan_field field, struct span with)
{
	add_edit(message,
	    (struct edit){ scan_value(message->scan, field)->offset, scan_text(message->scan, field).len, with });
}

void
message_insert(struct message *message, uint64_t offset, struct span with)
{
	add_edit(message, (struct edit){ offset, 0, with });
}

/* Moves the decided position to `to`, passing or dropping what lies before it. */
static void
advance(struct lane *lane, uint64_t to, void (*decide)(struct lane *lane, size_t n))
{
	decide(lane, (size_t)(to - lane_decided_to(lane)));
}

void
session_pass_head(struct party *party, uint64_t start, uint64_t len)
{
	char storage[FRAMING_HEAD_MAX];
	struct span head = framing_head(party->frame.framing, len, storage);
	struct span before = lane_from(party->lane, lane_decided_to(party->lane));

	before.len = (size_t)(start - lane_decided_to(party->lane));
	if (head.len > 0 && span_equal(before, head)) {
		lane_pass(party->lane, head.len);
		return;
	}
	lane_insert_head(party->lane, len);
	lane_drop(party->lane, before.len);
}

/* Its line end, of whatever kind, as one newline. */
static void
pass_line_end(struct lane *lane, const struct message *message)
{
	if (message->end == message->next)
		lane_insert(lane, SPAN("\n"));
	else
		advance(lane, message->next - 1, lane_drop);
	advance(lane, message->next, lane_pass);
}

/* A line with nothing to change, as nearly all are. */
static bool
passes_as_it_is(const struct party *party, const struct message *message)
{
	return party->frame.framing == FRAMING_NEWLINE && message->edit_count == 0 &&
	    message->end + 1 == message->next && message->start == lane_decided_to(party->lane);
}

static APART void
pass_changed(struct party *party, const struct message *message)
{
	uint64_t origin = message->word == WHY_RECOVERED ? message->start : party->frame.body;
	uint64_t len = message->end - message->start;
	const struct edit *edit;

	for (edit = message->edits; edit < message->edits + message->edit_count; edit++)
		len = len - edit->len + edit->with.len;
	session_pass_head(party, message->start, len);
	for (edit = message->edits; edit < message->edits + message->edit_count; edit++) {
		advance(party->lane, origin + edit->offset, lane_pass);
		lane_insert(party->lane, edit->with);
		lane_drop(party->lane, edit->len);
	}
	advance(party->lane, message->end, lane_pass);
	if (party->frame.framing == FRAMING_NEWLINE)
		pass_line_end(party->lane, message);
}

static void
pass_bytes(struct party *party, const struct message *message)
{
	if (passes_as_it_is(party, message))
		lane_pass(party->lane, (size_t)(message->next - message->start));
	else
		pass_changed(party, message);
}

/* It is lost with its server. */
static APART void
pass_bound(struct session *session, struct message *message, enum why why, const struct request *request)
{
	struct party *party = &session->party[message->from];

	if (session_holds(session)) {
		report_message(session, message, VERB_SEND, why, request);
		session_pass_ahead(session, message);
		return;
	}
	lane_bind(party->lane, true);
	pass_bytes(party, message);
	lane_bind(party->lane, false);
	report_message(session, message, VERB_SEND, why, request);
}

void
message_pass(struct session *session, struct message *message, enum why why, const struct request *request)
{
	if (message->bound && !message->passed) {
		pass_bound(session, message, why, request);
		return;
	}
	if (!message->passed)
		pass_bytes(&session->party[message->from], message);
	report_message(session, message, VERB_SEND, why, request);
}

void
message_discard(struct session *session, const struct message *message)
{
	if (!message->passed)
		advance(session->party[message->from].lane, message->next, lane_drop);
}

void
message_take(struct session *session, struct message *message, enum why why, const struct request *request)
{
	report_message(session, message, VERB_SEND, why, request);
	message_discard(session, message);
}

void
message_drop(struct session *session, struct message *message, enum why why, const struct request *request)
{
	report_message(session, message, message->passed ? VERB_SEND : VERB_DROP, why, request);
	message_discard(session, message);
}
