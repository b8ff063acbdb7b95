/* What is too large for a scenario; everything else about the session is tested in test/scenario. */
#include "core/session.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/limits.h"

Suite *session_suite(void);

enum { PIECE = LIMIT_READ, MEMORY_MAX = LIMIT_HOLD + 2 * PIECE };

static struct session *session;
static struct policy policy;

static int told[WHY_COUNT];

static void
on_action(void *user, const struct action *action)
{
	(void)user;
	told[action->why]++;
}

static void
open_session(struct span dialect, bool traffic_unseen)
{
	struct session_config config = {
		.dialect = dialect_named(dialect),
		.policy = &policy,
		.grace = MSEC_NEVER,
		.max_message = LIMIT_MESSAGE,
		.max_inflight = LIMIT_INFLIGHT,
	};

	policy_init(&policy);
	session = session_new(&config, on_action, NULL, 0);
	session_show_traffic(session, !traffic_unseen);
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
	struct lane *lane = session_lane(session, from);
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
	struct lane *lane = session_lane(session, from);
	size_t room;
	char *space = lane_space(lane, bytes.len, &room);

	memcpy(space, bytes.ptr, bytes.len);
	lane_received(lane, bytes.len);
}

static uint64_t
say(enum side from, struct span bytes)
{
	receive(from, bytes);
	session_hear(session, from, 0);
	return take(from);
}

#define TEXT(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

static const struct {
	struct span head, end;
	uint64_t len; /* of the string in between */
} responses[] = {
	{ TEXT("{\"jsonrpc\":\"2.0\",\"result\":\""), TEXT("\",\"id\":1}\n"), (uint64_t)1 << 32 },
	{ TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\""), TEXT("\"}\n"), (uint64_t)1 << 28 },
};

/* A response longer than 2^32 bytes needs no more memory than one read and the limit for a held message. */
START_TEST(an_endless_response_takes_no_memory)
{
	struct span call = SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n");
	static char text[PIECE];
	uint64_t taken;

	memset(text, 'x', sizeof(text));
	ck_assert_uint_eq(say(SIDE_CLIENT, call), call.len);
	taken = say(SIDE_SERVER, responses[_i].head);
	for (uint64_t said = 0; said < responses[_i].len; said += sizeof(text)) {
		taken += say(SIDE_SERVER, (struct span){ text, sizeof(text) });
		ck_assert_uint_le(lane_size(session_lane(session, SIDE_SERVER)), MEMORY_MAX);
	}
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 1);
	taken += say(SIDE_SERVER, responses[_i].end);
	ck_assert_uint_eq(taken, responses[_i].head.len + responses[_i].len + responses[_i].end.len);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 0);
	ck_assert_uint_eq(say(SIDE_CLIENT, call), call.len);
	ck_assert_uint_gt(say(SIDE_SERVER, SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")), 0);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), 0);
}
END_TEST

/* The server that sent the request has gone while the client's answer was passing in parts: the rest is dropped. */
START_TEST(an_answer_ends_with_its_server)
{
	struct span opens = SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n");
	struct span opened = SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"}}\n");
	struct span asks = SPAN("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n");
	struct span answers = SPAN("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"");
	static char text[2 * PIECE];

	memset(text, 'x', sizeof(text));
	ck_assert_uint_eq(say(SIDE_CLIENT, opens), opens.len);
	ck_assert_uint_eq(say(SIDE_SERVER, opened), opened.len);
	ck_assert_uint_eq(say(SIDE_SERVER, asks), asks.len);
	say(SIDE_CLIENT, answers);
	ck_assert_uint_gt(say(SIDE_CLIENT, (struct span){ text, sizeof(text) }), 0);
	ck_assert_uint_eq(session_outstanding(session, SIDE_SERVER), 1);
	session_server_lost(session, -1, 9, 0);
	ck_assert_uint_eq(session_outstanding(session, SIDE_SERVER), 0);
	session_server_back(session, 0);
	say(SIDE_CLIENT, SPAN("\"}\n"));
	ck_assert_uint_eq(session_outstanding(session, SIDE_SERVER), 0);
}
END_TEST

/* A message with this id in the middle. */
static void
say_with(enum side from, const char *begin, int id, const char *end)
{
	char line[256];

	say(from, (struct span){ line, (size_t)snprintf(line, sizeof(line), "%s%d%s\n", begin, id, end) });
}

/* Both sides together cannot make canceld wait for more answers than it may keep. */
START_TEST(unanswered_cancels_of_tasks_are_bounded)
{
	enum { MORE = 10 };
	const char *id = "{\"jsonrpc\":\"2.0\",\"id\":";
	const char *cancel = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":";
	int i;

	say_with(SIDE_CLIENT, id, 1, ",\"method\":\"initialize\",\"params\":{}}");
	say_with(SIDE_SERVER, id, 1,
	    ",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tasks\":{\"cancel\":{},"
	    "\"requests\":{\"tools\":{\"call\":{}}}}}}}");
	memset(told, 0, sizeof(told));
	for (i = 2; i < 2 + LIMIT_TASKS + MORE; i++) {
		say_with(SIDE_CLIENT, id, i, ",\"method\":\"tools/call\",\"params\":{\"task\":{}}}");
		say_with(SIDE_CLIENT, cancel, i, "}}");
		say_with(SIDE_SERVER, id, i, ",\"result\":{\"task\":{\"taskId\":\"k\",\"status\":\"working\"}}}");
	}
	ck_assert_int_eq(told[WHY_TASK_CANCEL_SENT], LIMIT_TASKS);
	ck_assert_int_eq(told[WHY_CANCEL_WITHHELD], LIMIT_TASKS + 2 * MORE);
	ck_assert_int_eq(told[WHY_LATE], LIMIT_TASKS + MORE);
}
END_TEST

/* Unseen traffic is counted, and not reported. */
START_TEST(unseen_traffic_is_only_counted)
{
	struct span request = SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\r\n");
	struct span stray = SPAN("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");

	memset(told, 0, sizeof(told));
	open_session(SPAN("mcp"), _i == 1);
	ck_assert_uint_eq(say(SIDE_CLIENT, request), request.len - 1);
	ck_assert_uint_eq(say(SIDE_SERVER, stray), 0);
	ck_assert_uint_eq(session_journal(session)->counts[WHY_RELAYED], 1);
	ck_assert_uint_eq(session_journal(session)->counts[WHY_CR_STRIPPED], 1);
	ck_assert_uint_eq(session_journal(session)->counts[WHY_STRAY], 1);
	ck_assert_int_eq(told[WHY_RELAYED], _i == 0);
	ck_assert_int_eq(told[WHY_CR_STRIPPED], _i == 0);
	ck_assert_int_eq(told[WHY_STRAY], 1);
	session_show_traffic(session, _i == 1);
	say(SIDE_CLIENT, SPAN("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}\n"));
	ck_assert_uint_eq(session_journal(session)->counts[WHY_RELAYED], 2);
	ck_assert_int_eq(told[WHY_RELAYED], 1);
	teardown();
}
END_TEST

/* ACP: what concerns a session is done for each of its requests. */
START_TEST(the_requests_of_an_acp_session_are_bounded)
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
		session_hear(session, SIDE_CLIENT, 0);
	}
	ck_assert_int_eq(told[WHY_TOO_MANY], 1);
	ck_assert_uint_eq(session_outstanding(session, SIDE_CLIENT), LIMIT_SESSION + 1);
}
END_TEST

Suite *
session_suite(void)
{
	Suite *suite = suite_create("session");
	TCase *large = tcase_create("large"), *small = tcase_create("small"), *first = tcase_create("first");

	tcase_add_checked_fixture(large, setup, teardown);
	tcase_set_timeout(large, 300);
	tcase_add_checked_fixture(first, setup, teardown);
	tcase_add_test(first, an_answer_ends_with_its_server);
	tcase_add_test(first, the_requests_of_an_acp_session_are_bounded);
	tcase_add_test(first, unanswered_cancels_of_tasks_are_bounded);
	suite_add_tcase(suite, first);
	tcase_add_loop_test(small, unseen_traffic_is_only_counted, 0, 2);
	suite_add_tcase(suite, small);
	tcase_add_loop_test(large, an_endless_response_takes_no_memory, 0, sizeof(responses) / sizeof(responses[0]));
	suite_add_tcase(suite, large);
	return suite;
}
