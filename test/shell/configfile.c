#include "shell/configfile.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/limits.h"

Suite *configfile_suite(void);

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
	ck_assert_msg(options_parse(&options[place], argc, argv[place]) == OPTIONS_RUN, "%s", words);
	return &options[place];
}

/* What options_refuse writes to stderr is not wanted. */
static int
load(struct configfile *file, struct options *options)
{
	int kept = dup(STDERR_FILENO), status;

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	status = configfile_load(file, options);
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
compare_rules(const char *what, const struct options *one, const struct options *other)
{
	for (int clock = 0; clock < POLICY_CLOCKS; clock++) {
		ck_assert_msg(one->policy.clock[clock].count == other->policy.clock[clock].count, "%s: %zu rules", what,
		    one->policy.clock[clock].count);
		for (size_t i = 0; i < one->policy.clock[clock].count; i++) {
			const struct policy_rule *rule = &one->policy.clock[clock].rules[i];
			const struct policy_rule *wanted = &other->policy.clock[clock].rules[i];

			ck_assert_msg(strcmp(text_of(rule->method), text_of(wanted->method)) == 0 &&
				strcmp(text_of(rule->name), text_of(wanted->name)) == 0 &&
				rule->duration == wanted->duration,
			    "%s: rule %zu", what, i);
		}
	}
}

#define SAME(member) ck_assert_msg(one->member == other->member, "%s: " #member, what)

static void
compare(const char *what, const struct options *one, const struct options *other)
{
	compare_rules(what, one, other);
	SAME(session.dialect);
	SAME(session.grace);
	SAME(drain);
	SAME(drain_for);
	SAME(term_after);
	SAME(kill_after);
	SAME(sweep_group);
	SAME(restarts);
	SAME(restarts_within);
	SAME(session.stateless);
	SAME(session.kill_stuck);
	SAME(session.no_cancel);
	SAME(session.answer_cancelled);
	SAME(session.tool_errors);
	SAME(session.ask_progress);
	SAME(session.legacy);
	SAME(fail_on_timeout);
	SAME(fail_on_error);
	SAME(session.strict);
	SAME(no_control);
	SAME(session.max_message);
	SAME(session.max_inflight);
	SAME(session.dry_run);
	SAME(trace.payload);
	SAME(trace.most);
	SAME(log.level);
	SAME(log.json);
	ck_assert_msg(strcmp(one->control, other->control) == 0, "%s: control %s", what, one->control);
	ck_assert_msg(strcmp(text_of(one->log.file), text_of(other->log.file)) == 0, "%s: log %s", what, one->log.file);
	ck_assert_msg(strcmp(one->name, other->name) == 0, "%s: name %s", what, one->name);
}

/* A file, the words beside it, and the words that say the same without a file. */
static const struct {
	const char *text, *words, *same;
} accepted[] = {
	{ "{}", "server", "server" },
	{ " {\n}\n", "-t 3s server", "-t 3s server" },
	{ "{\"servers\":{}}", "server", "server" },

	{ "{\"timeout\":\"30s\",\"max-time\":\"tools/call:a=2h\"}", "server", "-t 30s -T tools/call:a=2h server" },
	{ "{\"timeout\":{\"tools/call:deep_*\":\"10m\",\"*\":\"30s\"}}", "server",
	    "-t tools/call:deep_*=10m -t 30s server" },
	{ "{\"max-time\":{\"initialize\":\"none\",\"**\":\"0\"}}", "server", "-T initialize=none -T **=0 server" },
	{ "{\"timeout\":{\"resources/read:http://h/?a=b\":\"1s\"}}", "server",
	    "-t resources/read:http://h/?a=b=1s server" },
	{ "{\"timeout\":{}}", "server", "server" },
	{ "{\"dialect\":\"lsp\",\"grace\":\"250ms\"}", "server", "-D lsp -g 250ms server" },
	{ "{\"drain\":true}", "server", "-d server" },
	{ "{\"drain\":\"5s\"}", "server", "-d5s server" },
	{ "{\"drain\":false}", "server", "server" },
	{ "{\"term-after\":\"1s\",\"kill-after\":\"2s\"}", "server", "--term-after 1s --kill-after 2s server" },
	{ "{\"sweep\":\"group\"}", "server", "--sweep group server" },
	{ "{\"restart\":true}", "server", "-r server" },
	{ "{\"restart\":\"stateless,7/2m\"}", "server", "-rstateless,7/2m server" },
	{ "{\"restart\":3}", "server", "-r3 server" },
	{ "{\"kill-stuck\":\"2s\"}", "server", "-k2s server" },
	{ "{\"kill-stuck\":true,\"restart\":\"7/2m\"}", "server", "-k -r7/2m server" },
	{ "{\"no-cancel\":true,\"answer-cancelled\":true,\"tool-errors\":true,\"ask-progress\":true,\"legacy\":true}",
	    "server", "--no-cancel --answer-cancelled --tool-errors --ask-progress --legacy server" },
	{ "{\"fail-on-timeout\":true,\"fail-on-error\":true,\"strict\":true}", "server",
	    "-e --fail-on-error --strict server" },
	{ "{\"strict\":false}", "server", "server" },
	{ "{\"max-message\":\"10M\",\"max-inflight\":7}", "server", "--max-message 10M --max-inflight 7 server" },
	{ "{\"max-message\":65536,\"max-inflight\":\"9\"}", "server", "--max-message 64K --max-inflight 9 server" },
	{ "{\"log\":\"~/a/log\",\"log-format\":\"json\"}", "server", "-l /home/me/a/log --log-format json server" },
	{ "{\"dry-run\":true}", "server", "-n server" },
	{ "{\"trace\":\"~/a/t\",\"trace-payload\":true,\"trace-size\":\"8M\"}", "server",
	    "--trace /home/me/a/t --trace-payload --trace-size 8M server" },
	{ "{\"control\":\"~/a/s\"}", "server", "--control /home/me/a/s server" },
	{ "{\"no-control\":true}", "server", "--no-control server" },
	{ "{\"log-level\":\"error\"}", "server", "-q server" },
	{ "{\"log-level\":\"person\"}", "server", "server" },
	{ "{\"log-level\":\"decision\"}", "server", "-v server" },
	{ "{\"log-level\":\"traffic\"}", "server", "-vv server" },
	{ "{\"name\":\"mine\"}", "server", "--name mine server" },
	{ "{\"na\\u006de\":\"min\\u0065\"}", "server", "--name mine server" },

	/* options win */
	{ "{\"dialect\":\"lsp\",\"grace\":\"1s\"}", "-D acp server", "-D acp -g 1s server" },
	{ "{\"grace\":\"1s\"}", "--grace=2s server", "-g 2s server" },
	{ "{\"restart\":\"7/2m\"}", "-r3/1m server", "-r3/1m server" },
	{ "{\"restart\":\"7/2m\"}", "-k2s server", "-k2s -r7/2m server" },
	{ "{\"kill-stuck\":\"2s\"}", "-r3/1m server", "-r3/1m -k2s server" },
	{ "{\"log-level\":\"traffic\"}", "-q server", "-q server" },
	{ "{\"log-level\":\"traffic\"}", "-v server", "-v server" },
	{ "{\"log-level\":\"traffic\"}", "--log-level error server", "-q server" },
	{ "{\"log\":\"/a\"}", "-l /b server", "-l /b server" },
	{ "{\"name\":\"mine\"}", "--name yours server", "--name yours server" },

	/* sections */
	{ "{\"servers\":{\"server\":{\"strict\":true}}}", "server", "--strict server" },
	{ "{\"servers\":{\"server\":{\"strict\":true}}}", "--name other server -x", "--name other server -x" },
	{ "{\"servers\":{\"other\":{\"strict\":true}}}", "--name other server", "--name other --strict server" },
	{ "{\"servers\":{\"weather\":{\"strict\":true}}}", "npx -y @a/weather@1", "--strict npx -y @a/weather@1" },
	{ "{\"servers\":{\"npx * @a/*\":{\"strict\":true}}}", "npx -y @a/weather@1", "--strict npx -y @a/weather@1" },
	{ "{\"servers\":{\"npx * @a/*\":{\"strict\":true}}}", "/usr/bin/npx -y @a/b", "--strict /usr/bin/npx -y @a/b" },
	{ "{\"servers\":{\"/usr/*\":{\"strict\":true}}}", "/usr/bin/npx -y @a/b", "--strict /usr/bin/npx -y @a/b" },
	{ "{\"servers\":{\"npx * @b/*\":{\"strict\":true}}}", "npx -y @a/weather@1", "npx -y @a/weather@1" },
	{ "{\"servers\":{\"*\":{\"strict\":true},\"server\":{\"legacy\":true}}}", "server", "--legacy server" },
	{ "{\"servers\":{\"s*\":{\"strict\":true},\"*\":{\"legacy\":true}}}", "server", "--strict server" },
	{ "{\"servers\":{\"*\":{\"strict\":true}},\"grace\":\"1s\"}", "server", "--strict -g 1s server" },
	{ "{\"servers\":{\"server\":{\"grace\":\"2s\"}},\"grace\":\"1s\"}", "server", "-g 2s server" },
	{ "{\"servers\":{\"server\":{\"grace\":\"2s\"}},\"grace\":\"1s\"}", "-g 3s server", "-g 3s server" },
	{ "{\"servers\":{\"server\":{\"strict\":false}},\"strict\":true}", "server", "server" },
	{ "{\"servers\":{\"server\":{\"restart\":false}},\"restart\":true}", "server", "server" },
	{ "{\"servers\":{\"server\":{\"name\":\"mine\",\"strict\":true}}}", "server", "--name mine --strict server" },
};

START_TEST(a_file_says_what_options_say)
{
	struct configfile file;
	struct options *options, *same;

	put(accepted[_i].text);
	options = parse_with_file(accepted[_i].words);
	same = parse(1, accepted[_i].same);
	ck_assert_msg(load(&file, options) == OPTIONS_RUN, "%s: %s", accepted[_i].text, options->fault);
	compare(accepted[_i].text, options, same);
	configfile_free(&file);
	options_free(options);
	options_free(same);
}
END_TEST

/* A key that no test sets might set nothing. */
START_TEST(every_option_is_a_key)
{
	const struct option *option;
	char key[64];

	for (option = options_table(); option->name != NULL; option++) {
		bool set = false;

		snprintf(key, sizeof(key), "\"%s\":", option->name);
		for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
			set |= strstr(accepted[i].text, key) != NULL;
		ck_assert_msg(set == (options_key(option->name) != KEY_UNKNOWN), "%s", option->name);
	}
	ck_assert_int_eq(options_key("help"), KEY_UNKNOWN);
	ck_assert_int_eq(options_key("version"), KEY_UNKNOWN);
	ck_assert_int_eq(options_key("config"), KEY_UNKNOWN);
	ck_assert_int_eq(options_key("stric"), KEY_UNKNOWN);
}
END_TEST

static const struct {
	const char *text, *fault; /* fault: how the words after the name of the file begin */
} refused[] = {
	{ "", "line 1, column 0: '[' or '{' expected near end of file" },
	{ "[]", "line 1, column 1: want a JSON object" },
	{ "{\n  \"strict\": true,\n}", "line 3, column 1: string or '}' expected near '}'" },
	{ "{\"strict\":true}x", "line 1, column 16: end of file expected near 'x'" },
	{ "{\"strict\":true,\n\"strict\":true}", "line 2, column 8: duplicate object key near '\"strict\"'" },
	{ "{\"name\":\"\xff\"}", "line 1, column 9: unable to decode byte 0xff" },
	{ "{\"name\":\"a\\u0000\"}", "line 1, column " },

	{ "{\"timeot\":\"3s\"}", "line 1, column 2: unknown key 'timeot': it could be timeout" },
	{ "{\n  \"strict\": true,\n  \"sever\": {}}", "line 3, column 3: unknown key 'sever': it could be servers" },
	{ "{\"qqqqqqqqqq\":1}", "line 1, column 2: unknown key 'qqqqqqqqqq'" },
	{ "{\"a\\u001b\\n\":1}", "line 1, column 2: unknown key 'a\\x1b\\x0a'" },
	{ "{\"help\":true}", "line 1, column 2: unknown key 'help'" },
	{ "{\"config\":\"x\"}", "line 1, column 2: unknown key 'config'" },
	{ "{\"t\":\"3s\"}", "line 1, column 2: unknown key 't'" },
	{ "{\"name\":\"\xc3\xa4\xc3\xb6\",\"tim\":1}", "line 1, column 14: unknown key 'tim'" },
	{ "{\"name\":\"\\\\\\\"{tim\",\"tim\":1}", "line 1, column 20: unknown key 'tim'" },

	{ "{\"strict\":1}", "line 1, column 2: strict '1': want true or false" },
	{ "{\"strict\":\"yes\"}", "line 1, column 2: strict 'yes': want true or false" },
	{ "{\"strict\":null}", "line 1, column 2: strict: want a string, a number, true or false" },
	{ "{\"grace\":true}", "line 1, column 2: grace: want DURATION" },
	{ "{\"grace\":false}", "line 1, column 2: grace: want DURATION" },
	{ "{\"grace\":5}", "line 1, column 2: grace '5': is the unit missing? want DURATION" },
	{ "{\"grace\":{\"*\":\"5s\"}}", "line 1, column 2: grace: want a string, a number, true or false" },
	{ "{\"max-inflight\":1.5}", "line 1, column 2: max-inflight '1.5': want a number from 1" },
	{ "{\"dialect\":\"http\"}", "line 1, column 2: dialect 'http': want auto, mcp" },
	{ "{\"log-level\":\"loud\"}", "line 1, column 2: log-level 'loud': want error, person, decision or traffic" },

	{ "{\"timeout\":30}", "line 1, column 2: timeout '30': is the unit missing? want [METHOD" },
	{ "{\"timeout\":[\"30s\"]}",
	    "line 1, column 2: timeout: want a string, a number, true or false, or an object" },
	{ "{\"timeout\":{\"*\":\"1s\",\n \"tools/call\":\"30\"}}",
	    "line 2, column 2: timeout 'tools/call=30': is the unit missing?" },
	{ "{\"timeout\":{\"\":\"30s\"}}", "line 1, column 13: timeout '=30s': want [METHOD" },
	{ "{\"timeout\":{\"a:\":\"30s\"}}", "line 1, column 13: timeout 'a:=30s': want [METHOD" },
	{ "{\"timeout\":{\"a\":30}}", "line 1, column 13: timeout: want a duration in quotes, such as \"30s\"" },
	{ "{\"timeout\":{\"a\":\"b=30s\"}}", "line 1, column 13: timeout: want a duration in quotes" },

	{ "{\"name\":\"timeout\",\n\"timeout\" \n:\"30\"}", "line 2, column 1: timeout '30': is the unit missing?" },
	{ "{\"servers\":[]}", "line 1, column 2: servers: want an object of servers" },
	{ "{\"servers\":{\"a\":true}}", "line 1, column 13: want an object of options for the server" },
	{ "{\"servers\":{\"a\":{},\n\t\"b\":{\"timeout\":{\"c\":\"1x\"}}}}",
	    "line 2, column 18: timeout 'c=1x': want" },
	{ "{\"servers\":{\"a\":{\"servers\":{}}}}", "line 1, column 18: unknown key 'servers'" },
	{ "{\"grace\":\"1s\",\"servers\":{\"a\":{\"strict\":true},\"strict\":{\"grace\":\"1s\",\"stric\":true}}}",
	    "line 1, column 69: unknown key 'stric': it could be strict" },
};

START_TEST(what_is_wrong_has_a_place)
{
	struct configfile file;
	struct options *options;
	char wanted[512];

	put(refused[_i].text);
	options = parse_with_file("server");
	ck_assert_msg(load(&file, options) == STATUS_FAILED, "%s: is accepted", refused[_i].text);
	snprintf(wanted, sizeof(wanted), "--config '%s': %s", path, refused[_i].fault);
	ck_assert_msg(strncmp(options->fault, wanted, strlen(wanted)) == 0, "%s, not %s", options->fault, wanted);
	configfile_free(&file);
	options_free(options);
}
END_TEST

static void
expect_refused(const char *reason)
{
	struct configfile file;
	struct options *options = parse_with_file("server");

	ck_assert_int_eq(load(&file, options), STATUS_FAILED);
	ck_assert_msg(strstr(options->fault, reason) != NULL, "%s, not %s", options->fault, reason);
	configfile_free(&file);
	options_free(options);
}

START_TEST(only_the_owner_writes_it)
{
	put("{}");
	ck_assert_int_eq(chmod(path, 0620), 0);
	expect_refused("others may write to it (mode 0620); chmod go-w");
	ck_assert_int_eq(chmod(path, 0602), 0);
	expect_refused("others may write to it (mode 0602); chmod go-w");
	if (geteuid() != 0)
		return;
	put("{}");
	ck_assert_int_eq(chown(path, 12345, 0), 0);
	expect_refused("it belongs to another user");
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	expect_refused("No such file or directory");
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_refused("it is no regular file");
	unlink(path);
	ck_assert_int_eq(symlink(".", path), 0);
	expect_refused("it is no regular file");
}
END_TEST

START_TEST(its_size_is_bounded)
{
	static char text[(1 << 20) + 1];
	struct configfile file;
	struct options *options;

	memset(text, ' ', sizeof(text));
	text[0] = '{';
	text[sizeof(text) - 2] = '}';
	put_text(text, sizeof(text) - 1);
	options = parse_with_file("server");
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	configfile_free(&file);
	put_text(text, sizeof(text));
	expect_refused("it is longer than 1 MiB");
	memset(text, '[', 1 << 16);
	put_text(text, 1 << 16);
	expect_refused("maximum parsing depth reached");
}
END_TEST

/* The options are then as without a file. */
START_TEST(the_file_in_the_home_may_be_wrong)
{
	char place[256];
	struct configfile file;
	struct options *options, *same;

	setenv("HOME", directory, 1);
	options = parse(0, "server");
	same = parse(1, "server");
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	ck_assert_uint_eq(file.fault.len, 0);
	configfile_free(&file);

	snprintf(place, sizeof(place), "%s/.config", directory);
	ck_assert_int_eq(mkdir(place, 0700), 0);
	snprintf(place, sizeof(place), "%s/.config/canceld", directory);
	ck_assert_int_eq(mkdir(place, 0700), 0);
	snprintf(path, sizeof(path), "%s/.config/canceld/config.json", directory);
	put("{\"strict\":true,\"grace\":\"1s\"}");
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	ck_assert(options->session.strict);
	configfile_free(&file);
	options_free(options);

	put("{\"strict\":true,\"grace\":\"1\"}");
	options = parse(0, "server");
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	ck_assert_uint_gt(file.fault.len, 0);
	compare("a refused file", options, same);
	ck_assert_str_eq(options->fault, "");
	configfile_free(&file);
	options_free(options);
	options_free(same);

	unlink(path);
	rmdir(place);
	*strrchr(place, '/') = '\0';
	rmdir(place);
}
END_TEST

/* The first example of canceld.conf(5), without the roff. */
START_TEST(the_example_of_the_manual_is_right)
{
	static char text[64 << 10], *start, *end;
	FILE *manual = fopen("man/canceld.conf.5", "r");
	struct configfile file;
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
	    "--name weather -t 2m -t tools/call:build_*=30m -t 30s -T 1h -l /home/me/canceld.log -r5/1m server");
	ck_assert_msg(load(&file, options) == OPTIONS_RUN, "%s", options->fault);
	compare("weather", options, same);
	configfile_free(&file);
	options_free(options);
	options_free(same);
}
END_TEST

/* The strongest source decides, and each rule comes from where it stands. */
START_TEST(rules_know_their_source)
{
	struct configfile file;
	struct options *options;
	const struct policy_rule *rules;

	put("{\"timeout\":{\"a\":\"1s\"},\"servers\":{\"server\":{\"timeout\":\"2s\"}}}");
	options = parse_with_file("-t b=3s server");
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	rules = options->policy.clock[POLICY_IDLE].rules;
	ck_assert_uint_eq(options->policy.clock[POLICY_IDLE].count, 3);
	ck_assert_int_eq(rules[0].source, POLICY_OPTION);
	ck_assert_int_eq(rules[1].source, POLICY_FILE);
	ck_assert_int_eq(rules[2].source, POLICY_SECTION);
	ck_assert_int_eq(policy_deadlines(&options->policy, SPAN("a"), SPAN_NONE, NULL, false).idle, 2000);
	ck_assert_int_eq(policy_deadlines(&options->policy, SPAN("b"), SPAN_NONE, NULL, false).idle, 3000);
	configfile_free(&file);
	options_free(options);
}
END_TEST

/* What a second file changes, as the result of the reload shows it. */
static const struct {
	const char *before, *words, *after, *result;
} reloads[] = {
	{ "{}", "", "{}", "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\"}", "", "{\"timeout\":\"1s\"}", "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\"}", "", "{\"timeout\":\"2s\"}", "{\"changed\":[\"timeout\"],\"at_next_start\":[]}" },
	{ "{}", "", "{\"max-time\":{\"a\":\"2s\"},\"log-level\":\"decision\"}",
	    "{\"changed\":[\"max-time\",\"log-level\"],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\",\"log-level\":\"error\"}", "", "{}",
	    "{\"changed\":[\"timeout\",\"log-level\"],\"at_next_start\":[]}" },
	{ "{\"timeout\":\"1s\"}", "", "{\"servers\":{\"s*\":{\"timeout\":\"1s\"}}}",
	    "{\"changed\":[\"timeout\"],\"at_next_start\":[]}" },
	{ "{\"servers\":{\"other\":{\"timeout\":\"1s\"}}}", "", "{\"servers\":{\"other\":{\"timeout\":\"2s\"}}}",
	    "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"strict\":true}", "", "{\"restart\":true,\"timeout\":\"1s\"}",
	    "{\"changed\":[\"timeout\"],\"at_next_start\":[\"restart\",\"strict\"]}" },
	{ "{\"log-level\":\"error\"}", "-v ", "{\"log-level\":\"traffic\"}", "{\"changed\":[],\"at_next_start\":[]}" },
	{ "{\"grace\":\"1s\"}", "-g 2s ", "{\"grace\":\"3s\"}", "{\"changed\":[],\"at_next_start\":[]}" },
};

static struct log
open_log(void)
{
	struct log_config config = { .level = LEVEL_PERSON, .file = "/dev/null" };
	struct log log;

	ck_assert_int_eq(log_open(&log, &config), 0);
	return log;
}

START_TEST(a_reload_tells_what_has_changed)
{
	struct configfile file;
	struct options *options;
	struct log log = open_log();
	char words[64], *text;
	json_t *result;

	put(reloads[_i].before);
	snprintf(words, sizeof(words), "%sserver", reloads[_i].words);
	options = parse_with_file(words);
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	put(reloads[_i].after);
	result = configfile_reload(&file, options, &log);
	text = json_dumps(result, JSON_COMPACT);
	ck_assert_msg(strcmp(text, reloads[_i].result) == 0, "%s to %s: %s", reloads[_i].before, reloads[_i].after,
	    text);
	free(text);
	json_decref(result);
	configfile_free(&file);
	options_free(options);
	log_close(&log);
}
END_TEST

static msec_t
idle_of(struct options *options, struct span method)
{
	return policy_deadlines(&options->policy, method, SPAN_NONE, NULL, false).idle;
}

START_TEST(a_reload_changes_rules_and_the_level)
{
	struct configfile file;
	struct options *options;
	struct log log = open_log();

	put("{\"timeout\":{\"a\":\"1s\",\"b\":\"1s\"},\"strict\":true}");
	options = parse_with_file("-t c=4s server");
	policy_add(&options->policy, POLICY_SET, POLICY_IDLE, SPAN("d"), SPAN_NONE, 5000);
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	put("{\"timeout\":{\"a\":\"2s\",\"c\":\"2s\",\"d\":\"2s\"},\"log-level\":\"decision\"}");
	json_decref(configfile_reload(&file, options, &log));
	ck_assert_int_eq(idle_of(options, SPAN("a")), 2000);
	ck_assert_int_eq(idle_of(options, SPAN("b")), TIME_IDLE);
	ck_assert_int_eq(idle_of(options, SPAN("c")), 4000);
	ck_assert_int_eq(idle_of(options, SPAN("d")), 5000);
	ck_assert_int_eq(log.level, LEVEL_DECISION);
	ck_assert(options->session.strict);

	put("{\"timeout\":{\"a\":\"3s\",\"b\":\"none of these\"}}");
	ck_assert_ptr_null(configfile_reload(&file, options, &log));
	ck_assert_uint_gt(file.fault.len, 0);
	ck_assert_int_eq(idle_of(options, SPAN("a")), 2000);
	ck_assert_int_eq(log.level, LEVEL_DECISION);

	put("{}");
	json_decref(configfile_reload(&file, options, &log));
	ck_assert_uint_eq(file.fault.len, 0);
	ck_assert_int_eq(idle_of(options, SPAN("a")), TIME_IDLE);
	ck_assert_int_eq(log.level, LEVEL_PERSON);
	configfile_free(&file);
	options_free(options);
	log_close(&log);
}
END_TEST

/* What counts at the next start is told again until then. */
START_TEST(what_waits_for_the_next_start_is_told_again)
{
	struct configfile file;
	struct options *options;
	struct log log = open_log();
	json_t *result;

	put("{}");
	options = parse_with_file("server");
	ck_assert_int_eq(load(&file, options), OPTIONS_RUN);
	put("{\"strict\":true}");
	for (int i = 0; i < 2; i++) {
		result = configfile_reload(&file, options, &log);
		ck_assert_uint_eq(json_array_size(json_object_get(result, "at_next_start")), 1);
		json_decref(result);
	}
	ck_assert(!options->session.strict);
	configfile_free(&file);
	options_free(options);
	log_close(&log);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

Suite *
configfile_suite(void)
{
	Suite *suite = suite_create("configfile");
	TCase *files = tcase_create("files");

	tcase_add_checked_fixture(files, enter, leave);
	tcase_add_loop_test(files, a_file_says_what_options_say, 0, COUNT(accepted));
	tcase_add_test(files, every_option_is_a_key);
	tcase_add_loop_test(files, what_is_wrong_has_a_place, 0, COUNT(refused));
	tcase_add_test(files, only_the_owner_writes_it);
	tcase_add_test(files, what_is_no_file_is_refused);
	tcase_add_test(files, its_size_is_bounded);
	tcase_add_test(files, the_file_in_the_home_may_be_wrong);
	tcase_add_test(files, the_example_of_the_manual_is_right);
	tcase_add_test(files, rules_know_their_source);
	tcase_add_loop_test(files, a_reload_tells_what_has_changed, 0, COUNT(reloads));
	tcase_add_test(files, a_reload_changes_rules_and_the_level);
	tcase_add_test(files, what_waits_for_the_next_start_is_told_again);
	suite_add_tcase(suite, files);
	return suite;
}
