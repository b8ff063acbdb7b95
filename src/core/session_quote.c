/* The server's last words, for whoever waits for a session that will never open, or for a server that never comes. */
#include "core/limits.h"
#include "session_inside.h"

/* How many bytes of a character start there; 0: it is none (RFC 3629). */
static size_t
character_at(struct span text, size_t at)
{
	const unsigned char *c = (const unsigned char *)text.ptr + at;
	size_t len = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
	size_t i;

	if (len == 0 || len > text.len - at)
		return 0;
	for (i = 1; i < len; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return len;
}

static struct span
last_part(struct span words)
{
	while (words.len > 0 && (words.ptr[words.len - 1] == '\n' || words.ptr[words.len - 1] == '\r'))
		words.len--;
	if (words.len > LIMIT_LAST_WORDS)
		words = span_part(words, words.len - LIMIT_LAST_WORDS, LIMIT_LAST_WORDS);
	return words;
}

void
session_quote(struct session *session, struct span words)
{
	size_t at = 0, len;

	words = last_part(words);
	buf_clear(&session->quote);
	while (at < words.len) {
		len = character_at(words, at);
		buf_append(&session->quote, len == 0 ? SPAN("?") : span_part(words, at, len));
		at += len == 0 ? 1 : len;
	}
}

struct span
session_quoted(const struct session *session, struct span method)
{
	const struct method *row = dialect_method(session->dialect, method);

	if (session->given_up || (row != NULL && (row->traits & METHOD_START)))
		return buf_span(&session->quote);
	return (struct span){ NULL, 0 };
}

void
session_give_up(struct session *session)
{
	session->given_up = true;
}

void
session_keep_refusal(struct session *session, struct span words)
{
	buf_clear(&session->refusal);
	buf_append(&session->refusal, words);
}
