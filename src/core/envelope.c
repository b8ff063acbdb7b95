#include "core/envelope.h"

#include "core/id.h"

static bool
present(const struct scan *scan, enum scan_field field)
{
	return scan_value(scan, field)->type != VALUE_ABSENT;
}

/* The id of a message: kept as spelled, or untracked. false: it is of a type that no id may have. */
static bool
read_id(struct envelope *envelope, const struct scan *scan, const struct scan_value *id)
{
	switch (id->type) {
	case VALUE_STRING:
	case VALUE_NUMBER:
		envelope->id = scan_text(scan, SCAN_ID);
		envelope->untracked = id->overflow;
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

static void
read_method(struct envelope *envelope, const struct scan *scan, enum value_type method)
{
	if (method == VALUE_STRING)
		envelope->method =
		    id_unescaped(scan_text(scan, SCAN_METHOD), envelope->storage, sizeof(envelope->storage));
}

static enum envelope_kind
read_object(struct envelope *envelope, const struct scan *scan, enum value_type method, bool needs_jsonrpc)
{
	const struct scan_value *id = scan_value(scan, SCAN_ID);
	bool answer = present(scan, SCAN_RESULT) || present(scan, SCAN_ERROR);

	if (method != (answer ? VALUE_ABSENT : VALUE_STRING))
		return ENVELOPE_NO_MESSAGE;
	if (needs_jsonrpc && !present(scan, SCAN_JSONRPC))
		return ENVELOPE_NO_MESSAGE;
	if (!read_id(envelope, scan, id))
		return ENVELOPE_NO_MESSAGE;
	if (answer)
		return ENVELOPE_RESPONSE;
	return id->type != VALUE_ABSENT ? ENVELOPE_REQUEST : ENVELOPE_NOTIFICATION;
}

void
envelope_read(struct envelope *envelope, const struct scan *scan, bool needs_jsonrpc)
{
	enum value_type type = scan_type(scan), method = scan_value(scan, SCAN_METHOD)->type;

	envelope->id = envelope->method = (struct span){ NULL, 0 };
	envelope->untracked = false;
	read_method(envelope, scan, method);
	if (scan_fault(scan) != SCAN_FINE)
		envelope->kind = ENVELOPE_NOT_JSON;
	else if (type == VALUE_ABSENT)
		envelope->kind = ENVELOPE_BLANK;
	else if (type == VALUE_ARRAY)
		envelope->kind = ENVELOPE_BATCH;
	else if (type != VALUE_OBJECT)
		envelope->kind = ENVELOPE_NO_MESSAGE;
	else
		envelope->kind = read_object(envelope, scan, method, needs_jsonrpc);
}

void
envelope_peek(struct envelope *envelope, const struct scan *scan)
{
	enum value_type method = scan_value(scan, SCAN_METHOD)->type;
	bool answer = present(scan, SCAN_RESULT) || present(scan, SCAN_ERROR);

	envelope->id = envelope->method = (struct span){ NULL, 0 };
	envelope->untracked = false;
	envelope->kind = ENVELOPE_UNKNOWN;
	if (scan_fault(scan) != SCAN_FINE || scan_type(scan) != VALUE_OBJECT || (method == VALUE_STRING) == answer)
		return;
	if (!read_id(envelope, scan, scan_value(scan, SCAN_ID)))
		return;
	read_method(envelope, scan, method);
	if (answer)
		envelope->kind = ENVELOPE_RESPONSE;
	else
		envelope->kind = envelope->id.len > 0 ? ENVELOPE_REQUEST : ENVELOPE_NOTIFICATION;
}
