#include "party.h"
#include "questions.h"

/* JSON-RPC 2.0 section 5.1: the code is an integer, however it is spelled. */
static bool
is_integer(struct span number)
{
	/* from 2^53 on every double is an integer */
	static const double all_integers = 9007199254740992;
	double value;

	return id_number(number, &value) &&
	    (value >= all_integers || value <= -all_integers || value == (double)(int64_t)value);
}

/*
 * How a response breaks JSON-RPC 2.0 section 5, or NULL. An error that is null counts as absent.
 */
static const char *
find_flaw(const struct scan *scan)
{
	enum value_type type = scan_type(scan, SCAN_ERROR);
	bool result = scan_has(scan, SCAN_RESULT);

	return type == VALUE_ABSENT || type == VALUE_NULL ?
	    result ? NULL : "neither a result nor an error" :
	    result               ? "both a result and an error" :
	    type != VALUE_OBJECT ? "an error that is no object" :
	    scan_type(scan, SCAN_ERROR_CODE) != VALUE_NUMBER ||
		!is_integer(scan_text(scan, SCAN_ERROR_CODE)) ?
				   "an error without an integer as its code" :
	    scan_type(scan, SCAN_ERROR_MESSAGE) != VALUE_STRING ?
				   "an error without a string as its message" :
				   NULL;
}

static bool
has_answer(const struct scan *scan)
{
	return scan_has(scan, SCAN_RESULT) || scan_has(scan, SCAN_ERROR);
}

static enum message_kind
read_meant(const struct scan *scan)
{
	enum value_type method = scan_type(scan, SCAN_METHOD);

	if (has_answer(scan) || (method == VALUE_ABSENT && scan_has(scan, SCAN_JSONRPC)))
		return MESSAGE_RESPONSE;
	if (method != VALUE_ABSENT && scan_has(scan, SCAN_ID))
		return MESSAGE_REQUEST;
	return method == VALUE_STRING ? MESSAGE_NOTIFICATION : MESSAGE_NONE;
}

static enum message_kind
read_kind(const struct scan *scan, enum message_kind meant)
{
	enum value_type id = scan_type(scan, SCAN_ID), method = scan_type(scan, SCAN_METHOD),
			text = scan_type(scan, SCAN_TEXT);
	bool known = id < VALUE_OBJECT && id != VALUE_BOOL;

	return scan->fault != SCAN_FINE ? MESSAGE_NONE :
	    text == VALUE_ABSENT        ? MESSAGE_BLANK :
	    text == VALUE_ARRAY         ? MESSAGE_BATCH :
	    text != VALUE_OBJECT || !known ||
		method != (has_answer(scan) ? VALUE_ABSENT : VALUE_STRING) ?
				  MESSAGE_NONE :
				  meant;
}

/* Tells what the scanned text is: see message_read. */
static void
interpret(struct message *message, struct party *writer, bool needs_jsonrpc)
{
	struct scan *scan = &message->storage;

	/*
	 * What stands before start is set in any case, and the large members are not read before
	 * that.
	 */
	memset(&message->start, 0,
	    offsetof(struct message, unescaped) - offsetof(struct message, start));
	message->from = writer->side;
	message->to = side_other(writer->side);
	message->writer = writer;
	message->reader = writer->other;
	message->text = scan->text;
	message->word = WHY_RELAYED;
	message->scan = scan;
	message->edits = &writer->edits;
	message->outlet = writer->outlet;
	if (message->from == SIDE_SERVER && scan->fault == SCAN_BROKEN) {
		message->broken_at = scan->fault_offset + 1;
		scan->fault = SCAN_FINE;
	}
	message->method =
	    scan_string(scan, SCAN_METHOD, message->unescaped, sizeof(message->unescaped));
	message->id = message_id(message, SCAN_ID);
	message->meant = read_meant(scan);
	message->kind = read_kind(scan, message->meant);
	message->malformed = message->kind == MESSAGE_RESPONSE ? find_flaw(scan) : NULL;
	if (message->meant == MESSAGE_RESPONSE) {
		message->request = pending_find(&message->reader->pending, message->id, NAME_WIRE);
		if (message->request == NULL)
			message->question = questions_find(message->reader, message->id);
	}
	if (scan->fault == SCAN_REPEATED_ID)
		message->id = ID_NONE;
	if (message->meant == MESSAGE_NOTIFICATION)
		message->cancel =
		    dialect_cancel(writer->outlet->handshake->dialect, message->method);
	if (!needs_jsonrpc || !message_is_single(message) || scan_has(scan, SCAN_JSONRPC))
		return;
	/* A request whose id is too long to be kept is not tracked. */
	if (message->kind != MESSAGE_RESPONSE ||
	    (message->request == NULL && message->question == NULL &&
		(!scan_unkept(scan, SCAN_ID) || message->reader->untracked == 0)))
		message->kind = MESSAGE_NONE;
}

void
message_read(struct message *message, struct party *writer, struct span text, bool needs_jsonrpc)
{
	scan_read(&message->storage, text);
	interpret(message, writer, needs_jsonrpc);
}

bool
message_read_element(struct message *element, struct message *batch, size_t *at, bool needs_jsonrpc)
{
	struct span rest = span_skip_space(span_from(batch->text, *at));

	if (rest.len == 0 || rest.ptr[0] != (*at == 0 ? '[' : ','))
		return false;
	rest = span_skip_space(span_from(rest, 1));
	scan_read_first(&element->storage, rest);
	interpret(element, batch->writer, needs_jsonrpc);
	element->batch = batch;
	element->start = batch->start + (uint64_t)(rest.ptr - batch->text.ptr);
	*at = (size_t)(rest.ptr - batch->text.ptr) + scan_end(element->scan);
	return scan_end(element->scan) > 0;
}

void
message_edit(struct message *message, uint64_t offset, uint64_t len, struct span with)
{
	struct buf *list = &message->edits->list, *texts = &message->edits->texts;
	struct edit edit = { offset, (size_t)len, texts->len, with.len }, *place;

	if (message->batch != NULL)
		edit.offset += message->start - message->batch->start;
	buf_append(texts, with);
	buf_push(list, edit);
	place = (struct edit *)(void *)(list->data + list->len) - 1;
	for (; (char *)place > list->data && place[-1].offset > edit.offset; place--)
		place[0] = place[-1];
	*place = edit;
}

void
message_replace(struct message *message, enum scan_field field, struct span with)
{
	const struct scan_value *value = scan_value(message->scan, field);

	message_edit(message, value->offset, value->end - value->offset, with);
}

struct span
message_answer(const struct message *message)
{
	if (message->kind != MESSAGE_RESPONSE || message->malformed)
		return SPAN_NONE;
	if (!scan_has(message->scan, SCAN_RESULT))
		return message_value(message, SCAN_ERROR_CODE);
	return span_is(message_value(message, SCAN_IS_ERROR), "true") ? SPAN("isError") :
									SPAN("result");
}

uint64_t
message_missing(const struct party *writer)
{
	const struct frame *frame = &writer->frame;
	struct span bytes = lane_undecided(writer->lane);
	struct scan scan;

	if (frame->body == 0 || frame->body >= bytes.len || bytes.len > LIMIT_TEXT)
		return 0;
	scan_read(&scan, span_from(bytes, (size_t)frame->body));
	return scan.fault == SCAN_FINE && scan_end(&scan) > 0 ? frame->next - bytes.len : 0;
}
