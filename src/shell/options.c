#include "shell/options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/limits.h"
#include "options_value.h"

#define USAGE "usage: canceld [options] [--] command [arg...]"
#define DURATION "a DURATION is 250ms, 30s, 5m or 2h, 0 or none for none"

enum {
	OPTION_NO_CANCEL = 256, /* above every character */
	OPTION_ANSWER_CANCELLED,
	OPTION_TOOL_ERRORS,
	OPTION_ASK_PROGRESS,
	OPTION_LEGACY,
	OPTION_TERM_AFTER,
	OPTION_KILL_AFTER,
	OPTION_SWEEP,
	OPTION_MAX_MESSAGE,
	OPTION_MAX_INFLIGHT,
	OPTION_STRICT,
	OPTION_LOG_FORMAT,

	MESSAGE_LEAST = 64 << 10,
	INFLIGHT_MOST = 16 << 20,
};

/* Twice of it, and what grows to hold it, still fits into a size_t. */
static const size_t message_most = SIZE_MAX >> 3;

static const struct option table[] = {
	{ "dialect", required_argument, NULL, 'D' },
	{ "timeout", required_argument, NULL, 't' },
	{ "max-time", required_argument, NULL, 'T' },
	{ "grace", required_argument, NULL, 'g' },
	{ "drain", optional_argument, NULL, 'd' },
	{ "no-cancel", no_argument, NULL, OPTION_NO_CANCEL },
	{ "answer-cancelled", no_argument, NULL, OPTION_ANSWER_CANCELLED },
	{ "tool-errors", no_argument, NULL, OPTION_TOOL_ERRORS },
	{ "ask-progress", no_argument, NULL, OPTION_ASK_PROGRESS },
	{ "legacy", no_argument, NULL, OPTION_LEGACY },
	{ "fail-on-timeout", no_argument, NULL, 'e' },
	{ "restart", optional_argument, NULL, 'r' },
	{ "kill-stuck", optional_argument, NULL, 'k' },
	{ "term-after", required_argument, NULL, OPTION_TERM_AFTER },
	{ "kill-after", required_argument, NULL, OPTION_KILL_AFTER },
	{ "sweep", required_argument, NULL, OPTION_SWEEP },
	{ "max-message", required_argument, NULL, OPTION_MAX_MESSAGE },
	{ "max-inflight", required_argument, NULL, OPTION_MAX_INFLIGHT },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ "log", required_argument, NULL, 'l' },
	{ "log-format", required_argument, NULL, OPTION_LOG_FORMAT },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

const struct option *
options_table(void)
{
	return table;
}

static struct span
span_of(const char *string)
{
	return (struct span){ string, strlen(string) };
}

static const char *
option_name(int option)
{
	const struct option *row;

	for (row = table; row->name != NULL; row++)
		if (row->val == option)
			return row->name;
	return NULL;
}

/* One that is no option, nor the beginning of just one. */
static void
refuse_long_option(const char *argument)
{
	const char *name = argument + strlen("--"), *before = ": it could be ";
	size_t len = strcspn(name, "=");
	const struct option *row;

	fprintf(stderr, "canceld: unknown or ambiguous option '%s'", argument);
	for (row = table; row->name != NULL; row++) {
		if (len == 0 || strncmp(row->name, name, len) != 0)
			continue;
		fprintf(stderr, "%s--%s", before, row->name);
		before = ", ";
	}
	fputs("; see canceld --help\n", stderr);
}

/* argument: as getopt_long left it when it did not understand it. */
static int
refuse_option(int option, int found, const char *argument)
{
	const char *name = option_name(found);

	if (option == ':')
		fprintf(stderr, "canceld: --%s wants a value; see canceld --help\n", name);
	else if (name != NULL)
		fprintf(stderr, "canceld: --%s takes no value: '%s'\n", name, argument);
	else if (found != 0)
		fprintf(stderr, "canceld: unknown option -%c; see canceld --help\n", found);
	else
		refuse_long_option(argument);
	return STATUS_FAILED;
}

static bool
set_rule(struct options *options, enum policy_clock clock, struct span value)
{
	struct value_rule rule;

	if (!value_rule(value, &rule))
		return false;
	policy_add(&options->policy, clock, rule.method, rule.name, rule.duration);
	return true;
}

/* A time to wait, where none is no time at all. */
static bool
set_wait(msec_t *wait, struct span value)
{
	if (!value_duration(value, wait))
		return false;
	if (*wait == MSEC_NEVER)
		*wait = 0;
	return true;
}

static bool
set_sweep(struct options *options, struct span value)
{
	options->sweep_group = span_equal(value, SPAN("group"));
	return options->sweep_group || span_equal(value, SPAN("tree"));
}

static bool
set_restart(struct options *options, struct span value)
{
	struct value_restart restart = { options->stateless, options->restarts, options->restarts_within };

	if (!value_restart(value, &restart))
		return false;
	options->stateless = restart.stateless;
	options->restarts = restart.most;
	options->restarts_within = restart.within;
	return true;
}

static bool
set_dialect(struct options *options, struct span value)
{
	options->dialect = dialect_named(value);
	return options->dialect != NULL || span_equal(value, SPAN("auto"));
}

static bool
set_log_format(struct options *options, struct span value)
{
	options->log.json = span_equal(value, SPAN("json"));
	return options->log.json || span_equal(value, SPAN("text"));
}

static bool
set_value(struct options *options, int option, const char *argument)
{
	struct span value = span_of(argument);

	switch (option) {
	case 'D':
		return set_dialect(options, value);
	case 't':
		return set_rule(options, POLICY_IDLE, value);
	case 'T':
		return set_rule(options, POLICY_CAP, value);
	case 'g':
		return set_wait(&options->grace, value);
	case OPTION_TERM_AFTER:
		return set_wait(&options->term_after, value);
	case OPTION_KILL_AFTER:
		return set_wait(&options->kill_after, value);
	case OPTION_SWEEP:
		return set_sweep(options, value);
	case 'r':
		return set_restart(options, value);
	case 'k':
		return value_duration(value, &options->kill_stuck) && options->kill_stuck != MSEC_NEVER;
	case 'd':
		return value_duration(value, &options->drain_for);
	case OPTION_MAX_MESSAGE:
		return value_size(value, MESSAGE_LEAST, message_most, &options->max_message);
	case OPTION_MAX_INFLIGHT:
		return value_count(value, 1, INFLIGHT_MOST, &options->max_inflight);
	case OPTION_LOG_FORMAT:
		return set_log_format(options, value);
	default:
		options->log.file = argument;
		return value.len > 0 && !span_equal(value, SPAN("--"));
	}
}

static const char *
value_wanted(int option)
{
	switch (option) {
	case 't':
	case 'T':
		return "[METHOD[:NAME]=]DURATION; " DURATION;
	case OPTION_MAX_MESSAGE:
		return "a size from 64K on, such as 10M or 1G";
	case OPTION_MAX_INFLIGHT:
		return "a number from 1 to 16777216";
	case 'D':
		return "auto, mcp, acp, lsp, bsp or none";
	case 'r':
		return "stateless or [stateless,]N[/DURATION], such as 5/1m, with N from 1 to 100000; " DURATION;
	case 'k':
		return "a time such as 500ms or 10s";
	case OPTION_SWEEP:
		return "tree or group";
	case OPTION_LOG_FORMAT:
		return "text or json";
	case 'l':
		return "the name of a file (./-- for one of that name)";
	default:
		return "DURATION; " DURATION;
	}
}

static void
allow_restarts(struct options *options)
{
	if (options->restarts > 0)
		return;
	options->restarts = LIMIT_RESTARTS;
	options->restarts_within = TIME_RESTARTS;
}

static void
set_flag(struct options *options, int option)
{
	switch (option) {
	case 'd':
		options->drain = true;
		break;
	case 'k':
		options->kill_stuck = TIME_STUCK;
		allow_restarts(options);
		break;
	case 'r':
		allow_restarts(options);
		break;
	case 'e':
		options->fail_on_timeout = true;
		break;
	case 'q':
		options->log.level = LEVEL_ERROR;
		break;
	case 'v':
		if (options->log.level < LEVEL_TRAFFIC)
			options->log.level++;
		break;
	case OPTION_NO_CANCEL:
		options->no_cancel = true;
		break;
	case OPTION_ANSWER_CANCELLED:
		options->answer_cancelled = true;
		break;
	case OPTION_TOOL_ERRORS:
		options->tool_errors = true;
		break;
	case OPTION_ASK_PROGRESS:
		options->ask_progress = true;
		break;
	case OPTION_LEGACY:
		options->legacy = true;
		break;
	case OPTION_STRICT:
		options->strict = true;
		break;
	default:
		break;
	}
}

static int
print(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
		perror("canceld: stdout");
		return STATUS_FAILED;
	}
	return 0;
}

static int
apply(struct options *options, int option, const char *argument)
{
	if (option == 'h')
		return print(options_help());
	if (option == 'V')
		return print("canceld " CANCELD_VERSION "\n");
	set_flag(options, option);
	if (argument == NULL || set_value(options, option, argument))
		return OPTIONS_RUN;
	fprintf(stderr, "canceld: --%s '%s': want %s\n", option_name(option), argument, value_wanted(option));
	return STATUS_FAILED;
}

static void
set_defaults(struct options *options)
{
	*options = (struct options){
		.grace = MSEC_NEVER,
		.drain_for = MSEC_NEVER,
		.term_after = MSEC_NEVER,
		.kill_after = MSEC_NEVER,
		.max_message = LIMIT_MESSAGE,
		.max_inflight = LIMIT_INFLIGHT,
		.log = { .level = LEVEL_PERSON },
	};
	policy_init(&options->policy);
}

/* What stands behind an option whose value is optional, and could be that. */
static bool
is_value(int option, struct span word)
{
	struct value_restart restart = { 0 };
	msec_t duration;

	if (option != 'd' && option != 'k' && option != 'r')
		return false;
	return value_duration(word, &duration) || (option == 'r' && value_restart(word, &restart));
}

/* behind: the option without a value right before it; 0: none. */
static int
check_command(const struct options *options, int behind)
{
	const char *command = options->command[0];

	if (command == NULL) {
		fputs("canceld: which server is to be run? No command was given\n" USAGE "\n", stderr);
		return STATUS_FAILED;
	}
	if (is_value(behind, span_of(command))) {
		fprintf(stderr, "canceld: '%s' is no command; a value needs an equals sign: --%s=%s\n", command,
		    option_name(behind), command);
		return STATUS_FAILED;
	}
	return OPTIONS_RUN;
}

int
options_parse(struct options *options, int argc, char *argv[])
{
	int option, behind = 0;
	int status = OPTIONS_RUN;

	set_defaults(options);
	opterr = 0;
	optind = 0; /* glibc: start anew, which the tests need */
	/* "+": what follows the command is the command's. */
	while (status == OPTIONS_RUN &&
	    (option = getopt_long(argc, argv, "+:D:t:T:g:d::r::k::el:vqhV", table, NULL)) != -1) {
		if (option == '?' || option == ':')
			status = refuse_option(option, optopt, argv[optind - 1]);
		else
			status = apply(options, option, optarg);
		behind = optarg == NULL ? option : 0;
	}
	if (status != OPTIONS_RUN)
		return status;
	options->command = argv + optind;
	return check_command(options, strcmp(argv[optind - 1], "--") == 0 ? 0 : behind);
}

void
options_free(struct options *options)
{
	policy_free(&options->policy);
}
