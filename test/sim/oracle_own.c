/* Checks a message of canceld's own that a peer has read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORGOTTEN_AFTER = 600000 };

#include "oracle_inside.h"

/*
 * The request of `by` that canceld answers under this id: the first one that its log names, else
 * the newest.
 */
static struct ask *
find_answered(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask, *found = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != by || ask->answered || (by == SERVER && ask->lost != 0) ||
		    !jsontext_same_id(ask->id, id))
			continue;
		found = ask;
		if (ask->decided != 0)
			break;
	}
	return found;
}

static bool
is_text(const char *text, size_t len, const char *wanted)
{
	return len == strlen(wanted) && memcmp(text, wanted, len) == 0;
}

/* The specifications allow no other member. An MCP receiver may get a reason. */
static void
expect_cancel(struct oracle *oracle, int to, const struct telling *telling, const char *id,
    const char *text, size_t len)
{
	bool mcp = telling->spelling == SPELLED_MCP;
	const char *meta =
	    ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}";
	char wanted[512];

	snprintf(wanted, sizeof(wanted),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"%s\":%s%s%s%s}}",
	    protocol_cancels[telling->spelling], protocol_keys[telling->spelling], id,
	    mcp ? ",\"reason\":" : "", mcp ? telling->reason : "",
	    mcp && oracle->modern && to == SERVER ? meta : "");
	if (!is_text(text, len, wanted))
		oracle_blame(oracle, "2: a cancel is %.*s and not %s", (int)(len < 300 ? len : 300),
		    text, wanted);
}

/*
 * Whether the server has an initialize that it has not answered. A client may withdraw one that is
 * not sent yet, and one that was given up is forgotten in the end.
 */
static bool
start_waits(const struct oracle *oracle)
{
	for (const struct ask *ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->deed != NULL && (ask->deed->traits & HANDSHAKE) &&
		    ask->wire[0] != '\0')
			return !oracle->start_answered && ask->lost == 0 &&
			    (ask->decided == 0 || oracle->now - ask->decided_at < FORGOTTEN_AFTER);
	return false;
}

/* A cancel of canceld's own has arrived: they arrive in the order of the log. */
static void
got_own_cancel(struct oracle *oracle, int to, enum spelling spelling, const char *text, size_t len)
{
	int by = to == SERVER ? CLIENT : SERVER;
	const struct telling *telling = &oracle->tellings[by][oracle->told[by]];
	struct ask *ask;
	char id[48];

	jsontext_raw_member(text, len, protocol_keys[spelling], id, sizeof(id));
	ask = oracle_find_wire(oracle, by, id);
	oracle_got_cancel(oracle, ask, id);
	if (to == SERVER && (ask == NULL || ask->cancelled == 0) && start_waits(oracle))
		oracle_blame(oracle, "2: a cancel before initialize was answered");
	if (oracle->told[by]++ == oracle->telling_count[by]) {
		oracle_blame(oracle, "5: canceld cancels %s and does not say so", id);
		return;
	}
	if (ask != NULL &&
	    (!telling->by_id || telling->session[0] != '\0' || telling->ask < 0 ||
		strcmp(ask->id, oracle->asks[telling->ask].id) != 0))
		oracle_blame(oracle, "5: canceld cancels %s and does not say that it is that",
		    ask->id);
	/*
	 * A batch may cancel the turn and answer the request; and the server may end a stream whose
	 * cancel is withheld.
	 */
	else if (ask != NULL && ask->replied != 0 && ask->replied < telling->step &&
	    !ask->in_batch && !(ask->ended && ask->decided != 0 && ask->decided < ask->replied))
		oracle_blame(oracle, "2: a cancel of %s, which was answered", id);
	expect_cancel(oracle, to, telling, id, text, len);
}

/*
 * The oldest session/cancel of that session that was a request, and has not arrived as a
 * notification; NULL: there is none.
 */
static struct sent *
find_repaired(const struct oracle *oracle, const char *session)
{
	struct sent *sent;

	for (sent = oracle->sent; sent < oracle->sent + oracle->sent_count; sent++)
		if (sent->repaired && strcmp(sent->session, session) == 0)
			return sent;
	return NULL;
}

static void
got_own_turn_cancel(struct oracle *oracle, const char *text, size_t len)
{
	const struct telling *telling = &oracle->tellings[CLIENT][oracle->told[CLIENT]];
	bool told = oracle->told[CLIENT] < oracle->telling_count[CLIENT];
	char session[16], wanted[128];
	struct sent *repaired;

	jsontext_raw_member(text, len, "sessionId", session, sizeof(session));
	snprintf(wanted, sizeof(wanted),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":%s}}",
	    session);
	if (!is_text(text, len, wanted))
		oracle_blame(oracle, "2: a session/cancel is %.*s", (int)(len < 300 ? len : 300),
		    text);
	repaired = find_repaired(oracle, session);
	told = told && strcmp(telling->session, session) == 0;
	/* It came before that was told, and the turn that is told of is behind it. */
	if (told && repaired != NULL && repaired->heard < telling->step && telling->ask >= 0 &&
	    oracle->asks[telling->ask].wire[0] == '\0')
		told = false;
	if (!told && repaired == NULL)
		oracle_blame(oracle, "2: a session/cancel of %s that nobody asked for", session);
	else if (!told)
		repaired->repaired = false;
	if (told && oracle->no_cancel)
		oracle_blame(oracle, "2: a session/cancel in spite of --no-cancel");
	oracle->told[CLIENT] += told;
	oracle_got_turn_cancel(oracle, session, told ? telling->step : 0);
}

/* canceld answers in place of a receiver only after that one had its time. */
static void
check_time(struct oracle *oracle, const struct ask *ask, bool timeout)
{
	if (oracle->server_died || oracle->client_left || (oracle->draining && ask->by == SERVER) ||
	    ask->unsent || ask->declined || ask->decided == 0 || ask->lost != 0)
		return;
	if (timeout && ask->expired == 0) {
		if (ask->waited ||
		    (ask->decided_at - ask->active < ask->idle &&
			ask->decided_at - ask->since < ask->cap))
			oracle_blame(oracle, "1: %s timed out after %lld ms", ask->id,
			    (long long)(ask->decided_at - ask->active));
		if (ask->held && ask->decided_at - ask->since < ask->cap)
			oracle_blame(oracle, "1: %s timed out while canceld held it back", ask->id);
		if (oracle->protocol->waits && ask->arrived != 0 && ask->arrived < ask->decided &&
		    !(ask->deed->traits & FINAL) && !(oracle->no_cancel && ask->by == CLIENT))
			oracle_blame(oracle, "1: %s was answered before its receiver could",
			    ask->id);
		return;
	}
	if (ask->crossed || ask->by_person)
		return;
	if (ask->ending_at == INT64_MAX)
		oracle_blame(oracle, "1: %s is said to be cancelled, and nobody did", ask->id);
	else if (!ask->at_once && ask->decided_at - ask->ending_at < oracle_grace(oracle, ask))
		oracle_blame(oracle, "1: %s had %lld ms to be answered", ask->id,
		    (long long)(ask->decided_at - ask->ending_at));
	else if (ask->at_once && ask->decided_at > ask->ending_at)
		oracle_blame(oracle, "6: %s is answered %lld ms after the $/canceld/cancel",
		    ask->id, (long long)(ask->decided_at - ask->ending_at));
}

static void
note_answer(struct oracle *oracle, struct ask *ask, const char *cause)
{
	ask->answered = true;
	ask->refused = ask->wire[0] == '\0' && strcmp(cause, "timeout") != 0 &&
	    strcmp(cause, "cancelled") != 0 && strcmp(cause, "terminated") != 0 &&
	    strcmp(cause, "operator") != 0;
	if (ask->decided == 0)
		oracle_blame(oracle, "5: canceld answers %s and does not say so", ask->id);
	if (ask->cancelled != 0 && ask->cancelled < ask->decided && !ask->owed)
		oracle_blame(oracle, "1: canceld answers %s, which was cancelled (%s)", ask->id,
		    cause);
}

/* Whether the method has a result that tells that it was cancelled. */
static bool
has_words(const struct ask *ask)
{
	if (ask->deed == NULL || ask->deed->cancelled == NULL)
		return false;
	return !(ask->deed->traits & TURN) || ask->version < 2;
}

static void
expect_code(struct oracle *oracle, const struct ask *ask, const char *cause, json_t *error)
{
	int code = (int)json_number_value(json_object_get(error, "code")),
	    wanted = oracle->protocol->failure_code;

	if (strcmp(cause, "timeout") == 0 || strcmp(cause, "operator") == 0)
		wanted = ask->deed->traits & DISCOVERY ? -32601 : oracle->protocol->timeout_code;
	else if (strcmp(cause, "cancelled") == 0)
		wanted = -32800;
	if (code != wanted)
		oracle_blame(oracle, "1: %s is answered with the code %d for %s and not %d",
		    ask->id, code, cause, wanted);
}

/*
 * Whether there may be a reason for which the receiver of the request was not told that it is
 * cancelled.
 */
static bool
may_be_untold(const struct oracle *oracle, const struct ask *ask)
{
	bool late = ask->arrived == 0 || ask->arrived >= ask->decided;

	if (!oracle->protocol->cancels || ask->deed->traits & FINAL || ask->asks_task)
		return true;
	return ask->by == CLIENT &&
	    (oracle->no_cancel || oracle->server_died || oracle->shut || oracle->client_left ||
		ask->early || !oracle->initialized || late);
}

/*
 * The request of `by` that was longer than --max-message, as the log has said, and is answered for
 * that; NULL: none.
 */
static struct ask *
find_too_long(const struct oracle *oracle, int by, const char *id, const char *cause)
{
	/* The newest: another server may have broken off in one with that id. */
	for (int i = oracle->ask_count; i-- > 0;) {
		struct ask *ask = &oracle->asks[i];

		if (ask->by == by && ask->too_long && ask->discarded != 0 && !ask->answered &&
		    strcmp(cause, "oversized-message") == 0 && jsontext_same_id(ask->id, id))
			return ask;
	}
	return NULL;
}

static bool
has_text(const char *text, size_t len, const char *part)
{
	return memmem(text, len, part, strlen(part)) != NULL;
}

/* What the error says of --parallel, and of a person who had the server restarted. */
static void
check_words(struct oracle *oracle, const struct ask *ask, const char *cause, const char *text,
    size_t len)
{
	bool given_up = strcmp(cause, "timeout") == 0 || strcmp(cause, "operator") == 0;

	if (given_up && has_text(text, len, "--parallel") != ask->was_waiting)
		oracle_blame(oracle, "5: %s was %sheld, and its error says otherwise", ask->id,
		    ask->was_waiting ? "" : "not ");
	if (ask->dismissed && strcmp(cause, "server-restarted") == 0 &&
	    !has_text(text, len, "a person"))
		oracle_blame(oracle, "5: the error of %s names no person", ask->id);
	if (ask->dismissed && has_text(text, len, ORACLE_LAST_WORDS))
		oracle_blame(oracle, "5: %s is told of the words of a server that a person ended",
		    ask->id);
}

/*
 * --tool-errors: a tool call has a result that says what failed, unless it was cancelled, or its
 * result would be a task.
 */
static void
check_tool(struct oracle *oracle, const struct ask *ask, const char *cause, const json_t *error)
{
	/* Of what is too long, and ends with its id, the method is not known. */
	bool known = !ask->too_long || oracle->sent[ask->sent].arrives[2] != 'm';

	if (known && error != NULL && oracle->tool_errors && oracle->protocol == &protocols[MCP] &&
	    strcmp(ask->deed->method, "tools/call") == 0 && !ask->asks_task &&
	    strcmp(cause, "cancelled") != 0)
		oracle_blame(oracle, "1: the tool call %s gets an error and no result for %s",
		    ask->id, cause);
}

/* An error, or in `error` the same from a tool's result. */
static void
got_error(struct oracle *oracle, int to, const char *id, json_t *error, json_t *data,
    const char *text, size_t len)
{
	const char *cause = jsontext_text(data, "cause");
	bool timeout = strcmp(cause, "timeout") == 0;
	bool cancelled = strcmp(cause, "cancelled") == 0 || strcmp(cause, "operator") == 0;
	struct ask *ask;

	if (id[0] == '\0' || strcmp(id, "null") == 0) {
		if (++oracle->error_lines > oracle->junk_lines + oracle->may_break)
			oracle_blame(oracle, "1: an error that nobody asked for");
		return;
	}
	ask = find_too_long(oracle, to, id, cause);
	if (ask != NULL) {
		check_tool(oracle, ask, cause, error);
		ask->answered = true;
		return;
	}
	ask = find_answered(oracle, to, id);
	if (ask == NULL) {
		oracle_blame(oracle, "1: canceld answers %s, which is not outstanding", id);
		return;
	}
	if (ask->target != NO_TARGET) {
		oracle_got_refusal(oracle, ask, error, data);
		return;
	}
	note_answer(oracle, ask, cause);
	check_words(oracle, ask, cause, text, len);
	check_tool(oracle, ask, cause, error);
	if (error != NULL &&
	    !((oracle->legacy || oracle->ended_on_probe) && ask->deed->traits & DISCOVERY))
		expect_code(oracle, ask, cause, error);
	if (timeout || cancelled)
		check_time(oracle, ask, timeout);
	if (timeout && is_ours_late(oracle, ask))
		oracle_blame(oracle, "1: %s timed out, and canceld has an answer to it", ask->id);
	if ((timeout || cancelled) && has_words(ask))
		oracle_blame(oracle, "1: %s has a result for that and gets an error",
		    ask->deed->method);
	ask->called_cancelled = json_is_true(json_object_get(data, "cancelled"));
	if ((timeout || cancelled) && !ask->called_cancelled && !may_be_untold(oracle, ask))
		oracle_blame(oracle, "1: %s was cancelled and the error does not say so", ask->id);
	if (strcmp(cause, "server-restarted") == 0 && (!ask->flying || ask->cancelled != 0) &&
	    !oracle_is_unopened(oracle, ask->session))
		oracle_blame(oracle, "1: %s is told of a restart, and no server was at work on it",
		    ask->id);
	if (strcmp(cause, "server-closed-input") == 0 &&
	    (oracle->deaf_at == 0 ||
		(ask->wire[0] != '\0' && ask->cancelled == 0 && ask->expired == 0 &&
		    ask->decided_at - oracle->deaf_at < oracle_grace(oracle, ask) &&
		    /* An answer that was arriving at the deadline had the grace from then on. */
		    ask->decided_at - ask->active < ask->idle + oracle_grace(oracle, ask) &&
		    ask->decided_at - ask->since < ask->cap)))
		oracle_blame(oracle,
		    "1: %s is told of a closed stdin at %lld ms, which was closed at %lld ms", id,
		    (long long)ask->decided_at, (long long)oracle->deaf_at);
	if (strcmp(cause, "server-exited") == 0 && !oracle->server_died)
		oracle_blame(oracle, "1: %s is told of an exit that was not", id);
}

/*
 * Whether only its own deadline can have ended it. What was sent in no turn outlives
 * session/cancel, but not that.
 */
static bool
has_timed_out(const struct oracle *oracle, const struct ask *ask)
{
	bool apart = ask->apart && ask->decided_at - ask->ending_at < oracle_grace(oracle, ask);

	return !ask->crossed && !ask->by_person && (ask->ending_at == INT64_MAX || apart);
}

/*
 * A result of canceld's own: of a method that was cancelled, or of a session/cancel that was a
 * request.
 */
static void
got_result(struct oracle *oracle, int to, const char *text, size_t len)
{
	char id[48], wanted[256];
	struct ask *ask;

	jsontext_raw_id(text, len, id, sizeof(id));
	ask = find_answered(oracle, to, id);
	if (ask == NULL) {
		oracle_blame(oracle, "1: canceld answers %s, which is not outstanding", id);
		return;
	}
	if (ask->target != NO_TARGET) {
		oracle_got_acknowledgement(oracle, ask, text, len);
		return;
	}
	snprintf(wanted, sizeof(wanted), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", ask->id,
	    ask->our_answer    ? oracle->answer :
		ask->ours      ? (to == SERVER ? oracle->answer : "null") :
		has_words(ask) ? ask->deed->cancelled :
				 "?");
	if (!is_text(text, len, wanted))
		oracle_blame(oracle, "1: %s gets %.*s and not %s", ask->id,
		    (int)(len < 300 ? len : 300), text, wanted);
	if (ask->ours) {
		ask->answered = true;
		return;
	}
	note_answer(oracle, ask, "cancelled");
	if (!ask->our_answer)
		check_time(oracle, ask, has_timed_out(oracle, ask));
}

/*
 * MCP tasks/cancel: once for a task of a request that was given up, to a server that declared it.
 */
static void
got_task_cancel(struct oracle *oracle, int to, json_t *message)
{
	const char *id = jsontext_text(json_object_get(message, "params"), "taskId");
	int number = id[0] == 't' ? atoi(id + 1) : -1;
	struct ask *ask = number >= 0 && number < oracle->ask_count ? &oracle->asks[number] : NULL;

	if (to != SERVER || oracle->protocol != &protocols[MCP] || !oracle->cancels_tasks ||
	    oracle->no_cancel || ask == NULL || !ask->made_task || ++ask->task_cancels > 1)
		oracle_blame(oracle, "2: a forbidden tasks/cancel of %s", id);
}

/*
 * ACP v2: once for all turns of the session that ran when their server went; not yet those whose
 * acceptance comes later.
 */
static void
got_end_of_turn(struct oracle *oracle, const char *text, size_t len)
{
	struct ask *ask;
	char session[16];
	bool lost = false;

	if (oracle->client_left)
		oracle_blame(oracle, "1: a client that has left is told of a turn");
	jsontext_raw_member(text, len, "sessionId", session, sizeof(session));
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->accepted && ask->answered && strcmp(ask->session, session) == 0 &&
		    (ask->life < oracle->life || oracle->server_died)) {
			lost = true;
			ask->accepted = false;
		}
	if (!lost)
		oracle_blame(oracle, "1: canceld ends a turn of %s, and none was lost", session);
}

void
oracle_got_own(struct oracle *oracle, int to, json_t *message, const char *text, size_t len)
{
	json_t *error = json_object_get(message, "error");
	json_t *tool = json_object_get(json_object_get(json_object_get(message, "result"), "_meta"),
	    "canceld/error");
	const char *method = jsontext_text(message, "method");
	int spelling;
	char id[48];

	jsontext_raw_id(text, len, id, sizeof(id));
	for (spelling = 0; spelling < SPELLINGS; spelling++)
		if (strcmp(method, protocol_cancels[spelling]) == 0)
			break;
	if (to == CLIENT && oracle->version > 1 && strcmp(method, "session/update") == 0)
		got_end_of_turn(oracle, text, len);
	else if (error != NULL)
		got_error(oracle, to, id, error, json_object_get(error, "data"), text, len);
	else if (tool != NULL && oracle->tool_errors)
		got_error(oracle, to, id, NULL, tool, text, len);
	else if (json_object_get(message, "result") != NULL)
		got_result(oracle, to, text, len);
	else if (spelling < SPELLINGS)
		got_own_cancel(oracle, to, (enum spelling)spelling, text, len);
	else if (strcmp(method, "session/cancel") == 0 && to == SERVER &&
	    oracle->protocol == &protocols[ACP])
		got_own_turn_cancel(oracle, text, len);
	else if (to == SERVER && oracle_is_probe(method))
		oracle_got_probe(oracle, text, len);
	else if (to == CLIENT && oracle->protocol->progress != NULL &&
	    strcmp(method, oracle->protocol->progress) == 0)
		oracle_got_beat(oracle, message, text, len);
	else if (to == CLIENT && oracle_got_list_change(oracle, method))
		return;
	else if (strcmp(method, "tasks/cancel") == 0)
		got_task_cancel(oracle, to, message);
	else
		oracle_blame(oracle, "3: canceld says %.*s", (int)(len < 300 ? len : 300), text);
}
