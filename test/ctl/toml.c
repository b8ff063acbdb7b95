#include "ctl/doc.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

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
	{ "a = [ 1, # ]\n [ 2, { b = 3 } ], 1979-05-27 07:32:00, -inf, 0x1F, 1e5,\n]\nb = 'x'", "b",
	    "x" },
	{ "[[a]]\nb=1\n[[a]]\nb=2\n[a.c]\nd=3\n[e]\nf='x'", "e/f", "x" },
	{ "3.14 = 'x'", "3/14", "x" },
};

SUITE("toml", .limit = 60);

TESTS(strings_have_these_values, 0, COUNT(values))
{
	const struct doc_node *node;
	struct doc doc;

	ck_assert_msg(doc_read(&doc, span_of(values[_i].text), DOC_TOML) == 0, "%s", doc.fault);
	node = doc_at(doc.root, values[_i].path);
	ck_assert_ptr_nonnull(node);
	ck_assert_int_eq(node->kind, DOC_STRING);
	ck_assert_msg(span_equal(node->text, span_of(values[_i].value)), "%.*s",
	    (int)node->text.len, node->text.ptr);
	doc_free(&doc);
}

/* What is neither a string nor has brackets. */
static const char *const plain[] = { "0", "+0", "-0", "1_000", "0xdead_BEEF", "0o17", "0b1_0",
	"1.5", "-0.0e-1_0", "6E+2", "inf", "-nan", "true", "false", "1979-05-27",
	"1979-05-27T07:32:00Z", "2024-02-29", "1979-05-27 07:32", "07:32:00.5",
	"1979-05-27t23:59:60.999-07:00" };
static const char *const refused[] = { "1__2", "012", "0xZZ", "tru", "trues", "_1", "1_", "+0x1",
	"0x", "0b2", "0o8", ".5", "1.", "1._5", "1e", "1e5.0", "--1", "infinity", "1979-5-27",
	"1979-13-01", "1979-02-29", "1900-02-29", "1979-04-31", "1979-05-27T", "1979-05-27 7:32",
	"1979-05-27T24:00:00", "07:60", "7:32", "1979-05-27T07:32:00+24:00", "1:2", "x" };

TEST(plain_values_are_read_or_refused)
{
	char text[128];
	struct doc doc;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		snprintf(text, sizeof(text), "a = [%s,%s]\nb = %s # c", plain[i], plain[i],
		    plain[i]);
		ck_assert_msg(doc_read(&doc, span_of(text), DOC_TOML) == 0, "%s: %s", plain[i],
		    doc.fault);
		doc_free(&doc);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		snprintf(text, sizeof(text), "\na = %s", refused[i]);
		ck_assert_msg(doc_read(&doc, span_of(text), DOC_TOML) == -1, "%s", refused[i]);
		ck_assert_str_eq(doc.fault, "line 2: not a value of TOML");
		doc_free(&doc);
	}
}

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
	{ "[a]\nb.c = 1\n[a.b]", "line 3: the table 'b' is there twice" },
	{ "[a.b]\n[a]\nb.c = 1", "line 3: the key goes on in a table that has a header" },
	{ "a.b = 1\n[a]", "line 2: the table 'a' is there twice" },
	{ "[[a.b]]\n[a]\nb.c = 1", "line 3: the key goes on in a table that has a header" },
	{ "a = { b = { c = 1 }, b.d = 2 }", "line 1: the key goes on behind a value" },
	{ "a = 1 # \x01", "line 1: a control character in a comment" },
	{ "# \x7f", "line 1: a control character in a comment" },
	{ "a = '''x\ry'''", "line 1: a control character in a string" },
	{ "a = { b = 1, b = 2 }", "line 1: the key 'b' is there twice" },
	{ "a = 1\r\rb = 2", "line 1: something stands behind the end of the value" },
	{ "\n\xff", "line 2: not UTF-8" },
};

TESTS(faults_have_their_line, 0, COUNT(faults))
{
	struct doc doc;

	ck_assert_int_eq(doc_read(&doc, span_of(faults[_i].text), DOC_TOML), -1);
	ck_assert_str_eq(doc.fault, faults[_i].fault);
	doc_free(&doc);
}

TEST(nesting_is_bounded)
{
	struct buf text;
	struct doc doc;

	text = (struct buf){ 0 };
	buf_append(&text, SPAN("a = "));
	for (int i = 0; i < 100000; i++)
		buf_append(&text, SPAN("["));
	ck_assert_int_eq(doc_read(&doc, buf_span(&text), DOC_TOML), -1);
	ck_assert_str_eq(doc.fault, "line 1: nested too deeply");
	doc_free(&doc);
	buf_free(&text);
}

/* Elements, and tables that the dots of a key make. */
TESTS(values_are_bounded, 0, 2)
{
	static const char *const pieces[][2] = { { "a=[", "0," }, { "[a", ".b" } };
	struct buf text;
	struct doc doc;

	text = (struct buf){ 0 };
	buf_append(&text, span_of(pieces[_i][0]));
	for (int i = 0; i < DOC_VALUES + 1; i++)
		buf_append(&text, span_of(pieces[_i][1]));
	buf_append(&text, SPAN("]\n"));
	ck_assert_int_eq(doc_read(&doc, buf_span(&text), DOC_TOML), -1);
	ck_assert_str_eq(doc.fault, "line 1: too many values");
	doc_free(&doc);
	buf_free(&text);
}
