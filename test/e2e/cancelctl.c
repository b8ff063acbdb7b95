/* cancelctl and the control socket of a real canceld: what people see, cancel and set. */
#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "process.h"
#include "shell.h"
#include "suites.h"

#define FOR_EVER "{\"ms\":600000}"

/* In the script cancelctl is $C, and the pid of canceld $PID. */
static void
expect(const struct run *run, const char *script, int status, const char *said)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%d", run == NULL ? 0 : (int)run->pid);
	ck_assert_int_eq(setenv("PID", pid, 1), 0);
	shell_expect("cd \"$E2E_DIRECTORY\"; C=$CANCELCTL", script, status, said);
}

/* A session with one call that is never answered. */
static struct run *
run_hanging(const char *options, const char *id)
{
	struct run *run = run_session(options, NULL);

	run_call(run, id, "stubborn", FOR_EVER);
	run_expect_received(run, "stubborn");
	return run;
}

START_TEST(a_hanging_call_is_seen_and_cancelled)
{
	struct run *run = run_hanging("--name hangs", "7");

	expect(run, "$C ls", 0, "hangs");
	expect(run, "$C ls $PID", 0, "tools/call  stubborn");
	expect(run, "$C ls -j | grep \"^{.pid.:$PID,\"", 0, "\"in_flight\":1");
	expect(run, "$C ls --json $PID", 0, "\"id\":\"7\"");
	expect(run, "$C cancel hangs 7 --reason 'too slow'", 0, "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_expect_cancelled(run, "7");
	expect(run, "$C cancel hangs 7", 1, "not found, or already completed");
	expect(run, "$C ls hangs -j | grep . || echo empty", 0, "empty");
	run_release(run);
	run_end(run);
}
END_TEST

START_TEST(the_nearer_deadline_is_shown)
{
	struct run *run =
	    run_hanging(_i == 0 ? "--timeout 1000h --max-time 90h" : "--timeout 90h --max-time 1000h", "7");

	expect(run, "$C ls $PID", 0, "  3d17h  waiting");
	run_end(run);
}
END_TEST

START_TEST(an_id_is_given_as_it_is_shown)
{
	struct run *run = run_hanging("--name odd", "\"\\ud800\"");

	expect(run, "$C ls odd", 0, "\n\"\\ud800\"  ");
	expect(run, "$C cancel odd '\"\\ud800\"' --type string", 0, "cancelled \"\\ud800\" tools/call stubborn");
	expect(run, "$C cancel odd '\"\\ud800\"'", 1, "not found");
	run_end(run);
}
END_TEST

START_TEST(what_opens_the_session_is_ended_by_a_deadline_only)
{
	struct run *run = run_options("-v --name starts", "sh:cat >/dev/null");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
	run_expect_logged(run, "method=initialize era=legacy");
	expect(run, "$C cancel starts 0", 1, "not cancelled: 0 initialize");
	expect(run, "$C cancel starts 0", 1, "]: it opens the session");
	expect(run, "$C cancel starts --older 1ms", 1, "not cancelled: 0 initialize");
	expect(run, "$C set --now starts initialize=1ms", 0, "1 in flight changed");
	run_expect_error(run, "0", CODE_CANCELLED, "timeout");
	run_expect_exit(run, ANY_STATUS);
	run_end(run);
}
END_TEST

START_TEST(an_ambiguous_id_is_refused_with_the_choices)
{
	struct run *run = run_hanging(NULL, "7");

	run_call(run, "\"7\"", "sleep", FOR_EVER);
	run_expect_received(run, "\"7\"");
	expect(run, "$C cancel $PID 7", 2, "7, --from client --type number: tools/call stubborn");
	expect(run, "$C cancel $PID 7", 2, "\"7\", --from client --type string: tools/call sleep");
	expect(run, "$C cancel $PID 7 --from server", 1, "not found");
	expect(run, "$C cancel -j -t string -f client $PID 7", 0, "\"cancelled\":true");
	run_expect_error(run, "\"7\"", CODE_CANCELLED, "operator");
	expect(run, "$C cancel $PID 7", 0, "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
}
END_TEST

/* As a program that a debugger or a person has stopped. */
START_TEST(one_that_does_not_answer_is_shown)
{
	struct run *run = run_session("--name sleeps", NULL), *other = run_session("--name wakes", NULL);

	ck_assert_int_eq(kill(run->pid, SIGSTOP), 0);
	expect(run, "$C ls | grep \"^ *$PID  -  .*not answering$\" && $C ls", 0, "wakes");
	expect(run, "$C ls -j | grep '\"answering\":true' && $C ls -j", 0, ",\"answering\":false}");
	expect(run, "$C ls wakes && $C stats wakes", 0, "wakes[");
	expect(run, "$C ls $PID", 125, "does not answer");
	expect(run, "$C stats", 0, "does not answer");
	expect(run, "$C metrics", 0, "does not answer");
	ck_assert_int_eq(kill(run->pid, SIGCONT), 0);
	expect(run, "$C ls $PID", 0, "ID");
	run_end(run);
	run_end(other);
}
END_TEST

/* JSON allows \u0000 in a string: a server could hide itself with it. */
START_TEST(a_name_with_a_zero_byte_hides_nothing)
{
	struct run *run = run_session("--name hides",
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"id\":\"start\",\"result\":{\"protocolVersion\":\"2025-11-25\"}}';"
	    "read a; exec sleep 600");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"i\\u0000\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\\u0000b\"}}");
	expect(run, "until $C ls hides | grep x00; do sleep 0.05; done", 0, "a\\x00b");
	expect(run, "$C ls -j $PID", 0, "a\\u0000b");
	expect(run, "$C cancel -m 'tools/*' $PID", 0, "cancelled \"i\\u0000\"");
	expect(run, "$C stats -j $PID", 0, "\"OPERATOR_CANCELLED\":1");
	expect(run, "$C metrics", 0, "hides");
	run_end(run);
}
END_TEST

START_TEST(an_ambiguous_name_is_refused_with_the_choices)
{
	struct run *run = run_hanging("--name twins", "7"), *other = run_session("--name twins", NULL);

	expect(run, "$C cancel twins 7; s=$?; $C ls $PID; exit $s", 2, "'twins' is ambiguous: give the pid of one of");
	expect(run, "$C ls $PID", 0, "stubborn");
	expect(run, "$C ls nobody", 1, "no canceld is called 'nobody'; there is");
	expect(run, "$C set --now twins 1ms", 2, "'twins' is ambiguous");
	expect(run, "$C ls $PID", 0, "29m");
	run_end(run);
	run_end(other);
}
END_TEST

START_TEST(many_are_cancelled_by_age_and_method)
{
	struct run *run = run_hanging("--name many", "7");

	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":8");
	expect(run, "$C cancel many -o 1h", 1, "nothing was cancelled");
	expect(run, "$C cancel many --method tools/list", 1, "nothing was cancelled");
	expect(run, "$C cancel --all --method nosuch/method", 1, "nothing was cancelled");
	expect(run, "$C cancel many -m 'tools/*:sl*p'", 0, "cancelled 8 tools/call sleep");
	run_expect_error(run, "8", CODE_CANCELLED, "operator");
	expect(run, "$C cancel many --older 1ms -r enough", 0, "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
}
END_TEST

START_TEST(a_deadline_is_set_while_it_runs)
{
	struct run *run = run_hanging("--name sets", "7");

	expect(run, "$C set sets --now tools/call:stubborn=1ms", 0, "set; 1 in flight changed");
	run_expect_error(run, "7", CODE_CANCELLED, "timeout");
	expect(run, "$C set --max-time -j sets 'tools/call:sleep=200ms'", 0, "\"changed\":0");
	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_error(run, "8", CODE_CANCELLED, "timeout");
	run_release(run);
	run_end(run);
}
END_TEST

START_TEST(the_level_of_the_log_is_changed)
{
	struct run *run = run_session("--name logs", NULL);

	expect(run, "$C log logs traffic", 0, "the level of the log is changed");
	run_expect_echo(run, "5");
	run_expect_logged(run, "RELAYED to=client");
	expect(run, "$C log -j logs error", 0, "\"server\":\"logs\"");
	expect(run, "$C reload logs", 0, "nothing changed");
	expect(run, "$C reload --json logs", 0, "\"changed\":[]");
	run_end(run);
}
END_TEST

/* The watcher is another process: it ends with canceld, and has then shown all. */
static FILE *
start_watch(const struct run *run, const char *arguments)
{
	char script[512];

	snprintf(script, sizeof(script), "exec \"$CANCELCTL\" watch %d %s 2>&1", (int)run->pid, arguments);
	return popen(script, "r");
}

/* There may be any number of lines: one must have the text. */
static void
end_watch(FILE *watch, const char *wanted, const char *unwanted)
{
	bool found = false;

	while (fgets(shell_output, sizeof(shell_output), watch) != NULL) {
		found |= strstr(shell_output, wanted) != NULL;
		ck_assert_ptr_null(strstr(shell_output, unwanted));
	}
	ck_assert_msg(found, "no '%s'", wanted);
	ck_assert_int_eq(pclose(watch), 0);
}

/* Each answer is a decision of level traffic, so there is one to read as soon as it watches. */
static void
await_watch(struct run *run, FILE *watch)
{
	int fd = fileno(watch), flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	for (int id = 100; fgets(shell_output, sizeof(shell_output), watch) == NULL; id++) {
		char text[16];

		ck_assert_int_lt(id, 100000);
		clearerr(watch);
		snprintf(text, sizeof(text), "%d", id);
		run_expect_echo(run, text);
	}
	fcntl(fd, F_SETFL, flags);
}

static const struct {
	const char *arguments, *wanted, *unwanted;
} watches[] = {
	{ "-l traffic", " LATE ", "{" },
	{ "-l traffic why=RELAYED,SUMMARY", " SUMMARY requests=", " LATE " },
	{ "--json --level traffic 'why!=LATE' server=watched 'method=tools/*'", "\"name\":\"stubborn\",\"id\":7",
	    "LATE" },
};

START_TEST(decisions_are_watched_while_they_are_made)
{
	struct run *run = run_hanging("--name watched", "7");
	FILE *watch = start_watch(run, watches[_i].arguments);

	await_watch(run, watch);
	expect(run, "$C cancel $PID 7", 0, "cancelled");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
	end_watch(watch, watches[_i].wanted, watches[_i].unwanted);
}
END_TEST

START_TEST(a_log_is_read_with_the_same_filters)
{
	struct run *run = run_session("--log-format json -vv -t tools/call:sleep=100ms", NULL);
	char path[512];
	FILE *file;

	run_call(run, "3", "sleep", FOR_EVER);
	run_expect_error(run, "3", CODE_CANCELLED, "timeout");
	run_close_in(run);
	run_expect_exit(run, 0);
	snprintf(path, sizeof(path), "%s/trace.jsonl", getenv("E2E_DIRECTORY"));
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(run->error.data, file);
	fputs("no JSON\n{\"direction\":\"in\"}\n{\"why\":\"LATE\",\"name\":\"\\u001b[2J\",\"elapsed\":9000}", file);
	fclose(file);
	expect(run, "$C watch --read trace.jsonl why=timed_out 'age>99' 'timeout<=100ms'", 0, " TIMED_OUT to=client");
	expect(run, "$C watch -r trace.jsonl 'age>=9s'", 0, "LATE name=\\x1b[2J elapsed=9000\n");
	expect(run, "$C watch -r - why=LATE -j <trace.jsonl", 0, "{\"why\":\"LATE\",\"name\":\"\\u001B[2J\"");
	expect(run, "$C watch -r trace.jsonl | grep RELAYED", 1, "");
	expect(run, "$C watch -l traffic -r trace.jsonl why=REL*", 0, "RELAYED");
	expect(run, "$C watch -r trace.jsonl 'elapsed<1ms' name!=x", 0, "");
	ck_assert_str_eq(shell_output, "");
	expect(run, "$C watch -r none.jsonl", 125, "No such file");
	run_end(run);
}
END_TEST

START_TEST(what_was_counted_is_shown)
{
	struct run *run = run_session("--name counts", NULL);

	run_expect_echo(run, "5");
	expect(run, "$C stats counts", 0, "tools/call  echo ");
	expect(run, "$C stats -j counts", 0, "\"tallies\":{");
	expect(run, "$C stats", 0, "counts[");
	expect(run, "$C metrics", 0, "canceld_requests_ended_total{server=\"counts\",end=\"answered\"} 2\n");
	expect(run, "$C metrics", 0, "_count{server=\"counts\",method=\"tools/call\",name=\"echo\"} 1\n");
	expect(run, "command -v promtool >/dev/null || exit 0; $C metrics | promtool check metrics", 0, "");
	run_end(run);
}
END_TEST

START_TEST(metrics_are_served)
{
	struct run *run = run_session("--name served", NULL);

	/* Fails within the limit of curl if nothing listens. */
	expect(run,
	    "command -v curl >/dev/null || { echo ' 404 405 431 {server=\"served\"} 1'; exit 0; }\n"
	    "mkfifo serve; $C metrics --listen 127.0.0.1:0 2>serve & read line <serve; url=${line#*serves }\n"
	    "curl -s -m 20 $url | grep canceld_instances; curl -s -m 20 -o /dev/null -w ' %{http_code}' ${url%s}\n"
	    "curl -s -m 20 -X POST -o /dev/null -w ' %{http_code}' $url; curl -s -m 20 -H \"X: $(head -c 9000 /dev/zero | "
	    "tr '\\0' a)\" -o /dev/null -w ' %{http_code}' $url; curl -s -m 20 $url | grep -c _total\n"
	    "kill $!; rm serve",
	    0, "{server=\"served\"} 1");
	ck_assert_ptr_nonnull(strstr(shell_output, " 404 405 431"));
	expect(run, "$C metrics -l 127.0.0.1", 2, "is no ADDRESS:PORT");
	expect(run, "$C metrics --listen example.org:80", 2, "is no ADDRESS:PORT");
	run_end(run);
}
END_TEST

/* Reads the terminal until the text is there. */
static void
await_screen(int terminal, const char *text)
{
	size_t len = 0;

	while (strstr(shell_output, text) == NULL) {
		ssize_t got;

		if (len > sizeof(shell_output) / 2)
			len = 0;
		got = read(terminal, shell_output + len, sizeof(shell_output) - 1 - len);
		ck_assert_msg(got > 0, "the terminal never showed '%s', but:\n%s", text, shell_output);
		len += (size_t)got;
		shell_output[len] = '\0';
	}
	shell_output[0] = '\0';
}

static pid_t
start_top(int *terminal, const char *name)
{
	struct winsize size = { .ws_row = 12, .ws_col = 100 };
	pid_t pid = forkpty(terminal, NULL, NULL, &size);

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setenv("TERM", "xterm", 1);
		execl(getenv("CANCELCTL"), "cancelctl", "top", "--interval", "100ms", name, (char *)NULL);
		_exit(127);
	}
	shell_output[0] = '\0';
	return pid;
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

START_TEST(top_cancels_the_marked_request_after_a_question)
{
	struct run *run = run_hanging("--name tops", "7");
	int terminal;
	pid_t pid = start_top(&terminal, "tops");

	await_screen(terminal, "stubborn");
	ck_assert_int_eq(write(terminal, "c", 1), 1);
	await_screen(terminal, "Cancel? y or n: 7 tools/call stubborn of tops[");
	ck_assert_int_eq(write(terminal, "n", 1), 1);
	await_screen(terminal, "c: cancel");
	expect(run, "$C ls $PID", 0, "stubborn");
	shell_output[0] = '\0';
	ck_assert_int_eq(write(terminal, "cy", 2), 2);
	await_screen(terminal, "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	ck_assert_int_eq(write(terminal, "q", 1), 1);
	expect_restored(terminal, pid, 0);
	run_release(run);
	run_end(run);
}
END_TEST

START_TEST(top_marks_resizes_and_restores_the_terminal)
{
	struct run *run = run_hanging("--name marks", "7");
	struct winsize narrow = { .ws_row = 12, .ws_col = 50 };
	int terminal;
	pid_t pid;

	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":8");
	pid = start_top(&terminal, "marks");
	await_screen(terminal, "\033[7m> ");
	ck_assert_int_eq(write(terminal, "\033[Bjjc", 6), 6);
	await_screen(terminal, "Cancel? y or n: 8 tools/call sleep");
	ck_assert_int_eq(write(terminal, "nkc", 3), 3);
	await_screen(terminal, "Cancel? y or n: 7 tools/call stubborn");
	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &narrow), 0);
	await_screen(terminal, "~");
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	expect_restored(terminal, pid, SIGTERM);
	run_end(run);
}
END_TEST

static const struct {
	const char *script;
	int status;
	const char *said;
} refusals[] = {
	{ "$C ls --frob", 2, "unknown option '--frob'; see cancelctl ls --help" },
	{ "$C ls a b", 2, "more than one" },
	{ "$C ls ./none.sock", 1, "No such file" },
	{ "$C cancel x", 2, "which requests?" },
	{ "$C cancel --all 7", 2, "wrong number" },
	{ "$C cancel x 7 -f nobody", 2, "neither client nor server" },
	{ "$C cancel x 7 --type odd", 2, "neither number nor string" },
	{ "$C cancel x --older soon", 2, "no duration" },
	{ "$C cancel x --older", 2, "needs a value" },
	{ "$C cancel x -m :y", 2, "names no method" },
	{ "$C cancel x -o 1s --from client", 2, "belong to an ID" },
	{ "$C set x y=z", 2, "want [METHOD[:NAME]=]DURATION" },
	{ "$C set x", 2, "wrong number" },
	{ "$C log x loud", 2, "none of error, person, decision and traffic" },
	{ "$C log -T x error", 2, "unknown option" },
	{ "$C watch why=LAET", 2, "it could be LATE" },
	{ "$C watch 'age>x'", 2, "neither a number nor a duration" },
	{ "$C watch a b", 2, "is no filter" },
	{ "$C watch -l loud", 2, "none of" },
	{ "$C watch nobody", 1, "canceld" },
	{ "$C top </dev/null", 2, "needs a terminal" },
	{ "$C top a b", 2, "one pid or name" },
	{ "$C top -i 1ms", 2, "100ms to 1h" },
	{ "$C stats a b", 2, "more than one" },
	{ "$C metrics x", 2, "no argument" },
	{ "$C reload nobody", 1, "canceld" },
	{ "for c in ls cancel set watch top stats metrics reload log; do $C $c -h && $C $c --help || exit 1; done", 0,
	    "usage: cancelctl log" },
	/* All but those that are no report have JSON. */
	{ "for c in $($C help | sed -n 's/^  \\([a-z]*\\).*/\\1/p'); do case $c in top|metrics|help|version) ;; "
	  "*) $C $c -j --json -h | grep -e ' -j, --json  ' >said && echo $c || exit 1 ;; esac; done; rm said",
	    0, "unwrap\ndoctor\n" },
	{ "head -c 30000000 /dev/zero | tr '\\0' 1 >long; ulimit -v 60000; $C watch -r long; s=$?; rm long; exit $s",
	    125, "cancelctl: out of memory" },
};

START_TEST(what_is_wrong_is_refused)
{
	expect(NULL, refusals[_i].script, refusals[_i].status, refusals[_i].said);
}
END_TEST

/* It answers the first question and ends. */
START_TEST(one_that_ends_meanwhile_is_left_out)
{
	struct run *run = run_session("--name stays", NULL);

	expect(run,
	    "d=$(for d in /run/user/$(id -u)/canceld $HOME/.local/state/canceld; do ls $d/$PID-*.sock; done 2>/dev/null)\n"
	    "s=${d%/*}/99999998-ab.sock\n"
	    "python3 -c \"\n"
	    "import os, socket\n"
	    "listener = socket.socket(socket.AF_UNIX)\n"
	    "listener.bind('$s.new')\n"
	    "listener.listen()\n"
	    "os.rename('$s.new', '$s')\n"
	    "peer = listener.accept()[0]\n"
	    "peer.recv(4096)\n"
	    "os.unlink('$s')\n"
	    "peer.send(b'{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{\\\"pid\\\":99999998,\\\"name\\\":\\\"goes\\\"}}\\n')\n"
	    "\" &\n"
	    "while [ ! -e $s ]; do sleep 0.02; done\n"
	    "$C stats && wait $!",
	    0, "stays[");
	run_end(run);
}
END_TEST

START_TEST(a_socket_without_a_listener_is_removed)
{
	struct run *run = run_session("--name listens", NULL);

	expect(run,
	    "d=$(for d in /run/user/$(id -u)/canceld $HOME/.local/state/canceld; do ls $d/$PID-*.sock; done 2>/dev/null)\n"
	    "d=${d%/*}; $C ls $d/$PID-*.sock >/dev/null && echo by path\n"
	    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('$d/99999999-ab.sock')\" || exit 77\n"
	    "$C ls; [ ! -e $d/99999999-ab.sock ]",
	    0, "by path");
	run_end(run);
}
END_TEST

Suite *
suite_cancelctl(void)
{
	Suite *suite = suite_create("cancelctl");
	TCase *tests = tcase_create("cancelctl");

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_test(tests, a_hanging_call_is_seen_and_cancelled);
	tcase_add_loop_test(tests, the_nearer_deadline_is_shown, 0, 2);
	tcase_add_test(tests, an_id_is_given_as_it_is_shown);
	tcase_add_test(tests, what_opens_the_session_is_ended_by_a_deadline_only);
	tcase_add_test(tests, an_ambiguous_id_is_refused_with_the_choices);
	tcase_add_test(tests, one_that_does_not_answer_is_shown);
	tcase_add_test(tests, a_name_with_a_zero_byte_hides_nothing);
	tcase_add_test(tests, an_ambiguous_name_is_refused_with_the_choices);
	tcase_add_test(tests, many_are_cancelled_by_age_and_method);
	tcase_add_test(tests, a_deadline_is_set_while_it_runs);
	tcase_add_test(tests, the_level_of_the_log_is_changed);
	tcase_add_loop_test(tests, decisions_are_watched_while_they_are_made, 0, sizeof(watches) / sizeof(watches[0]));
	tcase_add_test(tests, a_log_is_read_with_the_same_filters);
	tcase_add_test(tests, what_was_counted_is_shown);
	tcase_add_test(tests, metrics_are_served);
	tcase_add_test(tests, top_cancels_the_marked_request_after_a_question);
	tcase_add_test(tests, top_marks_resizes_and_restores_the_terminal);
	tcase_add_loop_test(tests, what_is_wrong_is_refused, 0, sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tests, one_that_ends_meanwhile_is_left_out);
	tcase_add_test(tests, a_socket_without_a_listener_is_removed);
	suite_add_tcase(suite, tests);
	return suite;
}
