#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"

static void
remove_at(struct records *records, size_t i)
{
	struct record *record = &records->list[i];

	records->bytes -= record->text.len;

	buf_free(&record->text);
	buf_free(&record->name);
	records->count--;
	memmove(record, record + 1, (records->count - i) * sizeof(*record));
}

void
records_free(struct records *records)
{
	while (records->count > 0)
		remove_at(records, records->count - 1);
	free(records->list);
	buf_free(&records->version);
}

/* Adds a record; NULL: there is no room. */
static struct record *
add(struct records *records, const struct message *message, unsigned traits)
{
	struct record *record;

	/* A record that ends a setting is kept only until its answer, and then makes room: it is never refused. */
	if (!(traits & METHOD_UNSETTING) &&
	    (records->count >= LIMIT_RECORDS || records->bytes + message->text.len > LIMIT_RECORD_BYTES))
		return NULL;
	records->list = mem_resize(records->list, records->count + 1, sizeof(*records->list));
	record = &records->list[records->count++];
	*record = (struct record){ .traits = traits };
	buf_append(&record->text, message->text);
	records->bytes += message->text.len;
	return record;
}

bool
records_add_request(struct records *records, const struct message *message, struct request *request)
{
	unsigned traits = request->traits;
	struct record *record = NULL;

	if (!records->wanted || !(traits & METHOD_RECORDED))
		return true;
	if (request->row->name_field == SCAN_TEXT || request->name.len > 0)
		record = add(records, message, traits);
	if (record == NULL) {
		records->overflow |= (traits & METHOD_HANDSHAKE) != 0;
		return false;
	}
	record->method = request->row->name;
	record->request = request;
	record->id_at = scan_value(message->scan, SCAN_ID)->offset;
	record->id_len = scan_text(message->scan, SCAN_ID).len;
	buf_append(&record->name, request->name);
	return true;
}

bool
records_add_opened(struct records *records, const struct message *message)
{
	for (size_t i = records->count; i-- > 0;)
		if (records->list[i].traits == METHOD_OPENED)
			remove_at(records, i);
	return message->batch == NULL && add(records, message, METHOD_OPENED) != NULL;
}

struct record *
records_find(const struct records *records, const struct request *request)
{
	for (size_t i = 0; i < records->count; i++)
		if (records->list[i].request == request)
			return &records->list[i];
	return NULL;
}

/* Whether the later record, once granted, makes the earlier one obsolete. */
static bool
is_replaced(const struct record *earlier, const struct record *later)
{
	if (earlier == later || earlier->request != NULL)
		return false;
	if (later->traits & METHOD_HANDSHAKE)
		return earlier->traits & METHOD_HANDSHAKE;
	return (earlier->traits & METHOD_SETTING) && span_equal(buf_span(&earlier->name), buf_span(&later->name));
}

void
records_answer(struct records *records, const struct request *request, bool granted)
{
	struct record *record = records_find(records, request);
	size_t i, later;

	if (!granted || record == NULL || (record->traits & METHOD_STREAM))
		return;
	record->request = NULL;
	later = (size_t)(record - records->list);
	for (i = records->count; i-- > 0;)
		if (is_replaced(&records->list[i], &records->list[later])) {
			remove_at(records, i);
			later -= i < later;
		}
	if (records->list[later].traits & METHOD_UNSETTING)
		remove_at(records, later);
}

void
records_end(struct records *records, const struct request *request)
{
	struct record *record = records_find(records, request);

	if (record != NULL)
		remove_at(records, (size_t)(record - records->list));
}

void
records_note_server(struct records *records, const struct dialect *dialect, const struct message *message)
{
	buf_clear(&records->version);
	buf_append(&records->version, scan_text(message->scan, SCAN_RESULT_VERSION));
	for (size_t i = 0; i < DIALECT_LISTS; i++)
		records->lists[i] = span_equal(scan_text(message->scan, dialect->lists[i].declared), SPAN("true"));
}

bool
records_has_handshake(const struct records *records)
{
	for (size_t i = 0; i < records->count; i++)
		if (records->list[i].traits & METHOD_HANDSHAKE)
			return true;
	return false;
}

bool
records_begin_stream(struct records *records, struct span wire_id)
{
	for (size_t i = 0; i < records->count; i++) {
		struct record *record = &records->list[i];
		bool again = record->begins && record->known;

		if (!(record->traits & METHOD_STREAM) || !id_equal(record->request->wire_id, wire_id))
			continue;
		record->begins = false;
		record->known = true;
		return again;
	}
	return false;
}
