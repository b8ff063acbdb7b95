#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "shell/io.h"
#include "shell/words.h"

struct command {
	const char *name;
	const char *arguments;              /* for the help */
	const char *help;                   /* one line */
	int (*run)(int argc, char *argv[]); /* argv[0] is the name; returns the exit status */
};

static int help(int argc, char *argv[]);
static int version(int argc, char *argv[]);

/* THE TABLE of the commands; the help comes from it. */
static const struct command commands[] = {
	{ "ls", "[PID|NAME]", "every canceld of this user, or the requests of one", ctl_ls },
	{ "cancel", "PID|NAME ID", "cancel a request; with --older or --method, many", ctl_cancel },
	{ "set", "PID|NAME [METHOD[:NAME]=]DURATION", "set a deadline; with --now, for what is in flight too",
	    ctl_steer },
	{ "watch", "[PID|NAME] [FILTER...]", "decisions as they are made", ctl_watch },
	{ "top", "[PID|NAME]", "the requests in flight, refreshed", ctl_top },
	{ "stats", "[PID|NAME]", "what has been counted", ctl_stats },
	{ "metrics", "[--listen [ADDRESS:]PORT]", "the counters for Prometheus", ctl_metrics },
	{ "reload", "PID|NAME", "read the configuration file again", ctl_steer },
	{ "log", "PID|NAME LEVEL", "change how much is logged", ctl_steer },
	{ "wrap", "[CLIENT|FILE|--all] [SERVER...] [-- OPTION...]",
	    "puts canceld before the servers of a client; --list", ctl_wrap },
	{ "unwrap", "CLIENT|FILE|--all [SERVER...]", "takes it out again", ctl_wrap },
	{ "doctor", "[options] [--] COMMAND [argument...]", "tells which promises of its protocol a server keeps",
	    ctl_doctor },
	{ "help", "", "this text", help },
	{ "version", "", "the version", version },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int
help(int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	puts("usage: cancelctl COMMAND [argument...]\n");
	puts("Shows and steers the canceld of this user, and sets it up.\n");
	for (int i = 0; i < COMMANDS; i++)
		printf("  %s%s%s\n        %s\n", commands[i].name, commands[i].arguments[0] != '\0' ? " " : "",
		    commands[i].arguments, commands[i].help);
	puts("\ncancelctl COMMAND --help shows the options of a command.");
	puts("Exit status: 0 done, or yes; 1 not found, or no; 2 wrong usage; 125 failed.");
	return CTL_YES;
}

static int
version(int argc, char *argv[])
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

	/* A socket with the number of a closed stdout would take what is shown. */
	if (descriptor_sanitize() == -1)
		return ctl_failed("/dev/null: %s", strerror(errno));
	/* jansson would lose what it was to build. */
	json_set_alloc_funcs(mem_new, free);
	setlocale(LC_CTYPE, "C.UTF-8");
	if (name[0] == '\0')
		return ctl_usage("which command? see cancelctl help");
	if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
		name = "help";
	if (strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0)
		name = "version";
	nearest.typed = span_of(name);
	for (int i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return ctl_end(commands[i].run(argc - 1, argv + 1));
		nearest_offer(&nearest, commands[i].name);
	}
	return ctl_unknown("command", &nearest, "see cancelctl help");
}
