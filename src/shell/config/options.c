#include "shell/options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>

#include "core/compose.h"
#include "core/json.h"

#define USAGE "usage: canceld [options] [--] command [arg...]"

enum {
	RESTARTS_MAX = 100000,
	/* texts that are kept as long as canceld runs; then a rule tells only its place */
	ORIGINS_MOST = 1000,
	MESSAGE_LEAST = 64 << 10,
	INFLIGHT_MOST = 16 << 20,

	HELP_LEFT = 26,  /* columns before the explanations */
	HELP_WIDTH = 80, /* columns */
};

/* An option is set. Without one it is as in set_defaults. */
struct setting {
	struct options *options;
	const struct options_row *row;
	enum policy_source source;
	const char *value; /* NULL: it was left out, as it may be */
	struct span text;  /* the value, or "" */
	void *at;          /* what the row sets */
};

static bool
set_flag(const struct setting *it)
{
	*(bool *)it->at = true;
	return true;
}

/* A bool: the second of two words. */
static bool
set_choice(const struct setting *it)
{
	bool *second = it->at;

	*second = text_is(it->text.ptr, strchr(it->row->value, '|') + 1);
	return *second || span_equal(it->text, span_until(span_of(it->row->value), "|"));
}

static bool
set_dialect(const struct setting *it)
{
	const struct dialect **dialect = it->at;

	*dialect = dialect_named(it->text);
	return *dialect != NULL || span_is(it->text, "auto");
}

/* None is 0. */
static bool
set_wait(const struct setting *it)
{
	msec_t *wait = it->at;
	bool fine = units_read_duration(it->value, wait);

	if (*wait == MSEC_NEVER)
		*wait = 0;
	return fine;
}

static bool
set_drain(const struct setting *it)
{
	it->options->drain = true;
	return it->value == NULL || units_read_duration(it->value, it->at);
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
static bool
set_restart(const struct setting *it)
{
	static const char word[] = "stateless";
	struct options *options = it->options;
	const char *value = it->value;
	size_t len = strlen(word);

	allow_restarts(options);
	if (value != NULL && text_begins(value, word) &&
	    (value[len] == ',' || value[len] == '\0')) {
		options->session.stateless = true;
		value = value[len] == ',' ? value + len + 1 : NULL;
	}
	if (value == NULL)
		return true;
	len = strcspn(value, "/");
	options->restarts_within = MSEC_NEVER;
	return units_read_number(span_at(value, len), false, 1, RESTARTS_MAX, &options->restarts) &&
	    (value[len] == '\0' || units_read_duration(value + len + 1, &options->restarts_within));
}

static bool
set_time(const struct setting *it, msec_t built_in)
{
	msec_t *time = it->at;

	*time = built_in;
	return it->value == NULL || (units_read_duration(it->value, time) && *time != MSEC_NEVER);
}

static bool
set_stuck(const struct setting *it)
{
	allow_restarts(it->options);
	return set_time(it, TIME_STUCK);
}

static bool
set_heartbeat(const struct setting *it)
{
	return set_time(it, TIME_HEARTBEAT);
}

/* Twice the most, and a buffer that grows to contain it, still fits into a size_t. */
static bool
set_size(const struct setting *it)
{
	return units_read_number(it->text, true, MESSAGE_LEAST, SIZE_MAX >> 3, it->at);
}

static bool
set_count(const struct setting *it)
{
	return units_read_number(it->text, false, 1, INFLIGHT_MOST, it->at);
}

/* A client passes no shell that would expand ~. */
static bool
set_path(const struct setting *it)
{
	return it->text.len > 0 && !span_is(it->text, "--") &&
	    home_expand(it->value, it->at, OPTIONS_PATH);
}

static bool
set_name(const struct setting *it)
{
	return it->text.len > 0 && snprintf(it->at, NAME_SIZE, "%s", it->value) < NAME_SIZE;
}

static bool
set_level(const struct setting *it)
{
	return log_level_named(it->text, it->at);
}

/* -v, -q */
static bool
set_more_or_less(const struct setting *it)
{
	enum why_level *level = it->at;

	*level = it->row->letter == 'q' ? LEVEL_ERROR : *level + (*level < LEVEL_TRAFFIC);
	return true;
}

/*
 * "command line -t tools/call=3s", or "FILE timeout tools/call=3s", for the newest rule, which was
 * read from the value. A result may be a secret.
 */
static void
tell_origin(const struct setting *it)
{
	struct options *options = it->options;
	struct policy *policy = &options->policy;
	const struct policy_rule *rule = &policy->rules[policy->count - 1];
	enum policy_source source = it->source;
	char letter = (char)(source < POLICY_OPTION ? 0 : it->row->letter);
	const char *section =
	    source == POLICY_SECTION ? json_string_value(options->file.section) : NULL;
	const char *place = source == POLICY_SET ? "cancelctl set" :
	    source == POLICY_OPTION              ? "command line" :
						   options->config;
	const char *equals = rule->text != NULL ? "=..." : strrchr(it->value, '=');
	char shown[NAME_SHOWN];
	BUF_AUTO text = { 0 };
	const char *told;
	json_auto_t *origin = NULL;

	compose_text(&text, section != NULL ? "%s servers.%s" : "%s", place, section);
	if (json_object_size(options->origins) < ORIGINS_MOST) {
		compose_text(&text,
		    letter != '\0'             ? " -%b " :
			source < POLICY_OPTION ? " %b " :
						 " --%b ",
		    letter != '\0' ? span_at(&letter, 1) : span_of(it->row->name));
		if (rule->method != NULL)
			compose_text(&text, "%b", span_head(span_of(rule->method), NAME_SHOWN));
		if (rule->name != NULL)
			compose_text(&text, ":%b", policy_shown(rule, shown));
		compose_text(&text, "%s", equals != NULL ? equals : it->value);
	}
	origin = printable_json(buf_span(&text));
	told = json_string_value(origin);
	if (json_object_get(options->origins, told) == NULL)
		json_object_set(options->origins, told, origin);
	policy_name(policy, json_string_value(json_object_get(options->origins, told)));
}

/*
 * What is behind the last '=' of [METHOD[:NAME]=]VALUE, as a NAME may be a URI; but a text may have
 * one in it.
 */
static const char *
value_of(const struct setting *it)
{
	const char *equals =
	    it->row->traits & OPTION_TEXT ? strchr(it->value, '=') : strrchr(it->value, '=');

	return equals != NULL ? equals + 1 : it->value;
}

/* fine: its value is. With a text it is for a METHOD alone. */
static bool
add_rule(const struct setting *it, bool fine, msec_t number, struct span text)
{
	size_t before = (size_t)(value_of(it) - it->value);
	struct span target = span_at(it->value, before - (before > 0));
	struct span method = text.len > 0 ? target : span_until(target, ":");
	bool named = method.len < target.len;
	struct span name = named ? span_from(target, method.len + 1) : SPAN_NONE;

	if (!fine || (method.len == 0 && (before > 0 || text.len > 0)) ||
	    (named && name.len == 0) || !policy_allows(method) || !policy_allows(name))
		return false;
	policy_add(&it->options->policy, it->source, (enum policy_kind)it->row->at, method, name,
	    number, text);
	tell_origin(it);
	return true;
}

static bool
set_times(const struct setting *it)
{
	msec_t time = 0;
	bool fine = units_read_duration(value_of(it), &time);

	return add_rule(it, fine, time, SPAN_NONE);
}

static bool
set_counts(const struct setting *it)
{
	size_t count = 0;
	bool fine = units_read_number(span_of(value_of(it)), false, 1, LIMIT_INFLIGHT, &count);

	return add_rule(it, fine, (msec_t)count, SPAN_NONE);
}

/* No control byte stands within a string: without line breaks it is the same JSON, in one line. */
static bool
set_answers(const struct setting *it)
{
	const char *value = value_of(it);
	json_auto_t *json = json_loads(value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	BUF_AUTO line = { 0 };

	compose_text(&line, "%s", value + strspn(value, " \t\r\n"));
	for (size_t i = 0; i < line.len; i++)
		if (strchr("\r\n", line.data[i]) != NULL)
			line.data[i] = ' ';
	return add_rule(it, json != NULL, 0, buf_span(&line));
}

static const char wanted_wait[] = "DURATION: " UNITS_DURATION;
static const char wanted_time[] = "a time such as 500ms or 10s";
static const char wanted_path[] =
    "the name of a file (./-- for one of that name); ~/ is your home directory, if that is known";

#define AT(member) offsetof(struct options, member)
#define FLAG(letter, name, member, help) \
	{ \
		letter, 0, set_flag, name, AT(member), NULL, "true or false", help \
	}

const struct options_row options_rows[] = {
	{ 'D', 0, set_dialect, "dialect", AT(session.dialect), "auto|mcp|acp|lsp|bsp|none", NULL,
	    "the server's protocol (auto: what the client's first bytes show); none has no cancel. Without -D a command "
	    "on a terminal runs in canceld's own place, so that a person can log in" },
	{ .help = "Deadlines" },
	{ 't', OPTION_DEADLINE, set_times, "timeout", POLICY_IDLE, "[METHOD[:NAME]=]DURATION",
	    UNITS_RULE,
	    "how long a request may go without progress (5m; tools/call 30m); repeatable" },
	{ 'T', OPTION_DEADLINE, set_times, "max-time", POLICY_CAP, "[METHOD[:NAME]=]DURATION",
	    UNITS_RULE,
	    "how long it may take in all (24h); repeatable. NAME is the tool, prompt or resource. '*' in METHOD or "
	    "NAME stands for anything, '\\*' for itself. The most specific rule wins, of equals the last. DURATION is "
	    "250ms, 1.5s, 5m, 1m30s or 2h; 0 or none is none." },
	{ 'g', 0, set_wait, "grace", AT(session.grace), "DURATION", wanted_wait,
	    "for answers that are on their way already, or owed to a cancelled request (5s; session/prompt 30s)" },
	{ .help = "Cancels and answers" },
	FLAG(0, "no-cancel", session.no_cancel,
	    "write no cancels to the server, not even the client's"),
	FLAG(0, "answer-cancelled", session.answer_cancelled,
	    "answer what the client itself has cancelled with an error, if the server does not within the grace"),
	FLAG(0, "tool-errors", session.tool_errors,
	    "a tools/call that timed out, was lost or refused, or whose answer was malformed, gets a result with isError, so "
	    "that no client repeats it"),
	FLAG(0, "ask-progress", session.ask_progress,
	    "ask for progress in the client's stead: a slow tool that reports some is told from one that hangs"),
	{ 0, OPTION_ANSWER, set_answers, "answer", POLICY_ANSWER, "METHOD=JSON",
	    "METHOD=JSON, such as roots/list={\"roots\":[]}",
	    "answer this request of the server's with the result JSON in the client's place: at once, or, if a -t fits the "
	    "METHOD, when the client does not in time or does not know it; repeatable. For workspace/configuration, [JSON] "
	    "is repeated for each item" },
	{ 0, 0, set_heartbeat, "heartbeat", AT(session.heartbeat), "[=DURATION]", wanted_time,
	    "tell a client that has asked for progress, each DURATION (15s) in which the server reports none, that its "
	    "request is waited for: many clients give up on silence. It extends no deadline of canceld's" },
	FLAG(0, "clean-text", session.clean_text,
	    "put \\ufffd in place of half a character in what the server writes, which model APIs refuse, and escape U+2028 "
	    "and U+2029, at which some clients end a line"),
	FLAG(0, "legacy", session.legacy,
	    "answer server/discover without the server: old ones exit on it"),
	{ .help = "The end" },
	{ 'd', 0, set_drain, "drain", AT(drain_for), "[=DURATION]", wanted_wait,
	    "at end of file on stdin wait for what is outstanding; so does a regular file on stdin" },
	FLAG('e', "fail-on-timeout", fail_on_timeout,
	    "exit with 124 instead of 0 if a request timed out or was given up at the end"),
	FLAG(0, "fail-on-error", fail_on_error,
	    "exit with 123 instead of 0 if a request failed or was given up, or a line of the client was no message"),
	{ 0, 0, set_wait, "term-after", AT(term_after), "DURATION", wanted_wait,
	    "from the end of the server's stdin to SIGTERM (2s; ACP, LSP, BSP 3s, after exit 10s; a signal ends that wait)" },
	{ 0, 0, set_wait, "kill-after", AT(kill_after), "DURATION", wanted_wait,
	    "from there to SIGKILL (2s)" },
	{ 0, 0, set_choice, "sweep", AT(sweep_group), "tree|group", NULL,
	    "what ends with the server: tree, all that it started, or group, only its process group (tree; on macOS group)" },
	{ .help = "A server that fails" },
	{ 'r', 0, set_restart, "restart", AT(restarts), "[=stateless | =[stateless,]N[/DURATION]]",
	    "stateless or [stateless,]N[/DURATION], as in -r5/1m or --restart=5/1m, with N from 1 to 100000 and DURATION " UNITS_DURATION,
	    "start it again when it crashes in an open session, at most N times in DURATION, or in all (5/1m), and never "
	    "20 times in a row without an answer; also when it is needed after it has exited with 0; language servers, and agents (ACP) that can neither resume nor load a "
	    "session, only if stateless" },
	{ 'k', 0, set_stuck, "kill-stuck", AT(session.kill_stuck), "[=DURATION]", wanted_time,
	    "after a cancel ask it whether it is alive; if it does not answer within DURATION (10s), end it, unless it "
	    "never answers ping; implies -r. The session of a server that -r cannot start again is over then" },
	{ 'K', 0, set_stuck, "kill-ignoring", AT(session.kill_ignoring), "DURATION", wanted_time,
	    "end it as -k does if it goes on with a request for DURATION after a cancel or deadline, and never sooner than "
	    "--grace: in ACP, LSP and BSP without an answer, in MCP with progress; implies -r" },
	{ .help = "Limits" },
	{ 0, 0, set_size, "max-message", AT(session.max_message), "SIZE",
	    "a size from 64K on, such as 10M or 1G",
	    "longest message that passes (256M); a longer one is thrown away; 64K, 10M, 1G" },
	{ 0, OPTION_RULE, set_counts, "parallel", POLICY_PARALLEL, "[METHOD[:NAME]=]N",
	    "N, METHOD=N or METHOD:NAME=N, with N from 1 to 65536",
	    "requests of the client's that the server has at once; the others wait in their order. For servers that fail "
	    "with several; MCP and ACP; repeatable, and METHOD, NAME as for -t" },
	{ 0, 0, set_count, "max-inflight", AT(session.max_inflight), "N",
	    "a number from 1 to 16777216", "requests outstanding in one direction (65536)" },
	{ .help = "The log" },
	{ 'l', OPTION_TEXT, set_path, "log", AT(log_path), "FILE", wanted_path,
	    "append to FILE instead of writing to stderr" },
	{ 0, 0, set_choice, "log-format", AT(log.json), "text|json", NULL,
	    "lines of text or JSON objects" },
	{ 0, OPTION_TEXT | OPTION_AT_ONCE, set_level, "log-level", AT(log.level),
	    "error|notice|decision|traffic", NULL,
	    "as with -q, without an option, with -v, with -vv" },
	FLAG(0, "log-payload", log.payload,
	    "write the text of each message, its secrets too, to a FILE that no other user may read"),
	{ 0, OPTION_TEXT, set_name, "name", AT(name), "NAME", "a name of 1 to 63 bytes",
	    "the server's name in each line (from the command)" },
	{ 'v', 0, set_more_or_less, NULL, AT(log.level), NULL, NULL,
	    "say more: each decision; -vv: each message, without its contents" },
	{ 'q', 0, set_more_or_less, NULL, AT(log.level), NULL, NULL,
	    "say less: only what canceld fails at" },
	FLAG(0, "no-history", no_history,
	    "keep nothing in ~/.local/state/canceld/history, of which cancelctl history tells what has happened"),
	{ .help = "To look at a session" },
	FLAG('n', "dry-run", session.dry_run,
	    "let every byte pass, and log what would have been cancelled, dropped or answered"),
	{ .help = "Configuration and control" },
	{ 'c', OPTION_TEXT, set_path, "config", AT(config), "FILE", wanted_path,
	    "read from FILE what the options do not say (from ~/.config/canceld/config.json); SIGUSR2: again" },
	{ 0, OPTION_TEXT, set_path, "control", AT(control), "PATH", wanted_path,
	    "the control socket; cancelctl(1) has to be told this path (by default it finds this canceld by itself)" },
	FLAG(0, "no-control", no_control, "no control socket"),
	FLAG(0, "no-isolation", no_isolation,
	    "keep what canceld gives up on Linux once the server runs: for core files and debuggers (canceld(7), SECURITY)"),
	{ 0, 0, NULL, "wrapped", 0, "[=FORM]", NULL,
	    "ignored: cancelctl unwrap knows its work by it" },
	{ .help = "Help" },
	{ 'h', 0, NULL, "help", 0, NULL, NULL, "this text" },
	{ 'V', 0, NULL, "version", 0, NULL, NULL, "the version" },
	{ .help = NULL },
};

enum {
	ROWS = COUNT_OF(options_rows) - 1,
	/* what getopt_long returns for the name of an option: this and its row */
	BY_NAME = 256,
};

static_assert((int)ROWS <= (int)OPTIONS_MAX, "a row for each member of options.given");

static const char help_head[] =
    USAGE "\n\n"
	  "Runs command, a JSON-RPC server on stdin and stdout (MCP, ACP, LSP, BSP), and\n"
	  "stands between it and its client: every request is answered in bounded time, and\n"
	  "the server hears when nobody waits for an answer any more.\n\n";

static const char help_foot[] =
    "\nA value that may be left out follows without a blank: -r5/1m, --restart=5/1m.\n\n"
    "Exit status: the server's own, with -r the last one's; 128 + n if signal n ended\n"
    "it or canceld; 0 if canceld ended the server when the client had gone; 123 see\n"
    "--fail-on-error; 124 see -e; 125 canceld itself failed; 126 command cannot be\n"
    "executed; 127 command not found.\n";

/* As in struct option. */
static int
argument_of(const struct options_row *row)
{
	if (row->value == NULL)
		return no_argument;
	return text_begins(row->value, "[=") ? optional_argument : required_argument;
}

static void
print_row(const struct options_row *row)
{
	const char *words = row->help;
	int column, len;

	if (row->letter == 0 && row->name == NULL) {
		printf("\n%s:\n", words);
		return;
	}
	column = row->letter == 0 ? printf("      ") :
				    printf("  -%c%s", row->letter, row->name != NULL ? ", " : "");
	if (row->name != NULL)
		column += printf("--%s", row->name);
	if (row->value != NULL)
		column +=
		    printf("%s%s", argument_of(row) == required_argument ? " " : "", row->value);
	column = column < HELP_LEFT ? column + printf("%*s", HELP_LEFT - column, "") : HELP_WIDTH;
	for (; *words != '\0'; words += len + (words[len] == ' ')) {
		len = (int)strcspn(words, " ");
		if (column + 1 + len > HELP_WIDTH)
			column = printf("\n%*s", HELP_LEFT, "") - 1;
		column += printf(" %.*s", len, words);
	}
	printf("\n");
}

/* A reader that wants no more, such as head(1), is no fault. */
static int
print(int letter)
{
	if (letter == 'V') {
		printf("canceld " CANCELD_VERSION "\n");
	} else {
		printf("%s", help_head);
		each_option (row)
			print_row(row);
		printf("%s", help_foot);
	}
	if ((ferror(stdout) || fflush(stdout) != 0) && errno != EPIPE) {
		perror("canceld: stdout");
		return STATUS_FAILED;
	}
	return 0;
}

bool
options_fault(char fault[OPTIONS_FAULT], const char *format, ...)
{
	size_t len = strlen(fault);
	va_list values;

	va_start(values, format);
	vsnprintf(fault + len, OPTIONS_FAULT - len, format, values);
	va_end(values);
	return false;
}

/* false: the value is wrong, missing, or one too many. */
bool
options_set(struct options *options, const struct options_row *row, enum policy_source source,
    const char *value)
{
	struct setting setting = { options, row, source, value, span_of(value),
		(char *)options + row->at };

	if (argument_of(row) == (value != NULL ? no_argument : required_argument))
		return false;
	return row->set == NULL || row->set(&setting);
}

/* Whether the value is right: it is tried. */
static bool
fits(const struct options_row *row, const char *value)
{
	struct options scratch = { 0 };
	bool fine = options_set(&scratch, row, POLICY_OPTION, value);

	policy_free(&scratch.policy);
	return fine;
}

/* What a shell leaves of "=" and JSON: a key without its quotes. */
static bool
lacks_quotes(const char *value)
{
	size_t opened = strspn(value, "=[{");

	return opened > 1 && isalpha((unsigned char)value[opened]);
}

/* Whether it is a number, or ends with one, that a unit would make right. */
static bool
lacks_unit(const struct options_row *row, const char *value)
{
	char seconds[OPTIONS_FAULT];

	print_into(seconds, "%ss", value);
	return !(row->traits & OPTION_TEXT) && fits(row, seconds) &&
	    is_digit(value[strlen(value) - 1]);
}

bool
options_check(char fault[OPTIONS_FAULT], const struct options_row *row, const char *value)
{
	const char *want = row->want != NULL ? row->want : row->value;
	/* The JSON of an answer may hold secrets: only its METHOD is told. */
	int shown =
	    value == NULL ? 0 : (int)strcspn(value, row->traits == OPTION_ANSWER ? "={[\" " : "");

	if (fits(row, value))
		return true;
	if (value == NULL)
		return options_fault(fault, "%s: want %s", row->name, want);
	if (lacks_unit(row, value))
		return options_fault(fault, "%s '%s': is the unit missing? for seconds: %ss",
		    row->name, value, value);
	if ((row->traits & OPTION_RULE) && !policy_allows(span_at(value, (size_t)shown)))
		want = POLICY_PATTERN;
	else if (row->traits == OPTION_ANSWER && lacks_quotes(value + shown))
		want =
		    "METHOD=JSON with the quotes, which a shell takes unless all stands in single quotes: "
		    "--answer 'roots/list={\"roots\":[]}'";
	return options_fault(fault, "%s '%.*s': want %s", row->name, shown, value, want);
}

int
options_refuse(struct options *options, const char *format, ...)
{
	char text[sizeof(options->fault) / 4]; /* printable, each byte becomes at most four */
	BUF_AUTO shown = { 0 };
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	printable_append(&shown, span_of(text), "");
	print_into(options->fault, "%.*s", (int)shown.len, shown.data);
	fprintf(stderr, "canceld: %s\n", options->fault);
	options->log = (struct log_config){ .level = LEVEL_ERROR, .tail = true };
	return STATUS_FAILED;
}

/* The option for a result of getopt_long; NULL: none. */
static const struct options_row *
find_row(int option)
{
	each_option (row)
		if (option == BY_NAME + (row - options_rows) ||
		    (option != 0 && option == row->letter))
			return row;
	return NULL;
}

/* An option that getopt_long refused; found: its optopt; argument: the word that it read last. */
static int
refuse(struct options *options, int found, const char *argument)
{
	const struct options_row *row = find_row(found);
	struct nearest nearest = { .option = true };

	if (row != NULL)
		return options_refuse(options, "--%s takes no value: '%s'", row->name, argument);
	if (found != 0)
		return options_refuse(options, "unknown option -%c; see canceld --help", found);
	nearest.typed = span_until(span_of(argument + 2), "=");
	each_option (other)
		if (other->name != NULL)
			nearest_offer(&nearest, other->name);
	return options_refuse(options, "unknown or ambiguous option '--%.*s'%s; see canceld --help",
	    (int)nearest.typed.len, nearest.typed.ptr, nearest.told);
}

static int
apply(struct options *options, const struct options_row *row, const char *value)
{
	if (row->letter == 'h' || row->letter == 'V')
		return print(row->letter);
	options->given[row - options_rows] = true;
	/* The end of the options is no value of the last one. */
	if (value != NULL && text_is(value, "--") && argument_of(row) == required_argument)
		value = NULL;
	if (options_check(options->fault, row, value)) {
		options_set(options, row, POLICY_OPTION, value);
		return OPTIONS_RUN;
	}
	if (value != NULL && row->letter != 0 && argument_of(row) == optional_argument &&
	    find_row(value[0]) != NULL)
		return options_refuse(options,
		    "--%s; an option behind -%c has its own hyphen: -%c -%s", options->fault,
		    row->letter, row->letter, value);
	if (value != NULL)
		return options_refuse(options, "--%s", options->fault);
	return options_refuse(options, "--%s needs a value%s; see canceld --help", row->name,
	    strchr(options->fault, ':'));
}

const struct options_row *
options_key(const char *key)
{
	/* A file names no other file, and does not decide that messages are written down. */
	each_option (row)
		if (row->name != NULL && text_is(row->name, key) && row->set != NULL &&
		    row->at != AT(config) && row->at != AT(log.payload))
			return row;
	return NULL;
}

bool
options_given(const struct options *options, const struct options_row *row)
{
	/* -v and -q set what --log-level sets. */
	each_option (other)
		if (options->given[other - options_rows] && other->at == row->at)
			return true;
	return false;
}

/* The values without any option. */
static void
set_defaults(struct options *options)
{
	*options = (struct options){
		.session = { .grace = MSEC_NEVER,
		    .max_message = LIMIT_MESSAGE,
		    .max_inflight = LIMIT_INFLIGHT },
		.drain_for = MSEC_NEVER,
		.term_after = MSEC_NEVER,
		.kill_after = MSEC_NEVER,
		.sweep_group = system_has(SYSTEM_INFERS),
		.log = { .level = LEVEL_NOTICE },
		.origins = json_object(),
	};
}

/* last: the option without a value just before the command, or NULL. */
static int
check_command(struct options *options, const struct options_row *last)
{
	const char *command = options->command[0];
	msec_t duration;

	if (command == NULL)
		return options_refuse(options,
		    "which server is to be run? No command was given; " USAGE
		    "; see canceld --help");
	if (last != NULL && last->set != NULL && argument_of(last) == optional_argument &&
	    (units_read_duration(command, &duration) || fits(last, command)))
		return options_refuse(options,
		    "'%s' is no command; the value of --%s follows without a blank: --%s=%s",
		    command, last->name, last->name, command);
	if (options->name[0] == '\0')
		name_of_command(options->command, options->name);
	options->log.name = options->name;
	/* Clients that expand it do so only where they start a program. */
	if (text_begins(command, "~/")) {
		if (!home_expand(command, options->program, sizeof(options->program)))
			return options_refuse(options,
			    "'%s': there is no home, or its path is too long", command);
		options->command[0] = options->program;
	}
	return OPTIONS_RUN;
}

/*
 * For getopt_long. "+": what follows the command is the command's; ":": it tells a missing value
 * from a wrong option.
 */
static void
list_options(char letters[2 + 3 * ROWS + 1], struct option table[ROWS + 1])
{
	static const char *const colons[] = { "", ":", "::" }; /* by argument_of */
	char *end = stpcpy(letters, "+:");

	each_option (row) {
		if (row->letter != 0) {
			*end++ = (char)row->letter;
			end = stpcpy(end, colons[argument_of(row)]);
		}
		if (row->name != NULL)
			*table++ = (struct option){ row->name, argument_of(row), NULL,
				BY_NAME + (int)(row - options_rows) };
	}
	*table = (struct option){ 0 };
}

int
options_parse(struct options *options, int argc, char *argv[])
{
	const struct options_row *row, *last = NULL;
	int option, status = OPTIONS_RUN;
	char letters[2 + 3 * ROWS + 1];
	struct option table[ROWS + 1];

	set_defaults(options);
	list_options(letters, table);
	opterr = 0;
	optind = 0; /* glibc: start anew, which the tests need */
	while (status == OPTIONS_RUN &&
	    (option = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		row = find_row(option == ':' ? optopt : option);
		status = row != NULL ? apply(options, row, optarg) :
				       refuse(options, optopt, argv[optind - 1]);
		last = optarg == NULL ? row : NULL;
	}
	if (status != OPTIONS_RUN)
		return status;
	options->command = argv + optind;
	return check_command(options, text_is(argv[optind - 1], "--") ? NULL : last);
}

void
options_free(struct options *options)
{
	policy_free(&options->policy);
	json_decref(options->origins);
	json_decref(options->file.section);
	json_decref(options->file.in_force);
	json_decref(options->file.faults);
}
