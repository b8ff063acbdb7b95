#include "core/session.h"
#include "shell/log.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/dialect.h"

Suite *report_suite(void);

static int reader;
static struct log lines_log;
static struct policy policy;
static struct session *session;
static struct session_config config;

static void
open_log(enum why_level level, bool json)
{
	const struct log_config log_config = { .level = level, .json = json };
	int pair[2];

	ck_assert_int_eq(pipe(pair), 0);
	ck_assert_int_eq(dup2(pair[1], STDERR_FILENO), STDERR_FILENO);
	close(pair[1]);
	reader = pair[0];
	ck_assert_ptr_null(log_open(&lines_log, &log_config));
}

/* A session with its log; each test runs in a process of its own, whose stderr it may replace. */
static void
start(enum why_level level, bool json)
{
	open_log(level, json);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN_NONE, SPAN_NONE, 2000);
	config = (struct session_config){ .dialect = &dialect_mcp,
		.policy = &policy,
		.grace = 5000,
		.max_message = 1 << 20,
		.max_inflight = 10 };
	session = session_new(&config, report_action, &lines_log, 0);
}

static void
finish(void)
{
	session_free(session);
	policy_free(&policy);
	log_close(&lines_log);
}

static void
hear(enum side from, const char *line, msec_t now)
{
	struct lane *lane = session_lane(session, from);

	buf_append(&lane->bytes, span_of(line));
	session_hear(session, from, now);
	lane_sent(lane, lane_backlog(lane));
}

/* The log since the last call, ended by NUL. */
static const char *
logged(void)
{
	static char text[16384];
	ssize_t len;

	log_event(&lines_log, WHY_FAILED, NULL, 0); /* there is something to read in any case */
	len = read(reader, text, sizeof(text) - 1);
	ck_assert_int_gt(len, 0);
	text[len] = '\0';
	ck_assert_ptr_nonnull(strstr(text, "FAILED"));
	return text;
}

static void
expect(const char *rest)
{
	char wanted[4096];

	snprintf(wanted, sizeof(wanted), "canceld[%ld]: %s\ncanceld[%ld]: FAILED\n", (long)getpid(), rest,
	    (long)getpid());
	if (rest[0] == '\0')
		snprintf(wanted, sizeof(wanted), "canceld[%ld]: FAILED\n", (long)getpid());
	ck_assert_str_eq(logged(), wanted);
}

static const char call[] =
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\",\"arguments\":{}}}\n";

static void
time_out(void)
{
	hear(SIDE_CLIENT, call, 0);
	session_sleep(session, false, 0);
	session_expire(session, true, 2000);
	lane_sent(session_lane(session, SIDE_CLIENT), lane_backlog(session_lane(session, SIDE_CLIENT)));
	lane_sent(session_lane(session, SIDE_SERVER), lane_backlog(session_lane(session, SIDE_SERVER)));
}

SUITE("report");

TEST(a_timeout_names_the_request)
{
	start(LEVEL_PERSON, false);
	time_out();
	expect(
	    "TIMED_OUT to=client method=tools/call name=slow id=7 elapsed=2000ms timeout=2000ms reason=\"no progress\" "
	    "hint=\"-k replaces a server that is stuck; --ask-progress shows whether it is at work\"");
	finish();
}

/* Each request in one place only: requests = all the others but late and noise. */
TEST(the_summary_adds_up)
{
	start(LEVEL_PERSON, false);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", 0);
	hear(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n", 0);
	hear(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[],\"isError\":true}}\n", 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n", 0);
	hear(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32601,\"message\":\"x\"}}\n", 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\n", 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"$/canceld/cancel\",\"params\":{\"id\":4}}\n", 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\"}\n", 0);
	logged();
	report_summary(&lines_log, session);
	expect(
	    "SUMMARY requests=6 answered=1 failed=2 timeouts=0 cancelled=1 lost=0 untracked=1 open=1 late=0 noise=0");
	session_server_gone(session, 1, -1, 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n", 0);
	logged();
	report_summary(&lines_log, session);
	expect("SUMMARY requests=7 answered=1 failed=2 timeouts=0 cancelled=1 lost=2 untracked=1 late=0 noise=0");
	finish();
}

TEST(requests_that_the_client_leaves_are_told)
{
	start(LEVEL_PERSON, false);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", 0);
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"subscriptions/listen\"}\n", 0);
	session_client_leaves(session, LEAVE_CANCEL, 0);
	logged();
	report_summary(&lines_log, session);
	expect("SUMMARY requests=2 answered=0 failed=0 timeouts=0 cancelled=0 lost=0 left=1 streams=1 late=0 noise=0");
	finish();
}

TEST(statistics_are_one_line_of_json)
{
	start(LEVEL_ERROR, false);
	time_out();
	hear(SIDE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n", 2200);
	hear(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"roots/list\"}\n", 2200);
	report_statistics(&lines_log, session);
	expect("STATISTICS {\"requests\":2,\"serverRequests\":1,\"outstanding\":1,\"serverOutstanding\":1,"
	       "\"bytesForServer\":0,\"bytesForClient\":0,\"RELAYED\":3,\"TIMED_OUT\":1,\"CANCEL_SENT\":1,\"ERA\":1}");
	finish();
}
