/*
 * What is too large for a scenario; everything else about the session is tested in test/scenario.
 */
#include "core/session/state.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"

enum { PIECE = LIMIT_READ, MAX_MESSAGE = 1 << 20, MEMORY_MAX = MAX_MESSAGE + 2 * PIECE };

static struct session *session;
static struct policy policy;

static int told[WHY_COUNT];
static struct action last_end; /* its spans are not valid any more */
static char end_words[256];

static void
on_action(void *user, const struct action *action)
{
	(void)user;
	if (action->verb != VERB_END) {
		told[action->why]++;
		return;
	}
	last_end = *action;
	snprintf(end_words, sizeof(end_words), "%.*s %.*s %.*s [%.*s] %.*s", (int)action->id.len,
	    action->id.ptr, (int)action->name.len, action->name.ptr, (int)action->outcome.len,
	    action->outcome.ptr, (int)action->detail.len, action->detail.ptr,
	    (int)action->traceparent.len, action->traceparent.ptr);
}

static void
open_session(struct span dialect, bool traffic_unseen)
{
	struct session_config config = {
		.dialect = dialect_named(dialect),
		.policy = &policy,
		.grace = MSEC_NEVER,
		.max_message = MAX_MESSAGE,
		.max_inflight = LIMIT_INFLIGHT,
	};

	session = session_new(&config, on_action, NULL, 0);
	session->journal.traffic_unseen = traffic_unseen;
}

static void
setup(void)
{
	open_session(SPAN("mcp"), false);
}

static void
teardown(void)
{
	session_free(session);
	policy_free(&policy);
}

/* Takes all bytes that the reader of this lane would read; returns their number. */
static uint64_t
take(enum side from)
{
	struct lane *lane = session->party[from].lane;
	uint64_t bytes = 0;
	struct span span;

	while (lane_output(lane, &span, 1) > 0) {
		bytes += span.len;
		lane_sent(lane, span.len);
	}
	return bytes;
}

static void
receive(enum side from, struct span bytes)
{
	buf_append(&session->party[from].lane->bytes, bytes);
}

static uint64_t
say(enum side from, struct span bytes)
{
	receive(from, bytes);
	session_hear(session, from);
	return take(from);
}

SUITE("session", .limit = 300, .before = setup, .after = teardown);

/*
 * What is longer than --max-message is thrown away: it needs no more memory than that and one read.
 */
TEST(an_endless_response_is_thrown_away)
{
	struct span call = SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n");
	static char text[PIECE];

	memset(text, 'x', sizeof(text));
	ck_assert_uint_eq(say(SIDE_CLIENT, call), call.len);
	say(SIDE_SERVER, SPAN("{\"jsonrpc\":\"2.0\",\"result\":\""));
	for (uint64_t said = 0; said < (uint64_t)1 << 32; said += sizeof(text)) {
		ck_assert_uint_eq(say(SIDE_SERVER, (struct span){ text, sizeof(text) }), 0);
		ck_assert_uint_le(lane_size(session->party[SIDE_SERVER].lane), MEMORY_MAX);
	}
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 1);
	ck_assert_uint_gt(say(SIDE_SERVER, SPAN("\",\"id\":1}\n")), 0);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 0);
	ck_assert_int_eq(told[WHY_OVERSIZED], 2);
}

/* A message with this id in the middle. */
static void
say_with(enum side from, const char *begin, int id, const char *end)
{
	char line[256];

	say(from,
	    (struct span){ line,
		(size_t)snprintf(line, sizeof(line), "%s%d%s\n", begin, id, end) });
}

SUITE("session", .before = setup, .after = teardown);

/*
 * Behind so many bytes that were read in vain no message is looked for: each brace could cost as
 * much.
 */
TEST(the_search_for_a_message_in_a_long_line_is_bounded)
{
	const char *id = "{\"jsonrpc\":\"2.0\",\"id\":";
	static char text[PIECE];

	session->config.max_message = LIMIT_MESSAGE;
	memset(text, 'x', sizeof(text));
	say_with(SIDE_CLIENT, id, 1, ",\"method\":\"tools/call\"}");
	for (int i = 0; i < 2; i++) {
		receive(SIDE_SERVER, SPAN("{\"text\":\""));
		for (size_t said = 0; said < (i == 0 ? LIMIT_SEARCHED : LIMIT_SEARCHED - PIECE);
		     said += PIECE)
			receive(SIDE_SERVER, (struct span){ text, PIECE });
		say_with(SIDE_SERVER, "\" {\"jsonrpc\":\"2.0\",\"id\":", 1, ",\"result\":{}}");
		ck_assert_int_eq(told[WHY_RECOVERED], i);
	}
}

/* Both sides together cannot make canceld wait for more answers than it may keep. */
TEST(unanswered_cancels_of_tasks_are_bounded)
{
	enum { MORE = 10 };
	const char *id = "{\"jsonrpc\":\"2.0\",\"id\":";
	const char *cancel =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":";
	int i;

	say_with(SIDE_CLIENT, id, 1, ",\"method\":\"initialize\",\"params\":{}}");
	say_with(SIDE_SERVER, id, 1,
	    ",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tasks\":{\"cancel\":{},"
	    "\"requests\":{\"tools\":{\"call\":{}}}}}}}");
	memset(told, 0, sizeof(told));
	for (i = 2; i < 2 + LIMIT_TASKS + MORE; i++) {
		say_with(SIDE_CLIENT, id, i,
		    ",\"method\":\"tools/call\",\"params\":{\"task\":{}}}");
		say_with(SIDE_CLIENT, cancel, i, "}}");
		say_with(SIDE_SERVER, id, i,
		    ",\"result\":{\"task\":{\"taskId\":\"k\",\"status\":\"working\"}}}");
	}
	ck_assert_int_eq(told[WHY_TASK_CANCEL_SENT], LIMIT_TASKS);
	ck_assert_int_eq(told[WHY_CANCEL_WITHHELD], LIMIT_TASKS + 2 * MORE);
	ck_assert_int_eq(told[WHY_LATE], LIMIT_TASKS + MORE);
}

/* Of too many tasks the oldest is forgotten, and its token with it. */
TEST(the_tokens_of_tasks_are_bounded)
{
	const char *id = "{\"jsonrpc\":\"2.0\",\"id\":";
	const char *progress =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1,"
	    "\"progressToken\":";
	int i;

	say_with(SIDE_CLIENT, id, 1, ",\"method\":\"initialize\",\"params\":{}}");
	say_with(SIDE_SERVER, id, 1,
	    ",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tasks\":{"
	    "\"requests\":{\"tools\":{\"call\":{}}}}}}}");
	memset(told, 0, sizeof(told));
	for (i = 2; i < 3 + LIMIT_TASKS; i++) {
		char rest[128];

		snprintf(rest, sizeof(rest),
		    ",\"method\":\"tools/call\",\"params\":{\"task\":{},\"_meta\":{\"progressToken\":%d}}}",
		    i);
		say_with(SIDE_CLIENT, id, i, rest);
		snprintf(rest, sizeof(rest),
		    ",\"result\":{\"task\":{\"taskId\":\"t%d\",\"status\":\"working\"}}}", i);
		say_with(SIDE_SERVER, id, i, rest);
	}
	for (i = 3; i < 3 + LIMIT_TASKS; i++)
		say_with(SIDE_SERVER, progress, i, "}}");
	ck_assert_int_eq(told[WHY_LATE_PROGRESS], 0);
	say_with(SIDE_SERVER, progress, 2, "}}");
	ck_assert_int_eq(told[WHY_LATE_PROGRESS], 1);
}

SUITE("session");

/* Unseen traffic is counted, and not reported. */
TESTS(unseen_traffic_is_only_counted, 0, 2)
{
	struct span request = SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
	struct span stray = SPAN("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");

	memset(told, 0, sizeof(told));
	open_session(SPAN("mcp"), _i == 1);
	ck_assert_uint_eq(say(SIDE_CLIENT, request), request.len);
	ck_assert_uint_eq(say(SIDE_SERVER, stray), 0);
	ck_assert_uint_eq(session->journal.counts[WHY_RELAYED], 1);
	ck_assert_uint_eq(session->journal.counts[WHY_STRAY], 1);
	ck_assert_int_eq(told[WHY_RELAYED], _i == 0);
	ck_assert_int_eq(told[WHY_STRAY], 1);
	session->journal.traffic_unseen = _i != 1;
	say(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}\n"));
	ck_assert_uint_eq(session->journal.counts[WHY_RELAYED], 2);
	ck_assert_int_eq(told[WHY_RELAYED], 1);
	teardown();
}

SUITE("session", .before = setup, .after = teardown);

/* ACP: what concerns a session is done for each of its requests. */
TEST(the_requests_of_an_acp_session_are_bounded)
{
	char text[128];

	session_free(session);
	policy_free(&policy);
	open_session(SPAN("acp"), false);
	for (int i = 1; i <= LIMIT_SESSION + 2; i++) {
		snprintf(text, sizeof(text),
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"%s\"}}\n",
		    i, i < LIMIT_SESSION + 2 ? "s" : "other");
		receive(SIDE_CLIENT, span_of(text));
		session_hear(session, SIDE_CLIENT);
	}
	ck_assert_int_eq(told[WHY_TOO_MANY], 1);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), LIMIT_SESSION + 1);
	for (int i = 1; i <= LIMIT_SESSION + 2; i++) {
		snprintf(text, sizeof(text),
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"terminal/kill\",\"params\":{\"sessionId\":\"s\"}}\n",
		    i);
		say(SIDE_SERVER, span_of(text));
	}
	ck_assert_int_eq(told[WHY_TOO_MANY], 1);
	ck_assert_uint_eq(session_outstanding(session, SIDE_SERVER), LIMIT_SESSION + 2);
}

/*
 * A client that uses one id for all its requests: each gets a fresh one on the wire, as far as
 * there is room.
 */
TEST(the_requests_under_one_id_are_bounded)
{
	session_free(session);
	policy_free(&policy);
	memset(told, 0, sizeof(told));
	open_session(SPAN("mcp"), false);
	for (int i = 0; i < LIMIT_EQUAL_IDS + 2; i++) {
		receive(SIDE_CLIENT,
		    SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n"));
		session_hear(session, SIDE_CLIENT);
	}
	receive(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"));
	session_hear(session, SIDE_CLIENT);
	ck_assert_int_eq(told[WHY_TOO_MANY], 2);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), LIMIT_EQUAL_IDS + 1);
}

/* In one read. */
static void
ask_often(int count)
{
	char line[64];
	int len;

	for (int i = 0; i < count; i++) {
		len = snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}\n", i);
		receive(SIDE_CLIENT, (struct span){ line, (size_t)len });
	}
	session_hear(session, SIDE_CLIENT);
	take(SIDE_CLIENT);
}

/*
 * Of many requests that a server leaves, or that come when it has gone, the errors to the first
 * ones quote it.
 */
TEST(the_quotes_in_errors_are_bounded)
{
	enum { MANY = 4096, PLAIN = 256 };
	static char words[LIMIT_LAST_WORDS];

	memset(words, 'x', sizeof(words));
	ask_often(MANY);
	session_quote(session, (struct span){ words, sizeof(words) });
	session_server_gone(session, 1, -1, true);
	for (int i = 1; i < 4; i++) {
		uint64_t len = take(SIDE_SERVER);

		ck_assert_uint_gt(len, LIMIT_QUOTED + PLAIN * MANY / 2);
		ck_assert_uint_lt(len, LIMIT_QUOTED + PLAIN * MANY);
		ck_assert_int_eq(told[WHY_SERVER_GONE], i * MANY);
		ask_often(MANY);
	}
}

/*
 * A message is read to its end although its bytes are dropped first, and with them all of a large
 * buffer.
 */
TEST(a_dropped_message_stays_readable)
{
	static char text[MAX_MESSAGE / 2];
	struct span before = SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"");
	struct span half = SPAN("{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"$/canceld/can");
	struct span rest = SPAN("cel\",\"params\":{\"id\":1}}\n"), output;

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 12; i++) {
		receive(SIDE_CLIENT, before);
		receive(SIDE_CLIENT, (struct span){ text, sizeof(text) });
		receive(SIDE_CLIENT, SPAN("\"}\n"));
	}
	say(SIDE_CLIENT, half);
	say(SIDE_CLIENT, rest);
	ck_assert_int_eq(lane_output(session->party[SIDE_SERVER].lane, &output, 1), 1);
	ck_assert_ptr_nonnull(memmem(output.ptr, output.len, "\"id\":77", strlen("\"id\":77")));
	ck_assert_uint_eq(lane_size(session->party[SIDE_CLIENT].lane), 0);
	ck_assert_uint_eq(session->party[SIDE_CLIENT].lane->bytes.cap, 0);
}

/* The memory of a long request goes with the request, also if it is never written. */
TEST(a_withdrawn_message_takes_no_memory)
{
	struct span param = SPAN(",\"method\":\"tools/list\",\"params\":\"");
	static char text[MAX_MESSAGE / 2];

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 12; i++) {
		char begin[64];

		snprintf(begin, sizeof(begin), "{\"jsonrpc\":\"2.0\",\"id\":%d", i);
		receive(SIDE_CLIENT, span_of(begin));
		receive(SIDE_CLIENT, param);
		receive(SIDE_CLIENT, (struct span){ text, sizeof(text) });
		receive(SIDE_CLIENT, SPAN("\"}\n"));
	}
	session_hear(session, SIDE_CLIENT);
	session_set_time(session, TIME_IDLE);
	session_expire(session, true);
	ck_assert_int_eq(told[WHY_TIMED_OUT], 12);
	ck_assert_uint_eq(session->party[SIDE_CLIENT].lane->bytes.cap, 0);
}

/*
 * ... and that of a long answer which goes ahead of the queue, to a server that was asked whether
 * it is alive.
 */
TEST(an_urgent_message_takes_no_memory_once_it_is_written)
{
	const char *id = "{\"jsonrpc\":\"2.0\",\"id\":";
	static char text[MAX_MESSAGE * 5];

	session->config.kill_stuck = TIME_STUCK;
	session->config.max_message = sizeof(text) * 2;
	memset(text, 'x', sizeof(text));
	say_with(SIDE_CLIENT, id, 1, ",\"method\":\"tools/list\"}");
	say_with(SIDE_SERVER, id, 2, ",\"method\":\"roots/list\"}");
	say(SIDE_CLIENT,
	    SPAN(
		"{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1},\"jsonrpc\":\"2.0\"}\n"));
	receive(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\""));
	receive(SIDE_CLIENT, (struct span){ text, sizeof(text) });
	ck_assert_uint_gt(say(SIDE_CLIENT, SPAN("\"}\n")), sizeof(text));
	ck_assert_ptr_nonnull(session->server.probe);
	ck_assert_uint_eq(session->party[SIDE_CLIENT].lane->urgent.cap, 0);
	ck_assert_uint_eq(session->outlet.scratch.cap, 0);
}

/* LSP: as many elements as the server asks for, if they are not too many. */
TESTS(a_repeated_answer_is_bounded, 0, 3)
{
	static const char result[] = "[\"0123456\"]";
	size_t fitting = LIMIT_ANSWER / (sizeof(result) - strlen("[]"));
	const size_t items[] = { fitting, fitting + 1, LIMIT_ANSWER + 1 };

	policy_add(&policy, POLICY_OPTION, POLICY_ANSWER, SPAN("workspace/configuration"),
	    SPAN_NONE, 0, span_of(result));
	session_free(session);
	memset(told, 0, sizeof(told));
	open_session(SPAN("lsp"), false);
	session->config.max_message = 4 * LIMIT_ANSWER;
	receive(SIDE_SERVER,
	    SPAN(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"workspace/configuration\",\"params\":{\"items\":[0"));
	for (size_t i = 1; i < items[_i]; i++)
		receive(SIDE_SERVER, SPAN(",0"));
	say(SIDE_SERVER, SPAN("]}}\n"));
	ck_assert_int_eq(told[WHY_ANSWERED_FOR_CLIENT], _i == 0);
	ck_assert_int_eq(told[WHY_RELAYED], _i > 0);
}

/* What is no message in a long array is not read for ever. */
TESTS(the_elements_of_a_batch_are_bounded, 0, 2)
{
	const char *message = "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}";

	memset(told, 0, sizeof(told));
	receive(SIDE_CLIENT, SPAN("["));
	for (int i = 1; i < LIMIT_ELEMENTS + _i; i++)
		receive(SIDE_CLIENT, SPAN("1,"));
	receive(SIDE_CLIENT, span_of(message));
	say(SIDE_CLIENT, SPAN("]\n"));
	ck_assert_int_eq(told[WHY_BATCH], _i == 0);
	ck_assert_int_eq(told[WHY_INVALID_REQUEST], _i == 1);
}

/*
 * An answer behind them passes with its batch, and answers nothing; nor is it answered for in a
 * batch that is refused.
 */
TESTS(what_is_behind_the_elements_of_a_batch_is_not_read, 0, 4)
{
	static const char *const first[] = { "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"id\":3,\"method\":\"m\"}" };
	bool behind = _i % 2;

	say(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n"));
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 1);
	receive(SIDE_SERVER, SPAN("["));
	receive(SIDE_SERVER, span_of(first[_i / 2]));
	for (int i = 2; i < LIMIT_ELEMENTS + behind; i++)
		receive(SIDE_SERVER, SPAN(",1"));
	say(SIDE_SERVER, SPAN(",{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]\n"));
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), behind);
}

SUITE("session", .limit = 300, .before = setup, .after = teardown);

/*
 * Tombstones beyond the limit go oldest first, whatever stands before them; what that costs is
 * bench-scale's matter.
 */
TEST(the_tombstones_are_bounded_behind_many_open_requests)
{
	enum { OPEN = LIMIT_INFLIGHT - 1, CANCELLED = LIMIT_TOMBSTONES + 20000 };
	const char *cancel =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":";
	const struct pending *pending = &session->party[SIDE_SERVER].pending;

	for (int id = 0; id < OPEN + CANCELLED; id++) {
		say_with(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":", id,
		    ",\"method\":\"roots/list\"}");
		if (id >= OPEN)
			say_with(SIDE_SERVER, cancel, id, "}}");
	}
	ck_assert_uint_eq(pending->in_state[REQUEST_ABANDONED], LIMIT_TOMBSTONES);
	ck_assert_uint_eq(pending->in_state[REQUEST_WAITING], OPEN);
	ck_assert_int_eq(told[WHY_FORGOTTEN], CANCELLED - LIMIT_TOMBSTONES);
	ck_assert_ptr_null(pending_find(pending, id_of(SPAN("85534")), NAME_ID));
	ck_assert_ptr_nonnull(pending_find(pending, id_of(SPAN("85535")), NAME_ID));
}

/*
 * What is kept of a request takes no more memory than it needs, and nothing once nobody awaits the
 * answer.
 */
TEST(progress_takes_its_own_size)
{
	const char *progress =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":";
	const struct request *request;

	session->config.observed = true;
	say(SIDE_CLIENT,
	    SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"_meta\":"
		 "{\"progressToken\":1}}}\n"));
	request = session->party[SIDE_CLIENT].pending.oldest;
	say_with(SIDE_SERVER, progress, 1, ",\"progress\":1}}");
	ck_assert_uint_gt(request->progress.len, 0);
	ck_assert_uint_eq(request->progress.cap, request->progress.len);
	for (int more = 0; more < 2; more++) {
		char line[LIMIT_PROGRESS + 2];
		int len = snprintf(line, sizeof(line), "%s1,\"progress\":2%*s", progress,
		    LIMIT_PROGRESS - (int)strlen(progress) - 14 + more, "}}");

		line[len] = '\n';
		say(SIDE_SERVER, span_at(line, (size_t)len + 1));
		ck_assert_uint_eq(request->progress.len, more ? 0 : LIMIT_PROGRESS);
	}
	say_with(SIDE_SERVER, progress, 1, ",\"progress\":3}}");
	ck_assert_uint_gt(request->progress.len, 0);
	say_with(SIDE_CLIENT,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":",
	    1, "}}");
	ck_assert_uint_eq(request->state, REQUEST_ABANDONED);
	ck_assert_uint_eq(request->progress.cap, 0);
	say_with(SIDE_SERVER, progress, 1, ",\"progress\":2}}");
	ck_assert_uint_eq(request->progress.cap, 0);
}

/*
 * A server that reads no more is not hurried while it may write an answer: in a batch, for a grace,
 * and in a session that is not understood, as long as it likes.
 */
TEST(a_server_may_owe_what_is_not_tracked)
{
	ck_assert(!session_server_owes(session));
	say(SIDE_CLIENT, SPAN("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}]\n"));
	ck_assert(session_server_owes(session));
	session_set_time(session, TIME_GRACE - 1);
	ck_assert(session_server_owes(session));
	session_set_time(session, TIME_GRACE);
	ck_assert(!session_server_owes(session));
	session_free(session);
	open_session(SPAN_NONE, false);
	say(SIDE_CLIENT, SPAN("PRI * HTTP/2.0\r\n"));
	session_set_time(session, TIME_GRACE);
	ck_assert(session_server_owes(session));
}

TEST(messages_are_written_together_up_to_an_urgent_one)
{
	const struct span two = SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n"
				     "{\"jsonrpc\":\"2.0\",\"method\":\"b\"}\n");
	struct lane *lane = session->party[SIDE_CLIENT].lane;
	struct span spans[2];

	receive(SIDE_CLIENT, two);
	session_hear(session, SIDE_CLIENT);
	ck_assert_int_eq(lane_output(lane, spans, 2), 1);
	ck_assert(span_equal(spans[0], two));
	lane_sent(lane, 1);
	lane_overtake(lane, SPAN("{}"));
	ck_assert_int_eq(lane_output(lane, spans, 2), 1);
	ck_assert_uint_eq(spans[0].len, two.len / 2 - 1);
	lane_sent(lane, spans[0].len);
	ck_assert_int_eq(lane_output(lane, spans, 2), 1);
	ck_assert(span_equal(spans[0], SPAN("{}\n")));
	lane_sent(lane, spans[0].len);
	ck_assert_int_eq(lane_output(lane, spans, 2), 1);
	ck_assert(span_equal(spans[0], span_from(two, two.len / 2)));
}

/* A client that does not read is not told for ever; one that reads again is. */
TEST(what_is_told_of_a_silent_server_is_bounded)
{
	const struct lane *lane = session->party[SIDE_SERVER].lane;
	msec_t now = 0;
	int sent;

	session->config.heartbeat = 1000;
	say(SIDE_CLIENT,
	    SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"_meta\":"
		 "{\"progressToken\":1}}}\n"));
	for (int i = 0; i < 1000; i++) {
		session_set_time(session, now += 1000);
		session_expire(session, true);
	}
	sent = told[WHY_HEARTBEAT_SENT];
	ck_assert_int_lt(sent, 999);
	ck_assert_uint_ge(lane_own(lane), LIMIT_BEATS_OWN);
	ck_assert_uint_lt(lane_own(lane), LIMIT_BEATS_OWN + 256);
	take(SIDE_SERVER);
	session_set_time(session, now += 1000);
	session_expire(session, true);
	ck_assert_int_eq(told[WHY_HEARTBEAT_SENT], sent + 1);
}

static void
expect_end(enum tally tally, enum why why, bool at_once, const char *words)
{
	ck_assert_str_eq(tally_word(last_end.tally), tally_word(tally));
	ck_assert_str_eq(why_word(last_end.why), why_word(why));
	ck_assert(last_end.at_once == at_once);
	ck_assert_str_eq(end_words, words);
}

#define CALL_WITH(id, meta) \
	SPAN("{\"jsonrpc\":\"2.0\",\"id\":" id \
	     ",\"method\":\"tools/call\",\"params\":{\"name\":\"t\"" meta "}}\n")

/*
 * What the statistics and the history are made of: without the reason of a client, which is of a
 * message.
 */
TEST(the_end_of_a_request_tells_why)
{
	say(SIDE_CLIENT, CALL_WITH("1", ""));
	say(SIDE_SERVER, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
	expect_end(TALLY_ANSWERED, WHY_RELAYED, true, "1 t  [] ");
	say(SIDE_CLIENT, CALL_WITH("2", ",\"_meta\":{\"traceparent\":\"00-1\"}"));
	session_set_time(session, 50);
	say(SIDE_SERVER, SPAN("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"isError\":true}}\n"));
	expect_end(TALLY_FAILED, WHY_RELAYED, false, "2 t isError [] \"00-1\"");
	ck_assert_int_eq(last_end.elapsed, 50);
	say(SIDE_CLIENT, CALL_WITH("3", ""));
	say(SIDE_CLIENT,
	    SPAN(
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3,"
		"\"reason\":\"why not\"}}\n"));
	expect_end(TALLY_CANCELLED, WHY_CANCEL_FORWARDED, false, "3 t  [] ");
	say(SIDE_CLIENT, CALL_WITH("4", ""));
	session_set_time(session, 60);
	ck_assert_int_eq(session_cancel(session, SIDE_CLIENT, SPAN("4"), 0, SPAN("by me")),
	    CANCELLING_DONE);
	expect_end(TALLY_BY_PERSON, WHY_OPERATOR_CANCELLED, false, "4 t  [by me] ");
}

TEST(records_take_their_own_size)
{
	session->config.restarts = true;
	say(SIDE_CLIENT,
	    SPAN(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"f:/1\"}}\n"));
	say(SIDE_SERVER, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
	ck_assert_uint_eq(session->records.count, 1);
	ck_assert_uint_eq(session->records.list[0].text.cap, session->records.bytes);
	ck_assert_uint_eq(session->records.list[0].name.cap, strlen("f:/1"));
}

/* An agent that can open a session again, behind a canceld that starts it again. */
static void
begin_with_agent(void)
{
	session->config.restarts = true;
	session->handshake.dialect = &dialect_acp;
	say(SIDE_CLIENT,
	    SPAN(
		"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n"));
	say(SIDE_SERVER,
	    SPAN(
		"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{\"protocolVersion\":1,\"agentCapabilities\":"
		"{\"loadSession\":true}}}\n"));
}

/* Opens the sessions s0 and so on, from the first one up to the end. */
static void
open_sessions(int first, int end)
{
	char line[256];

	for (int i = first; i < end; i++) {
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\"}}\n",
		    i);
		say(SIDE_CLIENT, span_of(line));
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"sessionId\":\"s%d\"}}\n", i, i);
		say(SIDE_SERVER, span_of(line));
	}
}

TEST(so_many_sessions_of_an_agent_are_opened_again)
{
	begin_with_agent();
	for (int i = 1; i <= LIMIT_REOPENED + 1; i++) {
		ck_assert_uint_eq(session->journal.counts[WHY_UNRECORDED], 0);
		open_sessions(i, i + 1);
	}
	ck_assert_uint_eq(session->journal.counts[WHY_UNRECORDED], 1);
	ck_assert_uint_eq(session->records.count, 1 + LIMIT_REOPENED);
}

/* A new agent answers all that it is asked, and opens only the session with this id again. */
static void
replace_agent(struct span opened)
{
	const struct request *question;
	char line[256];

	session_server_gone(session, -1, 9, false);
	session_server_back(session);
	while ((question = session->client.questions.oldest) != NULL) {
		bool refuses =
		    question->token.text.len > 0 && !span_equal(question->token.text, opened);

		snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%.*s,%s}\n",
		    (int)question->id.text.len, question->id.text.ptr,
		    refuses ?
			"\"error\":{\"code\":-32002,\"message\":\"not found\"}" :
			"\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true}}");
		say(SIDE_SERVER, span_of(line));
	}
	ck_assert_int_eq(session->server.life, SERVER_OPEN);
}

TEST(the_sessions_that_no_agent_has_opened_are_bounded)
{
	begin_with_agent();
	open_sessions(0, LIMIT_REOPENED);
	replace_agent(SPAN("\"s0\""));
	ck_assert_uint_eq(session->records.lost.count, LIMIT_REOPENED - 1);
	open_sessions(LIMIT_REOPENED, LIMIT_REOPENED + 2);
	replace_agent(SPAN("\"s65\""));
	ck_assert_uint_eq(session->records.lost.count, LIMIT_REOPENED);
	ck_assert(id_equal(session->records.lost.oldest->id.text, SPAN("\"s2\"")));
}

/* Requests under one id, of which a person means the older one. */
TEST(a_request_is_cancelled_by_its_serial)
{
	struct request *first;

	say(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n"));
	say(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/list\"}\n"));
	first = session->client.pending.oldest;
	ck_assert_int_eq(session_cancel(session, SIDE_CLIENT, SPAN("1"), first->serial, SPAN_NONE),
	    CANCELLING_DONE);
	ck_assert_int_eq(first->state, REQUEST_ABANDONED);
	ck_assert_int_eq(first->newer->state, REQUEST_WAITING);
	ck_assert_int_eq(session_cancel(session, SIDE_CLIENT, SPAN("1"), first->newer->serial + 2,
			     SPAN_NONE),
	    CANCELLING_NONE);
}

/* Sends a call with so long an argument. */
static void
say_call(int id, int argument)
{
	char *line = mem_new((size_t)argument + 256);
	int len = snprintf(line, (size_t)argument + 256,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%0*d\"}}\n",
	    id, argument, 0);

	say(SIDE_CLIENT, (struct span){ line, (size_t)len });
	free(line);
}

static void
open_parallel(void)
{
	session_free(session);
	policy_add(&policy, POLICY_OPTION, POLICY_PARALLEL, SPAN(""), SPAN(""), 1, SPAN_NONE);
	open_session(SPAN("mcp"), false);
	memset(told, 0, sizeof(told));
}

SUITE("session", .before = setup, .after = teardown);

TEST(what_waits_for_a_place_is_of_bounded_size)
{
	const struct pending *asked;
	enum { PART = LIMIT_HELD / 8 };
	int id;

	open_parallel();
	asked = &session->party[SIDE_CLIENT].pending;
	for (id = 1; told[WHY_TOO_MANY] == 0 && id < 100; id++)
		say_call(id, PART);
	ck_assert_int_eq(told[WHY_HELD], 8);
	ck_assert_uint_ge(asked->held, LIMIT_HELD);
	ck_assert_uint_le(asked->held, LIMIT_HELD + PART);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 9);
	say(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n"));
	ck_assert_int_eq(told[WHY_TOO_MANY], 1);
	say(SIDE_SERVER, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
	ck_assert_uint_gt(take(SIDE_CLIENT), PART);
	say_call(id, PART);
	ck_assert_int_eq(told[WHY_TOO_MANY], 1);
}

/* With -r, for another server: the longer one is, the fewer are outstanding with it. */
TEST(what_is_kept_of_what_was_sent_is_of_bounded_size)
{
	const struct pending *asked;
	const struct request *request;
	int kept = 0;

	session->config.restarts = true;
	asked = &session->client.pending;
	say_call(1, 1);
	ck_assert_uint_gt(asked->newest->copy->text.len, 0);
	ck_assert_uint_le(asked->newest->copy->text.len, 1 << 10);
	for (int id = 2; id <= 20; id++)
		say_call(id, LIMIT_HELD / 8);
	each_request (request, asked)
		kept += request->copy != NULL;
	ck_assert_int_eq(kept, 1 + 6);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 20);
}

/* A message that was half written goes before it, and so do its bytes. */
TESTS(what_the_server_has_not_read_is_known_to_the_byte, 0, 2)
{
	static const char notice[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n";
	struct lane *lane;
	struct span span;
	size_t len;

	open_parallel();
	session->config.restarts = true;
	lane = session->client.lane;
	say_call(1, 1);
	say_call(2, 1);
	receive(SIDE_CLIENT, SPAN(notice));
	session_hear(session, SIDE_CLIENT);
	ck_assert_int_eq(lane_output(lane, &span, 1), 1);
	lane_sent(lane, span.len / 2);
	say(SIDE_SERVER, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
	ck_assert_int_eq(told[WHY_RELEASED], 1);
	len = lane->urgent.len;
	ck_assert_uint_eq(take(SIDE_CLIENT), strlen(notice) - span.len / 2 + len);
	lane->unread = (unsigned)len - (unsigned)_i;
	session_server_gone(session, -1, 9, false);
	ck_assert_int_eq(told[WHY_SERVER_LOST], _i);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), _i == 0);
}

/* Nothing is sought among those that wait, not even when one in their middle is cancelled. */
TEST(many_requests_that_wait_cost_no_more_each)
{
	enum { MANY = 30000 };

	open_parallel();
	for (int id = 0; id < MANY; id++)
		say_call(id, 1);
	ck_assert_int_eq(told[WHY_HELD], MANY - 1);
	for (int id = MANY / 2; id < MANY; id += 2)
		say_with(SIDE_CLIENT,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":",
		    id, "}}");
	for (int id = 0; id < MANY; id++) {
		say_with(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":{}}");
		take(SIDE_CLIENT);
	}
	ck_assert_int_eq(told[WHY_CANCEL_UNSENT], MANY / 4);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 0);
	ck_assert_uint_eq(session->party[SIDE_CLIENT].pending.held, 0);
}

/* ... nor where places are free, and the server has gone. */
TEST(what_waits_for_another_server_is_of_bounded_size)
{
	enum { PART = LIMIT_HELD / 8 };

	open_parallel();
	session->config.restarts = true;
	say_call(1, 1);
	say_call(2, 1);
	session_server_gone(session, -1, 9, false);
	for (int id = 3; told[WHY_TOO_MANY] == 0 && id < 100; id++)
		say_call(id, PART);
	ck_assert_uint_le(session->party[SIDE_CLIENT].pending.held, LIMIT_HELD + PART);
	ck_assert_int_eq(told[WHY_TOO_MANY], 1);
}

static void
open_acp_2(void)
{
	session_free(session);
	policy_free(&policy);
	open_session(SPAN("acp"), false);
	say_with(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":", 0,
	    ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":2}}");
	say_with(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":", 0,
	    ",\"result\":{\"protocolVersion\":2,\"agentCapabilities\":{}}}");
	memset(told, 0, sizeof(told));
}

/* ACP v2: turns that the agent has begun by itself are known, up to a number of sessions. */
TEST(the_turns_of_agents_are_bounded)
{
	static const char update[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s";
	static const char running[] =
	    "\",\"update\":{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}}}";

	open_acp_2();
	ck_assert(!session_turn_runs(session));
	for (int i = 0; i < LIMIT_TURNS + 2; i++)
		say_with(SIDE_SERVER, update, i, running);
	ck_assert(session_turn_runs(session));
	ck_assert_uint_eq(session->turns.count, LIMIT_TURNS);
}

/* Also requests that canceld cannot track are asked, until they are written. */
TEST(what_is_not_tracked_is_asked_until_it_is_written)
{
	char line[1200];

	snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":\"%01100d\",\"method\":\"ping\"}\n", 0);
	ck_assert(!session_asks(session));
	receive(SIDE_CLIENT, span_of(line));
	session_hear(session, SIDE_CLIENT);
	ck_assert(session_asks(session));
	take(SIDE_CLIENT);
	ck_assert(!session_asks(session));
}

/* Only so many acknowledged cancels wait for the end of their request; the last wait in vain. */
TEST(the_acknowledgements_that_wait_are_bounded)
{
	static const char id[] = "{\"jsonrpc\":\"2.0\",\"id\":";
	char cancel[128];

	session->config.answer_cancelled = true;
	for (int i = 0; i < 2 * (LIMIT_ACKS + 2); i += 2) {
		size_t waiting = 0;

		say_with(SIDE_CLIENT, id, i,
		    ",\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}");
		snprintf(cancel, sizeof(cancel),
		    ",\"method\":\"$/canceld/cancel\",\"params\":{\"id\":%d}}", i);
		say_with(SIDE_CLIENT, id, i + 1, cancel);
		for (const struct ack *ack = session->client.acks; ack != NULL; ack = ack->next)
			waiting++;
		ck_assert_uint_le(waiting, LIMIT_ACKS);
	}
	ck_assert_ptr_nonnull(session->client.acks);
}
