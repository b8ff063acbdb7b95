#include "shell/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "shell/words.h"

#define USAGE "usage: canceld [options] [--] command [arg...]"
#define DURATION "DURATION; a DURATION is " UNITS_DURATION

enum {
	RESTARTS_MAX = 100000,
	MESSAGE_LEAST = 64 << 10,
	INFLIGHT_MOST = 16 << 20,
};

#define AT(member) offsetof(struct options, member)

/* Twice this size, and a buffer that grows to contain it, still fits into a size_t. */
static const size_t message_most = SIZE_MAX >> 3;

/* An option that is given. */
struct setting {
	const struct options_row *row;
	struct options *options;
	void *at;                  /* what it sets, if the row says that */
	const char *value;         /* NULL: none */
	enum policy_source source; /* of a rule */
};

/* Each setter returns NULL, or what is most likely wrong with the value, or "". */

static const char *
right(bool fine)
{
	return fine ? NULL : "";
}

static const char *
read_time(const char *value, msec_t *time)
{
	static const char *const faults[] = {
		[TIME_FINE] = "",
		[TIME_NO_UNIT] = "is the unit missing? ",
		[TIME_TOO_LONG] = "that is too long; ",
		[TIME_TOO_FINE] = "there is no time below 1ms; ",
		[TIME_UNREADABLE] = "",
	};
	uint64_t ignored;

	return units_read_duration(span_of(value), time) ? NULL : faults[units_read_time(span_of(value), &ignored)];
}

static const char *
set_dialect(const struct setting *setting)
{
	const struct dialect *dialect = dialect_named(span_of(setting->value));

	setting->options->session.dialect = dialect;
	return right(dialect != NULL || strcmp(setting->value, "auto") == 0);
}

static const char *
set_rule(const struct setting *setting)
{
	enum policy_clock clock = setting->row->letter == 't' ? POLICY_IDLE : POLICY_CAP;
	const char *equals = strrchr(setting->value, '=');
	msec_t time;

	if (units_read_rule(span_of(setting->value), setting->source, clock, &setting->options->policy))
		return NULL;
	equals = read_time(equals != NULL ? equals + 1 : setting->value, &time);
	return equals != NULL ? equals : "";
}

/* A time to wait; none is 0. */
static const char *
set_wait(const struct setting *setting)
{
	msec_t *wait = setting->at;
	const char *fault = read_time(setting->value, wait);

	if (fault == NULL && *wait == MSEC_NEVER)
		*wait = 0;
	return fault;
}

static const char *
set_drain(const struct setting *setting)
{
	setting->options->drain = true;
	return setting->value == NULL ? NULL : read_time(setting->value, &setting->options->drain_for);
}

static const char *
set_flag(const struct setting *setting)
{
	*(bool *)setting->at = true;
	return NULL;
}

static void
allow_restarts(struct options *options)
{
	if (options->restarts > 0)
		return;
	options->restarts = LIMIT_RESTARTS;
	options->restarts_within = TIME_RESTARTS;
}

/* stateless, or [stateless,]N[/DURATION]; a part that is not given stays unchanged. */
static const char *
set_restart(const struct setting *setting)
{
	struct options *options = setting->options;
	const char *value = setting->value;
	size_t word = strlen("stateless"), len;

	allow_restarts(options);
	if (value != NULL && strncmp(value, "stateless", word) == 0) {
		options->session.stateless = true;
		value += word + (value[word] == ',');
		if (value[-1] != ',')
			return right(*value == '\0');
	}
	if (value == NULL)
		return NULL;
	if (strcmp(value, "0") == 0)
		return "without this option the server is not started again; ";
	len = strcspn(value, "/");
	options->restarts_within = MSEC_NEVER;
	if (!units_read_count((struct span){ value, len }, 1, RESTARTS_MAX, &options->restarts))
		return "";
	return value[len] == '\0' ? NULL : read_time(value + len + 1, &options->restarts_within);
}

static const char *
set_stuck(const struct setting *setting)
{
	msec_t *stuck = &setting->options->session.kill_stuck;
	const char *fault;

	allow_restarts(setting->options);
	*stuck = TIME_STUCK;
	fault = setting->value == NULL ? NULL : read_time(setting->value, stuck);
	return fault == NULL ? right(*stuck != MSEC_NEVER) : fault;
}

/* One of the two words that are wanted. */
static const char *
set_choice(const struct setting *setting)
{
	const char * or = strstr(setting->row->wanted, " or "), *value = setting->value;
	struct span other = { setting->row->wanted, (size_t)(or -setting->row->wanted) };
	bool *chosen = setting->at;

	*chosen = strcmp(value, or +strlen(" or ")) == 0;
	return right(*chosen || span_equal(span_of(value), other));
}

static const char *
set_size(const struct setting *setting)
{
	return right(units_read_size(span_of(setting->value), MESSAGE_LEAST, message_most, setting->at));
}

static const char *
set_count(const struct setting *setting)
{
	return right(units_read_count(span_of(setting->value), 1, INFLIGHT_MOST, setting->at));
}

/* A client passes no shell that would expand ~. */
static const char *
set_path(const struct setting *setting)
{
	if (home_expand(setting->value, setting->at, OPTIONS_PATH))
		return right(setting->value[0] != '\0');
	return setting->value[0] == '~' ? "your home directory is not known, or its name is too long; " : "";
}

static const char *
set_log(const struct setting *setting)
{
	setting->options->log.file = setting->at;
	return strcmp(setting->value, "--") == 0 ? "" : set_path(setting);
}

static const char *
set_level(const struct setting *setting)
{
	enum why_level *level = &setting->options->log.level;

	if (setting->value != NULL)
		return right(log_level_named(span_of(setting->value), level));
	*level = setting->row->letter == 'q' ? LEVEL_ERROR : *level < LEVEL_TRAFFIC ? *level + 1 : *level;
	return NULL;
}

static const char *
set_name(const struct setting *setting)
{
	snprintf(setting->at, NAME_SIZE, "%s", setting->value);
	return right(setting->value[0] != '\0' && strlen(setting->value) < NAME_SIZE);
}

const struct options_row options_rows[] = {
	{ 'D', required_argument, "dialect", set_dialect, 0, .wanted = "auto, mcp, acp, lsp, bsp or none",
	    .shown = " DIALECT",
	    .help = "auto, mcp, acp, lsp, bsp, or none, which has no\n"
		    "cancel (auto: what the client's first bytes show)" },
	{ 't', required_argument, "timeout", set_rule, 0, .key = KEY_RULES, .wanted = "[METHOD[:NAME]=]" DURATION,
	    .shown = " [METHOD[:NAME]=]DURATION",
	    .help = "how long a request may go without progress\n"
		    "(5m; tools/call 30m); repeatable",
	    .brief = "-t [METHOD[:NAME]=]DURATION  longest time without progress (5m; tools 30m);\n"
		     "                       repeatable: -t 30s -t 'tools/call:build*=10m'",
	    .heading = "Deadlines" },
	{ 'T', required_argument, "max-time", set_rule, 0, .key = KEY_RULES, .wanted = "[METHOD[:NAME]=]" DURATION,
	    .shown = " [METHOD[:NAME]=]DURATION", .help = "how long it may take in all (24h); repeatable",
	    .brief = "-T [METHOD[:NAME]=]DURATION  longest time in all (24h)" },
	{ 'g', required_argument, "grace", set_wait, AT(session.grace), .wanted = DURATION, .shown = " DURATION",
	    .help = "for what is on its way already, and for answers that\n"
		    "a cancelled request is still owed (5s; 30s for\n"
		    "session/prompt)\n"
		    "NAME is the tool, prompt or resource. '*' in METHOD\n"
		    "or NAME stands for anything, '\\*' for itself. The\n"
		    "most specific rule wins, of equals the last. DURATION\n"
		    "is 250ms, 1.5s, 5m, 1m30s or 2h; 0 or none is none." },
	{ 0, no_argument, "no-cancel", set_flag, AT(session.no_cancel),
	    .help = "write no cancels to the server, not even the client's", .heading = "Cancels and answers" },
	{ 0, no_argument, "answer-cancelled", set_flag, AT(session.answer_cancelled),
	    .help = "answer what the client itself has cancelled with an\n"
		    "error, if the server does not within the grace" },
	{ 0, no_argument, "tool-errors", set_flag, AT(session.tool_errors),
	    .help = "a tools/call that timed out gets a result with\n"
		    "isError, which the model sees, instead of an error",
	    .brief = "--tool-errors        answer a tool call that timed out with a result that\n"
		     "                       the model sees" },
	{ 0, no_argument, "ask-progress", set_flag, AT(session.ask_progress),
	    .help = "ask for progress in the client's stead: a slow tool\n"
		    "that reports some is told from one that hangs" },
	{ 0, no_argument, "legacy", set_flag, AT(session.legacy),
	    .help = "answer server/discover without the server: old ones\n"
		    "exit on it" },
	{ 'd', optional_argument, "drain", set_drain, 0, .wanted = DURATION, .shown = "[=DURATION]",
	    .help = "at end of file on stdin wait for what is outstanding;\n"
		    "so does a regular file on stdin",
	    .brief = "-d                   at the end of stdin wait for the answers", .heading = "The end" },
	{ 'e', no_argument, "fail-on-timeout", set_flag, AT(fail_on_timeout),
	    .help = "exit with 124 instead of 0 if a request timed out or\n"
		    "was given up at the end",
	    .brief = "-e                   exit with 124 if a request timed out or was given up" },
	{ 0, no_argument, "fail-on-error", set_flag, AT(fail_on_error),
	    .help = "exit with 123 instead of 0 if a request was answered\n"
		    "with an error or isError or given up, or a line of\n"
		    "the client was no message" },
	{ 0, required_argument, "term-after", set_wait, AT(term_after), .wanted = DURATION, .shown = " DURATION",
	    .help = "from the end of the server's stdin to SIGTERM (700ms;\n"
		    "100ms after a signal, or if it is stuck)" },
	{ 0, required_argument, "kill-after", set_wait, AT(kill_after), .wanted = DURATION, .shown = " DURATION",
	    .help = "from there to SIGKILL (450ms; 250ms likewise)" },
	{ 0, required_argument, "sweep", set_choice, AT(sweep_group), .wanted = "tree or group", .shown = " WHAT",
	    .help = "what is ended when the server has ended: tree, all\n"
		    "that it started, or group, which spares what left\n"
		    "its process group (tree)" },
	{ 'r', optional_argument, "restart", set_restart, 0,
	    .wanted =
		"stateless or [stateless,]N[/DURATION], such as 5/1m, with N from 1 to 100000 and DURATION " UNITS_DURATION,
	    .shown = "[=stateless | =[stateless,]N[/DURATION]]",
	    .help = "start it again when it crashes in an open session, at\n"
		    "most N times in DURATION, or in all (5/1m); agents\n"
		    "(ACP) and language servers, whose sessions cannot be\n"
		    "replayed, only if stateless",
	    .brief = "-r                   start the server again when it crashes", .heading = "A server that fails" },
	{ 'k', optional_argument, "kill-stuck", set_stuck, 0, .wanted = "a time such as 500ms or 10s",
	    .shown = "[=DURATION]",
	    .help = "after a cancel ask it whether it is alive; if it does\n"
		    "not answer within DURATION (10s), end it; implies -r.\n"
		    "The session of an agent or a language server is over\n"
		    "then, unless -r says stateless",
	    .brief = "-k[DURATION]         replace a server that is stuck after a cancel (10s)" },
	{ 0, required_argument, "max-message", set_size, AT(session.max_message),
	    .wanted = "a size from 64K on, such as 10M or 1G", .shown = " SIZE",
	    .help = "longest message that passes (256M); a longer one is\n"
		    "thrown away; 64K, 10M, 1G",
	    .heading = "Limits" },
	{ 0, required_argument, "max-inflight", set_count, AT(session.max_inflight),
	    .wanted = "a number from 1 to 16777216", .shown = " N",
	    .help = "requests outstanding in one direction (65536)" },
	{ 'l', required_argument, "log", set_log, AT(log_path),
	    .wanted = "the name of a file (./-- for one of that name); ~/ is your home directory", .shown = " FILE",
	    .help = "append to FILE instead of writing to stderr",
	    .brief = "-l FILE              append the log to FILE instead of writing it to stderr",
	    .heading = "The log" },
	{ 0, required_argument, "log-format", set_choice, AT(log.json), .wanted = "text or json", .shown = " FORMAT",
	    .help = "text or json" },
	{ 0, required_argument, "log-level", set_level, 0, .key = KEY_LEVEL,
	    .wanted = "error, person, decision or traffic", .shown = " LEVEL",
	    .help = "error, person, decision or traffic: as with -q,\n"
		    "without an option, with -v, with -vv" },
	{ 0, no_argument, "log-payload", set_flag, AT(log.payload), .key = KEY_UNKNOWN,
	    .help = "write the text of each message, its secrets too, to\n"
		    "a FILE that no other user may read" },
	{ 0, required_argument, "name", set_name, AT(name), .wanted = "a name of 1 to 63 bytes", .shown = " NAME",
	    .help = "the server's name in each line (from the command)",
	    .brief = "--name NAME          the server's name in each line of the log" },
	{ 'v', no_argument, NULL, set_level, 0, .key = KEY_LEVEL,
	    .help = "say more: each decision; -vv: each message, without\n"
		    "its contents",
	    .brief = "-v                   log every decision; -q: only failures of canceld" },
	{ 'q', no_argument, NULL, set_level, 0, .key = KEY_LEVEL, .help = "say less: only what canceld fails at" },
	{ 'n', no_argument, "dry-run", set_flag, AT(session.dry_run),
	    .help = "let every byte pass, and log what would have been\n"
		    "cancelled, dropped or answered",
	    .brief = "-n                   only log what would be done; every byte passes",
	    .heading = "To look at a session" },
	{ 'c', required_argument, "config", set_path, AT(config), .key = KEY_UNKNOWN,
	    .wanted = "the name of a file; ~/ is your home directory", .shown = " FILE",
	    .help = "read from FILE what the options do not say (from\n"
		    "~/.config/canceld/config.json); SIGUSR2: again",
	    .heading = "Configuration and control" },
	{ 0, required_argument, "control", set_path, AT(control),
	    .wanted = "the name of a socket, at most 103 bytes; ~/ is your home directory", .shown = " PATH",
	    .help = "the control socket; cancelctl(1) has to be told this\n"
		    "path (by default it finds this canceld by itself)" },
	{ 0, no_argument, "no-control", set_flag, AT(no_control), .help = "no control socket" },
	{ 0, optional_argument, "wrapped", NULL, 0, .key = KEY_UNKNOWN, .shown = "[=FORM]",
	    .help = "ignored: cancelctl unwrap knows its work by it" },
	{ 'h', no_argument, NULL, NULL, 0, .key = KEY_UNKNOWN, .help = "the common options, on one screen",
	    .heading = "Help" },
	{ 0, no_argument, "help", NULL, 0, .key = KEY_UNKNOWN, .help = "this text",
	    .brief = "--help               all options; `man canceld` explains them" },
	{ 'V', no_argument, "version", NULL, 0, .key = KEY_UNKNOWN, .help = "the version" },
	{ .help = NULL },
};

enum {
	ROWS = sizeof(options_rows) / sizeof(options_rows[0]) - 1,
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
put_help(struct buf *text, const struct options_row *row)
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
	    row->name != NULL ? row->name : "", row->shown != NULL ? row->shown : "");
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
			put_help(text, &options_rows[i]);
		} else if (options_rows[i].brief != NULL) {
			buf_append(text, SPAN("  "));
			buf_append(text, span_of(options_rows[i].brief));
			buf_append(text, SPAN("\n"));
		}
	}
	buf_append(text, brief ? span_of(brief_foot) : span_of(help_foot));
}

/* For getopt_long. "+": what follows the command is the command's. */
static void
list_options(char letters[2 + 3 * ROWS + 1], struct option table[ROWS + 1])
{
	char *end = stpcpy(letters, "+:");

	for (int i = 0; i < ROWS; i++) {
		const struct options_row *row = &options_rows[i];

		if (row->letter != 0) {
			*end++ = (char)row->letter;
			end = stpcpy(end, &"::"[2 - row->argument]);
		}
		if (row->name != NULL)
			*table++ = (struct option){ row->name, row->argument, NULL,
				row->letter != 0 ? row->letter : BY_NAME + i };
	}
	*table = (struct option){ 0 };
}

/* The option for a result of getopt_long; NULL: none. */
static const struct options_row *
find_row(int option)
{
	int i;

	for (i = 0; i < ROWS; i++)
		if (option == BY_NAME + i || (option != 0 && option == options_rows[i].letter))
			return &options_rows[i];
	return NULL;
}

/* As a setter. */
static const char *
set(struct options *options, const struct options_row *row, enum policy_source source, const char *value)
{
	struct setting setting = { row, options, (char *)options + row->at, value, source };

	return row->set == NULL ? NULL : row->set(&setting);
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

		if (len == 0 || options_rows[i].name == NULL)
			continue;
		if (strncmp(options_rows[i].name, name, len) == 0)
			snprintf(likely + used, sizeof(likely) - used, "%s--%s", used > 0 ? ", " : "",
			    options_rows[i].name);
		nearest_offer(&nearest, options_rows[i].name);
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
	const struct options_row *row = find_row(found);

	if (option == ':')
		return options_refuse(options, "--%s wants a value: %s; see canceld --help", row->name, row->wanted);
	if (row != NULL)
		return options_refuse(options, "--%s takes no value: '%s'", row->name, argument);
	if (found != 0)
		return options_refuse(options, "unknown option -%c; see canceld --help", found);
	return refuse_name(options, argument);
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

static int
print_text(bool brief)
{
	struct buf text;
	int status;

	buf_init(&text);
	options_help(&text, brief);
	buf_append(&text, (struct span){ "", 1 });
	status = print(text.data);
	buf_free(&text);
	return status;
}

static int
apply(struct options *options, const struct options_row *row, const char *argument)
{
	const char *fault;

	if (row->letter == 'h' || (row->name != NULL && strcmp(row->name, "help") == 0))
		return print_text(row->letter == 'h');
	if (row->letter == 'V')
		return print("canceld " CANCELD_VERSION "\n");
	fault = set(options, row, POLICY_OPTION, argument);
	if (fault != NULL)
		return options_refuse(options, "--%s '%s': %swant %s", row->name, argument, fault, row->wanted);
	options->given[row - options_rows] = true;
	return OPTIONS_RUN;
}

/* The row of a key of the configuration file; NULL: it is none. */
static const struct options_row *
find_key(const char *key)
{
	for (const struct options_row *row = options_rows; row < options_rows + ROWS; row++)
		if (row->key != KEY_UNKNOWN && row->name != NULL && strcmp(row->name, key) == 0)
			return row;
	return NULL;
}

enum options_key
options_key(const char *key)
{
	const struct options_row *row = find_key(key);

	return row == NULL ? KEY_UNKNOWN : row->key;
}

bool
options_given(const struct options *options, const char *key)
{
	const struct options_row *row = find_key(key);

	for (int i = 0; i < ROWS; i++)
		if (options->given[i] &&
		    (row == &options_rows[i] || (row->key == KEY_LEVEL && options_rows[i].key == KEY_LEVEL)))
			return true;
	return false;
}

bool
options_set(struct options *options, const char *key, enum policy_source source, const char *value, struct buf *fault)
{
	const struct options_row *row = find_key(key);
	const char *likely = "";
	char words[1024];

	if (value != NULL && row->argument == no_argument)
		snprintf(words, sizeof(words), "%s '%s': want true or false", key, value);
	else if (value == NULL && row->argument == required_argument)
		snprintf(words, sizeof(words), "%s: want %s", key, row->wanted);
	else if ((likely = set(options, row, source, value)) == NULL)
		return true;
	else
		snprintf(words, sizeof(words), "%s '%s': %swant %s", key, value, likely, row->wanted);
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
}

/* Whether a word could be the value of the option before it, which has an optional one. */
static bool
is_value(const struct options_row *row, const char *word)
{
	struct options scratch = { 0 };
	msec_t duration;

	return row->argument == optional_argument && row->set != NULL &&
	    (units_read_duration(span_of(word), &duration) || set(&scratch, row, POLICY_OPTION, word) == NULL);
}

/* last: the option without a value just before the command, or NULL. */
static int
check_command(struct options *options, const struct options_row *last)
{
	const char *command = options->command[0];

	if (command == NULL)
		return options_refuse(options,
		    "which server is to be run? No command was given; " USAGE "; see canceld -h");
	if (last != NULL && is_value(last, command))
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
	const struct options_row *row, *last = NULL;
	int option, status = OPTIONS_RUN;
	char letters[2 + 3 * ROWS + 1];
	struct option table[ROWS + 1];

	options_init(options);
	list_options(letters, table);
	opterr = 0;
	optind = 0; /* glibc: start anew, which the tests need */
	while (status == OPTIONS_RUN && (option = getopt_long(argc, argv, letters, table, NULL)) != -1) {
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
	if (options->log.payload && options->log.file == NULL)
		return options_refuse(options,
		    "--log-payload writes the text of messages, secrets too: name a file for it with --log");
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
