#include "core/framing.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *framing_suite(void);

static void
expect(struct span is, const char *wanted)
{
	ck_assert_msg(span_equal(is, span_of(wanted)), "\"%.*s\" is not \"%s\"", (int)is.len, is.ptr, wanted);
}

static const struct {
	uint64_t len;
	const char *head;
} heads[] = {
	{ 0, "Content-Length: 0\r\n\r\n" },
	{ 9, "Content-Length: 9\r\n\r\n" },
	{ 10, "Content-Length: 10\r\n\r\n" },
	{ 4096, "Content-Length: 4096\r\n\r\n" },
	{ (uint64_t)1 << 50, "Content-Length: 1125899906842624\r\n\r\n" },
	{ UINT64_MAX, "Content-Length: 18446744073709551615\r\n\r\n" },
};

SUITE("framing");

TESTS(a_header_says_the_length_and_nothing_else, 0, COUNT(heads))
{
	char storage[FRAMING_HEAD_MAX];

	expect(framing_head(FRAMING_HEADER, heads[_i].len, storage), heads[_i].head);
	ck_assert_uint_eq(framing_head(FRAMING_NEWLINE, heads[_i].len, storage).len, 0);
}

TEST(messages_are_framed_as_their_reader_expects)
{
	struct buf out;

	buf_init(&out);
	framing_append(&out, FRAMING_NEWLINE, SPAN("{}"));
	framing_append(&out, FRAMING_NEWLINE, SPAN("\"\xc3\xa9\""));
	expect(buf_span(&out), "{}\n\"\xc3\xa9\"\n");
	buf_clear(&out);
	framing_append(&out, FRAMING_HEADER, SPAN("{}"));
	framing_append(&out, FRAMING_HEADER, SPAN(""));
	framing_append(&out, FRAMING_HEADER, SPAN("\"\xc3\xa9\"\n"));
	expect(buf_span(&out),
	    "Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\nContent-Length: 5\r\n\r\n\"\xc3\xa9\"\n");
	buf_free(&out);
}

static const char *const guesses[] = { "more", "newline", "header", "foreign" };

/* The first bytes, and the guess from all of them. */
static const struct {
	const char *bytes;
	enum framing_guess guess;
} firsts[] = {
	/* a line each */
	{ "{", GUESS_NEWLINE },
	{ "{\"jsonrpc\":\"2.0\"", GUESS_NEWLINE },
	{ "[", GUESS_NEWLINE },
	{ " {", GUESS_NEWLINE },
	{ "\r\n\t \n{", GUESS_NEWLINE },
	{ "\n\n[1]", GUESS_NEWLINE },
	{ "\xef\xbb\xbf{", GUESS_NEWLINE },
	{ "\xef\xbb\xbf \r\n[", GUESS_NEWLINE },

	/* too few bytes to tell */
	{ "", GUESS_MORE },
	{ " ", GUESS_MORE },
	{ "\r\n\r\n\t", GUESS_MORE },
	{ "\xef", GUESS_MORE },
	{ "\xef\xbb", GUESS_MORE },
	{ "\xef\xbb\xbf", GUESS_MORE },
	{ "\xef\xbb\xbf\n", GUESS_MORE },
	{ "C", GUESS_MORE },
	{ "Content-Length", GUESS_MORE },
	{ "\xef\xbb\xbf"
	  "Content-Len",
	    GUESS_MORE },
	{ "P", GUESS_MORE },
	{ "PRI * HTTP/2.", GUESS_MORE },
	{ "X-Trace", GUESS_MORE },
	{ "X-Trace: 1", GUESS_MORE },

	{ "Hello world", GUESS_MORE },
	{ "Content-Length: 5", GUESS_MORE },

	/* a header, as real peers spell it */
	{ "Content-Length: 5\r\n\r\n", GUESS_HEADER },
	{ "content-length:5\n\n", GUESS_HEADER },
	{ "CONTENT-LENGTH: 5\n", GUESS_HEADER },
	{ "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n", GUESS_HEADER },
	{ "content-type:\n", GUESS_HEADER },
	{ "\r\n Content-Length: 5\r\n", GUESS_HEADER },
	{ "\xef\xbb\xbf"
	  "Content-Length: 5\r\n",
	    GUESS_HEADER },
	{ "X-Trace: 1\r\n", GUESS_HEADER },
	{ "loading...Content-Length: 5\r\n", GUESS_HEADER },

	/* text that is neither, from a peer that writes lines */
	{ "hello\n", GUESS_NEWLINE },
	{ "Content-Length 5\n", GUESS_NEWLINE },
	{ "Content Length: 5\n", GUESS_NEWLINE },
	{ "note: it starts\n", GUESS_NEWLINE },
	{ "GET / HTTP/1.1\r\n", GUESS_NEWLINE },
	{ "PRIX\n", GUESS_NEWLINE },
	{ "PRI * HTTP/1.1\r\n", GUESS_NEWLINE },

	/* bytes that no peer sends first */
	{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", GUESS_FOREIGN },
	{ "\x16\x03\x01\x02", GUESS_FOREIGN }, /* TLS: a ClientHello */
	{ "\x16", GUESS_FOREIGN },
	{ "\x80", GUESS_FOREIGN }, /* StreamJsonRpc's int32 length, MessagePack */
	{ "\xef\xbc", GUESS_FOREIGN },
	{ "\xef\xbb\xbf\x16", GUESS_FOREIGN },
	{ "17", GUESS_FOREIGN },
	{ "\"a\"", GUESS_FOREIGN },
	{ "-1", GUESS_FOREIGN },
	{ "  ]", GUESS_FOREIGN },
	{ "#!/bin/sh", GUESS_FOREIGN },
	{ ":", GUESS_FOREIGN },
};

TESTS(the_first_bytes_show_the_framing, 0, COUNT(firsts))
{
	enum framing_guess guess = framing_guess(span_of(firsts[_i].bytes));

	ck_assert_str_eq(guesses[guess], guesses[firsts[_i].guess]);
}

/* Once a guess is made, more bytes do not change it; before it there was no other. */
TESTS(a_guess_does_not_change, 0, COUNT(firsts))
{
	struct span all = span_of(firsts[_i].bytes);
	enum framing_guess guess = GUESS_MORE;

	for (size_t len = 0; len <= all.len; len++) {
		enum framing_guess now = framing_guess(span_part(all, 0, len));

		if (guess != GUESS_MORE)
			ck_assert_msg(now == guess, "%s, then %s", guesses[guess], guesses[now]);
		guess = now;
	}
}

/* Each single byte is enough, or may begin a header or a message. */
TEST(a_guess_from_the_first_byte)
{
	for (int value = 0; value < 256; value++) {
		char byte = (char)value;
		enum framing_guess wanted = GUESS_FOREIGN, guess = framing_guess((struct span){ &byte, 1 });

		if (byte == '{' || byte == '[')
			wanted = GUESS_NEWLINE;
		else if ((value >= 'A' && value <= 'Z') || (value >= 'a' && value <= 'z') || value == 0xef)
			wanted = GUESS_MORE;
		else if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n')
			wanted = GUESS_MORE;
		ck_assert_msg(guess == wanted, "%02x: %s is not %s", (unsigned)value, guesses[guess], guesses[wanted]);
	}
}

static struct span
repeated(char byte, size_t len)
{
	char *bytes = malloc(len);

	ck_assert_ptr_nonnull(bytes);
	memset(bytes, byte, len);
	return (struct span){ bytes, len };
}

/* The guess does not wait for ever: white space, or a word, without an end. */
TESTS(a_guess_is_made_at_end_of_file, 0, 2)
{
	struct span bytes = repeated(_i == 0 ? ' ' : 'x', 4096);

	ck_assert_int_eq(framing_guess(span_part(bytes, 0, 4095)), GUESS_MORE);
	ck_assert_int_eq(framing_guess(bytes), GUESS_NEWLINE);
	free((void *)(uintptr_t)bytes.ptr);
}
