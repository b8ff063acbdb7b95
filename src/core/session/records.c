#include "core/inside.h"

#include <stdlib.h>

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
	buf_free(&records->opened);
}

/* Counts the message and keeps it in text. false: there is no room. */
static bool
keep(struct records *records, const struct message *message, struct buf *text)
{
	if (records->bytes + message->text.len > LIMIT_RECORD_BYTES)
		return false;
	records->bytes += message->text.len;
	buf_keep(text, message->text);
	return true;
}

bool
records_keep(struct records *records, const struct message *message, struct request *request)
{
	bool named = request->row->name_field == SCAN_TEXT || request->name.len > 0;

	if (!(request->traits & METHOD_RECORDED) || (named && keep(records, message, &request->record)))
		return true;
	records->overflow |= (request->traits & METHOD_HANDSHAKE) != 0;
	records->lost = true;
	return false;
}

bool
records_keep_opened(struct records *records, const struct message *message)
{
	bool kept;

	records->bytes -= records->opened.len;
	buf_free(&records->opened);
	kept = message->batch == NULL && keep(records, message, &records->opened);
	records->lost |= !kept;
	return kept;
}

/* Whether the request, once granted, makes the record obsolete. */
static bool
is_replaced(const struct record *record, const struct request *by)
{
	if (by->traits & METHOD_HANDSHAKE)
		return record->row->traits & METHOD_HANDSHAKE;
	return (record->row->traits & METHOD_SETTING) && span_equal(buf_span(&record->name), by->name);
}

void
records_grant(struct records *records, struct request *request)
{
	struct record *record;

	if ((request->traits & METHOD_STREAM) ||
	    (request->record.len == 0 && (!(request->traits & METHOD_UNSETTING) || request->name.len == 0)))
		return;
	for (size_t i = records->count; i-- > 0;)
		if (is_replaced(&records->list[i], request))
			remove_at(records, i);
	if (request->record.len == 0)
		return;
	records->list = mem_resize(records->list, records->count + 1, sizeof(*records->list));
	record = &records->list[records->count++];
	*record = (struct record){
		.row = request->row,
		.string = id_is_string(request->id),
		.text = request->record,
	};
	buf_keep(&record->name, request->name);
	buf_init(&request->record);
}

void
records_end(struct records *records, struct request *request)
{
	if (request->record.len == 0)
		return;
	records->bytes -= request->record.len;
	buf_free(&request->record);
}
