/* The log: one line per event, in the words of include/core/why.h, without the contents of messages. */
#include <check.h>
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "client.h"

#define FOR_EVER "{\"ms\":600000,\"secret\":\"swordfish\"}"

/* A timeout, a client's cancel, and the end; the whole log is then in run->error. */
static struct run *
run_events(const char *options)
{
	struct run *run = run_session(options, NULL);

	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_error(run, "2", CODE_CANCELLED, "timeout");
	run_call(run, "3", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":3");
	run_cancel(run, "3");
	run_expect_cancelled(run, "3");
	run_expect_echo(run, "4");
	run_close_in(run);
	run_expect_exit(run, 0);
	return run;
}

static size_t
count_lines(const char *text)
{
	size_t count = 0;

	for (; (text = strstr(text, "canceld[")) != NULL; text++)
		count++;
	return count;
}

static bool
has_event(struct run *run, const char *word)
{
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "canceld[%d] demo-server: %s", (int)run->pid, word);
	return strstr(run->error.data, wanted) != NULL;
}

SUITE("logs");

TEST(by_default_important_events_are_logged)
{
	struct run *run = run_events("-t tools/call:sleep=300ms");

	ck_assert(has_event(run, "STARTED"));
	ck_assert(has_event(run, "TIMED_OUT to=client method=tools/call name=sleep id=2 elapsed=3"));
	ck_assert_ptr_nonnull(strstr(run->error.data, "ms timeout=300ms reason=\"no progress\" hint=\"-k replaces a"));
	ck_assert(has_event(run, "CANCEL_FORWARDED"));
	ck_assert(has_event(run, "SUMMARY"));
	ck_assert(!has_event(run, "CANCEL_SENT"));
	ck_assert(!has_event(run, "RELAYED"));
	ck_assert_ptr_nonnull(strstr(run->error.data, "the user pressed escape"));
	ck_assert_ptr_nonnull(strstr(strstr(run->error.data, "SUMMARY"), "timeouts=1"));
	ck_assert_ptr_nonnull(strstr(strstr(run->error.data, "SUMMARY"), "cancelled=1"));
	run_end(run);
}

/* The summary must have each of these fields; requests is the sum of those that count requests. */
static void
expect_summary(struct run *run, const char *fields)
{
	const char *summary = strstr(run->error.data, "SUMMARY ");
	char field[64];
	size_t len;

	for (; summary != NULL && *fields != '\0'; fields += len + (fields[len] == ' ')) {
		len = strcspn(fields, " ");
		snprintf(field, sizeof(field), " %.*s", (int)len, fields);
		if (strstr(summary, field) == NULL)
			run_fail(run, "the summary lacks%s", field);
	}
	ck_assert_ptr_nonnull(summary);
}

TEST(the_summary_tells_what_became_of_each_request)
{
	struct run *run = run_session("--name mine -t tools/call:sleep=300ms -t tools/call:slep*=1s", NULL);

	run_expect_echo(run, "2");
	run_call(run, "3", "sleep", FOR_EVER);
	run_expect_error(run, "3", CODE_CANCELLED, "timeout");
	run_call(run, "4", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":4");
	run_cancel(run, "4");
	run_expect_cancelled(run, "4");
	run_call(run, "5", "no such tool", "{}");
	run_expect_answer(run, "5");
	run_call(run, "6", "crash", "{\"status\":7}");
	run_expect_error(run, "6", CODE_INTERNAL, "server-exited");
	run_expect_exit(run, 7);
	expect_summary(run, "requests=6 answered=2 failed=1 timeouts=1 cancelled=1 lost=1 late=0 noise=0");
	expect_summary(run, "unmatched=\"-t");
	ck_assert_ptr_nonnull(strstr(run->error.data, "tools/call:slep*\"\n"));
	ck_assert_ptr_nonnull(strstr(run->error.data, "] mine: SUMMARY "));
	ck_assert_ptr_nonnull(strstr(run->error.data, "] mine: STARTED "));
	run_end(run);
}

TEST(each_v_logs_more)
{
	static const char *const levels[] = { "-q -t tools/call:sleep=300ms", "-t tools/call:sleep=300ms",
		"-v -t tools/call:sleep=300ms", "-vv -t tools/call:sleep=300ms" };
	size_t counts[4];

	for (int i = 0; i < 4; i++) {
		struct run *run = run_events(levels[i]);

		counts[i] = count_lines(run->error.data);
		ck_assert_int_eq(has_event(run, "CANCEL_SENT"), i >= 2);
		ck_assert_int_eq(has_event(run, "RELAYED"), i == 3);
		ck_assert_ptr_null(strstr(run->error.data, "swordfish"));
		run_end(run);
	}
	ck_assert_uint_eq(counts[0], 0);
	ck_assert_uint_lt(counts[0], counts[1]);
	ck_assert_uint_lt(counts[1], counts[2]);
	ck_assert_uint_lt(counts[2], counts[3]);
}

static void
name_log(char path[300])
{
	snprintf(path, 300, "%s/payload-%d", getenv("E2E_DIRECTORY"), (int)getpid());
}

/* A session whose log has the messages; one is long, one is no UTF-8. */
static struct run *
run_with_payload(const char *path)
{
	char words[500];
	struct run *run;

	snprintf(words, sizeof(words), "-vv --log-payload -l %s --log-format json", path);
	run = run_session(words, NULL);
	run_expect_echo(run, "2");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/\\u00e4\",\"params\":{\"a\":\"\x7f\"}}");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"a\xff\xfe\"}");
	run_expect_answer(run, "3");
	run_sendf(run, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/long\",\"params\":{\"a\":\"%0200000d\"}}", 7);
	run_call(run, "4", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":4");
	run_cancel(run, "4");
	run_expect_echo(run, "5");
	run_close_in(run);
	run_expect_exit(run, 0);
	return run;
}

/* As the jq line of canceld(1): what the client has written, a line each. */
static void
read_client(const char *path, struct text *client)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	ck_assert_ptr_nonnull(file);
	while (getline(&line, &room, file) > 0) {
		json_t *event = json_loads(line, 0, NULL);
		const char *to = json_string_value(json_object_get(event, "to"));
		const char *payload = json_string_value(json_object_get(event, "payload"));

		ck_assert_msg(event != NULL, "%s", line);
		if (to != NULL && strcmp(to, "server") == 0 && payload != NULL)
			text_print(client, "%s\n", payload);
		json_decref(event);
	}
	free(line);
	fclose(file);
}

TEST(a_log_with_payload_plays_its_client_again)
{
	const struct setup alone = { .bare = true };
	struct text client = { 0 };
	char path[300];
	struct run *run;

	name_log(path);
	run = run_with_payload(path);
	ck_assert(process_has_text(path, "a\\uFFFD\\uFFFD"));
	ck_assert(process_has_text(path, "swordfish"));
	run_end(run);
	read_client(path, &client);
	ck_assert_ptr_nonnull(strstr(client.data, "0000000007\"}}\n{\"jsonrpc\""));
	ck_assert_ptr_nonnull(strstr(client.data, "\"notifications/\\u00e4\",\"params\":{\"a\":\"\x7f\"}"));
	run = run_start(&alone);
	run_send_text(run, client.data, client.len);
	run_expect_result(run, "\"start\"");
	run_expect_result(run, "2");
	run_expect_cancelled(run, "4");
	run_end(run);
	free(client.data);
}

/* Only the user may read the messages. */
TESTS(payload_needs_a_file_of_ones_own, 0, 3)
{
	static const struct {
		const char *shell, *options, *reason;
	} refused[] = {
		{ ":", "--log-payload", "name a file for it with --log" },
		{ ":", "--log-payload -l /dev/null", "--log '/dev/null': it is no regular file" },
		{ "umask 0; : >exposed", "--log-payload -l exposed",
		    "--log 'exposed': it is open to other users: for --log-payload chmod 600 it" },
	};
	struct run *run;

	ck_assert_int_eq(chdir(getenv("E2E_DIRECTORY")), 0);
	run = run_start(&(struct setup){ .shell = refused[_i].shell, .options = refused[_i].options });
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}");
	run_expect_error(run, "1", CODE_INTERNAL, "not-started");
	run_close_in(run);
	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data, refused[_i].reason));
	run_end(run);
}
