#include "shell/words.h"

#include <ctype.h>
#include <string.h>

enum { FLAG_MOST = 32 }; /* characters of a long flag */

/* How many of the first characters of the word are letters, digits, or others that a name may have. */
static size_t
name_length(const char *word, const char *others)
{
	size_t len = 0;

	while (isalnum((unsigned char)word[len]) || (word[len] != '\0' && strchr(others, word[len]) != NULL))
		len++;
	return len;
}

/* -y, --, --port, --port=8080: how much of the word is a flag without its value; 0: it is none. */
static size_t
flag_length(const char *word)
{
	size_t len = 2;

	if (word[0] == '-' && isalpha((unsigned char)word[1]) && word[2] == '\0')
		return len;
	if (strncmp(word, "--", len) != 0)
		return 0;
	while (islower((unsigned char)word[len]) || isdigit((unsigned char)word[len]) || word[len] == '-')
		len++;
	return len <= 2 + FLAG_MOST && (word[len] == '\0' || word[len] == '=') ? len : 0;
}

/* @scope/name of @scope/name@1.0, index.js of /srv/name/index.js; empty if the word names something else. */
static struct span
find_part(const char *word, const char *name)
{
	const char *slash = strrchr(word, '/'), *base = slash != NULL ? slash + 1 : word, *part;
	size_t len = name_length(base, "._+-"), name_len = strlen(name);
	struct span shown = { base, len };

	if (word[0] == '@' && slash != NULL && word + 1 + name_length(word + 1, "._+-") == slash)
		shown = (struct span){ word, (size_t)(base - word) + len };
	if (len >= name_len && strncmp(base, name, name_len) == 0 && (len == name_len || base[name_len] == '.'))
		return shown;
	for (part = word; part < base; part = strchr(part, '/') + 1)
		if (strncmp(part, name, name_len) == 0 && part[name_len] == '/' && word[strlen(word) - 1] != '/')
			return shown;
	return SPAN_NONE;
}

/* The word that names the server's package or script, and what of it does; 0: there is none. */
static size_t
find_named(char *const command[], struct span *part)
{
	char name[NAME_SIZE];

	name_of_command(command, name);
	for (size_t i = 1; command[i] != NULL; i++) {
		*part = command[i][0] != '-' ? find_part(command[i], name) : SPAN_NONE;
		if (part->len > 0)
			return i;
	}
	return 0;
}

void
command_append_word(struct buf *text, char *const command[], size_t i)
{
	const char *word = command[i];
	size_t flag = flag_length(word);
	struct span part;

	if (i == 0 && word[name_length(word, "._+-@/")] == '\0') {
		buf_append(text, span_of(word));
	} else if (flag > 0) {
		buf_append(text, (struct span){ word, flag });
		buf_append(text, word[flag] == '=' ? SPAN("=*") : SPAN_NONE);
	} else if (i > 0 && find_named(command, &part) == i) {
		buf_append(text, part);
	} else {
		buf_append(text, SPAN("*"));
	}
}

void
command_append(struct buf *line, char *const command[])
{
	for (size_t i = 0; command[i] != NULL; i++) {
		buf_append(line, i > 0 ? SPAN(" ") : SPAN_NONE);
		command_append_word(line, command, i);
	}
}
