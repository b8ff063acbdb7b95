/*
 * The configuration file: in the home or from --config, its sections, and what a person changes
 * while calls run.
 */
#include <sys/stat.h>

#include "client.h"
#include "shell.h"

static char home[256];    /* of this test alone */
static char in_home[512]; /* the file that canceld reads without --config */
static char given[512];   /* one for --config */
static char options[600]; /* that name it */

static void
enter(void)
{
	snprintf(home, sizeof(home), "%s/config.XXXXXX", getenv("E2E_DIRECTORY"));
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("HOME", home, 1);
	ck_assert_int_eq(system("mkdir -p -m 700 $HOME/.config/canceld"), 0);
	snprintf(in_home, sizeof(in_home), "%s/.config/canceld/config.json", home);
	snprintf(given, sizeof(given), "%s/given.json", home);
	snprintf(options, sizeof(options), "-c %s", given);
}

/* A call that hangs must be given up after so many milliseconds. */
static void
expect_timeout(struct run *run, const char *id, long timeout)
{
	json_t *error;

	run_call(run, id, "sleep", FOR_EVER);
	error = run_expect_error(run, id, CODE_CANCELLED, "timeout");
	ck_assert_int_eq(at_number(error, "error data timeoutMs"), timeout);
}

SUITE("config", .before = enter);

static void
reload(struct run *run, const char *wanted)
{
	ck_assert_int_eq(kill(run->pid, SIGUSR2), 0);
	run_expect_logged(run, wanted);
}

TEST(the_file_in_the_home_is_read)
{
	struct run *run;

	file_write(in_home,
	    "{\"timeout\":{\"tools/call:sl*\":\"210ms\"},\"log-level\":\"decision\"}", 0600);
	run = run_session("", NULL);
	expect_timeout(run, "2", 210);
	run_expect_echo(run, "3");
	run_expect_logged(run, ": CANCEL_SENT ");
	run_end(run);
}

TEST(a_section_names_the_server_and_the_log)
{
	char path[512];
	struct run *run;

	file_write(in_home,
	    "{\"log\":\"~/a log\",\"servers\":{\"demo-server\":{\"name\":\"weather\"}}}", 0600);
	run = run_session("", NULL);
	run_leave(run, 0);
	ck_assert_str_eq(run->error.data, "");
	snprintf(path, sizeof(path), "%s/a log", home);
	ck_assert(process_has_text(path, "] weather: SUMMARY "));
	run_end(run);
}

/* wrap chooses -D lsp, and the section is meant for any protocol: the server runs all the same. */
TEST(a_section_with_parallel_stops_no_language_server)
{
	struct run *run;

	file_write(in_home, "{\"servers\":{\"true\":{\"parallel\":2}},\"parallel\":3}", 0600);
	run = run_options("-D lsp", "true");
	run_close_in(run);
	run_expect_exit(run, 0);
	run_expect_logged(run, "RULE_UNUSED from=\"");
	ck_assert_ptr_nonnull(strstr(run->error.data, " servers.true parallel 2\"\n"));
	ck_assert_ptr_null(strstr(run->error.data, "parallel 3"));
	run_end(run);
}

static const struct {
	const char *text, *fault, *words; /* words: of the command line */
	long timeout;
} wrong[] = {
	{ "{\"timeout\":{\"tools/call\":\"200ms\"},\"log\":7,\"servers\":{\"demo*\":{\"timeout\":\"1\"}}}",
	    "servers.demo*.timeout '1': is the unit missing?", "", 200 },
	{ "{\"timeout\":\"200ms\",\n}", "line 2, column 1: ", "-t 280ms", 280 },
};

/* A client seldom shows what canceld writes: the session must go on. */
TESTS(a_wrong_file_in_the_home_is_told, 0, COUNT(wrong))
{
	struct run *run;

	file_write(in_home, wrong[_i].text, 0600);
	run = run_session(wrong[_i].words, NULL);
	run_expect_logged(run, ": CONFIG_REFUSED file=");
	ck_assert_ptr_nonnull(strstr(run->error.data, "/.config/canceld/config.json reason=\""));
	ck_assert_ptr_nonnull(strstr(run->error.data, wrong[_i].fault));
	expect_timeout(run, "2", wrong[_i].timeout);
	file_write(in_home, "{\"max-time\":\"1h\"}", 0600);
	reload(run, " changed=");
	reload(run, "/config.json\n");
	run_end(run);
}

/* It may have been moved: only a file that says nothing withdraws. One that never was is none. */
TEST(a_file_in_the_home_that_is_gone_stays_in_force)
{
	struct run *run;

	file_write(in_home, "{\"timeout\":{\"tools/call\":\"220ms\"}}", 0600);
	run = run_session("", NULL);
	ck_assert_int_eq(unlink(in_home), 0);
	reload(run, "/config.json reason=\"No such file or directory\"\n");
	expect_timeout(run, "2", 220);
	file_write(in_home, "{}", 0600);
	reload(run, "/config.json changed=timeout\n");
	run_end(run);
	ck_assert_int_eq(unlink(in_home), 0);
	run = run_session("", NULL);
	reload(run, ": CONFIG_RELOADED file=");
	ck_assert_ptr_null(strstr(run->error.data, "CONFIG_REFUSED"));
	run_end(run);
}

/* What is only for other servers may go, too. */
TEST(a_file_in_the_home_that_says_nothing_may_be_removed)
{
	struct run *run;

	file_write(in_home, "{\"timeout\":\"220ms\",\"tool-errors\":true}", 0600);
	run = run_session("", NULL);
	file_write(in_home, "{\"servers\":{\"another\":{\"timeout\":\"1s\"}}}", 0600);
	reload(run, "/config.json changed=timeout at_next_start=tool-errors\n");
	ck_assert_int_eq(unlink(in_home), 0);
	reload(run, "/config.json at_next_start=tool-errors\n");
	file_write(in_home, "{\"timeout\":\"230ms\",\"tool-errors\":true}", 0600);
	reload(run, "/config.json changed=timeout\n");
	ck_assert_ptr_null(strstr(run->error.data, "CONFIG_REFUSED"));
	ck_assert_int_eq(unlink(in_home), 0);
	reload(run, "/config.json reason=\"No such file or directory\"\n");
	run_end(run);
}

/* What it should say would be lost without a word. */
TESTS(a_link_in_the_home_that_leads_nowhere_is_told, 0, 3)
{
	char link[sizeof(in_home)];
	struct run *run;

	/* The file, its directory, or that one's. */
	snprintf(link, sizeof(link), "%s", in_home);
	for (int i = 0; i < _i; i++) {
		*strrchr(link, '/') = '\0';
		ck_assert_int_eq(rmdir(link), 0);
	}
	ck_assert_int_eq(symlink("/nonexistent/there", link), 0);
	run = run_session("", NULL);
	run_expect_logged(run,
	    "/config.json reason=\"it, or a folder above it, is a link that leads nowhere\"\n");
	run_expect_echo(run, "2");
	run_end(run);
	snprintf(options, sizeof(options), "-c %s", in_home);
	run = run_options(options, "sh:echo started >&2");
	run_expect_end(run);
	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data,
	    "/config.json': it, or a folder above it, is a link that leads nowhere"));
	run_end(run);
}

/* There is nothing to be read, whatever can be seen of the working directory. */
TEST(without_a_home_no_file_is_missed)
{
	if (geteuid() != 0)
		return;
	shell_expect("true",
	    "d=$(mktemp -d /tmp/canceld-e2e.XXXXXX); chmod 755 $d; cp $CANCELD $d/program; "
	    "user=$((100000 + $$)); mkdir -m 700 $d/closed; cd $d/closed; "
	    "env -u HOME setpriv --reuid $user --regid $user --clear-groups "
	    "$d/program --no-control --no-history true </dev/null 2>&1; "
	    "echo status $?; cd /; rm -r $d",
	    0, "status 0\n");
	ck_assert_ptr_null(strstr(shell_output, "CONFIG_REFUSED"));
}

/* The rest of the file counts. */
TEST(a_log_of_the_home_that_cannot_be_opened_is_told)
{
	struct run *run;

	file_write(in_home, "{\"timeout\":\"270ms\",\"log\":\"/nonexistent/log\"}", 0600);
	run = run_session("", NULL);
	run_expect_logged(run, "config.json reason=\"log: there is no such folder\"");
	expect_timeout(run, "2", 270);
	run_end(run);
}

TEST(a_log_of_the_option_s_file_is_told_as_that)
{
	struct run *run;
	char wanted[600];

	file_write(given, "{\"log\":\"/nonexistent/log\"}", 0600);
	snprintf(wanted, sizeof(wanted),
	    "--config '%s': log '/nonexistent/log': there is no such folder", given);
	run = run_options(options, "sh:echo started >&2");
	run_expect_end(run);
	run_expect_exit(run, 125);
	ck_assert_ptr_nonnull(strstr(run->error.data, wanted));
	run_end(run);
}

/* Neither that of the home. */
TEST(no_file_is_read_if_the_option_says_so)
{
	struct run *run;

	file_write(in_home, "{\"timeout\":\"270ms\",\"tiemout\":1}", 0600);
	run = run_session("-c /dev/null -t 300ms", NULL);
	expect_timeout(run, "2", 300);
	reload(run, ": CONFIG_RELOADED file=/dev/null");
	ck_assert_ptr_null(strstr(run->error.data, "CONFIG_REFUSED"));
	run_end(run);
}

TESTS(a_wrong_file_of_the_option_is_a_wrong_option, 0, COUNT(wrong))
{
	struct run *run;
	char wanted[600];

	file_write(given, wrong[_i].text, 0600);
	snprintf(wanted, sizeof(wanted), "--config '%s': %s", given, wrong[_i].fault);
	run = run_options(options, "sh:echo started >&2");
	run_send(run, INITIALIZE);
	run_expect_error(run, "0", CODE_INTERNAL, "not-started");
	ck_assert_ptr_nonnull(strstr(at_text(run->message, "error message"), wanted));
	run_expect_exit(run, 125);
	ck_assert(strncmp(run->error.data, "canceld: --config '", 19) == 0);
	ck_assert_ptr_null(strstr(run->error.data, "started\n"));
	run_end(run);
}

/* The call that is under way keeps its deadline; the level of the log counts at once. */
TEST(a_reload_is_for_new_requests)
{
	struct run *run;

	file_write(given, "{\"timeout\":\"10m\"}", 0600);
	run = run_session(options, NULL);
	run_hang(run, "2");
	file_write(given, "{\"timeout\":\"290ms\",\"log-level\":\"traffic\",\"tool-errors\":true}",
	    0600);
	reload(run, "given.json changed=\"timeout, log-level\" at_next_start=tool-errors\n");
	expect_timeout(run, "3", 290);
	run_expect_logged(run, ": CANCEL_SENT ");
	run_expect_logged(run, ": RELAYED ");
	file_write(given,
	    "{\"servers\":{\"demo*\":{\"timeout\":{\"tools/call:sleep\":\"300ms\"}}}}", 0600);
	reload(run, "given.json changed=\"timeout, log-level\"\n");
	expect_timeout(run, "4", 300);
	run_expect_echo(run, "5");
	run_leave(run, 0);
	run_expect_summary(run, "timeouts=2");
	run_end(run);
}
