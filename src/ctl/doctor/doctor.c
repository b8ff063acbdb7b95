#include <errno.h>
#include <unistd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "ctl/clients.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/doctor.h"
#include "ctl/show.h"
#include "shell/words.h"

enum { TIMEOUT = 10000, START = 60000 }; /* ms */

struct doctor {
	struct checkup checkup;
	struct configured configured; /* of a client, if one was named */
	json_t *arguments;
	const char *junit; /* NULL: none */
	bool chosen;       /* the dialect */
	bool json, trust;
};

static const char help[] =
    "usage: cancelctl doctor [options] [--] COMMAND [argument...]\n"
    "       cancelctl doctor [options] CLIENT SERVER\n"
    "\n"
    "Starts a server through canceld, talks to it as a client does, and tells which promises of its\n"
    "protocol it keeps. It calls only what --call names, to be answered and to be cancelled. CLIENT,\n"
    "such as cursor, names a client whose file says how SERVER is started; it gets the environment\n"
    "that clients give.\n"
    "\n"
    "  --call NAME          the tool to call (MCP), or the method (ACP, LSP); one that takes a second\n"
    "                       or more shows most\n"
    "  --arguments JSON     its arguments, or the params of the method, an object ({})\n"
    "  -D, --dialect NAME   mcp, acp or lsp (what a word of the command tells, such as clangd or\n"
    "                       gemini-acp; else mcp)\n"
    "  --timeout DURATION   the longest wait for one answer (10s)\n"
    "  --start DURATION     the same for the first answer of a session (1m)\n"
    "  --trust              also look for SERVER in the files of the project here\n"
    "  -j, --json           one JSON object\n"
    "  --junit FILE         also write the report to FILE, as JUnit's XML\n"
    "  -v, --verbose        show the server's stderr\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit status: 0 each promise that was tested is kept; 1 one is broken; 2 wrong usage; 125 the\n"
    "server or canceld could not be started, or the report could not be written.\n";

/* Returns -1, or the status to exit with. */
static int
set_time(msec_t *time, const char *option, const char *value)
{
	if (units_read_duration(span_of(value), time) && *time != MSEC_NEVER && *time > 0)
		return -1;
	return ctl_usage("%s '%.100s': it must be a time such as 10s", option, value);
}

static int
set_arguments(struct doctor *doctor, const char *text)
{
	json_error_t error;

	doctor->arguments = json_loads(text, 0, &error);
	if (doctor->arguments == NULL)
		return ctl_usage("--arguments: column %d: %s", error.column, error.text);
	return json_is_object(doctor->arguments) ? -1 : ctl_usage("--arguments: must be a JSON object");
}

static int
read_command_line(struct doctor *doctor, int argc, char *argv[])
{
	struct checkup *checkup = &doctor->checkup;
	const char *arguments = "{}", *dialect = NULL, *timeout = NULL, *start = NULL;
	struct ctl_option options[] = { { "call", 0, NULL, &checkup->call }, { "arguments", 0, NULL, &arguments },
		{ "dialect", 'D', NULL, &dialect }, { "timeout", 0, NULL, &timeout }, { "start", 0, NULL, &start },
		{ "json", 'j', &doctor->json, NULL }, { "junit", 0, NULL, &doctor->junit },
		{ "trust", 0, &doctor->trust, NULL }, { "verbose", 'v', &checkup->loud, NULL }, { 0 } };
	int status = ctl_options(argc, argv, options, true, help);

	if (status < 0)
		status = set_arguments(doctor, arguments);
	if (status < 0 && timeout != NULL)
		status = set_time(&checkup->timeout, "--timeout", timeout);
	if (status < 0 && start != NULL)
		status = set_time(&checkup->start, "--start", start);
	if (status >= 0)
		return status;
	if (checkup->call != NULL && checkup->call[0] == '\0')
		return ctl_usage("--call: which tool or method?");
	if (doctor->junit != NULL && doctor->junit[0] == '\0')
		return ctl_usage("--junit: which file?");
	if (dialect != NULL && !dialogue_named(dialect, &checkup->kind))
		return ctl_usage("--dialect '%.100s': it must be mcp, acp or lsp", dialect);
	if (optind >= argc)
		return ctl_usage("doctor: which command? see cancelctl doctor --help");
	if (checkup->call == NULL && json_object_size(doctor->arguments) > 0)
		return ctl_usage("--arguments needs --call");
	checkup->command = argv + optind;
	/* Behind "--" is always a command. */
	if (argc - optind == 2 && strcmp(argv[optind - 1], "--") != 0 && client_named(argv[optind]) != NULL) {
		if (configured_find(&doctor->configured, argv[optind], argv[optind + 1], doctor->trust) < 0)
			return ctl_no("%s", doctor->configured.fault);
		checkup->command = doctor->configured.command;
	} else if (doctor->trust) {
		return ctl_usage("--trust needs CLIENT SERVER");
	}
	checkup->environment = doctor->configured.environment;
	checkup->directory = doctor->configured.directory;
	checkup->arguments = doctor->arguments;
	if (dialect == NULL)
		checkup->kind = dialogue_guess(checkup->command);
	return -1;
}

static int
write_report(const struct doctor *doctor, const struct verdicts *report)
{
	FILE *file = doctor->junit == NULL ? NULL : fopen(doctor->junit, "we");
	bool bad = doctor->junit != NULL && file == NULL;
	int error = errno;

	if (doctor->json)
		verdicts_print_json(report, stdout);
	else
		verdicts_print(report, stdout, term_colours());
	if (file != NULL) {
		verdicts_print_junit(report, file);
		bad = ferror(file) != 0;
		bad |= fclose(file) != 0;
		error = errno;
	}
	if (bad)
		return ctl_failed("--junit %s: %s", doctor->junit, strerror(error));
	return verdicts_is_broken(report) ? CTL_NO : CTL_YES;
}

static int
examine(const struct doctor *doctor)
{
	char failure[CHECKUP_FAILURE];
	struct verdicts report;
	struct buf command;
	int status, end;

	buf_init(&command);
	command_append(&command, doctor->checkup.command);
	buf_append(&command, (struct span){ "", 1 });
	verdicts_init(&report, buf_span(&command).ptr, doctor->checkup.kind);
	end = checkup_run(&doctor->checkup, &report, failure);
	if (end > 0)
		raise(end);
	status = end < 0 ? ctl_failed("%s", failure) : write_report(doctor, &report);
	buf_free(&command);
	return status;
}

int
ctl_doctor(int argc, char *argv[])
{
	struct doctor doctor = { .checkup = { .timeout = TIMEOUT, .start = START } };
	int status = read_command_line(&doctor, argc, argv);

	/* A server that has ended is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	if (status < 0)
		status = examine(&doctor);
	json_decref(doctor.arguments);
	configured_free(&doctor.configured);
	return status;
}
