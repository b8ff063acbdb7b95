#include "party.h"

static void
remove_at(struct records *records, size_t i)
{
	struct record *record = &records->list[i];

	records->bytes -= record->text.len;
	buf_free(&record->text);
	buf_free(&record->name);
	buf_free(&record->session);
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
	pending_free(&records->lost);
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

struct record *
records_find(const struct records *records, unsigned trait, struct span session_id)
{
	struct record *record;

	each_record (record, records)
		if ((record->row->traits & trait) &&
		    (session_id.len == 0 || id_equal(buf_span(&record->session), session_id)))
			return record;
	return NULL;
}

void
records_close(struct records *records, struct span session_id)
{
	for (size_t i = records->count; i-- > 0;)
		if (id_equal(buf_span(&records->list[i].session), session_id))
			remove_at(records, i);
}

/*
 * Whether one of the options in the list has another value than the request with these params has
 * set.
 */
static bool
is_changed(struct span options, struct span params)
{
	struct span config = json_member(params, "configId"), mode = json_member(params, "modeId"),
		    option;
	struct span set = config.len > 0 ? json_member(params, "value") : mode;
	size_t at = options.len > 0;

	while ((option = json_next(options, &at)).len > 0) {
		bool same = config.len > 0 ? id_equal(json_member(option, "id"), config) :
					     span_is(json_member(option, "category"), "\"mode\"");

		if (same && set.len > 0 && !id_equal(json_member(option, "currentValue"), set))
			return true;
	}
	return false;
}

bool
records_update(const struct message *message, bool forget)
{
	struct records *records = message->reader->records;
	struct span session_id = message_value(message, SCAN_SESSION_ID), update, now;
	bool changed = false;

	if (records->count == 0 || !scan_has(message->scan, SCAN_UPDATE) ||
	    dialect_is_of_turn(message->scan))
		return false;
	update = scan_bytes(message->scan, SCAN_UPDATE);
	now = json_member(update, "currentModeId");
	for (size_t i = records->count; i-- > 0;) {
		const struct record *record = &records->list[i];
		struct span params = json_member(buf_span(&record->text), "params");
		struct span mode = json_member(params, "modeId");

		if (!(record->row->traits & METHOD_SETTING) ||
		    !id_equal(buf_span(&record->session), session_id))
			continue;
		if (!(now.len > 0 && mode.len > 0 && !id_equal(now, mode)) &&
		    !is_changed(json_member(update, "configOptions"), params))
			continue;
		changed = true;
		if (forget)
			remove_at(records, i);
	}
	return changed;
}

/*
 * ACP: a new server is told of no session without params, and of no login that takes place
 * elsewhere.
 */
static bool
is_told(const struct message *message, unsigned traits)
{
	if ((traits & METHOD_SESSION) && scan_type(message->scan, SCAN_PARAMS) != VALUE_OBJECT)
		return false;
	return (traits & METHOD_RECORDED) &&
	    !((traits & METHOD_LOGIN) && handshake_is_terminal(message));
}

static bool
has_room(const struct records *records, unsigned traits)
{
	const struct record *record;
	size_t count = 0;

	each_record (record, records)
		count += (record->row->traits & traits & METHOD_SESSION) != 0;
	return count < LIMIT_REOPENED;
}

/* ACP: the client opens or closes the session, which does not count as lost any more. */
static void
forget_lost(const struct records *records, struct id session_id)
{
	struct request *found = pending_find(&records->lost, session_id, NAME_ID);

	if (found != NULL)
		pending_remove(found);
}

bool
records_keep(const struct message *message, struct request *request)
{
	struct records *records = message->writer->records;
	bool named = request->row->name_field == SCAN_TEXT || request->name.len > 0;

	if (request->traits & METHOD_LOAD)
		forget_lost(records, request->token);
	if (!is_told(message, request->traits) ||
	    (named && has_room(records, request->traits) &&
		keep(records, message, &request->record)))
		return true;
	records->overflow |= (request->traits & METHOD_HANDSHAKE) != 0;
	records->unkept = true;
	return false;
}

bool
records_keep_opened(const struct message *message)
{
	struct records *records = message->writer->records;
	bool kept;

	records->bytes -= records->opened.len;
	buf_free(&records->opened);
	kept = message->batch == NULL && keep(records, message, &records->opened);
	records->unkept |= !kept;
	return kept;
}

/* Whether the request, about this session, once granted, makes the record obsolete. */
static bool
is_replaced(const struct record *record, const struct request *by, struct span session_id)
{
	bool same = record->row == by->row;

	if (by->traits & METHOD_UNSETTING)
		same = (record->row->traits & (METHOD_SETTING | METHOD_LOGIN)) &&
		    record->row->name_field == by->row->name_field;
	return same && span_equal(buf_span(&record->name), by->name) &&
	    id_equal(buf_span(&record->session), session_id);
}

/* The ACP session that the answered request is about, as spelled; or empty. */
static struct span
session_of(const struct message *message, const struct request *request)
{
	if (message_dialect(message)->resume == NULL)
		return SPAN_NONE;
	if ((request->traits & METHOD_SESSION) && !(request->traits & METHOD_LOAD))
		return message_value(message, SCAN_RESULT_SESSION_ID);
	return request->token.text;
}

/*
 * What has opened the session becomes what opens it again: a request with the same params, and its
 * id. Returns its row.
 */
static const struct method *
reopen(struct party *client, struct buf *text, struct span session_id)
{
	struct buf *out = outlet_scratch(client->outlet);
	const char *method = client->outlet->handshake->reopen;
	struct scan scan;
	size_t params, from, next;
	bool named;

	scan_read(&scan, buf_span(text));
	named = scan_has(&scan, SCAN_SESSION_ID);
	params = scan_value(&scan, SCAN_PARAMS)->offset;
	from = named ? scan_value(&scan, SCAN_SESSION_ID)->offset : params + 1;
	next = named ? scan_value(&scan, SCAN_SESSION_ID)->end : from;
	compose_json(out, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"%s\",\"params\":%b", method,
	    span_part(scan.text, params, from - params));
	compose_json(out, named ? "%b" : "\"sessionId\":%b", session_id);
	from = next;
	if (!named && json_next(scan.text, &next).len > 0)
		compose_json(out, ",");
	compose_json(out, "%b}",
	    span_part(scan.text, from, scan_value(&scan, SCAN_PARAMS)->end - from));
	client->records->bytes += out->len - text->len;
	buf_set(text, buf_span(out));
	return dialect_method(client->outlet->handshake->dialect, span_of(method));
}

void
records_grant(const struct message *message, struct request *request)
{
	struct records *records = message->reader->records;
	struct span session_id = session_of(message, request);
	const struct method *row = request->row;
	unsigned traits = request->traits;
	struct record *record;

	if (traits & (METHOD_SESSION | METHOD_CLOSE))
		forget_lost(records, id_of(session_id));
	if ((traits & METHOD_STREAM) ||
	    (request->record.len == 0 && !(traits & (METHOD_UNSETTING | METHOD_CLOSE))))
		return;
	if ((traits & (METHOD_SESSION | METHOD_CLOSE)) && session_id.len > 0)
		records_close(records, session_id);
	for (size_t i = records->count; i-- > 0;)
		if (is_replaced(&records->list[i], request, session_id))
			remove_at(records, i);
	if (request->record.len == 0 ||
	    ((traits & METHOD_SESSION) &&
		(session_id.len == 0 || message->outlet->handshake->reopen == NULL)) ||
	    ((traits & METHOD_SETTING) && session_id.len > 0 &&
		records_find(records, METHOD_SESSION, session_id) == NULL))
		return;
	if (traits & METHOD_SESSION)
		row = reopen(message->reader, &request->record, session_id);
	mem_room(records->list, records->count + 1);
	record = &records->list[records->count++];
	*record = (struct record){
		.row = row,
		.string = id_is_string(request->id),
		.text = request->record,
	};
	buf_keep(&record->name, request->name);
	buf_keep(&record->session, session_id);
	request->record = (struct buf){ 0 };
}

void
records_end(struct records *records, struct request *request)
{
	records->bytes -= request->record.len;
	buf_free(&request->record);
}
