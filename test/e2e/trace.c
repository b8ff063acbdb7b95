/* --trace: what the file has, how it is bounded, and cancelctl replay. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client.h"
#include "process.h"
#include "suites.h"

#define FOR_EVER "{\"ms\":600000,\"password\":\"swordfish\"}"

static char given[300];  /* the argument of --trace */
static char path[400];   /* the file */
static char output[400]; /* what cancelctl printed */

static void
enter(void)
{
	snprintf(given, sizeof(given), "%s/trace-%d", getenv("E2E_DIRECTORY"), (int)getpid());
	snprintf(output, sizeof(output), "%s.out", given);
}

/* options: words before the name of the trace. */
static struct run *
run_traced(const char *options, const char *command)
{
	char words[600];
	struct run *run;

	snprintf(words, sizeof(words), "%s --trace %s", options, given);
	run = run_options(words, command);
	snprintf(path, sizeof(path), "%s.%d", given, (int)run->pid);
	return run;
}

/* Runs `cancelctl replay` with these words and the trace; what it printed is in `output`. */
static int
replay(const char *words)
{
	char command[2048];
	int status;

	snprintf(command, sizeof(command), "\"$CANCELCTL\" replay %s %s >%s 2>&1", words, path, output);
	status = system(command);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
expect_replay(const char *words, int status, const char *printed)
{
	char command[512];
	int got = replay(words);

	if (got == status && process_has_text(output, printed))
		return;
	snprintf(command, sizeof(command), "tail -n 20 %s", output);
	ck_assert_int_eq(system(command), 0);
	ck_abort_msg("replay %s: %d instead of %d with '%s'", words, got, status, printed);
}

/* Replaces each occurrence in the trace by sed. */
static void
edit(const char *script)
{
	char command[1024];

	snprintf(command, sizeof(command), "sed -i '%s' %s", script, path);
	ck_assert_int_eq(system(command), 0);
}

static void
end(struct run *run)
{
	run_close_in(run);
	run_expect_exit(run, 0);
	run_end(run);
}

/* A timeout with a late answer, a client's cancel, noise, a message that passes in parts. */
static void
play(struct run *run)
{
	run_handshake(run);
	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_call(run, "3", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":3");
	run_cancel(run, "3");
	run_expect_cancelled(run, "3");
	run_release(run);
	run_call(run, "4", "noise", "{\"kind\":\"utf8\"}");
	run_expect_result(run, "4");
	run_call(run, "5", "flood", "{\"count\":3,\"bytes\":300000}");
	for (int i = 0; i < 3; i++)
		run_expect_message(run);
	run_expect_result(run, "5");
	run_send(run, "no JSON");
	run_expect_message(run);
	run_expect_echo(run, "6");
}

struct counts {
	size_t lines, calls, events, of, relayed, timed_out, cancelled;
};

/* Every record of the trace must be an object of one of the known kinds. */
static struct counts
read_trace(void)
{
	FILE *file = fopen(path, "r");
	struct counts counts = { 0 };
	char *line = NULL;
	size_t room = 0;

	ck_assert_ptr_nonnull(file);
	while (getline(&line, &room, file) > 0) {
		json_t *object = json_loads(line, JSON_ALLOW_NUL, NULL);
		const char *why = json_string_value(json_object_get(object, "why"));

		ck_assert_msg(json_is_object(object), "%s", line);
		ck_assert_msg(json_is_integer(json_object_get(object, "mono")), "%s", line);
		counts.lines++;
		counts.calls += json_is_string(json_object_get(object, "call"));
		counts.events += why != NULL;
		counts.of += json_is_integer(json_object_get(object, "of"));
		if (why == NULL) {
			ck_assert(json_object_get(object, "call") != NULL || json_object_get(object, "trace") != NULL);
		} else if (strcmp(why, "RELAYED") == 0) {
			counts.relayed++;
			ck_assert_msg(json_integer_value(json_object_get(object, "bytes")) > 0, "%s", line);
			ck_assert_msg(json_is_string(json_object_get(object, "to")), "%s", line);
			ck_assert_msg(json_is_string(json_object_get(object, "time")), "%s", line);
		} else {
			counts.timed_out += strcmp(why, "TIMED_OUT") == 0;
			counts.cancelled += strcmp(why, "CANCEL_FORWARDED") == 0;
		}
		json_decref(object);
	}
	free(line);
	fclose(file);
	return counts;
}

START_TEST(each_message_and_decision_is_recorded)
{
	struct run *run = run_traced("-t tools/call:stubborn=200ms", NULL);
	struct counts counts;
	struct stat status;

	play(run);
	end(run);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(status.st_mode, S_IFREG | 0600);
	counts = read_trace();
	ck_assert_uint_eq(counts.calls, 0);
	ck_assert_uint_eq(counts.of, 0);
	ck_assert_uint_eq(counts.lines, counts.events + 2);
	ck_assert_uint_ge(counts.relayed, 15);
	ck_assert_uint_eq(counts.timed_out, 1);
	ck_assert_uint_eq(counts.cancelled, 1);
	ck_assert(process_has_text(path, "\"method\":\"tools/call\",\"name\":\"sleep\",\"id\":3,"));
	ck_assert(process_has_text(path, "\"why\":\"SUMMARY\""));
	ck_assert(process_has_text(path, "\"version\":\""));
	ck_assert(!process_has_text(path, "password"));
	expect_replay("", 125, "has no payload");
}
END_TEST

START_TEST(a_replay_decides_the_same)
{
	static const char *const options[] = {
		"-t tools/call:stubborn=200ms",
		"-n -t tools/call:sleep=300ms",
		"-r -k5s --strict --ask-progress --tool-errors --answer-cancelled -g 300ms -t tools/call:stubborn=200ms",
		"--legacy --no-cancel --max-message 64K -t tools/call:stubborn=200ms",
	};
	char words[400];
	struct counts counts;
	struct run *run;

	snprintf(words, sizeof(words), "%s --trace-payload", options[_i]);
	run = run_traced(words, NULL);
	if (_i != 1) {
		run_handshake(run);
		run_call(run, "2", "stubborn", FOR_EVER);
		run_expect_answer(run, "2");
		run_expect_logged(run, ": TIMED_OUT ");
	}
	if (_i == 0) {
		run_release(run);
		run_call(run, "4", "noise", "{\"kind\":\"utf8\"}");
		run_expect_result(run, "4");
		run_call(run, "5", "flood", "{\"count\":3,\"bytes\":300000}");
		for (int i = 0; i < 3; i++)
			run_expect_message(run);
		run_expect_result(run, "5");
		run_send(run, "no JSON");
		run_expect_message(run);
	} else if (_i == 1) {
		run_handshake(run);
		run_call(run, "2", "sleep", "{\"ms\":600,\"apiKey\":\"swordfish\"}");
		run_expect_result(run, "2");
	}
	run_expect_echo(run, "6");
	end(run);
	counts = read_trace();
	ck_assert_uint_gt(counts.calls, 20);
	ck_assert_uint_ge(counts.of, 5);
	ck_assert(!process_has_text(path, "swordfish"));
	ck_assert(process_has_text(path,
	    _i == 1 ? "\\\"apiKey\\\":\\\"*********\\\"" : "\\\"password\\\":\\\"*********\\\""));
	expect_replay("-v", 0, "the same as recorded");
	ck_assert(process_has_text(output, "RELAYED "));
	expect_replay("", 0, " TIMED_OUT ");
	ck_assert(!process_has_text(output, "RELAYED "));
	expect_replay("--json", 0, ",\"differing\":0}");
	ck_assert(process_has_text(output, "\"decided\":\"both\""));
}
END_TEST

/* Everything that a trace can have a call for: a crash and a new server, its stderr, a new file of rules, a signal. */
START_TEST(a_replay_follows_servers_and_rules)
{
	char words[700], config[400];
	struct run *run;
	FILE *file;

	snprintf(config, sizeof(config), "%s.json", given);
	file = fopen(config, "w");
	ck_assert_ptr_nonnull(file);
	fputs("{\"timeout\":\"30s\"}", file);
	fclose(file);
	snprintf(words, sizeof(words), "-r --trace-payload -c %s", config);
	run = run_traced(words, NULL);
	run_handshake(run);
	run_call(run, "2", "crash", "{\"status\":7}");
	run_expect_error(run, "2", CODE_INTERNAL, "server-restarted");
	run_expect_logged(run, ": RESTARTED");
	run_expect_echo(run, "3");
	file = fopen(config, "w");
	ck_assert_ptr_nonnull(file);
	fputs("{\"timeout\":{\"tools/call:sleep\":\"100ms\"}}", file);
	fclose(file);
	kill(run->pid, SIGUSR2);
	run_expect_logged(run, ": CONFIG_RELOADED");
	run_call(run, "4", "sleep", FOR_EVER);
	run_expect_error(run, "4", CODE_CANCELLED, "timeout");
	run_call(run, "5", "sleep", "{\"ms\":600000}");
	kill(run->pid, SIGTERM);
	run_expect_exit(run, 128 + SIGTERM);
	run_end(run);
	ck_assert(process_has_text(path, "{\"call\":\"lost\""));
	ck_assert(process_has_text(path, "{\"call\":\"back\""));
	ck_assert(process_has_text(path, "{\"call\":\"rules\""));
	ck_assert(process_has_text(path, "{\"call\":\"quote\""));
	expect_replay("-v", 0, "the same as recorded");
	ck_assert(process_has_text(output, " SERVER_LOST "));
	ck_assert(process_has_text(output, " TIMED_OUT "));
}
END_TEST

START_TEST(a_replay_shows_what_differs)
{
	struct run *run = run_traced("-t tools/call:sleep=100ms --trace-payload", NULL);

	run_handshake(run);
	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_expect_echo(run, "3");
	end(run);
	edit("1s/\"ms\":100/\"ms\":50000/");
	expect_replay("", 1, "\n- ");
	ck_assert(process_has_text(output, " TIMED_OUT "));
	ck_assert(process_has_text(output, " differ"));
	expect_replay("-j", 1, "\"decided\":\"then\"");
	edit("1s/\"ms\":50000/\"ms\":100/; /\"why\":\"TIMED_OUT\"/d");
	expect_replay("", 1, "+ ");
	expect_replay("--json", 1, "\"decided\":\"now\"");
}
END_TEST

START_TEST(a_replay_refuses_what_is_not_whole)
{
	static const struct {
		const char *script, *reason;
	} edits[] = {
		{ "$d", "is not complete: canceld was killed" },
		{ "1d", "line 1: no trace of canceld" },
		{ "0,/\"call\":\"sleep\"/{/\"call\":\"sleep\"/d}", "calls are missing" },
		{ "1s/\"part\":1/\"part\":2/", "its beginning was overwritten" },
		{ "1s/\"trace\":1/\"trace\":9/", "this version of the format" },
		{ "1s/\"strict\":false,//", "the options of the session" },
		{ "0,/\"call\":\"hear\"/s/\"bytes\":[0-9]*/\"bytes\":1/", "lacks something" },
		{ "0,/\"call\":\"sleep\"/s/\"sleep\"/\"dream\"/", "this call is not known" },
		{ "$s/}/}x/", "no JSON object" },
		{ "0,/\"call\"/s/.*\"call\".*/{}/", "no record of a trace" },
		{ "$p", "something follows" },
		{ "s/\"mono\":[0-9]*,\"stalled\"/\"mono\":7,\"stalled\"/", "the time goes back" },
	};
	struct run *run = run_traced("--trace-payload", NULL);
	char command[1200];

	run_handshake(run);
	run_expect_echo(run, "3");
	end(run);
	expect_replay("", 0, "the same");
	snprintf(command, sizeof(command), "cp %s %s.whole", path, given);
	ck_assert_int_eq(system(command), 0);
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		edit(edits[i].script);
		expect_replay("", 125, edits[i].reason);
		snprintf(command, sizeof(command), "cp %s.whole %s", given, path);
		ck_assert_int_eq(system(command), 0);
	}
	snprintf(command, sizeof(command), "head -c -5 %s.whole >%s", given, path);
	ck_assert_int_eq(system(command), 0);
	expect_replay("", 125, "it ends within a line");
	ck_assert_int_eq(truncate(path, 0), 0);
	expect_replay("", 125, "the file is empty");
	ck_assert_int_eq(unlink(path), 0);
	expect_replay("", 125, "No such file");
	expect_replay("-x", 2, "unknown option");
	expect_replay("a", 2, "one trace");
	expect_replay("--help", 0, "usage: cancelctl replay");
}
END_TEST

/* What was written before canceld was killed is there. */
START_TEST(each_turn_is_written)
{
	struct run *run = run_traced("--trace-payload", NULL);

	run_handshake(run);
	run_expect_echo(run, "3");
	run_settle(run);
	kill(run->pid, SIGKILL);
	run_expect_gone(run);
	ck_assert_uint_gt(read_trace().calls, 5);
	expect_replay("", 125, "is not complete: canceld was killed");
}
END_TEST

/* Two files, and each is smaller than half of the size. */
START_TEST(the_size_is_bounded)
{
	struct run *run = run_traced("--trace-payload --trace-size 4M", NULL);
	struct stat former, last;
	char other[500];
	char id[16];

	run_handshake(run);
	for (int i = 2; i < 22; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_call(run, id, "flood", "{\"count\":0,\"bytes\":500000}");
		run_expect_result(run, id);
	}
	end(run);
	snprintf(other, sizeof(other), "%s.1", path);
	ck_assert_int_eq(stat(other, &former), 0);
	ck_assert_int_eq(stat(path, &last), 0);
	ck_assert_int_eq(former.st_mode, S_IFREG | 0600);
	ck_assert_int_le(former.st_size, 2 << 20);
	ck_assert_int_le(last.st_size, 2 << 20);
	ck_assert_int_gt(former.st_size, 1 << 20);
	read_trace();
	expect_replay("", 125, "its beginning was overwritten");
}
END_TEST

/* before, behind: what stands around the name in a shell command before canceld starts; $$ will be the process id. */
static struct run *
run_after(const char *before, const char *behind, const char *options)
{
	char script[800], words[600];

	snprintf(script, sizeof(script), "%s %s%s", before, given, behind);
	snprintf(words, sizeof(words), "%s --trace %s", options, given);
	return run_start(&(struct setup){ .shell = script, .options = words });
}

START_TEST(no_file_that_is_there_is_written)
{
	static const char *const setups[] = { "ln -s /tmp/elsewhere", ": >", "mkdir", "mkfifo", "ln -s /dev/full" };
	struct run *run = run_after(setups[_i], ".$$", "");

	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data, "--trace '"));
	ck_assert_ptr_nonnull(strstr(run->error.data, "File exists"));
	ck_assert_int_eq(access("/tmp/elsewhere", F_OK), -1);
	run_end(run);
}
END_TEST

START_TEST(the_name_may_have_the_pid_within)
{
	char words[600], name[400];
	struct run *run;

	snprintf(words, sizeof(words), "--trace %s-%%p.jsonl", given);
	run = run_session(words, NULL);
	snprintf(name, sizeof(name), "%s-%d.jsonl", given, (int)run->pid);
	ck_assert_int_eq(access(name, R_OK), 0);
	run_end(run);
}
END_TEST

/* The limit of the size of files stands for a full disk. */
START_TEST(a_full_disk_ends_the_trace_alone)
{
	struct run *run = run_after("ulimit -f 64; :", "", "--trace-payload");
	const char *first;

	snprintf(path, sizeof(path), "%s.%d", given, (int)run->pid);
	run_handshake(run);
	run_call(run, "2", "flood", "{\"count\":0,\"bytes\":500000}");
	run_expect_result(run, "2");
	run_expect_logged(run, "FAILED doing=\"write the trace, which ends here\" reason=\"File too large\"");
	run_call(run, "3", "flood", "{\"count\":0,\"bytes\":500000}");
	run_expect_result(run, "3");
	run_expect_echo(run, "4");
	run_close_in(run);
	run_expect_exit(run, 0);
	first = strstr(run->error.data, "write the trace");
	ck_assert_ptr_null(strstr(first + 1, "write the trace"));
	run_end(run);
	expect_replay("", 125, "is not complete");
}
END_TEST

START_TEST(the_options_belong_together)
{
	static const char *const options[] = { "--trace-payload", "--trace-size 8M" };
	struct run *run = run_options(options[_i], NULL);

	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data, "that --trace does not name"));
	run_end(run);
}
END_TEST

Suite *
suite_trace(void)
{
	Suite *suite = suite_create("trace");
	TCase *tests = tcase_create("trace");

	tcase_set_timeout(tests, TEST_LIMIT);
	tcase_add_checked_fixture(tests, enter, NULL);
	tcase_add_test(tests, each_message_and_decision_is_recorded);
	tcase_add_loop_test(tests, a_replay_decides_the_same, 0, 4);
	tcase_add_test(tests, a_replay_follows_servers_and_rules);
	tcase_add_test(tests, a_replay_shows_what_differs);
	tcase_add_test(tests, a_replay_refuses_what_is_not_whole);
	tcase_add_test(tests, each_turn_is_written);
	tcase_add_test(tests, the_size_is_bounded);
	tcase_add_loop_test(tests, no_file_that_is_there_is_written, 0, 5);
	tcase_add_test(tests, the_name_may_have_the_pid_within);
	tcase_add_test(tests, a_full_disk_ends_the_trace_alone);
	tcase_add_loop_test(tests, the_options_belong_together, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}
