/* A machine whose clock is set, and one that is suspended, while canceld waits. */
#include <sys/mman.h>

#include "clock-shift.h"
#include "client.h"
#include "process.h"
#include "shell.h"

enum { HOUR = 3600, DAY = 24 * HOUR }; /* seconds */

static struct clock_shift *shift; /* of canceld's clocks */

static void
share(void)
{
	int fd = open(path_of("clock"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	shell_expect("true", "rm -rf $HOME/.local", 0, "");
	ck_assert_int_eq(ftruncate(fd, sizeof(*shift)), 0);
	shift = mmap(NULL, sizeof(*shift), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(shift, MAP_FAILED);
	close(fd);
	ck_assert_int_eq(setenv("CLOCK_SHIFT", path_of("clock"), 1), 0);
}

SUITE("clock", .alone = true, .before = share);

/* NULL: this program loads no library, as it has none. */
static struct run *
run_shifted(const char *options, const char *command)
{
	struct run *run = run_start(&(struct setup){
	    .options = options,
	    .command = command,
	    .shell =
		"export LD_PRELOAD=$CLOCK_SHIFTER ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0",
	});

	run_handshake(run);
	if (shift->loaded)
		return run;
	ck_assert_msg(!process_has_text(getenv("CANCELD"), "/ld-"), "clock-shift was not loaded");
	printf("skipped: a clock that is set: canceld is linked statically\n");
	run_leave(run, 0);
	run_end(run);
	return NULL;
}

TESTS(a_clock_that_is_set_moves_no_deadline, 0, 2)
{
	struct run *run = run_shifted("--name mine -t tools/call:sleep=500ms", NULL);
	const char *kept =
	    "grep '\"id\":3,' $HOME/.local/state/canceld/history | grep -o '\"elapsed\":[0-9]*'";
	long elapsed;

	if (run == NULL)
		return;
	run_call(run, "3", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":3");
	shift->real = _i == 0 ? -HOUR : DAY;
	run_expect_error(run, "3", CODE_CANCELLED, "timeout");
	elapsed = at_number(run->message, "error data elapsedMs");
	ck_assert_int_ge(elapsed, 500);
	ck_assert_int_lt(elapsed, HARNESS_LIMIT);
	run_expect_echo(run, "4");
	ck_assert_ptr_null(strstr(run->error.data, "SKEWED"));
	run_leave(run, 0);
	run_end(run);
	shell_expect("true", kept, 0, "\"elapsed\":");
	elapsed = atol(shell_output + strlen("\"elapsed\":"));
	ck_assert_int_ge(elapsed, 500);
	ck_assert_int_lt(elapsed, HARNESS_LIMIT);
	shell_expect("true", "$CANCELCTL history --since 3d", 0, "timed_out");
}

/*
 * As a container or virtual machine that is paused; while a machine sleeps, Linux's clock stands
 * still with it. For less time than the call has left, for more, and when nothing is due.
 */
TESTS(time_in_which_the_machine_stood_still_is_none, 0, 3)
{
	struct run *run = run_shifted("--name mine -t tools/call:sleep=20m", NULL);
	const char *left = "$C ls -j $PID | grep -o '\"timeout_left_ms\":[0-9]*' | cut -d: -f2";

	if (run == NULL)
		return;
	if (_i < 2) {
		run_call(run, "2", "sleep", FOR_EVER);
		run_expect_received(run, "\"id\":2");
	}
	run_settle(run);
	shift->monotonic = shift->real = _i == 0 ? HOUR / 6 : HOUR;
	run_expect_echo(run, "3");
	if (_i < 2) {
		run_expect_logged(run, "SKEWED");
		run_expect_shell(run, left, 0, "\n");
		ck_assert_int_gt(atol(shell_output), 19 * 60 * 1000);
		run_call(run, "4", "sleep", "{\"ms\":1}");
		run_expect_result(run, "4");
	} else {
		ck_assert_ptr_null(strstr(run->error.data, "SKEWED"));
	}
	run_leave(run, 0);
	run_end(run);
}

#define ENDS(hanging) \
	"sh:f=$E2E_DIRECTORY/$E2E_MARK; if [ -e $f ]; then echo >>$f; read m; i=${m#*'\"id\":'}; " \
	"[ $(wc -l <$f) != " hanging " ] || read n; " \
	"echo '{\"jsonrpc\":\"2.0\",\"id\":'${i%%,*}',\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{}}}'; echo no base >&2; " \
	"exit 4; fi; : >$f; exec $DEMO_SERVER"

/*
 * Whatever -r allows, also if the last one answers nothing for minutes; but not before it is asked
 * something. Its clock goes on while it waits, as a byte from the client shows it.
 */
TESTS(a_server_that_ends_after_each_handshake_is_given_up, 0, 4)
{
	bool hangs = _i & 1, idle = _i & 2;
	struct run *run = run_shifted("-v -r1000/1m", hangs ? ENDS("20") : ENDS("none"));

	if (run == NULL)
		return;
	kill(process_child(run->pid, "demo-server"), SIGKILL);
	if (!idle)
		run_call(run, "2", "echo", "{}");
	for (size_t i = 1; i <= 20; i++) {
		run_until(run, count_of(run->error.data, " RESTARTING count=") == i,
		    "it was not started %zu times", i);
		shift->monotonic += 10;
		run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
	}
	if (hangs) {
		run_until(run,
		    count_of(run->error.data, " REPLAYED to=server method=initialize") == 20,
		    "it is not asked");
		/* It stands still, which moves the deadline; then that passes. */
		for (int seconds = 300; seconds > 0; seconds -= 241) {
			run_settle(run);
			shift->monotonic += seconds;
			run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
		}
		run_expect_logged(run, "REPLAY_FAILED");
	}
	if (idle) {
		run_expect_logged(run, " hint=\"it is started again with the next request\"");
		run_call(run, "2", "echo", "{}");
	}
	run_expect_error(run, "2", CODE_INTERNAL, "server-exited");
	if (_i == 0)
		ck_assert_str_eq(at_text(run->message, "error message"),
		    "canceld: tools/call echo cannot be answered: the server has exited with status 4, and is not started again "
		    "as it was started 20 times in a row and answered no request of the client's: no base");
	run_expect_logged(run, "RESTART_REFUSED reason=\"it was started 20 times in a row");
	run_expect_exit(run, 4);
	run_end(run);
}
