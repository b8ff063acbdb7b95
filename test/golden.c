#include "golden.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * What goes to the client, to the server, and what is decided: how the bytes are cut, or
 * interleaved, is of no account.
 */
enum { DECISIONS = 2, STREAMS };

static uint64_t hashes[STREAMS];

static void
add(unsigned stream, struct span bytes)
{
	for (size_t i = 0; i < bytes.len; i++) /* FNV-1a, from another basis */
		hashes[stream] =
		    (hashes[stream] ^ (unsigned char)bytes.ptr[i] ^ 0x80) * 0x100000001b3u;
}

static void
add_text(struct span text)
{
	add(DECISIONS, text);
	add(DECISIONS, SPAN("\n"));
}

void
golden_found(int64_t number)
{
	char digits[SPAN_NUMBER_MAX];

	add_text(span_number(number, digits));
}

void
golden_wrote(enum side to, struct span bytes)
{
	add(to, bytes);
}

void
golden_decided(const struct action *action)
{
	const struct span texts[] = { span_of(why_word(action->why)), action->id, action->method,
		action->name, action->detail, action->hint, action->outcome, action->origin };

	golden_found(action->verb);
	golden_found(action->side);
	golden_found(action->elapsed);
	golden_found(action->timeout);
	golden_found(action->verb == VERB_END ? (int64_t)action->tally : -1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add_text(texts[i]);
}

void
golden_end_case(bool print, const char *format, ...)
{
	va_list arguments;

	if (print) {
		va_start(arguments, format);
		vprintf(format, arguments);
		va_end(arguments);
		printf(" | %016llx %016llx %016llx\n", (unsigned long long)hashes[DECISIONS],
		    (unsigned long long)hashes[SIDE_CLIENT],
		    (unsigned long long)hashes[SIDE_SERVER]);
	}
	memset(hashes, 0, sizeof(hashes));
}
