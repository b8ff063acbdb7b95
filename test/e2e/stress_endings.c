/* The ways a busy session ends: each request is cancelled, and within two seconds no process is left. */
#include "stress.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "process.h"

enum {
	CALLS = 1000,
	WITHIN = 2000, /* milliseconds */
	TRIES = 3,     /* as a busy machine is slower */
};

/* A dead client reads no stderr, and a server that writes there dies of that. */
#define DEMO "\"$DEMO_SERVER\" --record \"$E2E_DIRECTORY/$E2E_MARK\" 2>/dev/null"

static const char *const servers[] = {
	"sh:exec " DEMO,
	"sh:exec " DEMO " --ignore-eof --ignore-term",
	/* Its child ends neither with it nor at SIGTERM. */
	"sh:trap '' TERM; sleep 600 & exec " DEMO,
};

enum { SERVERS = sizeof(servers) / sizeof(*servers) };

/* A thousand calls that never end, and an answer that the client does not read. */
static struct run *
busy_session(const char *server, const char *mark)
{
	const struct setup setup = { .command = server, .mark = mark };
	struct run *run = run_start(&setup);
	char id[16];

	run_handshake(run);
	run->stdout_unread = true;
	run_call(run, "\"flood\"", "flood", "{\"bytes\":20000000}");
	for (int i = 0; i < CALLS; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_call(run, id, "sleep", "{\"ms\":600000}");
	}
	snprintf(id, sizeof(id), "\"id\":%d,", CALLS - 1);
	run_expect_received(run, id);
	return run;
}

static long
wait_for_end(struct run *run, const char *how, int server)
{
	long start = milliseconds();
	char id[16];
	long took;

	run_expect_gone(run);
	took = milliseconds() - start;
	stress_report("ends: %s, server %d: all gone after %ld ms\n", how, server, took);
	for (int i = 0; i < CALLS; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_expect_cancelled(run, id);
	}
	run_end(run);
	return took;
}

static void
expect_in_time(long (*end)(int server), int server)
{
	for (int i = 0; i < TRIES; i++)
		if (end(server) <= WITHIN)
			return;
	ck_abort_msg("it took more than %d ms %d times", WITHIN, TRIES);
}

static long
end_by_signal(int server)
{
	struct run *run = busy_session(servers[server], NULL);

	kill(run->pid, SIGTERM);
	return wait_for_end(run, "SIGTERM", server);
}

SUITE("endings");

TESTS(at_sigterm, 0, SERVERS)
{
	expect_in_time(end_by_signal, _i);
}

static long
end_by_input(int server)
{
	struct run *run = busy_session(servers[server], NULL);

	run_close_in(run);
	return wait_for_end(run, "end of input", server);
}

TESTS(at_the_end_of_input, 0, SERVERS)
{
	expect_in_time(end_by_input, _i);
}

/* Keeps the client's ends open until it is killed; writes a byte to ready when all is under way. */
_Noreturn static void
be_client(const char *server, const char *mark, int ready)
{
	busy_session(server, mark);
	if (write(ready, "!", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static long
end_by_killed_client(int server)
{
	struct pollfd ready = { .events = POLLIN };
	char mark[64];
	int ends[2];
	pid_t client;

	mark_new(mark, sizeof(mark));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	client = fork();
	ck_assert_int_ge(client, 0);
	if (client == 0)
		be_client(servers[server], mark, ends[1]);
	close(ends[1]);
	ready.fd = ends[0];
	ck_assert_int_eq(poll(&ready, 1, HARNESS_LIMIT), 1);
	ck_assert_int_eq(ready.revents & POLLIN, POLLIN);
	close(ends[0]);
	kill(client, SIGKILL);
	waitpid(client, NULL, 0);
	return wait_for_end(run_observe(mark), "client killed", server);
}

TESTS(when_the_client_is_killed, 0, SERVERS)
{
	expect_in_time(end_by_killed_client, _i);
}
