/* Servers that exit before the handshake: what the client is told, and how much of their stderr. */
#include "client.h"

static const struct {
	const char *command, *message;
	int status;
} deaths[] = {
	{ "sh:echo 'npm error 404 no such package' >&2; read line; exit 1",
	    "canceld: initialize cannot be answered: the server has exited with status 1: npm error 404 no such package",
	    1 },
	{ "sh:read line; echo 'error: missing API key'; exit 1",
	    "canceld: initialize cannot be answered: the server has exited with status 1: error: missing API key",
	    1 },
	{ "sh:read line; printf 'use --help\\n{\"jsonrpc\":\"2.0\",\"id\":0,'; echo 'bad option' >&2; exit 2",
	    "canceld: *exited with status 2: use --help\nbad option", 2 },
	{ "sh:printf 'no newline \\377' >&2; exit 0", "canceld: *: no newline ?", 0 },
	{ "sh:read line; kill -SEGV $$",
	    "canceld: initialize cannot be answered: the server was ended by signal 11",
	    128 + SIGSEGV },
	/*
	 * Behind "initialize cannot be answered: " where the request was there before it was known:
	 * a busy machine.
	 */
	{ "sh:PATH=/none; export PATH; exec \"$CANCELD\" -- no-such-program",
	    "canceld: *the server was not started: cannot start no-such-program: it is not in PATH: "
	    "give the absolute path (PATH is /none)",
	    127 },
	{ "/no/such/program",
	    "canceld: *the server was not started: cannot start /no/such/program: No such file or directory",
	    127 },
	{ "sh:exec \"$CANCELD\" -- 'npx -y foo'",
	    "canceld: *the server was not started: cannot start npx: its command has a blank: put each argument into args",
	    127 },
	{ "/etc/passwd",
	    "canceld: *the server was not started: cannot start /etc/passwd: Permission denied",
	    126 },
};

static void
expect_message(const char *is, const char *wanted)
{
	const char *star = strchr(wanted, '*');

	if (star == NULL) {
		ck_assert_str_eq(is, wanted);
		return;
	}
	ck_assert_int_eq(strncmp(is, wanted, (size_t)(star - wanted)), 0);
	ck_assert_uint_ge(strlen(is), strlen(star + 1));
	ck_assert_str_eq(is + strlen(is) - strlen(star + 1), star + 1);
}

SUITE("early-exits");

TESTS(initialize_is_told_why, 0, COUNT(deaths))
{
	struct run *run = run_options("", deaths[_i].command);

	run_send(run, INITIALIZE);
	run_expect_error(run, "0", CODE_INTERNAL,
	    strstr(deaths[_i].message, "not started") ? "not-started" : "server-exited");
	expect_message(at_text(run->message, "error message"), deaths[_i].message);
	run_expect_end(run);
	run_finish(run, deaths[_i].status);
}

/* The server has exited before the client's first message. */
TEST(a_client_that_comes_later_is_told_too)
{
	struct run *run = run_options("", "sh:echo 'cannot find module' >&2; exit 3");

	run_expect_logged(run, "SERVER_EXITED");
	run_send(run, INITIALIZE);
	run_expect_error(run, "0", CODE_INTERNAL, "server-exited");
	expect_message(at_text(run->message, "error message"), "canceld: *cannot find module");
	run_finish(run, 3);
}

/* Its stdin is closed before its exit is known. */
TESTS(the_error_names_the_status, 0, 10)
{
	struct run *run = run_options("", "sh:exec <&-; exit 3");

	run_send(run, INITIALIZE);
	run_expect_error(run, "0", CODE_INTERNAL, "server-exited");
	ck_assert_int_eq(at_number(run->message, "error data status"), 3);
	run_finish(run, 3);
}

/* ... of all requests that are open, also if another server follows. */
TESTS(in_an_open_session_its_last_lines_are_quoted, 0, 2)
{
	struct run *run = run_session(_i == 0 ? "" : "-r", NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_call(run, "3", "crash", "{\"status\":7}");
	run_expect_error(run, "2", CODE_INTERNAL, _i == 0 ? "server-exited" : "server-restarted");
	ck_assert_ptr_nonnull(
	    strstr(at_text(run->message, "error message"), ": demo-server: crash"));
	run_expect_error(run, "3", CODE_INTERNAL, _i == 0 ? "server-exited" : "server-restarted");
	ck_assert_ptr_nonnull(
	    strstr(at_text(run->message, "error message"), ": demo-server: crash"));
	if (_i == 0) {
		run_finish(run, 7);
		return;
	}
	run_ping(run);
	run_leave(run, 0);
	run_end(run);
}

/*
 * The server writes once canceld has logged its start, so that no line of canceld stands between
 * its own.
 */
TEST(stderr_passes_to_its_last_byte)
{
	struct run *run = run_options("",
	    "sh:read a; i=0; while [ $i -lt 500 ]; do echo \"line $i\"; i=$((i+1)); done >&2; printf last >&2; cat");

	run_expect_logged(run, "STARTED");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	run_expect_logged(run, "line 0\nline 1\n");
	run_expect_logged(run, "line 498\nline 499\nlast");
	run_leave(run, 0);
	run_end(run);
}
