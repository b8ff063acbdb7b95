#include "core/inside.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void
message_init(struct message *message, enum side from, struct scan *scan)
{
	memset(message, 0, offsetof(struct message, edits));
	message->from = from;
	message->scan = scan;
	message->word = WHY_RELAYED;
}

void
message_read(struct message *message, const struct session *session, struct span text, bool needs_jsonrpc)
{
	enum side requester = side_other(message->from);
	const struct party *party = &session->party[requester];
	struct scan *scan = message->scan;

	message->text = text;
	message->request = message->question = NULL;
	scan_read(scan, text);
	if (envelope_may_answer(scan)) {
		struct span id = message_id(scan, SCAN_ID);

		message->request = pending_by_wire(&party->pending, id);
		if (message->request == NULL)
			message->question = questions_find(session, requester, id);
		/* A request whose id is too long to be kept is not tracked. */
		if (message->request != NULL || message->question != NULL ||
		    (party->untracked > 0 && scan_unkept(scan, SCAN_ID)))
			needs_jsonrpc = false;
	}
	envelope_read(&message->envelope, scan, needs_jsonrpc);
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
message_replace(struct message *message, enum scan_field field, struct span with)
{
	const struct scan_value *value = scan_value(message->scan, field);

	add_edit(message, (struct edit){ value->offset, (size_t)(value->end - value->offset), with });
}

void
message_insert(struct message *message, uint64_t offset, struct span with)
{
	add_edit(message, (struct edit){ offset, 0, with });
}

void
message_carry_edits(struct message *element)
{
	struct message *batch = element->batch;

	for (int i = 0; i < element->edit_count; i++) {
		struct edit edit = element->edits[i];

		edit.offset += element->start - batch->start;
		buf_append(batch->texts, edit.with);
		buf_append(batch->carried, (struct span){ (const char *)&edit, sizeof(edit) });
		batch->edit_count++;
	}
	element->edit_count = 0;
}

void
message_end_edits(struct message *batch)
{
	struct edit *edits = (struct edit *)(void *)batch->carried->data;
	size_t at = 0;

	for (int i = 0; i < batch->edit_count; i++) {
		size_t len = edits[i].with.len;

		edits[i].with = span_part(buf_span(batch->texts), at, len);
		at += len;
	}
}

struct span
message_part(const struct message *message, uint64_t from, uint64_t to)
{
	return span_part(message->text, (size_t)from, (size_t)(to - from));
}

void
message_copy(const struct message *message, struct buf *out)
{
	uint64_t at = 0;
	int i;

	for (i = 0; i < message->edit_count; i++) {
		const struct edit *edit = &message_edits(message)[i];

		buf_append(out, message_part(message, at, edit->offset));
		buf_append(out, edit->with);
		at = edit->offset + edit->len;
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
