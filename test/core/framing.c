#include "core/framing.h"

#include <check.h>
#include <string.h>

SUITE("framing");

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
	{ "X-Content-Length: 5\r\n", GUESS_HEADER },
	{ "Content-Length-Hint: 5\r\n", GUESS_HEADER },

	/* text that is neither, from a peer that writes lines */
	{ "hello\n", GUESS_NEWLINE },
	{ "X-Content-Length: 5\n", GUESS_NEWLINE },
	{ "up, X-Content-Length: 5\n", GUESS_NEWLINE },
	{ "Content-Length-Hint: 5\n", GUESS_NEWLINE },
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

/* The guess does not wait for ever: white space, or a word, without an end. */
TESTS(a_guess_is_made_at_end_of_file, 0, 2)
{
	char bytes[4096];

	memset(bytes, _i == 0 ? ' ' : 'x', sizeof(bytes));
	ck_assert_int_eq(framing_guess((struct span){ bytes, sizeof(bytes) - 1 }), GUESS_MORE);
	ck_assert_int_eq(framing_guess((struct span){ bytes, sizeof(bytes) }), GUESS_NEWLINE);
}
