/*
 * What a new server has to be told of the session that it is to go on with. It is said by canceld, which takes the
 * answers; meanwhile what the client says waits.
 *
 *   restarted ─▶ handshake ─answered▶ opened, settings ─all answered▶ streams, then all that waits
 */
#include "session_replay.h"

#include <string.h>

#include "core/alike.h"
#include "core/id.h"
#include "core/limits.h"

static void
report(struct session *session, enum verb verb, enum side side, enum why why, const struct request *request,
    const char *detail)
{
	struct action action = action_of(session, verb, side, why, request);

	action.detail = (struct span){ detail, strlen(detail) };
	session_report(session, &action);
}

/* In its own words. */
static void
report_refusal(struct session *session, const struct request *request, const struct message *message)
{
	struct action action = action_of(session, VERB_NOTE, SIDE_SERVER, WHY_REPLAY_FAILED, request);
	struct span words = session_error_words(session, message);
	char text[LIMIT_LAST_WORDS];
	size_t len;
	struct buf detail;

	buf_init(&detail);
	buf_append(&detail, SPAN("it answered with an error"));
	if (words.len > 2) {
		len = id_unescape(words, text, sizeof(text));
		buf_append(&detail, SPAN(": "));
		buf_append(&detail, (struct span){ text, len < sizeof(text) ? len : sizeof(text) });
	}
	action.detail = buf_span(&detail);
	session_report(session, &action);
	session_keep_refusal(session, action.detail);
	buf_free(&detail);
}

static bool
was_opened(const struct session *session)
{
	const struct replay *replay = session->replay;
	size_t i;

	if (session->party[SIDE_CLIENT].requests == 0)
		return false;
	if (session_is_initialized(session))
		return true;
	if (session->dialect->flags & DIALECT_HAS_ERAS) /* nothing was asked but what needs no session */
		return session->era == ERA_NONE && (session->served || session->restarted);
	for (i = 0; replay != NULL && i < replay->count; i++)
		if (replay->records[i].kind == RECORD_HANDSHAKE)
			return false;
	return session->served || session->restarted;
}

/* Why a new server cannot be told all that it would have to know; NULL: it can. */
const char *
session_cannot_restart(const struct session *session)
{
	if (session->plain)
		return "the client speaks no JSON-RPC";
	if (!(session->dialect->flags & DIALECT_HAS_ERAS) && !session->config.stateless)
		return "sessions of this protocol cannot be replayed (see --restart=stateless)";
	if (!was_opened(session))
		return "no session was open";
	if (session->replay == NULL || session->replay->overflow)
		return "initialize was too long to be kept";
	return NULL;
}

/* The message with another id. */
static void
say_again(struct session *session, const struct record *record, struct span id)
{
	struct span text = buf_span(&record->text);
	size_t behind = record->id_at + record->id_len;
	struct buf copy;

	buf_init(&copy);
	buf_append(&copy, span_part(text, 0, record->id_at));
	buf_append(&copy, id);
	buf_append(&copy, span_part(text, behind, text.len - behind));
	lane_overtake(session->party[SIDE_CLIENT].lane, buf_span(&copy));
	buf_free(&copy);
}

static void
ask_again(struct session *session, const struct record *record)
{
	bool string = buf_span(&record->text).ptr[record->id_at] == '"';
	struct request *request = session_ask(session, record->method->name, string, TIME_REPLAY);

	say_again(session, record, request->wire_id);
	session->replay->waiting++;
	report(session, VERB_SEND, SIDE_SERVER, WHY_REPLAYED, request, "");
}

static void
say_opened(struct session *session, const struct record *record)
{
	struct action action = action_of(session, VERB_SEND, SIDE_SERVER, WHY_REPLAYED, NULL);

	action.method = (struct span){ session->dialect->opened, strlen(session->dialect->opened) };
	lane_overtake(session->party[SIDE_CLIENT].lane, buf_span(&record->text));
	session_report(session, &action);
}

static void
say_streams(struct session *session)
{
	struct replay *replay = session->replay;
	size_t i;

	for (i = 0; i < replay->count; i++) {
		struct record *record = &replay->records[i];
		struct request *request;

		if (record->kind != RECORD_STREAM || record->request->start != REQUEST_UNSENT)
			continue;
		request = pending_by_id(&session->party[SIDE_CLIENT].pending, record->request->id);
		if (request != record->request)
			continue;
		request->start = request->end = 0;
		record->begins = true;
		say_again(session, record, request->wire_id);
		report(session, VERB_SEND, SIDE_SERVER, WHY_REPLAYED, request, "");
	}
}

/* MCP server/tools "List Changed Notification": only who has declared it may send it. */
static void
say_lists(struct session *session)
{
	struct action action = action_of(session, VERB_SEND, SIDE_CLIENT, WHY_LIST_CHANGE_SENT, NULL);
	size_t i;

	if (session->era == ERA_MODERN)
		return;
	for (i = 0; i < REPLAY_LISTS; i++) {
		if (!session->replay->lists[i])
			continue;
		action.method = (struct span){ session_lists[i].notification, strlen(session_lists[i].notification) };
		buf_clear(&session->scratch);
		compose_notification(&session->scratch, session_lists[i].notification);
		lane_answer(session->party[SIDE_SERVER].lane, buf_span(&session->scratch));
		session_report(session, &action);
	}
}

/* The server lives: whoever has waited for it has a whole deadline from here on. */
static void
give_time(void *user, struct request *request)
{
	struct session *session = user;

	if (alarm_armed(&request->idle) && session_state(session, SIDE_CLIENT, request) == REQUEST_QUEUED)
		alarm_arm(&session->party[SIDE_CLIENT].pending.idle, &request->idle, request->idle_after,
		    session_idle(session, SIDE_CLIENT));
}

static void
finish(struct session *session)
{
	session->replay->stage = REPLAY_IDLE;
	buf_clear(&session->refusal);
	pending_each(&session->party[SIDE_CLIENT].pending, give_time, session);
	say_streams(session);
	lane_hold(session->party[SIDE_CLIENT].lane, LANE_FREE);
	session_note(session, SIDE_CLIENT, WHY_RESTARTED);
	say_lists(session);
}

static void
say_settings(struct session *session)
{
	struct replay *replay = session->replay;
	size_t i;

	replay->stage = REPLAY_SETTINGS;
	for (i = 0; i < replay->count; i++)
		if (replay->records[i].kind == RECORD_OPENED)
			say_opened(session, &replay->records[i]);
	for (i = 0; i < replay->count; i++)
		if (replay->records[i].kind == RECORD_SETTING && replay->records[i].request == NULL)
			ask_again(session, &replay->records[i]);
	if (replay->waiting == 0)
		finish(session);
}

void
session_replay(struct session *session)
{
	struct replay *replay = session->replay;
	size_t i;

	replay->stage = REPLAY_HANDSHAKE;
	for (i = 0; i < replay->count; i++)
		if (replay->records[i].kind == RECORD_HANDSHAKE && replay->records[i].request == NULL)
			ask_again(session, &replay->records[i]);
	if (replay->waiting == 0)
		say_settings(session);
}

void
session_stop_replay(struct session *session)
{
	session->replay->stage = REPLAY_IDLE;
	session->replay->waiting = 0;
}

bool
session_replays(const struct session *session)
{
	return session->replay != NULL &&
	    (session->replay->stage == REPLAY_HANDSHAKE || session->replay->stage == REPLAY_SETTINGS);
}

bool
session_is_said_again(const struct session *session)
{
	return session->away || (session->replay != NULL && session->replay->stage == REPLAY_HANDSHAKE);
}

void
session_pass_ahead(struct session *session, const struct message *message)
{
	const struct party *party = &session->party[message->from];
	const struct edit *edit;
	size_t at = 0, offset;
	struct buf copy;

	buf_init(&copy);
	for (edit = message->edits; edit < message->edits + message->edit_count; edit++) {
		offset = (size_t)(edit->offset - (message->start - party->frame.body));
		buf_append(&copy, span_part(message->text, at, offset - at));
		buf_append(&copy, edit->with);
		at = offset + edit->len;
	}
	buf_append(&copy, span_part(message->text, at, message->text.len - at));
	lane_overtake(party->lane, buf_span(&copy));
	buf_free(&copy);
	message_discard(session, message);
}

static void
compare(struct session *session, const struct message *message)
{
	struct replay *replay = session->replay;

	if (!span_equal(buf_span(&replay->version), scan_text(message->scan, SCAN_RESULT_VERSION)))
		report(session, VERB_NOTE, SIDE_CLIENT, WHY_SERVER_CHANGED, NULL, "another protocolVersion");
	else if (!message->passed && !alike(buf_span(&replay->capabilities), session_capabilities(session, message)))
		report(session, VERB_NOTE, SIDE_CLIENT, WHY_SERVER_CHANGED, NULL, "other capabilities");
}

static void
fail(struct session *session)
{
	session->replay->stage = REPLAY_FAILED;
	session->stuck = true;
}

void
session_replay_answered(struct session *session, const struct request *request, const struct message *message)
{
	struct replay *replay = session->replay;
	bool granted = scan_value(message->scan, SCAN_RESULT)->type != VALUE_ABSENT;

	replay->waiting--;
	if (session_replays(session) && !granted)
		report_refusal(session, request, message);
	if (replay->stage == REPLAY_HANDSHAKE && !granted) {
		fail(session);
	} else if (replay->stage == REPLAY_HANDSHAKE) {
		compare(session, message);
		say_settings(session);
	} else if (replay->stage == REPLAY_SETTINGS && replay->waiting == 0) {
		finish(session);
	}
}

void
session_replay_expired(struct session *session, const struct request *request)
{
	session->replay->waiting--;
	if (!session_replays(session))
		return;
	report(session, VERB_NOTE, SIDE_SERVER, WHY_REPLAY_FAILED, request, "no answer");
	session_keep_refusal(session, SPAN("it did not answer"));
	fail(session);
}

bool
session_is_replayed_beginning(struct session *session, const struct message *message)
{
	const char *method = session->dialect->stream_opened;
	struct span id = scan_text(message->scan, SCAN_META_SUBSCRIPTION);
	struct replay *replay = session->replay;
	size_t i;

	if (replay == NULL || message->from != SIDE_SERVER || message->passed || method == NULL || id.len == 0 ||
	    !span_equal(message->envelope.method, (struct span){ method, strlen(method) }))
		return false;
	for (i = 0; i < replay->count; i++) {
		struct record *record = &replay->records[i];
		bool again = record->begins && record->known;

		if (record->kind != RECORD_STREAM || !id_equal(record->request->wire_id, id))
			continue;
		record->begins = false;
		record->known = true;
		return again;
	}
	return false;
}
