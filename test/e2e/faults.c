/*
 * Faults of the system: full disks, few descriptors, little memory, a guardian that is lost. None
 * is silent.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "client.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

/* With three descriptors the dynamic linker opens no library. */
enum { FEWEST = 4, MOST = 21 };

SUITE("faults", .seconds = 16);

/* The client keeps its end of stdin open; in the last case the server has gone by itself. */
TESTS(a_full_stdout_is_a_failure, 0, 3)
{
	static const struct setup setups[] = {
		{ .out = "/dev/full" },
		{ .out = "/dev/full", .options = "--drain -q" },
		{ .out = "/dev/full",
		    .command = "sh:read x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'" },
	};
	struct run *run = run_start(&setups[_i]);

	run_send(run, PING);
	run_expect_exit(run, 125);
	ck_assert_uint_eq(count_of(run->error.data,
			      "FAILED doing=\"write to stdout\" reason=\"No space left"),
	    1);
	run_end(run);
}

TEST(a_closed_stdout_is_a_failure)
{
	struct run *run = run_start(&(struct setup){ .shell = "exec >&-" });

	run_send(run, PING);
	run_expect_exit(run, 125);
	ck_assert_uint_eq(count_of(run->error.data,
			      "FAILED doing=\"write to stdout\" reason=\"Bad file descriptor"),
	    1);
	run_end(run);
}

TEST(an_unreadable_stdin_is_a_failure)
{
	struct run *run = run_start(&(struct setup){ .in = "/" });

	run_expect_exit(run, 125);
	ck_assert_uint_eq(count_of(run->error.data,
			      "FAILED doing=\"read stdin\" reason=\"Is a directory"),
	    1);
	run_end(run);
}

TESTS(a_lost_log_is_told_once_and_ends_nothing, 0, 3)
{
	static const char *const reasons[] = { "No space left on device", "File too large",
		"Broken pipe" };
	const char *file = _i == 0 ? "/dev/full" : path_of("log");
	char options[400], told[400];
	int reader =
	    _i == 2 && mkfifo(file, 0600) == 0 ? open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	struct run *run;

	/* It is almost as long as it may be: what counts coverage writes files, too. */
	if (_i == 1) {
		file_write(file, "", 0600);
		ck_assert_int_eq(truncate(file, 2048 * 512 - 500), 0);
	}
	snprintf(options, sizeof(options), "-vv --log %s", file);
	snprintf(told, sizeof(told), "canceld: --log: %s: %s\n", file, reasons[_i]);
	run = run_start(&(struct setup){ .options = options,
	    .command = "peer puppet",
	    .shell = _i == 1 ? "ulimit -f 2048" : NULL });
	run_ping(run);
	close(reader);
	for (int i = 0; i < 20; i++)
		run_ping(run);
	run_leave(run, 0);
	ck_assert_uint_eq(count_of(run->error.data, told), 1);
	run_end(run);
}

TESTS(a_log_is_for_its_owner, 0, 3)
{
	char options[400];
	struct stat status;
	struct run *run;

	snprintf(options, sizeof(options), "--log %s", path_of("log"));
	if (_i > 0)
		file_write(path_of("log"), "", _i == 1 ? 0600 : 0644);
	run = run_session(options, NULL);
	run_leave(run, 0);
	ck_assert_int_eq(stat(path_of("log"), &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, _i < 2 ? 0600 : 0644);
	ck_assert_int_eq(process_has_text(path_of("log"), "LOG_EXPOSED mode=0644\n"), _i == 2);
	run_end(run);
}

TEST(a_line_of_the_log_begins_a_line_on_stderr)
{
	struct run *run = run_options("-v", "sh:printf half >&2; read x; exit 3");

	run_expect_logged(run, "half");
	run_send(run, PING);
	run_expect_exit(run, 3);
	ck_assert_ptr_nonnull(strstr(run->error.data, "half\ncanceld["));
	ck_assert_ptr_null(strstr(run->error.data, "\n\n"));
	run_end(run);
}

TESTS(with_few_descriptors_it_works_or_says_so, FEWEST, MOST)
{
	char limit[64];
	struct run *run;

	snprintf(limit, sizeof(limit), "ulimit -n %d", _i);
	run = run_start(&(struct setup){ .shell = limit });
	run_send(run, PING);
	run_leave(run, ANY_STATUS);
	if (WEXITSTATUS(run->status) != 0) {
		ck_assert_int_eq(WEXITSTATUS(run->status), 125);
		ck_assert_ptr_nonnull(strstr(run->error.data, strerror(EMFILE)));
	}
	run_end(run);
}

/* The message is longer than the memory that there may be. */
TEST(without_memory_it_ends_with_a_line)
{
	const char *variant = getenv("VARIANT");
	static char piece[1 << 20];
	struct run *run;

	if (strcmp(variant, "asan") == 0 || strcmp(variant, "valgrind") == 0)
		return;
	run = run_start(&(struct setup){ .shell = "ulimit -v 60000" });
	run_handshake(run);
	memset(piece, 'x', sizeof(piece));
	run_send_text(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"", 35);
	for (int i = 0; i < 100; i++)
		run_send_text(run, piece, sizeof(piece));
	run_expect_exit(run, 125);
	ck_assert_uint_eq(count_of(run->error.data, "canceld: out of memory\n"), 1);
	ck_assert_ptr_null(strstr(run->error.data, "ssertion"));
	run_end(run);
}

static pid_t
guardian_of(struct run *run)
{
	pid_t pid;

	while ((pid = process_guardian(run->pid)) <= 1)
		run_pump(run, 1);
	return pid;
}

/* The server ends with it, whatever it does with its end of input. */
TEST(a_lost_guardian_is_replaced)
{
	struct run *run = run_session("", "demo --ignore-eof --ignore-term");
	pid_t guardian = guardian_of(run);

	run_hang(run, "2");
	kill(guardian, SIGKILL);
	run_expect_error(run, "2", CODE_INTERNAL, "server-exited");
	run_expect_exit(run, 128 + SIGKILL);
	ck_assert(process_ended(guardian));
	ck_assert_uint_eq(count_of(run->error.data, "GUARDIAN_LOST"), 1);
	run_end(run);
}

/* What ends with it then is ended at the client's wish. */
TEST(a_guardian_may_be_lost_at_the_end)
{
	struct run *run = run_session("-v --term-after=10s", "demo --ignore-eof");
	pid_t guardian = guardian_of(run);

	run_close_in(run);
	run_expect_logged(run, "stdin closed");
	kill(guardian, SIGKILL);
	run_expect_exit(run, 0);
	ck_assert_uint_eq(count_of(run->error.data, "GUARDIAN_LOST"), 1);
	run_end(run);
}

/* It is woken with the first signal to the server; how that ended, it tells then. */
TESTS(a_guardian_may_be_stopped, 0, 2)
{
	struct run *run = run_session("-v", NULL);
	pid_t guardian = guardian_of(run);

	kill(guardian, SIGSTOP);
	while (process_state(guardian) != 'T')
		run_pump(run, 1);
	run_hang(run, "2");
	if (_i == 0) {
		run_leave(run, 0);
	} else {
		kill(process_first(guardian), SIGKILL);
		run_expect_error(run, "2", CODE_INTERNAL, "server-exited");
		run_expect_exit(run, 128 + SIGKILL);
	}
	ck_assert_ptr_null(strstr(run->error.data, "GUARDIAN_LOST"));
	run_end(run);
}

/*
 * What the log has told of as sent is in the queue, and the log says how much of that was not
 * written.
 */
TEST(what_was_not_written_at_the_end_is_told)
{
	struct run *run = run_options("-v", "peer puppet");

	run_ping(run);
	run_fill(run);
	run_close_in(run);
	run_expect_logged(run, "stdin closed\" unwritten=");
	run_finish(run, 0);
}

/* The kernel spares it, as one that has changed its user id. */
TEST(a_server_that_outlives_its_guardian_is_ended)
{
	struct run *run = run_options("", "peer unbound");

	run_ping(run);
	kill(guardian_of(run), SIGKILL);
	run_expect_logged(run, "GUARDIAN_LOST");
	run_finish(run, 128 + SIGKILL);
}

#ifdef F_SETLEASE
/*
 * A program that execve(2) waits for, as for one on a dead file server, until the lease is closed.
 */
static int
hold_program(const char *path, const char *text)
{
	const char *fresh = path_of("fresh");
	int lease;

	file_write(fresh, text, 0700);
	ck_assert_int_eq(rename(fresh, path), 0);
	signal(SIGIO, SIG_IGN);
	lease = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(fcntl(lease, F_SETLEASE, F_WRLCK), 0);
	return lease;
}

static const char script[] = "#!/bin/sh\nexec \"$DEMO_SERVER\"\n";

/*
 * At the first start, or at the second one. What writes a history is older than the second
 * guardian, and would be taken for it.
 */
static struct run *
start_held(bool again, const char *text, int *lease)
{
	const char *path = path_of("server");
	struct run *run = NULL;

	if (again) {
		file_write(path, script, 0700);
		run = run_session("-r -T ping=300ms --no-history", path);
	}
	*lease = hold_program(path, text);
	if (again) {
		run_call(run, "2", "crash", "{\"status\":9}");
		run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	} else {
		run = run_options("-v", path);
	}
	run_until(run, fcntl(*lease, F_GETLEASE) != F_WRLCK, "nothing waits for the program");
	return run;
}

TESTS(a_start_that_hangs_can_be_ended, 0, 6)
{
	int lease;
	struct run *run = start_held(_i >= 3, script, &lease);

	if (_i % 3 == 0)
		run_leave(run, 0);
	else
		kill(run->pid, _i % 3 == 1 ? SIGTERM : SIGKILL);
	if (_i % 3 == 1)
		run_expect_exit(run, 128 + SIGTERM);
	run_expect_gone(run);
	close(lease);
	run_end(run);
}

TEST(messages_wait_for_a_start_that_hangs)
{
	int lease;
	struct run *run = start_held(false, script, &lease);

	run_send(run, INITIALIZE);
	run_send(run, PING);
	run_expect_logged(run, "DIALECT");
	ck_assert_ptr_null(strstr(run->error.data, "STARTED"));
	close(lease);
	run_expect_result(run, "0");
	run_expect_result(run, "1");
	run_expect_logged(run, "STARTED");
	run_leave(run, 0);
	run_end(run);
}

TEST(a_restart_that_hangs_stops_no_deadline)
{
	int lease;
	struct run *run = start_held(true, script, &lease);

	run_send(run, PING);
	run_expect_error(run, "1", CODE_CANCELLED, "timeout");
	close(lease);
	run_expect_echo(run, "3");
	run_leave(run, 0);
	run_end(run);
}

/* It is refused as one that is refused at once. */
TESTS(a_start_may_be_refused_late, 0, 2)
{
	int lease;
	struct run *run = start_held(_i == 1, "#!/none\n", &lease);

	if (_i == 0)
		run_send(run, INITIALIZE);
	else
		run_call(run, "1", "echo", "{}");
	close(lease);
	run_expect_error(run, _i == 0 ? "0" : "1", CODE_INTERNAL,
	    _i == 0 ? "not-started" : "server-exited");
	ck_assert_ptr_nonnull(
	    strstr(at_text(run->message, "error message"), "No such file or directory"));
	run_expect_exit(run, 127);
	ck_assert_ptr_nonnull(strstr(run->error.data, "FAILED doing=\"start"));
	run_end(run);
}

TESTS(the_guardian_may_be_lost_at_a_start_that_hangs, 0, 2)
{
	int lease;
	struct run *run = start_held(_i == 1, script, &lease);

	if (_i == 0)
		run_send(run, INITIALIZE);
	kill(guardian_of(run), SIGKILL);
	run_expect_logged(run, "GUARDIAN_LOST");
	run_expect_logged(run, "FAILED doing=\"start");
	if (_i == 0) {
		run_expect_error(run, "0", CODE_INTERNAL, "not-started");
		ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"),
		    ": its guardian was lost: it was killed"));
		run_expect_exit(run, 125);
	} else {
		close(lease);
		run_expect_echo(run, "3");
		run_leave(run, 0);
	}
	run_end(run);
	close(lease);
}
#endif
