#include "core/envelope.h"

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

/*
 * Whether a response breaks JSON-RPC 2.0 section 5: it has both a result and an error, or neither, or an error without an
 * integer as its code and a string as its message. An error that is null counts as absent.
 */
static bool
is_malformed(const struct scan *scan)
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
	enum value_type type = scan_value(scan, SCAN_ID)->type;
	bool known = type == VALUE_STRING || type == VALUE_NUMBER;

	envelope->id = known && scan->fault != SCAN_REPEATED_ID ? scan_text(scan, SCAN_ID) : SPAN_NONE;
	return known || type == VALUE_ABSENT || type == VALUE_NULL;
}

static enum envelope_kind
read_kind(const struct scan *scan)
{
	enum value_type type = scan_type(scan);
	bool answer = has_answer(scan);

	if (scan->fault != SCAN_FINE)
		return ENVELOPE_NONE;
	if (type == VALUE_ABSENT)
		return ENVELOPE_BLANK;
	if (type == VALUE_ARRAY)
		return ENVELOPE_BATCH;
	if (type != VALUE_OBJECT || scan_value(scan, SCAN_METHOD)->type != (answer ? VALUE_ABSENT : VALUE_STRING))
		return ENVELOPE_NONE;
	if (answer)
		return ENVELOPE_RESPONSE;
	return scan_has(scan, SCAN_ID) ? ENVELOPE_REQUEST : ENVELOPE_NOTIFICATION;
}

void
envelope_read(struct envelope *envelope, const struct scan *scan)
{
	envelope->method = scan_string(scan, SCAN_METHOD, envelope->storage, sizeof(envelope->storage));
	envelope->kind = read_kind(scan);
	if (!read_id(envelope, scan))
		envelope->kind = ENVELOPE_NONE;
	envelope->malformed = envelope->kind == ENVELOPE_RESPONSE && is_malformed(scan);
}

enum envelope_kind
envelope_meant(const struct scan *scan)
{
	enum value_type method = scan_value(scan, SCAN_METHOD)->type;

	if (method == VALUE_ABSENT || has_answer(scan))
		return ENVELOPE_NONE;
	if (scan_has(scan, SCAN_ID))
		return ENVELOPE_REQUEST;
	return method == VALUE_STRING ? ENVELOPE_NOTIFICATION : ENVELOPE_NONE;
}

bool
envelope_is_read(const struct scan *scan)
{
	return !scan->failed && scan_value_end(scan) > 0;
}
