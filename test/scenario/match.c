#include "scenario/match.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 400 };

/* Skips the string whose opening quote is at `at`. */
static size_t
string_end(struct span text, size_t at)
{
	for (at++; at < text.len && text.ptr[at] != '"'; at++)
		if (text.ptr[at] == '\\')
			at++;
	return at < text.len ? at + 1 : text.len;
}

/* Skips the JSON value that starts at `at`. */
static size_t
value_end(struct span text, size_t at)
{
	size_t depth = 0;

	while (at < text.len) {
		char c = text.ptr[at];

		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			break;
		if (c == '"') {
			at = string_end(text, at);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		at++;
	}
	return at;
}

static bool match_from(struct span pattern, struct span line, bool quoted);

static struct span
from(struct span text, size_t at)
{
	return span_part(text, at, text.len - at);
}

/* `*` within a string: takes as many characters as let the rest match. */
static bool
match_some(struct span pattern, struct span line)
{
	size_t len;

	for (len = 0; len <= line.len; len++) {
		if (match_from(from(pattern, 1), from(line, len), true))
			return true;
		if (len < line.len && line.ptr[len] == '"')
			return false;
		len += len + 1 < line.len && line.ptr[len] == '\\';
	}
	return false;
}

static bool
match_from(struct span pattern, struct span line, bool quoted)
{
	size_t i, at = 0;

	for (i = 0; i < pattern.len; i++) {
		char c = pattern.ptr[i];

		if (c == '*' && quoted)
			return match_some(from(pattern, i), from(line, at));
		if (c == '*') {
			if (value_end(line, at) == at)
				return false;
			at = value_end(line, at);
			continue;
		}
		if (at == line.len || line.ptr[at] != c)
			return false;
		if (c == '"' && (i == 0 || pattern.ptr[i - 1] != '\\'))
			quoted = !quoted;
		at++;
	}
	return at == line.len;
}

bool
match_line(struct span pattern, struct span line)
{
	return match_from(pattern, line, false);
}

static void
show_part(struct buf *out, struct span bytes)
{
	char escape[8] = "";
	size_t i;

	for (i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.ptr[i];

		if (c >= 0x20 && c < 0x7f) {
			buf_append(out, span_part(bytes, i, 1));
			continue;
		}
		if (c == '\n')
			strcpy(escape, "\\n");
		else
			snprintf(escape, sizeof(escape), "\\x%02x", c);
		buf_append(out, (struct span){ escape, strlen(escape) });
	}
}

void
match_show(struct buf *out, struct span bytes)
{
	char cut[64];

	if (bytes.len <= SHOWN_MAX) {
		show_part(out, bytes);
		return;
	}
	show_part(out, span_part(bytes, 0, SHOWN_MAX / 2));
	snprintf(cut, sizeof(cut), " ... %zu bytes ... ", bytes.len - SHOWN_MAX);
	buf_append(out, (struct span){ cut, strlen(cut) });
	show_part(out, span_part(bytes, bytes.len - SHOWN_MAX / 2, SHOWN_MAX / 2));
}
