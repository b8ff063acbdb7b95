/* What a new server would have to be told of this session, kept as it passes. */
#include "session_replay.h"

#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/mem.h"

const struct session_list session_lists[REPLAY_LISTS] = {
	{ SCAN_TOOLS_CHANGE, "notifications/tools/list_changed" },
	{ SCAN_PROMPTS_CHANGE, "notifications/prompts/list_changed" },
	{ SCAN_RESOURCES_CHANGE, "notifications/resources/list_changed" },
};

struct replay *
session_new_replay(void)
{
	struct replay *replay = mem_new(sizeof(*replay));

	buf_init(&replay->version);
	buf_init(&replay->capabilities);
	return replay;
}

static void
record_free(struct replay *replay, struct record *record)
{
	replay->bytes -= record->text.len;
	replay->open -= record->request != NULL;
	buf_free(&record->text);
	buf_free(&record->name);
}

void
session_free_replay(struct replay *replay)
{
	if (replay == NULL)
		return;
	while (replay->count > 0)
		record_free(replay, &replay->records[--replay->count]);
	free(replay->records);
	buf_free(&replay->version);
	buf_free(&replay->capabilities);
	free(replay);
}

static void
record_remove(struct replay *replay, size_t i)
{
	record_free(replay, &replay->records[i]);
	replay->count--;
	memmove(&replay->records[i], &replay->records[i + 1], (replay->count - i) * sizeof(*replay->records));
}

/* NULL: there is no room. */
static struct record *
record_add(struct session *session, const struct message *message, enum record_kind kind)
{
	struct replay *replay = session->replay;
	uint64_t origin = session->party[message->from].frame.body;
	struct record *record;

	/* What undoes lasts only until its answer, and must find room where nothing else does. */
	if (kind != RECORD_UNSETTING &&
	    (replay->count >= LIMIT_RECORDS || replay->bytes + message->text.len > LIMIT_RECORD_BYTES))
		return NULL;
	replay->records = mem_resize(replay->records, replay->count + 1, sizeof(*replay->records));
	record = &replay->records[replay->count++];
	*record = (struct record){ .kind = kind };
	buf_init(&record->text);
	buf_init(&record->name);
	buf_append(&record->text, message->text);
	replay->bytes += message->text.len;
	if (message->envelope.id.len > 0) {
		record->id_at = (size_t)(scan_value(message->scan, SCAN_ID)->offset - (message->start - origin));
		record->id_len = scan_text(message->scan, SCAN_ID).len;
	}
	return record;
}

static bool
kind_of(unsigned traits, enum record_kind *kind)
{
	if (traits & METHOD_HANDSHAKE)
		*kind = RECORD_HANDSHAKE;
	else if (traits & METHOD_STREAM)
		*kind = RECORD_STREAM;
	else if (traits & METHOD_SETTING)
		*kind = RECORD_SETTING;
	else if (traits & METHOD_UNSETTING)
		*kind = RECORD_UNSETTING;
	else
		return false;
	return true;
}

void
session_record_request(struct session *session, const struct message *message, struct request *request,
    const struct method *method)
{
	enum record_kind kind;
	struct record *record = NULL;
	struct action action;

	if (session->replay == NULL || message->from != SIDE_CLIENT || message->passed || method == NULL ||
	    !kind_of(method->traits, &kind))
		return;
	if (method->name_field == SCAN_FIELDS || request->name.len > 0)
		record = record_add(session, message, kind);
	if (record == NULL) {
		session->replay->overflow |= kind == RECORD_HANDSHAKE;
		action = action_of(session, VERB_NOTE, SIDE_SERVER, WHY_UNRECORDED, request);
		session_report(session, &action);
		return;
	}
	session->replay->open++;
	record->request = request;
	record->method = method;
	buf_append(&record->name, request->name);
}

static void
remove_kind(struct replay *replay, enum record_kind kind)
{
	size_t i = replay->count;

	while (i-- > 0)
		if (replay->records[i].kind == kind && replay->records[i].request == NULL)
			record_remove(replay, i);
}

bool
session_is_opening(const struct session *session, enum side from, struct span method)
{
	const char *opened = session->dialect->opened;

	return session->replay != NULL && from == SIDE_CLIENT && opened != NULL &&
	    span_equal(method, (struct span){ opened, strlen(opened) });
}

bool
session_record_notification(struct session *session, const struct message *message)
{
	struct action action;

	if (!session_is_opening(session, message->from, message->envelope.method))
		return false;
	remove_kind(session->replay, RECORD_OPENED);
	if (!message->passed && record_add(session, message, RECORD_OPENED) != NULL)
		return true;
	action = action_of(session, VERB_NOTE, SIDE_SERVER, WHY_UNRECORDED, NULL);
	action.method = message->envelope.method;
	session_report(session, &action);
	return false;
}

bool
session_find_record(const struct session *session, const struct request *request, size_t *i)
{
	const struct replay *replay = session->replay;

	if (replay == NULL || replay->open == 0)
		return false;
	for (*i = 0; *i < replay->count; ++*i)
		if (replay->records[*i].request == request)
			return true;
	return false;
}

/* An earlier one says nothing any more once the later one counts. */
static bool
is_replaced(const struct record *earlier, const struct record *later)
{
	if (earlier == later || earlier->request != NULL)
		return false;
	if (later->kind == RECORD_HANDSHAKE)
		return earlier->kind == RECORD_HANDSHAKE;
	return earlier->kind == RECORD_SETTING && span_equal(buf_span(&earlier->name), buf_span(&later->name));
}

static void
settle(struct replay *replay, size_t later)
{
	size_t i = replay->count;

	replay->records[later].request = NULL;
	replay->open--;
	while (i-- > 0)
		if (is_replaced(&replay->records[i], &replay->records[later])) {
			record_remove(replay, i);
			later -= i < later;
		}
	if (replay->records[later].kind == RECORD_UNSETTING)
		record_remove(replay, later);
}

void
session_record_answer(struct session *session, const struct request *request, bool granted)
{
	size_t i;

	if (granted && session_find_record(session, request, &i) && session->replay->records[i].kind != RECORD_STREAM)
		settle(session->replay, i);
}

void
session_record_end(struct session *session, const struct request *request)
{
	size_t i;

	if (session_find_record(session, request, &i))
		record_remove(session->replay, i);
}

/* The object that starts there, in a text that is JSON. */
static struct span
object_at(struct span text, size_t start)
{
	size_t depth = 0, i;
	bool quoted = false;

	for (i = start; i < text.len; i++) {
		char c = text.ptr[i];

		if (quoted) {
			i += c == '\\';
			quoted = c != '"';
			continue;
		}
		quoted = c == '"';
		depth += c == '{';
		depth -= c == '}';
		if (depth == 0)
			break;
	}
	return span_part(text, start, i < text.len ? i + 1 - start : 0);
}

static struct span
object_of(const struct session *session, const struct message *message, enum scan_field field)
{
	const struct scan_value *value = scan_value(message->scan, field);
	bool recovered = message->word == WHY_RECOVERED;
	uint64_t origin = recovered ? message->start : session->party[message->from].frame.body;

	if (value->type != VALUE_OBJECT || message->passed)
		return (struct span){ NULL, 0 };
	return object_at(message->text, (size_t)(value->offset - (message->start - origin)));
}

struct span
session_capabilities(const struct session *session, const struct message *message)
{
	return object_of(session, message, SCAN_CAPABILITIES);
}

/* With its quotes. */
static struct span
string_at(struct span text, size_t start)
{
	size_t i;

	for (i = start + 1; i < text.len && text.ptr[i] != '"'; i++)
		i += text.ptr[i] == '\\';
	return span_part(text, start, i < text.len ? i + 1 - start : text.len - start);
}

struct span
session_error_words(const struct session *session, const struct message *message)
{
	struct span object = object_of(session, message, SCAN_ERROR), string;
	bool found = false;
	size_t depth = 0, i;

	for (i = 0; i < object.len; i++) {
		char c = object.ptr[i];

		if (c == '"') {
			string = string_at(object, i);
			if (found)
				return string;
			found = depth == 1 && span_equal(string, SPAN("\"message\""));
			i += string.len - 1;
			continue;
		}
		found = found && (c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n');
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
	}
	return (struct span){ NULL, 0 };
}

void
session_record_server(struct session *session, const struct message *message)
{
	struct replay *replay = session->replay;
	size_t i;

	if (replay == NULL)
		return;
	buf_clear(&replay->version);
	buf_append(&replay->version, scan_text(message->scan, SCAN_RESULT_VERSION));
	buf_clear(&replay->capabilities);
	buf_append(&replay->capabilities, session_capabilities(session, message));
	for (i = 0; i < REPLAY_LISTS; i++)
		replay->lists[i] = span_equal(scan_text(message->scan, session_lists[i].field), SPAN("true"));
}
