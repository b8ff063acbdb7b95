/*
 * The matrix: every fault, in every state, behind every wrapper. Afterwards no process is left, and
 * every request of a client that still reads was answered once. Several processes run cells side by
 * side, as most of it is waiting.
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "client.h"
#include "leak.h"
#include "needs.h"
#include "peers.h"

enum {
	WORKERS = 4,
	QUEUED = 3000,
	/* bytes; takes the answers to all of them, as canceld does not wait at a signal */
	PIPE = 1 << 20,
	STARTED = 50000, /* npx is slow on a busy machine */
};

enum fault {
	KILL_CANCELD,
	KILL_GROUP,
	TERMINATE,
	TERMINATE_TWICE,
	KILL_CLIENT,
	CLOSE_STDIN,
	CLOSE_STDOUT,
	SERVER_KILLED,
	SERVER_CRASHES,
	SERVER_EXITS,
	SERVER_MUTE,
	SERVER_DEAF,
	SERVER_STOPPED,
	FAULTS
};

static const char *const fault_names[FAULTS] = {
	[KILL_CANCELD] = "canceld SIGKILL",
	[KILL_GROUP] = "its group SIGKILL",
	[TERMINATE] = "canceld SIGTERM",
	[TERMINATE_TWICE] = "SIGTERM twice",
	[KILL_CLIENT] = "client SIGKILL",
	[CLOSE_STDIN] = "client closes stdin",
	[CLOSE_STDOUT] = "client closes stdout",
	[SERVER_KILLED] = "server SIGKILL",
	[SERVER_CRASHES] = "server SIGSEGV",
	[SERVER_EXITS] = "server exits 0",
	[SERVER_MUTE] = "server closes stdout",
	[SERVER_DEAF] = "server closes stdin",
	[SERVER_STOPPED] = "server SIGSTOP",
};

/* Only these requests have a short deadline: the server may take long to start. */
#define DEADLINES "-t hang=1s -t half=1s --term-after=500ms --kill-after=1s"

enum state { IDLE, IN_FLIGHT, HALF_WRITTEN, MANY_QUEUED, STATES };

static const char *const state_names[STATES] = { "idle", "in flight", "half written",
	"3,000 queued" };
static const char *const wrappers[] = { NULL, "sh", "npx" };

enum {
	WRAPPERS = sizeof(wrappers) / sizeof(wrappers[0]),
	NPX = WRAPPERS - 1,
	CELLS = (int)FAULTS * (int)STATES * WRAPPERS,
};

static bool without_npx;
static atomic_int *passes; /* of each cell; shared with the workers */
static int worker;

static bool
is_left_out(int number)
{
	return without_npx && number % WRAPPERS == NPX;
}

static bool
has_lines(const struct run *run, int count)
{
	const char *at = run->out.data + run->taken;

	for (; count > 0 && at != NULL; count--) {
		at = memchr(at, '\n', run->out.len - (size_t)(at - run->out.data));
		at = at == NULL ? NULL : at + 1;
	}
	return at != NULL;
}

static void
bring_to(struct run *run, int state)
{
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	for (long end = milliseconds() + STARTED; !has_lines(run, 1) && milliseconds() < end;)
		run_pump(run, 10);
	ck_assert(at_exists(run_expect_answer(run, "1"), "result"));
	if (state == IN_FLIGHT)
		run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hang\"}");
	if (state == HALF_WRITTEN) {
		run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"half\"}");
		run_expect_logged(run, "half an answer is written");
	}
	if (state != MANY_QUEUED)
		return;
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"stop-reading\"}");
	for (int i = 0; i < QUEUED; i++)
		run_sendf(run, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"hang\"}", i + 2);
}

static int
requests_in(enum state state)
{
	return state == IDLE ? 0 : state == MANY_QUEUED ? QUEUED : 1;
}

static void
count_answer(struct run *run, char *seen, const char *line)
{
	json_t *message = json_loads(line, 0, NULL);
	long id = (long)json_integer_value(json_object_get(message, "id"));

	if (message == NULL)
		run_fail(run, "no message: %s", line);
	if (id >= 2 && id < QUEUED + 2 && ++seen[id - 2] > 1)
		run_fail(run, "%ld was answered twice", id);
	json_decref(message);
}

static void
expect_answers(struct run *run, enum state state, bool all)
{
	static char seen[QUEUED];
	const char *line;

	memset(seen, 0, sizeof(seen));
	while ((line = run_line(run, 0)) != NULL)
		count_answer(run, seen, line);
	for (int i = 0; all && i < requests_in(state); i++)
		if (seen[i] != 1)
			run_fail(run, "%d was not answered", i + 2);
}

/*
 * Whether canceld ends the session: a signal came, or the server is gone as far as canceld can see.
 */
static bool
ends_by_itself(enum fault fault, bool direct)
{
	return fault <= TERMINATE_TWICE || (fault >= SERVER_KILLED && fault <= SERVER_EXITS) ||
	    (fault == SERVER_MUTE && direct); /* a wrapper still holds stdout */
}

static void
signal_canceld(struct run *run, enum fault fault)
{
	bool kills = fault == KILL_CANCELD || fault == KILL_GROUP;

	kill(fault == KILL_GROUP ? -run->pid : run->pid, kills ? SIGKILL : SIGTERM);
	if (fault == TERMINATE_TWICE) {
		run_expect_logged(run, "SIGNALLED");
		kill(run->pid, SIGTERM);
	}
}

static void
signal_server(struct run *run, enum fault fault)
{
	static const int numbers[FAULTS] = {
		[SERVER_KILLED] = SIGKILL,
		[SERVER_CRASHES] = SIGSEGV,
		[SERVER_EXITS] = SIGUSR1,
		[SERVER_MUTE] = SIGUSR2,
		[SERVER_DEAF] = SIGWINCH,
		[SERVER_STOPPED] = SIGSTOP,
	};

	pid_t server = process_child(run->pid, "--peer");

	ck_assert_int_gt(server, 0);
	kill(server, numbers[fault]);
}

static void
strike(struct run *run, enum fault fault, enum state state, bool direct)
{
	bool listens = fault == TERMINATE || fault == TERMINATE_TWICE || fault >= SERVER_KILLED;

	if (fault <= TERMINATE_TWICE)
		signal_canceld(run, fault);
	else if (fault == CLOSE_STDIN)
		run_close_in(run);
	else if (fault == CLOSE_STDOUT)
		run_close_out(run);
	else
		signal_server(run, fault);
	if (fault >= SERVER_KILLED && !ends_by_itself(fault, direct)) {
		/* The deadlines of the open requests pass. */
		run_until(run, has_lines(run, requests_in(state)), "not all was answered");
		run_close_in(run);
	}
	if (fault != CLOSE_STDOUT) {
		run_until(run, run->from < 0, "stdout did not end");
		expect_answers(run, state, listens);
	}
	run_expect_gone(run);
}

static void
kill_client(struct setup setup, enum state state)
{
	struct leak leak = leak_start(setup, false, bring_to, (int)state);

	kill(leak.client, SIGKILL);
	leak_end(&leak);
}

static void
set_directory(char *path, size_t size)
{
	snprintf(path, size, "%s/cell-XXXXXX", getenv("E2E_DIRECTORY"));
	ck_assert_ptr_nonnull(mkdtemp(path));
	setenv("TMPDIR", path, 1);
	setenv("XDG_RUNTIME_DIR", path, 1);
}

START_TEST(cell)
{
	int number = _i * WORKERS + worker;
	enum fault fault = (enum fault)(number / (STATES * WRAPPERS));
	enum state state = (enum state)(number / WRAPPERS % STATES);
	const char *behind = wrappers[number % WRAPPERS];
	struct setup setup = { .options = DEADLINES,
		.command = "peer puppet",
		.behind = behind,
		.own_group = true };
	struct run *run;
	char directory[300];

	if (number >= CELLS || is_left_out(number))
		return;
	set_directory(directory, sizeof(directory));
	adopt_orphans();
	if (fault == KILL_CLIENT) {
		kill_client(setup, state);
	} else {
		run = run_start(&setup);
		fcntl(run->from, F_SETPIPE_SZ, PIPE);
		bring_to(run, (int)state);
		strike(run, fault, state, behind == NULL);
		run_end(run);
	}
	ck_assert_int_ne(system("find $TMPDIR -type s | grep ."), 0);
	atomic_fetch_add(&passes[number], 1);
}
END_TEST

static int
work(int rounds)
{
	Suite *suite = suite_create("matrix");
	TCase *cells = tcase_create("cells");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cells, TEST_LIMIT);
	tcase_add_checked_fixture(cells, process_end_with_parent, NULL);
	for (int i = 0; i < rounds; i++)
		tcase_add_loop_test(cells, cell, 0, (CELLS + WORKERS - 1) / WORKERS);
	suite_add_tcase(suite, cells);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_MINIMAL);
	srunner_print(runner, srunner_ntests_failed(runner) > 0 ? CK_NORMAL : CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}

static void
print_table(int rounds)
{
	printf("%-22s", "passes of each");
	for (int state = 0; state < STATES; state++)
		printf("%-21s", state_names[state]);
	printf("\n%-22s", "");
	for (int i = 0; i < STATES * WRAPPERS; i++)
		printf("%-7s", wrappers[i % WRAPPERS] == NULL ? "direct" : wrappers[i % WRAPPERS]);
	for (int i = 0; i < CELLS; i++) {
		if (i % (STATES * WRAPPERS) == 0)
			printf("\n%-22s", fault_names[i / (STATES * WRAPPERS)]);
		if (is_left_out(i))
			printf("%-7s", "-");
		else
			printf("%-7d", passes[i]);
	}
	printf("\n%d rounds of %d cells%s\n", rounds,
	    without_npx ? CELLS - CELLS / WRAPPERS : CELLS, without_npx ? ", without npx" : "");
}

int
matrix(int rounds, bool with_npx)
{
	int failed = 0;
	int status;

	passes = mmap(NULL, CELLS * sizeof(*passes), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (passes == MAP_FAILED)
		return 1;
	without_npx = !with_npx || system("command -v npx >/dev/null") != 0;
	for (worker = 0; worker < WORKERS; worker++)
		if (process_fork() == 0)
			exit(work(rounds));
	while (wait(&status) > 0)
		failed |= status != 0;
	print_table(rounds);
	needs_report();
	return failed;
}
