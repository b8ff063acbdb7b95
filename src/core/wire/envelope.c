#include "core/envelope.h"

#include <string.h>

#include "core/id.h"

static bool
has_answer(const struct scan *scan)
{
	return scan_has(scan, SCAN_RESULT) || scan_has(scan, SCAN_ERROR);
}

bool
envelope_may_answer(const struct scan *scan)
{
	return has_answer(scan) || (scan_has(scan, SCAN_JSONRPC) && !scan_has(scan, SCAN_METHOD));
}

/* JSON-RPC 2.0 section 5.1: the code is an integer, however it is spelled. */
static bool
is_integer(struct span number)
{
	static const double all_integers = 9007199254740992; /* from 2^53 on every double is an integer */
	double value;

	return id_number(number, &value) &&
	    (value >= all_integers || value <= -all_integers || value == (double)(int64_t)value);
}

bool
envelope_is_malformed(const struct scan *scan)
{
	enum value_type type = scan_value(scan, SCAN_ERROR)->type;
	bool result = scan_has(scan, SCAN_RESULT);

	if (type == VALUE_ABSENT || type == VALUE_NULL)
		return !result;
	if (result || type != VALUE_OBJECT)
		return true;
	return scan_value(scan, SCAN_ERROR_CODE)->type != VALUE_NUMBER ||
	    !is_integer(scan_text(scan, SCAN_ERROR_CODE)) || scan_value(scan, SCAN_ERROR_MESSAGE)->type != VALUE_STRING;
}

/* false: the id has a type that JSON-RPC does not allow. */
static bool
read_id(struct envelope *envelope, const struct scan *scan)
{
	const struct scan_value *id = scan_value(scan, SCAN_ID);

	if (scan->fault == SCAN_REPEATED_ID) {
		envelope->untracked = true;
		return true;
	}
	switch (id->type) {
	case VALUE_STRING:
	case VALUE_NUMBER:
		envelope->id = scan_text(scan, SCAN_ID);
		envelope->untracked = scan_unkept(scan, SCAN_ID);
		return true;
	case VALUE_ABSENT:
	case VALUE_NULL:
		envelope->untracked = true;
		return true;
	case VALUE_BOOL:
	case VALUE_OBJECT:
	case VALUE_ARRAY:
		break;
	}
	return false;
}

static enum envelope_kind
read_object(struct envelope *envelope, const struct scan *scan, bool needs_jsonrpc)
{
	bool answer = has_answer(scan);

	if (scan_value(scan, SCAN_METHOD)->type != (answer ? VALUE_ABSENT : VALUE_STRING))
		return ENVELOPE_NO_MESSAGE;
	if (!read_id(envelope, scan))
		return ENVELOPE_NO_MESSAGE;
	if (needs_jsonrpc && !scan_has(scan, SCAN_JSONRPC))
		return ENVELOPE_NO_MESSAGE;
	if (answer)
		return ENVELOPE_RESPONSE;
	return scan_has(scan, SCAN_ID) ? ENVELOPE_REQUEST : ENVELOPE_NOTIFICATION;
}

static enum envelope_kind
read_kind(struct envelope *envelope, const struct scan *scan, bool needs_jsonrpc)
{
	enum scan_fault fault = scan->fault;

	if (fault != SCAN_FINE) {
		read_id(envelope, scan);
		return fault == SCAN_DEPTH || fault == SCAN_REPEATED_ID || fault == SCAN_REPEATED_METHOD ?
		    ENVELOPE_NO_MESSAGE :
		    ENVELOPE_NOT_JSON;
	}
	switch (scan_type(scan)) {
	case VALUE_ABSENT:
		return ENVELOPE_BLANK;
	case VALUE_ARRAY:
		return ENVELOPE_BATCH;
	case VALUE_OBJECT:
		return read_object(envelope, scan, needs_jsonrpc);
	case VALUE_NULL:
	case VALUE_BOOL:
	case VALUE_NUMBER:
	case VALUE_STRING:
		break;
	}
	return ENVELOPE_NO_MESSAGE;
}

void
envelope_read(struct envelope *envelope, const struct scan *scan, bool needs_jsonrpc)
{
	envelope->id = (struct span){ NULL, 0 };
	envelope->untracked = false;
	envelope->method = scan_string(scan, SCAN_METHOD, envelope->storage, sizeof(envelope->storage));
	envelope->kind = read_kind(envelope, scan, needs_jsonrpc);
	envelope->malformed = envelope->kind == ENVELOPE_RESPONSE && envelope_is_malformed(scan);
}

enum envelope_kind
envelope_meant(const struct scan *scan)
{
	enum value_type method = scan_value(scan, SCAN_METHOD)->type;

	if (method == VALUE_ABSENT || has_answer(scan))
		return ENVELOPE_UNKNOWN;
	if (scan_has(scan, SCAN_ID))
		return ENVELOPE_REQUEST;
	return method == VALUE_STRING ? ENVELOPE_NOTIFICATION : ENVELOPE_UNKNOWN;
}

bool
envelope_is_read(const struct scan *scan)
{
	return !scan->failed && scan_value_end(scan) > 0;
}

const char *
envelope_fault(enum scan_fault fault)
{
	static const char *const texts[] = {
		[SCAN_FINE] = "the input is no JSON-RPC message",
		[SCAN_UTF8] = "the input is not valid UTF-8",
		[SCAN_CONTROL] = "the input is not valid JSON: a string has a raw control character",
		[SCAN_DEPTH] = "the message is nested too deep",
		[SCAN_REPEATED_ID] = "the message has more than one id",
		[SCAN_REPEATED_METHOD] = "the message has more than one method",
		[SCAN_SYNTAX] = "the input is not valid JSON",
		[SCAN_TRAILING] = "the input is not valid JSON: something follows the message",
		[SCAN_CUT] = "the input is not valid JSON: it breaks off",
	};

	return texts[fault];
}
