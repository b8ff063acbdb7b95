#include "ctl/hide.h"

#include <check.h>

#include "ctl/jsonc.h"
#include "ctl/toml.h"

Suite *hide_suite(void);

static const struct {
	int (*read)(struct doc *doc);
	const char *text, *shown;
} texts[] = {
	{ jsonc_read, "{\"a\":{\"command\":\"npx\",\"args\":[\"-y\",\"b\"],\"timeout\":60}}",
	    "{\"a\":{\"command\":\"npx\",\"args\":[\"-y\",\"b\"],\"timeout\":60}}" },
	{ jsonc_read, "{\"env\":{\"HOME\":\"/x\",\"B\":1,\"C\":\"\",\"D\":[\"d\"]},\"x\":2}",
	    "{\"env\":{\"HOME\":\"**\",\"B\":*,\"C\":\"\",\"D\":[\"*\"]},\"x\":2}" },
	{ jsonc_read, "{\"Headers\":{\"X\":\"a\\\"b\"},\"http_headers\":{\"Y\":\"\xc3\xa9\"}}",
	    "{\"Headers\":{\"X\":\"****\"},\"http_headers\":{\"Y\":\"**\"}}" },
	/* A key that names a secret; a server of such a name is none. */
	{ jsonc_read, "{\"apiKey\":\"k\",\"tokens\":[[\"t\"],9],\"auth\":{\"command\":\"x\"},\"maxTokens\":4}",
	    "{\"apiKey\":\"*\",\"tokens\":[[\"*\"],9],\"auth\":{\"command\":\"x\"},\"maxTokens\":4}" },
	{ jsonc_read, "{\"args\":[\"--api-key\",\"k\",\"--token=t\",\"n\",\"-H\",\"Authorization: Bearer b\"]}",
	    "{\"args\":[\"--api-key\",\"*\",\"*********\",\"n\",\"-H\",\"***********************\"]}" },
	{ jsonc_read, "{\"--token\":\"a\",\"b\":\"https://u:p@h\",\"c\":\"https://h/?api_key=k\",\"d\":\"https://h/\"}",
	    "{\"--token\":\"*\",\"b\":\"*************\",\"c\":\"********************\",\"d\":\"https://h/\"}" },
	/* What is commented out. */
	{ jsonc_read, "{ // a note\n // \"KEY\": \"k\",\n /* a\n \"KEY\" = k\n*/ \"b\":\"c\" /* d */ }",
	    "{ // a note\n // \"KEY\": ****\n /* a\n \"KEY\" = *\n*/ \"b\":\"c\" /* d */ }" },
	{ toml_read, "[a.b]\ncommand = \"npx\"\nenv.K = \"k\"\n[a.b.env]\nL = 'l' # M=m\n# N = n\n[c]\nx = 1\n",
	    "[a.b]\ncommand = \"npx\"\nenv.K = \"*\"\n[a.b.env]\nL = '*' # M=*\n# N = *\n[c]\nx = 1\n" },
	{ toml_read, "http_headers = { \"X\" = \"\"\"a\nb\"\"\" }\nbearer_token = \"t\"\n",
	    "http_headers = { \"X\" = \"***\n***\" }\nbearer_token = \"*\"\n" },
};

START_TEST(what_is_secret_is_hidden)
{
	struct buf shown;
	struct doc doc;

	doc_init(&doc, span_of(texts[_i].text));
	ck_assert_int_eq(texts[_i].read(&doc), 0);
	buf_init(&shown);
	hide_append(&shown, &doc);
	ck_assert_msg(span_equal(buf_span(&shown), span_of(texts[_i].shown)), "%.*s\nnot\n%s", (int)shown.len,
	    buf_span(&shown).ptr, texts[_i].shown);
	buf_free(&shown);
	doc_free(&doc);
}
END_TEST

Suite *
hide_suite(void)
{
	Suite *suite = suite_create("hide");
	TCase *hiding = tcase_create("hiding");

	tcase_add_loop_test(hiding, what_is_secret_is_hidden, 0, sizeof(texts) / sizeof(texts[0]));
	suite_add_tcase(suite, hiding);
	return suite;
}
