/* The command line: right values are taken; messages about wrong ones say how to correct them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "suites.h"
#include "client.h"

struct fault {
	const char *options;
	const char *option; /* each of these must be in the message */
	const char *value;
	const char *right;
};

static const struct fault faults[] = {
	{ "-t 30", "-t", "30", "30s" },
	{ "--timeout 30", "--timeout", "30", "30s" },
	{ "--timeout=soon", "--timeout", "soon", "30s" },
	{ "-t -5s", "-t", "-5s", "30s" },
	{ "-t 5d", "-t", "5d", "30s" },
	{ "-t 1.5x", "-t", "1.5x", "30s" },
	{ "-t tools/call=", "-t", "tools/call=", "30s" },
	{ "-t tools/call=7", "-t", "tools/call=7", "30s" },
	{ "-t =5s", "-t", "=5s", "METHOD" },
	{ "-t 99999999999999999999s", "-t", "99999999999999999999s", "" },
	{ "-T 10", "--max-time", "10", "30s" },
	{ "--max-time never", "--max-time", "never", "none" },
	{ "-g 5", "--grace", "5", "30s" },
	{ "--grace x", "--grace", "x", "30s" },
	{ "--drain=5", "--drain", "5", "s" },
	{ "-d5", "-d", "5", "s" },
	{ "--drain 5s", "--drain", "5s", "=" },
	{ "-D http", "--dialect", "http", "lsp" },
	{ "--dialect", "--dialect", "", "" },
	{ "--max-message 12Q", "--max-message", "12Q", "M" },
	{ "--max-message -1", "--max-message", "-1", "M" },
	{ "--max-message 99999999999999999999G", "--max-message", "99999999999999999999G", "M" },
	{ "--max-inflight many", "--max-inflight", "many", "number" },
	{ "--max-inflight -3", "--max-inflight", "-3", "number" },
	{ "--max-inflight 0", "--max-inflight", "0", "number" },
	{ "--log-format xml", "--log-format", "xml", "json" },
	{ "--log /nonexistent/directory/log", "--log", "/nonexistent/directory/log", "" },
	{ "--log-level loud", "--log-level", "loud", "decision" },
	{ "-c /nonexistent/config.json", "--config", "/nonexistent/config.json", "No such file" },
	{ "--config=", "--config", "", "the name of a file" },
	{ "--no-such-option", "--no-such-option", "", "--help" },
	{ "-Z", "Z", "", "--help" },
	{ "-t", "-t", "", "" },
};

START_TEST(a_wrong_value_is_named)
{
	const struct fault *fault = &faults[_i];
	struct run *run = run_options(fault->options, "sh:echo started >&2");

	run_expect_exit(run, 125);
	run_expect_end(run);
	if (strstr(run->error.data, fault->option) == NULL || strstr(run->error.data, fault->value) == NULL ||
	    strstr(run->error.data, fault->right) == NULL)
		run_fail(run, "%s: expected a message with '%s', '%s' and '%s'", fault->options, fault->option,
		    fault->value, fault->right);
	ck_assert_ptr_null(strstr(run->error.data, "started"));
	run_end(run);
}
END_TEST

#define INITIALIZE \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"

/* Through the answer to its first request, as a client seldom shows what canceld writes to stderr. */
START_TEST(a_client_is_told_what_is_wrong)
{
	static const char *const options[] = { "-t 30", "--log /nonexistent/directory/log", "--no-such-option",
		"-d -q -Z" };
	struct run *run = run_options(options[_i / 2], "sh:echo started >&2");
	const char *text;

	run_send(run, _i % 2 == 0 ? INITIALIZE : "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\"}");
	run_expect_error(run, "0", CODE_INTERNAL, "not-started");
	ck_assert(!at_exists(run->message, "error data status"));
	text = strstr(at_text(run->message, "error message"), "the server was not started: ");
	ck_assert_ptr_nonnull(text);
	text += strlen("the server was not started: ");
	run_expect_end(run);
	run_expect_exit(run, 125);
	ck_assert_msg(strncmp(run->error.data, "canceld: ", 9) == 0 &&
		strncmp(run->error.data + 9, text, strlen(text)) == 0 &&
		strcmp(run->error.data + 9 + strlen(text), "\n") == 0,
	    "%s, not %s", run->error.data, text);
	run_end(run);
}
END_TEST

/* canceld does not wait for anything. */
START_TEST(a_person_is_told_at_once)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	struct setup setup = { .options = _i == 0 ? "-t 30" : "-l /nonexistent/directory/log", .command = "sh:cat" };
	struct run *run;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	setup.in = ptsname(master);
	run = run_start(&setup);
	run->to = master;
	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data, _i == 0 ? "--timeout '30'" : "--log '/nonexistent"));
	run_end(run);
}
END_TEST

START_TEST(on_a_terminal_it_says_what_it_waits_for)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	struct setup setup = { 0 };
	struct run *run;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	setup.in = ptsname(master);
	run = run_start(&setup);
	run->to = master;
	run_expect_logged(run, "hint=\"waiting for JSON-RPC messages");
	run_send_text(run, "\x04", 1);
	run_expect_exit(run, 0);
	run_end(run);
}
END_TEST

START_TEST(a_reader_that_leaves_is_no_fault)
{
	const struct setup setup = {
		.bare = true,
		.command = "sh:trap '' PIPE; { sleep 0.2; \"$CANCELD\" --help; echo status=$? >&2; } | true",
	};
	struct run *run = run_start(&setup);

	run_expect_exit(run, 0);
	ck_assert_str_eq(run->error.data, "status=0\n");
	run_end(run);
}
END_TEST

START_TEST(the_log_is_in_the_home)
{
	char path[300];
	struct run *run;

	ck_assert_int_eq(setenv("HOME", getenv("E2E_DIRECTORY"), 1), 0);
	run = run_session("-l ~/home-log", NULL);
	run_close_in(run);
	run_expect_exit(run, 0);
	snprintf(path, sizeof(path), "%s/home-log", getenv("E2E_DIRECTORY"));
	ck_assert(process_has_text(path, "SUMMARY "));
	unlink(path);
	run_end(run);
}
END_TEST

static const char *const right[] = {
	"-t 90000ms",
	"-t 5m -T 2h",
	"--timeout=30s --max-time=none",
	"-t 1m30s -T 1.5h",
	"-t tools/call:browser_*=5s -t tools/*=6s",
	"--name a --fail-on-error",
	"-t 0",
	"-t none",
	"-t resources/read:file:///a=b=30s",
	"-t tools/call:my=tool=1s -T tools/call=1h",
	"-g 2s --grace 0",
	"-d",
	"-d2s",
	"--drain",
	"--drain=1m",
	"-D mcp",
	"--dialect=auto",
	"--dialect none",
	"--ask-progress --legacy",
	"--no-cancel --answer-cancelled --tool-errors -e --fail-on-timeout --strict",
	"--max-message 64K --max-inflight 1",
	"--max-message=10M",
	"--max-message 1G",
	"-l /dev/null --log-format text",
	"--log=/dev/null --log-format=json",
	"-v -v",
	"-vv",
	"-q",
};

START_TEST(a_right_value_is_taken)
{
	struct run *run = run_options(right[_i], NULL);

	run_handshake(run);
	run_expect_echo(run, "1");
	run_close_in(run);
	run_expect_exit(run, 0);
	run_end(run);
}
END_TEST

START_TEST(a_command_must_be_given)
{
	struct run *run = run_options("-t 5s", "");

	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data, "command"));
	run_end(run);
}
END_TEST

/* Options end at the command. */
START_TEST(the_servers_options_are_its_own)
{
	struct run *run = run_options("-t 5s /bin/echo -t 30 --help", "more");

	run_expect_exit(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "-t 30 --help -- more"));
	run_end(run);
}
END_TEST

START_TEST(help_and_version_go_to_stdout)
{
	static const char *const options[] = { "-h", "--help", "-V", "--version" };
	static const char *const words[] = { "-t [METHOD", "--drain", "canceld", "canceld" };
	struct run *run = run_options(options[_i], "sh:exit 1");

	run_expect_exit(run, 0);
	while (run->from >= 0)
		run_pump(run, 10);
	ck_assert_ptr_nonnull(strstr(run->out.data, words[_i]));
	ck_assert_uint_eq(run->error.len, 0);
	run_end(run);
}
END_TEST

Suite *
suite_options(void)
{
	Suite *suite = suite_create("options");
	TCase *tests = tcase_create("options");

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_loop_test(tests, a_wrong_value_is_named, 0, sizeof(faults) / sizeof(*faults));
	tcase_add_loop_test(tests, a_client_is_told_what_is_wrong, 0, 8);
	tcase_add_loop_test(tests, a_person_is_told_at_once, 0, 2);
	tcase_add_test(tests, on_a_terminal_it_says_what_it_waits_for);
	tcase_add_test(tests, a_reader_that_leaves_is_no_fault);
	tcase_add_test(tests, the_log_is_in_the_home);
	tcase_add_loop_test(tests, a_right_value_is_taken, 0, sizeof(right) / sizeof(*right));
	tcase_add_test(tests, a_command_must_be_given);
	tcase_add_test(tests, the_servers_options_are_its_own);
	tcase_add_loop_test(tests, help_and_version_go_to_stdout, 0, 4);
	suite_add_tcase(suite, tests);
	return suite;
}
