/* --dry-run: every byte passes, and the log tells what would have been done. */
#include "client.h"

static struct run *
run_dry(const char *options, const char *command)
{
	char words[256];

	ck_assert_int_lt(snprintf(words, sizeof(words), "-n %s", options), (int)sizeof(words));
	return run_options(words, command);
}

/* Everything that canceld refuses, drops, answers or changes without the option. */
static const char *const strange[] = {
	INITIALIZE "\n",
	"no JSON at all\n",
	"\n\r\n  \n",
	"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\r\n",
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n", /* its id is in use */
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"a\"}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n",
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}\n",
	"{\"jsonrpc\":\"2.0\",\"method\":\"$/canceld/cancel\",\"id\":3,\"params\":{\"id\":1}}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"server/discover\"}\n",
	"[{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"b\"}]\n",
	"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"\xff\xfe\"}\n",
	"Content-Length: 2\r\n\r\n{}",
	"text {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"b\"} text\n",
};

/* Writes to canceld what is strange, again and again, and random bytes. */
static void
send_strange(struct run *run, struct text *sent)
{
	for (int round = 0; round < 40; round++) {
		char random[8192];

		for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
			text_append(sent, strange[i], strlen(strange[i]));
		for (size_t i = 0; i < sizeof(random); i++)
			random[i] = (char)rand();
		text_append(sent, random, (size_t)rand() % sizeof(random));
		text_append(sent, "\n", (size_t)round % 2);
	}
	run_send_text(run, sent->data, sent->len);
}

SUITE("dry-run", .seconds = 5);

/* cat is both sides at once. */
TESTS(every_byte_passes_both_ways, 0, 3)
{
	static const char *const options[] = { "-q",
		"-q --ask-progress --clean-text --heartbeat=1ms --legacy -r -k -t 1ms -g 1ms",
		"-vv --log-payload -l " };
	struct run *run;
	struct text sent = { 0 };
	char words[512];

	srand((unsigned)_i + 1);
	snprintf(words, sizeof(words), "%s%s", options[_i], _i == 2 ? path_of("dry") : "");
	run = run_dry(words, "sh:cat");
	run->piece = 1000;
	send_strange(run, &sent);
	run_until(run, run->out.len >= sent.len, "not all came back");
	run_leave(run, 0);
	ck_assert_uint_eq(run->out.len, sent.len);
	ck_assert_int_eq(memcmp(run->out.data, sent.data, sent.len), 0);
	run_end(run);
	free(sent.data);
}

/* Collects lines until one has these bytes. */
static void
collect(struct run *run, struct text *lines, const char *last)
{
	const char *line;

	do {
		line = run_line(run, HARNESS_LIMIT);
		if (line == NULL)
			run_fail(run, "stdout ended without %s", last);
		text_print(lines, "%s\n", line);
	} while (strstr(line, last) == NULL);
}

/* A session, one step after the other, and all that the client gets. */
static void
play(struct run *run, struct text *lines)
{
	run_send(run, INITIALIZE);
	collect(run, lines, "\"id\":0,");
	run_call(run, "1", "noise", "{\"kind\":\"text\"}");
	collect(run, lines, "\"id\":1,");
	run_send(run, "no JSON");
	run_cancel(run, "77");
	run_call(run, "2", "twice", "{}");
	collect(run, lines, "\"id\":2,");
	collect(run, lines, "\"id\":2,");
	run_call(run, "3", "sleep", "{\"ms\":400}");
	collect(run, lines, "\"id\":3,");
	run_call(run, "4", "late-progress", "{}");
	collect(run, lines, "notifications/progress");
	run_leave(run, 0);
	run_expect_end(run);
}

TEST(a_session_is_as_without_canceld)
{
	struct run *alone = run_start(&(struct setup){ .bare = true });
	struct run *dry = run_dry("-t tools/call=100ms", NULL);
	struct text without = { 0 }, with = { 0 };

	play(alone, &without);
	play(dry, &with);
	ck_assert_str_eq(with.data, without.data);
	run_expect_logged(dry, "demo-server (dry run): NOISE ");
	run_expect_logged(dry, "demo-server (dry run): STRAY ");
	run_expect_logged(dry, "demo-server (dry run): TIMED_OUT ");
	run_expect_logged(dry, "demo-server (dry run): PARSE_ERROR ");
	run_expect_logged(dry, "demo-server (dry run): SUMMARY ");
	run_end(alone);
	run_end(dry);
	free(with.data);
	free(without.data);
}

/* Otherwise canceld ends it, as it can answer nothing more. */
TEST(a_deaf_server_is_not_ended)
{
	const char *path = path_of("go");
	char command[512];
	struct run *run;

	snprintf(command, sizeof(command),
	    "sh:exec <&-; i=0; until [ -e %s ] || [ $((i += 1)) = 1500 ]; do sleep 0.02; done; echo '{\"jsonrpc\":\"2.0\",\"method\":\"alive\"}'",
	    path);
	run = run_dry("", command);
	run_expect_logged(run, "(dry run): DEAF");
	run_expect_quiet(run, 700);
	file_write(path, "", 0600);
	ck_assert_str_eq(run_line(run, HARNESS_LIMIT),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"alive\"}");
	run_finish(run, 0);
}

/* Otherwise canceld ends the session, as nothing can be asked in it. */
TEST(a_handshake_that_takes_too_long_ends_nothing)
{
	const char *path = path_of("go");
	char command[512];
	struct run *run;

	snprintf(command, sizeof(command),
	    "sh:read a; i=0; until [ -e %s ] || [ $((i += 1)) = 1500 ]; do sleep 0.02; done; "
	    "echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}'; read b",
	    path);
	run = run_dry("-v -t initialize=100ms", command);
	run_send(run, INITIALIZE);
	run_expect_logged(run, "(dry run): TIMED_OUT");
	run_expect_quiet(run, 700);
	ck_assert_ptr_null(strstr(run->error.data, "ENDING"));
	file_write(path, "", 0600);
	run_expect_result(run, "0");
	run_leave(run, ANY_STATUS);
	run_end(run);
}

TEST(the_status_tells_what_would_have_happened)
{
	struct run *run = run_dry("-e -t tools/call:sleep=50ms", NULL);

	run_handshake(run);
	run_call(run, "2", "sleep", "{\"ms\":300}");
	run_expect_result(run, "2");
	run_close_in(run);
	run_finish(run, 124);
}
