/*
 * The control socket: what a person sees and steers, and what nobody may do to the session through
 * it.
 */
#include <glob.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "client.h"
#include "hide.h"
#include "life.h"
#include "needs.h"
#include "shell.h"

enum { PEERS = 16 }; /* connections that are served */

static char socket_path[128];

/* Each test that needs to know the name gives it. */
static const char *
with_socket(const char *options)
{
	static char text[512];

	snprintf(socket_path, sizeof(socket_path), "%s/c%d.sock", getenv("E2E_DIRECTORY"),
	    (int)getpid());
	ck_assert_uint_lt(strlen(socket_path), 104);
	snprintf(text, sizeof(text), "--control %s %s", socket_path, options);
	return text;
}

static bool
exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* A person's end, to be read; what is written goes to its descriptor. */
static FILE *
connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_uint_lt(strlen(path), sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fdopen(fd, "r");
}

/* Freed by the caller. */
static json_t *
next_message(FILE *peer)
{
	char *line = NULL;
	size_t room = 0;
	json_t *message;

	ck_assert_int_gt(getline(&line, &room, peer), 0);
	for (const char *at = line; *at != '\n'; at++)
		ck_assert_msg(*at >= ' ' && *at < '\x7f', "not only ASCII: %s", line);
	message = json_loads(line, 0, NULL);
	ck_assert_msg(message != NULL, "no JSON: %s", line);
	free(line);
	return message;
}

/* The response, behind what is watched. */
static json_t *
call(FILE *peer, const char *method, const char *params)
{
	json_t *message;

	dprintf(fileno(peer), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}\n",
	    method, params);
	while (at_exists(message = next_message(peer), "method"))
		json_decref(message);
	return message;
}

static void
expect_list(FILE *peer)
{
	json_decref(call(peer, "list", "{}"));
}

/* Waits until a list shows so many requests. The result, which the caller frees. */
static json_t *
expect_requests(FILE *peer, size_t count)
{
	long end = milliseconds() + HARNESS_LIMIT;
	json_t *message;

	while (json_array_size(at(message = call(peer, "list", "{\"requests\":true}"),
		   "result requests")) != count) {
		ck_assert_msg(milliseconds() < end, "the list does not show %zu requests", count);
		json_decref(message);
	}
	return message;
}

/* What most tests need. */
static struct run *canceld;
static FILE *person;

static void
connect_person(void)
{
	canceld = run_session(with_socket(""), NULL);
	person = connect_to(socket_path);
}

static void
leave(void)
{
	fclose(person);
	run_end(canceld);
}

SUITE("control", .seconds = 38);

TEST(a_list_tells_about_canceld_and_its_requests)
{
	struct run *run = run_session(with_socket("--name tests"), NULL);
	FILE *peer = connect_to(socket_path);
	json_t *message, *request;

	run_call(run, "2", "stubborn", FOR_EVER);
	message = expect_requests(peer, 1);
	ck_assert_int_eq(at_number(message, "result pid"), run->pid);
	ck_assert_str_eq(at_text(message, "result name"), "tests");
	ck_assert_str_eq(at_text(message, "result dialect"), "mcp");
	ck_assert_str_eq(at_text(message, "result era"), "legacy");
	ck_assert_str_eq(at_text(message, "result server state"), "running");
	ck_assert_int_gt(at_number(message, "result server pid"), 1);
	if (system_has(SYSTEM_SEES_CLIENT))
		ck_assert_int_eq(at_number(message, "result client pid"), getpid());
	ck_assert_int_eq(at_number(message, "result in_flight"), 1);
	ck_assert_int_ge(at_number(message, "result oldest_ms"), 0);
	ck_assert_uint_ge(json_array_size(at(message, "result command")), 1);
	request = json_array_get(at(message, "result requests"), 0);
	ck_assert_str_eq(at_text(request, "id"), "2");
	ck_assert_str_eq(at_text(request, "from"), "client");
	ck_assert_str_eq(at_text(request, "method"), "tools/call");
	ck_assert_str_eq(at_text(request, "name"), "stubborn");
	ck_assert_str_eq(at_text(request, "state"), "waiting");
	ck_assert_int_gt(at_number(request, "timeout_left_ms"), 1700000);
	ck_assert_int_gt(at_number(request, "max_time_left_ms"), 86000000);
	ck_assert(!json_is_true(at(request, "exempt")));
	json_decref(message);
	fclose(peer);
	run_end(run);
}

SUITE("control", .before = connect_person, .after = leave);

TEST(a_person_cancels_a_call)
{
	json_t *message, *named;

	run_call(canceld, "\"a\"", "stubborn", FOR_EVER);
	json_decref(expect_requests(person, 1));
	message = call(person, "cancel", "{\"id\":\"\\\"a\\\"\",\"reason\":\"it hangs\"}");
	named = json_array_get(at(message, "result cancelled"), 0);
	ck_assert_str_eq(at_text(named, "id"), "\"a\"");
	ck_assert_str_eq(at_text(named, "name"), "stubborn");
	json_decref(message);
	message = run_expect_error(canceld, "\"a\"", CODE_CANCELLED, "operator");
	ck_assert_ptr_nonnull(strstr(at_text(message, "error message"), "by a person: it hangs"));
	run_expect_logged(canceld,
	    "OPERATOR_CANCELLED to=client method=tools/call name=stubborn id=\"a\"");
	run_expect_cancelled(canceld, "\"a\"");
	message = call(person, "cancel", "{\"id\":\"\\\"a\\\"\"}");
	ck_assert_int_eq(at_number(message, "error code"), -32001);
	json_decref(message);
	run_expect_echo(canceld, "3");
}

SUITE("control", .before = connect_person, .after = leave);

/* A watch that is never read: it loses notifications, and nobody waits for it. */
TEST(a_slow_reader_is_told_what_it_lost)
{
	char id[16];
	json_t *message;
	long lost = 0;

	json_decref(call(person, "watch", "{\"level\":\"traffic\"}"));
	for (int i = 2; i < 3000; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_expect_echo(canceld, id);
	}
	ck_assert_int_lt(process_resident(canceld->pid), 64 << 20);
	while (lost == 0) {
		message = next_message(person);
		if (strcmp(at_text(message, "method"), "lost") == 0)
			lost = at_number(message, "params count");
		json_decref(message);
	}
	ck_assert_int_gt(lost, 0);
	expect_list(person);
}

/* Sets rules with so many different long names, and takes each back. */
static void
set_and_unset(int from, int to)
{
	char params[64 << 10];

	for (int i = from; i < to; i++)
		for (int unset = 0; unset <= 1; unset++) {
			snprintf(params, sizeof(params),
			    "{\"option\":\"timeout\",\"rule\":\"x%060000d=1h\",\"unset\":%s}", i,
			    unset ? "true" : "false");
			json_decref(call(person, "set", params));
		}
}

/* Where a request's deadline comes from outlives the rule. */
TEST(what_was_set_and_taken_back_takes_no_memory)
{
	const char *set =
	    "{\"option\":\"timeout\",\"rule\":\"tools/call:stubborn=1h\",\"now\":true}";
	const char *unset =
	    "{\"option\":\"timeout\",\"rule\":\"tools/call:stubborn=1h\",\"unset\":true}";
	json_t *message;
	long before;

	/* The address sanitizer keeps what is freed. */
	if (strcmp(getenv("VARIANT"), "asan") == 0)
		return;
	run_call(canceld, "7", "stubborn", FOR_EVER);
	json_decref(expect_requests(person, 1));
	json_decref(call(person, "set", set));
	json_decref(call(person, "set", unset));
	set_and_unset(0, 3);
	before = process_resident(canceld->pid);
	set_and_unset(3, 23);
	ck_assert_int_lt(process_resident(canceld->pid), before + (600 << 10));
	message = expect_requests(person, 1);
	ck_assert_str_eq(at_text(json_array_get(at(message, "result requests"), 0), "timeout_from"),
	    "cancelctl set -t tools/call:stubborn=1h");
	json_decref(message);
}

static const struct {
	const char *line;
	long code;
	const char *text; /* in the message; NULL: any */
} faults[] = {
	{ "nonsense", -32700, "invalid token near 'nonsense'" },
	{ "", -32700, "near end of file" },
	{ "{\"id\":1,\"id\":1,\"method\":\"list\"}", -32700, "duplicate object key" },
	{ "{\"id\":12345678901234567890123,\"method\":\"list\"}", -32700, "too big integer" },
	{ "[]", -32600, NULL },
	{ "null", -32600, NULL },
	{ "\"x\"", -32600, NULL },
	{ "{\"id\":1}", -32600, NULL },
	{ "{\"id\":[],\"method\":\"list\"}", -32600, NULL },
	{ "{\"id\":1,\"method\":\"list\",\"params\":[]}", -32600, NULL },
	{ "{\"id\":\"\x7f\xc2\x9b\",\"method\":\"exec\"}", -32601, NULL },
	{ "{\"id\":1,\"method\":\"cancel\"}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":7}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":\"x\"}}", -32001, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":\"{}\"}}", -32001, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":\"7\",\"from\":\"me\"}}", -32602,
	    NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"older_ms\":\"1\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"set\",\"params\":{\"option\":\"x\",\"rule\":\"1s\"}}", -32602,
	    NULL },
	{ "{\"id\":1,\"method\":\"set\",\"params\":{\"option\":\"timeout\",\"rule\":\"soon\"}}",
	    -32602, NULL },
	{ "{\"id\":1,\"method\":\"set\",\"params\":{\"option\":\"timeout\",\"rule\":\"*********=1s\"}}",
	    -32602, "8 of" },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"method\":\"*********\"}}", -32602,
	    "8 of them" },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"name\":\"*********\"}}", -32602,
	    "8 of them" },
	{ "{\"id\":1,\"method\":\"watch\",\"params\":{\"level\":\"x\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"older_ms\":0,\"nmae\":\"slow\"}}", -32602,
	    NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"older_ms\":0,\"method name\":\"slow\"}}",
	    -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"serial\":0}}", -32001, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"serial\":-1}}", -32001, NULL },
	{ "{\"id\":1,\"method\":\"list\",\"params\":{\"request\":true}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"reload\",\"params\":{\"now\":true}}", -32602, NULL },
};

TEST(what_is_wrong_is_refused)
{
	for (size_t i = 0; i < COUNT(faults); i++) {
		json_t *message;

		dprintf(fileno(person), "%s\n", faults[i].line);
		message = next_message(person);
		ck_assert_int_eq(at_number(message, "error code"), faults[i].code);
		if (faults[i].text != NULL)
			ck_assert_msg(strstr(at_text(message, "error message"), faults[i].text) !=
				NULL,
			    "%s", at_text(message, "error message"));
		json_decref(message);
	}
	expect_list(person);
	run_expect_echo(canceld, "2");
}

SUITE("control");

TEST(a_line_that_is_too_long_ends_the_connection)
{
	struct run *run = run_session(with_socket(""), NULL);
	FILE *peer = connect_to(socket_path), *other = connect_to(socket_path);
	static char bytes[80 << 10];
	json_t *message;

	memset(bytes, 'x', sizeof(bytes));
	ck_assert_int_gt(send(fileno(peer), bytes, sizeof(bytes), MSG_NOSIGNAL), 64 << 10);
	message = next_message(peer);
	ck_assert_int_eq(at_number(message, "error code"), -32600);
	json_decref(message);
	ck_assert_int_eq(fgetc(peer), EOF);
	json_decref(call(other, "list", "{}"));
	fclose(peer);
	fclose(other);
	run_expect_echo(run, "2");
	run_end(run);
}

/* Who is one too many has not gone: cancelctl says why it is not shown. */
TEST(a_connection_too_many_is_refused)
{
	struct run *run = run_session(with_socket(""), NULL);
	FILE *served[PEERS];
	char line[256];

	for (int i = 0; i < PEERS; i++) {
		served[i] = connect_to(socket_path);
		expect_list(served[i]);
	}
	for (int i = 0; i < 1000; i++) {
		FILE *peer = connect_to(socket_path);

		ck_assert_ptr_nonnull(fgets(line, sizeof(line), peer));
		ck_assert_ptr_nonnull(strstr(line, "too many connections"));
		fclose(peer);
	}
	setenv("SOCKET", socket_path, 1);
	shell_expect(":", "$CANCELCTL ls $SOCKET", 125, "too many connections");
	shell_expect(":", "$CANCELCTL watch $SOCKET", 125, "too many connections");
	run_expect_echo(run, "2");
	for (int i = 0; i < PEERS; i++)
		fclose(served[i]);
	run_end(run);
}

/* Asks without end, and reads the answers, until it is killed. */
static _Noreturn void
ask_for_ever(int peer)
{
	static const char line[] = "{\"method\":\"list\",\"params\":{\"requests\":true}}\n";
	struct pollfd ready = { .fd = peer, .events = POLLIN | POLLOUT };
	static char answers[1 << 20];
	size_t sent = 0;

	live_on();
	while (poll(&ready, 1, -1) > 0) {
		ssize_t put =
		    send(peer, line + sent, sizeof(line) - 1 - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		sent = put > 0 ? (sent + (size_t)put) % (sizeof(line) - 1) : sent;
		if (put < 0 && recv(peer, answers, sizeof(answers), MSG_DONTWAIT) == 0)
			break;
	}
	_exit(0);
}

SUITE("control", .before = connect_person, .after = leave);

/*
 * Each of them makes canceld work, and there is always another one: what the client asks is
 * answered all the same.
 */
TEST(a_flood_of_long_questions_delays_nobody)
{
	char id[16];
	pid_t child;

	for (int i = 0; i < 600; i++) {
		snprintf(id, sizeof(id), "%d", 2000 + i);
		run_call(canceld, id, "stubborn", FOR_EVER);
	}
	run_expect_echo(canceld, "2");
	json_decref(call(person, "list", "{\"requests\":true}"));
	child = process_fork();
	if (child == 0)
		ask_for_ever(fileno(person));
	for (int i = 1000; i < 1010; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_expect_echo(canceld, id);
	}
	ck_assert(!process_ended(child));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

SUITE("control");

TESTS(a_watcher_sees_the_end, 0, 3)
{
	struct run *run = run_session(with_socket(""), NULL);
	FILE *peer = connect_to(socket_path);
	char last[4096];

	json_decref(call(peer, "watch", "{}"));
	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	if (_i == 0)
		run_close_in(run);
	else if (_i == 1)
		kill(run->pid, SIGTERM);
	else
		run_call(run, "3", "crash", "{\"status\":7}");
	while (fgets(last, sizeof(last), peer) != NULL)
		;
	ck_assert_msg(strstr(last, "\"why\":\"SUMMARY\"") != NULL, "the last one is %s", last);
	fclose(peer);
	run_finish(run, ANY_STATUS);
}

/* Two that are started at once: one has it, and keeps it when the other one ends. */
TEST(only_one_has_it)
{
	const struct setup setup = { .options = with_socket("") };
	struct run *runs[] = { run_start(&setup), run_start(&setup) }, *has, *has_not;
	FILE *peer;
	json_t *message;

	for (int i = 0; i < 2; i++)
		run_handshake(runs[i]);
	peer = connect_to(socket_path);
	message = call(peer, "list", "{}");
	has = runs[at_number(message, "result pid") == runs[1]->pid];
	has_not = runs[has == runs[0]];
	ck_assert_int_eq(at_number(message, "result pid"), has->pid);
	json_decref(message);
	run_expect_logged(has_not, "reason=\"another canceld uses it\"");
	ck_assert_ptr_null(strstr(has->error.data, "CONTROL_REFUSED"));
	run_end(has_not);
	expect_list(peer);
	fclose(peer);
	ck_assert(exists(socket_path));
	run_end(has);
	ck_assert(!exists(socket_path));
}

TEST(the_guardian_removes_it_when_canceld_is_killed)
{
	struct run *run = run_session(with_socket(""), NULL);

	ck_assert(exists(socket_path));
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	run_until(run, !exists(socket_path), "the socket is left");
	run_end(run);
}

/* The directory's only socket of this process. */
static bool
find_socket(const char *directory, pid_t pid, char *path, size_t size)
{
	char pattern[300];
	glob_t found;
	bool is_there;

	snprintf(pattern, sizeof(pattern), "%s/%d-*", directory, (int)pid);
	is_there = glob(pattern, 0, NULL, &found) == 0;
	if (is_there)
		snprintf(path, size, "%s", found.gl_pathv[0]);
	globfree(&found);
	return is_there;
}

TEST(the_usual_place_is_below_the_home)
{
	char home[128], path[512], private[256];
	struct run *run;
	struct stat status;
	FILE *peer;

	snprintf(path, sizeof(path), "/run/user/%d", (int)geteuid());
	if (exists(path))
		return;
	snprintf(home, sizeof(home), "%s/h%d", getenv("E2E_DIRECTORY"), (int)getpid());
	ck_assert_int_eq(mkdir(home, 0700), 0);
	setenv("HOME", home, 1);
	snprintf(private, sizeof(private), "%s/.local/state/canceld", home);
	run = run_session(NULL, NULL);
	ck_assert(find_socket(private, run->pid, path, sizeof(path)));
	ck_assert_int_eq(stat(private, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0700);
	peer = connect_to(path);
	expect_list(peer);
	fclose(peer);
	run_end(run);
	ck_assert(!exists(path));
}

/* Only its deadline ends what opens the session, so that nobody answers it twice. */
TEST(what_opens_the_session_is_not_cancelled)
{
	struct run *run = run_options(with_socket(""), "sh:read a; read b");
	json_t *message, *named;
	FILE *peer;

	run_expect_logged(run, "STARTED");
	peer = connect_to(socket_path);
	run_send(run, INITIALIZE);
	json_decref(expect_requests(peer, 1));
	message = call(peer, "cancel", "{\"id\":\"0\"}");
	ck_assert_uint_eq(json_array_size(at(message, "result cancelled")), 0);
	named = json_array_get(at(message, "result refused"), 0);
	ck_assert_str_eq(at_text(named, "method"), "initialize");
	ck_assert_ptr_nonnull(strstr(at_text(named, "why"), "set --now"));
	json_decref(message);
	json_decref(expect_requests(peer, 1));
	fclose(peer);
	run_end(run);
}

TEST(a_dry_run_cancels_nothing)
{
	struct run *run = run_session(with_socket("-n"), NULL);
	FILE *peer = connect_to(socket_path);
	json_t *message;

	run_call(run, "2", "stubborn", FOR_EVER);
	json_decref(expect_requests(peer, 1));
	message = call(peer, "cancel", "{\"id\":\"2\"}");
	ck_assert_int_eq(at_number(message, "error code"), -32002);
	json_decref(message);
	json_decref(expect_requests(peer, 1));
	ck_assert(!run_received(run, "cancelled"));
	fclose(peer);
	run_end(run);
}

/* Each gets the whole event; who asked for fewer gets fewer. */
TEST(several_watch_at_once)
{
	static const char *const levels[] = { "traffic", "decision", "notice" };
	struct run *run = run_session(with_socket(""), NULL);
	FILE *watch[3];
	char level[64], first[4096], line[4096];

	for (int i = 0; i < 3; i++) {
		watch[i] = connect_to(socket_path);
		snprintf(level, sizeof(level), "{\"level\":\"%s\"}", levels[i]);
		json_decref(call(watch[i], "watch", level));
	}
	run_send(run, "no message");
	run_expect_message(run);
	run_leave(run, 0);
	for (int i = 0; i < 3; i++) {
		int seen = 0;

		while (fgets(line, sizeof(line), watch[i]) != NULL)
			if (strstr(line, "PARSE_ERROR") != NULL) {
				if (i + seen++ == 0)
					strcpy(first, line);
				ck_assert_str_eq(line, first);
			}
		ck_assert_int_eq(seen, 1);
		fclose(watch[i]);
	}
	run_end(run);
}

static void
ask_and_read_later(struct run *run, int asked)
{
	FILE *peer = connect_to(socket_path), *other = connect_to(socket_path);
	struct text questions = { 0 };
	long before;

	json_decref(expect_requests(peer, 60));
	before = process_resident(run->pid);
	for (int i = 0; i < asked; i++)
		text_print(&questions,
		    "{\"id\":%d,\"method\":\"list\",\"params\":{\"requests\":true}}\n", i);
	ck_assert_int_eq(write(fileno(peer), questions.data, questions.len),
	    (ssize_t)questions.len);
	shutdown(fileno(peer), SHUT_WR);
	/* The connections take turns: by then all questions were carried out that can be. */
	for (int i = 0; i < asked && i < 30; i++)
		expect_list(other);
	fclose(other);
	/* The address sanitizer keeps what is freed. */
	if (strcmp(getenv("VARIANT"), "asan") != 0)
		ck_assert_int_lt(process_resident(run->pid), before + (256 << 10));
	for (int i = 0; i < asked; i++) {
		json_t *message = next_message(peer);

		ck_assert_int_eq(at_number(message, "id"), i);
		json_decref(message);
	}
	ck_assert_int_eq(fgetc(peer), EOF);
	fclose(peer);
	free(questions.data);
}

/*
 * Questions whose answers fill the connection more or less, by one that then asks nothing more:
 * each is answered as the answers are read.
 */
TESTS(what_was_asked_is_answered_when_the_answers_are_read, 5, 16)
{
	struct run *run = run_session(with_socket(""), NULL);
	char id[16];

	for (int i = 0; i < 60; i++) {
		snprintf(id, sizeof(id), "%d", 100 + i);
		run_call(run, id, "stubborn", FOR_EVER);
	}
	ask_and_read_later(run, _i < 15 ? _i : 60);
	run_end(run);
}

/* Nine times the 600 ms of the first call would be too long: cancelctl ls gives up after 500 ms. */
TEST(behind_a_call_that_takes_long_the_next_is_answered_in_time)
{
	char config[128], options[200];
	struct run *run;

	if (!can_hide())
		return;
	snprintf(config, sizeof(config), "%s/slow.json", getenv("E2E_DIRECTORY"));
	file_write(config, "{}", 0600);
	snprintf(options, sizeof(options), "-c %s", config);
	run = run_start(&(struct setup){ .options = options, .hides = "/none" });
	run_handshake(run);
	run_hang(run, "5");
	run_settle(run);
	hide_stall(run->hiding);
	run_expect_shell(run, "$C reload $PID >reloaded 2>&1 &", 0, "");
	ck_assert(hide_stalls(run->hiding, HARNESS_LIMIT));
	poll(NULL, 0, 600);
	hide_go_on(run->hiding);
	run_expect_shell(run,
	    "for i in $(seq 500); do [ -s reloaded ] && break; sleep 0.01; done; $C ls | grep \"^ *$PID \"",
	    0, " mcp ");
	run_expect_shell(run, "$C cancel $PID 7", 1, "request 7 not found");
	run_end(run);
}

/* What the server says of it, and where a protocol has two places for that, the second one. */
TESTS(the_latest_progress_is_listed, 0, 3)
{
	static const struct {
		const char *dialect, *request, *progress, *shown;
	} kinds[] = {
		{ "mcp",
		    "\"tools/call\",\"params\":{\"name\":\"a\",\"_meta\":{\"progressToken\":5}}",
		    "\"notifications/progress\",\"params\":{\"progressToken\":5,\"progress\":1,\"total\":2}",
		    "{\"progress\":1,\"total\":2}" },
		{ "acp", "\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[]}",
		    "\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"plan\"}}",
		    "{\"message\":\"plan\"}" },
		{ "acp", "\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[]}",
		    "\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"tool_call\",\"title\":\"t\"}}",
		    "{\"message\":\"t\"}" },
	};
	char options[64], command[1024], *shown;
	struct run *run;
	json_t *message;
	FILE *peer;

	snprintf(options, sizeof(options), "-D %s", kinds[_i].dialect);
	snprintf(command, sizeof(command),
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}'; read b; "
	    "echo '{\"jsonrpc\":\"2.0\",\"method\":%s}'; read c",
	    kinds[_i].progress);
	run = run_options(with_socket(options), command);
	run_send(run, INITIALIZE);
	run_expect_result(run, "0");
	run_sendf(run, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":%s}", kinds[_i].request);
	run_expect_message(run);
	peer = connect_to(socket_path);
	message = expect_requests(peer, 1);
	shown = json_dumps(at(json_array_get(at(message, "result requests"), 0), "progress"),
	    JSON_COMPACT);
	ck_assert_str_eq(shown, kinds[_i].shown);
	free(shown);
	json_decref(message);
	fclose(peer);
	run_end(run);
}

/* The latest first, so many as are kept. */
TEST(the_last_requests_that_ended_are_listed)
{
	enum { KEPT = 32 };
	struct run *run = run_session(with_socket(""), NULL);
	FILE *peer = connect_to(socket_path);
	char id[16];
	json_t *message, *ended;

	for (int i = 0; i < 40; i++) {
		snprintf(id, sizeof(id), "%d", 100 + i);
		run_call(run, id, "sleep", "{\"ms\":20}");
		run_expect_result(run, id);
	}
	message = expect_requests(peer, 0);
	ended = at(message, "result ended");
	ck_assert_uint_eq(json_array_size(ended), KEPT);
	for (int i = 0; i < KEPT; i++) {
		snprintf(id, sizeof(id), "%d", 139 - i);
		ck_assert_str_eq(at_text(json_array_get(ended, (size_t)i), "id"), id);
	}
	json_decref(message);
	fclose(peer);
	run_end(run);
}

/* It was removed, or renamed away, after the client had started canceld there. */
TEST(a_folder_that_is_gone_has_no_name)
{
	struct run *run = run_start(&(struct setup){ .options = with_socket(""),
	    .shell = "mkdir $E2E_DIRECTORY/gone && cd $E2E_DIRECTORY/gone && rmdir ../gone" });
	FILE *peer;
	json_t *message;

	run_handshake(run);
	peer = connect_to(socket_path);
	message = call(peer, "list", "{}");
	ck_assert(json_is_null(at(message, "result directory")));
	json_decref(message);
	fclose(peer);
	run_end(run);
}

/* A server that ended while nobody asked anything is neither gone nor on its way. */
TEST(a_server_that_rests_is_shown_so)
{
	struct run *run = run_session(with_socket("-r"), "sh:\"$DEMO_SERVER\"; exit 0");
	FILE *peer = connect_to(socket_path);
	json_t *message;

	kill(process_child(run->pid, "demo-server"), SIGTERM);
	run_expect_logged(run, "SERVER_EXITED status=0");
	run_until(run,
	    strcmp(at_text(message = call(peer, "list", "{}"), "result server state"), "resting") ==
		0,
	    "it is %s", at_text(message, "result server state"));
	json_decref(message);
	run_expect_echo(run, "2");
	message = call(peer, "list", "{}");
	ck_assert_str_eq(at_text(message, "result server state"), "running");
	json_decref(message);
	fclose(peer);
	run_end(run);
}

/* A name without a folder: it is in that where canceld was started, and removed from there. */
TESTS(a_name_alone_is_in_the_folder_of_the_start, 0, 2)
{
	struct run *run = run_start(&(struct setup){
	    .options = _i == 0 ? "--control alone.sock" : "--control alone.sock --no-isolation",
	    .shell = "cd $E2E_DIRECTORY" });
	FILE *peer;

	run_handshake(run);
	snprintf(socket_path, sizeof(socket_path), "%s/alone.sock", getenv("E2E_DIRECTORY"));
	peer = connect_to(socket_path);
	expect_list(peer);
	fclose(peer);
	run_leave(run, 0);
	ck_assert(!exists(socket_path));
	run_end(run);
}

static const struct {
	const char *options, *shell, *word;
} unusable[] = {
	{ "--control /nonexistent/s", NULL,
	    "CONTROL_REFUSED at=/nonexistent/s reason=\"there is no such folder\"" },
	{ "--control /dev/null", NULL, "CONTROL_REFUSED at=/dev/null reason=" },
	{ "--control ./"
	  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	    NULL, "name too long\"" },
	{ NULL,
	    "mkdir -p $HOME/open/.local/state/canceld; chmod 755 $HOME/open/.local/state/canceld; HOME=$HOME/open",
	    NULL },
	{ NULL, "export XDG_STATE_HOME=$HOME; unset HOME", NULL },
};

/* Without a socket everything else works. */
TESTS(without_a_place_there_is_no_socket, 0, COUNT(unusable))
{
	struct run *run = run_start(
	    &(struct setup){ .options = unusable[_i].options, .shell = unusable[_i].shell });

	run_handshake(run);
	run_expect_echo(run, "2");
	if (unusable[_i].word != NULL)
		run_expect_logged(run, unusable[_i].word);
	run_end(run);
}

TEST(an_option_forbids_it)
{
	struct run *run = run_session("--no-control", NULL);
	char path[512], directory[256];

	snprintf(directory, sizeof(directory), "%s/.local/state/canceld", getenv("HOME"));
	ck_assert(!find_socket(directory, run->pid, path, sizeof(path)));
	run_end(run);
}
