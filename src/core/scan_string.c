#include "scan_string.h"

#include "scan_skip.h"

void
string_start(struct string_reader *reader)
{
	reader->state = STRING_PLAIN;
}

static bool
is_short_escape(char c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return true;
	default:
		return false;
	}
}

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool
expect_tails(struct string_reader *reader, unsigned char count, unsigned char low, unsigned char high)
{
	reader->state = STRING_CHARACTER;
	reader->tails_left = count;
	reader->low = low;
	reader->high = high;
	return true;
}

/* Unicode 15, table 3-7. */
static bool
on_lead(struct string_reader *reader, unsigned char lead)
{
	if (lead >= 0xC2 && lead <= 0xDF)
		return expect_tails(reader, 1, 0x80, 0xBF);
	if (lead >= 0xE0 && lead <= 0xEF)
		return expect_tails(reader, 2, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
	if (lead >= 0xF0 && lead <= 0xF4)
		return expect_tails(reader, 3, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
	return false;
}

static bool
on_tail(struct string_reader *reader, unsigned char byte)
{
	bool good = byte >= reader->low && byte <= reader->high;

	reader->low = 0x80;
	reader->high = 0xBF;
	if (!good || --reader->tails_left == 0)
		reader->state = STRING_PLAIN;
	return good;
}

static bool
on_escape(struct string_reader *reader, char c)
{
	reader->state = c == 'u' ? STRING_HEX : STRING_PLAIN;
	reader->hex_left = 4;
	return c == 'u' || is_short_escape(c);
}

static bool
on_hex(struct string_reader *reader, char c)
{
	if (--reader->hex_left == 0)
		reader->state = STRING_PLAIN;
	return is_hex(c);
}

static const char *
skip_plain(const struct string_reader *reader, const char *at, const char *end)
{
	return reader->scalar ? skip_scalar(at, end) : skip_vector(at, end);
}

/* Short escapes that lie within the piece are passed at once: text that quotes JSON is full of them. */
static const char *
skip(const struct string_reader *reader, const char *at, const char *end)
{
	at = skip_plain(reader, at, end);
	while (end - at >= 2 && *at == '\\' && is_short_escape(at[1])) {
		at = reader->scalar ? at + 2 : skip_escapes(at, end);
		at = skip_plain(reader, at, end);
	}
	return at;
}

static enum string_stop
on_plain(struct string_reader *reader, char c)
{
	if (c == '"')
		return STOP_QUOTE;
	if ((unsigned char)c >= 0x80)
		return on_lead(reader, (unsigned char)c) ? STOP_END : STOP_BAD_LEAD;
	if (c != '\\')
		return STOP_CONTROL;
	reader->state = STRING_ESCAPE;
	return STOP_END;
}

static enum string_stop
on_byte(struct string_reader *reader, char c)
{
	switch (reader->state) {
	case STRING_ESCAPE:
		return on_escape(reader, c) ? STOP_END : STOP_BAD_ESCAPE;
	case STRING_HEX:
		return on_hex(reader, c) ? STOP_END : STOP_BAD_ESCAPE;
	case STRING_CHARACTER:
		return on_tail(reader, (unsigned char)c) ? STOP_END : STOP_BAD_TAIL;
	case STRING_PLAIN:
	default:
		return on_plain(reader, c);
	}
}

const char *
string_read(struct string_reader *reader, const char *at, const char *end)
{
	for (;; at++) {
		if (reader->state == STRING_PLAIN)
			at = skip(reader, at, end);
		reader->stop = at < end ? on_byte(reader, *at) : STOP_END;
		if (at == end || reader->stop != STOP_END)
			return at;
	}
}
