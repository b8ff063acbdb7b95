#include "shell/options.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/limits.h"

enum { WORDS = 64 };

static char directory[64], path[128];
static char lines[2][1024]; /* what argv points into */

static void
enter(void)
{
	snprintf(directory, sizeof(directory), "%s/config-XXXXXX", getenv("TMPDIR"));
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/config.json", directory);
	setenv("HOME", "/home/me", 1);
}

static void
leave(void)
{
	unlink(path);
	rmdir(directory);
}

static void
put_text(const char *text, size_t len)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(path, 0600), 0);
}

static void
put(const char *text)
{
	put_text(text, strlen(text));
}

/* words: the command line behind canceld, separated by single blanks. */
static struct options *
parse(int place, const char *words)
{
	static struct options options[2];
	static char *argv[2][WORDS];
	char *rest = lines[place];
	int argc = 0;

	snprintf(lines[place], sizeof(lines[place]), "canceld %s", words);
	while ((argv[place][argc] = strsep(&rest, " ")) != NULL)
		argc++;
	ck_assert_msg(options_parse(&options[place], argc, argv[place]) == OPTIONS_RUN, "%s",
	    words);
	return &options[place];
}

/* What options_refuse writes to stderr is not wanted. */
static int
load(struct options *options)
{
	int kept = dup(STDERR_FILENO), status;

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	status = configfile_load(options);
	fflush(stderr);
	ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
	close(kept);
	return status;
}

static struct options *
parse_with_file(const char *words)
{
	char all[1024];

	snprintf(all, sizeof(all), "-c %s %s", path, words);
	return parse(0, all);
}

static const char *
text_of(const char *text)
{
	return text == NULL ? "" : text;
}

static void
compare_rules(const char *what, const struct policy *one, const struct policy *other)
{
	ck_assert_msg(one->count == other->count, "%s: %zu rules", what, one->count);
	for (size_t i = 0; i < one->count; i++) {
		const struct policy_rule *rule = &one->rules[i], *wanted = &other->rules[i];

		ck_assert_msg(rule->kind == wanted->kind &&
			strcmp(text_of(rule->method), text_of(wanted->method)) == 0 &&
			strcmp(text_of(rule->name), text_of(wanted->name)) == 0 &&
			rule->value == wanted->value &&
			strcmp(text_of(rule->text), text_of(wanted->text)) == 0,
		    "%s: rule %zu", what, i);
	}
}

/* Both were set by the same code, in zeroed memory. */
static void
compare(const char *what, const struct options *one, const struct options *other)
{
	size_t from = offsetof(struct options, session), to = offsetof(struct options, log);

	compare_rules(what, &one->policy, &other->policy);
	ck_assert_msg(memcmp((const char *)one + from, (const char *)other + from, to - from) == 0,
	    "%s", what);
	ck_assert_msg(one->log.level == other->log.level && one->log.json == other->log.json, "%s",
	    what);
	ck_assert_msg(strcmp(one->log_path, other->log_path) == 0, "%s: log %s", what,
	    one->log_path);
	ck_assert_msg(strcmp(one->name, other->name) == 0, "%s: name %s", what, one->name);
}

/* A file, the words beside it, and the words that say the same without a file. */
static const struct {
	const char *text, *words, *same;
} accepted[] = {
	{ "{}", "server", "server" },
	{ " {\n}\n", "-t 3s server", "-t 3s server" },
	{ "{\"servers\":{}}", "server", "server" },

	{ "{\"timeout\":\"30s\",\"max-time\":\"tools/call:a=2h\"}", "server",
	    "-t 30s -T tools/call:a=2h server" },
	{ "{\"timeout\":{\"tools/call:deep_*\":\"10m\",\"*\":\"30s\"}}", "server",
	    "-t tools/call:deep_*=10m -t 30s server" },
	{ "{\"max-time\":{\"initialize\":\"none\",\"**\":\"0\"}}", "server",
	    "-T initialize=none -T **=0 server" },
	{ "{\"timeout\":{\"resources/read:http://h/?a=b\":\"1s\"}}", "server",
	    "-t resources/read:http://h/?a=b=1s server" },
	{ "{\"timeout\":{}}", "server", "server" },
	{ "{\"dialect\":\"lsp\",\"grace\":\"250ms\",\"term-after\":\"1s\",\"kill-after\":\"2s\",\"sweep\":\"group\","
	  "\"no-cancel\":true,\"answer-cancelled\":true,\"tool-errors\":true,\"ask-progress\":true,\"clean-text\":true,\"legacy\":true,"
	  "\"fail-on-timeout\":true,\"fail-on-error\":true,\"max-message\":\"1G\",\"max-inflight\":7,"
	  "\"log\":\"~/a/log\",\"log-format\":\"json\",\"control\":\"~/a/s\",\"no-control\":true,\"no-history\":true,\"no-isolation\":true,\"name\":\"mine\"}",
	    "server",
	    "-D lsp -g 250ms --term-after 1s --kill-after 2s --sweep group --no-cancel --answer-cancelled --tool-errors "
	    "--ask-progress --clean-text --legacy -e --fail-on-error --max-message 1024M --max-inflight 7 -l /home/me/a/log "
	    "--log-format json --control /home/me/a/s --no-control --no-history --no-isolation --name mine server" },
	{ "{\"answer\":{\"a\":null,\"b\":\"c=d\",\"e\":{\"f\":[1, 2.5]}}}", "server",
	    "--answer a=null --answer b=\"c=d\" --answer e={\"f\":[1,2.5]} server" },
	{ "{\"parallel\":{\"*\":4,\"a:b=c\":\"2\"}}", "server",
	    "--parallel 4 --parallel a:b=c=2 server" },
	{ "{\"parallel\":4}", "--parallel a=1 server", "--parallel a=1 --parallel 4 server" },
	{ "{\"parallel\":4}", "-n server", "-n server" },
	{ "{\"answer\":{\"*\":[],\"a/*\":1}}", "server", "--answer *=[] --answer a/*=1 server" },
	{ "{\"answer\":\"a=[]\"}", "server", "--answer a=[] server" },
	{ "{\"answer\":\"a=[]\"}", "--dry-run server", "--dry-run server" },
	{ "{\"tool-errors\":false,\"drain\":false}", "server", "server" },
	{ "{\"drain\":true,\"dry-run\":true}", "server", "-d -n server" },
	{ "{\"drain\":\"5s\"}", "server", "-d5s server" },
	{ "{\"restart\":true}", "server", "-r server" },
	{ "{\"restart\":\"stateless,7/2m\"}", "server", "-rstateless,7/2m server" },
	{ "{\"restart\":3}", "server", "-r3 server" },
	{ "{\"kill-stuck\":\"2s\"}", "server", "-k2s server" },
	{ "{\"kill-ignoring\":\"2s\"}", "server", "-K2s server" },
	{ "{\"kill-stuck\":true,\"restart\":\"7/2m\"}", "server", "-k -r7/2m server" },
	{ "{\"heartbeat\":true}", "server", "--heartbeat server" },
	{ "{\"heartbeat\":\"5s\"}", "server", "--heartbeat=5s server" },
	{ "{\"heartbeat\":\"5s\"}", "--heartbeat server", "--heartbeat server" },
	{ "{\"heartbeat\":true}", "-n server", "-n server" },
	{ "{\"max-message\":65536,\"max-inflight\":\"9\"}", "server",
	    "--max-message 64K --max-inflight 9 server" },
	{ "{\"log-level\":\"error\"}", "server", "-q server" },
	{ "{\"log-level\":\"notice\"}", "server", "server" },
	{ "{\"log-level\":\"traffic\"}", "server", "-vv server" },
	{ "{\"na\\u006de\":\"min\\u0065\"}", "server", "--name mine server" },

	/* options win */
	{ "{\"dialect\":\"lsp\",\"grace\":\"1s\"}", "-D acp server", "-D acp -g 1s server" },
	{ "{\"grace\":\"1s\"}", "--grace=2s server", "-g 2s server" },
	{ "{\"restart\":\"7/2m\"}", "-r3/1m server", "-r3/1m server" },
	{ "{\"answer\":{\"a\":1,\"b\":2}}", "--answer a=3 server",
	    "--answer a=3 --answer a=1 --answer b=2 server" },
	{ "{\"answer\":{\"a\":1,\"b\":2},\"servers\":{\"*\":{\"answer\":{\"a\":4}}}}", "server",
	    "--answer a=4 --answer a=1 --answer b=2 server" },
	{ "{\"restart\":\"7/2m\"}", "-k2s server", "-k2s -r7/2m server" },
	{ "{\"kill-stuck\":\"2s\"}", "-r3/1m server", "-r3/1m -k2s server" },
	{ "{\"log-level\":\"traffic\"}", "-q server", "-q server" },
	{ "{\"log-level\":\"traffic\"}", "-v server", "-v server" },
	{ "{\"log-level\":\"traffic\"}", "--log-level error server", "-q server" },
	{ "{\"log\":\"/a\"}", "-l /b server", "-l /b server" },
	{ "{\"name\":\"mine\"}", "--name yours server", "--name yours server" },

	/* sections */
	{ "{\"servers\":{\"server\":{\"tool-errors\":true}}}", "server", "--tool-errors server" },
	{ "{\"servers\":{\"server\":{\"tool-errors\":true}}}", "--name other server -x",
	    "--name other server -x" },
	{ "{\"servers\":{\"other\":{\"tool-errors\":true}}}", "--name other server",
	    "--name other --tool-errors server" },
	{ "{\"servers\":{\"weather\":{\"tool-errors\":true}}}", "npx -y @a/weather@1",
	    "--tool-errors npx -y @a/weather@1" },
	{ "{\"servers\":{\"npx * @a/*\":{\"tool-errors\":true}}}", "npx -y @a/weather@1",
	    "--tool-errors npx -y @a/weather@1" },
	{ "{\"servers\":{\"npx * @a/*\":{\"tool-errors\":true}}}", "/usr/bin/npx -y @a/b",
	    "--tool-errors /usr/bin/npx -y @a/b" },
	{ "{\"servers\":{\"/usr/*\":{\"tool-errors\":true}}}", "/usr/bin/npx -y @a/b",
	    "--tool-errors /usr/bin/npx -y @a/b" },
	{ "{\"servers\":{\"npx * @b/*\":{\"tool-errors\":true}}}", "npx -y @a/weather@1",
	    "npx -y @a/weather@1" },
	{ "{\"servers\":{\"*\":{\"tool-errors\":true},\"server\":{\"legacy\":true}}}", "server",
	    "--legacy server" },
	{ "{\"servers\":{\"s*\":{\"tool-errors\":true},\"*\":{\"legacy\":true}}}", "server",
	    "--tool-errors server" },
	{ "{\"servers\":{\"*\":{\"tool-errors\":true}},\"grace\":\"1s\"}", "server",
	    "--tool-errors -g 1s server" },
	{ "{\"servers\":{\"server\":{\"grace\":\"2s\"}},\"grace\":\"1s\"}", "server",
	    "-g 2s server" },
	{ "{\"servers\":{\"server\":{\"grace\":\"2s\"}},\"grace\":\"1s\"}", "-g 3s server",
	    "-g 3s server" },
	{ "{\"servers\":{\"server\":{\"tool-errors\":false}},\"tool-errors\":true}", "server",
	    "server" },
	{ "{\"servers\":{\"server\":{\"restart\":false}},\"restart\":true}", "server", "server" },
	{ "{\"servers\":{\"server\":{\"name\":\"mine\",\"tool-errors\":true}}}", "server",
	    "--name mine --tool-errors server" },
};

SUITE("configfile", .alone = true, .before = enter, .after = leave);

TESTS(a_file_says_what_options_say, 0, COUNT(accepted))
{
	struct options *options, *same;

	put(accepted[_i].text);
	options = parse_with_file(accepted[_i].words);
	same = parse(1, accepted[_i].same);
	ck_assert_msg(load(options) == OPTIONS_RUN, "%s: %s", accepted[_i].text, options->fault);
	compare(accepted[_i].text, options, same);
	options_free(options);
	options_free(same);
}

/* A key that no test sets might set nothing. */
TEST(every_option_is_a_key)
{
	const struct options_row *row;
	char key[64];

	for (row = options_rows; row->help != NULL; row++) {
		bool set = false;

		if (row->name == NULL)
			continue;

		snprintf(key, sizeof(key), "\"%s\":", row->name);
		for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
			set |= strstr(accepted[i].text, key) != NULL;
		ck_assert_msg(set == (options_key(row->name) != NULL), "%s", row->name);
	}
	ck_assert_ptr_null(options_key("help"));
	ck_assert_ptr_null(options_key("config"));
	ck_assert_ptr_null(options_key("stric"));
}

static const struct {
	const char *text, *fault; /* fault: how the words after the name of the file begin */
} refused[] = {
	{ "", "line 1, column 0: '[' or '{' expected near end of file" },
	{ "[]", "want a JSON object" },
	{ "{\n  \"tool-errors\": true,\n}", "line 3, column 1: string or '}' expected" },
	{ "{\"tool-errors\":true}x", "line 1, column 21: end of file expected" },
	{ "{\"tool-errors\":true,\n\"tool-errors\":true}",
	    "line 2, column 13: duplicate object key" },
	{ "{\"answer\":{\"roots/list\":{\"a\":\"secret\n\"}}}",
	    "line 1, column 36: unexpected newline" },
	{ "{\"name\":\"a\\u0000\"}", "line 1, column " },

	{ "{\"timeot\":\"3s\"}", "timeot: unknown key: it could be timeout" },
	{ "{\n  \"tool-errors\": true,\n  \"sever\": {}}",
	    "sever: unknown key: it could be servers" },
	{ "{\"a\\u001b\\n\":1}", "a\\x1b\\x0a: unknown key" },
	{ "{\"help\":true}", "help: unknown key" },
	{ "{\"t\":\"3s\"}", "t: unknown key" },

	{ "{\"tool-errors\":1}", "tool-errors '1': want true or false" },
	{ "{\"tool-errors\":null}", "tool-errors 'null': want true or false" },
	{ "{\"grace\":true}", "grace: want DURATION" },
	{ "{\"grace\":false}", "grace: want DURATION" },
	{ "{\"grace\":5}", "grace '5': is the unit missing? for seconds: 5s" },
	{ "{\"grace\":{\"*\":\"5s\"}}", "grace '{\"*\":\"5s\"}': want DURATION" },
	{ "{\"max-inflight\":1.5}", "max-inflight '1.5': want a number from 1" },

	{ "{\"timeout\":30}", "timeout '30': is the unit missing? for seconds: 30s" },
	{ "{\"timeout\":[\"30s\"]}", "timeout '[\"30s\"]': want [METHOD" },
	{ "{\"timeout\":{\"*\":\"1s\",\n \"tools/call\":\"30\"}}",
	    "timeout 'tools/call=30': is the unit missing?" },
	{ "{\"timeout\":{\"\":\"30s\"}}", "timeout '=30s': want [METHOD" },
	{ "{\"timeout\":{\"a\":30}}", "timeout 'a=30': is the unit missing? for seconds: a=30s" },
	{ "{\"timeout\":{\"a\":\"b=30s\"}}", "timeout 'a=\"b=30s\"': want [METHOD" },
	{ "{\"timeout\":{\"*\":\"b=30s\"}}", "timeout '\"b=30s\"': want [METHOD" },

	{ "{\"kill-ignoring\":true}", "kill-ignoring: want a time" },
	{ "{\"answer\":5}", "answer: want METHOD=JSON" },
	{ "{\"answer\":\"a\"}", "answer 'a': want METHOD=JSON" },
	{ "{\"answer\":{\"\":5}}", "answer '': want METHOD=JSON" },
	{ "{\"answer\":\"roots/list={'secret',}\"}", "answer 'roots/list': want METHOD=JSON" },

	{ "{\"name\":5}", "name: want a name" },
	{ "{\"log\":7}", "log: want the name of a file" },
	{ "{\"log\":\"--\"}", "log '--': want the name of a file (./-- for one of that name)" },
	{ "{\"control\":[\"a\"]}", "control: want the name of a file" },
	{ "{\"log-level\":2}", "log-level: want error|notice|" },

	{ "{\"servers\":[]}", "servers: want an object of servers" },
	{ "{\"servers\":{\"*********\":{}}}",
	    "servers.*********: a pattern with '*' has at most 8" },
	{ "{\"servers\":{\"a\":true}}", "servers.a: want an object of options for the server" },
	{ "{\"servers\":{\"a\":{},\n\t\"b\":{\"timeout\":{\"c\":\"1x\"}}}}",
	    "servers.b.timeout 'c=1x': want" },
	{ "{\"servers\":{\"a\":{\"servers\":{}}}}", "servers.a.servers: unknown key" },
	{ "{\"servers\":{\"a\":{\"tool-errors\":true},\"tool-errors\":{\"grace\":\"1s\",\"tool-error\":true}}}",
	    "servers.tool-errors.tool-error: unknown key: it could be tool-errors" },
};

/* With the home, which the path itself does not have. */
TEST(a_path_that_is_too_long_is_refused)
{
	char text[OPTIONS_PATH + 64];
	struct options *options;

	for (int more = 0; more <= 1; more++) {
		snprintf(text, sizeof(text), "{\"log\":\"~/%0*d\"}",
		    (int)(OPTIONS_PATH - strlen("/home/me/") - 1) + more, 0);
		put(text);
		options = parse_with_file("server");
		ck_assert_int_eq(load(options), more ? STATUS_FAILED : OPTIONS_RUN);
		options_free(options);
	}
}

TESTS(what_is_wrong_is_named, 0, COUNT(refused))
{
	struct options *options;
	char wanted[512];

	put(refused[_i].text);
	options = parse_with_file("server");
	ck_assert_msg(load(options) == STATUS_FAILED, "%s: is accepted", refused[_i].text);
	snprintf(wanted, sizeof(wanted), "--config '%s': %s", path, refused[_i].fault);
	ck_assert_msg(strncmp(options->fault, wanted, strlen(wanted)) == 0, "%s, not %s",
	    options->fault, wanted);
	ck_assert_ptr_null(strstr(options->fault, "secret"));
	options_free(options);
}

static void
expect_refused(const char *reason)
{
	struct options *options = parse_with_file("server");

	ck_assert_int_eq(load(options), STATUS_FAILED);
	ck_assert_msg(strstr(options->fault, reason) != NULL, "%s, not %s", options->fault, reason);
	options_free(options);
}

TEST(only_the_owner_writes_it)
{
	put("{}");
	ck_assert_int_eq(chmod(path, 0620), 0);
	expect_refused("others may write to it; chmod go-w");
	ck_assert_int_eq(chmod(path, 0602), 0);
	expect_refused("others may write to it; chmod go-w");
	if (geteuid() != 0)
		return;
	put("{}");
	ck_assert_int_eq(chown(path, 12345, 0), 0);
	expect_refused("it belongs to another user");
}

TEST(what_is_no_file_is_refused)
{
	expect_refused("No such file or directory");
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_refused("it is no regular file");
	unlink(path);
	ck_assert_int_eq(symlink(".", path), 0);
	expect_refused("it is no regular file");
}

TEST(its_size_is_bounded)
{
	static char text[(1 << 20) + 1];
	struct options *options;

	memset(text, ' ', sizeof(text));
	text[0] = '{';
	text[sizeof(text) - 2] = '}';
	put_text(text, sizeof(text) - 1);
	options = parse_with_file("server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	options_free(options);
	put_text(text, sizeof(text));
	expect_refused("it is longer than 1 MiB");
	memset(text, '[', 1 << 16);
	put_text(text, 1 << 16);
	expect_refused("maximum parsing depth reached");
}

TESTS(a_nul_is_no_blank, 0, 2)
{
	static const char texts[2][24] = { "{\"max-inflight\":7\0}", "{\"tool-errors\":true\0}" };

	put_text(texts[_i], strlen(texts[_i]) + sizeof("}"));
	expect_refused("'}' expected");
}

/* The first example of canceld.conf(5), without the roff. */
TEST(the_example_of_the_manual_is_right)
{
	static char text[64 << 10], *start, *end;
	FILE *manual = fopen("man/canceld.conf.5", "r");
	struct options *options, *same;

	ck_assert_ptr_nonnull(manual);
	text[fread(text, 1, sizeof(text) - 1, manual)] = '\0';
	fclose(manual);
	start = strstr(text, ".Bd -literal -offset indent\n{");
	ck_assert_ptr_nonnull(start);
	start = strchr(start, '{');
	end = strstr(start, ".Ed");
	ck_assert_ptr_nonnull(end);
	put_text(start, (size_t)(end - start));
	options = parse_with_file("--name weather server");
	same = parse(1,
	    "--name weather -t 30s -t 2m -t tools/call:build_*=30m -T 1h -l /home/me/canceld.log -r5/1m server");
	ck_assert_msg(load(options) == OPTIONS_RUN, "%s", options->fault);
	compare("weather", options, same);
	options_free(options);
	options_free(same);
}

/* The strongest source decides, and each rule comes from where it stands. */
TEST(rules_know_their_source)
{
	struct options *options;
	const struct policy_rule *rules;

	put("{\"timeout\":{\"a\":\"1s\"},\"servers\":{\"server\":{\"timeout\":\"2s\"}}}");
	options = parse_with_file("-t b=3s server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	rules = options->policy.rules;
	ck_assert_uint_eq(options->policy.count, 3);
	ck_assert_int_eq(rules[0].source, POLICY_OPTION);
	ck_assert_int_eq(rules[1].source, POLICY_SECTION);
	ck_assert_int_eq(rules[2].source, POLICY_FILE);
	ck_assert_int_eq(policy_deadline(&options->policy, POLICY_IDLE, SPAN("a"), SPAN_NONE, 0,
			     false)
			     .after,
	    2000);
	ck_assert_int_eq(policy_deadline(&options->policy, POLICY_IDLE, SPAN("b"), SPAN_NONE, 0,
			     false)
			     .after,
	    3000);
	options_free(options);
}

/* What a second file changes, as the result of the reload shows it. */
static const struct {
	const char *before, *words, *after, *result;
} reloads[] = {
	{ "{}", "", "{}", "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\"}", "", "{\"timeout\":\"1s\"}",
	    "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\"}", "", "{\"timeout\":\"2s\"}",
	    "{\"changed\":[\"timeout\"],\"at_next_start\":[]}" },
	{ "{}", "", "{\"max-time\":{\"a\":\"2s\"},\"log-level\":\"decision\"}",
	    "{\"changed\":[\"max-time\",\"log-level\"],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\",\"log-level\":\"error\"}", "", "{}",
	    "{\"changed\":[\"timeout\",\"log-level\"],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\"}", "", "{\"servers\":{\"s*\":{\"timeout\":\"1s\"}}}",
	    "{\"changed\":[\"timeout\"],\"at_next_start\":[]}" },
	{ "{\"servers\":{\"other\":{\"timeout\":\"1s\"}}}", "",
	    "{\"servers\":{\"other\":{\"timeout\":\"2s\"}}}",
	    "{\"changed\":[],\"at_next_start\":[],\"refused\":[],\"unfit\":[\"other\"]}" },
	{ "{}", "", "{\"log-level\":\"traffic\",\"servers\":{\"s*\":{\"log-level\":2}}}",
	    "{\"changed\":[\"log-level\"],\"at_next_start\":[],\"refused\":["
	    "\"servers.s*.log-level: want error|notice|decision|traffic\"],\"unfit\":[]}" },
	{ "{\"timeout\":\"1s\",\"max-time\":\"9s\"}", "", "{\"timeout\":30}",
	    "{\"changed\":[\"max-time\"],\"at_next_start\":[],\"refused\":["
	    "\"timeout '30': is the unit missing? for seconds: 30s\"],\"unfit\":[]}" },
	{ "{\"tool-errors\":true}", "", "{\"restart\":true,\"timeout\":\"1s\"}",
	    "{\"changed\":[\"timeout\"],\"at_next_start\":[\"tool-errors\",\"restart\"]}" },
	{ "{\"tool-errors\":true}", "", "{\"tool-errors\":\"yes\"}",
	    "{\"changed\":[],\"at_next_start\":[],\"refused\":["
	    "\"tool-errors 'yes': want true or false\"],\"unfit\":[]}" },
	{ "{\"answer\":{\"a\":1}}", "", "{\"answer\":{\"a\":2}}",
	    "{\"changed\":[],\"at_next_start\":[\"answer\"]}" },
	{ "{\"answer\":{\"a\":1}}", "", "{\"answer\":\"a=1\"}",
	    "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"log-level\":\"error\"}", "-v ", "{\"log-level\":\"traffic\"}",
	    "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"grace\":\"1s\"}", "-g 2s ", "{\"grace\":\"3s\"}",
	    "{\"changed\":[],\"at_next_start\":[]}" },
};

static struct log
open_log(void)
{
	struct log_config config = { .level = LEVEL_NOTICE, .file = "/dev/null" };
	struct log log;

	ck_assert_ptr_null(log_open(&log, &config));
	return log;
}

TESTS(a_reload_tells_what_has_changed, 0, COUNT(reloads))
{
	struct options *options;
	struct log log = open_log();
	char words[64], *text;
	json_t *result;

	put(reloads[_i].before);
	snprintf(words, sizeof(words), "%sserver", reloads[_i].words);
	options = parse_with_file(words);
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	put(reloads[_i].after);
	result = configfile_reload(options, &log);
	text = json_dumps(result, JSON_COMPACT);
	ck_assert_msg(strncmp(text, reloads[_i].result, strlen(reloads[_i].result) - 1) == 0,
	    "%s to %s: %s", reloads[_i].before, reloads[_i].after, text);
	free(text);
	json_decref(result);
	options_free(options);
	log_close(&log);
}

/* Only a level that is another one in the file comes before the one that a person has set since. */
TEST(a_reload_leaves_the_level_that_a_person_has_set)
{
	struct options *options;
	struct log log = open_log();

	put("{\"log-level\":\"error\"}");
	options = parse_with_file("server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	log.config.level = LEVEL_DECISION;
	put("{\"log-level\":\"error\",\"timeout\":\"2s\"}");
	json_decref(configfile_reload(options, &log));
	ck_assert_int_eq(log.config.level, LEVEL_DECISION);
	put("{\"log-level\":\"notice\"}");
	json_decref(configfile_reload(options, &log));
	ck_assert_int_eq(log.config.level, LEVEL_NOTICE);
	options_free(options);
	log_close(&log);
}

TEST(a_reload_leaves_the_answers_until_the_next_start)
{
	struct options *options;
	struct log log = open_log();

	put("{\"answer\":{\"a\":1,\"b\":3}}");
	options = parse_with_file("--answer b=2 server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	put("{\"answer\":{\"a\":3,\"b\":4,\"c\":5}}");
	json_decref(configfile_reload(options, &log));
	ck_assert_uint_eq(options->policy.count, 3);
	ck_assert_str_eq(policy_find(&options->policy, POLICY_ANSWER, SPAN("b"), SPAN_NONE, 0)
			     ->text,
	    "2");
	ck_assert_str_eq(policy_find(&options->policy, POLICY_ANSWER, SPAN("a"), SPAN_NONE, 0)
			     ->text,
	    "1");
	options_free(options);
	log_close(&log);
}

static int64_t
parallel_of(struct options *options, const char *method)
{
	const struct policy_rule *rule =
	    policy_find(&options->policy, POLICY_PARALLEL, span_of(method), SPAN_NONE, 0);

	return rule == NULL ? 0 : rule->value;
}

TEST(how_many_requests_go_at_once_stands_in_the_file_as_deadlines_do)
{
	struct options *options;
	struct log log = open_log();

	put("{\"parallel\":{\"*\":4,\"tools/call\":\"2\",\"a\":3},\"servers\":{\"server\":{\"parallel\":1}}}");
	options = parse_with_file("--parallel a=5 server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	ck_assert_int_eq(parallel_of(options, "a"), 5);
	ck_assert_int_eq(parallel_of(options, "tools/call"), 1);
	ck_assert_int_eq(parallel_of(options, "b"), 1);
	/*
	 * A new number would count at the next start: the requests of this one are counted already.
	 */
	put("{\"parallel\":7}");
	json_decref(configfile_reload(options, &log));
	ck_assert_int_eq(parallel_of(options, "b"), 1);
	options_free(options);
	log_close(&log);
}

TEST(requests_of_an_editor_are_not_held)
{
	struct options *options;

	put("{\"parallel\":4,\"servers\":{\"server\":{\"parallel\":2}}}");
	options = parse_with_file("-D lsp server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	options_free(options);
	options = parse_with_file("-D bsp --parallel 2 server");
	ck_assert_int_eq(load(options), STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(options->fault, "-D bsp"));
	options_free(options);
	options = parse_with_file("-n --parallel 2 server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	ck_assert_uint_eq(options->policy.count, 0);
	options_free(options);
}

static msec_t
idle_of(struct options *options, struct span method)
{
	return policy_deadline(&options->policy, POLICY_IDLE, method, SPAN_NONE, 0, false).after;
}

TEST(a_reload_changes_rules_and_the_level)
{
	struct options *options;
	struct log log = open_log();
	json_t *result;

	put("{\"timeout\":{\"a\":\"1s\",\"b\":\"1s\"},\"tool-errors\":true}");
	options = parse_with_file("-t c=4s server");
	policy_add(&options->policy, POLICY_SET, POLICY_IDLE, SPAN("d"), SPAN_NONE, 5000,
	    SPAN_NONE);
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	put("{\"timeout\":{\"a\":\"2s\",\"c\":\"2s\",\"d\":\"2s\"},\"log-level\":\"decision\"}");
	json_decref(configfile_reload(options, &log));
	ck_assert_int_eq(idle_of(options, SPAN("a")), 2000);
	ck_assert_int_eq(idle_of(options, SPAN("b")), TIME_IDLE);
	ck_assert_int_eq(idle_of(options, SPAN("c")), 4000);
	ck_assert_int_eq(idle_of(options, SPAN("d")), 5000);
	ck_assert_int_eq(log.config.level, LEVEL_DECISION);
	ck_assert(options->session.tool_errors);
	/* What counts at the next start is told again until then. */
	result = configfile_reload(options, &log);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "changed")), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "at_next_start")), 1);
	json_decref(result);

	put("{\"timeout\":{\"a\":\"3s\",\"b\":\"none of these\"}}");
	json_decref(configfile_reload(options, &log));
	ck_assert_uint_eq(json_array_size(options->file.faults), 1);
	ck_assert_int_eq(idle_of(options, SPAN("a")), 3000);
	put("{\"timeout\":{\"a\":\"4s\",\"b\":\"1s\"}");
	ck_assert_ptr_null(configfile_reload(options, &log));
	ck_assert_uint_eq(json_array_size(options->file.faults), 1);
	ck_assert_int_eq(idle_of(options, SPAN("a")), 3000);

	put("{}");
	json_decref(configfile_reload(options, &log));
	ck_assert_uint_eq(json_array_size(options->file.faults), 0);
	ck_assert_int_eq(idle_of(options, SPAN("a")), TIME_IDLE);
	ck_assert_int_eq(log.config.level, LEVEL_NOTICE);
	options_free(options);
	log_close(&log);
}

/* What each of them leaves in force: the deadlines of a, b:c=d and e, in seconds, and the level. */
static const struct {
	const char *file;
	int a, named, e;
	enum why_level level;
	size_t changed; /* keys that are told */
} mistakes[] = {
	{ "{\"timeout\":{\"*\":\"3\",\"a\":\"1\",\"b:c=d\":2},\"log-level\":\"errror\"}", 1, 2, 3,
	    LEVEL_ERROR, 0 },
	{ "{\"timeout\":\"a=1x\",\"log-level\":[]}", 1, 2, 3, LEVEL_ERROR, 0 },
	{ "{\"timeout\":[],\"log-level\":true,\"servers\":{\"server\":{\"timeout\":\"?\"}}}", 1, 2,
	    3, LEVEL_ERROR, 0 },
	{ "{\"timeout\":{\"*\":\"5s\",\"a\":\"1\"}}", 1, 5, 5, LEVEL_NOTICE, 2 },
	{ "{\"timeout\":{\"b\":\"1\",\"b:c\":\"1\"},\"log-level\":\"error\"}", TIME_IDLE / 1000,
	    TIME_IDLE / 1000, TIME_IDLE / 1000, LEVEL_ERROR, 1 },
	/* Any of what is missing there may have been meant. */
	{ "{\"tymeout\":{\"a\":\"7s\"}}", 1, 2, 3, LEVEL_ERROR, 0 },
	{ "{\"log-levl\":\"error\",\"timeout\":{\"a\":\"7s\"}}", 7, TIME_IDLE / 1000,
	    TIME_IDLE / 1000, LEVEL_ERROR, 1 },
	{ "{\"log-levl\":0,\"timeout\":[],\"log-level\":\"notice\"}", 1, 2, 3, LEVEL_NOTICE, 1 },
	{ "{\"servers\":{\"server\":{\"tymeout\":1},\"other\":[]}}", TIME_IDLE / 1000,
	    TIME_IDLE / 1000, TIME_IDLE / 1000, LEVEL_NOTICE, 2 },
	{ "{\"servers\":{\"server\":{\"timeout\":{\"a\":\"1\"},\"log-level\":\"decision\"}},"
	  "\"timeout\":{\"*\":\"3s\"},\"log-level\":\"errror\"}",
	    3, 3, 3, LEVEL_DECISION, 2 },
};

TESTS(a_mistake_at_a_reload_keeps_what_was_in_force, 0, COUNT(mistakes))
{
	struct options *options;
	struct log log = open_log();
	json_t *result;

	put("{\"timeout\":{\"*\":\"3s\",\"a\":\"1s\",\"b:c=d\":\"2s\"},\"log-level\":\"error\"}");
	options = parse_with_file("server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	log.config.level = options->log.level;
	put(mistakes[_i].file);
	/* As often as one likes. */
	for (int i = 0; i < 3; i++) {
		result = configfile_reload(options, &log);
		ck_assert_uint_ge(json_array_size(json_object_get(result, "refused")), 1);
		ck_assert_uint_eq(json_array_size(json_object_get(result, "changed")),
		    i == 0 ? mistakes[_i].changed : 0);
		json_decref(result);
		ck_assert_int_eq(idle_of(options, SPAN("a")), mistakes[_i].a * 1000);
		ck_assert_int_eq(policy_deadline(&options->policy, POLICY_IDLE, SPAN("b"),
				     SPAN("c=d"), 0, false)
				     .after,
		    mistakes[_i].named * 1000);
		ck_assert_int_eq(idle_of(options, SPAN("e")), mistakes[_i].e * 1000);
		ck_assert_int_eq(log.config.level, mistakes[_i].level);
	}
	/* What is left out without a mistake does not stay. */
	put("{}");
	json_decref(configfile_reload(options, &log));
	ck_assert_uint_eq(options->policy.count, 0);
	options_free(options);
	log_close(&log);
}

/* Each of them is no object of options for the server, or may mean another key. */
static const char *const broken_sections[] = {
	"{\"server\":{\"tymeout\":\"9s\",\"lock-level\":0}}",
	"{\"server\":[]}",
	"{\"s*\":false}",
	"\"server\"",
};

TESTS(a_section_that_is_wrong_at_a_reload_stays_in_force, 0, COUNT(broken_sections))
{
	struct options *options;
	struct log log = open_log();
	char text[200];
	json_t *result;

	put("{\"servers\":{\"server\":{\"timeout\":{\"a\":\"1s\"},\"log-level\":\"error\"}}}");
	options = parse_with_file("server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	log.config.level = options->log.level;
	snprintf(text, sizeof(text),
	    "{\"servers\":%s,\"timeout\":{\"b\":\"9s\"},\"log-level\":\"traffic\"}",
	    broken_sections[_i]);
	put(text);
	for (int i = 0; i < 2; i++) {
		result = configfile_reload(options, &log);
		ck_assert_uint_ge(json_array_size(json_object_get(result, "refused")), 1);
		json_decref(result);
		ck_assert_int_eq(idle_of(options, SPAN("a")), 1000);
		ck_assert_int_eq(idle_of(options, SPAN("b")), 9000);
		ck_assert_int_eq(log.config.level, LEVEL_ERROR);
	}
	/* With nothing in its section nothing is wrong. */
	put("{\"servers\":{\"server\":{}},\"timeout\":{\"b\":\"9s\"}}");
	json_decref(configfile_reload(options, &log));
	ck_assert_int_eq(idle_of(options, SPAN("a")), TIME_IDLE);
	ck_assert_int_eq(log.config.level, LEVEL_NOTICE);
	options_free(options);
	log_close(&log);
}

/* Of two that are the same value, that by the server's name counts, once. */
TEST(two_sections_that_are_null_keep_what_was_in_force_once)
{
	struct options *options;
	struct log log = open_log();

	put("{\"servers\":{\"server\":{\"timeout\":{\"a\":\"1s\"}}}}");
	options = parse_with_file("server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	put("{\"servers\":{\"z\":null,\"server\":null,\"s*\":null}}");
	for (int i = 0; i < 3; i++) {
		json_decref(configfile_reload(options, &log));
		ck_assert_uint_eq(options->policy.count, 1);
		ck_assert_ptr_nonnull(
		    strstr(options->policy.rules[0].origin, " servers.server timeout a=1s"));
	}
	options_free(options);
	log_close(&log);
}

/* A section that had nothing to say is not missed, whatever else may be meant. */
TEST(a_section_without_options_is_not_missed)
{
	struct options *options;
	struct log log = open_log();
	json_t *result;

	put("{\"servers\":{\"server\":{\"timeout\":\"1s\"}}}");
	options = parse_with_file("server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	put("{\"$schema\":\"x\",\"servers\":{\"server\":{}}}");
	json_decref(configfile_reload(options, &log));
	put("{\"$schema\":\"x\",\"servers\":{}}");
	result = configfile_reload(options, &log);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "refused")), 1);
	json_decref(result);
	options_free(options);
	log_close(&log);
}

#define FORMER "{\"server\":{\"timeout\":{\"a\":\"1s\"},\"log-level\":\"error\"},\"other\":{}}"

/* Without the section, which may have another name now; nothing is doubted in an empty file. */
static const struct {
	const char *file;
	bool doubted;
} without_section[] = {
	{ "{\"server\":" FORMER "}", true },
	{ "{\"servers\":{\"sever\":{\"timeout\":{\"a\":\"1s\"}},\"other\":{}}}", true },
	{ "{\"servers\":{\"sever\":[],\"other\":{}}}", true },
	{ "{\"servers\":[" FORMER "]}", true },
	{ "{\"servers\":null}", true },
	{ "{\"servers\":{\"sever\":{\"timeout\":{\"a\":\"1s\"}}}}", true },
	{ "{\"servers\":{\"other\":{}}}", true },
	{ "{\"servers\":{}}", true },
	{ "{\"timeout\":{\"b\":\"9s\"}}", true },
	{ "{}", false },
};

TESTS(a_section_that_is_gone_stays_in_force, 0, COUNT(without_section))
{
	bool doubted = without_section[_i].doubted;
	struct options *options;
	struct log log = open_log();
	json_t *result, *told;

	put("{\"servers\":" FORMER "}");
	options = parse_with_file("server");
	ck_assert_int_eq(load(options), OPTIONS_RUN);
	log.config.level = options->log.level;
	put(without_section[_i].file);
	for (int i = 0; i < 2; i++) {
		result = configfile_reload(options, &log);
		told = json_object_get(result, "refused");
		ck_assert_int_eq(json_array_size(told) > 0, doubted);
		if (doubted)
			ck_assert_str_eq(json_string_value(
					     json_array_get(told, json_array_size(told) - 1)),
			    strncmp(without_section[_i].file, "{\"server\"", 9) == 0 ?
				"server: unknown key: it could be servers" :
				"servers.server is gone: what it said stays; \"server\": {} there would end that");
		json_decref(result);
		ck_assert_int_eq(idle_of(options, SPAN("a")), doubted ? 1000 : TIME_IDLE);
		ck_assert_int_eq(log.config.level, doubted ? LEVEL_ERROR : LEVEL_NOTICE);
		if (doubted)
			ck_assert_ptr_nonnull(strstr(options->policy.rules[0].origin,
			    " servers.server timeout a=1s"));
	}
	/* What is doubted stays so. */
	put("{\"timeout\":{}}");
	json_decref(configfile_reload(options, &log));
	ck_assert_int_eq(idle_of(options, SPAN("a")), doubted ? 1000 : TIME_IDLE);
	put("{\"servers\":{\"server\":{},\"other\":{}}}");
	result = configfile_reload(options, &log);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "refused")), 0);
	json_decref(result);
	ck_assert_int_eq(idle_of(options, SPAN("a")), TIME_IDLE);
	ck_assert_int_eq(log.config.level, LEVEL_NOTICE);
	options_free(options);
	log_close(&log);
}
