#include "shell/options.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/limits.h"

#define USAGE "usage: canceld [options] [--] command [arg...]"

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

	HOURS_MAX = 100000, /* of a duration */
	RESTARTS_MAX = 100000,
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

/* The options that set a bool, alone or along with a value. */
static const struct {
	int option;
	size_t offset; /* within struct options */
} flags[] = {
	{ 'd', offsetof(struct options, drain) },
	{ 'e', offsetof(struct options, fail_on_timeout) },
	{ OPTION_NO_CANCEL, offsetof(struct options, no_cancel) },
	{ OPTION_ANSWER_CANCELLED, offsetof(struct options, answer_cancelled) },
	{ OPTION_TOOL_ERRORS, offsetof(struct options, tool_errors) },
	{ OPTION_ASK_PROGRESS, offsetof(struct options, ask_progress) },
	{ OPTION_LEGACY, offsetof(struct options, legacy) },
	{ OPTION_STRICT, offsetof(struct options, strict) },
};

static const char help[] =
    "usage: canceld [options] [--] command [arg...]\n"
    "\n"
    "Runs command, a JSON-RPC server on stdin and stdout (MCP, ACP, LSP, BSP), and stands between it\n"
    "and its client: every request is answered in bounded time, and the server hears when nobody waits\n"
    "for an answer any more.\n"
    "\n"
    "  -D, --dialect DIALECT                    auto, mcp, acp, lsp, bsp, or none, which has no\n"
    "                                           cancel (auto: what the client's first bytes show)\n"
    "\n"
    "Deadlines:\n"
    "  -t, --timeout [METHOD[:NAME]=]DURATION   how long a request may go without progress\n"
    "                                           (5m; tools/call 30m); repeatable\n"
    "  -T, --max-time [METHOD[:NAME]=]DURATION  how long it may take at all (24h); repeatable\n"
    "  -g, --grace DURATION                     for what is on its way already, and for answers\n"
    "                                           that a cancelled request is still owed (5s; 30s for\n"
    "                                           session/prompt)\n"
    "  NAME is the tool, prompt or resource. The most specific rule wins. DURATION is 250ms, 30s,\n"
    "  5m or 2h; 0 or none is none.\n"
    "\n"
    "Cancels and answers:\n"
    "      --no-cancel          write no cancels to the server, not even the client's\n"
    "      --answer-cancelled   answer what the client itself has cancelled with an error, if the\n"
    "                           server does not within the grace\n"
    "      --tool-errors        a tools/call that timed out gets a result with isError, which the\n"
    "                           model sees, instead of an error\n"
    "      --ask-progress       ask for progress in the client's stead: a slow tool that reports some is\n"
    "                           told from one that hangs\n"
    "      --legacy             answer server/discover without the server: old ones exit on it\n"
    "\n"
    "The end:\n"
    "  -d, --drain[=DURATION]   at end of file on stdin wait for what is outstanding; so does a\n"
    "                           regular file on stdin\n"
    "  -e, --fail-on-timeout    exit with 124 instead of 0 if a request timed out\n"
    "      --term-after DURATION  from the end of the server's stdin to SIGTERM (700ms; 100ms after a\n"
    "                           signal, or if it is stuck)\n"
    "      --kill-after DURATION  from there to SIGKILL (450ms; 250ms likewise)\n"
    "      --sweep WHAT         what is ended when the server has ended: tree, all that it started,\n"
    "                           or group, which spares what left its process group (tree)\n"
    "\n"
    "A server that fails:\n"
    "  -r, --restart[=stateless | =[stateless,]N[/DURATION]]\n"
    "                           start it again when it crashes in an open session, at most N times\n"
    "                           in DURATION, or in all (5/1m); agents (ACP) and language servers,\n"
    "                           whose sessions cannot be replayed, only if stateless\n"
    "  -k, --kill-stuck[=DURATION]\n"
    "                           after a cancel ask it whether it is alive; if it does not answer\n"
    "                           within DURATION (10s), end it; implies -r. The session of an agent or\n"
    "                           a language server is over then, unless -r says stateless\n"
    "\n"
    "Limits:\n"
    "      --max-message SIZE   longest message that is kept in memory (256M); a longer one\n"
    "                           passes in parts, or is refused if it cannot; 64K, 10M, 1G\n"
    "      --max-inflight N     requests outstanding in one direction (65536)\n"
    "      --strict             hold every message whole until it is checked to its end\n"
    "\n"
    "The log:\n"
    "  -l, --log FILE           append to FILE instead of writing to stderr\n"
    "      --log-format FORMAT  text or json\n"
    "  -v                       say more: each decision; -vv: each message, without its contents\n"
    "  -q                       say less: only what canceld fails at\n"
    "\n"
    "A value that may be left out follows without a blank: -r5/1m, --restart=5/1m.\n"
    "\n"
    "  -h, --help               this text\n"
    "  -V, --version            the version\n"
    "\n"
    "Exit status: the server's own, with -r the last one's; 128 + n if signal n ended it or\n"
    "canceld; 0 if canceld ended the server when the client had gone; 124 see -e; 125 canceld\n"
    "itself failed; 126 command cannot be executed; 127 command not found.\n";

const struct option *
options_table(void)
{
	return table;
}

const char *
options_help(void)
{
	return help;
}

/* Takes the digits off the front of text. */
static bool
take_number(struct span *text, uint64_t most, uint64_t *number)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9'; i++) {
		uint64_t digit = (uint64_t)(text->ptr[i] - '0');

		if (value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (i == 0 || value > most)
		return false;
	*text = span_part(*text, i, text->len - i);
	*number = value;
	return true;
}

/* 250ms, 30s, 5m, 2h, at most HOURS_MAX; 0 and none are MSEC_NEVER. */
static bool
read_duration(struct span text, msec_t *duration)
{
	static const struct {
		struct span unit;
		uint64_t msec;
	} units[] = { { { "ms", 2 }, 1 }, { { "s", 1 }, 1000 }, { { "m", 1 }, 60 * 1000 },
		{ { "h", 1 }, 60 * 60 * 1000 } };
	const uint64_t most = (uint64_t)HOURS_MAX * 60 * 60 * 1000;
	uint64_t number;
	size_t i;

	if (span_equal(text, SPAN("none")) || span_equal(text, SPAN("0"))) {
		*duration = MSEC_NEVER;
		return true;
	}
	if (!take_number(&text, most, &number))
		return false;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!span_equal(text, units[i].unit) || number > most / units[i].msec)
			continue;
		*duration = number == 0 ? MSEC_NEVER : (msec_t)(number * units[i].msec);
		return true;
	}
	return false;
}

/* Bytes, or K, M, G for 1024 and its powers. */
static bool
read_size(struct span text, size_t least, size_t most, size_t *size)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t number;
	unsigned shift = 0;

	if (!take_number(&text, most, &number))
		return false;
	if (text.len > 0) {
		unit = text.len == 1 ? memchr(units, text.ptr[0], sizeof(units) - 1) : NULL;
		if (unit == NULL)
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (number > most >> shift || number << shift < least)
		return false;
	*size = (size_t)(number << shift);
	return true;
}

static bool
read_count(struct span text, size_t least, size_t most, size_t *count)
{
	uint64_t number;

	if (!take_number(&text, most, &number) || text.len > 0 || number < least)
		return false;
	*count = (size_t)number;
	return true;
}

/* N[/DURATION] */
static bool
read_restarts(struct span text, struct options *options)
{
	const char *slash = text.len == 0 ? NULL : memchr(text.ptr, '/', text.len);
	size_t len = slash == NULL ? text.len : (size_t)(slash - text.ptr);

	options->restarts_within = MSEC_NEVER;
	if (!read_count(span_part(text, 0, len), 1, RESTARTS_MAX, &options->restarts))
		return false;
	return slash == NULL || read_duration(span_part(text, len + 1, text.len - len - 1), &options->restarts_within);
}

/* stateless, or [stateless,]N[/DURATION]; what is not named stays as it is. */
static bool
set_restart(struct options *options, struct span text)
{
	struct span stateless = SPAN("stateless");

	if (text.len >= stateless.len && span_equal(span_part(text, 0, stateless.len), stateless)) {
		options->stateless = true;
		text = span_part(text, stateless.len, text.len - stateless.len);
		if (text.len == 0)
			return true;
		if (text.ptr[0] != ',')
			return false;
		text = span_part(text, 1, text.len - 1);
	}
	return read_restarts(text, options);
}

/* [METHOD[:NAME]=]DURATION, split at the first ':' and the last '=': a NAME may be a URI. */
static bool
set_rule(struct options *options, enum policy_clock clock, struct span text)
{
	const char *equals = text.len == 0 ? NULL : memrchr(text.ptr, '=', text.len);
	size_t target = equals == NULL ? 0 : (size_t)(equals - text.ptr);
	struct span method = span_part(text, 0, target), name = { NULL, 0 };
	const char *colon = target == 0 ? NULL : memchr(text.ptr, ':', target);
	msec_t duration;

	if (equals != NULL)
		text = span_part(text, target + 1, text.len - target - 1);
	if (colon != NULL) {
		method.len = (size_t)(colon - method.ptr);
		name = (struct span){ colon + 1, target - method.len - 1 };
	}
	if ((equals != NULL && method.len == 0) || (colon != NULL && name.len == 0) || !read_duration(text, &duration))
		return false;
	policy_add(&options->policy, clock, method, name, duration);
	return true;
}

/* A time to wait, where none is no time at all. */
static bool
set_wait(msec_t *wait, struct span value)
{
	if (!read_duration(value, wait))
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

static const char duration_wanted[] = "DURATION; a DURATION is 250ms, 30s, 5m or 2h, 0 or none for none";
static const char rule_wanted[] = "[METHOD[:NAME]=]DURATION; a DURATION is 250ms, 30s, 5m or 2h, 0 or none for none";

/* NULL, or what would be right. */
static const char *
set_value(struct options *options, int option, const char *argument)
{
	struct span value = span_of(argument);

	switch (option) {
	case 'D':
		return set_dialect(options, value) ? NULL : "auto, mcp, acp, lsp, bsp or none";
	case 't':
		return set_rule(options, POLICY_IDLE, value) ? NULL : rule_wanted;
	case 'T':
		return set_rule(options, POLICY_CAP, value) ? NULL : rule_wanted;
	case 'g':
		return set_wait(&options->grace, value) ? NULL : duration_wanted;
	case OPTION_TERM_AFTER:
		return set_wait(&options->term_after, value) ? NULL : duration_wanted;
	case OPTION_KILL_AFTER:
		return set_wait(&options->kill_after, value) ? NULL : duration_wanted;
	case 'd':
		return read_duration(value, &options->drain_for) ? NULL : duration_wanted;
	case OPTION_SWEEP:
		return set_sweep(options, value) ? NULL : "tree or group";
	case 'r':
		return set_restart(options, value) ?
		    NULL :
		    "stateless or [stateless,]N[/DURATION], such as 5/1m, with N from 1 to 100000; "
		    "a DURATION is 250ms, 30s, 5m or 2h, 0 or none for none";
	case 'k':
		return read_duration(value, &options->kill_stuck) && options->kill_stuck != MSEC_NEVER ?
		    NULL :
		    "a time such as 500ms or 10s";
	case OPTION_MAX_MESSAGE:
		return read_size(value, MESSAGE_LEAST, message_most, &options->max_message) ?
		    NULL :
		    "a size from 64K on, such as 10M or 1G";
	case OPTION_MAX_INFLIGHT:
		return read_count(value, 1, INFLIGHT_MOST, &options->max_inflight) ? NULL :
										     "a number from 1 to 16777216";
	case OPTION_LOG_FORMAT:
		return set_log_format(options, value) ? NULL : "text or json";
	default:
		options->log.file = argument;
		return value.len > 0 && !span_equal(value, SPAN("--")) ?
		    NULL :
		    "the name of a file (./-- for one of that name)";
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

/* What an option means by itself, before its value is read. */
static void
set_flag(struct options *options, int option)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].option == option)
			*(bool *)((char *)options + flags[i].offset) = true;
	if (option == 'k')
		options->kill_stuck = TIME_STUCK;
	if (option == 'k' || option == 'r')
		allow_restarts(options);
	if (option == 'q')
		options->log.level = LEVEL_ERROR;
	if (option == 'v' && options->log.level < LEVEL_TRAFFIC)
		options->log.level++;
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
	const char *wanted;

	if (option == 'h')
		return print(help);
	if (option == 'V')
		return print("canceld " CANCELD_VERSION "\n");
	set_flag(options, option);
	wanted = argument == NULL ? NULL : set_value(options, option, argument);
	if (wanted == NULL)
		return OPTIONS_RUN;
	fprintf(stderr, "canceld: --%s '%s': want %s\n", option_name(option), argument, wanted);
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
	struct options scratch = { 0 };
	msec_t duration;

	if (option != 'd' && option != 'k' && option != 'r')
		return false;
	return read_duration(word, &duration) || (option == 'r' && set_restart(&scratch, word));
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
