#ifndef CORE_SCAN_STRING_H
#define CORE_SCAN_STRING_H

/* The inside of a JSON string, from behind its opening quote up to the closing one; resumable at any byte. */

#include <stdbool.h>

enum string_state {
	STRING_PLAIN,
	STRING_ESCAPE,    /* behind a backslash */
	STRING_HEX,       /* in the four digits of \uXXXX */
	STRING_CHARACTER, /* inside a character of UTF-8 */
};

/* Why the reader stopped. After QUOTE, CONTROL and BAD_LEAD the caller goes on behind the byte. */
enum string_stop {
	STOP_END,
	STOP_QUOTE,
	STOP_CONTROL,
	STOP_BAD_LEAD, /* no character of UTF-8 begins with the byte */
	STOP_BAD_TAIL, /* the byte does not belong to the character before, which is invalid; it is not yet read */
	STOP_BAD_ESCAPE,
};

struct string_reader {
	enum string_state state;
	enum string_stop stop;
	bool scalar; /* a byte at a time */
	unsigned char hex_left;
	unsigned char tails_left, low, high; /* of a character of UTF-8; the bounds of its next byte */
};

void string_start(struct string_reader *reader);

/* Reads on from at; gives the place where it stopped, for the reason in reader->stop. */
const char *string_read(struct string_reader *reader, const char *at, const char *end);

#endif
