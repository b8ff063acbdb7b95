/* The command line: right values are taken; messages about wrong ones say how to correct them. */
#include <string.h>

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

static const char *const right[] = {
	"-t 90000ms",
	"-t 5m -T 2h",
	"--timeout=30s --max-time=none",
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
	static const char *const words[] = { "--timeout", "--drain", "canceld", "canceld" };
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
	tcase_add_loop_test(tests, a_right_value_is_taken, 0, sizeof(right) / sizeof(*right));
	tcase_add_test(tests, a_command_must_be_given);
	tcase_add_test(tests, the_servers_options_are_its_own);
	tcase_add_loop_test(tests, help_and_version_go_to_stdout, 0, 4);
	suite_add_tcase(suite, tests);
	return suite;
}
