/* The history: what a session leaves in it, also if canceld is killed. */
#include <sys/stat.h>

#include "client.h"
#include "needs.h"
#include "shell.h"
#include "shell/system.h"

#define HISTORY "$HOME/.local/state/canceld/history"

static void
forget(void)
{
	shell_expect("true", "rm -rf $HOME/.local $HOME/other", 0, "");
}

SUITE("history", .before = forget, .seconds = 21);

/* The lines of the file, in an array. */
static json_t *
read_history(void)
{
	json_t *lines = json_array(), *line;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/.local/state/canceld/history", getenv("HOME"));
	file = fopen(path, "r");
	while (file != NULL &&
	    (line = json_loadf(file, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, NULL)) !=
		NULL)
		json_array_append_new(lines, line);
	if (file != NULL)
		fclose(file);
	return lines;
}

/* The only line with this member; borrowed. */
static json_t *
find(const json_t *lines, const char *key, const char *text)
{
	json_t *found = NULL, *line, *value;
	char *dumped;
	size_t i;

	json_array_foreach (lines, i, line) {
		value = json_object_get(line, key);
		dumped = value == NULL ? NULL : json_dumps(value, JSON_ENCODE_ANY);
		if (dumped != NULL && strcmp(dumped, text) == 0) {
			ck_assert_msg(found == NULL, "%s %s: more than one", key, text);
			found = line;
		}
		free(dumped);
	}
	ck_assert_msg(found != NULL, "%s %s: none", key, text);
	return found;
}

static void
expect_ended(const json_t *lines, const char *id, const char *why, const char *ended,
    const char *by)
{
	json_t *line = find(lines, "id", id);

	ck_assert_str_eq(at_text(line, "why"), why);
	ck_assert_str_eq(at_text(line, "ended"), ended);
	ck_assert_str_eq(at_text(line, "by"), by);
	ck_assert_str_eq(at_text(line, "requester"), "client");
	ck_assert_str_eq(at_text(line, "server"), "mine");
	ck_assert_ptr_nonnull(strchr(at_text(line, "session"), '-'));
	ck_assert_int_ge(at_number(line, "elapsed"), 0);
}

TEST(each_request_that_took_time_has_a_line)
{
	struct run *run = run_session("--name mine -t tools/call:stubborn=100ms", NULL);
	json_t *lines, *line;
	long count = 0;
	size_t i;

	run_call(run, "2", "sleep", "{\"ms\":30}");
	run_expect_answer(run, "2");
	run_call(run, "3", "stubborn", FOR_EVER);
	run_expect_error(run, "3", CODE_CANCELLED, "timeout");
	run_call(run, "4", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":4");
	run_cancel(run, "4");
	run_expect_cancelled(run, "4");
	for (i = 10; i < 15; i++) {
		char id[8];

		snprintf(id, sizeof(id), "%zu", i);
		run_expect_echo(run, id);
	}
	run_call(run, "5", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":5");
	run_leave(run, 0);
	run_end(run);
	lines = read_history();
	find(lines, "why", "\"STARTED\"");
	ck_assert_str_eq(at_text(json_array_get(lines, json_array_size(lines) - 1), "why"),
	    "SUMMARY");
	expect_ended(lines, "2", "RELAYED", "answered", "server");
	ck_assert_int_ge(at_number(find(lines, "id", "2"), "elapsed"), 30);
	ck_assert_str_eq(at_text(find(lines, "id", "2"), "outcome"), "result");
	expect_ended(lines, "3", "TIMED_OUT", "timed_out", "deadline");
	ck_assert_str_eq(at_text(find(lines, "id", "3"), "reason"), "no progress");
	expect_ended(lines, "4", "CANCEL_FORWARDED", "cancelled", "client");
	expect_ended(lines, "5", "CLIENT_GONE", "left", "client");
	/* Each of the quick ones has its line on a busy machine, or is counted. */
	json_array_foreach (lines, i, line) {
		if (at_exists(line, "name") && strcmp(at_text(line, "name"), "echo") == 0)
			count += at_exists(line, "count") ? at_number(line, "count") : 1;
	}
	ck_assert_int_eq(count, 5);
	json_decref(lines);
	shell_expect("true", "stat -c '%a' " HISTORY, 0, "600");
}

TEST(what_a_person_ended_with_the_server_is_told)
{
	struct run *run = run_session("-r --name mine", NULL);
	json_t *lines;

	run_hang(run, "7");
	shell_expect("true", "$CANCELCTL restart mine", 0, "restarted\n");
	run_expect_error(run, "7", CODE_INTERNAL, "server-restarted");
	run_leave(run, 0);
	run_end(run);
	lines = read_history();
	expect_ended(lines, "7", "SERVER_LOST", "lost", "person");
	json_decref(lines);
}

/* It may be of anything, as a message. */
TEST(the_reason_of_a_client_is_not_kept)
{
	struct run *run = run_session("--name mine", NULL);
	json_t *lines;

	run_hang(run, "7");
	run_cancel(run, "7");
	run_expect_cancelled(run, "7");
	run_leave(run, 0);
	run_end(run);
	lines = read_history();
	ck_assert(!at_exists(find(lines, "id", "7"), "reason"));
	json_decref(lines);
}

TEST(what_was_open_as_canceld_was_killed_has_one_line)
{
	struct run *run = run_session("--name mine", NULL);
	json_t *lines, *line;
	char text[32];

	run_hang(run, "7");
	run_hang(run, "8");
	/* canceld notes what is open after the server got it, and before it answers this. */
	shell_expect("true", "$CANCELCTL ls mine | grep -c ' sleep '", 0, "2\n");
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	snprintf(text, sizeof(text), "\"KILLED\"");
	run_expect_gone(run);
	lines = read_history();
	line = find(lines, "why", text);
	ck_assert_int_eq(at_number(line, "open"), 2);
	ck_assert_int_eq(at_number(line, "pid"), run->pid);
	ck_assert_str_eq(at_text(line, "method"), "tools/call");
	ck_assert_int_eq(at_number(line, "id"), 7);
	ck_assert_int_ge(at_number(line, "elapsed"), 0);
	run_end(run);
	json_decref(lines);
}

TEST(what_still_runs_is_told)
{
	struct run *run = run_session("--name mine", NULL);

	run_hang(run, "\"7\"");
	/* Its writer is another process. */
	shell_expect("true",
	    "until grep -qs DIALECT " HISTORY "; do sleep 0.01; done; $CANCELCTL history", 0,
	    "s, still runs, 1 open\n");
	/* What hangs is told among the others, and counted. */
	shell_expect("true", "$CANCELCTL history", 0, "  open ");
	shell_expect("true",
	    "$CANCELCTL history --slow 1ms | grep -c '^[0-9:]*  tools/call  sleep  \"7\" .* open '",
	    0, "1\n");
	shell_expect("true",
	    "$CANCELCTL history --slow 1ms | grep -c '^mine  .*tools/call  sleep  *1  *0 '", 0,
	    "1\n");
	shell_expect("true", "$CANCELCTL history --failed", 0, "nothing has failed in that time\n");
	/* How it is now is none of what was told before a time. */
	shell_expect("true", "$CANCELCTL history -u 2999-01-01 | grep -c ' open '", 1, "0\n");
	shell_expect("true",
	    "$CANCELCTL history -u 2999-01-01 | grep '^mine' | grep -c 'still runs'", 1, "0\n");
	/* As if it were of an earlier one with its pid. */
	shell_expect("true",
	    "sed -i 's/\"time\":\"20../\"time\":\"2000/' " HISTORY "; $CANCELCTL history", 0,
	    "s, no end is known\n");
	run_leave(run, 0);
	run_end(run);
}

/* Not only the signal of canceld's, as if it were of a stranger. */
TEST(why_canceld_ended_the_server_is_told)
{
	struct run *run = run_session("--name mine -t tools/call:block=200ms -k200ms", NULL);

	run_call(run, "2", "block", "{}");
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_expect_logged(run, "RESTARTED");
	run_leave(run, 0);
	run_end(run);
	shell_expect("true", "$CANCELCTL history | grep -o 'STUCK\\|RESTARTED  *Terminated'", 0,
	    "STUCK\nRESTARTED");
	shell_expect("true",
	    "$CANCELCTL history --failed | grep -o 'STUCK\\|RESTARTED  *Terminated'", 0,
	    "STUCK\nRESTARTED");
}

TEST(a_server_that_closed_its_stdin_is_told)
{
	struct run *run = run_options("--name mine",
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; exec <&-; exec sleep 50");

	run_ping(run);
	run_expect_logged(run, "DEAF");
	run_expect_end(run);
	run_finish(run, 128 + SIGTERM);
	shell_expect("true", "$CANCELCTL history -j mine | grep -c '\"why\":\"DEAF\"'", 0, "1\n");
}

TEST(why_a_server_was_not_started_is_told)
{
	struct run *run = run_options("--name mine", "/nonexistent/server");

	run_send(run, INITIALIZE);
	run_expect_error(run, "0", CODE_INTERNAL, "not-started");
	run_expect_exit(run, 127);
	run_end(run);
	shell_expect("true", "$CANCELCTL history mine", 0,
	    "FAILED  cannot start /nonexistent/server: No such file or directory\n");
	shell_expect("true", "$CANCELCTL history --failed mine | grep -c 'FAILED  cannot start'", 0,
	    "1\n");
	shell_expect("true",
	    "$CANCELCTL trace -f html mine | grep -c ' FAILED cannot start /nonexistent/server: No such file'",
	    0, "1\n");
	/* Not every failure has a reason. */
	shell_expect(
	    "said='{\"time\":\"2026-11-26T10:00:00.000Z\",\"pid\":7,\"server\":\"s\",\"why\":\"FAILED\",\"doing\":\"start an event loop\"}'",
	    "echo \"$said\" | $CANCELCTL trace -f html - | grep -o 'FAILED cannot start an event loop[^<]*'",
	    0, "FAILED cannot start an event loop\n");
}

/* As if the file system of the home stood still. */
TEST(a_history_that_stands_still_is_not_awaited)
{
	struct run *run;
	char script[256];
	pid_t writer;

	NEEDS(SYSTEM_RENAMES);
	run = run_session("--name mine", NULL);
	snprintf(script, sizeof(script),
	    "n=0; until for p in $(cat /proc/%d/task/*/children); do grep -q cancel-history /proc/$p/comm && echo $p; "
	    "done | grep . || [ $((n += 1)) = 1000 ]; do sleep 0.01; done",
	    (int)run->pid);
	shell_expect("true", script, 0, "\n");
	writer = atoi(shell_output);
	ck_assert_int_eq(kill(writer, SIGSTOP), 0);
	run_leave(run, 0);
	ck_assert_int_eq(kill(writer, SIGCONT), 0);
	run_end(run);
	shell_expect("true", "grep -c SUMMARY " HISTORY, 0, "1\n");
	shell_expect("true",
	    "mv " HISTORY " " HISTORY ".1; mkfifo " HISTORY "; $CANCELD -q true </dev/null", 0, "");
}

TEST(an_option_and_the_environment_say_where)
{
	run_end(run_session("--no-history", NULL));
	shell_expect("true", "ls " HISTORY, 2, "No such file");
	shell_expect("true",
	    "export XDG_STATE_HOME=$HOME/other; $CANCELD -q true </dev/null; grep -c SUMMARY $HOME/other/canceld/history",
	    0, "1\n");
	shell_expect("rm -r $HOME/other; export XDG_STATE_HOME=$HOME/other/a/",
	    "$CANCELD -q true </dev/null; grep -c SUMMARY $HOME/other/a/canceld/history", 0, "1\n");
	shell_expect("true", "ls " HISTORY, 2, "No such file");
}

TEST(what_was_held_is_told_apart)
{
	struct run *run = run_session("--parallel 1", NULL);

	run_call(run, "2", "sleep", "{\"ms\":50}");
	run_call(run, "3", "sleep", "{\"ms\":1}");
	run_expect_answer(run, "2");
	run_expect_answer(run, "3");
	run_leave(run, 0);
	run_end(run);
	shell_expect("true", "grep '\"id\":3,' " HISTORY " | grep -c '\"held\":'", 0, "1\n");
	shell_expect("true", "grep -c '\"held\":' " HISTORY, 0, "1\n");
}

/* How its directory cannot be used, and why, as the log says. */
static const struct {
	const char *before, *why;
} unusable[] = {
	{ "mkdir -p $HOME/.local/state; touch $HOME/.local/state/canceld",
	    "/.local/state/canceld reason=\"it is no folder, but a file or a link: remove it\"\n" },
	{ "mkdir -p $HOME/.local/state/canceld; chmod 755 $HOME/.local/state/canceld",
	    "/.local/state/canceld reason=\"not this user alone has all rights there: chmod 700\"\n" },
	{ "touch $HOME/.local", "/.local/state/canceld reason=\"Not a directory\"\n" },
	{ "export HOME=/nonexistent; unset XDG_STATE_HOME",
	    " HISTORY_REFUSED reason=\"there is no home directory of this user's\"\n" },
	{ "export HOME=/nonexistent XDG_STATE_HOME=/$(printf %05000d 0)",
	    " HISTORY_REFUSED reason=\"there is no home directory of this user's\"\n" },
	{ "ln -s nowhere $HOME/other; export XDG_STATE_HOME=$HOME/other/a",
	    "/other/a/canceld reason=\"No such file or directory\"\n" },
};

TESTS(a_history_that_cannot_be_kept_is_told, 0, COUNT(unusable))
{
	shell_expect(unusable[_i].before,
	    "$CANCELD --no-control true </dev/null 2>&1 | grep HISTORY_REFUSED", 0,
	    unusable[_i].why);
	shell_expect("rm -rf $HOME/.local $HOME/other", "true", 0, "");
	shell_expect(unusable[_i].before, "$CANCELD --no-control --no-history true </dev/null", 0,
	    "");
	ck_assert_ptr_null(strstr(shell_output, "HISTORY_REFUSED"));
}

/* It has no server and mostly no name. */
TEST(one_that_is_refused_keeps_no_history)
{
	shell_expect("true", "$CANCELD </dev/null", 125, "No command was given");
	shell_expect("true", "ls " HISTORY, 2, "No such file");
}

/* What is told of a dry run did not happen. */
TEST(a_dry_run_keeps_no_history)
{
	struct run *run = run_session("-n -t tools/call:sleep=100ms", NULL);

	run_call(run, "2", "sleep", "{\"ms\":300}");
	run_expect_answer(run, "2");
	run_leave(run, 0);
	run_end(run);
	shell_expect("true", "ls " HISTORY, 2, "No such file");
}

TEST(another_users_directory_is_left_alone)
{
	/* As with sudo -E; who is not root owns no directory at the top. */
	static const char before[] =
	    "mkdir $HOME/other; chown 4711 $HOME/other && s=$HOME/other/a || s=/none/a\n"
	    "export XDG_STATE_HOME=$s";

	shell_expect(before, "$CANCELD -q true </dev/null; ls -A $HOME/other | wc -l", 0, "0\n");
	/* Its writer is not awaited for long. */
	shell_expect("true",
	    "n=0; until grep -sc SUMMARY " HISTORY
	    " || [ $((n += 1)) = 1000 ]; do sleep 0.01; done | tail -n 1",
	    0, "1\n");
}

#define LINE(time, why, rest) \
	"{\"time\":\"2026-11-25T10:00:" time \
	"Z\",\"pid\":4711,\"server\":\"weather\",\"session\":\"4711-1\",\"client\":" \
	"\"node\",\"why\":\"" why "\"" rest "}\n"
#define ENDED(id, name, elapsed, ended) \
	",\"ended\":\"" ended \
	"\",\"requester\":\"client\",\"method\":\"tools/call\",\"name\":\"" name "\",\"id\":" id \
	",\"elapsed\":" elapsed

static void
write_history(void)
{
	static const char lines[] = LINE("00.000", "STARTED",
	    ",\"process\":4712,\"command\":\"weather\"") LINE("01.000", "RELAYED",
	    ENDED("1", "forecast", "500", "answered") ",\"outcome\":\"result\"") LINE("02.000",
	    "RELAYED",
	    ENDED("2", "forecast", "700", "failed") ",\"outcome\":\"isError\"") LINE("03.000",
	    "TIMED_OUT",
	    ENDED("3", "map", "2000", "timed_out") ",\"reason\":\"no progress\"") LINE("03.500",
	    "SERVER_EXITED", ",\"status\":3") LINE("04.000", "COUNTED",
	    ",\"method\":\"tools/call\",\"name\":\"forecast\",\"count\":98,\"sum\":196")
	    LINE("05.000", "KILLED",
		",\"open\":2,\"method\":\"tools/call\",\"name\":\"map\",\"elapsed\":900") "no line\n";

	shell_expect("true", "mkdir -p -m 700 $HOME/.local/state/canceld", 0, "");
	ck_assert_int_eq(setenv("LINES_OF_HISTORY", lines, 1), 0);
	shell_expect("true", "printf %s \"$LINES_OF_HISTORY\" >" HISTORY, 0, "");
}

#define C "$CANCELCTL history "
#define OLDER "sed -i '/forecast/s/11-25/11-23/' " HISTORY "; "

#define GIVEN_UP(why, ended) \
	"sed -i 's/\"TIMED_OUT\\(.*\\)timed_out\\(.*\\),\"reason.*/\"" why "\\1" ended \
	"\\2}/' " HISTORY "; "

static const struct {
	const char *script;
	int status;
	const char *said;
} told[] = {
	{ C, 0, "weather[4711]  node  2026-11-25 10:00:00 UTC, 5s\n" },
	{ "sed -i /KILLED/d " HISTORY "; " C, 0,
	    "weather[4711]  node  2026-11-25 10:00:00 UTC, 4s, no end is known\n" },
	{ C, 0, "10:00:00  tools/call  forecast  1   500ms  answered" },
	{ C, 0, "10:00:01  tools/call  forecast  2   700ms  failed         isError\n" },
	{ C, 0, "10:00:01  tools/call  map       3      2s  timed_out      no progress\n" },
	{ "sed -i 's/\"elapsed\":2000/&,\"held\":1500/' " HISTORY "; " C, 0,
	    "map       3      2s  1.5s  timed_out      no progress\n" },
	/* A string is told from a number, which may have more than 64 bits. */
	{ "sed -i 's/\"id\":3/\"id\":\"3\"/' " HISTORY "; " C, 0,
	    "map       \"3\"     2s  timed_out" },
	{ "sed -i 's/\"id\":3/\"id\":18446744073709551615/' " HISTORY "; " C, 0,
	    "  18446744073709551615     2s  timed" },
	/* What somebody has said stays as it is; a foreign line may have a number there. */
	{ "sed -i 's/no progress/USER_ABORT \303\204/' " HISTORY "; " C, 0,
	    "  2s  timed_out      USER_ABORT \303\204\n" },
	{ "sed -i 's/\"no progress\"/12345678/' " HISTORY "; " C, 0,
	    "  2s  timed_out      12345678\n" },
	{ C, 0, "10:00:03  -           -         -       -  SERVER_EXITED  exit status 3\n" },
	{ "sed -i 's/\"status\":3/\"signal\":9,\"reason\":\"Killed\"/' " HISTORY "; " C, 0,
	    "SERVER_EXITED  Killed\n" },
	{ C, 0, "2026-11-25 10:00:01  tools/call  forecast  2   700ms" },
	{ C, 0,
	    "10:00:04  tools/call  map       -   900ms  KILLED         2 open, this is the oldest\n" },
	{ C, 0, "weather  tools/call  forecast  100       1    2ms  2ms  700ms\n" },
	{ C, 0, "weather  tools/call  map         2       2  900ms   2s     2s\n" },
	{ C, 0, "weather  other       -           1       1      -    -      -\n" },
	{ "sed -i 's/RELAYED\\(.*\\),\"outcome\":\"result\"/ANSWERED_FOR_CLIENT\\1/' " HISTORY
	  "; " C,
	    0, "weather  tools/call  forecast  100       1 " },
	{ "sed -i 's/\"open\":2,.*/\"open\":2}/' " HISTORY "; " C "| grep -o 'other  *-  *2  *2'",
	    0, "2\n" },
	{ "sed -i 's/\"open\":2,.*/\"open\":0}/' " HISTORY "; " C, 0, "KILLED         0 open\n" },
	{ C, 0, "1 lines are not of a JSON log" },
	{ C "--failed | grep -c answered", 1, "0\n" },
	{ C "--failed 2>&1 | grep -c 'no end'", 1, "0\n" },
	{ C "--failed", 0, "weather[4711]  node  2026-11-25 10:00:00 UTC, 5s\n" },
	{ C "--failed", 0, "weather  tools/call  forecast  100       1    2ms  2ms  700ms\n" },
	{ C "--failed", 0,
	    "\n2026-11-25 10:00:04  tools/call  map       -   900ms  KILLED         2 open, this is the oldest\n" },
	{ C "--failed", 0, "SERVER_EXITED  exit status 3\n" },
	{ "sed -i '/isError/d' " HISTORY "; " C "--failed | grep -c 'forecast'", 1, "0\n" },
	{ "sed -i '/failed/d; /timed_out/d; s/\"status\":3/\"status\":0/; s/KILLED/SUMMARY/' " HISTORY
	  "; " C "--failed 2>&1",
	    0, "passed over\ncancelctl: nothing has failed in that time\n" },
	{ "sed -i '/failed/d; /timed_out/d; s/\"status\":3/\"status\":0/; s/KILLED/SUMMARY/' " HISTORY
	  "; " C "--failed 2>/dev/null | wc -c",
	    0, "0\n" },
	{ "sed -i '/failed/d; /timed_out/d; s/\"status\":3/\"status\":0/; s/KILLED/SUMMARY/' " HISTORY
	  "; " C "-j --failed",
	    0, "nothing has failed in that time\n" },
	{ C "--failed -s 1s", 1, "the history has nothing of that" },
	{ "sed -i '/failed/d; /timed_out/d; /KILLED/d; s/\"status\":3/\"signal\":11,\"reason\":\"Segmentation fault\"/' " HISTORY
	  "; " C "--failed",
	    0, "SERVER_EXITED  Segmentation fault\n" },
	{ C "-j --failed 2>&1 | grep -c 'KILLED\\|SERVER_EXITED'", 0, "2\n" },
	{ "$CANCELCTL trace -f otlp 2>&1 | grep -c 'error.type\",\"value\":{\"stringValue\":\"KILLED'",
	    0, "1\n" },
	{ C "weather | grep -c BEGAN", 0, "1\n" },
	{ "export TZ=XYZ-1; " C, 0, "weather[4711]  node  2026-11-25 11:00:00 XYZ, 5s\n" },
	/* Such a name may be of any length. */
	{ "export TZ=$(printf %076d | tr 0 Z)0; " C, 0,
	    "weather[4711]  node  2026-11-25 10:00:00, 5s\n" },
	{ "export TZ=$(printf %076d | tr 0 Z)0; $CANCELCTL trace -f html 2>&1", 0,
	    "<p>2026-11-25 10:00:00, 5s" },
	{ "$CANCELCTL trace -f otlp weather 2>&1 | grep -c 'error.type\",\"value\":{\"stringValue\":\"KILLED'",
	    0, "1\n" },
	{ "$CANCELCTL trace -f html 4711 | grep -c weather", 0, "" },
	{ "$CANCELCTL trace -f otlp 4712", 1,
	    "4712: no such file, and nothing of such a server in the history\n" },
	/* Without a time: the last day of this server. */
	{ OLDER C, 0,
	    "cancelctl: this is the last day; for what was before see --since, such as --since 7d\n" },
	{ OLDER C "2>&1 | grep -c -e forecast", 1, "0\n" },
	/* ... which is none that is to come: a clock was wrong. */
	{ "sed -i 's/\\(.*\\)2026-11-25\\(.*forecast\\)/\\12999-11-25\\2/' " HISTORY "; " C, 0,
	    "map" },
	{ "sed -i '/failed/d; /KILLED/d; s/\"status\":3/\"status\":0/; /timed_out/s/11-25/11-01/' " HISTORY
	  "; " C "--failed 2>&1",
	    0, "--since 7d\ncancelctl: nothing has failed in that time\n" },
	{ OLDER C "-s 2026-11-01 2>&1 | grep -c -e 'forecast.* [af]' -e 'last day'", 0, "2\n" },
	{ OLDER C "-j 2>&1 | grep -c -e '\"forecast' -e 'last day'", 0, "3\n" },
	{ "sed 's/weather/other/; s/11-25/11-27/' " HISTORY " >more; cat more >>" HISTORY
	  "; rm more; " C "weather 2>&1 | grep -c forecast",
	    0, "3\n" },
	{ C "4711 | grep -c BEGAN", 0, "1\n" },
	{ C "other", 1, "the history has nothing of that\n" },
	{ C "wether", 1, "the history has nothing of that: it could be weather\n" },
	{ C "weather -s 1s", 1, "the history has nothing of that\n" },
	/* It was written in the order of its times. */
	{ C "--until 2026-11-25T10:00:02 2>&1 | grep -o 'forecast.*answered\\|forecast.*failed\\|no end'",
	    0, "forecast  1   500ms  answered\n" },
	{ C "--until 2026-11-25T09:00", 1, "the history has nothing of that\n" },
	{ C "--until 2026-11-25T10:00:02 -j 2>&1 | grep -c weather", 0, "2\n" },
	{ C "--until 1970-01-01", 1, "the history has nothing of that\n" },
	{ "TZ=UTC-1 " C "--until 1970-01-01", 1, "the history has nothing of that\n" },
	{ OLDER C "--since 1970-01-01 2>&1 | grep -c forecast", 0, "3\n" },
	{ C "--until soon", 2, "'soon' is no time such as 2h" },
	{ "$CANCELCTL trace -f otlp --until 2026-11-25T10:00:02 2>&1 | grep -o 'execute_tool' | wc -l",
	    0, "1\n" },
	{ "$CANCELCTL trace -u soon", 2, "'soon' is no time such as 2h" },
	{ "$CANCELCTL trace --follow -u 10:00", 2, "--follow writes otlp alone" },
	/* The last lines, of any time; the table counts all. */
	{ C "-n 2 2>&1 | grep -o ' KILLED\\|_EXITED\\|timed_out\\|failed'", 0, " KILLED\n" },
	{ C "-n 2 2>&1 | grep -c 'EXITED\\|KILLED\\|2s  timed_out'", 0, "2\n" },
	{ OLDER C "--last 9 2>&1 | grep -c -e 'forecast.* [af]' -e 'last day'", 0, "2\n" },
	{ C "-n 2", 0, "weather  tools/call  forecast  100       1    2ms  2ms  700ms\n" },
	{ "sed 's/4711/4710/g; s/weather/other/; s/T10/T09/; s/KILLED/SUMMARY/' " HISTORY
	  " >first; cat " HISTORY " >>first; mv first " HISTORY "; " C
	  "-n 2 2>&1 | grep -c '471.]'",
	    0, "1\n" },
	{ "sed 's/4711/4710/g; s/weather/other/; s/T10/T09/; s/KILLED/SUMMARY/' " HISTORY
	  " >first; cat " HISTORY " >>first; mv first " HISTORY "; " C "-n 6 2>&1 | grep -A2 4710",
	    0, "09:00:03  -       -     -      -  SERVER_EXITED  exit status 3\n" },
	{ C "-n 0", 2, "--last: '0' is no number from 1 on" },
	{ C "-j -n 1", 2, "or there is -j, which tail -n cuts" },
	/* However they ended. */
	{ GIVEN_UP("CANCEL_FORWARDED", "cancelled") C "--slow 1s 2>&1 | tail -n +3", 0,
	    "\n2026-11-25 10:00:01  tools/call  map   3     2s  cancelled  cancel forwarded\n\nSERVER" },
	{ C "--slow 1s 2>&1 | grep -c 'forecast\\|EXITED\\|KILLED\\|other'", 1, "0\n" },
	{ C "--slow 600ms --failed 2>&1 | grep -c 'isError\\|no progress\\|KILLED'", 0, "3\n" },
	{ C "--slow 1h", 1, "the history has nothing of that\n" },
	{ C "--slow 1s -j 2>&1 | grep -c elapsed", 0, "1\n" },
	{ C "--slow 10", 2, "--slow: '10' is no duration such as 10s" },
	{ "sed -i 's/\"KILLED.*/\"SUMMARY\"}/; s/isError/-32603/' " HISTORY "; " C, 0,
	    "failed         -32603\n" },
	/* One line of what is one thing to a person. */
	{ "sed -i 's/\\(.*\\)\"SERVER_EXITED.*/&\\n\\1\"RESTARTING\"}\\n\\1\"RESTARTED\"}/' " HISTORY
	  "; " C "2>&1 | grep -A1 '10:00:03'",
	    0, "RESTARTED  exit status 3\n" },
	{ "sed -i 's/\\(.*\\)\"SERVER_EXITED.*/&\\n\\1\"RESTARTING\"}\\n\\1\"RESTARTED\"}/' " HISTORY
	  "; " C "2>&1 | grep -c 'RESTARTING\\|EXITED'",
	    1, "0\n" },
	{ "sed -i 's/\\(.*\\)\"SERVER_EXITED.*/&\\n\\1\"REPLAY_FAILED\"}\\n\\1\"RESTARTED\"}/' " HISTORY
	  "; " C "2>&1 | grep -o 'SERVER_EXITED\\|REPLAY_FAILED\\|RESTARTED.*'",
	    0, "RESTARTED      exit status 3\nREPLAY_FAILED\n" },
	/* What the client gives up is no failure. */
	{ "sed -i 's/\"TIMED_OUT\\(.*\\)timed_out/\"CANCEL_FORWARDED\\1cancelled/' " HISTORY "; " C
	  "--failed 2>&1 | grep -c cancelled",
	    1, "0\n" },
	{ "sed -i 's/\"TIMED_OUT\\(.*\\)timed_out/\"CANCEL_FORWARDED\\1cancelled/' " HISTORY "; " C,
	    0, "weather  tools/call  map         2       1  900ms   2s     2s\n" },
	/* ... and why is told of it too. */
	{ GIVEN_UP("CANCEL_FORWARDED", "cancelled") C, 0,
	    "  2s  cancelled      cancel forwarded\n" },
	{ GIVEN_UP("CLIENT_GONE", "left") C, 0, "  2s  left           client gone\n" },
	{ GIVEN_UP("CLIENT_GONE", "left") "$CANCELCTL trace -f html 2>&1", 0,
	    "<td class=o>left<td class=w>CLIENT_GONE<" },
	{ "$CANCELCTL trace -f html 2>&1", 0, "<td class=o>failed<td class=w>isError<" },
	{ "$CANCELCTL trace -f html 2>&1", 0, "<td class=o>answered<td class=w><" },
	{ "sed -i 's/\"KILLED.*/\"CANCEL_IGNORED\",\"id\":3,\"method\":\"tools\\/call\",\"name\":\"map\",\"elapsed\":900}/' " HISTORY
	  "; " C,
	    0, "tools/call  map       3   900ms  CANCEL_IGNORED " },
	{ C "--since 1s", 1, "the history has nothing of that" },
	{ C "--since today; s=$?; [ $(date +%F) = 2026-11-25 ] || exit $s", 1,
	    "the history has nothing of that" },
	{ C "--since soon", 2, "'soon' is no time such as 2h" },
	{ C "--since 2026-11-25T10", 2, "is no time" },
	{ C "--since 2026-11-25 2>&1 | grep -c forecast", 0, "3\n" },
	{ C "--since '2026-11-25 10:00' 2>&1 | grep -c forecast", 0, "3\n" },
	{ C "--since '2026-11-25 10:00:02' 2>&1 | grep -c 'forecast.*ms  [af]'", 0, "1\n" },
	{ C "--since '2026-11-25 10:01'", 1, "the history has nothing of that" },
	{ C "--since '2026-11-25 '", 2, "is no time" },
	{ "export HERE=$(date +%F); sed -i s/2026-11-25/$HERE/ " HISTORY "; " C
	  "-s 10:00 2>&1 | grep -c forecast",
	    0, "3\n" },
	{ "export HERE=$(date +%F); sed -i s/2026-11-25/$HERE/ " HISTORY "; " C "-s 10:01", 1,
	    "the history has nothing of that" },
	{ C "--since 24:00", 2, "is no time" },
	{ C "--since 10:00T10:00", 2, "is no time" },
	{ C "--since 2026-11-25:10", 2, "'2026-11-25:10' is no time" },
	{ C "--since 2026-1-5", 2, "'2026-1-5' is no time" },
	{ C "--since 10:00:60", 2, "'10:00:60' is no time" },
	{ C "--since 10:0", 2, "'10:0' is no time" },
	{ C "--since ' 10:00'", 2, "' 10:00' is no time" },
	{ C "--since ' 2026-11-25'", 2, "' 2026-11-25' is no time" },
	{ C "--since '2026-11-25T10:00 '", 2, "is no time" },
	{ C "--since 2026-11-31", 2, "'2026-11-31' is no time" },
	{ C "--since 2026-02-29T10:00", 2, "is no time" },
	{ C "--since 26-11-25", 2, "is no time" },
	{ C "--since 2028-02-29", 1, "the history has nothing of that" },
	{ C "--since 2026-11-25T10:01", 1, "the history has nothing of that" },
	/* The head of a session that goes on is older. */
	{ "sed -i 's/T10:00:00/T08:00:00/' " HISTORY "; " C "--since 2026-11-25T09:00", 0,
	    "weather[4711]  node  2026-11-25 08:00:00 UTC, 2h00m\n" },
	{ "sed -i 's/T10:00:00/T08:00:00/' " HISTORY "; " C
	  "--since 2026-11-25T09:00 2>&1 | grep -c STARTED",
	    1, "0\n" },
	{ "sed -n 's/4711/4710/g; /STARTED/s/T10/T08/p; s/KILLED/SUMMARY/; /SUMMARY/s/T10/T08/p' " HISTORY
	  ">first; cat " HISTORY " >>first; mv first " HISTORY "; " C
	  "--since 2026-11-25T09:00 2>&1 | grep -o '^weather.471.'",
	    0, "weather[4711\n" },
	{ "sed -i 's/T10:00:00/T08:00:00/' " HISTORY
	  "; $CANCELCTL trace -f html --since 2026-11-25T09:00 2>&1",
	    0, "<p>2026-11-25 08:00:00 UTC, 2h00m &middot; client node" },
	/* In the words of the history, with the time of day, and what became of the server. */
	{ "$CANCELCTL trace -f html 2>&1", 0, "<td class=c>2026-11-25 10:00:01 UTC<td class=l>" },
	{ "$CANCELCTL trace -f html 2>&1 | grep -o '<td class=o>timed_out<td class=w>no progress' | uniq",
	    0, "progress\n" },
	{ "$CANCELCTL trace -f html 2>&1", 0,
	    "<p class=bad>2026-11-25 10:00:03 UTC SERVER_EXITED exit status 3<table>" },
	{ "sed -i 's/\"status\":3/\"signal\":9,\"reason\":\"Killed\"/' " HISTORY
	  "; $CANCELCTL trace -f html 2>&1",
	    0, "<p class=bad>2026-11-25 10:00:03 UTC SERVER_EXITED Killed<table>" },
	/* ... which is no loss if it ended as it should, or was started again. */
	{ "sed -i 's/\"status\":3/\"status\":0/' " HISTORY "; $CANCELCTL trace -f html 2>&1", 0,
	    "<p>2026-11-25 10:00:03 UTC SERVER_EXITED exit status 0<table>" },
	{ "sed -i 's/\\(.*\\)\"SERVER_EXITED.*/&\\n\\1\"RESTARTED\"}/' " HISTORY
	  "; $CANCELCTL trace -f html 2>&1",
	    0, "exit status 3<p>2026-11-25 10:00:03 UTC RESTARTED <table>" },
	{ "TZ=UTC-1 " C "-s 2026-11-25T10:59 2>&1 | grep -c forecast", 0, "3\n" },
	{ "export HERE=$(date -d yesterday +%F); sed -i s/2026-11-25/$HERE/ " HISTORY "; " C
	  "--since yesterday 2>&1 | grep -c forecast",
	    0, "3\n" },
	{ "export HERE=$(date +%F); sed -i s/2026-11-25/$HERE/ " HISTORY "; " C "-s today", 0,
	    "\n10:00:01  tools/call  forecast  2   700ms" },
	{ "sed -n 's/4711/4710/g; s/T10:00:00/T10:00:09/p' " HISTORY ">first; cat " HISTORY
	  " >>first; mv first " HISTORY "; " C "2>&1 | grep -o '^weather.471.'",
	    0, "weather[4711\nweather[4710\n" },
	{ C "-j --failed 2>&1 | grep -c '\"ended\"'", 0, "2\n" },
	{ "$CANCELCTL trace -f otlp 2>&1 | grep -c 'execute_tool.*map'", 0, "1\n" },
	{ "$CANCELCTL trace 2>&1 | grep -c '\"ph\":\"X\".*\"name\":\"tools/call forecast\",\"ts\":1795600800500000'",
	    0, "1\n" },
};

TESTS(the_history_is_told, 0, sizeof(told) / sizeof(told[0]))
{
	write_history();
	shell_expect("export TZ=UTC", told[_i].script, told[_i].status, told[_i].said);
}

/*
 * Whoever reads the lines has the first one as soon as both files are open, and no pipe holds all
 * of them.
 */
TEST(a_file_that_becomes_the_former_one_is_read)
{
	write_history();
	shell_expect("cd $HOME/.local/state/canceld",
	    "grep STARTED history >history.1; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat history.1 history.1 >more; "
	    "mv more history.1; done\n" C
	    "-j 2>said | { read -r line; mv history history.1; cat >told; }; grep -o SERVER_EXITED told",
	    0, "SERVER_EXITED\n");
}

TEST(what_is_no_file_is_not_awaited)
{
	write_history();
	shell_expect("cd $HOME/.local/state/canceld", "mkfifo history.1; " C, 0, "SERVER_EXITED");
	shell_expect("cd $HOME/.local/state/canceld", "rm history; mkfifo history; " C, 1,
	    "the history has nothing of that");
}

/* The lines before its handshake name its process. */
TESTS(the_client_is_called_as_it_says, 0, 2)
{
	const char *version = _i == 0 ? ",\"version\":\"1.2\"" : "";
	const char *called = _i == 0 ? "an-editor 1.2" : "an-editor";
	struct run *run = run_options("-v --name mine", NULL);
	json_t *lines;
	char shown[64];

	run_expect_logged(run, "mine: STARTED ");
	run_sendf(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	    "\"clientInfo\":{\"name\":\"an-editor\"%s}}}",
	    version);
	run_expect_result(run, "0");
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	run_expect_gone(run);
	run_end(run);
	lines = read_history();
	ck_assert_str_ne(at_text(find(lines, "why", "\"STARTED\""), "client"), called);
	ck_assert_str_eq(at_text(find(lines, "why", "\"DIALECT\""), "client"), called);
	find(lines, "why", "\"KILLED\"");
	json_decref(lines);
	snprintf(shown, sizeof(shown), "]  %s  ", called);
	shell_expect("true", "$CANCELCTL history", 0, shown);
}

TEST(without_a_history_that_is_told)
{
	shell_expect("true", C, 1, "the history has nothing of that");
}

TEST(how_long_requests_took_is_counted)
{
	struct run *run = run_session("--name timed", NULL);

	run_expect_echo(run, "2");
	run_call(run, "3", "sleep", "{\"ms\":1100}");
	run_expect_answer(run, "3");
	shell_expect("true", "$CANCELCTL stats timed | grep -c 'N  *P50  *P95  *MAX$'", 0, "1\n");
	/* Of one alone the longest says all. */
	shell_expect("true", "$CANCELCTL stats timed | grep -c 'sleep .* 1  *-  *-  *[0-9.]*s$'", 0,
	    "1\n");
	run_call(run, "4", "sleep", "{\"ms\":1100}");
	run_expect_answer(run, "4");
	shell_expect("true",
	    "$CANCELCTL stats timed | grep -c 'sleep .* 2  *[0-9.]*s  *[0-9.]*s  *[0-9.]*s$'", 0,
	    "1\n");
	shell_expect("true", "$CANCELCTL metrics", 0,
	    "mcp_server_operation_duration_seconds_bucket{server=\"timed\",mcp_method_name=\"tools/call\","
	    "gen_ai_tool_name=\"sleep\",le=\"1\",network_transport=\"pipe\"} 0\n");
	shell_expect("true", "$CANCELCTL metrics", 0,
	    "gen_ai_tool_name=\"sleep\",network_transport=\"pipe\"} 2\n");
	if (shell_run("true", "command -v promtool") == 0)
		shell_expect("true", "$CANCELCTL metrics | promtool check metrics && echo clean", 0,
		    "clean\n");
	else
		puts("skipped how_long_requests_took_is_counted: there is no promtool");
	run_leave(run, 0);
	run_end(run);
}

/* The queries of the dashboard, a line each, as Grafana would ask them. */
static void
read_queries(struct text *queries)
{
	json_t *dashboard =
		   json_load_file("src/package/grafana.json", JSON_REJECT_DUPLICATES, NULL),
	       *panel, *target;
	size_t i, k;

	ck_assert_ptr_nonnull(dashboard);
	json_array_foreach (at(dashboard, "panels"), i, panel) {
		json_array_foreach (at(panel, "targets"), k, target) {
			text_append(queries, at_text(target, "expr"),
			    strlen(at_text(target, "expr")));
			text_append(queries, "\n", 1);
		}
	}
	json_decref(dashboard);
}

/* It prints the queries to which Prometheus, having read the metrics, has no answer. */
static const char prometheus[] =
    "mkfifo serve; timeout 50 $CANCELCTL metrics --listen 127.0.0.1:0 2>serve & m=$!; read line <serve\n"
    "address=${line#*http://}; port=$((20000 + $$ % 20000)); url=http://127.0.0.1:$port\n"
    "printf 'global: {scrape_interval: 1s}\\nscrape_configs:\\n- job_name: canceld\\n  static_configs:\\n' >config\n"
    "printf '  - targets: [\"%s\"]\\n' \"${address%/metrics}\" >>config\n"
    "timeout 50 prometheus --config.file=config --storage.tsdb.path=data --web.listen-address=127.0.0.1:$port >log 2>&1 &\n"
    "p=$!; printf '%s' \"$QUERIES\" | sed 's/\\$__rate_interval/1m/' | while read -r query; do i=0\n"
    "until [ -n \"$(promtool query instant $url \"$query\" 2>>asked)\" ]; do\n"
    "[ $((i += 1)) = 150 ] && { echo \"no answer: $query\"; tail -n 3 asked log; break; }; sleep 0.1; done; done\n"
    "kill $m $p; echo all asked";

TEST(each_query_of_the_dashboard_has_an_answer)
{
	struct text queries = { 0 };
	struct run *run;

	if (shell_run("true", "command -v prometheus promtool") != 0) {
		puts("skipped each_query_of_the_dashboard_has_an_answer: there is no prometheus");
		return;
	}
	read_queries(&queries);
	ck_assert_int_eq(setenv("QUERIES", queries.data, 1), 0);
	run = run_session("--name shown", NULL);
	run_expect_echo(run, "2");
	run_hang(run, "3");
	shell_expect("cd $(mktemp -d $E2E_DIRECTORY/prometheus-XXXXXX)", prometheus, 0,
	    "all asked\n");
	ck_assert_msg(strstr(shell_output, "no answer") == NULL, "%s", shell_output);
	run_leave(run, 0);
	run_end(run);
	free(queries.data);
}
