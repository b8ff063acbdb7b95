#include "shell/command.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool
command_names_secret(struct span name)
{
	static const char *const parts[] = { "key", "token", "secret", "passw", "passphrase", "pwd", "auth",
		"credential" };

	for (size_t at = 0; at < name.len; at++)
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			if (strlen(parts[i]) <= name.len - at &&
			    strncasecmp(name.ptr + at, parts[i], strlen(parts[i])) == 0)
				return true;
	return false;
}

static bool
is_name(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '-' || byte == '.';
}

/* NAME=secret, "Name: secret": the length of the secret at this place of the word; 0: there is none. */
static size_t
value_at(const char *word, size_t at)
{
	size_t start = at;
	const char *value = word + at + 1;

	if (word[at] != '=' && word[at] != ':')
		return 0;
	while (start > 0 && is_name(word[start - 1]))
		start--;
	if (strncmp(value, "//", 2) == 0 || !command_names_secret((struct span){ word + start, at - start }))
		return 0;
	if (word[at] == ':')
		return strcspn(value, "'\"");
	if (*value == '\'' || *value == '"')
		return 1 + strcspn(value + 1, (const char[]){ *value, '\0' });
	return strcspn(value, " \t\n&;|'\"");
}

/* https://user:secret@host: the length of what stands before the host; 0: there is none. */
static size_t
user_at(const char *word, size_t at)
{
	size_t len = strncmp(word + at, "//", 2) == 0 ? strcspn(word + at + 2, "/?# \t\n'\"@") : 0;

	return len > 0 && word[at + 2 + len] == '@' ? len : 0;
}

/* The word with "***" in place of its secrets. follows: an option that wants a secret stands before it. */
static void
append_hidden(struct buf *line, const char *word, bool follows)
{
	for (size_t at = 0; word[at] != '\0' && !follows; at++) {
		size_t shown = 1, hidden = value_at(word, at);

		if (hidden == 0 && (hidden = user_at(word, at)) > 0)
			shown = 2;
		buf_append(line, (struct span){ word + at, shown });
		if (hidden > 0)
			buf_append(line, SPAN("***"));
		at += shown - 1 + hidden;
	}
	buf_append(line, follows ? SPAN("***") : SPAN_NONE);
}

/* Whether the word before this one is an option that wants a secret. */
static bool
follows_option(char *const command[], size_t i)
{
	const char *word = i == 0 ? "" : command[i - 1];

	return word[0] == '-' && strpbrk(word, "=:") == NULL && command_names_secret(span_of(word)) &&
	    command[i][0] != '-';
}

void
command_append_word(struct buf *text, char *const command[], size_t i)
{
	append_hidden(text, command[i], follows_option(command, i));
}

/* Whether a shell takes the word as it is. */
static bool
is_plain(struct span word)
{
	for (size_t i = 0; i < word.len; i++)
		if (strchr(" \t\n'\"\\$&;|<>()*?#`~!{}[]", word.ptr[i]) != NULL)
			return false;
	return word.len > 0;
}

/* In single quotes, out of which nothing leads. */
static void
append_in_quotes(struct buf *line, struct span word)
{
	buf_append(line, SPAN("'"));
	for (size_t i = 0; i < word.len; i++)
		buf_append(line, word.ptr[i] == '\'' ? SPAN("'\\''") : span_part(word, i, 1));
	buf_append(line, SPAN("'"));
}

void
command_append_quoted(struct buf *line, struct span word)
{
	if (is_plain(word))
		buf_append(line, word);
	else
		append_in_quotes(line, word);
}

void
command_append(struct buf *line, char *const command[])
{
	struct buf hidden;

	buf_init(&hidden);
	for (size_t i = 0; command[i] != NULL; i++) {
		buf_clear(&hidden);
		command_append_word(&hidden, command, i);
		buf_append(line, i > 0 ? SPAN(" ") : SPAN_NONE);
		if (is_plain(span_of(command[i])))
			buf_append(line, buf_span(&hidden));
		else
			append_in_quotes(line, buf_span(&hidden));
	}
	buf_free(&hidden);
}
