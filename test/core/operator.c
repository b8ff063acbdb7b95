#include "core/operator.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"

Suite *operator_suite(void);

static struct policy policy;
static struct session *session;
static msec_t now;

static void
open_session(const struct dialect *dialect, bool observed)
{
	const struct session_config config = {
		.dialect = dialect,
		.policy = &policy,
		.grace = 2000,
		.max_message = LIMIT_MESSAGE,
		.max_inflight = LIMIT_INFLIGHT,
		.answer_cancelled = true,
		.observed = observed,
		.seed = 1,
	};

	now = 1000;
	policy_init(&policy);
	session = session_new(&config, NULL, NULL, now);
}

static void
close_session(void)
{
	session_free(session);
	policy_free(&policy);
}

/* Everything that waits for the side is read. */
static void
read_all(enum side to)
{
	struct lane *lane = session_lane(session, to == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT);
	struct span spans[8];
	int count;

	while ((count = lane_output(lane, spans, 8)) > 0)
		for (int i = 0; i < count; i++)
			lane_sent(lane, spans[i].len);
}

static void
give(enum side from, const char *line)
{
	size_t len = strlen(line), room;

	memcpy(lane_space(session_lane(session, from), len, &room), line, len);
	lane_received(session_lane(session, from), len);
	session_hear(session, from, now);
	read_all(SIDE_SERVER);
	read_all(SIDE_CLIENT);
}

static void
call(int id)
{
	char line[256];

	snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"t%d\",\"_meta\":{"
	    "\"progressToken\":%d}}}\n",
	    id, id % 3, id);
	give(SIDE_CLIENT, line);
}

static void
tell(enum side from, const char *method, const char *key, int id)
{
	char line[256];

	snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"%s\":%d,\"progress\":1}}\n",
	    method, key, id);
	give(from, line);
}

static void
handshake(void)
{
	give(SIDE_CLIENT,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n");
	give(SIDE_SERVER,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
	    "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n");
	give(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

/* Each deadline that was set counts from the last sign of life, or from the beginning. */
static void
check_deadlines(enum policy_clock clock, msec_t duration)
{
	struct request_view view = { 0 };

	while (session_next_request(session, SIDE_CLIENT, view.request, &view)) {
		if (view.state != REQUEST_WAITING)
			continue;
		if (clock == POLICY_IDLE)
			ck_assert_int_eq(view.idle_left, duration - view.silent);
		else
			ck_assert_int_eq(view.cap_left, duration - view.age);
	}
}

/* Alarms have an order that asserts itself: whatever is set in between, nothing breaks it. */
START_TEST(deadlines_are_set_in_the_middle_of_anything)
{
	/* Graces have 2000 ms too. */
	static const msec_t durations[] = { 50, 700, 2000, 2000, 5000, 100000 };
	char *method = strdup("tools/*");
	int id = 0;

	open_session(&dialect_mcp, false);
	handshake();
	srand((unsigned)_i + 1);
	for (int step = 0; step < 400; step++) {
		enum policy_clock clock = rand() % 2 == 0 ? POLICY_IDLE : POLICY_CAP;
		struct policy_rule rule = { .method = rand() % 2 == 0 ? method : NULL,
			.duration = durations[rand() % 6] };
		size_t changed;
		char text[16];

		now += rand() % 200;
		switch (rand() % 7) {
		case 0:
		case 1:
			call(id++);
			break;
		case 2:
			tell(SIDE_SERVER, "notifications/progress", "progressToken", id > 0 ? rand() % id : 0);
			break;
		case 3:
			tell(SIDE_CLIENT, "notifications/cancelled", "requestId", id > 0 ? rand() % id : 0);
			break;
		case 4:
			rule.method = method;
			ck_assert(session_set(session, clock, &rule, true, now, &changed));
			check_deadlines(clock, rule.duration);
			break;
		case 5:
			snprintf(text, sizeof(text), "%d", id > 0 ? rand() % id : 0);
			if (session_cancel(session, SIDE_CLIENT, span_of(text), SPAN("why"), now) == OPERATOR_DONE)
				ck_assert_int_ne(session_cancel(session, SIDE_CLIENT, span_of(text), SPAN_NONE, now),
				    OPERATOR_DONE);
			break;
		default:
			session_expire(session, true, now);
			ck_assert_int_gt(session_wake(session, false), now);
		}
		session_sleep(session, false, now);
	}
	close_session();
	free(method);
}
END_TEST

START_TEST(progress_is_kept_only_when_it_is_asked_for)
{
	struct request_view view;

	open_session(&dialect_mcp, _i == 1);
	handshake();
	call(7);
	tell(SIDE_SERVER, "notifications/progress", "progressToken", 7);
	ck_assert(session_next_request(session, SIDE_CLIENT, NULL, &view));
	ck_assert_int_eq(view.progress.len > 0, _i == 1);
	ck_assert_str_eq(session_dialect(session), "mcp");
	ck_assert_str_eq(session_era(session), "legacy");
	ck_assert_uint_eq(latency_at(session_latency(session), 0) != NULL, _i == 1);
	close_session();
}
END_TEST

START_TEST(the_oldest_comes_first)
{
	struct request_view view = { 0 };

	open_session(&dialect_mcp, true);
	handshake();
	ck_assert_int_eq(session_oldest(session), MSEC_NEVER);
	call(2);
	now += 100;
	call(1);
	session_set_time(session, now);
	ck_assert_int_eq(session_oldest(session), 100);
	ck_assert(session_next_request(session, SIDE_CLIENT, view.request, &view));
	ck_assert(span_equal(view.id, SPAN("2")));
	ck_assert_int_eq(view.age, 100);
	ck_assert(session_next_request(session, SIDE_CLIENT, view.request, &view));
	ck_assert(span_equal(view.id, SPAN("1")));
	ck_assert(!session_next_request(session, SIDE_CLIENT, view.request, &view));
	close_session();
}
END_TEST

Suite *
operator_suite(void)
{
	Suite *suite = suite_create("operator");
	TCase *people = tcase_create("people");

	tcase_add_loop_test(people, deadlines_are_set_in_the_middle_of_anything, 0, 100);
	tcase_add_loop_test(people, progress_is_kept_only_when_it_is_asked_for, 0, 2);
	tcase_add_test(people, the_oldest_comes_first);
	suite_add_tcase(suite, people);
	return suite;
}
