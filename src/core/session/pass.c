#include "pass.h"

static void
report_repair(const struct message *message, const char *format, size_t number)
{
	BUF_AUTO text = { 0 };

	compose_text(&text, format, (int64_t)number);
	outlet_note(message->outlet, message->to, WHY_TEXT_REPAIRED, message->request,
	    buf_span(&text));
}

static void
report_seen(const struct message *message, enum verb verb, enum why why)
{
	const struct request *request = message->request;
	bool in_batch = message->batch != NULL && verb == VERB_DROP;
	enum why dropped_as = why;
	struct action action;

	if (why == WHY_RELAYED)
		why = message->word;
	if (message->word == WHY_RECOVERED && why != WHY_RECOVERED && verb == VERB_SEND)
		outlet_note(message->outlet, message->to, WHY_RECOVERED, request, SPAN_NONE);
	if (in_batch) {
		verb = VERB_SEND;
		why = WHY_IN_BATCH;
	}
	if (verb == VERB_SEND && message->broken_at > 0)
		report_repair(message, "invalid UTF-8 at byte %d", message->broken_at - 1);
	if (verb == VERB_SEND && message->cleaned > 0)
		report_repair(message, "replaced by --clean-text: %d", message->cleaned);
	action = action_of(verb, message->to, why, request);
	action.message = message->text;
	action.outcome = message_answer(message);
	action.traceparent = message_value(message, SCAN_META_TRACEPARENT);
	if (request == NULL) {
		action.id = message->cancel != NULL ?
		    message_value(message, message->cancel->field) :
		    message->id.text;
		action.method = message->method;
	}
	if (in_batch)
		action.detail = span_of(why_word(dropped_as));
	else if (message->obstacle.len > 0)
		action.detail = message->obstacle;
	else if (scan_type(message->scan, SCAN_REASON) == VALUE_STRING)
		action.detail = message_value(message, SCAN_REASON);
	if (why == WHY_UNKNOWN_CANCEL)
		action.detail = SPAN("no such request is outstanding");
	journal_report(message->outlet->journal, &action);
}

/* Most messages are relayed, and nobody listens to that. */
static void
report(const struct message *message, enum verb verb, enum why why)
{
	if (why != WHY_RELAYED || message->word != why ||
	    message->broken_at + message->cleaned > 0 ||
	    !journal_count_unseen(message->outlet->journal, why))
		report_seen(message, verb, why);
}

static const struct edit *
edits_of(const struct message *message)
{
	return (const void *)message->edits->list.data;
}

static size_t
count_edits(const struct message *message)
{
	return message->edits->list.len / sizeof(struct edit);
}

/* Forgets the message's edits, which were made, or will not be. */
static void
drop_edits(struct message *message)
{
	message->edits->list.len = message->edits_from;
	if (message->edits_from == 0)
		message->edits->texts.len = 0;
}

/* The bytes of the text from one offset to another. */
static struct span
part_of(const struct message *message, uint64_t from, uint64_t to)
{
	return span_part(message->text, (size_t)from, (size_t)(to - from));
}

/* Appends the bytes that the message passes as, edits made. */
static void
append_text(struct buf *out, const struct message *message)
{
	const struct edit *edits = edits_of(message);
	uint64_t at = 0;

	for (size_t i = 0; i < count_edits(message); i++) {
		buf_append(out, part_of(message, at, edits[i].offset));
		buf_append(out,
		    span_part(buf_span(&message->edits->texts), edits[i].text, edits[i].text_len));
		at = edits[i].offset + edits[i].len;
	}
	buf_append(out, part_of(message, at, message->text.len));
}

void
pass_copy(struct message *message)
{
	/* An edit adds at most its text, so the buf, which owns no memory, never grows. */
	size_t room = message->text.len + message->edits->texts.len;
	struct copy *copy = message->request->copy = mem_new(sizeof(*copy) + room);
	struct buf text = { .data = (char *)(copy + 1), .cap = room };

	append_text(&text, message);
	copy->text = buf_span(&text);
	message->taken_at = &copy->start;
}

void
pass_on(struct message *message, enum why why)
{
	if (message->swallowed) {
		pass_drop(message, WHY_SWALLOWED);
		return;
	}
	if (message->batch != NULL) {
		if (why == WHY_UNTRACKED)
			return; /* which is said of the batch */
	} else if (message->urgent ||
	    (message->bound && server_is_blocked(message->outlet->server))) {
		/*
		 * It goes ahead of the waiting ones: the server may need it to answer the probe or
		 * the replay.
		 */
		append_text(outlet_scratch(message->outlet), message);
		outlet_overtake(message->outlet, message->from);
		pass_discard(message);
	} else {
		if (message->front)
			message->outlet->handshake->front = message->next;
		lane_pass(message->writer->lane,
		    &(struct lane_message){ message->start, message->start + message->text.len,
			message->next, edits_of(message), count_edits(message),
			message->edits->texts.data, message->bound, message->taken_at });
		drop_edits(message);
	}
	report(message, VERB_SEND, why);
}

void
pass_discard(struct message *message)
{
	drop_edits(message);
	if (message->batch == NULL)
		lane_drop_to(message->writer->lane, message->next);
}

void
pass_take(struct message *message, enum why why)
{
	report(message, VERB_SEND, why);
	pass_discard(message);
}

void
pass_drop(struct message *message, enum why why)
{
	report(message, VERB_DROP, why);
	pass_discard(message);
}
