/*
 * What a message costs over a small and a large number of outstanding requests: microseconds an
 * operation at 10, 1 and 4 times as many, and the ratio of the last two, which must stay near 1. A
 * path whose cost grows with the number of requests would show 4. Each case is what a hostile or a
 * broken peer could send.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/limits.h"
#include "core/session.h"

enum { FEW = 10, SMALL = 25000, LARGE = 4 * SMALL, TEXT_MAX = 512, ROUNDS = 3 };

#define RATIO_MOST 2.5

static struct session *session;
static msec_t now;
static bool stalled; /* the server reads nothing */
static double started, elapsed;

static void
ignore(void *user, const struct action *action)
{
	(void)user;
	(void)action;
}

static void
open_session(const char *dialect)
{
	static struct policy policy;
	struct session_config config = {
		.dialect = dialect_named(span_of(dialect)),
		.policy = &policy,
		.grace = MSEC_NEVER,
		.max_message = LIMIT_MESSAGE,
		.max_inflight = 2 * LARGE,
	};

	now = 1;
	session = session_new(&config, ignore, NULL, now);
	session_report_traffic(session, false);
}

static void
drain(enum side from)
{
	struct lane *lane = session_lane(session, from);
	struct span spans[16];
	int n;

	if (from == SIDE_CLIENT && stalled)
		return;
	while ((n = lane_output(lane, spans, 16)) > 0)
		for (int i = 0; i < n; i++)
			lane_sent(lane, spans[i].len);
}

static double
clock_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void
begin(void)
{
	started = clock_us();
}

static void
finish(void)
{
	elapsed += clock_us() - started;
}

/* Sends the message, and lets the other side read all that there is. */
static void __attribute__((format(printf, 2, 3))) say(enum side from, const char *format, ...)
{
	struct lane *lane = session_lane(session, from);
	char *space = buf_space(&lane->bytes, TEXT_MAX);
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(space, TEXT_MAX, format, arguments);
	va_end(arguments);
	if (len < 0 || len >= TEXT_MAX)
		abort();
	buf_added(&lane->bytes, (size_t)len);
	session_set_time(session, ++now);
	session_hear(session, from);
	drain(from);
	drain(from == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT);
}

static void
open_mcp(void)
{
	open_session("mcp");
	say(SIDE_CLIENT,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}\n");
	say(SIDE_SERVER,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{}}}\n");
}

static void
open_acp(void)
{
	open_session("acp");
	say(SIDE_CLIENT,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":"
	    "{\"protocolVersion\":1}}\n");
	say(SIDE_SERVER, "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{\"protocolVersion\":1}}\n");
}

#define CALL \
	"{\"jsonrpc\":\"2.0\",\"id\":%s%zu,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n"
#define CANCEL \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s%zu}}\n"
#define ANSWER "{\"jsonrpc\":\"2.0\",\"id\":%s%zu,\"result\":{}}\n"

#define MINTED ((size_t)1 << 30)

static void
calls(const char *prefix, size_t n)
{
	for (size_t i = 1; i <= n; i++)
		say(SIDE_CLIENT, CALL, prefix, i + 1000000);
}

static void
case_plain(size_t n)
{
	open_mcp();
	calls("", n);
	begin();
	for (size_t i = 0; i < n; i++) {
		say(SIDE_CLIENT, CALL, "", i + 5000000);
		say(SIDE_SERVER, ANSWER, "", i + 5000000);
	}
	finish();
}

static void
case_one_id(size_t n)
{
	open_mcp();
	begin();
	for (size_t i = 0; i < n; i++)
		say(SIDE_CLIENT, CALL, "", (size_t)7);
	for (size_t i = 0; i < n; i++)
		say(SIDE_CLIENT, CANCEL, "", (size_t)7);
	for (size_t i = 0; i < n; i++)
		say(SIDE_SERVER, ANSWER, "", i == 0 ? 7 : MINTED + i - 1);
	finish();
}

static void
case_one_token(size_t n)
{
	open_mcp();
	begin();
	for (size_t i = 1; i <= n; i++)
		say(SIDE_CLIENT,
		    "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tools/call\",\"params\":{\"name\":\"t\","
		    "\"_meta\":{\"progressToken\":7}}}\n",
		    i);
	for (size_t i = 0; i < n; i++)
		say(SIDE_SERVER,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
		    "\"progressToken\":7,\"progress\":1}}\n");
	for (size_t i = 1; i <= n; i++)
		say(SIDE_CLIENT, CANCEL, "", i);
	for (size_t i = 0; i < n; i++)
		say(SIDE_SERVER,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
		    "\"progressToken\":7,\"progress\":1}}\n");
	finish();
}

static void
case_withdraw(size_t n)
{
	enum { STEP = 7919 }; /* a prime that does not divide n */

	open_mcp();
	stalled = true;
	calls("", n);
	begin();
	for (size_t i = 0; i < n; i++)
		say(SIDE_CLIENT, CANCEL, "", 1000001 + i * STEP % n);
	finish();
	stalled = false;
}

#define PROMPT \
	"{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s%zu\"}}\n"
static void
case_prompts(size_t n)
{
	open_acp();
	begin();
	for (size_t i = 1; i <= n; i++)
		say(SIDE_CLIENT, PROMPT, i, (size_t)0);
	for (size_t i = 1; i <= n; i++)
		say(SIDE_CLIENT,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":%zu}}\n",
		    i);
	for (size_t i = 1; i <= n; i++)
		say(SIDE_SERVER, ANSWER, "", i);
	finish();
}

/* Of those that nobody awaits, the oldest is forgotten for each further one. */
static void
case_forgotten(size_t n)
{
	open_mcp();
	calls("", n);
	for (size_t i = 0; i < LIMIT_TOMBSTONES + n; i++) {
		if (i == LIMIT_TOMBSTONES)
			begin();
		say(SIDE_CLIENT, CALL, "", i + 5000000);
		say(SIDE_CLIENT, CANCEL, "", i + 5000000);
	}
	finish();
}

static const struct {
	const char *name;
	void (*run)(size_t n);
} cases[] = {
	{ "a request and its answer", case_plain },
	{ "one id", case_one_id },
	{ "one token", case_one_token },
	{ "withdrawn in mixed order", case_withdraw },
	{ "prompts of one session", case_prompts },
	{ "forgotten behind open ones", case_forgotten },
};

/* Microseconds for each of the n. */
static double
measure(void (*run)(size_t n), size_t n)
{
	elapsed = 0;
	run(n);
	session_free(session);
	return elapsed / (double)n;
}

int
main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	int missed = 0;

	printf("%-34s %9d %9d %9d %7s\n", "us for each of", FEW, SMALL, LARGE, "ratio");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double few, small = 0, large = 0, best = 0;

		if (strstr(cases[i].name, only) == NULL)
			continue;
		few = measure(cases[i].run, FEW);
		for (int round = 0; round < ROUNDS && (round == 0 || best > RATIO_MOST); round++) {
			small = measure(cases[i].run, SMALL);
			large = measure(cases[i].run, LARGE);
			best = round == 0 || large / small < best ? large / small : best;
		}
		printf("%-34s %9.2f %9.2f %9.2f %7.2f%s\n", cases[i].name, few, small, large, best,
		    best > RATIO_MOST ? " MISSED" : "");
		fflush(stdout);
		missed += best > RATIO_MOST;
	}
	return missed > 0;
}
