#include <locale.h>

#include "core/buf.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "shell/io.h"
#include "shell/words.h"

#define COMMAND_ROW(name, arguments, help, run) { name, arguments, help, run },

static const struct command {
	const char *name, *arguments, *help;
	int (*run)(int argc, char *argv[]);
} commands[] = { COMMANDS(COMMAND_ROW) };

enum { COMMAND_COUNT = COUNT_OF(commands) };

int
ctl_help(int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	puts("usage: cancelctl COMMAND [argument...]\n");
	puts("Shows and steers the canceld of this user, and sets it up.\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		printf("  %s%s%s\n        %s\n", commands[i].name,
		    commands[i].arguments[0] != '\0' ? " " : "", commands[i].arguments,
		    commands[i].help);
	puts("\ncancelctl COMMAND --help shows the options of a command.");
	puts(
	    "Exit status: 0 done, or yes; 1 not found, or no; 2 wrong usage; 125 failed;\ncall has more.");
	return CTL_YES;
}

int
ctl_version(int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	puts("cancelctl " CANCELD_VERSION);
	return CTL_YES;
}

int
main(int argc, char *argv[])
{
	const char *name = argc < 2 ? "" : argv[1];
	struct nearest nearest = { 0 };

	program_name = argc < 1 ? "" : argv[0];
	/* A socket with the number of a closed stdout would take what is shown. */
	if (descriptor_sanitize() == -1)
		return ctl_failed("/dev/null: %s", strerror(errno));
	/* jansson would lose what it was to build. */
	json_set_alloc_funcs(mem_new, free);
	setlocale(LC_CTYPE, "C.UTF-8");
	if (name[0] == '\0')
		return ctl_usage("which command? see cancelctl help");
	if (span_is_any(span_of(name), "-h --help"))
		name = "help";
	if (span_is_any(span_of(name), "-V --version"))
		name = "version";
	nearest.typed = span_of(name);
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return ctl_end(commands[i].run(argc - 1, argv + 1));
		nearest_offer(&nearest, commands[i].name);
	}
	return ctl_unknown("command", &nearest, "see cancelctl help");
}
