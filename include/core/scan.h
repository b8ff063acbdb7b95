#pragma once

/*
 * Reads one whole JSON text in place (RFC 8259 in UTF-8, strict), in one pass. It builds no tree:
 * it checks the text, and keeps where the few values stand that tell what a JSON-RPC message is and
 * which request it names.
 */

#include "core/buf.h"

enum {
	SCAN_DEPTH_MAX = 1000, /* nesting of arrays and objects */
	SCAN_VALUE_MAX = 1024, /* bytes of a value whose text is read, as spelled */
};

enum value_type {
	VALUE_ABSENT,
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_NUMBER,
	VALUE_STRING,
	VALUE_OBJECT,
	VALUE_ARRAY,
};

/*
 * The values that are found: X(name, the object whose member it is, key). SCAN_TEXT is the whole
 * value; it is absent if the text is blank, and complete if its end is not 0. SCAN_ELEMENT is the
 * last object among the elements of the text, if that is an array. Short keys come first, and among
 * those of one length the most frequent last.
 */
#define SCAN_META_PREFIX "io.modelcontextprotocol/"
/* clang-format off */
#define SCAN_LIST(X) \
	X(ELEMENT_ID, ELEMENT, "id") \
	X(PARAMS_ID, PARAMS, "id") \
	X(ID, TEXT, "id") \
	X(URI, PARAMS, "uri") \
	X(TASK, PARAMS, "task") \
	X(CREATED_TASK, RESULT, "task") \
	X(ERROR_CODE, ERROR, "code") \
	X(ERROR_DATA, ERROR, "data") \
	X(NAME, PARAMS, "name") \
	X(TOKEN, PARAMS, "token") \
	X(REQUEST_META, PARAMS, "_meta") \
	X(RESULT_META, RESULT, "_meta") \
	X(UPDATE_STATE, UPDATE, "state") \
	X(RESULT_TASKS, RESULT, "tasks") \
	X(ERROR, TEXT, "error") \
	X(ELEMENT_METHOD, ELEMENT, "method") \
	X(REASON, PARAMS, "reason") \
	X(STATUS, PARAMS, "status") \
	X(RESULT_STATUS, RESULT, "status") \
	X(CREATED_STATUS, CREATED_TASK, "status") \
	X(UPDATE_STATUS, UPDATE, "status") \
	X(TASK_ID, PARAMS, "taskId") \
	X(UPDATE, PARAMS, "update") \
	X(RESULT_TASK_ID, RESULT, "taskId") \
	X(CREATED_TASK_ID, CREATED_TASK, "taskId") \
	X(RESULT, TEXT, "result") \
	X(PARAMS, TEXT, "params") \
	X(METHOD, TEXT, "method") \
	X(IS_ERROR, RESULT, "isError") \
	X(ERROR_MESSAGE, ERROR, "message") \
	X(JSONRPC, TEXT, "jsonrpc") \
	X(CONFIG_ID, PARAMS, "configId") \
	X(REQUEST_ID, PARAMS, "requestId") \
	X(SESSION_ID, PARAMS, "sessionId") \
	X(RESULT_SESSION_ID, RESULT, "sessionId") \
	X(ERROR_REQUEST_ID, ERROR_DATA, "requestId") \
	X(RESULT_TYPE, RESULT, "resultType") \
	X(STOP_REASON, RESULT, "stopReason") \
	X(META_TRACEPARENT, REQUEST_META, "traceparent") \
	X(CAPABILITIES, PARAMS, "capabilities") \
	X(RESULT_CAPABILITIES, RESULT, "capabilities") \
	X(WORK_TOKEN, PARAMS, "workDoneToken") \
	X(PROGRESS_TOKEN, PARAMS, "progressToken") /* a progress notification */ \
	X(UPDATE_KIND, UPDATE, "sessionUpdate") \
	X(META_TOKEN, REQUEST_META, "progressToken") /* a request that wants progress */ \
	X(PARAMS_VERSION, PARAMS, "protocolVersion") \
	X(RESULT_VERSION, RESULT, "protocolVersion") \
	X(AGENT_CAPABILITIES, RESULT, "agentCapabilities") \
	X(PARTIAL_TOKEN, PARAMS, "partialResultToken") \
	X(CLIENT_CAPABILITIES, PARAMS, "clientCapabilities") \
	X(META_SUBSCRIPTION, REQUEST_META, SCAN_META_PREFIX "subscriptionId") \
	X(RESULT_SUBSCRIPTION, RESULT_META, SCAN_META_PREFIX "subscriptionId") \
	X(META_VERSION, REQUEST_META, SCAN_META_PREFIX "protocolVersion")
/* clang-format on */

enum scan_field {
	SCAN_TEXT,
	SCAN_ELEMENT,
#define SCAN_NAME_FIELD(name, parent, key) SCAN_##name,
	SCAN_LIST(SCAN_NAME_FIELD)
#undef SCAN_NAME_FIELD
	    SCAN_FIELDS
};

/*
 * The first fault that was found. After a soft fault the scan goes on and may still find the id; a
 * text that is kept is valid JSON all the same.
 */
enum scan_fault {
	SCAN_FINE,
	/* soft, and told only if there is no other: invalid UTF-8 in a string that names nothing */
	SCAN_BROKEN,
	SCAN_UTF8,    /* soft: ... in an id, a method, a token or a key */
	SCAN_CONTROL, /* soft: a raw control character inside a string */
	/* soft: nested deeper than SCAN_DEPTH_MAX, where only brackets and strings are checked */
	SCAN_DEPTH,
	/*
	 * soft: the id of the text or of an element occurs twice; told even after another soft
	 * fault
	 */
	SCAN_REPEATED_ID,
	SCAN_REPEATED_METHOD, /* soft: the method of the text or of an element occurs twice */
	SCAN_SYNTAX,          /* hard: not JSON from here on */
	SCAN_TRAILING, /* hard: after the complete value comes a byte that is not white space */
	SCAN_CUT,      /* hard: the text ends inside the value */
};

struct scan_value {    /* where a value stands; zeroed: nowhere */
	size_t offset; /* of the first byte, counted from the text's first byte */
	size_t end;    /* of the byte behind the last one; 0: a container that has not ended */
};

struct scan { /* read only */
	struct span text;
	const char *end; /* private: of all that was read */
	enum scan_fault fault;
	size_t fault_offset;
	uint64_t unsound;                     /* private: a bit for each string with a soft fault */
	unsigned char types[SCAN_FIELDS + 1]; /* private: enum value_type */
	struct scan_value values[SCAN_FIELDS + 1]; /* private; of those that are absent not set */
};

/* Scans the text, which must stay where it is as long as the scan is asked. */
void scan_read(struct scan *scan, struct span text);

/*
 * Scans the value that the text begins with; scan->text is then that part of it, if the value is
 * complete.
 */
void scan_read_first(struct scan *scan, struct span text);

/*
 * The type and the place of a field's value. Of repeated members the last one counts: from its key
 * on, the former value and all beneath it are absent; but of methods the first one counts. Of
 * members of an array none counts.
 */
static inline enum value_type
scan_type(const struct scan *scan, enum scan_field field)
{
	return (enum value_type)scan->types[field];
}

static inline bool
scan_has(const struct scan *scan, enum scan_field field)
{
	return scan_type(scan, field) != VALUE_ABSENT;
}

static inline const struct scan_value *
scan_value(const struct scan *scan, enum scan_field field)
{
	static const struct scan_value nowhere = { 0 };

	return scan_has(scan, field) ? &scan->values[field] : &nowhere;
}

/* Where the whole value ends; 0: it has not ended, or the text is blank. */
static inline size_t
scan_end(const struct scan *scan)
{
	return scan_value(scan, SCAN_TEXT)->end;
}

/*
 * The first string from this offset of the text on that is an id, a method or a token of those
 * found; NULL: none is.
 */
const struct scan_value *scan_next_name(const struct scan *scan, size_t from);

/* A value's bytes as spelled, however many; empty if there is none, or if it has not ended. */
static inline struct span
scan_bytes(const struct scan *scan, enum scan_field field)
{
	const struct scan_value *value = scan_value(scan, field);

	return value->end == 0 ? SPAN_NONE :
				 span_part(scan->text, value->offset, value->end - value->offset);
}

/* Whether a scalar's text is not read: it is longer than SCAN_VALUE_MAX, or no sound JSON. */
static inline bool
scan_unkept(const struct scan *scan, enum scan_field field)
{
	return scan_type(scan, field) < VALUE_OBJECT &&
	    ((scan->unsound >> field & 1) || scan_bytes(scan, field).len > SCAN_VALUE_MAX);
}

/*
 * A scalar's bytes as spelled (a string with its quotes); empty if there is none, or if it is not
 * kept.
 */
static inline struct span
scan_text(const struct scan *scan, enum scan_field field)
{
	return scan_type(scan, field) >= VALUE_OBJECT || scan_unkept(scan, field) ?
	    SPAN_NONE :
	    scan_bytes(scan, field);
}

/*
 * A string's characters: in place, or unescaped in storage. Empty if it is none, is not kept, or
 * needs more than size bytes.
 */
struct span scan_string(const struct scan *scan, enum scan_field field, char *storage, size_t size);
