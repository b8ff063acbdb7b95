/*
 * The log: one line per event, in the words of include/core/why.h, without the contents of
 * messages.
 */
#include <ctype.h>

#include "client.h"
#include "needs.h"
#include "shell.h"
#include "shell/system.h"

#define SECRET "{\"ms\":600000,\"secret\":\"swordfish\"}"

/* A timeout, a client's cancel, and the end; the whole log is then in run->error. */
static struct run *
run_events(const char *options)
{
	struct run *run = run_session(options, NULL);

	run_call(run, "2", "sleep", SECRET);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_call(run, "3", "stubborn", SECRET);
	run_expect_received(run, "\"id\":3");
	run_cancel(run, "3");
	run_expect_cancelled(run, "3");
	run_expect_echo(run, "4");
	run_leave(run, 0);
	return run;
}

static bool
has_event(struct run *run, const char *word)
{
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "canceld[%d] demo-server: %s", (int)run->pid, word);
	return strstr(run->error.data, wanted) != NULL;
}

SUITE("logs", .seconds = 8);

TEST(by_default_important_events_are_logged)
{
	struct run *run = run_events("-t tools/call:sleep=300ms");
	static const char elapsed[] = "id=2 elapsed=";

	ck_assert(has_event(run, "STARTED"));
	ck_assert(has_event(run, "TIMED_OUT to=client method=tools/call name=sleep id=2 elapsed="));
	ck_assert_int_ge(atoi(strstr(run->error.data, elapsed) + strlen(elapsed)), 300);
	ck_assert_ptr_nonnull(strstr(run->error.data,
	    "ms timeout=300ms from=\"command line -t tools/call:sleep=300ms\" reason=\"no progress\" hint=\"-k replaces a"));
	ck_assert(has_event(run, "CANCEL_FORWARDED"));
	ck_assert(has_event(run, "SUMMARY"));
	ck_assert(!has_event(run, "CANCEL_SENT"));
	ck_assert(!has_event(run, "RELAYED"));
	ck_assert_ptr_nonnull(strstr(run->error.data, "the user pressed escape"));
	run_expect_summary(run, "timeouts=1 cancelled=1");
	run_end(run);
}

TEST(the_summary_tells_what_became_of_each_request)
{
	struct run *run =
	    run_session("--name mine -t tools/call:sleep=300ms -t tools/call:slep*=1s", NULL);

	run_expect_echo(run, "2");
	run_call(run, "3", "sleep", SECRET);
	run_expect_error(run, "3", CODE_CANCELLED, "timeout");
	run_call(run, "4", "stubborn", SECRET);
	run_expect_received(run, "\"id\":4");
	run_cancel(run, "4");
	run_expect_cancelled(run, "4");
	run_call(run, "5", "no such tool", "{}");
	run_expect_answer(run, "5");
	run_call(run, "6", "crash", "{\"status\":7}");
	run_expect_error(run, "6", CODE_INTERNAL, "server-exited");
	run_expect_exit(run, 7);
	run_expect_summary(run,
	    "requests=6 answered=2 failed=1 timeouts=1 cancelled=1 lost=1 late=0 noise=0");
	ck_assert_ptr_nonnull(strstr(run->error.data,
	    "] mine: RULE_UNUSED from=\"command line -t tools/call:slep*=1s\"\n"));
	ck_assert_ptr_null(strstr(run->error.data, "RULE_DOUBTED"));
	ck_assert_ptr_nonnull(strstr(run->error.data, "] mine: SUMMARY "));
	ck_assert_ptr_nonnull(strstr(run->error.data, "] mine: STARTED "));
	run_end(run);
}

TEST(each_v_logs_more)
{
	static const char *const levels[] = { "-q -t tools/call:sleep=300ms",
		"-t tools/call:sleep=300ms", "-v -t tools/call:sleep=300ms",
		"-vv -t tools/call:sleep=300ms" };
	size_t counts[4];

	for (int i = 0; i < 4; i++) {
		struct run *run = run_events(levels[i]);

		counts[i] = count_of(run->error.data, "canceld[");
		ck_assert_int_eq(has_event(run, "CANCEL_SENT"), i >= 2);
		ck_assert_int_eq(has_event(run, "RELAYED"), i == 3);
		ck_assert_int_eq(strstr(run->error.data, " outcome=result bytes=") != NULL, i == 3);
		ck_assert_ptr_null(strstr(run->error.data, "swordfish"));
		run_end(run);
	}
	ck_assert_uint_eq(counts[0], 0);
	ck_assert_uint_lt(counts[0], counts[1]);
	ck_assert_uint_lt(counts[1], counts[2]);
	ck_assert_uint_lt(counts[2], counts[3]);
}

/* A session whose log has the messages; one is long, one is no UTF-8. */
static struct run *
run_with_payload(const char *path)
{
	char words[500];
	struct run *run;

	snprintf(words, sizeof(words), "-vv --log-payload -l %s --log-format json", path);
	run = run_session(words, NULL);
	run_expect_echo(run, "2");
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/\\u00e4\",\"params\":{\"a\":\"\x7f\"}}");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"a\xff\xfe\"}");
	run_expect_answer(run, "3");
	run_sendf(run,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/long\",\"params\":{\"a\":\"%0200000d\"}}",
	    7);
	run_call(run, "4", "sleep", SECRET);
	run_expect_received(run, "\"id\":4");
	run_cancel(run, "4");
	run_expect_echo(run, "5");
	run_leave(run, 0);
	return run;
}

/* As the jq line of canceld(1): what the client has written, a line each. */
static void
read_client(const char *path, struct text *client)
{
	FILE *file = fopen(path, "r");
	const char *to, *payload;
	json_t *event;

	ck_assert_ptr_nonnull(file);
	while ((event = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
		if (json_unpack(event, "{s:s, s:s}", "to", &to, "payload", &payload) == 0 &&
		    strcmp(to, "server") == 0)
			text_print(client, "%s\n", payload);
		json_decref(event);
	}
	ck_assert_int_eq(fgetc(file), EOF);
	fclose(file);
}

TEST(a_log_with_payload_plays_its_client_again)
{
	struct text client = { 0 };
	const char *path = path_of("payload");
	struct run *run = run_with_payload(path);

	ck_assert(process_has_text(path, "a\\uFFFD\\uFFFD"));
	ck_assert(process_has_text(path, "swordfish"));
	run_end(run);
	read_client(path, &client);
	ck_assert_ptr_nonnull(strstr(client.data, "0000000007\"}}\n{\"jsonrpc\""));
	ck_assert_ptr_nonnull(
	    strstr(client.data, "\"notifications/\\u00e4\",\"params\":{\"a\":\"\x7f\"}"));
	run = run_start(&(struct setup){ .bare = true });
	run_send_text(run, client.data, client.len);
	run_expect_result(run, "\"start\"");
	run_expect_result(run, "2");
	run_expect_cancelled(run, "4");
	run_end(run);
	free(client.data);
}

/* Only the user may read the messages. */
TESTS(payload_needs_a_file_of_ones_own, 0, 3)
{
	static const struct {
		const char *shell, *options, *reason;
	} refused[] = {
		{ ":", "--log-payload", "name a file for it with --log" },
		{ ":", "--log-payload -l /dev/null", "--log '/dev/null': it is no regular file" },
		{ "umask 0; : >exposed", "--log-payload -l exposed",
		    "--log 'exposed': it is open to other users: for --log-payload chmod 600 it" },
	};
	struct run *run;

	ck_assert_int_eq(chdir(getenv("E2E_DIRECTORY")), 0);
	run = run_start(
	    &(struct setup){ .shell = refused[_i].shell, .options = refused[_i].options });
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}");
	run_expect_error(run, "1", CODE_INTERNAL, "not-started");
	run_close_in(run);
	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data, refused[_i].reason));
	run_end(run);
}

/* So that it may use colours. */
TEST(a_terminal_as_stderr_is_the_servers_too)
{
	shell_expect_terminal(80, "true | $CANCELD -q sh -c '[ -t 2 ] && echo on a terminal >&2'",
	    "on a terminal");
}

/* The process that writes the file of the log; it is started with the first line. */
static pid_t
writer_of(struct run *run)
{
	run_until(run, process_named(run->pid, "cancel-log") > 0, "no process writes the log");
	return process_named(run->pid, "cancel-log");
}

static struct run *
run_with_file(const char *path)
{
	char words[500];
	struct run *run;

	snprintf(words, sizeof(words), "-vv -l %s --log-format json -t tools/call:sleep=300ms",
	    path);
	run = run_session(words, NULL);
	run_expect_echo(run, "2");
	return run;
}

/*
 * Stopped, it stands for one that hangs in the kernel, as the file system of its file stands still.
 */
TEST(a_log_that_stands_still_holds_up_nothing)
{
	struct run *run;
	pid_t writer;
	long began;

	NEEDS(SYSTEM_RENAMES);
	run = run_with_file(path_of("log"));
	writer = writer_of(run);
	ck_assert_int_eq(kill(writer, SIGSTOP), 0);
	for (int i = 0; i < 2000; i++)
		run_expect_echo(run, "3");
	run_call(run, "4", "sleep", SECRET);
	run_expect_error(run, "4", CODE_CANCELLED, "timeout");
	began = milliseconds();
	ck_assert_int_eq(kill(run->pid, SIGTERM), 0);
	run_expect_exit(run, 143);
	ck_assert_int_lt(milliseconds() - began, 10000);
	run_until(run, process_ended(writer), "it was not ended");
	run_end(run);
}

/* The lines that did not fit are counted where they are missing. */
TEST(what_the_writer_does_not_take_is_counted)
{
	const char *path = path_of("log");
	struct run *run;
	pid_t writer;

	NEEDS(SYSTEM_RENAMES);
	run = run_with_file(path);
	writer = writer_of(run);
	ck_assert_int_eq(kill(writer, SIGSTOP), 0);
	for (int i = 0; i < 8000; i++)
		run_expect_echo(run, "3");
	ck_assert_int_eq(kill(writer, SIGCONT), 0);
	run_until(run, process_has_text(path, "LINES_LOST"), "nothing is counted");
	run_leave(run, 0);
	ck_assert(process_has_text(path, "\"why\":\"SUMMARY\""));
	run_end(run);
}

TEST(the_writer_ends_with_a_canceld_that_is_killed)
{
	struct run *run;
	pid_t writer;

	NEEDS(SYSTEM_RENAMES);
	run = run_with_file(path_of("log"));
	writer = writer_of(run);
	ck_assert_int_ne(process_session(writer), process_session(run->pid));
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	run_until(run, process_ended(writer), "it runs on");
	run_end(run);
}

TEST(canceld_and_its_writer_are_small)
{
	struct run *run;
	long shares;

	NEEDS(SYSTEM_RENAMES);
	run = run_with_file(path_of("log"));
	shares = process_share(writer_of(run)) + process_share(run->pid);
	ck_assert_int_ge(shares, 0);
	if (strcmp(getenv("VARIANT"), "release") == 0)
		ck_assert_int_lt(shares, 3 << 20);
	run_leave(run, 0);
	run_end(run);
}
