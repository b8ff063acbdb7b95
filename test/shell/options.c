#include "shell/options.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/limits.h"
#include "shell/system.h"

/* Each test runs in a process of its own. */
struct parsed {
	int status;
	struct options options;
	char out[8192], error[1024];
	char line[512];
	char *argv[64]; /* points into line */
};

static FILE *
catch_output(int fd)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(dup2(fileno(file), fd), fd);
	return file;
}

static void
read_back(FILE *file, char *text, size_t size)
{
	size_t len;

	rewind(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
}

/* The arguments after "canceld", separated by single blanks. */
static void
parse(struct parsed *parsed, const char *arguments)
{
	FILE *out = catch_output(STDOUT_FILENO);
	FILE *error = catch_output(STDERR_FILENO);
	char *rest = parsed->line;
	int argc = 0;

	snprintf(parsed->line, sizeof(parsed->line), "canceld %s", arguments);
	while ((parsed->argv[argc] = strsep(&rest, " ")) != NULL)
		argc++;
	parsed->status = options_parse(&parsed->options, argc, parsed->argv);
	fflush(stdout);
	read_back(out, parsed->out, sizeof(parsed->out));
	read_back(error, parsed->error, sizeof(parsed->error));
}

static struct options *
accept_line(struct parsed *parsed, const char *arguments)
{
	parse(parsed, arguments);
	ck_assert_msg(parsed->status == OPTIONS_RUN, "%s: %s", arguments, parsed->error);
	ck_assert_str_eq(parsed->error, "");
	ck_assert_str_eq(parsed->out, "");
	return &parsed->options;
}

SUITE("options", .alone = true);

TEST(each_option_sets_what_it_names)
{
	static struct parsed parsed;
	const struct options *options;

	setenv("HOME", "/home/someone", 1);
	options = accept_line(&parsed,
	    "--dialect=bsp --timeout 30s --max-time=2h --grace 250ms --drain=5m --no-cancel --answer-cancelled "
	    "--tool-errors --ask-progress --heartbeat=20s --clean-text --legacy --fail-on-timeout --fail-on-error --term-after 1s --kill-after none "
	    "--sweep group --max-message 10M --max-inflight 7 --log ~/a/log --log-format json --log-payload "
	    "--name mine --dry-run --config a~/b --control c --no-control --no-history --no-isolation --wrapped=x -- server -x");
	ck_assert_ptr_eq(options->session.dialect, &dialect_bsp);
	ck_assert_int_eq(options->policy.rules[0].value, 30000);
	ck_assert_int_eq(options->policy.rules[1].value, 7200000);
	ck_assert_int_eq(options->session.grace, 250);
	ck_assert(options->drain);
	ck_assert_int_eq(options->drain_for, 300000);
	ck_assert(options->session.no_cancel && options->session.answer_cancelled &&
	    options->session.tool_errors);
	ck_assert(options->session.ask_progress && options->session.clean_text &&
	    options->session.legacy && options->session.dry_run);
	ck_assert_int_eq(options->session.heartbeat, 20000);
	ck_assert(options->fail_on_timeout && options->fail_on_error);
	ck_assert_int_eq(options->term_after, 1000);
	ck_assert_int_eq(options->kill_after, 0);
	ck_assert(options->sweep_group && options->no_control && options->no_history &&
	    options->no_isolation);
	ck_assert_uint_eq(options->session.max_message, 10 << 20);
	ck_assert_uint_eq(options->session.max_inflight, 7);
	ck_assert_str_eq(options->log_path, "/home/someone/a/log");
	ck_assert(options->log.json && options->log.payload);
	ck_assert_str_eq(options->log.name, "mine");
	ck_assert_str_eq(options->config, "a~/b");
	ck_assert_str_eq(options->control, "c");
	ck_assert_str_eq(options->command[0], "server");
	ck_assert_str_eq(options->command[1], "-x");
	options_free(&parsed.options);
}

/* Without the option processes are never chosen for SIGKILL by an inference. */
TEST(the_tree_is_swept_where_it_is_known)
{
	const char *const lines[] = { "server", "--sweep tree server", "--sweep group server" };
	const bool group[] = { system_has(SYSTEM_INFERS), false, true };
	static struct parsed parsed;

	for (int i = 0; i < 3; i++) {
		ck_assert(accept_line(&parsed, lines[i])->sweep_group == group[i]);
		options_free(&parsed.options);
	}
}

TEST(options_have_letters)
{
	static struct parsed parsed;
	const struct options *options = accept_line(&parsed,
	    "-D lsp -Dauto -t1s -T 2s -g 0 -d4s -e -l file -c file -n npx -y @scope/a-server -t nonsense");

	ck_assert_ptr_null(options->session.dialect);
	ck_assert_int_eq(options->policy.rules[0].value, 1000);
	ck_assert_int_eq(options->policy.rules[1].value, 2000);
	ck_assert_int_eq(options->session.grace, 0);
	ck_assert_int_eq(options->drain_for, 4000);
	ck_assert(options->fail_on_timeout && options->session.dry_run);
	ck_assert_str_eq(options->log_path, "file");
	ck_assert_str_eq(options->config, "file");
	ck_assert_str_eq(options->log.name, "a-server");
	ck_assert_str_eq(options->command[0], "npx");
	ck_assert_str_eq(options->command[4], "nonsense");
	options_free(&parsed.options);
}

/* What cancelctl wrap writes; the form may be left out, and what follows is the command. */
TEST(the_mark_of_a_wrap_changes_nothing)
{
	static struct parsed parsed;

	ck_assert_str_eq(accept_line(&parsed, "--wrapped server")->command[0], "server");
	options_free(&parsed.options);
}

static const struct {
	const char *line;
	size_t restarts;
	msec_t within, kill_stuck;
	bool stateless;
} restarts[] = {
	{ "server", 0, 0, 0, false },
	{ "-r server", 5, 60000, 0, false },
	{ "--restart server", 5, 60000, 0, false },
	{ "-r7/2m server", 7, 120000, 0, false },
	{ "--restart=100000 server", 100000, MSEC_NEVER, 0, false },
	{ "--restart=3/none server", 3, MSEC_NEVER, 0, false },
	{ "--restart=stateless server", 5, 60000, 0, true },
	{ "-rstateless,2/1s server", 2, 1000, 0, true },
	{ "-r -- server", 5, 60000, 0, false },
	{ "-k server", 5, 60000, 10000, false },
	{ "-k500ms server", 5, 60000, 500, false },
	{ "--kill-stuck=2s -r7/2m server", 7, 120000, 2000, false },
	{ "-r7/2m --kill-stuck=2s server", 7, 120000, 2000, false },
	{ "-K 3s server", 5, 60000, 0, false },
	{ "-r7/2m -rstateless server", 7, 120000, 0, true },
};

TESTS(how_a_server_is_started_again, 0, COUNT(restarts))
{
	static struct parsed parsed;
	const struct options *options = accept_line(&parsed, restarts[_i].line);

	ck_assert_uint_eq(options->restarts, restarts[_i].restarts);
	ck_assert_int_eq(options->restarts_within, restarts[_i].within);
	ck_assert_int_eq(options->session.kill_stuck, restarts[_i].kill_stuck);
	ck_assert_int_eq(options->session.stateless, restarts[_i].stateless);
	ck_assert_str_eq(options->command[0], "server");
	options_free(&parsed.options);
}

static const struct {
	const char *line;
	enum why_level level;
} levels[] = {
	{ "-q server", LEVEL_ERROR },
	{ "-v server", LEVEL_DECISION },
	{ "-v -v server", LEVEL_TRAFFIC },
	{ "-vvvv server", LEVEL_TRAFFIC },
	{ "-v -q server", LEVEL_ERROR },
	{ "--log-level error server", LEVEL_ERROR },
	{ "--log-level=notice server", LEVEL_NOTICE },
	{ "--log-level decision server", LEVEL_DECISION },
	{ "-q --log-level traffic server", LEVEL_TRAFFIC },
	{ "--log-level notice -v server", LEVEL_DECISION },
};

TESTS(the_level_of_the_log, 0, COUNT(levels))
{
	static struct parsed parsed;

	ck_assert_int_eq(accept_line(&parsed, levels[_i].line)->log.level, levels[_i].level);
}

static const struct {
	const char *text;
	msec_t duration;
} durations[] = {
	{ "0", MSEC_NEVER },
	{ "none", MSEC_NEVER },
	{ "0s", MSEC_NEVER },
	{ "1ms", 1 },
	{ "250ms", 250 },
	{ "30s", 30000 },
	{ "0030s", 30000 },
	{ "5m", 300000 },
	{ "2h", 7200000 },
	{ "1d12h", 129600000 },
	{ "100000h", 360000000000 },
	{ "360000000s", 360000000000 },
	{ "1m30s", 90000 },
	{ "1.5s", 1500 },
	{ "1h0.5m2s3ms", 3632003 },
	{ "0.001s", 1 },
	{ "0m0s", MSEC_NEVER },
	{ "99999h60m", 360000000000 },
};

TESTS(durations_have_units, 0, COUNT(durations))
{
	static struct parsed parsed;
	char line[64];

	snprintf(line, sizeof(line), "-t %s server", durations[_i].text);
	ck_assert_int_eq(accept_line(&parsed, line)->policy.rules[0].value, durations[_i].duration);
}

static const struct {
	const char *text;
	const char *method, *name;
	msec_t duration;
} rules[] = {
	{ "30s", NULL, NULL, 30000 },
	{ "tools/call=2m", "tools/call", NULL, 120000 },
	{ "tools/call:slow_tool=10m", "tools/call", "slow_tool", 600000 },
	{ "tools/call=none", "tools/call", NULL, MSEC_NEVER },
	{ "resources/read:file:///x=y=1s", "resources/read", "file:///x=y", 1000 },
	{ "prompts/get:a:b==0", "prompts/get", "a:b=", MSEC_NEVER },
};

static void
expect_text(const char *is, const char *wanted)
{
	if (wanted == NULL)
		ck_assert_ptr_null(is);
	else
		ck_assert_str_eq(is, wanted);
}

TESTS(rules_name_a_method_and_a_name, 0, COUNT(rules))
{
	static struct parsed parsed;
	const struct options *options;
	char line[128];
	int i;

	snprintf(line, sizeof(line), "-t %s -T %s server", rules[_i].text, rules[_i].text);
	options = accept_line(&parsed, line);
	ck_assert_uint_eq(options->policy.count, 2);
	for (i = 0; i < 2; i++) {
		const struct policy_rule *rule = &options->policy.rules[i];

		ck_assert_int_eq(rule->kind, i == 0 ? POLICY_IDLE : POLICY_CAP);
		expect_text(rule->method, rules[_i].method);
		expect_text(rule->name, rules[_i].name);
		ck_assert_int_eq(rule->value, rules[_i].duration);
	}
	options_free(&parsed.options);
}

/* Its bytes are kept, in one line; of one method the last one counts. */
TEST(how_many_requests_go_at_once_is_a_rule_too)
{
	static struct parsed parsed;
	const struct options *options =
	    accept_line(&parsed, "--parallel 4 --parallel tools/call:a=b=65536 -t 1s server");

	ck_assert_uint_eq(options->policy.count, 3);
	ck_assert_int_eq(options->policy.rules[0].kind, POLICY_PARALLEL);
	ck_assert_ptr_null(options->policy.rules[0].method);
	ck_assert_int_eq(options->policy.rules[0].value, 4);
	ck_assert_str_eq(options->policy.rules[0].origin, "command line --parallel 4");
	ck_assert_str_eq(options->policy.rules[1].method, "tools/call");
	ck_assert_str_eq(options->policy.rules[1].name, "a=b");
	ck_assert_int_eq(options->policy.rules[1].value, 65536);
	ck_assert_str_eq(options->policy.rules[1].origin,
	    "command line --parallel tools/call:a=b=65536");
}

TEST(an_answer_is_json_in_one_line)
{
	static struct parsed parsed;
	struct policy *policy = &accept_line(&parsed,
	    "--answer a=0 --answer a/b=[1.50,\n\"=\\u0000\"\r\n] --answer a=null "
	    "--answer c=\n\t\r[{}] server")
				     ->policy;

	ck_assert_uint_eq(policy->count, 4);
	ck_assert_str_eq(policy_find(policy, POLICY_ANSWER, SPAN("a"), SPAN_NONE, 0)->text, "null");
	ck_assert_str_eq(policy->rules[1].method, "a/b");
	ck_assert_str_eq(policy->rules[1].text, "[1.50, \"=\\u0000\"  ]");
	ck_assert_str_eq(policy->rules[1].origin, "command line --answer a/b=...");
	/* what is repeated begins with its bracket */
	ck_assert_str_eq(policy->rules[3].text, "[{}]");
	options_free(&parsed.options);
}

/* Refused command lines, and two parts that the message must contain. */
static const struct {
	const char *line;
	const char *says, *wants;
} refused[] = {
	{ "-t 30 server", "--timeout '30'", "is the unit missing? for seconds: 30s" },
	{ "--log-level loud server", "--log-level 'loud'", "error|notice|decision|traffic" },
	{ "-t *********=5s server", "--timeout '*********=5s'",
	    "a pattern with '*' has at most 8 of them and 256 bytes" },
	{ "-t -5s server", "--timeout '-5s'", "such as 30s or tools/call:NAME=5m" },
	{ "-t tools/call=7 server", "--timeout 'tools/call=7'",
	    "is the unit missing? for seconds: tools/call=7s" },
	{ "-t 5.s server", "--timeout '5.s'", "such as 30s or tools/call:NAME=5m" },
	{ "-t 1.0001s server", "--timeout '1.0001s'", "such as 30s or tools/call:NAME=5m" },
	{ "-t 1m30 server", "--timeout '1m30'", "is the unit missing? for seconds: 1m30s" },
	{ "-T 200000h server", "--max-time '200000h'", "(up to 100000h;" },
	{ "-t 1s30m server", "--timeout '1s30m': want", "the largest first: 1m30s" },
	{ "-t 5min server", "--timeout '5min': want", "in ms, s, m, h and d" },
	{ "-r=2 server", "--restart '=2': want", "as in -r5/1m or --restart=5/1m" },
	{ "-r5/200000h server", "--restart", "at most 100000h" },
	{ "--name= server", "--name ''", "a name of" },
	{ "--timeuot=5s server", "'--timeuot'", ": it could be --timeout;" },
	{ "--retries server", "'--retries'", "see canceld --help" },
	{ "--kil-stuck server", "'--kil-stuck'", ": it could be --kill-stuck;" },
	{ "--fail-on server", "'--fail-on'", ": it could be --fail-on-timeout;" },
	{ "--parallel 0 server", "--parallel '0': want N, METHOD=N or METHOD:NAME=N",
	    "from 1 to 65536" },
	{ "--parallel 65537 server", "--parallel '65537': want N", "from 1 to 65536" },
	{ "--parallel none server", "--parallel 'none': want N", "from 1 to 65536" },
	{ "--parallel 2s server", "--parallel '2s': want N", "from 1 to 65536" },
	{ "--parallel =2 server", "--parallel '=2': want N", "from 1 to 65536" },
	{ "--parallel a*********=2 server", "--parallel 'a*********=2': want a pattern",
	    "at most 8" },
	{ "--answer a*********=2 server", "--answer 'a*********': want a pattern", "at most 8" },
	{ "-t a:b=*********=2s server", "--timeout 'a:b=*********=2s': want a pattern",
	    "at most 8" },
	{ "--answer roots/list server", "--answer 'roots/list'",
	    "METHOD=JSON, such as roots/list={\"roots\":[]}" },
	{ "--answer =null server", "--answer ''", "METHOD=JSON" },
	{ "--answer {\"roots\":[]} server", "--answer ''", "METHOD=JSON" },
	{ "--answer a= server", "--answer 'a'", "METHOD=JSON" },
	{ "--answer a={}x server", "--answer 'a'", "METHOD=JSON, such as" },
	{ "--answer roots/list={roots:[]} server",
	    "--answer 'roots/list': want METHOD=JSON with the quotes, which a shell takes",
	    "unless all stands in single quotes: --answer 'roots/list={\"roots\":[]}'" },
	{ "--answer a={\"b\":} server", "--answer 'a'", "METHOD=JSON, such as" },
	{ "-K none server", "--kill-ignoring 'none': want a time", "10s" },
	{ "-K 5 server", "--kill-ignoring '5'", "for seconds: 5s" },
	{ "-k0 server", "--kill-stuck '0': want a time", "10s" },
	{ "-t 5ss server", "--timeout '5ss'", "such as 30s or tools/call:NAME=5m" },
	{ "-t  server", "--timeout ''", "such as 30s or tools/call:NAME=5m" },
	{ "-t 18446744073709551617s server", "--timeout '18446744073709551617s'",
	    "such as 30s or tools/call:NAME=5m" },
	{ "-t =5s server", "--timeout '=5s'", "METHOD[:NAME]=" },
	{ "-t :x=5s server", "--timeout ':x=5s'", "METHOD[:NAME]=" },
	{ "-t tools/call= server", "--timeout 'tools/call='", "METHOD[:NAME]=" },
	{ "-d5 server", "--drain '5'", "for seconds: 5s" },
	{ "-r0/1m server", "--restart '0/1m'", "N[/DURATION]" },
	{ "--restart=stateless5/1m server", "--restart 'stateless5/1m'", "N[/DURATION]" },
	{ "-knone server", "--kill-stuck 'none'", "10s" },
	{ "--heartbeat=none server", "--heartbeat 'none'", "10s" },
	{ "--heartbeat=15 server", "--heartbeat '15'", "for seconds: 15s" },
	{ "--heartbeat 5s server", "'5s' is no command", "--heartbeat=5s" },
	{ "-k 5s server", "'5s' is no command", "--kill-stuck=5s" },
	{ "-r0 server", "--restart '0'", "N from 1 to 100000" },
	{ "-r 5/1m server", "'5/1m' is no command", "--restart=5/1m" },
	{ "-k -d 5s server", "'5s' is no command", "--drain=5s" },
	{ "-rk5s server", "--restart 'k5s'", "an option behind -r has its own hyphen: -r -k5s" },
	{ "--drain= server", "--drain ''", "DURATION" },
	{ "-D dap server", "--dialect 'dap'", "auto|mcp|acp|lsp|bsp|none" },
	{ "-D", "--dialect needs a value: want auto|mcp", "--help" },
	{ "--max-message 63K server", "--max-message '63K'", "64K" },
	{ "--max-message 10MB server", "--max-message '10MB'", "10M" },
	{ "--max-message 64K5 server", "--max-message '64K5'", "64K" },
	{ "--max-inflight 0 server", "--max-inflight '0'", "from 1 to 16777216" },
	{ "--log-format xml server", "--log-format 'xml'", "text|json" },
	{ "--log= server", "--log ''", "file" },
	{ "--log -- server", "--log needs a value: want", "./--" },
	{ "--name -- server", "--name needs a value: want", "a name of" },
	{ "-T -- server", "--max-time needs a value: want", "METHOD[:NAME]=" },
	{ "--nonsense server", "'--nonsense'", "--help" },
	{ "--max server", "'--max'", "ambiguous option" },
	{ "-x server", "-x", "--help" },
	{ "-\xff server", "-\\xff", "--help" },
	{ "--max-message \x1b\xff server", "--max-message '\\x1b\\xff'", "want" },
	{ "--ask-progress=1 server", "--ask-progress", "takes no value" },
	{ "-v", "command", "usage: canceld [options] [--] command [arg...]" },
};

TESTS(what_is_wrong_is_named, 0, COUNT(refused))
{
	static struct parsed parsed;

	parse(&parsed, refused[_i].line);
	ck_assert_msg(parsed.status == STATUS_FAILED, "%s: status %d", refused[_i].line,
	    parsed.status);
	ck_assert_str_eq(parsed.out, "");
	ck_assert_msg(strncmp(parsed.error, "canceld: ", 9) == 0, "%s", parsed.error);
	ck_assert_msg(strstr(parsed.error, refused[_i].says) != NULL, "%s: %s", refused[_i].line,
	    parsed.error);
	ck_assert_msg(strstr(parsed.error, refused[_i].wants) != NULL, "%s: %s", refused[_i].line,
	    parsed.error);
	options_free(&parsed.options);
}

static char *
read_manual(const char *page)
{
	static char text[256 << 10];
	FILE *file = fopen(page, "r");

	ck_assert_msg(file != NULL, "%s: run the tests from where it is", page);
	read_back(file, text, sizeof(text));
	return text;
}

/* The part of a manual page from one heading to the next. */
static char *
read_section(const char *page, const char *heading)
{
	char line[64];
	char *start, *end;

	snprintf(line, sizeof(line), "\n.Sh %s\n", heading);
	start = strstr(read_manual(page), line);
	ck_assert_msg(start != NULL, "%s has no %s", page, heading);
	end = strstr(start + 1, "\n.Sh ");
	if (end != NULL)
		end[1] = '\0';
	return start;
}

/* Whether text has this word, not as a part of a longer one. */
static bool
has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (; (text = strstr(text, word)) != NULL; text += len)
		if (!isalnum((unsigned char)text[len]) && text[len] != '-' && text[len] != '_')
			return true;
	return false;
}

TEST(every_option_is_explained)
{
	const char *section = read_section("man/canceld.1", "OPTIONS");
	const struct options_row *row;
	static struct parsed help;
	char word[64];
	int columns = 0;

	parse(&help, "--help");
	for (const char *at = help.out; *at != '\0'; at++) {
		columns = *at == '\n' ? 0 : columns + 1;
		ck_assert_msg(columns <= 80, "too long: %.*s", columns, at - columns + 1);
	}
	for (row = options_rows; row->help != NULL; row++) {
		if (row->name == NULL)
			continue;
		snprintf(word, sizeof(word), "--%s", row->name);
		ck_assert_msg(has_word(help.out, word), "the help lacks %s", word);
		snprintf(word, sizeof(word), "Fl -%s", row->name);
		ck_assert_msg(has_word(section, word), "the manual lacks %s", word);
		if (row->letter == 0)
			continue;
		snprintf(word, sizeof(word), "-%c, --%s", row->letter, row->name);
		ck_assert_msg(has_word(help.out, word), "the help lacks %s", word);
		snprintf(word, sizeof(word), "\n.It Fl %c ", row->letter);
		ck_assert_msg(strstr(section, word) != NULL, "the manual lacks -%c", row->letter);
	}
}

/* With the option that shows it. */
TEST(every_word_of_the_log_is_explained)
{
	static const char *const marks[] = {
		[LEVEL_ERROR] = " Pq q",
		[LEVEL_NOTICE] = "",
		[LEVEL_DECISION] = " Pq v",
		[LEVEL_TRAFFIC] = " Pq vv",
	};
	const char *section = read_section("man/canceld.7", "DIAGNOSTICS");
	char item[64];
	int why;

	for (why = 0; why < WHY_COUNT; why++) {
		const char *mark = marks[why_level((enum why)why)];

		snprintf(item, sizeof(item), "\n.It Sy %s%s\n", why_word((enum why)why), mark);
		ck_assert_msg(strstr(section, item) != NULL, "DIAGNOSTICS lacks%s", item);
	}
}

TEST(every_explained_word_is_used)
{
	char *item = read_section("man/canceld.7", "DIAGNOSTICS");

	while ((item = strstr(item, "\n.It Sy ")) != NULL) {
		int why = 0;
		size_t len;

		item += strlen("\n.It Sy ");
		len = strcspn(item, " \n");
		while (why < WHY_COUNT &&
		    (strlen(why_word((enum why)why)) != len ||
			strncmp(item, why_word((enum why)why), len) != 0))
			why++;
		ck_assert_msg(why < WHY_COUNT, "DIAGNOSTICS explains %.*s", (int)len, item);
	}
}

/*
 * A person may set rules for ever: the texts that are kept are limited, and then tell only the
 * place.
 */
TEST(origins_are_limited)
{
	static struct parsed parsed;
	struct options *options;
	char rule[64];

	options = accept_line(&parsed, "server");
	for (int i = 0; i < 1100; i++) {
		snprintf(rule, sizeof(rule), "tool%d=1s", i);
		ck_assert(options_set(options, options_key("timeout"), POLICY_SET, rule));
	}
	ck_assert_str_eq(options->policy.rules[7].origin, "cancelctl set -t tool7=1s");
	ck_assert_str_eq(options->policy.rules[1099].origin, "cancelctl set");
	ck_assert_uint_eq(json_object_size(options->origins), 1001);
	options_free(options);
}
