#include "shell/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "shell/home.h"
#include "shell/nearest.h"
#include "shell/printable.h"
#include "shell/units.h"

#define USAGE "usage: canceld [options] [--] command [arg...]"
#define DURATION "DURATION; a DURATION is " UNITS_DURATION

enum {
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
	TRACE_FILE,
	TRACE_SIZE,
	LOG_FORMAT,
	LOG_LEVEL,
	CONTROL,
	NAME,
	LOUDER,
	QUIET,
	CONFIG,
	BRIEF,
	HELP,
	VERSION,
	IGNORED,
};

/* THE TABLE of the options: getopt's, the help, and the messages about wrong values come from it. */
static const struct row {
	int letter; /* 0: the option has a name only */
	const char *name;
	int argument; /* as in struct option */
	enum kind kind;
	size_t at; /* FLAG, WAIT, SIZE, COUNT, CONTROL, CONFIG: what is set, in struct options */
	const char *wanted;
	const char *shown; /* the argument in the help */
	const char *help;
	const char *brief;   /* the line of -h; NULL: only --help has the option */
	const char *heading; /* what the help says before it; or NULL */
} rows[] = {
	{ 'D', "dialect", required_argument, DIALECT, 0, "auto, mcp, acp, lsp, bsp or none", " DIALECT",
	    "auto, mcp, acp, lsp, bsp, or none, which has no\n"
	    "cancel (auto: what the client's first bytes show)",
	    NULL, NULL },
	{ 't', "timeout", required_argument, IDLE, 0, "[METHOD[:NAME]=]" DURATION, " [METHOD[:NAME]=]DURATION",
	    "how long a request may go without progress\n"
	    "(5m; tools/call 30m); repeatable",
	    "-t [METHOD[:NAME]=]DURATION  longest time without progress (5m; tools 30m);\n"
	    "                       repeatable: -t 30s -t 'tools/call:build*=10m'",
	    "Deadlines" },
	{ 'T', "max-time", required_argument, CAP, 0, "[METHOD[:NAME]=]" DURATION, " [METHOD[:NAME]=]DURATION",
	    "how long it may take in all (24h); repeatable", "-T [METHOD[:NAME]=]DURATION  longest time in all (24h)",
	    NULL },
	{ 'g', "grace", required_argument, WAIT, offsetof(struct options, session.grace), DURATION, " DURATION",
	    "for what is on its way already, and for answers that\n"
	    "a cancelled request is still owed (5s; 30s for\n"
	    "session/prompt)\n"
	    "NAME is the tool, prompt or resource. '*' in METHOD\n"
	    "or NAME stands for anything, '\\*' for itself. The\n"
	    "most specific rule wins, of equals the last. DURATION\n"
	    "is 250ms, 1.5s, 5m, 1m30s or 2h; 0 or none is none.",
	    NULL, NULL },
	{ 0, "no-cancel", no_argument, FLAG, offsetof(struct options, session.no_cancel), NULL, "",
	    "write no cancels to the server, not even the client's", NULL, "Cancels and answers" },
	{ 0, "answer-cancelled", no_argument, FLAG, offsetof(struct options, session.answer_cancelled), NULL, "",
	    "answer what the client itself has cancelled with an\n"
	    "error, if the server does not within the grace",
	    NULL, NULL },
	{ 0, "tool-errors", no_argument, FLAG, offsetof(struct options, session.tool_errors), NULL, "",
	    "a tools/call that timed out gets a result with\n"
	    "isError, which the model sees, instead of an error",
	    "--tool-errors        answer a tool call that timed out with a result that\n"
	    "                       the model sees",
	    NULL },
	{ 0, "ask-progress", no_argument, FLAG, offsetof(struct options, session.ask_progress), NULL, "",
	    "ask for progress in the client's stead: a slow tool\n"
	    "that reports some is told from one that hangs",
	    NULL, NULL },
	{ 0, "legacy", no_argument, FLAG, offsetof(struct options, session.legacy), NULL, "",
	    "answer server/discover without the server: old ones\n"
	    "exit on it",
	    NULL, NULL },
	{ 'd', "drain", optional_argument, DRAIN, 0, DURATION, "[=DURATION]",
	    "at end of file on stdin wait for what is outstanding;\n"
	    "so does a regular file on stdin",
	    "-d                   at the end of stdin wait for the answers", "The end" },
	{ 'e', "fail-on-timeout", no_argument, FLAG, offsetof(struct options, fail_on_timeout), NULL, "",
	    "exit with 124 instead of 0 if a request timed out or\n"
	    "was given up at the end",
	    "-e                   exit with 124 if a request timed out or was given up", NULL },
	{ 0, "fail-on-error", no_argument, FLAG, offsetof(struct options, fail_on_error), NULL, "",
	    "exit with 123 instead of 0 if a request was answered\n"
	    "with an error or isError or given up, or a line of\n"
	    "the client was no message",
	    NULL, NULL },
	{ 0, "term-after", required_argument, WAIT, offsetof(struct options, term_after), DURATION, " DURATION",
	    "from the end of the server's stdin to SIGTERM (700ms;\n"
	    "100ms after a signal, or if it is stuck)",
	    NULL, NULL },
	{ 0, "kill-after", required_argument, WAIT, offsetof(struct options, kill_after), DURATION, " DURATION",
	    "from there to SIGKILL (450ms; 250ms likewise)", NULL, NULL },
	{ 0, "sweep", required_argument, SWEEP, 0, "tree or group", " WHAT",
	    "what is ended when the server has ended: tree, all\n"
	    "that it started, or group, which spares what left\n"
	    "its process group (tree)",
	    NULL, NULL },
	{ 'r', "restart", optional_argument, RESTART, 0,
	    "stateless or [stateless,]N[/DURATION], such as 5/1m, with N from 1 to 100000; " DURATION,
	    "[=stateless | =[stateless,]N[/DURATION]]",
	    "start it again when it crashes in an open session, at\n"
	    "most N times in DURATION, or in all (5/1m); agents\n"
	    "(ACP) and language servers, whose sessions cannot be\n"
	    "replayed, only if stateless",
	    "-r                   start the server again when it crashes", "A server that fails" },
	{ 'k', "kill-stuck", optional_argument, STUCK, 0, "a time such as 500ms or 10s", "[=DURATION]",
	    "after a cancel ask it whether it is alive; if it does\n"
	    "not answer within DURATION (10s), end it; implies -r.\n"
	    "The session of an agent or a language server is over\n"
	    "then, unless -r says stateless",
	    "-k[DURATION]         replace a server that is stuck after a cancel (10s)", NULL },
	{ 0, "max-message", required_argument, SIZE, offsetof(struct options, session.max_message),
	    "a size from 64K on, such as 10M or 1G", " SIZE",
	    "longest message that is kept in memory (256M); a\n"
	    "longer one passes in parts, or is refused if it\n"
	    "cannot; 64K, 10M, 1G",
	    NULL, "Limits" },
	{ 0, "max-inflight", required_argument, COUNT, offsetof(struct options, session.max_inflight),
	    "a number from 1 to 16777216", " N", "requests outstanding in one direction (65536)", NULL, NULL },
	{ 0, "strict", no_argument, FLAG, offsetof(struct options, session.strict), NULL, "",
	    "hold every message whole until it is checked to its\n"
	    "end",
	    NULL, NULL },
	{ 'l', "log", required_argument, LOG_FILE, 0,
	    "the name of a file (./-- for one of that name); ~/ is your home directory", " FILE",
	    "append to FILE instead of writing to stderr",
	    "-l FILE              append the log to FILE instead of writing it to stderr", "The log" },
	{ 0, "log-format", required_argument, LOG_FORMAT, 0, "text or json", " FORMAT", "text or json", NULL, NULL },
	{ 0, "log-level", required_argument, LOG_LEVEL, 0, "error, person, decision or traffic", " LEVEL",
	    "error, person, decision or traffic: as with -q,\n"
	    "without an option, with -v, with -vv",
	    NULL, NULL },
	{ 0, "name", required_argument, NAME, 0, "a name of 1 to 63 bytes", " NAME",
	    "the server's name in each line (from the command)",
	    "--name NAME          the server's name in each line of the log", NULL },
	{ 'v', NULL, no_argument, LOUDER, 0, NULL, "",
	    "say more: each decision; -vv: each message, without\n"
	    "its contents",
	    "-v                   log every decision; -q: only failures of canceld", NULL },
	{ 'q', NULL, no_argument, QUIET, 0, NULL, "", "say less: only what canceld fails at", NULL, NULL },
	{ 'n', "dry-run", no_argument, FLAG, offsetof(struct options, session.dry_run), NULL, "",
	    "let every byte pass, and log what would have been\n"
	    "cancelled, dropped or answered",
	    "-n                   only log what would be done; every byte passes", "To look at a session" },
	{ 0, "trace", required_argument, TRACE_FILE, 0, "the name of a file; ~/ is your home directory", " FILE",
	    "write each decision to FILE.PID, or to FILE with the\n"
	    "PID in place of %p",
	    NULL, NULL },
	{ 0, "trace-payload", no_argument, FLAG, offsetof(struct options, trace.payload), NULL, "",
	    "write each read too, for cancelctl replay; what a key\n"
	    "names as a secret becomes asterisks",
	    NULL, NULL },
	{ 0, "trace-size", required_argument, TRACE_SIZE, offsetof(struct options, trace.most),
	    "a size from 4M on, such as 100M or 1G", " SIZE",
	    "keep the last SIZE or half of it, in FILE.PID and\n"
	    "FILE.PID.1",
	    NULL, NULL },
	{ 'c', "config", required_argument, CONFIG, offsetof(struct options, config),
	    "the name of a file; ~/ is your home directory", " FILE",
	    "read from FILE what the options do not say (from\n"
	    "~/.config/canceld/config.json); SIGUSR2: again",
	    NULL, "Configuration and control" },
	{ 0, "control", required_argument, CONTROL, offsetof(struct options, control),
	    "the name of a socket, at most 103 bytes; ~/ is your home directory", " PATH",
	    "the control socket; cancelctl(1) has to be told this\n"
	    "path (by default it finds this canceld by itself)",
	    NULL, NULL },
	{ 0, "no-control", no_argument, FLAG, offsetof(struct options, no_control), NULL, "", "no control socket", NULL,
	    NULL },
	{ 0, "wrapped", optional_argument, IGNORED, 0, NULL, "[=FORM]",
	    "ignored: cancelctl unwrap knows its work by it", NULL, NULL },
	{ 'h', NULL, no_argument, BRIEF, 0, NULL, "", "the common options, on one screen", NULL, "Help" },
	{ 0, "help", no_argument, HELP, 0, NULL, "", "this text",
	    "--help               all options; `man canceld` explains them", NULL },
	{ 'V', "version", no_argument, VERSION, 0, NULL, "", "the version", NULL, NULL },
};

enum {
	ROWS = sizeof(rows) / sizeof(rows[0]), /* at most OPTIONS_MAX */
	BY_NAME = 256,  /* what getopt_long returns for an option without a letter: this and its row */
	HELP_LEFT = 27, /* columns before the explanations */
};

static_assert((int)ROWS <= (int)OPTIONS_MAX, "a row for each member of options.given");

static const char help_head[] =
    USAGE "\n"
	  "\n"
	  "Runs command, a JSON-RPC server on stdin and stdout (MCP, ACP, LSP, BSP), and\n"
	  "stands between it and its client: every request is answered in bounded time, and\n"
	  "the server hears when nobody waits for an answer any more.\n"
	  "\n";

static const char help_foot[] = "\n"
				"A value that may be left out follows without a blank: -r5/1m, --restart=5/1m.\n"
				"\n"
				"Exit status: the server's own, with -r the last one's; 128 + n if signal n ended\n"
				"it or canceld; 0 if canceld ended the server when the client had gone; 123 see\n"
				"--fail-on-error; 124 see -e; 125 canceld itself failed; 126 command cannot be\n"
				"executed; 127 command not found.\n";

static const char brief_foot[] = "\n"
				 "canceld -t 30s npx -y @modelcontextprotocol/server-everything\n"
				 "canceld -d -e -t 10s my-server < requests.jsonl\n";

static void
put_help(struct buf *text, const struct row *row)
{
	char left[96];
	int len;

	if (row->heading != NULL) {
		buf_append(text, SPAN("\n"));
		buf_append(text, span_of(row->heading));
		buf_append(text, SPAN(":\n"));
	}
	if (row->letter != 0)
		len = snprintf(left, sizeof(left), "  -%c%s", row->letter, row->name != NULL ? ", " : "");
	else
		len = snprintf(left, sizeof(left), "      ");
	len += snprintf(left + len, sizeof(left) - (size_t)len, "%s%s%s", row->name != NULL ? "--" : "",
	    row->name != NULL ? row->name : "", row->shown);
	buf_append(text, span_of(left));
	snprintf(left, sizeof(left), "\n%*s", HELP_LEFT, "");
	buf_append(text, len < HELP_LEFT - 1 ? span_of(left + 1 + len) : span_of(left));
	for (const char *at = row->help; *at != '\0'; at++)
		buf_append(text, *at == '\n' ? span_of(left) : (struct span){ at, 1 });
	buf_append(text, SPAN("\n"));
}

void
options_help(struct buf *text, bool brief)
{
	buf_append(text, span_of(help_head));
	for (int i = 0; i < ROWS; i++) {
		if (!brief) {
			put_help(text, &rows[i]);
		} else if (rows[i].brief != NULL) {
			buf_append(text, SPAN("  "));
			buf_append(text, span_of(rows[i].brief));
			buf_append(text, SPAN("\n"));
		}
	}
	buf_append(text, brief ? span_of(brief_foot) : span_of(help_foot));
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

bool
options_row(size_t i, struct options_row *row)
{
	if (i >= ROWS)
		return false;
	*row = (struct options_row){ rows[i].letter, rows[i].name, rows[i].argument, rows[i].wanted, rows[i].shown,
		rows[i].help };
	return true;
}

/* getopt's string of the letters. "+": what follows the command is the command's. */
static void
list_letters(char letters[2 + 3 * ROWS + 1])
{
	char *end = stpcpy(letters, "+:");

	for (int i = 0; i < ROWS; i++)
		if (rows[i].letter != 0) {
			*end++ = (char)rows[i].letter;
			end = stpcpy(end, &"::"[2 - rows[i].argument]);
		}
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

/* stateless, or [stateless,]N[/DURATION]; a part that is not given stays unchanged. */
static bool
set_restart(struct options *options, struct span text)
{
	const struct span stateless = SPAN("stateless");
	const char *slash;
	size_t len;

	if (text.len >= stateless.len && span_equal(span_part(text, 0, stateless.len), stateless)) {
		options->session.stateless = true;
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
	if (!units_read_count(span_part(text, 0, len), 1, RESTARTS_MAX, &options->restarts))
		return false;
	return slash == NULL ||
	    units_read_duration(span_part(text, len + 1, text.len - len - 1), &options->restarts_within);
}

/* A time to wait; none is 0. */
static bool
read_wait(struct span text, msec_t *wait)
{
	if (!units_read_duration(text, wait))
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

/* A client passes no shell that would expand ~. */
static bool
set_file(struct options *options, enum kind kind, const char *file)
{
	char *path = kind == LOG_FILE ? options->log_path : options->trace_path;

	*(kind == LOG_FILE ? &options->log.file : &options->trace.file) = path;
	return home_expand(file, path, OPTIONS_PATH) && file[0] != '\0' &&
	    !(kind == LOG_FILE && strcmp(file, "--") == 0);
}

static bool
set_level(struct options *options, enum kind kind)
{
	enum why_level level = options->log.level;

	options->log.level = kind == QUIET ? LEVEL_ERROR : level < LEVEL_TRAFFIC ? level + 1 : level;
	return true;
}

static bool
set_stuck(struct options *options, const char *argument)
{
	msec_t *stuck = &options->session.kill_stuck;

	allow_restarts(options);
	*stuck = TIME_STUCK;
	return argument == NULL || (units_read_duration(span_of(argument), stuck) && *stuck != MSEC_NEVER);
}

/* argument: NULL if none was given; false: the argument is refused. source: of a rule. */
static bool
set_option(struct options *options, const struct row *row, enum policy_source source, const char *argument)
{
	const char *text = argument == NULL ? "" : argument;
	struct span value = span_of(text);
	void *at = (char *)options + row->at;

	switch (row->kind) {
	case DIALECT:
		options->session.dialect = dialect_named(value);
		return options->session.dialect != NULL || span_equal(value, SPAN("auto"));
	case IDLE:
		return units_read_rule(value, source, POLICY_IDLE, &options->policy);
	case CAP:
		return units_read_rule(value, source, POLICY_CAP, &options->policy);
	case WAIT:
		return read_wait(value, at);
	case DRAIN:
		options->drain = true;
		return argument == NULL || units_read_duration(value, &options->drain_for);
	case FLAG:
		*(bool *)at = true;
		return true;
	case RESTART:
		allow_restarts(options);
		return argument == NULL || set_restart(options, value);
	case STUCK:
		return set_stuck(options, argument);
	case SWEEP:
		return read_choice(value, "tree", "group", &options->sweep_group);
	case SIZE:
	case TRACE_SIZE:
		return units_read_size(value, row->kind == SIZE ? MESSAGE_LEAST : 2 * TRACE_LEAST, message_most, at);
	case COUNT:
		return units_read_count(value, 1, INFLIGHT_MOST, at);
	case LOG_FILE:
	case TRACE_FILE:
		return set_file(options, row->kind, text);
	case LOG_FORMAT:
		return read_choice(value, "text", "json", &options->log.json);
	case LOG_LEVEL:
		return log_level_named(value, &options->log.level);
	case NAME:
		snprintf(options->name, sizeof(options->name), "%s", text);
		return value.len > 0 && value.len < NAME_SIZE;
	case LOUDER:
	case QUIET:
		return set_level(options, row->kind);
	case IGNORED:
		return true;
	case CONTROL:
	case CONFIG:
		return home_expand(text, at, OPTIONS_PATH) && text[0] != '\0';
	case BRIEF:
	case HELP:
	case VERSION:
		break;
	}
	return false;
}

int
options_refuse(struct options *options, const char *format, ...)
{
	char text[sizeof(options->fault) / 4]; /* printable, each byte becomes at most four */
	struct buf shown;
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	buf_init(&shown);
	printable_append(&shown, span_of(text), "");
	snprintf(options->fault, sizeof(options->fault), "%.*s", (int)shown.len, shown.data);
	buf_free(&shown);
	fprintf(stderr, "canceld: %s\n", options->fault);
	options->log = (struct log_config){ .level = LEVEL_ERROR };
	return STATUS_FAILED;
}

/* An unknown name, or one that several options begin with. */
static int
refuse_name(struct options *options, const char *argument)
{
	const char *name = argument + strlen("--");
	size_t len = strcspn(name, "=");
	struct nearest nearest;
	char likely[256] = "";
	int i;

	nearest_init(&nearest, (struct span){ name, len });
	for (i = 0; i < ROWS; i++) {
		size_t used = strlen(likely);

		if (len == 0 || rows[i].name == NULL)
			continue;
		if (strncmp(rows[i].name, name, len) == 0)
			snprintf(likely + used, sizeof(likely) - used, "%s--%s", used > 0 ? ", " : "", rows[i].name);
		nearest_offer(&nearest, rows[i].name);
	}
	if (likely[0] == '\0' && nearest.name != NULL)
		snprintf(likely, sizeof(likely), "--%s", nearest.name);
	return options_refuse(options, "unknown or ambiguous option '%s'%s%s; see canceld --help", argument,
	    likely[0] != '\0' ? ": it could be " : "", likely);
}

/* option, found: what getopt_long returned and found; argument: as it left it. */
static int
refuse(struct options *options, int option, int found, const char *argument)
{
	const struct row *row = find_row(found);

	if (option == ':')
		return options_refuse(options, "--%s wants a value: %s; see canceld --help", row->name, row->wanted);
	if (row != NULL)
		return options_refuse(options, "--%s takes no value: '%s'", row->name, argument);
	if (found != 0)
		return options_refuse(options, "unknown option -%c; see canceld --help", found);
	return refuse_name(options, argument);
}

/* What is most likely wrong with a value; or "". */
static const char *
explain(const struct row *row, const char *argument)
{
	static const char *const faults[] = {
		[TIME_FINE] = "",
		[TIME_NO_UNIT] = "is the unit missing? ",
		[TIME_TOO_LONG] = "that is too long; ",
		[TIME_TOO_FINE] = "there is no time below 1ms; ",
		[TIME_UNREADABLE] = "",
	};
	const char *equals = strrchr(argument, '='), *slash = strrchr(argument, '/');
	const char *text = argument;
	uint64_t time;

	if (row->kind == RESTART && strcmp(argument, "0") == 0)
		return "without this option the server is not started again; ";
	if ((row->kind == LOG_FILE || row->kind == TRACE_FILE || row->kind == CONFIG || row->kind == CONTROL) &&
	    argument[0] == '~')
		return "your home directory is not known, or its name is too long; ";
	if (row->kind == STUCK && strcmp(argument, "0") == 0)
		return "";
	if ((row->kind == IDLE || row->kind == CAP) && equals != NULL)
		text = equals + 1;
	else if (row->kind == RESTART && slash != NULL)
		text = slash + 1;
	else if (row->kind == RESTART || (row->kind != STUCK && strstr(row->wanted, "DURATION") == NULL))
		return "";
	return faults[units_read_time(span_of(text), &time)];
}

/* A reader that wants no more, such as head(1), is no fault. */
static int
print(const char *text)
{
	if ((fputs(text, stdout) < 0 || fflush(stdout) != 0) && errno != EPIPE) {
		perror("canceld: stdout");
		return STATUS_FAILED;
	}
	return 0;
}

static bool
is_level(const struct row *row)
{
	return row->kind == LOUDER || row->kind == QUIET || row->kind == LOG_LEVEL;
}

/* Whether the option says how canceld runs, so that the configuration file may say it too. */
static bool
is_setting(const struct row *row)
{
	return row->kind != CONFIG && row->kind != IGNORED && row->kind != HELP && row->kind != VERSION;
}

static int
apply(struct options *options, const struct row *row, const char *argument)
{
	struct buf text;
	int status;

	if (row->kind == HELP || row->kind == BRIEF) {
		buf_init(&text);
		options_help(&text, row->kind == BRIEF);
		buf_append(&text, (struct span){ "", 1 });
		status = print(text.data);
		buf_free(&text);
		return status;
	}
	if (row->kind == VERSION)
		return print("canceld " CANCELD_VERSION "\n");
	if (!set_option(options, row, POLICY_OPTION, argument))
		return options_refuse(options, "--%s '%s': %swant %s", row->name, argument, explain(row, argument),
		    row->wanted);
	options->given[row - rows] = true;
	return OPTIONS_RUN;
}

/* The row of a key of the configuration file; NULL: it is none. */
static const struct row *
find_key(const char *key)
{
	int i;

	for (i = 0; i < ROWS; i++)
		if (rows[i].name != NULL && strcmp(rows[i].name, key) == 0 && is_setting(&rows[i]))
			return &rows[i];
	return NULL;
}

enum options_key
options_key(const char *key)
{
	const struct row *row = find_key(key);

	if (row == NULL)
		return KEY_UNKNOWN;
	if (row->kind == IDLE || row->kind == CAP)
		return KEY_RULES;
	return row->kind == LOG_LEVEL ? KEY_LEVEL : KEY_START;
}

bool
options_given(const struct options *options, const char *key)
{
	const struct row *row = find_key(key);
	int i;

	for (i = 0; i < ROWS; i++)
		if (options->given[i] && (&rows[i] == row || (row->kind == LOG_LEVEL && is_level(&rows[i]))))
			return true;
	return false;
}

bool
options_set(struct options *options, const char *key, enum policy_source source, const char *value, struct buf *fault)
{
	const struct row *row = find_key(key);
	char words[1024];

	if (value != NULL && row->argument == no_argument)
		snprintf(words, sizeof(words), "%s '%s': want true or false", key, value);
	else if (value == NULL && row->argument == required_argument)
		snprintf(words, sizeof(words), "%s: want %s", key, row->wanted);
	else if (set_option(options, row, source, value))
		return true;
	else
		snprintf(words, sizeof(words), "%s '%s': %swant %s", key, value, explain(row, value), row->wanted);
	buf_append(fault, span_of(words));
	return false;
}

void
options_init(struct options *options)
{
	*options = (struct options){
		.session = { .grace = MSEC_NEVER, .max_message = LIMIT_MESSAGE, .max_inflight = LIMIT_INFLIGHT },
		.drain_for = MSEC_NEVER,
		.term_after = MSEC_NEVER,
		.kill_after = MSEC_NEVER,
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

	if (row->argument != optional_argument || row->kind == IGNORED)
		return false;
	return units_read_duration(word, &duration) || (row->kind == RESTART && set_restart(&scratch, word));
}

/* last: the option without a value just before the command, or NULL. */
static int
check_command(struct options *options, const struct row *last)
{
	const char *command = options->command[0];

	if (command == NULL)
		return options_refuse(options,
		    "which server is to be run? No command was given; " USAGE "; see canceld -h");
	if (last != NULL && is_value(last, span_of(command)))
		return options_refuse(options,
		    "'%s' is no command; the value of -%c follows without a blank: -%c%s or --%s=%s", command,
		    last->letter, last->letter, command, last->name, command);
	if (options->name[0] == '\0')
		name_of_command(options->command, options->name);
	options->log.name = options->name;
	return OPTIONS_RUN;
}

int
options_parse(struct options *options, int argc, char *argv[])
{
	const struct row *row, *last = NULL;
	int option, status = OPTIONS_RUN;
	char letters[2 + 3 * ROWS + 1];

	options_init(options);
	list_letters(letters);
	opterr = 0;
	optind = 0; /* glibc: start anew, which the tests need */
	while (status == OPTIONS_RUN && (option = getopt_long(argc, argv, letters, options_table(), NULL)) != -1) {
		row = find_row(option);
		if (option == '?' || option == ':' || row == NULL)
			status = refuse(options, option, optopt, argv[optind - 1]);
		else
			status = apply(options, row, optarg);
		last = optarg == NULL ? row : NULL;
	}
	if (status != OPTIONS_RUN)
		return status;
	options->command = argv + optind;
	return check_command(options, strcmp(argv[optind - 1], "--") == 0 ? NULL : last);
}

int
options_settle(struct options *options)
{
	if (options->trace.file == NULL && (options->trace.payload || options->trace.most > 0))
		return options_refuse(options,
		    "--trace-%s is about a file that --trace does not name; see canceld --help",
		    options->trace.payload ? "payload" : "size");
	if (!options->session.dry_run)
		return OPTIONS_RUN;
	options->log.dry_run = true;
	options->session.ask_progress = options->session.legacy = false;
	options->session.kill_stuck = 0;
	options->restarts = 0;
	return OPTIONS_RUN;
}

void
options_free(struct options *options)
{
	policy_free(&options->policy);
}
