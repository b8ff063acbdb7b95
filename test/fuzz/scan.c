/*
 * The scanner says the same of any bytes, however they are cut into pieces, with vectors or without; and
 * where jansson has an opinion, it is the same one. Both keep the last of repeated members.
 */

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/id.h"
#include "core/mem.h"
#include "core/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
note_number(struct buf *facts, uint64_t number)
{
	buf_append(facts, (struct span){ (const char *)&number, sizeof number });
}

static void
note_field(struct buf *facts, const struct scan *scan, enum scan_field field, struct span frame)
{
	const struct scan_value *value = scan_value(scan, field);
	struct span text = scan_text(scan, field);

	if (value->type == VALUE_ABSENT)
		return;
	assert(value->offset < frame.len);
	if (field != SCAN_PARAMS_META) {
		assert(text.len <= SCAN_VALUE_MAX && text.len <= frame.len - value->offset);
		assert(span_equal(text, span_part(frame, value->offset, text.len)));
		assert(text.len == 0 || value->end == value->offset + text.len);
		assert(value->end == 0 || (value->end > value->offset && value->end <= frame.len));
	}
	assert(text.len <= SCAN_META_MAX);
	note_number(facts, field);
	note_number(facts, value->type);
	note_number(facts, value->unkept);
	note_number(facts, value->offset);
	note_number(facts, value->end);
	note_number(facts, value->end > 0 && value->empty);
	buf_append(facts, text);
}

static void
note_frame(struct buf *facts, const struct scan *scan, struct span frame)
{
	bool complete = scan_complete(scan);

	assert(scan_ended(scan));
	assert(!complete || scan_type(scan) != VALUE_ABSENT);
	assert(complete || scan_type(scan) == VALUE_ABSENT || scan_fault(scan) != SCAN_FINE);
	assert(scan_value_start(scan) <= frame.len && scan_value_end(scan) <= frame.len);
	assert(!complete || scan_value_start(scan) < scan_value_end(scan));
	assert(scan_fault_offset(scan) <= frame.len);
	note_number(facts, scan_type(scan));
	note_number(facts, complete);
	note_number(facts, scan_bom(scan));
	note_number(facts, scan_fault(scan));
	note_number(facts, scan_fault_offset(scan));
	note_number(facts, scan_value_start(scan));
	note_number(facts, scan_value_end(scan));
	for (unsigned i = 0; i < SCAN_FIELDS; i++)
		note_field(facts, scan, i, frame);
}

/* A longer piece is a copy, so that a memory checker sees what is read behind it. */
static size_t
feed(struct scan *scan, struct span piece)
{
	char *copy = piece.len > 3 ? mem_resize(NULL, piece.len, 1) : NULL;
	const char *bytes = copy != NULL ? memcpy(copy, piece.ptr, piece.len) : piece.ptr;
	size_t consumed = scan_feed(scan, bytes, piece.len);

	assert(consumed == piece.len || (consumed > 0 && scan_ended(scan) && bytes[consumed - 1] == '\n'));
	free(copy);
	return consumed;
}

/* All that is said of the frames in input, fed in pieces of that length. */
static void
scan_all(struct buf *facts, struct scan *scan, struct span input, size_t piece)
{
	size_t start = 0, at = 0;

	buf_clear(facts);
	scan_start(scan);
	while (at < input.len) {
		at += feed(scan, span_part(input, at, piece < input.len - at ? piece : input.len - at));
		if (!scan_ended(scan))
			continue;
		note_frame(facts, scan, span_part(input, start, at - start));
		scan_start(scan);
		start = at;
	}
	scan_finish(scan);
	note_frame(facts, scan, span_part(input, start, at - start));
}

static void
check_pieces(struct buf *want, enum scan_end end, struct span input)
{
	const size_t pieces[] = { 1, 3, 17, 16, 40, input.len, 1 + input.len / 2 };
	static struct scan *scans[2];
	struct scan *scan = scans[end] != NULL ? scans[end] : (scans[end] = scan_new(end));
	struct buf facts;

	buf_init(&facts);
	scan_use_vectors(scan, true);
	scan_all(want, scan, input, input.len);
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		scan_use_vectors(scan, i % 2 != 0);
		scan_all(&facts, scan, input, pieces[i]);
		assert(span_equal(buf_span(want), buf_span(&facts)));
	}
	buf_free(&facts);
}

static const struct {
	enum scan_field field;
	const char *keys[5];
} paths[] = {
	{ SCAN_JSONRPC, { "jsonrpc" } },
	{ SCAN_ID, { "id" } },
	{ SCAN_METHOD, { "method" } },
	{ SCAN_PARAMS, { "params" } },
	{ SCAN_RESULT, { "result" } },
	{ SCAN_ERROR, { "error" } },
	{ SCAN_ERROR_CODE, { "error", "code" } },
	{ SCAN_ERROR_REQUEST_ID, { "error", "data", "requestId" } },
	{ SCAN_ERROR_MESSAGE, { "error", "message" } },
	{ SCAN_PARAMS_ID, { "params", "id" } },
	{ SCAN_REQUEST_ID, { "params", "requestId" } },
	{ SCAN_NAME, { "params", "name" } },
	{ SCAN_URI, { "params", "uri" } },
	{ SCAN_SESSION_ID, { "params", "sessionId" } },
	{ SCAN_UPDATE_STATE, { "params", "update", "state" } },
	{ SCAN_REASON, { "params", "reason" } },
	{ SCAN_TASK, { "params", "task" } },
	{ SCAN_TASK_ID, { "params", "taskId" } },
	{ SCAN_STATUS, { "params", "status" } },
	{ SCAN_TOKEN, { "params", "token" } },
	{ SCAN_PROGRESS_TOKEN, { "params", "progressToken" } },
	{ SCAN_WORK_TOKEN, { "params", "workDoneToken" } },
	{ SCAN_PARTIAL_TOKEN, { "params", "partialResultToken" } },
	{ SCAN_PARAMS_VERSION, { "params", "protocolVersion" } },
	{ SCAN_META_TOKEN, { "params", "_meta", "progressToken" } },
	{ SCAN_META_SUBSCRIPTION, { "params", "_meta", "io.modelcontextprotocol/subscriptionId" } },
	{ SCAN_META_VERSION, { "params", "_meta", "io.modelcontextprotocol/protocolVersion" } },
	{ SCAN_REQUEST_META, { "params", "_meta" } },
	{ SCAN_RESULT_VERSION, { "result", "protocolVersion" } },
	{ SCAN_CLIENT_CANCELS, { "params", "clientCapabilities", "cancellation", "request" } },
	{ SCAN_AGENT_CANCELS, { "result", "agentCapabilities", "cancellation", "request" } },
	{ SCAN_STOP_REASON, { "result", "stopReason" } },
	{ SCAN_RESULT_TYPE, { "result", "resultType" } },
	{ SCAN_RESULT_TASK_ID, { "result", "taskId" } },
	{ SCAN_CREATED_TASK_ID, { "result", "task", "taskId" } },
	{ SCAN_RESULT_STATUS, { "result", "status" } },
	{ SCAN_CAPABILITIES, { "result", "capabilities" } },
	{ SCAN_TOOLS_CHANGE, { "result", "capabilities", "tools", "listChanged" } },
	{ SCAN_PROMPTS_CHANGE, { "result", "capabilities", "prompts", "listChanged" } },
	{ SCAN_RESOURCES_CHANGE, { "result", "capabilities", "resources", "listChanged" } },
	{ SCAN_RESULT_SUBSCRIPTION, { "result", "_meta", "io.modelcontextprotocol/subscriptionId" } },
};

static enum value_type
type_of(const json_t *json)
{
	if (json == NULL)
		return VALUE_ABSENT;
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		return VALUE_OBJECT;
	case JSON_ARRAY:
		return VALUE_ARRAY;
	case JSON_STRING:
		return VALUE_STRING;
	case JSON_INTEGER:
	case JSON_REAL:
		return VALUE_NUMBER;
	case JSON_TRUE:
	case JSON_FALSE:
		return VALUE_BOOL;
	case JSON_NULL:
	default:
		return VALUE_NULL;
	}
}

static void
check_string(struct span text, const json_t *json)
{
	struct span want = { json_string_value(json), json_string_length(json) };
	char plain[SCAN_VALUE_MAX];

	assert(id_unescape(text, plain, sizeof plain) == want.len);
	assert(span_equal((struct span){ plain, want.len }, want));
}

/* jansson reads the same value between its offset and its end. */
static void
check_place(const struct scan_value *value, const json_t *json, struct span input)
{
	struct span text = span_part(input, value->offset, value->end - value->offset);
	json_t *again = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	assert(json_equal(again, json));
	assert(value->empty ==
	    ((json_is_object(json) && json_object_size(json) == 0) ||
		(json_is_array(json) && json_array_size(json) == 0)));
	json_decref(again);
}

/* The message as far as the end of its method: of repeated ones jansson keeps the last, and the scanner the first. */
static json_t *
until_method(const struct scan *scan, struct span input)
{
	const struct scan_value *method = scan_value(scan, SCAN_METHOD);
	struct buf text;
	json_t *json;

	buf_init(&text);
	buf_append(&text, span_part(input, 0, method->end));
	buf_append(&text, SPAN("}"));
	json = json_loadb(buf_span(&text).ptr, buf_span(&text).len, JSON_ALLOW_NUL, NULL);
	buf_free(&text);
	return json;
}

static void
check_fields(const struct scan *scan, const json_t *root, struct span input)
{
	json_t *first = scan_value(scan, SCAN_METHOD)->type != VALUE_ABSENT ? until_method(scan, input) : NULL;

	assert(scan_type(scan) == type_of(root));
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		const struct scan_value *value = scan_value(scan, paths[i].field);
		const json_t *json = paths[i].field == SCAN_METHOD && first != NULL ? first : root;

		for (int j = 0; paths[i].keys[j] != NULL; j++)
			json = json_object_get(json, paths[i].keys[j]);
		assert(value->type == type_of(json));
		if (json != NULL)
			check_place(value, json, input);
		if (value->type == VALUE_STRING && scan_text(scan, paths[i].field).len > 0)
			check_string(scan_text(scan, paths[i].field), json);
	}
	json_decref(first);
}

/* What jansson refuses and the standard allows: numbers that it cannot hold, lone surrogates, "\u0000" in a key. */
static bool
is_excused(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);

	return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
	    strncmp(error->text, "invalid Unicode '\\u", 19) == 0;
}

/* Whatever the frame's fault is, the texts that are kept are JSON. */
static void
check_kept(const struct scan *scan)
{
	for (int i = 0; i < SCAN_FIELDS; i++) {
		bool members = i == SCAN_PARAMS_META;
		struct span text = scan_text(scan, (enum scan_field)i);
		char json[SCAN_META_MAX + 3];
		json_error_t error;
		json_t *value;

		if (text.len == 0)
			continue;
		sprintf(json, "%s%.*s%s", members ? "{" : "", (int)text.len, text.ptr, members ? "}" : "");
		value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
		assert(value != NULL || is_excused(&error));
		json_decref(value);
	}
}

static void
check_oracle(struct span input)
{
	struct scan *scan = scan_new(SCAN_END_EXPLICIT);
	json_error_t error;
	json_t *root = json_loadb(input.ptr, input.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	enum scan_fault fault;

	scan_feed(scan, input.ptr, input.len);
	scan_finish(scan);
	fault = scan_fault(scan);
	if (root != NULL) {
		assert(scan_complete(scan) && fault != SCAN_UTF8 && fault != SCAN_CONTROL && fault < SCAN_SYNTAX);
		check_fields(scan, root, input);
	} else if (scan_complete(scan) && fault == SCAN_FINE) {
		assert(scan_bom(scan) || is_excused(&error));
	} else {
		check_kept(scan);
	}
	json_decref(root);
	scan_free(scan);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct span input = { (const char *)bytes, len };
	struct buf lines, frame;

	buf_init(&lines);
	buf_init(&frame);
	check_pieces(&lines, SCAN_END_NEWLINE, input);
	check_pieces(&frame, SCAN_END_EXPLICIT, input);
	if (len > 0 && memchr(bytes, '\n', len) == NULL)
		assert(span_equal(buf_span(&lines), buf_span(&frame)));
	/* jansson 2.14 passes over a NUL byte behind a number or a literal. */
	if (len > 0 && memchr(bytes, '\0', len) == NULL)
		check_oracle(input);
	buf_free(&lines);
	buf_free(&frame);
	return 0;
}
