#include "shell/redact.h"

#include <check.h>
#include <string.h>

Suite *redact_suite(void);

/* Each message, and what becomes of it. */
static const struct {
	const char *given, *wanted;
} cases[] = {
	{ "{\"password\":\"hunter2\"}", "{\"password\":\"*******\"}" },
	{ "{\"a\" : {\"apiKey\" :\t\"x y\" , \"b\":\"z\"}}", "{\"a\" : {\"apiKey\" :\t\"***\" , \"b\":\"z\"}}" },
	{ "{\"pass\\u0077ord\":\"a\"}", "{\"pass\\u0077ord\":\"*\"}" },
	{ "{\"secret\":\"a\\\"b\\u00e9\\\\\"}", "{\"secret\":\"*\\\"*\\u002a\\\\\"}" },
	{ "{\"secret\":[\"a\",{\"b\":\"c\"},12.5e3],\"d\":\"e\"}",
	    "{\"secret\":[\"*\",{\"*\":\"*\"},11.1e1],\"d\":\"e\"}" },
	{ "{\"pwd\":1234,\"a\":1234}", "{\"pwd\":1111,\"a\":1234}" },
	{ "{\"secret\":true,\"a\":\"b\"}", "{\"secret\":true,\"a\":\"b\"}" },
	{ "{\"secret\":null,\"a\":\"b\"}", "{\"secret\":null,\"a\":\"b\"}" },
	{ "[\"secret\",\"a\"]", "[\"secret\",\"a\"]" },
	{ "{\"a\":\"secret\",\"b\":\"c\"}", "{\"a\":\"secret\",\"b\":\"c\"}" },
	/* as valid, or not, as it was */
	{ "{\"secret\":\"\xd0\xbf\xe4\xb8\xad\xe0\xa5\x90\xed\x9f\xbf\xf3\xa0\x81\x81\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"}",
	    "{\"secret\":\"\xc3\x80\xe1\x80\x80\xe0\xa0\x80\xed\x90\x80\xf1\x80\x80\x80\xf0\x90\x80\x80\xf4\x80\x80\x80\"}" },
	{ "{\"secret\":\"a\xff\xc1\xa5\xe0\x95\xed\xa5\xf4\x95z\"}",
	    "{\"secret\":\"*\xff\xc1\x80\xe0\x90\xed\xa0\xf4\x90*\"}" },
	{ "{\"secret\":[01,10,-0.05,0],\"pwd\":007}", "{\"secret\":[01,11,-0.01,0],\"pwd\":011}" },
	{ "{\"secret\":\"a\tb\"}", "{\"secret\":\"*\t*\"}" },
	/* counts, and what canceld reads itself */
	{ "{\"maxTokens\":1000}", "{\"maxTokens\":1000}" },
	{ "{\"accessToken\":\"abc\"}", "{\"accessToken\":\"***\"}" },
	{ "{\"params\":{\"_meta\":{\"progressToken\":\"abc\"}}}",
	    "{\"params\":{\"_meta\":{\"progressToken\":\"abc\"}}}" },
	{ "{\"params\":{\"workDoneToken\":\"abc\",\"partialResultToken\":\"d\"}}",
	    "{\"params\":{\"workDoneToken\":\"abc\",\"partialResultToken\":\"d\"}}" },
	{ "{\"params\":{\"token\":\"abc\",\"value\":{\"token\":\"abc\"}}}",
	    "{\"params\":{\"token\":\"abc\",\"value\":{\"token\":\"***\"}}}" },
	{ "{\"result\":{\"token\":\"abc\"}}", "{\"result\":{\"token\":\"***\"}}" },
	{ "{\"params\":{\"name\":\"a\",\"requestId\":7},\"id\":\"b\",\"method\":\"c\"}",
	    "{\"params\":{\"name\":\"a\",\"requestId\":7},\"id\":\"b\",\"method\":\"c\"}" },
	/* what is wrong ends with its line */
	{ "{\"secret\":\"a\n{\"b\":\"c\"}", "{\"secret\":\"*\n{\"b\":\"c\"}" },
	{ "{\"secret\":[\n{\"b\":\"c\"}", "{\"secret\":[\n{\"b\":\"c\"}" },
	{ "]]}{\"params\":{\"token\":\"abc\"}}", "]]}{\"params\":{\"token\":\"abc\"}}" },
	/* a message with a header may have several lines */
	{ "Content-Length: 99\r\n\r\n{\"secret\":[\n\"b\"],\n\"c\":\"d\"}",
	    "Content-Length: 99\r\n\r\n{\"secret\":[\n\"*\"],\n\"c\":\"d\"}" },
};

/* In pieces of each size. */
START_TEST(secrets_are_hidden)
{
	const char *given = cases[_i].given;
	size_t len = strlen(given), piece, at;

	for (piece = 1; piece <= len; piece++) {
		struct redact redact;
		char bytes[512];

		redact_init(&redact);
		memcpy(bytes, given, len + 1);
		for (at = 0; at < len; at += piece)
			redact_bytes(&redact, bytes + at, piece < len - at ? piece : len - at);
		ck_assert_str_eq(bytes, cases[_i].wanted);
	}
}
END_TEST

START_TEST(a_key_that_is_too_long_is_read_as_far_as_it_is_kept)
{
	char bytes[2 * REDACT_KEY_MAX + 64];
	struct redact redact;

	redact_init(&redact);
	memset(bytes, 'k', sizeof(bytes));
	memcpy(bytes, "{\"secret", strlen("{\"secret"));
	memcpy(bytes + 2 * REDACT_KEY_MAX, "\":\"abc\"}", sizeof("\":\"abc\"}"));
	redact_bytes(&redact, bytes, strlen(bytes));
	ck_assert_str_eq(bytes + 2 * REDACT_KEY_MAX, "\":\"***\"}");
}
END_TEST

Suite *
redact_suite(void)
{
	Suite *suite = suite_create("redact");
	TCase *tests = tcase_create("redact");

	tcase_add_loop_test(tests, secrets_are_hidden, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, a_key_that_is_too_long_is_read_as_far_as_it_is_kept);
	suite_add_tcase(suite, tests);
	return suite;
}
