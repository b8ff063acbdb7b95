/*
 * completions <TEMPLATE >FILE: writes a file that completes command lines in a shell. It runs when canceld is built, and
 * puts the table of the options in the place of the @words@ of src/completions/.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shell/options.h"

enum { LINE_SIZE = 1024, DESCRIPTION_SIZE = 256 };

static bool
is_file(const struct options_row *row)
{
	return row->shown != NULL && (strcmp(row->shown, " FILE") == 0 || strcmp(row->shown, " PATH") == 0);
}

/* Whether the row wants one of some words, "text or json": then writes them, separated by blanks. */
static bool
list_choices(const struct options_row *row, char choices[DESCRIPTION_SIZE])
{
	const char *at = row->wanted;
	bool more = false;

	choices[0] = '\0';
	while (at != NULL && *at != '\0') {
		size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz"), used = strlen(choices);

		if (len == 0)
			return false;
		snprintf(choices + used, DESCRIPTION_SIZE - used, "%s%.*s", used > 0 ? " " : "", (int)len, at);
		at += len;
		more |= *at != '\0';
		if (strncmp(at, ", ", 2) == 0)
			at += 2;
		else if (strncmp(at, " or ", 4) == 0)
			at += 4;
		else if (*at != '\0')
			return false;
	}
	return more;
}

/* The first statement of the help, as one line. */
static void
describe(const struct options_row *row, char text[DESCRIPTION_SIZE])
{
	char *end;

	snprintf(text, DESCRIPTION_SIZE, "%s", row->help);
	for (end = text; *end != '\0' && *end != ';' && strncmp(end, "\n(", 2) != 0 && strncmp(end, " (", 2) != 0;
	     end++)
		if (*end == '\n')
			*end = ' ';
	*end = '\0';
}

/* In single quotes for a shell; special: characters that get a backslash. */
static void
quote(const char *text, const char *special)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr(special, *text) != NULL)
			putchar('\\');
		putchar(*text);
	}
}

static bool
is_valued(const struct options_row *row)
{
	return row->argument == required_argument;
}

static void
write_choice_case(const struct options_row *row)
{
	char choices[DESCRIPTION_SIZE];

	if (!list_choices(row, choices))
		return;
	if (row->letter != 0)
		printf("-%c | ", row->letter);
	printf("--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n\t\t", row->name, choices);
}

/* What follows the name in a specification of zsh's _arguments. */
static void
write_zsh_rest(const struct options_row *row)
{
	char text[DESCRIPTION_SIZE], choices[DESCRIPTION_SIZE];

	describe(row, text);
	putchar('[');
	quote(text, "[]\\");
	putchar(']');
	if (row->argument == optional_argument)
		printf("::value: ");
	else if (is_file(row))
		printf(":file:_files");
	else if (list_choices(row, choices))
		printf(":value:(%s)", choices);
	else if (row->argument == required_argument)
		printf(":value: ");
	fputs("' \\\n\t", stdout);
}

static void
write_zsh_option(const struct options_row *row)
{
	static const char *const after_letter[] = { "", "+", "-" }, *const after_name[] = { "", "=", "=-" };
	char others[80] = "*";

	if (row->name != NULL && row->key != KEY_RULES && row->letter != 0)
		snprintf(others, sizeof(others), "(-%c --%s)", row->letter, row->name);
	else if (row->name != NULL && row->key != KEY_RULES)
		others[0] = '\0';
	if (row->letter != 0) {
		printf("'%s-%c%s", others, row->letter, after_letter[row->argument]);
		write_zsh_rest(row);
	}
	if (row->name != NULL) {
		printf("'%s--%s%s", others, row->name, after_name[row->argument]);
		write_zsh_rest(row);
	}
}

static void
write_fish_option(const struct options_row *row)
{
	char text[DESCRIPTION_SIZE], choices[DESCRIPTION_SIZE];

	printf("complete -c canceld -n __canceld_has_no_command");
	if (row->letter != 0)
		printf(" -s %c", row->letter);
	if (row->name != NULL)
		printf(" -l %s", row->name);
	if (is_file(row))
		printf(" -r -F");
	else if (list_choices(row, choices))
		printf(" -x -a '%s'", choices);
	else if (row->argument == required_argument)
		printf(" -x");
	describe(row, text);
	printf(" -d '");
	quote(text, "\\");
	puts("'");
}

/* What takes the place of a word: each row, or the spellings of those that are wanted (NULL: all) with a separator. */
static const struct place {
	const char *word;
	void (*write)(const struct options_row *row);
	bool (*wanted)(const struct options_row *row);
	const char *separator;
} places[] = {
	{ "@words@", NULL, NULL, " " },
	{ "@valued_words@", NULL, is_valued, " " },
	{ "@valued_cases@", NULL, is_valued, " | " },
	{ "@file_cases@", NULL, is_file, " | " },
	{ "@choice_cases@", write_choice_case, NULL, NULL },
	{ "@zsh_options@", write_zsh_option, NULL, NULL },
	{ "@fish_options@", write_fish_option, NULL, NULL },
};

static void
fill(const struct place *place)
{
	const char *before = "";

	for (const struct options_row *row = options_rows; row->help != NULL; row++) {
		if (place->write != NULL)
			place->write(row);
		if (place->write != NULL || (place->wanted != NULL && !place->wanted(row)))
			continue;
		if (row->letter != 0)
			printf("%s-%c", before, row->letter);
		before = row->letter != 0 ? place->separator : before;
		if (row->name != NULL)
			printf("%s--%s", before, row->name);
		before = place->separator;
	}
}

static const struct place *
find_place(const char *at)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strncmp(at, places[i].word, strlen(places[i].word)) == 0)
			return &places[i];
	return NULL;
}

int
main(void)
{
	char line[LINE_SIZE];
	const struct place *place;

	while (fgets(line, sizeof(line), stdin) != NULL)
		for (const char *at = line; *at != '\0'; at++) {
			place = *at == '@' ? find_place(at) : NULL;
			if (place == NULL) {
				putchar(*at);
				continue;
			}
			fill(place);
			at += strlen(place->word) - 1;
		}
	return ferror(stdin) || fflush(stdout) != 0 ? STATUS_FAILED : 0;
}
