#include "ctl/doc.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *text, *fault; /* NULL: it is read */
} texts[] = {
	{ "{}", NULL },
	{ "\xef\xbb\xbf // c\r\n{ /**/ } // c", NULL },
	{ "{\"a\":[1,2.5e-7,-0,true,false,null,{},[],\"\\u00e9\\/\",],}", NULL },
	{ "{\"a\":1,\"b\":{\"a\":1}}", NULL },
	{ "", "line 1: the file is empty" },
	{ "// c", "line 1: the file is empty" },
	{ "[]", "line 1: not a JSON object" },
	{ "{}\n\n{}", "line 3: something stands behind the end of the object" },
	{ "{\"a\":1,\n\"\\u0061\":2}", "line 2: the key 'a' is there twice" },
	{ "{\"a\" 1}", "line 1: ':' is missing" },
	{ "{a:1}", "line 1: a key in quotes is wanted" },
	{ "{,}", "line 1: a key in quotes is wanted" },
	{ "{\"a\":1,,}", "line 1: a key in quotes is wanted" },
	{ "{\"a\":1\n\"b\":2}", "line 2: a comma or a closing bracket is missing" },
	{ "{\"a\":[1}", "line 1: a comma or a closing bracket is missing" },
	{ "{\"a\":[,1]}", "line 1: not a JSON value" },
	{ "{\"a\":}", "line 1: not a JSON value" },
	{ "{\"a\":01}", "line 1: not a JSON value" },
	{ "{\"a\":1.}", "line 1: not a JSON value" },
	{ "{\"a\":+1}", "line 1: not a JSON value" },
	{ "{\"a\":1e}", "line 1: not a JSON value" },
	{ "{\"a\":nul}", "line 1: not a JSON value" },
	{ "{\"a\":truex}", "line 1: not a JSON value" },
	{ "{\"a\":'x'}", "line 1: not a JSON value" },
	{ "{\n\"a\":[\n", "line 2: a bracket that nothing closes" },
	{ "{\n/* c", "line 2: a comment without an end" },
	{ "{} // c\r", "line 1: a carriage return in a comment" },
	{ "{// c\r\n// c\r\"a\":1\n}", "line 2: a carriage return in a comment" },
	{ "{/}", "line 1: unexpected '/'" },
	{ "{\n\"a", "line 2: a string without an end" },
	{ "{\"a\n\":1}", "line 1: a string without an end" },
	{ "{\"a\":\"\t\"}", "line 1: a control character in a string" },
	{ "{\"a\":\"\\x\"}", "line 1: an unknown escape in a string" },
	{ "{\"a\":\"\\ud83d\\ude00\"}", NULL },
	{ "{\"a\":\"\\ud800\"}", "line 1: an escape that is no character" },
	{ "{\"a\":\"\\ud83d\\u00e9\"}", "line 1: an escape that is no character" },
	{ "{\"a\":\"\\ud800\\ud800\"}", "line 1: an escape that is no character" },
	{ "{\"a\":\"\\e\"}", "line 1: an unknown escape in a string" },
	{ "{\"a\":1_0}", "line 1: not a JSON value" },
	{ "{\"a\":\"\\u12g4\"}", "line 1: an unknown escape in a string" },
	{ "{\"a\":\n\"\xff\"}", "line 2: not UTF-8" },
	{ "{\"\\u001b[2J\":1,\"\\u001b[2J\":1}", "line 1: the key '\033[2J' is there twice" },
};

SUITE("jsonc", .limit = 60);

TESTS(texts_are_read_or_refused, 0, COUNT(texts))
{
	struct doc doc;

	ck_assert_int_eq(doc_read(&doc, span_of(texts[_i].text), DOC_JSONC),
	    texts[_i].fault == NULL ? 0 : -1);
	ck_assert_str_eq(doc.fault, texts[_i].fault == NULL ? "" : texts[_i].fault);
	doc_free(&doc);
}

TEST(nul_is_refused)
{
	struct doc doc;

	ck_assert_int_eq(doc_read(&doc, SPAN("{}\n\0"), DOC_JSONC), -1);
	ck_assert_str_eq(doc.fault, "line 2: a NUL byte");
	doc_free(&doc);
}

TEST(nesting_is_bounded)
{
	struct buf text;
	struct doc doc;

	for (int depth = DOC_DEPTH - 1; depth <= DOC_DEPTH; depth++) {
		text = (struct buf){ 0 };
		buf_append(&text, SPAN("{\"a\":"));
		for (int i = 0; i < depth; i++)
			buf_append(&text, SPAN("["));
		for (int i = 0; i < depth; i++)
			buf_append(&text, SPAN("]"));
		buf_append(&text, SPAN("}"));
		ck_assert_int_eq(doc_read(&doc, buf_span(&text), DOC_JSONC),
		    depth < DOC_DEPTH ? 0 : -1);
		doc_free(&doc);
		buf_free(&text);
	}
}

TEST(values_are_bounded)
{
	struct buf text;
	struct doc doc;

	text = (struct buf){ 0 };
	buf_append(&text, SPAN("{\"a\":["));
	for (int i = 0; i < DOC_VALUES - 1; i++)
		buf_append(&text, SPAN("0,"));
	buf_append(&text, SPAN("]}"));
	ck_assert_int_eq(doc_read(&doc, buf_span(&text), DOC_JSONC), -1);
	ck_assert_str_eq(doc.fault, "line 1: too many values");
	doc_free(&doc);
	buf_free(&text);
}

TEST(places_are_those_of_the_text)
{
	const char text[] = "{ \"k\\u0065y\" : /*,*/ \"v\\n\" , \"list\":[1 , 2]}";
	const struct doc_node *key, *list;
	struct doc doc;

	ck_assert_int_eq(doc_read(&doc, span_of(text), DOC_JSONC), 0);
	key = doc_member(doc.root, SPAN("key"));
	list = doc_at(doc.root, "list");
	ck_assert(span_equal(span_between(key->key.last, key->key.end), SPAN("\"k\\u0065y\"")));
	ck_assert(span_equal(span_between(key->start, key->end), SPAN("\"v\\n\"")));
	ck_assert(span_equal(key->text, SPAN("v\n")));
	ck_assert_ptr_eq(key->comma, strstr(doc.bytes, ", \"list"));
	ck_assert_ptr_eq(key->next, list);
	ck_assert(span_equal(span_between(list->start, list->end), SPAN("[1 , 2]")));
	ck_assert_ptr_null(list->comma);
	ck_assert_ptr_eq(list->first->next, list->last);
	ck_assert_ptr_null(doc_at(doc.root, "list/key"));
	doc_free(&doc);
}

TEST(quoted_text_is_the_same_for_jansson)
{
	const char text[] = "a\"\\\n\t\033\x7f/\xc3\xa9";
	struct buf out;
	json_t *value;

	out = (struct buf){ 0 };
	doc_quote(&out, span_of(text));
	value = json_loadb(out.data, out.len, JSON_DECODE_ANY, NULL);
	ck_assert_str_eq(json_string_value(value), text);
	json_decref(value);
	buf_free(&out);
}
