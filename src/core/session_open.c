#include <string.h>

#include "session_inside.h"

static void
set_framing(struct session *session, enum framing framing)
{
	enum side side;

	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		struct party *party = &session->party[side];

		if (party->frame.framing == framing || party->reading != READ_HOLD)
			continue;
		frame_set_framing(&party->frame, framing);
		lane_set_framing(party->lane, framing);
	}
	if (!session->dialect_known)
		session->dialect = dialect_of_framing(framing);
}

/* Says what it is that canceld takes the session for. */
static void
say(struct session *session, enum why why, const char *detail, struct span method)
{
	struct action action = action_of(session, VERB_NOTE, SIDE_CLIENT, why, NULL);

	action.method = method;
	action.detail = (struct span){ detail, strlen(detail) };
	session_report(session, &action);
}

static bool
settle_client(struct session *session, struct span bytes, bool ended)
{
	enum framing_guess guess = framing_guess(bytes);

	if (guess == GUESS_MORE && !ended)
		return false;
	session->framing_known = true;
	if (guess == GUESS_FOREIGN && !session->dialect_known) {
		session->plain = true;
		say(session, WHY_PLAIN, "the client's first bytes are no JSON-RPC", (struct span){ NULL, 0 });
		return true;
	}
	set_framing(session, guess == GUESS_HEADER ? FRAMING_HEADER : FRAMING_NEWLINE);
	return true;
}

/* A server that speaks before its client does is read as what it looks like, until the client has spoken. */
static void
settle_server(struct session *session, struct span bytes)
{
	enum framing_guess guess = framing_guess(bytes);
	enum framing framing = session->party[SIDE_SERVER].frame.framing;

	if (guess == GUESS_HEADER && framing == FRAMING_NEWLINE)
		set_framing(session, FRAMING_HEADER);
}

bool
session_settle_framing(struct session *session, enum side from, bool ended)
{
	const struct party *party = &session->party[from];
	struct span bytes;

	if (session->framing_known || party->reading != READ_HOLD)
		return true;
	bytes = lane_from(party->lane, party->frame.start);
	if (bytes.len == 0)
		return true;
	if (from == SIDE_CLIENT)
		return settle_client(session, bytes, ended);
	settle_server(session, bytes);
	return true;
}

static void
enter_era(struct session *session, enum era era, const struct message *message)
{
	if (session->era == era)
		return;
	session->era = era;
	session->modern_end = message->next;
	say(session, WHY_ERA, era == ERA_MODERN ? "modern" : "legacy", message->envelope.method);
}

/* MCP 2026-07-28 basic/transports/stdio: which era it is shows in the first requests. */
static void
note_era(struct session *session, const struct message *message)
{
	bool modern = scan_value(message->scan, SCAN_META_VERSION)->type == VALUE_STRING;
	const struct method *method;

	if (session->era == ERA_LEGACY && !modern)
		return;
	method = dialect_method(session->dialect, message->envelope.method);
	if (method != NULL && (method->traits & METHOD_PROBE))
		return;
	if (method != NULL && (method->traits & METHOD_HANDSHAKE)) {
		enter_era(session, ERA_LEGACY, message);
	} else if (modern) {
		enter_era(session, ERA_MODERN, message);
	} else if (session->era == ERA_NONE) {
		enter_era(session, ERA_LEGACY, message);
		session->initialized = true;
	}
}

static void
note_dialect(struct session *session, const struct message *message)
{
	session->dialect = dialect_of_request(session->party[SIDE_CLIENT].frame.framing, message->envelope.method,
	    scan_value(message->scan, SCAN_PARAMS_VERSION)->type);
	session->dialect_known = true;
	say(session, WHY_DIALECT, session->dialect->name, message->envelope.method);
}

void
session_note_request(struct session *session, const struct message *message)
{
	if (message->from != SIDE_CLIENT)
		return;
	if (!session->dialect_known)
		note_dialect(session, message);
	if (session->dialect->flags & DIALECT_HAS_ERAS)
		note_era(session, message);
	if (scan_value(message->scan, SCAN_CLIENT_CANCELS)->type == VALUE_BOOL)
		session->declared[SIDE_CLIENT] =
		    span_equal(scan_text(message->scan, SCAN_CLIENT_CANCELS), SPAN("true"));
}

/* MCP: nothing is injected before initialize is answered, or a modern request was written whole. */
bool
session_settled(const struct session *session)
{
	if (!(session->dialect->flags & DIALECT_HAS_ERAS))
		return true;
	if (session->era == ERA_MODERN)
		return lane_written_to(session->party[SIDE_CLIENT].lane) >= session->modern_end;
	return session->era == ERA_LEGACY && session->initialized;
}
