/*
 * The ladder: SIGTERM for all that descends from the server, SIGKILL only when --kill-after has passed. Its times are long
 * here, so that a busy machine changes nothing: what has ended is not waited for. How long they are: times.c.
 */
#include "client.h"
#include "needs.h"

/* A server that saves its state for a while when SIGTERM has come, and does not end at end of file. */
#define FILE_OF_RUN "$E2E_DIRECTORY/$E2E_MARK"
#define SAVER \
	"trap \"echo ends >&2; sleep 0.4; echo saved >>" FILE_OF_RUN "; exit 0\" TERM; echo up >>" FILE_OF_RUN \
	"; i=0; while [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done"

enum end { END_INPUT, END_SIGNAL, END_KILL };

static const struct cell {
	const char *command;
	enum end end;
} cells[] = {
	{ "sh:" SAVER, END_SIGNAL },
	{ "sh:" SAVER, END_KILL },
	/* Its parent ends at SIGTERM, as a launcher does. */
	{ "sh:(" SAVER "); true", END_INPUT },
	{ "sh:(" SAVER "); true", END_SIGNAL },
	{ "sh:(" SAVER "); true", END_KILL },
	/* In a session of its own; its parent ends at end of file, or at SIGTERM. */
	{ "sh:setsid sh -c '" SAVER "' & cat >/dev/null", END_INPUT },
	{ "sh:setsid sh -c '" SAVER "' & cat >/dev/null", END_KILL },
	{ "sh:setsid sh -c '" SAVER "'; sleep 30", END_SIGNAL },
	/* The server itself has left its group. */
	{ "sh:exec setsid sh -c '" SAVER "'", END_SIGNAL },
	/* The server ignores SIGTERM. */
	{ "sh:(setsid sh -c '" SAVER "') & trap '' TERM; wait $!", END_INPUT },
};

static const char *
file_of(const struct run *run)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", getenv("E2E_DIRECTORY"), run->mark);
	return path;
}

static void
expect_saved(const char *options, const char *command, enum end end)
{
	struct run *run = run_options(options, command);

	run_until(run, process_has_text(file_of(run), "up"), "the server did not start");
	if (end == END_SIGNAL) {
		/* The server may be up before canceld handles signals. */
		run_until(run, process_catches(run->pid, SIGTERM), "it does not handle SIGTERM");
		kill(run->pid, SIGTERM);
	} else {
		run_close_in(run);
	}
	if (end == END_KILL) {
		run_expect_logged(run, "step=SIGTERM");
		kill(run->pid, SIGKILL);
	} else {
		run_expect_exit(run, end == END_SIGNAL ? 128 + SIGTERM : 0);
		ck_assert_ptr_null(strstr(run->error.data, "SIGKILL"));
	}
	run_expect_gone(run);
	ck_assert(process_has_text(file_of(run), "saved"));
	run_end(run);
}

SUITE("ladder", .seconds = 12);

TESTS(all_that_the_server_started_has_time_to_save, 0, sizeof(cells) / sizeof(cells[0]))
{
	if (strstr(cells[_i].command, "setsid") != NULL) {
		NEEDS(SYSTEM_ADOPTS);
	}
	expect_saved("--term-after=0 --kill-after=6s", cells[_i].command, cells[_i].end);
}

/* In the group that it leads itself, which is no more that of the start. */
TEST(with_sweep_group_a_server_that_has_left_it_has_time_to_save)
{
	expect_saved("--sweep=group --term-after=0 --kill-after=6s", "sh:exec setsid sh -c '(" SAVER "); true'",
	    END_SIGNAL);
}

TEST(the_log_says_what_a_signal_ended_and_what_gives_more_time)
{
	struct run *run;

	NEEDS(SYSTEM_ADOPTS);
	run = run_options("--term-after=0 --kill-after=0", "demo --ignore-eof --ignore-term");
	run_ping(run);
	run_leave(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "FORCED step=SIGTERM process="));
	ck_assert_ptr_nonnull(strstr(run->error.data, "name=demo-server hint=\"--term-after gives it more time\""));
	ck_assert_ptr_nonnull(strstr(run->error.data, "FORCED step=SIGKILL process="));
	ck_assert_ptr_nonnull(strstr(run->error.data, "name=demo-server hint=\"--kill-after gives it more time\""));
	run_end(run);
}

/* LSP, "Exit Notification". The client keeps its end of stdin open. */
TEST(exit_begins_the_end)
{
	struct run *run = run_options("-v", "sh:exec cat >/dev/null");

	run_send_text(run, "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}", 55);
	run_expect_exit(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data, "SERVER_ENDED"));
	ck_assert_ptr_null(strstr(run->error.data, "FORCED"));
	run_end(run);
}

/* setsid(1) starts another process if it leads a group, and setsid(2) fails then. */
TEST(a_server_may_begin_a_session_of_its_own)
{
	struct run *run = run_session(NULL, "sh:exec setsid $DEMO_SERVER");

	run_expect_echo(run, "2");
	run_leave(run, 0);
	ck_assert_ptr_null(strstr(run->error.data, "FORCED"));
	ck_assert_ptr_null(strstr(run->error.data, "SWEPT"));
	run_end(run);
}
