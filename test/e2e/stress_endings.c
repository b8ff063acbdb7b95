/* The ways a busy session ends: each request is cancelled, and two seconds later no process is left. */
#include "stress.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"
#include "talk.h"

enum {
	CALLS = 1000,
	AFTER_ALL = 2000,
};

/* A dead client reads no stderr, and a server that writes there dies of that. */
#define DEMO "\"$DEMO_SERVER\" --record \"$E2E_DIRECTORY/$E2E_MARK\" 2>/dev/null"

static const char *const servers[] = {
	"sh:exec " DEMO,
	"sh:exec " DEMO " --ignore-eof --ignore-term",
	/* What it has started ends neither with it nor at SIGTERM. */
	"sh:trap '' TERM; sleep 600 & exec " DEMO,
};

enum { SERVERS = sizeof(servers) / sizeof(*servers) };

/* A thousand calls without an end, and an answer of which the client reads nothing. */
static struct run *
busy_session(const char *server, const char *mark)
{
	const struct setup setup = { .command = server, .mark = mark };
	struct run *run = run_start(&setup);
	char id[16];

	run_handshake(run);
	run->deaf = true;
	run_call(run, "\"flood\"", "flood", "{\"bytes\":20000000}");
	for (int i = 0; i < CALLS; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_call(run, id, "sleep", "{\"ms\":600000}");
	}
	snprintf(id, sizeof(id), "\"id\":%d,", CALLS - 1);
	run_expect_received(run, id);
	return run;
}

static void
expect_end(struct run *run, const char *how, int server)
{
	long start = milliseconds();
	char id[16];

	run_expect_gone(run, AFTER_ALL - slack());
	stress_report("ends: %s, server %d: all gone after %ld ms\n", how, server, milliseconds() - start);
	for (int i = 0; i < CALLS; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_expect_cancelled(run, id);
	}
	run_end(run);
}

START_TEST(at_sigterm)
{
	struct run *run = busy_session(servers[_i], NULL);

	kill(run->pid, SIGTERM);
	expect_end(run, "SIGTERM", _i);
}
END_TEST

START_TEST(at_the_end_of_input)
{
	struct run *run = busy_session(servers[_i], NULL);

	run_close_in(run);
	expect_end(run, "end of input", _i);
}
END_TEST

/* Holds the client's ends until it is killed; writes a byte to ready when all is under way. */
_Noreturn static void
be_client(const char *server, const char *mark, int ready)
{
	busy_session(server, mark);
	if (write(ready, "!", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

START_TEST(when_the_client_is_killed)
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
		be_client(servers[_i], mark, ends[1]);
	close(ends[1]);
	ready.fd = ends[0];
	ck_assert_int_eq(poll(&ready, 1, HARNESS_LIMIT), 1);
	ck_assert_int_eq(ready.revents & POLLIN, POLLIN);
	close(ends[0]);
	kill(client, SIGKILL);
	waitpid(client, NULL, 0);
	expect_end(run_observe(mark), "client killed", _i);
}
END_TEST

Suite *
suite_endings(void)
{
	Suite *suite = suite_create("endings");
	TCase *tests = tcase_create("endings");

	tcase_set_timeout(tests, 40);
	tcase_add_loop_test(tests, at_sigterm, 0, SERVERS);
	tcase_add_loop_test(tests, at_the_end_of_input, 0, SERVERS);
	tcase_add_loop_test(tests, when_the_client_is_killed, 0, SERVERS);
	suite_add_tcase(suite, tests);
	return suite;
}
