/* The command line: right values are taken; messages about wrong ones say how to correct them. */
#include "client.h"
#include "shell.h"

/* test/shell/options.c has the other ones. */
static const struct {
	const char *options;
	const char *said[3]; /* each of these must be in the message */
} faults[] = {
	{ "-t 30", { "--timeout", "30", "30s" } },
	{ "--max-message 99999999999999999999G",
	    { "--max-message", "99999999999999999999G", "M" } },
	{ "--log /nonexistent/directory/log",
	    { "--log", "/nonexistent/directory/log", "there is no such folder" } },
	{ "-c /nonexistent/config.json",
	    { "--config", "/nonexistent/config.json", "No such file" } },
	{ "--no-such-option", { "--no-such-option", "", "--help" } },
	{ "-d -q -Z", { "-Z", "", "--help" } },
	{ "-t", { "-t", "", "" } },
};

SUITE("options", .seconds = 6);

/*
 * On stderr, and through the answer to the client's first request, as a client seldom shows what
 * canceld writes there.
 */
TESTS(what_is_wrong_is_told, 0, 3 * COUNT(faults))
{
	static const char *const requests[] = { INITIALIZE,
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\"}", NULL };
	const char *const *said = faults[_i / 3].said;
	struct run *run = run_options(faults[_i / 3].options, "sh:echo started >&2");
	char wanted[1024];

	if (requests[_i % 3] != NULL) {
		run_send(run, requests[_i % 3]);
		run_expect_error(run, "0", CODE_INTERNAL, "not-started");
		ck_assert(!at_exists(run->message, "error data status"));
		snprintf(wanted, sizeof(wanted), "canceld: %s\n",
		    strstr(at_text(run->message, "error message"), "the server was not started: ") +
			28);
	}
	run_expect_end(run);
	run_expect_exit(run, 125);
	for (int i = 0; i < 3; i++)
		if (strstr(run->error.data, said[i]) == NULL)
			run_fail(run, "%s: it does not say '%s'", faults[_i / 3].options, said[i]);
	if (requests[_i % 3] != NULL)
		ck_assert_str_eq(run->error.data, wanted);
	ck_assert_ptr_null(strstr(run->error.data, "started\n"));
	run_end(run);
}

/* canceld does not wait for anything. */
TESTS(a_person_is_told_at_once, 0, 2)
{
	int master = open_terminal(false);
	struct run *run = run_start(
	    &(struct setup){ .options = _i == 0 ? "-t 30" : "-l /nonexistent/directory/log",
		.command = "sh:cat",
		.in = ptsname(master) });

	run->to = master;
	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(
	    strstr(run->error.data, _i == 0 ? "--timeout '30'" : "--log '/nonexistent"));
	run_end(run);
}

TEST(on_a_terminal_it_says_what_it_waits_for)
{
	int master = open_terminal(false);
	struct run *run = run_start(&(struct setup){ .in = ptsname(master) });

	run->to = master;
	run_expect_logged(run, "hint=\"waiting for JSON-RPC messages");
	run_send_text(run, "\x04", 1);
	run_finish(run, 0);
}

/* A person logs in: the command has the terminal, and the process that the client has started. */
TEST(on_a_terminal_alone_the_command_runs_in_its_place)
{
	shell_expect_terminal(80,
	    "test=$$; export test; exec \"$CANCELD\" --wrapped -l /nonexistent/log -t 30s -- sh -c '"
	    "test -t 0 && test -t 1 && test $test = $$ && trap - PIPE && echo its own; kill -PIPE $$; echo ignored'",
	    "-D keeps canceld between\r\nits own\r\n");
	ck_assert_ptr_null(strstr(shell_output, "ignored"));
	shell_expect_terminal(80, "\"$CANCELD\" no-such-program; echo status=$?",
	    "it is not in PATH: give the absolute path (PATH is /");
	ck_assert_ptr_nonnull(strstr(shell_output, "status=127"));
	shell_expect_terminal(80, "\"$CANCELD\" /tmp; echo status=$?",
	    "Is a directory\r\nstatus=126");
	shell_expect_terminal(80, "\"$CANCELD\" /etc/passwd; echo status=$?",
	    "Permission denied\r\nstatus=126");
}

TEST(a_reader_that_leaves_is_no_fault)
{
	struct run *run = run_start(&(struct setup){ .bare = true,
	    .command =
		"sh:trap '' PIPE; { sleep 0.2; \"$CANCELD\" --help; echo status=$? >&2; } | true" });

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
