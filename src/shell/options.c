#include "shell/options.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/limits.h"

#define USAGE "usage: canceld [options] [--] command [arg...]"
#define DURATION "DURATION; a DURATION is 250ms, 30s, 5m or 2h, 0 or none for none"

enum {
	HOURS_MAX = 100000, /* of a duration */
	RESTARTS_MAX = 100000,
	MESSAGE_LEAST = 64 << 10,
	INFLIGHT_MOST = 16 << 20,
};

/* Twice this size, and a buffer that grows to contain it, still fits into a size_t. */
static const size_t message_most = SIZE_MAX >> 3;

enum kind {
	DIALECT,
	IDLE,
	CAP,
	WAIT,
	DRAIN,
	FLAG,
	RESTART,
	STUCK,
	SWEEP,
	SIZE,
	COUNT,
	LOG_FILE,
	LOG_FORMAT,
	LOUDER,
	QUIET,
	HELP,
	VERSION,
};

static const struct row {
	int letter; /* 0: the option has a name only */
	const char *name;
	int argument; /* as in struct option */
	enum kind kind;
	size_t at; /* FLAG, WAIT, SIZE, COUNT: what is set, in struct options */
	const char *wanted;
} rows[] = {
	{ 'D', "dialect", required_argument, DIALECT, 0, "auto, mcp, acp, lsp, bsp or none" },
	{ 't', "timeout", required_argument, IDLE, 0, "[METHOD[:NAME]=]" DURATION },
	{ 'T', "max-time", required_argument, CAP, 0, "[METHOD[:NAME]=]" DURATION },
	{ 'g', "grace", required_argument, WAIT, offsetof(struct options, grace), DURATION },
	{ 'd', "drain", optional_argument, DRAIN, 0, DURATION },
	{ 0, "no-cancel", no_argument, FLAG, offsetof(struct options, no_cancel), NULL },
	{ 0, "answer-cancelled", no_argument, FLAG, offsetof(struct options, answer_cancelled), NULL },
	{ 0, "tool-errors", no_argument, FLAG, offsetof(struct options, tool_errors), NULL },
	{ 0, "ask-progress", no_argument, FLAG, offsetof(struct options, ask_progress), NULL },
	{ 0, "legacy", no_argument, FLAG, offsetof(struct options, legacy), NULL },
	{ 'e', "fail-on-timeout", no_argument, FLAG, offsetof(struct options, fail_on_timeout), NULL },
	{ 'r', "restart", optional_argument, RESTART, 0,
	    "stateless or [stateless,]N[/DURATION], such as 5/1m, with N from 1 to 100000; " DURATION },
	{ 'k', "kill-stuck", optional_argument, STUCK, 0, "a time such as 500ms or 10s" },
	{ 0, "term-after", required_argument, WAIT, offsetof(struct options, term_after), DURATION },
	{ 0, "kill-after", required_argument, WAIT, offsetof(struct options, kill_after), DURATION },
	{ 0, "sweep", required_argument, SWEEP, 0, "tree or group" },
	{ 0, "max-message", required_argument, SIZE, offsetof(struct options, max_message),
	    "a size from 64K on, such as 10M or 1G" },
	{ 0, "max-inflight", required_argument, COUNT, offsetof(struct options, max_inflight),
	    "a number from 1 to 16777216" },
	{ 0, "strict", no_argument, FLAG, offsetof(struct options, strict), NULL },
	{ 'l', "log", required_argument, LOG_FILE, 0, "the name of a file (./-- for one of that name)" },
	{ 0, "log-format", required_argument, LOG_FORMAT, 0, "text or json" },
	{ 'h', "help", no_argument, HELP, 0, NULL },
	{ 'V', "version", no_argument, VERSION, 0, NULL },
	{ 'v', NULL, no_argument, LOUDER, 0, NULL },
	{ 'q', NULL, no_argument, QUIET, 0, NULL },
};

static const char letters[] = "+:D:t:T:g:d::r::k::el:vqhV"; /* "+": what follows the command is the command's */

enum {
	ROWS = sizeof(rows) / sizeof(rows[0]),
	BY_NAME = 256, /* what getopt_long returns for an option without a letter: this and its row */
};

static const char help[] =
    USAGE "\n"
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

const char *
options_help(void)
{
	return help;
}

const struct option *
options_table(void)
{
	static struct option table[ROWS + 1];
	int i, count = 0;

	for (i = 0; i < ROWS; i++)
		if (rows[i].name != NULL)
			table[count++] = (struct option){ rows[i].name, rows[i].argument, NULL,
				rows[i].letter != 0 ? rows[i].letter : BY_NAME + i };
	return table;
}

/* The option for a result of getopt_long; NULL: none. */
static const struct row *
find_row(int option)
{
	int i;

	for (i = 0; i < ROWS; i++)
		if (option == BY_NAME + i || (option != 0 && option == rows[i].letter))
			return &rows[i];
	return NULL;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit plain_units[] = { { "", 1 }, { NULL, 0 } };
static const struct unit size_units[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
	{ NULL, 0 } };
static const struct unit time_units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 60 * 60 * 1000 },
	{ NULL, 0 } };

/* Parses digits and one of the units; false if it is something else, or not between least and most. */
static bool
read_number(struct span text, const struct unit *units, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
		uint64_t digit = (uint64_t)(text.ptr[i] - '0');

		if (value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (i == 0)
		return false;
	text = span_part(text, i, text.len - i);
	while (units->name != NULL && !span_equal(text, span_of(units->name)))
		units++;
	if (units->name == NULL || value > most / units->factor)
		return false;
	*number = value * units->factor;
	return *number >= least;
}

/* 250ms, 30s, 5m, 2h, at most HOURS_MAX; 0 and none are MSEC_NEVER. */
static bool
read_duration(struct span text, msec_t *duration)
{
	uint64_t number = 0;

	if (!span_equal(text, SPAN("none")) && !span_equal(text, SPAN("0")) &&
	    !read_number(text, time_units, 0, (uint64_t)HOURS_MAX * 60 * 60 * 1000, &number))
		return false;
	*duration = number == 0 ? MSEC_NEVER : (msec_t)number;
	return true;
}

static bool
read_size(struct span text, const struct unit *units, size_t least, size_t most, size_t *size)
{
	uint64_t number;

	if (!read_number(text, units, least, most, &number))
		return false;
	*size = (size_t)number;
	return true;
}

/* stateless, or [stateless,]N[/DURATION]; a part that is not given stays unchanged. */
static bool
set_restart(struct options *options, struct span text)
{
	const struct span stateless = SPAN("stateless");
	const char *slash;
	size_t len;

	if (text.len >= stateless.len && span_equal(span_part(text, 0, stateless.len), stateless)) {
		options->stateless = true;
		text = span_part(text, stateless.len, text.len - stateless.len);
		if (text.len == 0)
			return true;
		if (text.ptr[0] != ',')
			return false;
		text = span_part(text, 1, text.len - 1);
	}
	slash = text.len == 0 ? NULL : memchr(text.ptr, '/', text.len);
	len = slash == NULL ? text.len : (size_t)(slash - text.ptr);
	options->restarts_within = MSEC_NEVER;
	if (!read_size(span_part(text, 0, len), plain_units, 1, RESTARTS_MAX, &options->restarts))
		return false;
	return slash == NULL || read_duration(span_part(text, len + 1, text.len - len - 1), &options->restarts_within);
}

/* [METHOD[:NAME]=]DURATION, split at the first ':' and the last '=': a NAME may be a URI. */
static bool
set_rule(struct options *options, enum policy_clock clock, struct span text)
{
	const char *equals = text.len == 0 ? NULL : memrchr(text.ptr, '=', text.len);
	size_t target = equals == NULL ? 0 : (size_t)(equals - text.ptr);
	struct span method = span_part(text, 0, target), name = SPAN_NONE;
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

/* A time to wait; none is 0. */
static bool
read_wait(struct span text, msec_t *wait)
{
	if (!read_duration(text, wait))
		return false;
	if (*wait == MSEC_NEVER)
		*wait = 0;
	return true;
}

/* One of two words. */
static bool
read_choice(struct span text, const char *no, const char *yes, bool *chosen)
{
	*chosen = span_equal(text, span_of(yes));
	return *chosen || span_equal(text, span_of(no));
}

static void
allow_restarts(struct options *options)
{
	if (options->restarts > 0)
		return;
	options->restarts = LIMIT_RESTARTS;
	options->restarts_within = TIME_RESTARTS;
}

/* argument: NULL if none was given; false: the argument is refused. */
static bool
set_option(struct options *options, const struct row *row, const char *argument)
{
	struct span value = argument == NULL ? SPAN_NONE : span_of(argument);
	void *at = (char *)options + row->at;

	switch (row->kind) {
	case DIALECT:
		options->dialect = dialect_named(value);
		return options->dialect != NULL || span_equal(value, SPAN("auto"));
	case IDLE:
		return set_rule(options, POLICY_IDLE, value);
	case CAP:
		return set_rule(options, POLICY_CAP, value);
	case WAIT:
		return read_wait(value, at);
	case DRAIN:
		options->drain = true;
		return argument == NULL || read_duration(value, &options->drain_for);
	case FLAG:
		*(bool *)at = true;
		return true;
	case RESTART:
		allow_restarts(options);
		return argument == NULL || set_restart(options, value);
	case STUCK:
		allow_restarts(options);
		options->kill_stuck = TIME_STUCK;
		return argument == NULL ||
		    (read_duration(value, &options->kill_stuck) && options->kill_stuck != MSEC_NEVER);
	case SWEEP:
		return read_choice(value, "tree", "group", &options->sweep_group);
	case SIZE:
		return read_size(value, size_units, MESSAGE_LEAST, message_most, at);
	case COUNT:
		return read_size(value, plain_units, 1, INFLIGHT_MOST, at);
	case LOG_FILE:
		options->log.file = argument;
		return value.len > 0 && !span_equal(value, SPAN("--"));
	case LOG_FORMAT:
		return read_choice(value, "text", "json", &options->log.json);
	case LOUDER:
		options->log.level += options->log.level < LEVEL_TRAFFIC;
		return true;
	case QUIET:
		options->log.level = LEVEL_ERROR;
		return true;
	case HELP:
	case VERSION:
		break;
	}
	return false;
}

/* An unknown name, or one that several options begin with. */
static void
refuse_name(const char *argument)
{
	const char *name = argument + strlen("--"), *before = ": it could be ";
	size_t len = strcspn(name, "=");
	int i;

	fprintf(stderr, "canceld: unknown or ambiguous option '%s'", argument);
	for (i = 0; i < ROWS; i++) {
		if (len == 0 || rows[i].name == NULL || strncmp(rows[i].name, name, len) != 0)
			continue;
		fprintf(stderr, "%s--%s", before, rows[i].name);
		before = ", ";
	}
	fputs("; see canceld --help\n", stderr);
}

/* option, found: what getopt_long returned and found; argument: as it left it. */
static int
refuse(int option, int found, const char *argument)
{
	const struct row *row = find_row(found);

	if (option == ':')
		fprintf(stderr, "canceld: --%s wants a value; see canceld --help\n", row->name);
	else if (row != NULL)
		fprintf(stderr, "canceld: --%s takes no value: '%s'\n", row->name, argument);
	else if (found != 0)
		fprintf(stderr, "canceld: unknown option -%c; see canceld --help\n", found);
	else
		refuse_name(argument);
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
apply(struct options *options, const struct row *row, const char *argument)
{
	if (row->kind == HELP)
		return print(help);
	if (row->kind == VERSION)
		return print("canceld " CANCELD_VERSION "\n");
	if (set_option(options, row, argument))
		return OPTIONS_RUN;
	fprintf(stderr, "canceld: --%s '%s': want %s\n", row->name, argument, row->wanted);
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

/* Whether a word could be the value of the option before it, which has an optional one. */
static bool
is_value(const struct row *row, struct span word)
{
	struct options scratch = { 0 };
	msec_t duration;

	if (row->argument != optional_argument)
		return false;
	return read_duration(word, &duration) || (row->kind == RESTART && set_restart(&scratch, word));
}

/* last: the option without a value just before the command, or NULL. */
static int
check_command(const struct options *options, const struct row *last)
{
	const char *command = options->command[0];

	if (command == NULL) {
		fputs("canceld: which server is to be run? No command was given\n" USAGE "\n", stderr);
		return STATUS_FAILED;
	}
	if (last != NULL && is_value(last, span_of(command))) {
		fprintf(stderr, "canceld: '%s' is no command; a value needs an equals sign: --%s=%s\n", command,
		    last->name, command);
		return STATUS_FAILED;
	}
	return OPTIONS_RUN;
}

int
options_parse(struct options *options, int argc, char *argv[])
{
	const struct row *row, *last = NULL;
	int option, status = OPTIONS_RUN;

	set_defaults(options);
	opterr = 0;
	optind = 0; /* glibc: start anew, which the tests need */
	while (status == OPTIONS_RUN && (option = getopt_long(argc, argv, letters, options_table(), NULL)) != -1) {
		row = find_row(option);
		if (option == '?' || option == ':' || row == NULL)
			status = refuse(option, optopt, argv[optind - 1]);
		else
			status = apply(options, row, optarg);
		last = optarg == NULL ? row : NULL;
	}
	if (status != OPTIONS_RUN)
		return status;
	options->command = argv + optind;
	return check_command(options, strcmp(argv[optind - 1], "--") == 0 ? NULL : last);
}

void
options_free(struct options *options)
{
	policy_free(&options->policy);
}
