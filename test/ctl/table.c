#include "ctl/show.h"

#include <check.h>
#include <stdio.h>

Suite *table_suite(void);

static const struct column columns[] = { { "N", true, false }, { "NAME", false, true }, { "LAST", false, true } };

static struct buf out;

static const char *
written(const struct table *table, size_t cells)
{
	buf_clear(&out);
	table_write(table, cells, &out);
	buf_append(&out, (struct span){ "", 1 });
	return buf_span(&out).ptr;
}

SUITE("table");

TEST(columns_are_as_wide_as_their_cells)
{
	struct table table;

	table_init(&table, columns, 3);
	table_add_number(&table, 7);
	table_add(&table, SPAN("a name"));
	table_add(&table, SPAN("end"));
	table_add_number(&table, 1234);
	table_add(&table, SPAN("x\033[2J\n"));
	table_add(&table, SPAN("\xe4\xb8\xad\xe6\x96\x87"));
	ck_assert_str_eq(written(&table, 0),
	    "   N  NAME          LAST\n"
	    "   7  a name        end\n"
	    "1234  x\\x1b[2J\\x0a  \xe4\xb8\xad\xe6\x96\x87\n");
	table_free(&table);
	buf_free(&out);
}

TEST(the_widest_column_is_cut_first)
{
	struct table table;

	table_init(&table, columns, 3);
	table_add_number(&table, 7);
	table_add(&table, SPAN("abcdefghijklmnop"));
	table_add(&table, SPAN("abcdef"));
	ck_assert_str_eq(written(&table, 19), "N  NAME      LAST\n7  abcdefg~  abcdef\n");
	/* No column becomes narrower than eight cells, so the line is cut. */
	ck_assert_str_eq(written(&table, 9), "N  NAME ~\n7  abcde~\n");
	table_free(&table);
	buf_free(&out);
}

TEST(a_wide_character_is_not_split)
{
	buf_init(&out);
	table_cut(&out,
	    SPAN("a\xe4\xb8\xad"
		 "b"),
	    3);
	ck_assert(span_equal(buf_span(&out), SPAN("a~")));
	buf_clear(&out);
	table_cut(&out, SPAN("e\xcc\x81\xcc\x81"), 1);
	ck_assert(span_equal(buf_span(&out), SPAN("e\xcc\x81\xcc\x81")));
	ck_assert_uint_eq(table_cells(SPAN("a\xe4\xb8\xad"
					   "b")),
	    4);
	buf_free(&out);
}
