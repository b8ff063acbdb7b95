#include "scenario/vocabulary.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

struct entry {
	char *name;
	struct steps *steps; /* NULL: it is a message */
	char *message;
};

struct vocabulary {
	struct entry *entries;
	size_t count;
};

char *
vocabulary_copy(struct span bytes)
{
	char *string = mem_new(bytes.len + 1);

	if (bytes.len > 0)
		memcpy(string, bytes.ptr, bytes.len);
	return string;
}

struct vocabulary *
vocabulary_new(void)
{
	return mem_new(sizeof(struct vocabulary));
}

static struct span
skip_blanks(struct span text)
{
	while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t'))
		text = span_part(text, 1, text.len - 1);
	return text;
}

struct span
vocabulary_word(struct span *text)
{
	struct span all = skip_blanks(*text);
	size_t len, depth = 0;
	bool quoted = false;

	for (len = 0; len < all.len; len++) {
		char c = all.ptr[len];

		if (quoted && c == '\\' && len + 1 < all.len)
			len++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '['))
			depth++;
		else if (!quoted && depth > 0 && (c == '}' || c == ']'))
			depth--;
		else if (!quoted && depth == 0 && (c == ' ' || c == '\t'))
			break;
	}
	*text = skip_blanks(span_part(all, len, all.len - len));
	return span_part(all, 0, len);
}

static const struct entry *
find(const struct vocabulary *vocabulary, struct span name, bool steps)
{
	for (size_t i = 0; i < vocabulary->count; i++)
		if (span_equal(name, span_of(vocabulary->entries[i].name)) &&
		    (vocabulary->entries[i].steps != NULL) == steps)
			return &vocabulary->entries[i];
	return NULL;
}

static struct entry *
add(struct vocabulary *vocabulary, struct span name)
{
	struct entry *entry;

	vocabulary->entries =
	    mem_resize(vocabulary->entries, vocabulary->count + 1, sizeof(*vocabulary->entries));
	entry = &vocabulary->entries[vocabulary->count++];
	*entry = (struct entry){ .name = vocabulary_copy(name) };
	return entry;
}

bool
vocabulary_message(struct vocabulary *vocabulary, struct span text)
{
	struct span name = vocabulary_word(&text);

	if (text.len == 0 || find(vocabulary, name, false) != NULL)
		return false;
	add(vocabulary, name)->message = vocabulary_copy(text);
	return true;
}

const struct steps *
vocabulary_find_steps(const struct vocabulary *vocabulary, struct span name)
{
	const struct entry *entry = find(vocabulary, name, true);

	return entry == NULL ? NULL : entry->steps;
}

struct steps *
vocabulary_steps(struct vocabulary *vocabulary, struct span name)
{
	if (find(vocabulary, name, true) != NULL)
		return NULL;
	return add(vocabulary, name)->steps = mem_new(sizeof(struct steps));
}

/*
 * %(NUMBER*CHARACTERS) at the head of text: appends it, and returns its length; 0 if there is none.
 */
static size_t
expand_repeat(struct span text, struct buf *out)
{
	struct span repeated;
	unsigned long times;
	const char *close;
	char *star;

	if (text.len < 5 || memcmp(text.ptr, "%(", 2) != 0)
		return 0;
	close = memchr(text.ptr, ')', text.len);
	if (close == NULL)
		return 0;
	times = strtoul(text.ptr + 2, &star, 10);
	if (*star != '*')
		return 0;
	repeated = (struct span){ star + 1, (size_t)(close - star - 1) };
	while (times-- > 0)
		buf_append(out, repeated);
	return (size_t)(close + 1 - text.ptr);
}

static void
expand_repeats(struct span text, struct buf *out)
{
	size_t i = 0;

	while (i < text.len) {
		size_t len = expand_repeat(span_part(text, i, text.len - i), out);

		if (len == 0) {
			buf_append(out, span_part(text, i, 1));
			len = 1;
		}
		i += len;
	}
}

/* The message's text with its arguments in place of $1 to $9. */
static void
fill_in(const char *text, struct span arguments, struct buf *out)
{
	struct span words[9] = { { NULL, 0 } };
	size_t i;

	for (i = 0; i < 9; i++)
		words[i] = vocabulary_word(&arguments);
	for (; *text != '\0'; text++) {
		if (text[0] == '$' && text[1] >= '1' && text[1] <= '9')
			buf_append(out, words[*++text - '1']);
		else
			buf_append(out, (struct span){ text, 1 });
	}
}

bool
vocabulary_expand(const struct vocabulary *vocabulary, struct span text, struct buf *out)
{
	const struct entry *entry;
	struct buf filled;

	if (text.len == 0 || *text.ptr == '{' || *text.ptr == '[' || *text.ptr == '*') {
		expand_repeats(text, out);
		return text.len > 0;
	}
	entry = find(vocabulary, vocabulary_word(&text), false);
	if (entry == NULL)
		return false;
	filled = (struct buf){ 0 };
	fill_in(entry->message, text, &filled);
	expand_repeats(buf_span(&filled), out);
	buf_free(&filled);
	return true;
}

/* The character that the escape at text stands for; its length in *len. -1: not an escape. */
static int
unescape(const char *text, size_t *len)
{
	static const char letters[] = "nrt0\"\\", meanings[] = "\n\r\t\0\"\\";
	const char *letter;
	char hex[3] = "";

	*len = 2;
	if (text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
	    isxdigit((unsigned char)text[3])) {
		*len = 4;
		memcpy(hex, text + 2, 2);
		return (int)strtol(hex, NULL, 16);
	}
	letter = text[1] == '\0' ? NULL : strchr(letters, text[1]);
	return letter == NULL ? -1 : (unsigned char)meanings[letter - letters];
}

static bool
append_unescaped(const char *string, struct buf *out)
{
	size_t len;
	int c;

	while (*string != '\0') {
		c = (unsigned char)*string;
		len = 1;
		if (c == '\\')
			c = unescape(string, &len);
		if (c < 0)
			return false;
		buf_append(out, (struct span){ (char[]){ (char)c }, 1 });
		string += len;
	}
	return true;
}

bool
vocabulary_unquote(struct span text, struct buf *out)
{
	struct buf inside;
	bool sound;

	if (text.len < 2 || text.ptr[0] != '"' || text.ptr[text.len - 1] != '"')
		return false;
	inside = (struct buf){ 0 };
	expand_repeats(span_part(text, 1, text.len - 2), &inside);
	buf_append(&inside, (struct span){ "", 1 });
	sound = append_unescaped(inside.data, out);
	buf_free(&inside);
	return sound;
}
