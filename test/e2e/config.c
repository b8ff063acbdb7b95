/* The configuration file: in the home or from --config, its sections, and what a person changes while calls run. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client.h"
#include "process.h"

#define FOR_EVER "{\"ms\":600000}"
#define INITIALIZE \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"

static char home[256];    /* of this test alone */
static char in_home[512]; /* the file that canceld reads without --config */
static char given[512];   /* one for --config */
static char options[600]; /* that name it */

static void
enter(void)
{
	char place[400];

	snprintf(home, sizeof(home), "%s/config.XXXXXX", getenv("E2E_DIRECTORY"));
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("HOME", home, 1);
	snprintf(place, sizeof(place), "%s/.config", home);
	ck_assert_int_eq(mkdir(place, 0700), 0);
	snprintf(place, sizeof(place), "%s/.config/canceld", home);
	ck_assert_int_eq(mkdir(place, 0700), 0);
	snprintf(in_home, sizeof(in_home), "%s/.config/canceld/config.json", home);
	snprintf(given, sizeof(given), "%s/given.json", home);
	snprintf(options, sizeof(options), "-c %s", given);
}

static void
put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(path, 0600), 0);
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

	put(in_home, "{\"timeout\":{\"tools/call:sl*\":\"210ms\"},\"log-level\":\"decision\"}");
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

	put(in_home, "{\"log\":\"~/a log\",\"servers\":{\"demo-server\":{\"name\":\"weather\"}}}");
	run = run_session("", NULL);
	run_close_in(run);
	run_expect_exit(run, 0);
	ck_assert_str_eq(run->error.data, "");
	snprintf(path, sizeof(path), "%s/a log", home);
	ck_assert(process_has_text(path, "] weather: SUMMARY "));
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

	put(in_home, wrong[_i].text);
	run = run_session(wrong[_i].words, NULL);
	run_expect_logged(run, ": CONFIG_REFUSED file=");
	ck_assert_ptr_nonnull(strstr(run->error.data, "/.config/canceld/config.json reason=\""));
	ck_assert_ptr_nonnull(strstr(run->error.data, wrong[_i].fault));
	expect_timeout(run, "2", wrong[_i].timeout);
	put(in_home, "{\"max-time\":\"1h\"}");
	reload(run, " changed=");
	reload(run, "/config.json\n");
	run_end(run);
}

/* The rest of the file counts. */
TEST(a_log_of_the_home_that_cannot_be_opened_is_told)
{
	struct run *run;

	put(in_home, "{\"timeout\":\"270ms\",\"log\":\"/nonexistent/log\"}");
	run = run_session("", NULL);
	run_expect_logged(run, "config.json reason=\"log: No such file or directory\"");
	expect_timeout(run, "2", 270);
	run_end(run);
}

TESTS(a_wrong_file_of_the_option_is_a_wrong_option, 0, COUNT(wrong))
{
	struct run *run;
	char wanted[600];

	put(given, wrong[_i].text);
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

	put(given, "{\"timeout\":\"10m\"}");
	run = run_session(options, NULL);
	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	put(given, "{\"timeout\":\"290ms\",\"log-level\":\"traffic\",\"tool-errors\":true}");
	reload(run, "given.json changed=\"timeout, log-level\" at_next_start=tool-errors\n");
	expect_timeout(run, "3", 290);
	run_expect_logged(run, ": CANCEL_SENT ");
	run_expect_logged(run, ": RELAYED ");
	put(given, "{\"servers\":{\"demo*\":{\"timeout\":{\"tools/call:sleep\":\"300ms\"}}}}");
	reload(run, "given.json changed=\"timeout, log-level\"\n");
	expect_timeout(run, "4", 300);
	run_expect_echo(run, "5");
	run_close_in(run);
	run_expect_exit(run, 0);
	ck_assert_ptr_nonnull(strstr(strstr(run->error.data, "SUMMARY "), " timeouts=2 "));
	run_end(run);
}
