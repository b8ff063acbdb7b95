#include "shell/log.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NO_FIELDS ((struct log_field[]){ { 0 } }), 0

/* Each test runs in a process of its own, whose stderr it may replace. */
static struct log
open_on(int fd, enum why_level level, bool json)
{
	const struct log_config config = { .level = level, .json = json };
	struct log log;

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
	ck_assert_ptr_null(log_open(&log, &config));
	return log;
}

static struct log
open_pipe(int *reader, enum why_level level, bool json)
{
	int pair[2];

	ck_assert_int_eq(pipe(pair), 0);
	*reader = pair[0];
	return open_on(pair[1], level, json);
}

/* The output so far, ended by NUL; valid until the next call. */
static char *
written(int reader)
{
	static char text[256 << 10];
	ssize_t len;

	ck_assert_int_eq(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
	len = read(reader, text, sizeof(text) - 1);
	text[len < 0 ? 0 : len] = '\0';
	return text;
}

static void
expect(int reader, const char *rest)
{
	char wanted[8192];

	snprintf(wanted, sizeof(wanted), "canceld[%ld]: %s", (long)getpid(), rest);
	ck_assert_str_eq(written(reader), wanted);
}

SUITE("log", .alone = true);

TEST(an_event_is_one_line)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);
	const struct log_field fields[] = {
		log_string("method", "tools/call"),
		log_string("name", NULL),
		log_id("id", SPAN("\"x \xff\"")),
		log_id("real", SPAN("1.50")),
		log_time("elapsed", 2003),
		log_time("timeout", MSEC_NEVER),
		log_number("bytes", 0),
		log_text("reason", SPAN("")),
	};

	log_fields(&log, WHY_TIMED_OUT, fields, sizeof(fields) / sizeof(fields[0]));
	expect(reader,
	    "TIMED_OUT method=tools/call id=\"x \\xff\" real=1.50 elapsed=2003ms bytes=0\n");
	log_fields(&log, WHY_STRAY, NO_FIELDS);
	expect(reader, "STRAY\n");
	log_close(&log);
	ck_assert_int_ge(fcntl(STDERR_FILENO, F_GETFD), 0);
}

static const struct {
	struct span bytes;
	const char *text, *json;
} values[] = {
	{ { "plain", 5 }, "plain", "plain" },
	{ { "two words", 9 }, "\"two words\"", "two words" },
	{ { "a=b", 3 }, "\"a=b\"", "a=b" },
	{ { "say \"\\\"", 7 }, "\"say \\\"\\\\\\\"\"", "say \"\\\"" },
	{ { "a\nb\tc", 5 }, "\"a\\x0ab\\x09c\"", "a\nb\tc" },
	{ { "\x1b[31m", 5 }, "\"\\x1b[31m\"", "\x1b[31m" },
	{ { "\x7f", 1 }, "\"\\x7f\"", "\x7f" },
	{ { "\xc2\x9b", 2 }, "\"\\xc2\\x9b\"", "\xc2\x9b" },
	{ { "gr\xc3\xbc\xc3\x9f", 6 }, "\"gr\xc3\xbc\xc3\x9f\"", "gr\xc3\xbc\xc3\x9f" },
	{ { "\xf0\x9f\x92\xa9", 4 }, "\"\xf0\x9f\x92\xa9\"", "\xf0\x9f\x92\xa9" },
	{ { "\xe2\x80\xae"
	    "gnp",
	      6 },
	    "\"\\xe2\\x80\\xaegnp\"", "\xe2\x80\xaegnp" },
	{ { "\xd8\x9c", 2 }, "\"\\xd8\\x9c\"", "\xd8\x9c" },
	{ { "\xe2\x80\x8e", 3 }, "\"\\xe2\\x80\\x8e\"", "\xe2\x80\x8e" },
	{ { "\xe2\x80\x8f", 3 }, "\"\\xe2\\x80\\x8f\"", "\xe2\x80\x8f" },
	{ { "\xe2\x81\xa6", 3 }, "\"\\xe2\\x81\\xa6\"", "\xe2\x81\xa6" },
	/* Invalid UTF-8: truncated, overlong, a surrogate, beyond U+10FFFF, a stray byte. */
	{ { "\xc3", 1 }, "\"\\xc3\"", "\xef\xbf\xbd" },
	{ { "\xc0\xaf", 2 }, "\"\\xc0\\xaf\"", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ { "\xe0\x80\xaf", 3 }, "\"\\xe0\\x80\\xaf\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ { "\xed\xa0\x80", 3 }, "\"\\xed\\xa0\\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ { "\xf4\x90\x80\x80", 4 }, "\"\\xf4\\x90\\x80\\x80\"",
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ { "\xf5\x80\x80\x80", 4 }, "\"\\xf5\\x80\\x80\\x80\"",
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ { "a\xff"
	    "b",
	      3 },
	    "\"a\\xffb\"",
	    "a\xef\xbf\xbd"
	    "b" },
};

static json_t *
written_object(int reader)
{
	char *text = written(reader);
	json_t *object;
	size_t i;

	ck_assert_uint_gt(strlen(text), 1);
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
	for (i = 0; text[i] != '\n'; i++)
		ck_assert_msg(text[i] >= ' ' && text[i] < '\x7f', "not only ASCII: %s", text);
	object = json_loads(text, 0, NULL);
	ck_assert_msg(object != NULL, "no JSON: %s", text);
	return object;
}

static const char *
string_of(const json_t *object, const char *key)
{
	const char *string = json_string_value(json_object_get(object, key));

	ck_assert_msg(string != NULL, "no %s", key);
	return string;
}

TESTS(a_value_is_safe_in_both_formats, 0, COUNT(values))
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);
	struct log_field field = log_text("v", values[_i].bytes);
	char wanted[256];
	json_t *object;

	log_fields(&log, WHY_STRAY, &field, 1);
	snprintf(wanted, sizeof(wanted), "STRAY v=%s\n", values[_i].text);
	expect(reader, wanted);
	log.config.json = true;
	log_fields(&log, WHY_STRAY, &field, 1);
	object = written_object(reader);
	ck_assert_str_eq(string_of(object, "v"), values[_i].json);
	json_decref(object);
	log_close(&log);
}

TEST(an_event_is_one_object)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, true);
	const struct log_field fields[] = {
		log_string("method", "tools/call"),
		log_string("name", NULL),
		log_id("id", SPAN("5")),
		log_id("text", SPAN("\"a\\u0062c\"")),
		log_id("half", SPAN("\"\\ud800\"")),
		log_id("empty", SPAN("\"\"")),
		log_id("long", SPAN("12345678901234567890")),
		log_id("real", SPAN("1.50")),
		log_id("none", SPAN("null")),
		log_time("elapsed", 2003),
		log_time("timeout", MSEC_NEVER),
	};
	json_t *object;

	log_fields(&log, WHY_TIMED_OUT, fields, sizeof(fields) / sizeof(fields[0]));
	object = written_object(reader);
	ck_assert_str_eq(string_of(object, "why"), "TIMED_OUT");
	ck_assert_uint_eq(strspn(string_of(object, "time"), "0123456789-:.TZ"),
	    strlen("2026-01-01T00:00:00.000Z"));
	ck_assert_int_eq(json_integer_value(json_object_get(object, "pid")), getpid());
	ck_assert_int_eq(json_integer_value(json_object_get(object, "id")), 5);
	ck_assert_str_eq(string_of(object, "text"), "abc");
	ck_assert_str_eq(string_of(object, "half"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	ck_assert_str_eq(string_of(object, "empty"), "");
	ck_assert_str_eq(string_of(object, "long"), "12345678901234567890");
	ck_assert_str_eq(string_of(object, "real"), "1.50");
	ck_assert_int_eq(json_integer_value(json_object_get(object, "elapsed")), 2003);
	ck_assert(json_is_null(json_object_get(object, "none")));
	ck_assert_uint_eq(json_object_size(object), 12);
	json_decref(object);
	log_close(&log);
}

static void
keep(void *user, enum why why, const struct log_field *fields, size_t count)
{
	static const struct log log = { .config.name = "fs" };

	log_append_line(user, &log, true, why, fields, count);
}

static size_t
read_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	ck_assert_ptr_nonnull(file);
	len = fread(text, 1, size - 1, file);
	fclose(file);
	text[len] = '\0';
	return len;
}

SUITE("log", .limit = 20, .alone = true);

/* Cut between two characters. */
TESTS(a_payload_is_in_the_log_only, 0, 2)
{
	struct log_config config = { .level = LEVEL_NOTICE,
		.payload = true,
		.file = "payload",
		.json = _i == 1 };
	char *message = malloc(LOG_PAYLOAD_MAX + 3), *text = malloc(3 * LOG_PAYLOAD_MAX);
	struct buf heard;
	struct log log;

	ck_assert_int_eq(chdir(getenv("TMPDIR")), 0);
	ck_assert_ptr_null(log_open(&log, &config));
	heard = (struct buf){ 0 };
	log.hear = keep;
	log.hearer = &heard;
	log.hear_level = LEVEL_DECISION;
	memset(message, 'x', LOG_PAYLOAD_MAX + 3);
	memcpy(message + LOG_PAYLOAD_MAX - 1, "\xc3\xa4", 2);
	message[0] = '\x80';
	log_event(&log, WHY_STRAY, log_number("a", 1),
	    log_payload(((struct span){ message, LOG_PAYLOAD_MAX + 3 })));
	log_close(&log);
	text[read_file("payload", text, 3 * LOG_PAYLOAD_MAX)] = '\0';
	ck_assert_ptr_nonnull(strstr(text, _i == 1 ? "xx...\"}\n" : "xx...\"\n"));
	ck_assert_ptr_nonnull(
	    strstr(text, _i == 1 ? "\"payload\":\"\\uFFFDxx" : " payload=\"\\x80xx"));
	buf_append(&heard, SPAN("\0"));
	ck_assert_ptr_nonnull(strstr(heard.data, ",\"a\":1}\n"));
	buf_free(&heard);
	unlink("payload");
	free(message);
	free(text);
}

TEST(a_hearer_has_a_level_of_its_own)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_ERROR, false);
	struct buf heard;

	heard = (struct buf){ 0 };
	ck_assert(!log_shows(&log, WHY_LATE));
	log.hear = keep;
	log.hearer = &heard;
	log.hear_level = LEVEL_DECISION;
	ck_assert(log_shows(&log, WHY_LATE) && !log_shows(&log, WHY_RELAYED));
	log_event(&log, WHY_LATE, log_id("id", SPAN("5")));
	log_fields(&log, WHY_RELAYED, NO_FIELDS);
	buf_append(&heard, SPAN("\0"));
	ck_assert_ptr_nonnull(strstr(heard.data, "\"why\":\"LATE\",\"id\":5}\n"));
	ck_assert_ptr_null(strstr(heard.data, "RELAYED"));
	ck_assert_str_eq(written(reader), "");
	buf_free(&heard);
	log_close(&log);
}

SUITE("log", .alone = true);

/*
 * For cancelctl, whatever the log's format, and in whole lines; what nobody can ask for is not
 * kept.
 */
TEST(the_last_lines_are_kept)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);
	char reason[400];

	log_event(&log, WHY_PLAIN, log_string("reason", "unseen"));
	ck_assert_uint_eq(log.tail.len, 0);
	log.config.tail = true;
	for (int i = 0; i < 100; i++) {
		snprintf(reason, sizeof(reason), "%0300d", i);
		log_event(&log, WHY_PLAIN, log_string("reason", reason));
		log_event(&log, WHY_RELAYED, log_string("reason", "traffic"));
		ck_assert_uint_le(log.tail.len, LOG_TAIL_MAX);
	}
	ck_assert_uint_ge(log.tail.len, LOG_TAIL_MAX - 500);
	ck_assert_int_eq(buf_span(&log.tail).ptr[0], '{');
	ck_assert_ptr_null(
	    memmem(buf_span(&log.tail).ptr, log.tail.len, "traffic", strlen("traffic")));
	ck_assert_ptr_nonnull(
	    memmem(buf_span(&log.tail).ptr, log.tail.len, "0099\"}\n", strlen("0099\"}\n")));
	log_close(&log);
	close(reader);
}

TEST(noise_is_shown_as_it_is)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);

	log_event(&log, WHY_NOISE,
	    log_text("text", SPAN("{\"level\":30} \\n \x1b[2J\xff gr\xc3\xbcn")));
	expect(reader, "NOISE | {\"level\":30} \\n \\x1b[2J\\xff gr\xc3\xbcn\n");
	log_close(&log);
}

TEST(a_long_text_is_cut)
{
	static char many[5000], wanted[4 * LOG_NOISE_MAX];
	const struct span text = { many, sizeof(many) };
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);

	memset(many, 'x', sizeof(many));
	log_event(&log, WHY_STRAY, log_text("v", text));
	snprintf(wanted, sizeof(wanted), "STRAY v=%.*s...\n", LOG_VALUE_MAX, many);
	expect(reader, wanted);
	log_event(&log, WHY_NOISE, log_text("text", text));
	snprintf(wanted, sizeof(wanted), "NOISE | %.*s... (5000 bytes)\n", LOG_NOISE_MAX, many);
	expect(reader, wanted);
	log_close(&log);
}

/* It is no JSON any more, and shown as a text. */
TESTS(a_long_id_is_cut, 0, 2)
{
	char id[LOG_VALUE_MAX + 100], wanted[2 * LOG_VALUE_MAX];
	const struct span text = { id, sizeof(id) };
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, _i == 1);
	json_t *object;

	memset(id, 'x', sizeof(id));
	id[0] = id[sizeof(id) - 1] = '"';
	log_event(&log, WHY_STRAY, log_id("id", text));
	if (_i == 0) {
		snprintf(wanted, sizeof(wanted), "STRAY id=\"\\%.*s...\"\n", LOG_VALUE_MAX, id);
		expect(reader, wanted);
	} else {
		object = written_object(reader);
		snprintf(wanted, sizeof(wanted), "%.*s...", LOG_VALUE_MAX, id);
		ck_assert_str_eq(string_of(object, "id"), wanted);
		json_decref(object);
	}
	log_close(&log);
}

SUITE("log", .limit = 20, .alone = true);

TESTS(errno_is_kept, 0, 2)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, _i != 0);

	close(reader);
	errno = ERANGE;
	log_fields(&log, WHY_STRAY, NO_FIELDS);
	log_event(&log, WHY_NOISE, log_text("text", SPAN("x")));
	log_flush(&log);
	ck_assert_int_eq(errno, ERANGE);
	log_close(&log);
}

/* Fills the pipe and the queue; returns the number of lines logged. */
static size_t
fill(struct log *log)
{
	size_t lines = 0;

	for (; log->lost == 0; lines++) {
		struct log_field field = log_number("line", (int64_t)lines);

		ck_assert_uint_le(log->queue.len, LOG_QUEUE_MAX);
		log_fields(log, WHY_STRAY, &field, 1);
	}
	return lines;
}

/* Reads all lines, each once and in order; returns how many were lost. */
static unsigned long
drain(struct log *log, int reader, size_t *lines)
{
	static char all[1 << 20];
	unsigned long lost = 0;
	size_t next = 0;
	size_t len = 0;
	char *line, *rest = all;

	for (;;) {
		const char *more = written(reader);
		size_t more_len = strlen(more);

		ck_assert_uint_lt(len + more_len, sizeof(all));
		memcpy(all + len, more, more_len + 1);
		len += more_len;
		log_flush(log);
		if (more_len == 0 && log->queue.len == 0)
			break;
	}
	*lines = span_count((struct span){ all, len }, '\n');
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		const char *number = strchr(line, '=') + 1;

		if (strstr(line, "LINES_LOST") != NULL)
			lost = strtoul(number, NULL, 10);
		else
			ck_assert_uint_eq(strtoul(number, NULL, 10), next++);
	}
	return lost;
}

TEST(what_does_not_fit_is_counted)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);
	size_t given = fill(&log);
	size_t lines;

	log_fields(&log, WHY_STRAY, NO_FIELDS);
	log_fields(&log, WHY_STRAY, NO_FIELDS);
	ck_assert_uint_eq(log.lost, 3);
	ck_assert(log.queue.len > 0);
	ck_assert_uint_eq(drain(&log, reader, &lines), 3);
	ck_assert_uint_eq(lines, given);
	ck_assert_uint_eq(log.lost, 0);
	log_fields(&log, WHY_STRAY, NO_FIELDS);
	expect(reader, "STRAY\n");
	log_close(&log);
}

/* So LINES_LOST is where the lines are missing. */
TEST(after_a_lost_line_all_are_lost_until_it_is_reported)
{
	static char some[16 << 10];
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);

	fill(&log);
	ck_assert_int_gt(read(reader, some, sizeof(some)), 0);
	log_fields(&log, WHY_STRAY, NO_FIELDS);
	ck_assert_uint_lt(log.queue.len, LOG_QUEUE_MAX - 1024);
	ck_assert_uint_eq(log.lost, 2);
	log_close(&log);
}

/* A reader that does not read delays the end by no more than LOG_LAST_WAIT. */
TEST(closing_waits_for_a_moment_only)
{
	int reader;
	struct log log = open_pipe(&reader, LEVEL_NOTICE, false);
	struct timespec before, after;

	fill(&log);
	clock_gettime(CLOCK_MONOTONIC, &before);
	log_close(&log);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_ge((after.tv_sec - before.tv_sec) * 1000 +
		(after.tv_nsec - before.tv_nsec) / 1000000 + 1,
	    LOG_LAST_WAIT);
	ck_assert_int_lt(after.tv_sec - before.tv_sec, 5);
	close(reader);
}

TEST(a_full_disk_does_not_end_the_log)
{
	struct log log = open_on(open("/dev/full", O_WRONLY), LEVEL_NOTICE, false);
	int pair[2];

	log_fields(&log, WHY_STRAY, NO_FIELDS);
	log_fields(&log, WHY_STRAY, NO_FIELDS);
	ck_assert_uint_eq(log.lost, 2);
	ck_assert_int_eq(pipe(pair), 0);
	ck_assert_int_eq(dup2(pair[1], log.descriptor.fd), log.descriptor.fd);
	log_flush(&log);
	expect(pair[0], "LINES_LOST lines=2\n");
	log_close(&log);
}
