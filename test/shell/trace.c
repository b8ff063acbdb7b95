#include "shell/trace.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shell/settings.h"

Suite *trace_suite(void);

/* Each test runs in a process of its own. */
static char directory[64];
static struct log trace_log;
static struct policy policy;
static struct trace trace;

static void
make_directory(void)
{
	const struct log_config quiet = { .level = LEVEL_ERROR, .name = "a \"name\"" };

	snprintf(directory, sizeof(directory), "%s/trace-XXXXXX", getenv("TMPDIR"));
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(log_open(&trace_log, &quiet), 0);
	policy_init(&policy);
}

static void
remove_directory(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void
begin(const struct trace_config *config)
{
	const struct session_config session = { .policy = &policy, .max_message = 1 << 20, .max_inflight = 10 };

	ck_assert_int_eq(trace_open(&trace, config), 0);
	trace_begin(&trace, &session, &trace_log, SPAN("server '\xff'"), 5);
}

/* The lines of a file as JSON. */
static json_t *
read_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	json_t *lines = json_array();
	char *line = NULL;
	size_t room = 0;

	ck_assert_ptr_nonnull(file);
	while (getline(&line, &room, file) > 0) {
		json_t *object = json_loads(line, JSON_ALLOW_NUL, NULL);

		ck_assert_msg(json_is_object(object), "%s", line);
		ck_assert_int_eq(json_array_append_new(lines, object), 0);
	}
	free(line);
	fclose(file);
	return lines;
}

static json_int_t
number_at(json_t *lines, size_t index, const char *key)
{
	json_t *value = json_object_get(json_array_get(lines, index), key);

	ck_assert_msg(json_is_integer(value), "line %zu lacks %s", index, key);
	return json_integer_value(value);
}

static const char *
text_at(json_t *lines, size_t index, const char *key)
{
	const char *text = json_string_value(json_object_get(json_array_get(lines, index), key));

	return text != NULL ? text : "";
}

START_TEST(events_and_calls_are_recorded_in_their_order)
{
	json_t *lines;

	make_directory();
	begin(&(struct trace_config){ .file = "a%pb", .payload = true });
	log_event(&trace_log, WHY_STARTED, NULL, 0);
	trace_hear(&trace, SIDE_CLIENT, SPAN("{\"secret\":\"ab"), 7);
	log_event(&trace_log, WHY_STRAY,
	    LOG_FIELDS(log_number("bytes", 3), log_text("text", SPAN("{\"secret\":\"abc\"}"))));
	trace_return(&trace);
	trace_hear(&trace, SIDE_CLIENT, SPAN("c\"}\n\0"), 8);
	trace_return(&trace);
	trace_call(&trace, "sleep", json_pack("{s:b}", "stalled", true), 9);
	trace_return(&trace);
	log_event(&trace_log, WHY_SUMMARY, NULL, 0);
	trace_close(&trace, 10);
	lines = read_lines(trace.path);
	ck_assert_uint_eq(json_array_size(lines), 8);
	ck_assert_int_eq(number_at(lines, 0, "trace"), TRACE_VERSION);
	ck_assert_int_eq(number_at(lines, 0, "pid"), getpid());
	ck_assert_int_eq(number_at(lines, 0, "mono"), 5);
	ck_assert_str_eq(text_at(lines, 0, "server"), "a \"name\"");
	ck_assert_str_eq(text_at(lines, 0, "version"), CANCELD_VERSION);
	ck_assert_str_eq(text_at(lines, 1, "why"), "STARTED");
	ck_assert_ptr_null(json_object_get(json_array_get(lines, 1), "of"));
	ck_assert_str_eq(text_at(lines, 2, "call"), "hear");
	ck_assert_str_eq(text_at(lines, 2, "side"), "client");
	ck_assert_str_eq(text_at(lines, 2, "text"), "{\"secret\":\"**");
	ck_assert_int_eq(number_at(lines, 2, "bytes"), 13);
	ck_assert_int_eq(number_at(lines, 2, "n"), 1);
	ck_assert_str_eq(text_at(lines, 3, "why"), "STRAY");
	ck_assert_str_eq(text_at(lines, 3, "text"), "");
	ck_assert_int_eq(number_at(lines, 3, "bytes"), 3);
	ck_assert_int_eq(number_at(lines, 3, "of"), 1);
	ck_assert_int_eq(number_at(lines, 3, "mono"), 7);
	ck_assert_str_eq(text_at(lines, 4, "text"), "*\"}\n");
	ck_assert_int_eq(number_at(lines, 4, "bytes"), 5);
	ck_assert(json_is_true(json_object_get(json_array_get(lines, 5), "stalled")));
	ck_assert_str_eq(text_at(lines, 6, "why"), "SUMMARY");
	ck_assert_str_eq(text_at(lines, 7, "trace"), "end");
	ck_assert_int_eq(number_at(lines, 7, "calls"), 3);
	json_decref(lines);
	remove_directory();
}
END_TEST

START_TEST(without_payload_no_call_is_recorded)
{
	json_t *lines;

	make_directory();
	begin(&(struct trace_config){ .file = "t" });
	ck_assert(!trace_records(&trace));
	log_noise(&trace_log, SPAN("secret=abc"));
	trace_close(&trace, 10);
	lines = read_lines(trace.path);
	ck_assert_uint_eq(json_array_size(lines), 3);
	ck_assert_str_eq(text_at(lines, 1, "text"), "");
	ck_assert_ptr_null(json_object_get(json_array_get(lines, 1), "of"));
	json_decref(lines);
	remove_directory();
}
END_TEST

START_TEST(the_file_is_new_and_private)
{
	const struct trace_config config = { .file = "t" };
	struct stat status;
	char name[64];

	make_directory();
	begin(&config);
	snprintf(name, sizeof(name), "t.%ld", (long)getpid());
	ck_assert_str_eq(trace.path, name);
	ck_assert_int_eq(stat(name, &status), 0);
	ck_assert_int_eq(status.st_mode, S_IFREG | 0600);
	trace_close(&trace, 0);
	ck_assert_int_eq(trace_open(&trace, &config), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(symlink("elsewhere", name), 0);
	ck_assert_int_eq(trace_open(&trace, &config), -1);
	ck_assert_int_eq(access("elsewhere", F_OK), -1);
	remove_directory();
}
END_TEST

START_TEST(two_files_turn_by_turn_keep_the_end)
{
	const size_t most = 64 << 10;
	char former[TRACE_PATH_MAX + 8];
	struct stat first, second;
	json_t *lines;

	make_directory();
	begin(&(struct trace_config){ .file = "t", .payload = true, .most = most });
	for (int i = 0; i < 5000; i++) {
		trace_call(&trace, "sleep", json_object(), i);
		trace_return(&trace);
		if (i % 10 == 0)
			trace_flush(&trace);
	}
	trace_close(&trace, 5000);
	snprintf(former, sizeof(former), "%s.1", trace.path);
	ck_assert_int_eq(stat(former, &first), 0);
	ck_assert_int_eq(stat(trace.path, &second), 0);
	ck_assert_int_le(first.st_size + second.st_size, (off_t)most);
	ck_assert_int_gt(first.st_size, (off_t)most / 4);
	lines = read_lines(former);
	ck_assert_int_gt(number_at(lines, 0, "part"), 1);
	ck_assert_int_eq(number_at(lines, json_array_size(lines) - 1, "n"),
	    number_at(lines, 1, "n") + (json_int_t)json_array_size(lines) - 2);
	json_decref(lines);
	lines = read_lines(trace.path);
	ck_assert_str_eq(text_at(lines, json_array_size(lines) - 1, "trace"), "end");
	json_decref(lines);
	remove_directory();
}
END_TEST

/* Longer than the file may be. */
START_TEST(a_line_that_fits_nowhere_is_written_alone)
{
	json_t *lines;

	make_directory();
	begin(&(struct trace_config){ .file = "t", .payload = true, .most = 16 });
	for (int i = 0; i < 3; i++) {
		trace_call(&trace, "sleep", json_object(), i);
		trace_return(&trace);
	}
	trace_flush(&trace);
	lines = read_lines(trace.path);
	ck_assert_uint_eq(json_array_size(lines), 2);
	ck_assert_int_eq(number_at(lines, 1, "n"), 3);
	json_decref(lines);
	trace_close(&trace, 4);
	remove_directory();
}
END_TEST

/* Each length, and bytes that are no UTF-8. */
START_TEST(bytes_come_back)
{
	char bytes[256];

	for (size_t len = 0; len <= sizeof(bytes); len++) {
		struct buf read;
		json_t *object = json_object();

		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)(i * 7 + (_i == 0 ? len : i % 64));
		if (_i == 1)
			for (size_t i = 0; i < len; i++)
				bytes[i] &= 0x7f;
		buf_init(&read);
		trace_set_bytes(object, (struct span){ bytes, len });
		ck_assert(trace_get_bytes(object, &read));
		ck_assert(span_equal(buf_span(&read), (struct span){ bytes, len }));
		buf_free(&read);
		json_decref(object);
	}
}
END_TEST

START_TEST(the_options_of_a_session_come_back)
{
	struct session_config config = {
		.dialect = &dialect_lsp,
		.policy = &policy,
		.grace = MSEC_NEVER,
		.max_message = 123456,
		.max_inflight = 7,
		.no_cancel = true,
		.strict = true,
		.dry_run = true,
		.kill_stuck = 99,
		.seed = UINT64_MAX,
	};
	struct session_config read;
	struct policy rules;
	json_t *object, *again;

	policy_init(&policy);
	policy_init(&rules);
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, SPAN("tools/call"), SPAN("a*"), 5);
	policy_add(&policy, POLICY_SET, POLICY_CAP, SPAN_NONE, SPAN_NONE, MSEC_NEVER);
	object = settings_json(&config);
	ck_assert(settings_read(object, &read, &rules));
	again = settings_json(&read);
	ck_assert(json_equal(object, again));
	ck_assert_ptr_eq(read.dialect, &dialect_lsp);
	ck_assert(read.seed == UINT64_MAX && read.no_cancel && read.strict && read.dry_run && !read.legacy);
	ck_assert_int_eq(rules.clock[POLICY_CAP].rules[0].duration, MSEC_NEVER);
	json_object_set_new(object, "dialect", json_string("none such"));
	ck_assert(!settings_read(object, &read, &rules));
	json_object_del(again, "strict");
	ck_assert(!settings_read(again, &read, &rules));
	json_decref(object);
	json_decref(again);
	policy_free(&policy);
	policy_free(&rules);
}
END_TEST

Suite *
trace_suite(void)
{
	Suite *suite = suite_create("trace");
	TCase *tests = tcase_create("trace");

	tcase_add_test(tests, events_and_calls_are_recorded_in_their_order);
	tcase_add_test(tests, without_payload_no_call_is_recorded);
	tcase_add_test(tests, the_file_is_new_and_private);
	tcase_add_test(tests, two_files_turn_by_turn_keep_the_end);
	tcase_add_test(tests, a_line_that_fits_nowhere_is_written_alone);
	tcase_add_loop_test(tests, bytes_come_back, 0, 2);
	tcase_add_test(tests, the_options_of_a_session_come_back);
	suite_add_tcase(suite, tests);
	return suite;
}
