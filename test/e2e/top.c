/* cancelctl top, on a terminal; and sockets beside that of the canceld that is meant. */
#include <check.h>
#include <glob.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "clock-shift.h"
#include "process.h"
#include "shell.h"

SUITE("top", .seconds = 23);

/* Reads the terminal until the text is there, and leaves what was read. */
static void
read_screen(int terminal, const char *text)
{
	size_t len = 0;

	while (strstr(shell_output, text) == NULL) {
		ssize_t got;

		if (len > sizeof(shell_output) / 2)
			len = 0;
		got = read(terminal, shell_output + len, sizeof(shell_output) - 1 - len);
		ck_assert_msg(got > 0, "the terminal never showed '%s', but:\n%s", text,
		    shell_output);
		len += (size_t)got;
		shell_output[len] = '\0';
	}
}

static void
await_screen(int terminal, const char *text)
{
	read_screen(terminal, text);
	shell_output[0] = '\0';
}

/* Reads whole screens until one has the text, and leaves that, without its first bytes. */
static void
await_frame(int terminal, const char *text)
{
	size_t len = 0;

	for (;;) {
		ck_assert_uint_lt(len, sizeof(shell_output) - 1);
		ck_assert_msg(read(terminal, shell_output + len, 1) == 1, "no screen had '%s'",
		    text);
		shell_output[++len] = '\0';
		if (len < 3 || strcmp(shell_output + len - 3, "\033[J") != 0)
			continue;
		if (strstr(shell_output, text) != NULL)
			return;
		len = 0;
	}
}

static pid_t
start_top_on(int *terminal, const char *name, const struct winsize *size)
{
	pid_t pid = forkpty(terminal, NULL, NULL, size);

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setenv("TERM", "xterm", 1);
		execl(getenv("CANCELCTL"), "cancelctl", "top", "--interval", "100ms", name,
		    (char *)NULL);
		_exit(127);
	}
	shell_output[0] = '\0';
	return pid;
}

static pid_t
start_top(int *terminal, const char *name)
{
	return start_top_on(terminal, name, &(struct winsize){ .ws_row = 12, .ws_col = 100 });
}

static void
type(int terminal, const char *keys)
{
	ck_assert_int_eq(write(terminal, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static void
expect_restored(int terminal, pid_t pid, int signal)
{
	int status;

	await_screen(terminal, "\033[?25h\033[?1049l");
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(signal == 0 ? WEXITSTATUS(status) : WTERMSIG(status), signal);
	close(terminal);
}

TEST(top_cancels_the_marked_request_after_a_question)
{
	struct run *run = run_hanging("--name tops", "7");
	int terminal;
	pid_t pid = start_top(&terminal, "tops");

	await_screen(terminal, "stubborn");
	ck_assert_int_eq(write(terminal, "c", 1), 1);
	await_screen(terminal, "Cancel? y or n: 7 tools/call stubborn, ");
	ck_assert_int_eq(write(terminal, "n", 1), 1);
	await_screen(terminal, "c: cancel");
	run_expect_shell(run, "$C ls $PID", 0, "stubborn");
	shell_output[0] = '\0';
	ck_assert_int_eq(write(terminal, "cy", 2), 2);
	await_screen(terminal, "cancelled 7 tools/call stubborn");
	await_screen(terminal, "by_person");
	type(terminal, "c");
	await_screen(terminal, "it has ended: there is nothing to cancel");
	type(terminal, "k");
	await_screen(terminal, "c: cancel");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	ck_assert_int_eq(write(terminal, "q", 1), 1);
	expect_restored(terminal, pid, 0);
	run_release(run);
	run_end(run);
}

TEST(top_marks_resizes_and_restores_the_terminal)
{
	struct run *run = run_hanging("--name marks", "7");
	struct winsize wide = { .ws_row = 40, .ws_col = 120 },
		       narrow = { .ws_row = 12, .ws_col = 50 },
		       small = { .ws_row = 6, .ws_col = 39 };
	int terminal;
	pid_t pid;

	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":8");
	pid = start_top(&terminal, "marks");
	await_screen(terminal, "\r> ");
	ck_assert_int_eq(write(terminal, "\033[Bc", 4), 4);
	await_screen(terminal, "Cancel? y or n: 8 tools/call sleep");
	ck_assert_int_eq(write(terminal, "nkjkc", 5), 5);
	await_screen(terminal, "Cancel? y or n: 7 tools/call stubborn");
	/* The servers, all about what is marked, and the log. */
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &wide), 0);
	await_frame(terminal, "DIRECTORY");
	ck_assert_ptr_null(strstr(shell_output, "DIALECT"));
	await_screen(terminal, "max time  ");
	await_screen(terminal, " STARTED process=");
	await_screen(terminal, "LAST MINUTE");
	run_expect_echo(run, "9");
	await_screen(terminal, "\u2588");
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &narrow), 0);
	await_screen(terminal, "  SERVER  NAME");
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &small), 0);
	await_screen(terminal, "top needs 40x6");
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	expect_restored(terminal, pid, SIGTERM);
	run_end(run);
}

/* The clock of a top is moved, not waited for. */
TEST(what_top_has_answered_goes_after_a_while)
{
	struct run *run = run_hanging("--name notes", "7");
	int terminal, fd = open(path_of("clock"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct clock_shift *shift;
	char options[512];
	pid_t pid;

	ck_assert_int_eq(ftruncate(fd, sizeof(*shift)), 0);
	shift = mmap(NULL, sizeof(*shift), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(shift, MAP_FAILED);
	close(fd);
	snprintf(options, sizeof(options), "%s:verify_asan_link_order=0", getenv("ASAN_OPTIONS"));
	setenv("CLOCK_SHIFT", path_of("clock"), 1);
	setenv("ASAN_OPTIONS", options, 1);
	setenv("LD_PRELOAD", getenv("CLOCK_SHIFTER"), 1);
	pid = start_top(&terminal, "notes");
	unsetenv("LD_PRELOAD");
	await_screen(terminal, "stubborn");
	type(terminal, "s1h\n");
	await_screen(terminal, "]: the deadline is set");
	/* A question stays. */
	type(terminal, "c");
	await_screen(terminal, "Cancel? y or n: 7");
	if (shift->loaded) {
		shift->monotonic = 11;
		await_frame(terminal, "Cancel? y or n: 7");
		await_frame(terminal, "Cancel? y or n: 7");
		type(terminal, "ns1h\n");
		await_screen(terminal, "]: the deadline is set");
		shift->monotonic = 22;
		await_screen(terminal, "c: cancel");
	} else {
		printf("skipped: a clock that is moved: cancelctl is linked statically\n");
	}
	type(terminal, "nq");
	expect_restored(terminal, pid, 0);
	munmap(shift, sizeof(*shift));
	run_end(run);
}

TEST(top_cancels_the_request_that_it_asked_about)
{
	struct run *run = run_session("--name asks", NULL);
	int terminal;
	pid_t pid;

	run_call(run, "7", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":7");
	pid = start_top(&terminal, "asks");
	await_screen(terminal, "sleep");
	ck_assert_int_eq(write(terminal, "c", 1), 1);
	await_screen(terminal, "Cancel? y or n: 7 tools/call sleep");
	run_expect_shell(run, "$C cancel asks 7", 0, "cancelled 7");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_call(run, "7", "stubborn", FOR_EVER);
	run_expect_received(run, "stubborn");
	shell_output[0] = '\0';
	ck_assert_int_eq(write(terminal, "y", 1), 1);
	await_screen(terminal, "not cancelled: 7 tools/call sleep");
	ck_assert_int_eq(write(terminal, "q", 1), 1);
	expect_restored(terminal, pid, 0);
	run_expect_shell(run, "$C cancel asks 7", 0, "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
}

/*
 * Though the call for which it waits was heard of later: that can be cancelled, so that both go on.
 */
TEST(what_is_held_stands_below_what_it_waits_for)
{
	struct run *run = run_session("--name holds --parallel 1 -v", NULL);
	int terminal;
	pid_t pid;

	run_call(run, "7", "progress", "{\"steps\":100000,\"everyMs\":50}");
	run_call(run, "8", "echo", "{\"text\":\"a\"}");
	run_expect_logged(run, "HELD to=server method=tools/call name=echo id=8");
	for (int i = 0; i < 3; i++)
		run_expect_message(run);
	pid = start_top(&terminal, "holds");
	await_screen(terminal, "held");
	type(terminal, "c");
	await_screen(terminal, "Cancel? y or n: 7 tools/call progress");
	type(terminal, "n\033[Bc");
	await_screen(terminal, "Cancel? y or n: 8 tools/call echo");
	type(terminal, "y");
	await_screen(terminal, "cancelled 8 tools/call echo");
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	run_end(run);
}

/* Whether it was chosen by its pid or by its name, which it does not tell then. */
TESTS(top_tells_silence_from_an_end, 0, 2)
{
	struct run *run = run_hanging("--name quiet", "7");
	char number[16];
	int terminal;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", (int)run->pid);
	pid = start_top(&terminal, _i == 0 ? number : "quiet");
	await_screen(terminal, "stubborn");
	ck_assert_int_eq(write(terminal, "\n", 1), 1);
	await_screen(terminal, "max time");
	run_stop(run);
	await_screen(terminal, "state       not answering");
	type(terminal, "q");
	await_frame(terminal, "0 open, 1 canceld, 1 not answering");
	ck_assert_ptr_nonnull(strstr(shell_output, "stubborn"));
	shell_output[0] = '\0';
	type(terminal, "\n");
	ck_assert_int_eq(kill(run->pid, SIGCONT), 0);
	await_screen(terminal, "max time");
	type(terminal, "qq");
	expect_restored(terminal, pid, 0);
	run_end(run);
}

TEST(top_sorts_and_shows_all_about_a_request)
{
	struct run *run = run_session("--name pages -t tools/call:sleep=8s -t 1h", NULL);
	int terminal;
	pid_t pid;

	run_call(run, "7", "stubborn", FOR_EVER);
	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_received(run, "sleep");
	pid = start_top(&terminal, "pages");
	await_screen(terminal, "by IDLE");
	ck_assert_int_eq(write(terminal, "?", 1), 1);
	await_screen(terminal, "sort by LEFT");
	ck_assert_int_eq(write(terminal, "qa\n", 3), 3);
	await_screen(terminal, "1h00m (command line -t 1h), ");
	ck_assert_int_eq(write(terminal, "ql\n", 3), 3);
	await_screen(terminal, "8s (command line -t tools/call:sleep=8s), ");
	await_screen(terminal, "1d00h (built in), ");
	await_screen(terminal, "timed_out");
	ck_assert_int_eq(write(terminal, "qq", 2), 2);
	expect_restored(terminal, pid, 0);
	run_expect_error(run, "8", CODE_CANCELLED, "timeout");
	run_expect_shell(run, "$C set pages --now 2h && $C ls -j pages", 0,
	    "\"timeout_from\":\"cancelctl set -t 2h\"");
	run_expect_shell(run, "$C cancel pages 7", 0, "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
}

TEST(top_acts_on_the_server)
{
	struct run *run = run_session("--name acts", NULL);
	int terminal;
	pid_t pid;

	run_call(run, "7", "stubborn", FOR_EVER);
	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_received(run, "sleep");
	pid = start_top(&terminal, "acts");
	await_screen(terminal, "sleep");
	type(terminal, "/slex\bep\n");
	await_screen(terminal, "by IDLE  /sleep  ?: keys");
	type(terminal, "/x\033");
	await_screen(terminal, "by IDLE  ?: keys");
	type(terminal, "/sleep\n");
	await_screen(terminal, "by IDLE  /sleep  ?: keys");
	type(terminal, "c");
	await_screen(terminal, "Cancel? y or n: 8 tools/call sleep");
	type(terminal, "ns");
	await_screen(terminal, "Deadline for tools/call:sleep of acts, such as 10m: ");
	type(terminal, "5\n");
	await_screen(terminal, "is the unit missing");
	type(terminal, "s1h\n");
	await_screen(terminal, "]: the deadline is set");
	run_expect_shell(run, "$C ls -j acts", 0, "\"timeout_ms\":3600000");
	type(terminal, "p");
	await_screen(terminal, "]: answered after ");
	type(terminal, "R");
	await_screen(terminal, "Restart? y or n: acts[");
	type(terminal, "y");
	await_screen(terminal, "its server is ended");
	run_expect_error(run, "7", CODE_INTERNAL, "server-restarted");
	run_expect_error(run, "8", CODE_INTERNAL, "server-restarted");
	/* What has ended is marked too, and shown, but not cancelled. */
	await_screen(terminal, "\r> ");
	await_screen(terminal, "lost");
	type(terminal, "c\n");
	await_screen(terminal, "state       lost");
	type(terminal, "qq");
	expect_restored(terminal, pid, 0);
	run_end(run);
}

/* What there was of it stays, as it may be why someone looks. */
TEST(top_tells_what_has_gone_and_what_has_happened)
{
	struct run *run = run_hanging("--name leaves -t forecast=10m", "7");
	int terminal;
	pid_t pid = start_top(&terminal, "leaves");

	await_screen(terminal, "leaves!");
	await_screen(terminal, "stubborn");
	type(terminal, "h");
	await_screen(terminal, ", still runs, 1 open");
	type(terminal, "kkkj");
	await_screen(terminal, "q: back");
	type(terminal, "q");
	await_screen(terminal, "by IDLE");
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	await_screen(terminal, "mgone");
	type(terminal, "\n");
	await_screen(terminal, "state       gone");
	type(terminal, "qR");
	await_screen(terminal, "Restart? y or n: leaves[");
	type(terminal, "y");
	await_screen(terminal, "its canceld has ended");
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	run_expect_gone(run);
	run_end(run);
}

/* It is wrapped when the terminal becomes narrower. */
TEST(top_scrolls_a_wrapped_page_to_its_first_line)
{
	struct run *run = run_hanging("--name scrolls", "7");
	struct winsize narrow = { .ws_row = 6, .ws_col = 40 };
	int terminal;
	pid_t pid = start_top(&terminal, "scrolls");

	await_screen(terminal, "stubborn");
	type(terminal, "h");
	await_frame(terminal, "  scrolls[");
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &narrow), 0);
	do
		await_frame(terminal, "q: back");
	while (strstr(shell_output, "  scrolls[") != NULL);
	type(terminal, "kkkkkkkkkkkkkkkkkkkk");
	await_frame(terminal, "  scrolls[");
	/* It is not further away than that. */
	type(terminal, "j");
	do
		await_frame(terminal, "q: back");
	while (strstr(shell_output, "  scrolls[") != NULL);
	type(terminal, "qq");
	expect_restored(terminal, pid, 0);
	run_end(run);
}

/*
 * Between two looks one was answered, and the other one timed out: nothing shows which, so neither
 * is told.
 */
TEST(how_it_ended_is_not_guessed_from_a_deadline)
{
	struct run *run = run_session("--name short -t tools/call:sleep=2s", NULL);
	int terminal;
	pid_t pid;

	run_call(run, "7", "sleep", FOR_EVER);
	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_received(run, "sleep");
	pid = start_top(&terminal, "short");
	await_frame(terminal, "2 open");
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	run_expect_shell(run, "$C cancel short 7", 0, "");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_expect_error(run, "8", CODE_CANCELLED, "timeout");
	run_leave(run, 0);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	await_frame(terminal, "0 open, 0 canceld");
	ck_assert_ptr_null(strstr(shell_output, "timed_out"));
	ck_assert_ptr_nonnull(strstr(shell_output, "gone"));
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	run_end(run);
}

/* A socket beside that of this canceld, bound to by nobody yet. */
static struct sockaddr_un
address_beside(const struct run *run, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char pattern[512];
	glob_t found;
	int len;

	snprintf(pattern, sizeof(pattern), "/run/user/%d/canceld/%d-*.sock", (int)getuid(),
	    (int)run->pid);
	if (glob(pattern, 0, NULL, &found) != 0) {
		snprintf(pattern, sizeof(pattern), "%s/.local/state/canceld/%d-*.sock",
		    getenv("HOME"), (int)run->pid);
		ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	}
	len = (int)(strrchr(found.gl_pathv[0], '/') - found.gl_pathv[0]);
	len = snprintf(address.sun_path, sizeof(address.sun_path), "%.*s/%s", len,
	    found.gl_pathv[0], name);
	ck_assert_uint_lt((size_t)len, sizeof(address.sun_path));
	globfree(&found);
	return address;
}

static int
listen_at(const struct sockaddr_un *address)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un fresh = *address;

	/* Another cancelctl would remove what does not listen yet. */
	strcpy(strrchr(fresh.sun_path, '.'), ".new");
	ck_assert_int_eq(bind(listener, (const struct sockaddr *)&fresh, sizeof(fresh)), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(rename(fresh.sun_path, address->sun_path), 0);
	return listener;
}

/* As a canceld that answers the first question and ends. */
static pid_t
start_to_end_meanwhile(const struct sockaddr_un *address)
{
	static const char answer[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"pid\":99999998,\"name\":\"goes\"}}\n";
	int listener = listen_at(address), peer;
	char asked[4096];
	pid_t pid = process_fork();

	if (pid == 0) {
		peer = accept(listener, NULL, NULL);
		_exit(read(peer, asked, sizeof(asked)) <= 0 || unlink(address->sun_path) < 0 ||
		    write(peer, answer, strlen(answer)) < 0);
	}
	close(listener);
	return pid;
}

TEST(one_that_ends_meanwhile_is_left_out)
{
	struct run *run = run_session("--name stays", NULL);
	struct sockaddr_un address = address_beside(run, "99999998-ab.sock");
	pid_t pid = start_to_end_meanwhile(&address);
	int status;

	run_expect_shell(run, "$C stats", 0, "stays[");
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	run_end(run);
}

TEST(a_socket_without_a_listener_is_removed)
{
	struct run *run = run_session("--name listens", NULL);
	struct sockaddr_un address = address_beside(run, "99999999-ab.sock");
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	ck_assert_int_eq(setenv("BESIDE", address.sun_path, 1), 0);
	run_expect_shell(run, "$C ls ${BESIDE%/*}/$PID-*.sock", 0, "no request is open");
	run_expect_shell(run, "$C ls; [ ! -e $BESIDE ]", 0, "listens");
	run_end(run);
}

/*
 * As a canceld that has these results for those that ask, one after the other, and the last one for
 * all that follow, until it is killed; "": no answer. It refuses to cancel.
 */
static pid_t
start_fake(const struct sockaddr_un *address, const char *const results[])
{
	int listener = listen_at(address), peer;
	pid_t pid = process_fork();

	while (pid == 0 && (peer = accept(listener, NULL, NULL)) >= 0) {
		char asked[4096] = "";

		while (read(peer, asked, sizeof(asked) - 1) > 0)
			if (strstr(asked, "\"cancel\"") != NULL)
				dprintf(peer,
				    "{\"id\":1,\"error\":{\"code\":-32001,\"message\":\"the twin refuses\"}}\n");
			else if (results[0][0] != '\0')
				dprintf(peer, "{\"id\":1,\"result\":%s}\n", results[0]);
		results += results[1] != NULL;
		close(peer);
	}
	close(listener);
	return pid;
}

static void
end_fake(pid_t fake, const struct sockaddr_un *address)
{
	ck_assert_int_eq(kill(fake, SIGKILL), 0);
	ck_assert_int_eq(waitpid(fake, NULL, 0), fake);
	unlink(address->sun_path);
}

/* In another container, with the pid of this one and a request of the same number. */
static pid_t
start_twin(const struct run *run, const struct sockaddr_un *address)
{
	char result[512];

	snprintf(result, sizeof(result),
	    "{\"pid\":%d,\"name\":\"twin\",\"requests\":[{\"id\":\"7\",\"serial\":2,\"from\":\"client\","
	    "\"method\":\"twins\",\"age_ms\":9999999,\"idle_ms\":9999999}]}",
	    (int)run->pid);
	return start_fake(address, (const char *const[]){ result, NULL });
}

TEST(top_cancels_in_the_canceld_that_it_asked_about)
{
	struct run *run = run_hanging("--name twin", "7");
	struct sockaddr_un address = address_beside(run, "1-ab.sock");
	pid_t twin = start_twin(run, &address), pid;
	int terminal;

	pid = start_top(&terminal, "twin");
	await_screen(terminal, "stubborn");
	ck_assert_int_eq(write(terminal, "cy", 2), 2);
	await_screen(terminal, "not cancelled: 7 twins, 2h46m old, of twin");
	ck_assert_int_eq(write(terminal, "jcy", 3), 3);
	await_screen(terminal, "cancelled 7 tools/call stubborn");
	ck_assert_int_eq(write(terminal, "q", 1), 1);
	expect_restored(terminal, pid, 0);
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	end_fake(twin, &address);
	run_release(run);
	run_end(run);
}

#define SWAP(name, age, idle, open) \
	"{\"pid\":99999980,\"name\":\"swaps\",\"age_ms\":" age ",\"in_flight\":" open \
	",\"requests\":[" \
	"{\"id\":1,\"serial\":1,\"from\":\"client\",\"method\":\"" name "\",\"age_ms\":" idle \
	",\"idle_ms\":" idle "}]}"

/* Their canceld tell of them at slightly different times. */
TEST(what_is_idle_as_long_keeps_its_place)
{
	/* top looks twice before it draws. */
	static const char *const first[] = { SWAP("first", "10000", "5000", "1"),
		SWAP("first", "10000", "5000", "1"), SWAP("first", "10100", "5100", "2"), NULL },
				 *const second[] = { SWAP("second", "10000", "4998", "1"),
					 SWAP("second", "10000", "4998", "1"),
					 SWAP("second", "10105", "5103", "2"), NULL };
	struct run *run = run_session("--name swapper", NULL);
	struct sockaddr_un addresses[2] = { address_beside(run, "99999980-ab.sock"),
		address_beside(run, "99999981-ab.sock") };
	pid_t fakes[2] = { start_fake(&addresses[0], first), start_fake(&addresses[1], second) },
	      pid;
	int terminal;

	pid = start_top(&terminal, "swaps");
	await_frame(terminal, "2 open, 2 canceld");
	ck_assert(strstr(shell_output, "first") < strstr(shell_output, "second"));
	await_frame(terminal, "4 open, 2 canceld");
	ck_assert(strstr(shell_output, "first") < strstr(shell_output, "second"));
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	for (int i = 0; i < 2; i++)
		end_fake(fakes[i], &addresses[i]);
	run_end(run);
}

static const struct winsize least_of_panels = { .ws_row = 24, .ws_col = 120 };

TEST(many_servers_leave_room_for_a_request_and_its_details)
{
	static const char result[] =
	    "{\"pid\":99999997,\"name\":\"many\",\"in_flight\":2,\"requests\":["
	    "{\"id\":1,\"serial\":1,\"from\":\"client\",\"method\":\"one\",\"age_ms\":9,\"idle_ms\":9},"
	    "{\"id\":2,\"serial\":2,\"from\":\"client\",\"method\":\"two\",\"age_ms\":9,\"idle_ms\":9}]}";
	struct run *run = run_session("--name manifold", NULL);
	struct sockaddr_un addresses[8];
	pid_t fakes[8], pid;
	char name[32];
	int terminal, lines = 0;

	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "%d-ab.sock", 99999970 + i);
		addresses[i] = address_beside(run, name);
		fakes[i] = start_fake(&addresses[i], (const char *const[]){ result, NULL });
	}
	pid = start_top_on(&terminal, "many", &least_of_panels);
	await_frame(terminal, "16 open, 8 canceld");
	for (const char *at = shell_output; (at = strstr(at, "\r\n")) != NULL; at++)
		lines++;
	ck_assert_int_eq(lines, 23);
	ck_assert_ptr_nonnull(strstr(shell_output, "15 more below"));
	ck_assert_ptr_nonnull(strstr(shell_output, "method      "));
	ck_assert_ptr_nonnull(strstr(shell_output, "by IDLE"));
	type(terminal, "jjq");
	expect_restored(terminal, pid, 0);
	for (int i = 0; i < 8; i++)
		end_fake(fakes[i], &addresses[i]);
	run_end(run);
}

#define OPEN(id) \
	"{\"id\":" id ",\"serial\":" id \
	",\"from\":\"client\",\"method\":\"m\",\"age_ms\":9,\"idle_ms\":9}"
#define ENDED(id, name) \
	"{\"id\":" id ",\"serial\":" id ",\"from\":\"client\",\"method\":\"m\",\"name\":\"" name \
	"\",\"age_ms\":20,\"state\":\"timed_out\",\"ended_ms\":45000,\"progress\":{\"progress\":112}}"

/*
 * On twelve lines there is room for eight; on the longest name that is not shown nothing depends.
 */
TEST(what_has_ended_gets_the_room_that_is_left)
{
	static const char result[] =
	    "{\"pid\":99999994,\"name\":\"full\",\"in_flight\":7,\"requests\":[" OPEN("1") "," OPEN("2") "," OPEN(
		"3") "," OPEN("4") "," OPEN("5") "," OPEN("6") "," OPEN("7") "],\"ended\":[" ENDED("8",
		"eight") "," ENDED("9",
		"a_name_so_long_that_it_would_squeeze_what_is_open_beside_it") "]}";
	struct run *run = run_session("--name fuller", NULL);
	struct sockaddr_un address = address_beside(run, "99999994-ab.sock");
	pid_t pid, fake = start_fake(&address, (const char *const[]){ result, NULL });
	int terminal;

	pid = start_top_on(&terminal, "99999994", &(struct winsize){ .ws_row = 12, .ws_col = 80 });
	await_frame(terminal, "eight");
	ck_assert_ptr_null(strstr(shell_output, "more"));
	ck_assert_ptr_null(strstr(shell_output, "a_name"));
	ck_assert_ptr_nonnull(strstr(shell_output, "45s ago"));
	ck_assert_ptr_nonnull(strstr(shell_output, "  112"));
	type(terminal, "jjjjjjjj");
	await_frame(terminal, "\r> full");
	await_frame(terminal, "a_name");
	ck_assert_ptr_nonnull(strstr(shell_output, "2 more above"));
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	end_fake(fake, &address);
	run_end(run);
}

/* The socket of --control stands in no folder that is looked into. */
TEST(top_shows_the_canceld_of_a_socket)
{
	char path[128], options[256];
	struct run *run, *other = run_session("--name stands", NULL);
	struct sockaddr_un dead = { .sun_family = AF_UNIX };
	int terminal, fd = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	snprintf(path, sizeof(path), "%s/top.socket", getenv("E2E_DIRECTORY"));
	snprintf(options, sizeof(options), "--name apart --control %s", path);
	run = run_hanging(options, "7");
	/* One that stands still elsewhere cannot be meant. */
	run_stop(other);
	pid = start_top(&terminal, path);
	await_frame(terminal, "1 open, 1 canceld");
	ck_assert_ptr_nonnull(strstr(shell_output, "stubborn"));
	type(terminal, "h");
	await_screen(terminal, "apart[");
	type(terminal, "q");
	await_screen(terminal, "by IDLE");
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	await_screen(terminal, "gone");
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	run_expect_gone(run);
	/* A dead socket that a person has typed stays. */
	snprintf(dead.sun_path, sizeof(dead.sun_path), "%s/dead.socket", getenv("E2E_DIRECTORY"));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&dead, sizeof(dead)), 0);
	close(fd);
	run_expect_shell(NULL, "$C top $E2E_DIRECTORY/dead.socket </dev/null", 1,
	    "/dead.socket: Connection refused");
	ck_assert_int_eq(unlink(dead.sun_path), 0);
	run_expect_shell(NULL, "$C top $E2E_DIRECTORY/top.socket </dev/null", 1,
	    "/top.socket: No such file");
	run_expect_shell(NULL, "$C top $E2E_DIRECTORY/$(printf %0108d 0) </dev/null", 1,
	    "0: File name too long");
	ck_assert_int_eq(kill(other->pid, SIGCONT), 0);
	run_end(run);
	run_end(other);
}

/* As a canceld that a later one has followed at the same socket. */
TEST(top_bears_calls_that_become_fewer)
{
	struct run *run = run_session("--name fewer", NULL);
	struct sockaddr_un address = address_beside(run, "99999996-ab.sock");
	pid_t pid,
	    fake = start_fake(&address,
		(const char *const[]){ "{\"pid\":99999996,\"name\":\"falls\",\"calls\":1000000000}",
		    "{\"pid\":99999996,\"name\":\"falls\",\"calls\":0,\"timeouts\":71}", NULL });
	int terminal;

	pid = start_top_on(&terminal, "99999996", &least_of_panels);
	await_screen(terminal, "71 timed out");
	await_frame(terminal, "71 timed out");
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	end_fake(fake, &address);
	run_end(run);
}

TEST(the_calls_of_one_that_did_not_answer_at_first_are_shown)
{
	struct run *run = run_session("--name late", NULL);
	struct sockaddr_un address = address_beside(run, "99999995-ab.sock");
	pid_t pid,
	    fake = start_fake(&address,
		(const char *const[]){ "", "", "{\"pid\":99999995,\"name\":\"wakes\",\"calls\":1}",
		    "{\"pid\":99999995,\"name\":\"wakes\",\"calls\":9}", NULL });
	int terminal;

	pid = start_top_on(&terminal, "99999995", &least_of_panels);
	await_screen(terminal, "1 not answering");
	await_screen(terminal, "\u2588");
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	end_fake(fake, &address);
	run_end(run);
}

/* Whether the filter hides it as that happens, or nothing was heard of it any more. */
TEST(what_has_gone_unseen_is_shown_too)
{
	struct run *run = run_hanging("--name hides", "7");
	char number[16];
	int terminal;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", (int)run->pid);
	pid = start_top(&terminal, number);
	await_screen(terminal, "stubborn");
	type(terminal, "/nothing\n");
	await_screen(terminal, "nothing in flight has \"nothing\"");
	run_stop(run);
	await_screen(terminal, "1 not answering");
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	await_screen(terminal, "0 canceld");
	await_frame(terminal, "nothing in flight has \"nothing\"");
	type(terminal, "/\n");
	await_screen(terminal, "stubborn");
	await_screen(terminal, "mgone");
	type(terminal, "q");
	expect_restored(terminal, pid, 0);
	run_expect_gone(run);
	run_end(run);
}

#define HISTORY "$HOME/.local/state/canceld/history"

TEST(the_history_scrolls_as_far_as_it_goes)
{
	struct run *run = run_session("--name scrolls", NULL);
	int terminal;
	pid_t pid;

	shell_expect(
	    "t=$(date -u -d '-1 hour' +%FT%H:%M); for i in 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29; do printf "
	    "'{\"time\":\"%s:%d.000Z\",\"pid\":%d,\"server\":\"scrolls\",\"why\":\"SUMMARY\"}\n' "
	    "$t $i $i; done >>" HISTORY,
	    "echo no line >>" HISTORY, 0, "");
	pid = start_top(&terminal, "scrolls");
	await_screen(terminal, "by IDLE");
	type(terminal, "h");
	read_screen(terminal, "q: back");
	ck_assert_ptr_null(strstr(shell_output, "passed over"));
	shell_output[0] = '\0';
	type(terminal, "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk");
	await_frame(terminal, "scrolls[10]");
	type(terminal, "j");
	await_frame(terminal, "scrolls[21]");
	type(terminal, "qq");
	expect_restored(terminal, pid, 0);
	shell_expect("true", "rm " HISTORY, 0, "");
	run_end(run);
}

/* What the lines of the last screen take at most, without their escapes. */
static size_t
widest_line(void)
{
	size_t widest = 0, cells = 0;

	for (const char *at = shell_output; *at != '\0'; at++)
		if (*at == '\033')
			at += strcspn(at, "mKHJhl");
		else if (*at == '\r')
			cells = 0;
		else if (*at != '\n' && ((unsigned char)*at & 0xc0) != 0x80 && ++cells > widest)
			widest = cells;
	return widest;
}

static const unsigned short widths[] = { 60, 80, 120, 140 };

TESTS(no_page_is_wider_than_the_terminal, 0, sizeof(widths) / sizeof(widths[0]))
{
	struct run *run =
	    run_session("--name a-server-whose-name-is-as-long-as-a-name-may-well-be", NULL);
	struct winsize size = { .ws_row = 40, .ws_col = widths[_i] },
		       narrow = { .ws_row = 40, .ws_col = 50 };
	static const struct {
		const char *key, *shown;
	} pages[] = { { "", "by IDLE" }, { "?", "sort by IDLE" }, { "q\n", "max time" },
		{ "qh", "TOOK" } };
	char number[16];
	int terminal;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", (int)run->pid);
	run_hang(run, "7");
	shell_expect("true", "until grep -qs DIALECT " HISTORY "; do sleep 0.01; done", 0, "");
	pid = start_top_on(&terminal, number, &size);
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		type(terminal, pages[i].key);
		await_frame(terminal, pages[i].shown);
		ck_assert_uint_le(widest_line(), size.ws_col);
	}
	await_frame(terminal, " open "); /* and what is, by its name */
	/* It was made for more. */
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &narrow), 0);
	do
		await_frame(terminal, "TOOK");
	while (widest_line() > narrow.ws_col);
	type(terminal, "qq");
	expect_restored(terminal, pid, 0);
	run_leave(run, 0);
	run_end(run);
	shell_expect("true", "rm " HISTORY, 0, "");
}
