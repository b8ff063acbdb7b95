#include <locale.h>

#include "core/buf.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "shell/io.h"
#include "shell/words.h"

#define COMMAND_ROW(name, arguments, help, run) { name, arguments, help, run },

static const struct command {
	const char *name, *arguments, *help;
	int (*run)(int argc, char *argv[]);
} commands[] = { COMMANDS(COMMAND_ROW) };

int
ctl_help(int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	puts("usage: cancelctl COMMAND [argument...]\n\n"
	     "Shows and steers the canceld of this user, and sets it up.\n");
	each_of (it, commands)
		printf("  %s%s%s\n        %s\n", it->name, it->arguments[0] != '\0' ? " " : "",
		    it->arguments, it->help);
	puts(
	    "\ncancelctl COMMAND --help shows the options of a command.\n"
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

/* Nothing more is shown of what was to be shown. */
static void
on_exhausted(void)
{
	term_leave();
	fputs("cancelctl: out of memory\n", stderr);
	_exit(CTL_FAILED);
}

int
main(int argc, char *argv[])
{
	const char *name = argc < 2 ? "" : argv[1];
	struct nearest nearest = { .typed = span_of(name) };

	program_name = argc < 1 ? "" : argv[0];
	/* A socket with the number of a closed stdout would take what is shown. */
	if (descriptor_sanitize() == -1)
		return ctl_failed("/dev/null: %s", strerror(errno));
	/* jansson would lose what it was to build. */
	mem_exhausted = on_exhausted;
	json_set_alloc_funcs(mem_new, free);
	setlocale(LC_CTYPE, "C.UTF-8");
	if (name[0] == '\0')
		return ctl_usage("which command? see cancelctl help");
	if (span_is_any(nearest.typed, "-h --help"))
		name = "help";
	if (span_is_any(nearest.typed, "-V --version"))
		name = "version";
	each_of (it, commands) {
		if (text_is(it->name, name))
			return ctl_end(it->run(argc - 1, argv + 1));
		nearest_offer(&nearest, it->name);
	}
	return ctl_unknown("command", &nearest, "see cancelctl help");
}
