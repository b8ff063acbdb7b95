#include "ctl/show.h"

#include <check.h>
#include <locale.h>

static const struct column columns[] = {
	{ "N", "n", COLUMN_RIGHT, column_text },
	{ "NAME", "name", COLUMN_FLEXIBLE, column_text },
	{ "LAST", "last", COLUMN_FLEXIBLE, column_text },
	{ 0 },
};

static void
expect_written(const char *rows, size_t cells, const char *wanted)
{
	json_t *array = json_loads(rows, 0, NULL);
	struct buf out;

	buf_init(&out);
	table_write(columns, array, cells, &out);
	buf_append(&out, (struct span){ "", 1 });
	ck_assert_str_eq(buf_span(&out).ptr, wanted);
	buf_free(&out);
	json_decref(array);
}

SUITE("table");

TEST(columns_are_as_wide_as_their_cells)
{
	expect_written("[{\"n\":7,\"name\":\"a name\"},"
		       "{\"n\":1234,\"name\":\"x\\u001b[2J\\n\",\"last\":\"\xe4\xb8\xad\xe6\x96\x87\"}]",
	    0,
	    "   N  NAME          LAST\n"
	    "   7  a name        -\n"
	    "1234  x\\x1b[2J\\x0a  \xe4\xb8\xad\xe6\x96\x87\n");
}

TEST(the_widest_column_is_cut_first)
{
	static const char row[] = "[{\"n\":7,\"name\":\"abcdefghijklmnop\",\"last\":\"abcdef\"}]";

	expect_written(row, 19, "N  NAME      LAST\n7  abcdefg~  abcdef\n");
	/* No column becomes narrower than eight cells, so the line is cut. */
	expect_written(row, 9, "N  NAME ~\n7  abcde~\n");
}

TEST(a_wide_character_is_not_split)
{
	struct buf out;

	setlocale(LC_CTYPE, "C.UTF-8");
	buf_init(&out);
	table_cut(&out,
	    SPAN("a\xe4\xb8\xad"
		 "b"),
	    3);
	ck_assert(span_equal(buf_span(&out), SPAN("a~")));
	buf_clear(&out);
	table_cut(&out, SPAN("e\xcc\x81\xcc\x81"), 1);
	ck_assert(span_equal(buf_span(&out), SPAN("e\xcc\x81\xcc\x81")));
	buf_free(&out);
}
