/* The history: what a session leaves in it, also if canceld is killed. */
#include <sys/stat.h>

#include "client.h"
#include "shell.h"

#define HISTORY "$HOME/.local/state/canceld/history"

static void
forget(void)
{
	shell_expect("true", "rm -rf $HOME/.local $HOME/other", 0, "");
}

SUITE("history", .before = forget);

/* The lines of the file, in an array. */
static json_t *
read_history(void)
{
	json_t *lines = json_array(), *line;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/.local/state/canceld/history", getenv("HOME"));
	file = fopen(path, "r");
	while (file != NULL && (line = json_loadf(file, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, NULL)) != NULL)
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

	json_array_foreach(lines, i, line)
	{
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
expect_ended(const json_t *lines, const char *id, const char *why, const char *ended, const char *by)
{
	json_t *line = find(lines, "id", id);

	ck_assert_str_eq(at_text(line, "why"), why);
	ck_assert_str_eq(at_text(line, "ended"), ended);
	ck_assert_str_eq(at_text(line, "by"), by);
	ck_assert_str_eq(at_text(line, "from"), "client");
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
	ck_assert_str_eq(at_text(json_array_get(lines, 0), "why"), "STARTED");
	ck_assert_str_eq(at_text(json_array_get(lines, json_array_size(lines) - 1), "why"), "SUMMARY");
	expect_ended(lines, "2", "RELAYED", "answered", "server");
	ck_assert_int_ge(at_number(find(lines, "id", "2"), "elapsed"), 30);
	ck_assert_str_eq(at_text(find(lines, "id", "2"), "outcome"), "result");
	expect_ended(lines, "3", "TIMED_OUT", "timed_out", "deadline");
	ck_assert_str_eq(at_text(find(lines, "id", "3"), "reason"), "no progress");
	expect_ended(lines, "4", "CANCEL_FORWARDED", "cancelled", "client");
	expect_ended(lines, "5", "CLIENT_GONE", "left", "client");
	/* Each of the quick ones has its line on a busy machine, or is counted. */
	json_array_foreach(lines, i, line)
	{
		if (at_exists(line, "name") && strcmp(at_text(line, "name"), "echo") == 0)
			count += at_exists(line, "count") ? at_number(line, "count") : 1;
	}
	ck_assert_int_eq(count, 5);
	json_decref(lines);
	shell_expect("true", "stat -c '%a' " HISTORY, 0, "600");
}

TEST(what_was_open_as_canceld_was_killed_has_one_line)
{
	struct run *run = run_session("--name mine", NULL);
	json_t *lines, *line;
	char text[32];

	run_hang(run, "7");
	run_hang(run, "8");
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	snprintf(text, sizeof(text), "\"KILLED\"");
	run_expect_gone(run);
	lines = read_history();
	line = find(lines, "why", text);
	ck_assert_int_eq(at_number(line, "open"), 2);
	ck_assert_int_eq(at_number(line, "pid"), run->pid);
	ck_assert_str_eq(at_text(line, "method"), "tools/call");
	ck_assert_int_ge(at_number(line, "elapsed"), 0);
	run_end(run);
	json_decref(lines);
}

TEST(an_option_and_the_environment_say_where)
{
	run_end(run_session("--no-history", NULL));
	shell_expect("true", "ls " HISTORY, 2, "No such file");
	shell_expect("true",
	    "export XDG_STATE_HOME=$HOME/other; $CANCELD -q true </dev/null; grep -c SUMMARY $HOME/other/canceld/history",
	    0, "1\n");
	shell_expect("true", "ls " HISTORY, 2, "No such file");
}
