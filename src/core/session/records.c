#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/json.h"
#include "core/limits.h"

void
records_init(struct records *records, bool wanted)
{
	*records = (struct records){ .wanted = wanted };
}

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
add(struct records *records, const struct message *message, enum record_kind kind)
{
	struct record *record;

	/* A record that ends a setting is kept only until its answer, and then makes room: it is never refused. */
	if (kind != RECORD_UNSETTING &&
	    (records->count >= LIMIT_RECORDS || records->bytes + message->text.len > LIMIT_RECORD_BYTES))
		return NULL;
	records->list = mem_resize(records->list, records->count + 1, sizeof(*records->list));
	record = &records->list[records->count++];
	*record = (struct record){ .kind = kind };
	buf_append(&record->text, message->text);
	records->bytes += message->text.len;
	return record;
}

static enum record_kind
kind_of(const struct method *row)
{
	unsigned traits = row == NULL ? 0 : row->traits;

	if (traits & METHOD_HANDSHAKE)
		return RECORD_HANDSHAKE;
	if (traits & METHOD_STREAM)
		return RECORD_STREAM;
	if (traits & METHOD_SETTING)
		return RECORD_SETTING;
	return traits & METHOD_UNSETTING ? RECORD_UNSETTING : RECORD_NONE;
}

static bool
keeps(const struct records *records, const struct method *row)
{
	return records->wanted && kind_of(row) != RECORD_NONE;
}

bool
records_add_request(struct records *records, const struct message *message, struct request *request)
{
	const struct method *row = request->row;
	enum record_kind kind = kind_of(row);
	struct record *record = NULL;

	if (!keeps(records, row))
		return true;
	if (row->name_field == SCAN_TEXT || request->name.len > 0)
		record = add(records, message, kind);
	if (record == NULL) {
		records->overflow |= kind == RECORD_HANDSHAKE;
		return false;
	}
	record->row = row;
	record->request = request;
	record->id_at = (size_t)scan_value(message->scan, SCAN_ID)->offset;
	record->id_len = scan_text(message->scan, SCAN_ID).len;
	buf_append(&record->name, request->name);
	return true;
}

bool
records_add_opened(struct records *records, const struct message *message)
{
	size_t i;

	for (i = records->count; i-- > 0;)
		if (records->list[i].kind == RECORD_OPENED)
			remove_at(records, i);
	return message->batch == NULL && add(records, message, RECORD_OPENED) != NULL;
}

struct record *
records_find(const struct records *records, const struct request *request)
{
	size_t i;

	for (i = 0; i < records->count; i++)
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
	if (later->kind == RECORD_HANDSHAKE)
		return earlier->kind == RECORD_HANDSHAKE;
	return earlier->kind == RECORD_SETTING && span_equal(buf_span(&earlier->name), buf_span(&later->name));
}

void
records_answer(struct records *records, const struct request *request, bool granted)
{
	struct record *record = records_find(records, request);
	size_t i, later;

	if (!granted || record == NULL || record->kind == RECORD_STREAM)
		return;
	record->request = NULL;
	later = (size_t)(record - records->list);
	for (i = records->count; i-- > 0;)
		if (is_replaced(&records->list[i], &records->list[later])) {
			remove_at(records, i);
			later -= i < later;
		}
	if (records->list[later].kind == RECORD_UNSETTING)
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
	size_t i;

	if (!records->wanted)
		return;
	buf_clear(&records->version);
	buf_append(&records->version, scan_text(message->scan, SCAN_RESULT_VERSION));
	for (i = 0; i < DIALECT_LISTS; i++)
		records->lists[i] = dialect->lists[i].notification != NULL &&
		    span_equal(scan_text(message->scan, dialect->lists[i].declared), SPAN("true"));
}

bool
records_has_handshake(const struct records *records)
{
	size_t i;

	for (i = 0; i < records->count; i++)
		if (records->list[i].kind == RECORD_HANDSHAKE)
			return true;
	return false;
}

bool
records_begin_stream(struct records *records, struct span wire_id)
{
	size_t i;

	for (i = 0; i < records->count; i++) {
		struct record *record = &records->list[i];
		bool again = record->begins && record->known;

		if (record->kind != RECORD_STREAM || !id_equal(record->request->wire_id, wire_id))
			continue;
		record->begins = false;
		record->known = true;
		return again;
	}
	return false;
}
