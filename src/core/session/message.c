#include "core/inside.h"

#include <stddef.h>
#include <string.h>

void
message_read(struct message *message, struct session *session, enum side from, struct span text, bool needs_jsonrpc)
{
	enum side requester = side_other(from);
	const struct party *party = &session->party[requester];
	struct envelope *envelope = &message->envelope;
	struct scan *scan = &message->storage;

	memset(message, 0, offsetof(struct message, envelope));
	message->from = from;
	message->text = text;
	message->word = WHY_RELAYED;
	message->scan = scan;
	message->edits = &session->edits;
	scan_read(scan, text);
	envelope_read(envelope, scan);
	if (envelope->kind == ENVELOPE_RESPONSE || (envelope->kind == ENVELOPE_NONE && envelope_may_answer(scan))) {
		struct span id = envelope->id.len > 0 ? envelope->id : message_id(scan, SCAN_ID);

		message->request = pending_by_wire(&party->pending, id);
		if (message->request == NULL)
			message->question = questions_find(session, requester, id);
		/* A request whose id is too long to be kept is not tracked. */
		if (message->request != NULL || message->question != NULL ||
		    (party->untracked > 0 && scan_unkept(scan, SCAN_ID)))
			return;
	}
	if (needs_jsonrpc && envelope_is_message(envelope) && !scan_has(scan, SCAN_JSONRPC))
		envelope->kind = ENVELOPE_NONE;
}

/* Offsets count from the text that passes, which is the batch's. */
static void
add_edit(struct message *message, uint64_t offset, uint64_t len, struct span with)
{
	struct buf *list = &message->edits->list, *texts = &message->edits->texts;
	struct edit edit = { offset, (size_t)len, texts->len, with.len }, *place;

	if (message->batch != NULL)
		edit.offset += message->start - message->batch->start;
	buf_append(texts, with);
	buf_append(list, (struct span){ (const char *)&edit, sizeof(edit) });
	place = (struct edit *)(void *)(list->data + list->len) - 1;
	for (; (char *)place > list->data && place[-1].offset > edit.offset; place--)
		place[0] = place[-1];
	*place = edit;
}

void
message_replace(struct message *message, enum scan_field field, struct span with)
{
	const struct scan_value *value = scan_value(message->scan, field);

	add_edit(message, value->offset, value->end - value->offset, with);
}

void
message_insert(struct message *message, uint64_t offset, struct span with)
{
	add_edit(message, offset, 0, with);
}

struct span
message_part(const struct message *message, uint64_t from, uint64_t to)
{
	return span_part(message->text, (size_t)from, (size_t)(to - from));
}

void
message_copy(const struct message *message, struct buf *out)
{
	struct span texts = buf_span(&message->edits->texts);
	const struct edit *edits = message_edits(message);
	uint64_t at = 0;

	for (size_t i = 0; i < message_edit_count(message); i++) {
		buf_append(out, message_part(message, at, edits[i].offset));
		buf_append(out, span_part(texts, edits[i].text, edits[i].text_len));
		at = edits[i].offset + edits[i].len;
	}
	buf_append(out, message_part(message, at, message->text.len));
}

struct span
message_id(const struct scan *scan, enum scan_field field)
{
	enum value_type type = scan_value(scan, field)->type;

	if (type != VALUE_STRING && type != VALUE_NUMBER)
		return SPAN_NONE;
	return scan_text(scan, field);
}
