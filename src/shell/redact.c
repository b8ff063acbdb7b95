#include "shell/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/buf.h"
#include "core/unescape.h"
#include "shell/command.h"

void
redact_init(struct redact *redact)
{
	*redact = (struct redact){ .place = REDACT_BETWEEN };
}

static bool
has_part(struct span text, struct span part)
{
	for (size_t at = 0; at + part.len <= text.len; at++)
		if (strncasecmp(text.ptr + at, part.ptr, part.len) == 0)
			return true;
	return false;
}

/* canceld itself reads these; what replaces them would have to be the same wherever they stand. */
static bool
names_progress(const struct redact *redact, struct span key)
{
	return span_equal(key, SPAN("progressToken")) || span_equal(key, SPAN("workDoneToken")) ||
	    span_equal(key, SPAN("partialResultToken")) ||
	    (span_equal(key, SPAN("token")) && redact->params && redact->depth == 2);
}

/* The string that has ended is a key. */
static void
read_key(struct redact *redact)
{
	char storage[REDACT_KEY_MAX];
	/* Never longer than with its escapes. */
	struct span key = { storage, unescape((struct span){ redact->string, redact->len }, storage, sizeof(storage)) };

	if (redact->depth == 1)
		redact->params = span_equal(key, SPAN("params"));
	redact->named = command_names_secret(key) && !names_progress(redact, key);
	redact->counts = has_part(key, SPAN("token"));
}

static bool
hides_number(const struct redact *redact)
{
	return redact->secret_at > 0 || (redact->named && !redact->counts);
}

/* A number stays as valid as it was: no digit may follow a leading 0. */
static char
hide_digit(char before, char byte)
{
	return (char)(byte == '0' && !isdigit((unsigned char)before) ? '0' : '1');
}

/* A byte of a string: the string stays as valid as it was (The Unicode Standard, table 3-7). */
static char
hide_byte(unsigned char before, unsigned char byte)
{
	bool narrow = before == 0xe0 || before == 0xed || before == 0xf0 || before == 0xf4;

	if (byte < 0x80)
		return (char)(byte >= ' ' ? '*' : byte);
	if (byte < 0xc0)
		return (char)(narrow ? byte & 0xf0 : 0x80);
	if (byte >= 0xc2 && byte <= 0xdf)
		return (char)0xc3;
	if (byte > 0xe0 && byte <= 0xef && byte != 0xed)
		return (char)0xe1;
	return (char)(byte > 0xf0 && byte < 0xf4 ? 0xf1 : byte);
}

static char
between(struct redact *redact, char byte)
{
	switch (byte) {
	case '"':
		redact->place = REDACT_STRING;
		redact->hidden = redact->named || redact->secret_at > 0;
		redact->named = false;
		redact->len = 0;
		break;
	case '{':
	case '[':
		redact->depth++;
		if (redact->named && redact->secret_at == 0)
			redact->secret_at = redact->depth;
		redact->named = false;
		break;
	case '}':
	case ']':
		if (redact->secret_at == redact->depth)
			redact->secret_at = 0;
		redact->depth -= redact->depth > 0;
		redact->named = false;
		break;
	case ',':
		redact->named = false;
		break;
	default:
		return isdigit((unsigned char)byte) && hides_number(redact) ? hide_digit(redact->before, byte) : byte;
	}
	return byte;
}

static void
keep(struct redact *redact, char byte)
{
	if (redact->len < sizeof(redact->string))
		redact->string[redact->len++] = byte;
}

/* Within a string. Escapes stay, but for the code of a character: JSON stays as valid as it was. */
static char
within(struct redact *redact, char byte)
{
	enum redact_place place = redact->place;

	if (place == REDACT_STRING && byte == '"') {
		redact->place = REDACT_BEHIND;
		return byte;
	}
	keep(redact, byte);
	if (place == REDACT_CODE && isxdigit((unsigned char)byte)) {
		redact->digits--;
		redact->place = redact->digits > 0 ? REDACT_CODE : REDACT_STRING;
		return (char)(redact->hidden ? "a200"[redact->digits] : byte);
	}
	redact->place = REDACT_STRING;
	if (place == REDACT_ESCAPE && byte == 'u') {
		redact->place = REDACT_CODE;
		redact->digits = 4;
	} else if (place != REDACT_ESCAPE && byte == '\\') {
		redact->place = REDACT_ESCAPE;
		return byte;
	}
	if (!redact->hidden || place != REDACT_STRING)
		return byte;
	return hide_byte((unsigned char)redact->before, (unsigned char)byte);
}

/* A message ends at a newline, and so does what is wrong with it. */
static void
end_line(struct redact *redact)
{
	bool in_string = redact->place != REDACT_BETWEEN && redact->place != REDACT_BEHIND;

	if (!in_string && redact->framed)
		return;
	redact->place = REDACT_BETWEEN;
	redact->named = false;
	redact->depth = redact->secret_at = 0;
}

static char
redact_byte(struct redact *redact, char byte)
{
	if (byte == '\n')
		end_line(redact);
	if (redact->place == REDACT_BEHIND && strchr(" \t\r\n", byte) == NULL) {
		redact->place = REDACT_BETWEEN;
		if (byte == ':') {
			read_key(redact);
			return byte;
		}
	}
	if (redact->place == REDACT_BETWEEN)
		return between(redact, byte);
	return (char)(redact->place == REDACT_BEHIND ? byte : within(redact, byte));
}

void
redact_bytes(struct redact *redact, char *bytes, size_t len)
{
	if (!redact->begun && len > 0) {
		redact->begun = true;
		redact->framed = bytes[0] == 'C' || bytes[0] == 'c'; /* Content-Length */
	}
	for (size_t i = 0; i < len; i++) {
		char byte = bytes[i];

		bytes[i] = redact_byte(redact, byte);
		redact->before = byte;
	}
}
