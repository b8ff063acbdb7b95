#include "ctl/toml.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

Suite *toml_suite(void);

/* One string of each text, by its path. */
static const struct {
	const char *text, *path, *value;
} values[] = {
	{ "a = \"x\"", "a", "x" },
	{ "a = 'C:\\x' # c", "a", "C:\\x" },
	{ "a = \"\\t\\\"\\\\\\u00e9\\U0001F600\\x41\\e\"", "a",
	    "\t\"\\\xc3\xa9\xf0\x9f\x98\x80"
	    "A\033" },
	{ "a = \"\"\"\nx\\\n\n  y\"\"\"", "a", "xy" },
	{ "a = \"\"\"x\"\"\"\"\"", "a", "x\"\"" },
	{ "a = '''\r\nx''y'''", "a", "x''y" },
	{ "a = ''", "a", "" },
	{ "\xef\xbb\xbf# c\r\n\r\na.b = 'x'\r\n", "a/b", "x" },
	{ "\"a b\" . 'c.d' = 'x'", "a b/c.d", "x" },
	{ "[a.b]\nc='x'", "a/b/c", "x" },
	{ "[a.b]\nd=1\n[a]\nc='x'", "a/c", "x" },
	{ "[ a . \"b\" ]\t# c\n  c='x'", "a/b/c", "x" },
	{ "a = { b = { c = 'x' }, d.e = 1 }", "a/b/c", "x" },
	{ "a = { b.c = 1, b.d = 'x' }", "a/b/d", "x" },
	{ "a = {\n b = 'x', # c\n}", "a/b", "x" },
	{ "a = [ 1, # ]\n [ 2, { b = 3 } ], 1979-05-27 07:32:00, -inf, 0x1F, 1e5,\n]\nb = 'x'", "b", "x" },
	{ "[[a]]\nb=1\n[[a]]\nb=2\n[a.c]\nd=3\n[e]\nf='x'", "e/f", "x" },
	{ "3.14 = 'x'", "3/14", "x" },
};

START_TEST(strings_have_these_values)
{
	const struct doc_node *node;
	struct doc doc;

	doc_init(&doc, span_of(values[_i].text));
	ck_assert_msg(toml_read(&doc) == 0, "%s", doc.fault);
	node = doc_at(&doc, doc.root, values[_i].path);
	ck_assert_ptr_nonnull(node);
	ck_assert_int_eq(node->kind, DOC_STRING);
	ck_assert_msg(span_equal(doc_text(&doc, node), span_of(values[_i].value)), "%.*s", (int)node->text_len,
	    doc_text(&doc, node).ptr);
	doc_free(&doc);
}
END_TEST

static const struct {
	const char *text, *fault;
} faults[] = {
	{ "a", "line 1: '=' is missing" },
	{ "\n= 1", "line 2: a key is wanted" },
	{ "a. = 1", "line 1: a key is wanted" },
	{ "a = ", "line 1: not a value of TOML" },
	{ "a = yes", "line 1: not a value of TOML" },
	{ "a = 1 b = 2", "line 1: something stands behind the end of the value" },
	{ "a = 1\na = 2", "line 2: the key 'a' is there twice" },
	{ "a.b = 1\na.b = 2", "line 2: the key 'b' is there twice" },
	{ "[a]\n[a]", "line 2: the table 'a' is there twice" },
	{ "a = {}\n[a]", "line 2: the table 'a' is there twice" },
	{ "a = {}\n[a.b]", "line 2: the key goes on behind a value" },
	{ "a = 1\na.b = 2", "line 2: the key goes on behind a value" },
	{ "[[a]]\n[a]", "line 2: the table 'a' is there twice" },
	{ "[a]\n[[a]]", "line 2: the table 'a' is there twice" },
	{ "# c\ra = 1", "line 1: a key is wanted" },
	{ "a = 1 # c\rb = 2", "line 1: something stands behind the end of the value" },
	{ "[a", "line 1: ']' is missing" },
	{ "[[a]", "line 1: ']' is missing" },
	{ "[a] b = 1", "line 1: something stands behind the end of the value" },
	{ "a = 'x", "line 1: a string without an end" },
	{ "a = \"x\n\"", "line 1: a string without an end" },
	{ "\na = '''x\n''", "line 2: a string without an end" },
	{ "'''a''' = 1", "line 1: '=' is missing" },
	{ "a = \"\\q\"", "line 1: an unknown escape in a string" },
	{ "a = \"\\ud800\"", "line 1: an escape that is no character" },
	{ "a = \"\x01\"", "line 1: a control character in a string" },
	{ "a = [1 2]", "line 1: a comma or a closing bracket is missing" },
	{ "a = [1,,2]", "line 1: not a value of TOML" },
	{ "a = [\n", "line 1: a bracket that nothing closes" },
	{ "a = { b = 1 ", "line 1: a bracket that nothing closes" },
	{ "a = { b = 1, b = 2 }", "line 1: the key 'b' is there twice" },
	{ "a = 1\r\rb = 2", "line 1: something stands behind the end of the value" },
	{ "\n\xff", "line 2: not UTF-8" },
};

START_TEST(faults_have_their_line)
{
	struct doc doc;

	doc_init(&doc, span_of(faults[_i].text));
	ck_assert_int_eq(toml_read(&doc), -1);
	ck_assert_str_eq(doc.fault, faults[_i].fault);
	doc_free(&doc);
}
END_TEST

START_TEST(nesting_is_bounded)
{
	struct buf text;
	struct doc doc;

	buf_init(&text);
	buf_append(&text, SPAN("a = "));
	for (int i = 0; i < 100000; i++)
		buf_append(&text, SPAN("["));
	doc_init(&doc, buf_span(&text));
	ck_assert_int_eq(toml_read(&doc), -1);
	ck_assert_str_eq(doc.fault, "line 1: nested too deeply");
	doc_free(&doc);
	buf_free(&text);
}
END_TEST

/* Elements, and tables that the dots of a key make. */
START_TEST(values_are_bounded)
{
	static const char *const pieces[][2] = { { "a=[", "0," }, { "[a", ".b" } };
	struct buf text;
	struct doc doc;

	buf_init(&text);
	buf_append(&text, span_of(pieces[_i][0]));
	for (int i = 0; i < DOC_VALUES + 1; i++)
		buf_append(&text, span_of(pieces[_i][1]));
	buf_append(&text, SPAN("]\n"));
	doc_init(&doc, buf_span(&text));
	ck_assert_int_eq(toml_read(&doc), -1);
	ck_assert_str_eq(doc.fault, "line 1: too many values");
	doc_free(&doc);
	buf_free(&text);
}
END_TEST

Suite *
toml_suite(void)
{
	Suite *suite = suite_create("toml");
	TCase *reading = tcase_create("reading");

	tcase_set_timeout(reading, 60);
	tcase_add_loop_test(reading, strings_have_these_values, 0, sizeof(values) / sizeof(values[0]));
	tcase_add_loop_test(reading, faults_have_their_line, 0, sizeof(faults) / sizeof(faults[0]));
	tcase_add_test(reading, nesting_is_bounded);
	tcase_add_loop_test(reading, values_are_bounded, 0, 2);
	suite_add_tcase(suite, reading);
	return suite;
}
