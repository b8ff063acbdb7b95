/* The command line: right values are taken; messages about wrong ones say how to correct them. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "client.h"

struct fault {
	const char *options;
	const char *option; /* each of these must be in the message */
	const char *value;
	const char *right;
};

/* test/shell/options.c has the other ones. */
static const struct fault faults[] = {
	{ "-t 30", "-t", "30", "30s" },
	{ "--max-message 99999999999999999999G", "--max-message", "99999999999999999999G", "M" },
	{ "--log /nonexistent/directory/log", "--log", "/nonexistent/directory/log", "" },
	{ "-c /nonexistent/config.json", "--config", "/nonexistent/config.json", "No such file" },
	{ "--no-such-option", "--no-such-option", "", "--help" },
	{ "-t", "-t", "", "" },
};

SUITE("options");

TESTS(a_wrong_value_is_named, 0, COUNT(faults))
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

#define INITIALIZE \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"

/* Through the answer to its first request, as a client seldom shows what canceld writes to stderr. */
TESTS(a_client_is_told_what_is_wrong, 0, 8)
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

/* canceld does not wait for anything. */
TESTS(a_person_is_told_at_once, 0, 2)
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

TEST(on_a_terminal_it_says_what_it_waits_for)
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

TEST(a_reader_that_leaves_is_no_fault)
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

/* Options end at the command. */
TEST(the_servers_options_are_its_own)
{
	struct run *run = run_options("-t 5s /bin/echo -t 30 --help", "more");

	run_expect_exit(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "-t 30 --help -- more"));
	run_end(run);
}

TESTS(help_and_version_go_to_stdout, 0, 4)
{
	static const char *const options[] = { "-h", "--help", "-V", "--version" };
	static const char *const words[] = { "--drain", "--drain", "canceld", "canceld" };
	struct run *run = run_options(options[_i], "sh:exit 1");

	run_expect_exit(run, 0);
	while (run->from >= 0)
		run_pump(run, 10);
	ck_assert_ptr_nonnull(strstr(run->out.data, words[_i]));
	ck_assert_uint_eq(run->error.len, 0);
	run_end(run);
}
