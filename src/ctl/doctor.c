#include "ctl/doctor.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "ctl/checkup.h"
#include "ctl/clients.h"
#include "ctl/configured.h"
#include "ctl/ctl.h"
#include "ctl/term.h"
#include "shell/command.h"
#include "shell/units.h"

enum { TIMEOUT = 10000, START = 60000 }; /* ms */

struct doctor {
	struct checkup checkup;
	struct configured configured; /* of a client, if one was named */
	json_t *arguments;
	const char *junit; /* NULL: none */
	bool json;
	bool trust;
};

static const char help[] =
    "usage: cancelctl doctor [options] [--] COMMAND [argument...]\n"
    "       cancelctl doctor [options] CLIENT SERVER\n"
    "\n"
    "Starts a server through canceld, talks to it as a client does, and tells which promises of its\n"
    "protocol it keeps. It calls only what --call names: up to three times, to answer, to be cancelled\n"
    "and to time out. CLIENT, such as cursor, names a client whose file says how SERVER is started;\n"
    "it gets the environment that clients give.\n"
    "\n"
    "  --call NAME          the tool to call (MCP), or the method (ACP, LSP); one that takes a second\n"
    "                       or more shows most\n"
    "  --arguments JSON     its arguments, or the params of the method, an object ({})\n"
    "  -D, --dialect NAME   mcp, acp or lsp (what a word of the command tells, such as clangd or\n"
    "                       gemini-acp; else mcp)\n"
    "  --timeout DURATION   the longest wait for one answer (10s)\n"
    "  --start DURATION     the same for the first answer of a session (1m)\n"
    "  --max-memory SIZE    the most that the server's processes may have had in memory, such as 200M\n"
    "  --trust              also look for SERVER in the files of the project here\n"
    "  -j, --json           one JSON object\n"
    "  --junit FILE         also write the report to FILE, as JUnit's XML\n"
    "  -v, --verbose        show the server's stderr\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit status: 0 each promise that was tested is kept; 1 one is broken; 2 wrong usage; 125 the\n"
    "server or canceld could not be started, or the report could not be written.\n";

enum option_value { CALL = 256, ARGUMENTS, TIME, START_TIME, MEMORY, JUNIT, TRUST };

static const struct option options[] = {
	{ "call", required_argument, NULL, CALL },
	{ "arguments", required_argument, NULL, ARGUMENTS },
	{ "dialect", required_argument, NULL, 'D' },
	{ "timeout", required_argument, NULL, TIME },
	{ "start", required_argument, NULL, START_TIME },
	{ "max-memory", required_argument, NULL, MEMORY },
	{ "json", no_argument, NULL, 'j' },
	{ "junit", required_argument, NULL, JUNIT },
	{ "trust", no_argument, NULL, TRUST },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* A time that has an end. */
static bool
read_time(const char *text, msec_t *time)
{
	return units_read_duration(span_of(text), time) && *time != MSEC_NEVER && *time > 0;
}

/* Returns -1, or the status to exit with. */
static int
set_arguments(struct doctor *doctor, const char *text)
{
	json_error_t error;

	json_decref(doctor->arguments);
	doctor->arguments = json_loads(text, 0, &error);
	if (doctor->arguments == NULL)
		return ctl_usage("--arguments: column %d: %s", error.column, error.text);
	return json_is_object(doctor->arguments) ? -1 : ctl_usage("--arguments: must be a JSON object");
}

/* Returns -1, or the status to exit with. */
static int
set_option(struct doctor *doctor, char *argv[], int option, const char *value)
{
	struct checkup *checkup = &doctor->checkup;

	switch (option) {
	case CALL:
		checkup->call = value;
		return value[0] != '\0' ? -1 : ctl_usage("--call: which tool or method?");
	case ARGUMENTS:
		return set_arguments(doctor, value);
	case 'D':
		return dialogue_named(value, &checkup->kind) ?
		    -1 :
		    ctl_usage("--dialect '%.100s': it must be mcp, acp or lsp", value);
	case TIME:
		return read_time(value, &checkup->timeout) ?
		    -1 :
		    ctl_usage("--timeout '%.100s': it must be a time such as 10s", value);
	case START_TIME:
		return read_time(value, &checkup->start) ?
		    -1 :
		    ctl_usage("--start '%.100s': it must be a time such as 1m", value);
	case MEMORY:
		return units_read_size(span_of(value), 1, SIZE_MAX >> 1, &checkup->max_memory) ?
		    -1 :
		    ctl_usage("--max-memory '%.100s': it must be a size such as 200M", value);
	case 'j':
		doctor->json = true;
		return -1;
	case JUNIT:
		doctor->junit = value;
		return value[0] != '\0' ? -1 : ctl_usage("--junit: which file?");
	case TRUST:
		doctor->trust = true;
		return -1;
	case 'v':
		checkup->loud = true;
		return -1;
	case 'h':
		return ctl_help(help);
	default:
		return ctl_option(argv, option);
	}
}

/* Returns -1, or the status to exit with. */
static int
read_command_line(struct doctor *doctor, int argc, char *argv[])
{
	bool chosen = false;
	int option, status = -1;

	optind = 0;
	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, "+:D:jvh", options, NULL)) != -1) {
		chosen |= option == 'D';
		status = set_option(doctor, argv, option, optarg == NULL ? "" : optarg);
	}
	if (status >= 0)
		return status;
	if (optind >= argc)
		return ctl_usage("doctor: which command? see cancelctl doctor --help");
	if (doctor->checkup.call == NULL && json_object_size(doctor->arguments) > 0)
		return ctl_usage("--arguments needs --call");
	/* Behind "--" is always a command. */
	if (argc - optind == 2 && strcmp(argv[optind - 1], "--") != 0 && client_named(argv[optind]) != NULL) {
		if (configured_find(&doctor->configured, argv[optind], argv[optind + 1], doctor->trust) < 0)
			return ctl_no("%s", doctor->configured.fault);
	} else if (doctor->trust) {
		return ctl_usage("--trust needs CLIENT SERVER");
	}
	doctor->checkup.command = doctor->configured.command != NULL ? doctor->configured.command : argv + optind;
	doctor->checkup.environment = doctor->configured.environment;
	doctor->checkup.directory = doctor->configured.directory;
	doctor->checkup.arguments = doctor->arguments;
	if (!chosen)
		doctor->checkup.kind = dialogue_guess(doctor->checkup.command);
	return -1;
}

static int
write_junit(const struct verdicts *verdicts, const char *path)
{
	FILE *file = fopen(path, "we");
	bool bad = file == NULL;

	if (file != NULL) {
		verdict_print_junit(verdicts, file);
		bad = ferror(file) != 0;
		bad |= fclose(file) != 0;
	}
	return bad ? ctl_failed("--junit %s: %s", path, strerror(errno)) : CTL_YES;
}

static int
report(const struct doctor *doctor, const struct verdicts *verdicts)
{
	bool colour = term_colours();
	int status = verdict_is_broken(verdicts) ? CTL_NO : CTL_YES;

	if (doctor->json)
		verdict_print_json(verdicts, stdout);
	else
		verdict_print(verdicts, stdout, colour);
	if (doctor->junit != NULL && write_junit(verdicts, doctor->junit) != CTL_YES)
		status = CTL_FAILED;
	return status;
}

static int
examine(const struct doctor *doctor)
{
	char failure[CHECKUP_FAILURE];
	struct verdicts verdicts;
	struct buf command;
	int status = CTL_FAILED, interrupted = 0;

	buf_init(&command);
	command_append(&command, doctor->checkup.command);
	buf_append(&command, (struct span){ "", 1 });
	verdict_init(&verdicts, buf_span(&command).ptr, dialogue_name(doctor->checkup.kind), (int)doctor->checkup.kind);
	switch (checkup_run(&doctor->checkup, &verdicts, failure, &interrupted)) {
	case CHECKUP_DONE:
		status = report(doctor, &verdicts);
		break;
	case CHECKUP_FAILED:
		status = ctl_failed("%s", failure);
		break;
	case CHECKUP_INTERRUPTED:
		buf_free(&command);
		signal(interrupted, SIG_DFL);
		raise(interrupted);
		return CTL_FAILED;
	}
	buf_free(&command);
	return status;
}

int
ctl_doctor(int argc, char *argv[])
{
	struct doctor doctor = { .checkup = { .timeout = TIMEOUT, .start = START }, .arguments = json_object() };
	int status = read_command_line(&doctor, argc, argv);

	/* A server that has ended is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	if (status < 0)
		status = examine(&doctor);
	json_decref(doctor.arguments);
	configured_free(&doctor.configured);
	return status;
}
