/*
 * completions <TEMPLATE >FILE: writes a file that completes command lines in a shell. It runs when canceld is built, and
 * puts the table of the options in the place of the @words@ of src/completions/.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shell/options.h"

enum { LINE_SIZE = 1024 };

static bool
is_file(const struct options_row *row)
{
	return row->kind == OPTION_PATH;
}

static bool
is_choice(const struct options_row *row)
{
	return row->kind == OPTION_CHOICE || row->kind == OPTION_DIALECT || row->kind == OPTION_LEVEL;
}

static bool
is_valued(const struct options_row *row)
{
	return options_argument(row) == required_argument;
}

/* The words of a choice, separated by blanks. */
static void
write_choices(const struct options_row *row)
{
	for (const char *at = row->value; *at != '\0'; at++)
		putchar(*at == '|' ? ' ' : *at);
}

/* The first statement of the help, in single quotes for a shell; special: characters that get a backslash. */
static void
describe(const struct options_row *row, const char *special)
{
	for (const char *text = row->help; *text != '\0' && *text != ';' && strncmp(text, " (", 2) != 0; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr(special, *text) != NULL)
			putchar('\\');
		putchar(*text);
	}
}

static void
write_choice_case(const struct options_row *row)
{
	if (!is_valued(row) || !is_choice(row))
		return;
	if (row->letter != 0)
		printf("-%c | ", row->letter);
	printf("--%s) COMPREPLY=($(compgen -W '", row->name);
	write_choices(row);
	printf("' -- \"$cur\")) ;;\n\t\t");
}

/* What follows the name in a specification of zsh's _arguments. */
static void
write_zsh_rest(const struct options_row *row)
{
	putchar('[');
	describe(row, "[]\\");
	putchar(']');
	if (is_file(row)) {
		printf(":file:_files");
	} else if (is_valued(row) && is_choice(row)) {
		printf(":value:(");
		write_choices(row);
		putchar(')');
	} else if (row->value != NULL) {
		printf("%s", is_valued(row) ? ":value: " : "::value: ");
	}
	fputs("' \\\n\t", stdout);
}

static void
write_zsh_option(const struct options_row *row)
{
	static const char *const after_letter[] = { "", "+", "-" }, *const after_name[] = { "", "=", "=-" };
	char others[80] = "";

	if (row->kind == OPTION_HEADING)
		return;
	if (row->kind == OPTION_IDLE || row->kind == OPTION_CAP || row->name == NULL)
		strcpy(others, "*");
	else if (row->letter != 0)
		snprintf(others, sizeof(others), "(-%c --%s)", row->letter, row->name);
	if (row->letter != 0) {
		printf("'%s-%c%s", others, row->letter, after_letter[options_argument(row)]);
		write_zsh_rest(row);
	}
	if (row->name != NULL) {
		printf("'%s--%s%s", others, row->name, after_name[options_argument(row)]);
		write_zsh_rest(row);
	}
}

static void
write_fish_option(const struct options_row *row)
{
	if (row->kind == OPTION_HEADING)
		return;
	printf("complete -c canceld -n __canceld_has_no_command");
	if (row->letter != 0)
		printf(" -s %c", row->letter);
	if (row->name != NULL)
		printf(" -l %s", row->name);
	if (is_file(row)) {
		printf(" -r -F");
	} else if (is_valued(row) && is_choice(row)) {
		printf(" -x -a '");
		write_choices(row);
		putchar('\'');
	} else if (is_valued(row)) {
		printf(" -x");
	}
	printf(" -d '");
	describe(row, "\\");
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
