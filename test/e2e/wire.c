#include "peers.h"

/* Values whose spelling does not survive a parser and a printer. */
static const char *const spellings[] = {
	"null",
	"{\"v\":1.10,\"w\":1e2,\"x\":-0,\"y\":0.30000000000000000001}",
	"{ \"b\" : 1 , \"a\" : [ ] , \"b2\":{ } }",
	"\"\\u00e9 \\/ \\ud83d\\ude00 \xc3\xa9 / \xf0\x9f\x98\x80\"",
	"\"zero\xe2\x80\x8dwidth\xe2\x80\x8bjoiner\xef\xbb\xbf \\u200d\"",
	"{\"id\":99999999999999999999,\"method\":\"notifications/cancelled\",\"result\":null}",
	"\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{}}\"",
	"[12345678901234567890,-98765432109876543210,1E400]",
};

enum {
	SPELLINGS = sizeof(spellings) / sizeof(*spellings),
	LONG = 300000, /* more than canceld holds */
};

void
wire_id(struct text *text, long number)
{
	if (number % 4 == 0)
		text_print(text, "%ld", number);
	else if (number % 4 == 1)
		text_print(text, "1%019ld", number);
	else if (number % 4 == 2)
		text_print(text, "\"r\\u00e9-%ld\"", number);
	else
		text_print(text, "\"\xe2\x80\x8d%ld\"", number);
}

static void
wire_padding(struct text *text, long number)
{
	size_t len = number % WIRE_LONG_EVERY == 0 ? LONG : (size_t)(number * 7919 % 1500);

	text_append(text, "\"", 1);
	for (size_t i = 0; i < len; i++)
		text_append(text, i % 61 == 60 ? "\\\\" : "p", i % 61 == 60 ? 2 : 1);
	text_append(text, "\"", 1);
}

void
wire_request(struct text *text, long number)
{
	const char *spelling = spellings[number * 31 % SPELLINGS];

	if (number % 2 == 0) {
		text_print(text, "{\"jsonrpc\":\"2.0\",\"id\":");
		wire_id(text, number);
		text_print(text, ",\"method\":\"tools/call\",\"params\":{\"number\":%ld,\"x\":%s}}", number, spelling);
	} else {
		text_print(text, "{ \"method\":\"tools/call\",\"params\":{\"x\":%s,\"number\":%ld},\"id\":", spelling,
		    number);
		wire_id(text, number);
		text_print(text, ", \"jsonrpc\":\"2.0\" }");
	}
}

void
wire_answer(struct text *text, long number)
{
	const char *spelling = spellings[number % SPELLINGS];

	if (number % 3 == 0) {
		text_print(text, "{\"result\":%s,\"padding\":", spelling);
		wire_padding(text, number);
		text_print(text, ",\"jsonrpc\":\"2.0\",\"id\":");
		wire_id(text, number);
	} else {
		text_print(text, "{\"jsonrpc\":\"2.0\", \"id\" : ");
		wire_id(text, number);
		text_print(text,
		    number % 3 == 1 ? ",\"result\":" : ",\"error\":{\"code\":1,\"message\":\"\",\"data\":");
		text_print(text, "[%s,", spelling);
		wire_padding(text, number);
		text_print(text, number % 3 == 1 ? "]" : "]}");
	}
	text_print(text, "}");
}
