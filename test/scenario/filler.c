#include "scenario/filler.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#define NAME "\"filler\":\""
#define HEAD_NAME "Content-Length: "

enum { NAME_LEN = sizeof(NAME) - 1 };

/* The member, with a comma on both sides. */
static struct span
filler_text(void)
{
	static char text[FILLER_SIZE];

	if (*text == '\0') {
		memset(text, 'x', sizeof(text));
		memcpy(text, "," NAME, NAME_LEN + 1);
		memcpy(text + sizeof(text) - 2, "\",", 2);
	}
	return (struct span){ text, sizeof(text) };
}

static void
insert(struct buf *out, struct span message, size_t place, struct span member)
{
	buf_append(out, span_part(message, 0, place));
	buf_append(out, member);
	buf_append(out, span_part(message, place, message.len - place));
}

/* The member with the one comma that it needs. */
static struct span
member_of(enum filler filler, struct span text)
{
	return span_part(text, filler == FILLER_FIRST, text.len - 1);
}

/* Whether the message is JSON with a member at this place. */
static bool
takes_member(enum filler filler, struct span message, size_t place)
{
	struct buf filled = { 0 };
	json_t *json;

	insert(&filled, message, place, member_of(filler, SPAN("," NAME "\",")));
	json = json_loadb(filled.data, filled.len, JSON_ALLOW_NUL, NULL);
	buf_free(&filled);
	json_decref(json);
	return json != NULL;
}

/* The message without its framing. */
static struct span
message_of(enum framing framing, struct span framed)
{
	const char *end;

	if (framing == FRAMING_NEWLINE)
		return span_part(framed, 0, framed.len - 1);
	end = (const char *)memmem(framed.ptr, framed.len, "\r\n\r\n", 4) + 4;
	return (struct span){ end, framed.len - (size_t)(end - framed.ptr) };
}

void
filler_add(enum filler filler, enum framing framing, struct span framed, struct buf *out)
{
	struct span message = message_of(framing, framed);
	size_t end = span_through(message, '}');
	const char *brace = filler != FILLER_LAST ? memchr(message.ptr, '{', message.len) :
	    end > 0                               ? message.ptr + end - 1 :
						    NULL;
	size_t place = brace == NULL ? 0 : (size_t)(brace - message.ptr) + (filler == FILLER_FIRST);
	struct buf filled = { 0 };

	if (filler == FILLER_NONE || brace == NULL || !takes_member(filler, message, place)) {
		buf_append(out, framed);
		return;
	}
	insert(&filled, message, place, member_of(filler, filler_text()));
	framing_append(out, framing, buf_span(&filled));
	buf_free(&filled);
}

/* Where the number of the last Content-Length before `end` begins; 0: there is none. */
static size_t
length_place(struct span seen, size_t end)
{
	size_t place = 0;
	const char *found;

	while (
	    (found = memmem(seen.ptr + place, end - place, HEAD_NAME, strlen(HEAD_NAME))) != NULL)
		place = (size_t)(found - seen.ptr) + strlen(HEAD_NAME);
	return place;
}

/* Takes out the first filler. false: there is none that is whole. */
static bool
remove_first(struct buf *seen, enum framing framing)
{
	struct span all = buf_span(seen), text = filler_text();
	const char *found = memmem(all.ptr, all.len, NAME, NAME_LEN);
	size_t at, start = 0, digits = 0;
	struct buf rest = { 0 };
	char storage[SPAN_NUMBER_MAX];
	int64_t number = 0;

	if (found == NULL || all.len - (size_t)(found - all.ptr) < text.len - 1)
		return false;
	at = (size_t)(found - all.ptr);
	at -= at > 0 && all.ptr[at - 1] == ',';
	if (framing == FRAMING_HEADER)
		start = length_place(all, at);
	buf_append(&rest, span_part(all, 0, start));
	if (start > 0) {
		for (; isdigit((unsigned char)all.ptr[start + digits]); digits++)
			number = number * 10 + (all.ptr[start + digits] - '0');
		buf_append(&rest, span_number(number - (int64_t)text.len + 1, storage));
	}
	buf_append(&rest, span_part(all, start + digits, at - start - digits));
	buf_append(&rest, span_part(all, at + text.len - 1, all.len - at - text.len + 1));
	buf_free(seen);
	*seen = rest;
	return true;
}

void
filler_remove(struct buf *seen, enum framing framing)
{
	while (seen->len >= FILLER_SIZE && remove_first(seen, framing))
		continue;
}
