#include "ctl/show.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct column plain[] = {
	{ "N", "n", COLUMN_RIGHT, .write = column_text },
	{ "NAME", "name", COLUMN_FLEXIBLE, .write = column_text },
	{ "LAST", "last", COLUMN_FLEXIBLE, .write = column_text },
	{ 0 },
};

static const struct column ranked[] = {
	{ "SERVER", "server", COLUMN_MIDDLE, column_text, .rank = 1, .role = COLUMN_APART },
	{ "METHOD", "method", COLUMN_MIDDLE, column_text, .rank = 11, .role = COLUMN_YIELDS },
	{ "NAME", "name", COLUMN_MIDDLE, .write = column_text },
	{ "FROM", "from", COLUMN_LEFT, column_text, .rank = 12 },
	{ "STATE", "state", COLUMN_LEFT, column_text, .rank = 2 },
	{ 0 },
};

static void
expect_table(const struct column *columns, const char *rows, size_t cells, const char *wanted)
{
	json_t *array = json_loads(rows, 0, NULL);
	struct buf out;

	out = (struct buf){ 0 };
	table_write(columns, array, cells > 0 ? cells : SIZE_MAX, &out);
	buf_append(&out, (struct span){ "", 1 });
	ck_assert_str_eq(buf_span(&out).ptr, wanted);
	buf_free(&out);
	json_decref(array);
}

static void
expect_written(const char *rows, size_t cells, const char *wanted)
{
	expect_table(plain, rows, cells, wanted);
}

SUITE("table");

/* In few cells the ID, with which a request is cancelled, has the room of what nobody reports. */
TEST(progress_takes_room_only_where_there_is_some)
{
	static const char rows[] = "[{\"server\":\"weather\",\"id\":\"71\",\"name\":\"forecast\","
				   "\"age_ms\":24000,\"idle_ms\":24000,\"verdict\":\"silent\","
				   "\"state\":\"waiting\"%s}]";
	char text[300];

	snprintf(text, sizeof(text), rows, "");
	expect_table(view_all_requests, text, 60,
	    "SERVER   ID  NAME      AGE  IDLE  LEFT  VERDICT  STATE\n"
	    "weather  71  forecast  24s   24s  none  silent   waiting\n");
	snprintf(text, sizeof(text), rows, ",\"progress\":{\"progress\":7}");
	expect_table(view_all_requests, text, 100,
	    "PID  SERVER   ID  FROM  METHOD  NAME      AGE  IDLE  LEFT  VERDICT  STATE    PROGRESS\n"
	    "  -  weather  71  -     -       forecast  24s   24s  none  silent   waiting  7\n");
}

/* Below ten seconds the tenths tell something. */
TEST(a_time_is_shown_as_exactly_as_a_person_needs_it)
{
	static const struct {
		msec_t ms;
		const char *shown;
	} times[] = { { 0, "0ms" }, { 999, "999ms" }, { 1000, "1s" }, { 1099, "1s" },
		{ 1500, "1.5s" }, { 9999, "9.9s" }, { 10000, "10s" }, { 59999, "59s" },
		{ 60000, "1m00s" }, { 3599999, "59m59s" }, { 3600000, "1h00m" },
		{ 86400000, "1d00h" }, { -1500, "-1.5s" } };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ck_assert_str_eq(show_time(times[i].ms).ptr, times[i].shown);
}

TEST(columns_are_as_wide_as_their_cells)
{
	expect_written(
	    "[{\"n\":7,\"name\":\"a name\"},"
	    "{\"n\":1234,\"name\":\"x\\u001b[2J\\n\",\"last\":\"\xe4\xb8\xad\xe6\x96\x87\"}]",
	    0,
	    "   N  NAME          LAST\n"
	    "   7  a name        -\n"
	    "1234  x\\x1b[2J\\x0a  \xe4\xb8\xad\xe6\x96\x87\n");
}

TEST(the_widest_column_is_cut_first)
{
	static const char row[] = "[{\"n\":7,\"name\":\"abcdefghijklmnop\",\"last\":\"abcdef\"}]";

	expect_written(row, 19, "N  NAME      LAST\n7  abcdefg\xe2\x80\xa6  abcdef\n");
	/* No column becomes narrower than eight cells, so the line is cut. */
	expect_written(row, 9, "N  NAME\n7  abcde\xe2\x80\xa6\n");
}

static const struct {
	size_t cells;
	const char *wanted;
} widths[] = {
	{ 0,
	    "SERVER             METHOD          NAME                            FROM    STATE\n"
	    "server-everything  tools/call      trigger-long-running-operation  client  waiting\n"
	    "server-elsewhere   resources/list  -                               server  cancelling\n" },
	{ 80,
	    "SERVER             METHOD          NAME                            STATE\n"
	    "server-everything  tools/call      trigger-long-running-operation  waiting\n"
	    "server-elsewhere   resources/list  -                               cancelling\n" },
	/* What the method told stands in the next column, where that told nothing. */
	{ 62,
	    "SERVER             NAME                            STATE\n"
	    "server-everything  trigger-long-running-operation  waiting\n"
	    "server-elsewhere   resources/list                  cancelling\n" },
	{ 40,
	    "SERVER        NAME            STATE\n"
	    "\xe2\x80\xa6"
	    "everything   trigger\xe2\x80\xa6ration  waiting\n"
	    "\xe2\x80\xa6"
	    "elsewhere    resources/list  cancelling\n" },
	{ 26,
	    "SERVER       NAME\n\xe2\x80\xa6"
	    "everything  trigge\xe2\x80\xa6ration\n\xe2\x80\xa6"
	    "elsewhere   resour\xe2\x80\xa6s/list\n" },
	{ 8, "NAME\ntrig\xe2\x80\xa6ion\nreso\xe2\x80\xa6ist\n" },
};

TESTS(whole_columns_go_before_words_are_cut, 0, COUNT(widths))
{
	expect_table(ranked,
	    "[{\"server\":\"server-everything\",\"method\":\"tools/call\",\"name\":\"trigger-long-running-operation\","
	    "\"from\":\"client\",\"state\":\"waiting\"},"
	    "{\"server\":\"server-elsewhere\",\"method\":\"resources/list\",\"from\":\"server\","
	    "\"state\":\"cancelling\"}]",
	    widths[_i].cells, widths[_i].wanted);
}

/* What all texts begin with goes first where that tells them apart: not if there is only one. */
TESTS(a_text_alone_is_cut_in_its_middle, 0, 2)
{
	static const struct column name[] = {
		{ "NAME", "name", COLUMN_MIDDLE, .write = column_text }, { 0 }
	};
	static const char *const rows[] = { "[{\"name\":\"weather-forecast-long\"}]",
		"[{\"name\":\"weather-forecast-long\"},{\"name\":\"weather-forecast-long\"}]" };
#define CUT "weather-\xe2\x80\xa6st-long\n"

	expect_table(name, rows[_i], 16, _i == 0 ? "NAME\n" CUT : "NAME\n" CUT CUT);
}

/* As in a container with --user. */
TEST(a_user_may_have_no_home)
{
	json_t *row = json_pack("{s:s}", "directory", "/srv/app");
	const struct column *column = view_instances;
	struct buf text = { 0 };

	while (strcmp(column->title, "DIRECTORY") != 0)
		column++;
	unsetenv("HOME");
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(54321), 0);
	column->write(&text, row, column->key);
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert(span_equal(buf_span(&text), SPAN("/srv/app")));
	buf_free(&text);
	json_decref(row);
}

TEST(texts_that_differ_stay_apart)
{
	expect_table(ranked,
	    "[{\"server\":\"server-1-of-the-north\",\"name\":\"abcdefghijklmnop\",\"state\":\"waiting\"},"
	    "{\"server\":\"server-2-of-the-north\",\"name\":\"abcdefghijklmnop\",\"state\":\"waiting\"}]",
	    36,
	    "SERVER        NAME           STATE\n"
	    "\xe2\x80\xa6"
	    "1-of-\xe2\x80\xa6north  abcdef\xe2\x80\xa6klmnop  waiting\n"
	    "\xe2\x80\xa6"
	    "2-of-\xe2\x80\xa6north  abcdef\xe2\x80\xa6klmnop  waiting\n");
}

TEST(a_long_text_goes_on_below)
{
	struct buf out = { 0 };

	table_wrap(&out, SPAN("head  some words\nhead  abcdefghijkl\n\nshort\n"), 12, 6);
	ck_assert(span_equal(buf_span(&out),
	    SPAN("head  some\n      words\nhead  abcdef\n      ghijkl\n\nshort\n")));
	buf_free(&out);
}

TEST(a_wide_character_is_not_split)
{
	struct buf out;

	setlocale(LC_CTYPE, "C.UTF-8");
	out = (struct buf){ 0 };
	table_cut(&out,
	    SPAN("a\xe4\xb8\xad"
		 "b"),
	    3, 0);
	ck_assert(span_equal(buf_span(&out), SPAN("a\xe2\x80\xa6")));
	buf_clear(&out);
	table_cut(&out, SPAN("e\xcc\x81\xcc\x81"), 1, 0);
	ck_assert(span_equal(buf_span(&out), SPAN("e\xcc\x81\xcc\x81")));
	buf_free(&out);
}
