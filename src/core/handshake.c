#include "core/handshake.h"

#include <string.h>

void
handshake_init(struct handshake *handshake, const struct dialect *dialect)
{
	*handshake = (struct handshake){ .dialect = dialect, .dialect_known = dialect != NULL };
	if (dialect == NULL)
		handshake->dialect = dialect_of_framing(FRAMING_NEWLINE);
}

bool
handshake_read_framing(struct handshake *handshake, enum side from, struct span bytes, bool ended,
    enum framing *framing)
{
	enum framing_guess guess = framing_guess(bytes);

	if (bytes.len == 0)
		return true;
	if (from == SIDE_CLIENT && guess == GUESS_MORE && !ended)
		return false;
	if (from == SIDE_CLIENT) {
		handshake->framing_known = true;
		handshake->plain = guess == GUESS_FOREIGN && !handshake->dialect_known;
		*framing = FRAMING_NEWLINE;
	}
	if (guess == GUESS_HEADER)
		*framing = FRAMING_HEADER;
	if (!handshake->dialect_known)
		handshake->dialect = dialect_of_framing(*framing);
	return true;
}

static unsigned
enter_era(struct handshake *handshake, enum era era, const struct message *message)
{
	if (handshake->era == era)
		return 0;
	handshake->era = era;
	handshake->era_end = message->next;
	return NEWS_ERA;
}

/* MCP 2026-07-28 basic/transports/stdio: the first requests show the era. */
static unsigned
read_era(struct handshake *handshake, const struct message *message)
{
	bool modern = scan_value(message->scan, SCAN_META_VERSION)->type == VALUE_STRING;
	const struct method *row;
	unsigned traits;

	if (handshake->era == ERA_LEGACY && !modern)
		return 0;
	row = dialect_method(handshake->dialect, message->envelope.method);
	traits = row == NULL ? 0 : row->traits;
	if (traits & METHOD_DISCOVERY)
		return 0;
	if (traits & METHOD_HANDSHAKE)
		return enter_era(handshake, ERA_LEGACY, message);
	if (modern)
		return enter_era(handshake, ERA_MODERN, message);
	if (handshake->era != ERA_NONE)
		return 0;
	handshake->initialized = true;
	return enter_era(handshake, ERA_LEGACY, message);
}

unsigned
handshake_read_request(struct handshake *handshake, enum framing framing, const struct message *message)
{
	unsigned news = 0;

	if (!handshake->dialect_known) {
		handshake->dialect = dialect_of_request(framing, message->envelope.method,
		    scan_text(message->scan, SCAN_PARAMS_VERSION));
		handshake->dialect_known = true;
		news |= NEWS_DIALECT;
	}
	if (handshake->dialect->flags & DIALECT_HAS_ERAS)
		news |= read_era(handshake, message);
	if (scan_value(message->scan, SCAN_CLIENT_CANCELS)->type == VALUE_BOOL)
		handshake->declared[SIDE_CLIENT] =
		    span_equal(scan_text(message->scan, SCAN_CLIENT_CANCELS), SPAN("true"));
	return news;
}

/* ACP: the version as a small number; 0 if it is none. */
static int
read_version(const struct scan *scan)
{
	struct span text = scan_text(scan, SCAN_RESULT_VERSION);

	if (scan_value(scan, SCAN_RESULT_VERSION)->type != VALUE_NUMBER || text.len != 1)
		return 0;
	return text.ptr[0] - '0';
}

/* Versions are dates, which sort as text. */
static bool
is_at_least(struct span version, const char *first)
{
	return first != NULL && version.len == strlen(first) && memcmp(version.ptr, first, version.len) >= 0;
}

void
handshake_read_answer(struct handshake *handshake, const struct message *message)
{
	const struct scan *scan = message->scan;

	handshake->initialized = true;
	handshake->version = read_version(scan);
	handshake->declared[SIDE_SERVER] = span_equal(scan_text(scan, SCAN_AGENT_CANCELS), SPAN("true"));
	handshake->omits_id = is_at_least(scan_text(scan, SCAN_RESULT_VERSION), handshake->dialect->omits_id_since);
}

/* MCP: nothing is injected before initialize is answered, or the first modern request was written whole. */
bool
handshake_is_settled(const struct handshake *handshake, uint64_t written_to)
{
	if (!(handshake->dialect->flags & DIALECT_HAS_ERAS))
		return true;
	if (handshake->era == ERA_MODERN)
		return written_to >= handshake->era_end;
	return handshake->era == ERA_LEGACY && handshake->initialized;
}

bool
handshake_is_done(const struct handshake *handshake)
{
	const struct method *row;

	if (handshake->initialized || handshake->era == ERA_MODERN)
		return true;
	for (row = handshake->dialect->methods; row->name != NULL; row++)
		if (row->traits & METHOD_HANDSHAKE)
			return false;
	return true;
}
