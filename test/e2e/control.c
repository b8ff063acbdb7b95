/* The control socket: what a person sees and steers, and what nobody may do to the session through it. */
#include <check.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "process.h"

#define FOR_EVER "{\"ms\":600000}"

enum { PEERS = 16 }; /* connections that are served */

static char socket_path[128];

/* Each test that needs to know the name gives it. */
static const char *
with_socket(const char *options)
{
	static char text[512];

	snprintf(socket_path, sizeof(socket_path), "%s/c%d.sock", getenv("E2E_DIRECTORY"), (int)getpid());
	ck_assert_uint_lt(strlen(socket_path), 104);
	snprintf(text, sizeof(text), "--control %s %s", socket_path, options);
	return text;
}

struct peer {
	int fd;
	struct text in;
	size_t taken;
};

static bool
exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static struct sockaddr_un
address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	ck_assert_uint_lt(strlen(path), sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	return address;
}

static int
try_connect(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static struct peer
connect_to(const char *path)
{
	struct peer peer = { .fd = try_connect(path) };

	ck_assert_int_ge(peer.fd, 0);
	text_append(&peer.in, "", 0);
	return peer;
}

static void
hang_up(struct peer *peer)
{
	close(peer->fd);
	free(peer->in.data);
}

static void
send_bytes(const struct peer *peer, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t put = send(peer->fd, bytes, len, MSG_NOSIGNAL);

		ck_assert_int_gt(put, 0);
		bytes += put;
		len -= (size_t)put;
	}
}

/* The next line, without its newline; NULL at the end of the stream. */
static char *
next_line(struct peer *peer)
{
	long end = milliseconds() + HARNESS_LIMIT;
	char piece[65536], *newline, *line;
	struct pollfd ready = { .fd = peer->fd, .events = POLLIN };

	while ((newline = memchr(peer->in.data + peer->taken, '\n', peer->in.len - peer->taken)) == NULL) {
		ssize_t got;

		ck_assert_msg(milliseconds() < end, "no line from the control socket");
		if (poll(&ready, 1, 100) <= 0)
			continue;
		got = recv(peer->fd, piece, sizeof(piece), 0);
		if (got <= 0)
			return NULL;
		text_append(&peer->in, piece, (size_t)got);
	}
	*newline = '\0';
	line = peer->in.data + peer->taken;
	peer->taken = (size_t)(newline - peer->in.data) + 1;
	return line;
}

/* Freed by the caller. */
static json_t *
next_message(struct peer *peer)
{
	const char *line = next_line(peer);
	json_t *message;

	ck_assert_ptr_nonnull(line);
	message = json_loads(line, 0, NULL);
	ck_assert_msg(message != NULL, "no JSON: %s", line);
	return message;
}

static void
ask(const struct peer *peer, const char *method, const char *params)
{
	char line[8192];
	int len = snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}\n",
	    method, params);

	send_bytes(peer, line, (size_t)len);
}

/* The response, behind what is watched. */
static json_t *
response(struct peer *peer)
{
	json_t *message = next_message(peer);

	while (at_exists(message, "method")) {
		json_decref(message);
		message = next_message(peer);
	}
	return message;
}

static json_t *
call(struct peer *peer, const char *method, const char *params)
{
	ask(peer, method, params);
	return response(peer);
}

static void
expect_refused(struct peer *peer, const char *method, const char *params, long code)
{
	json_t *message = call(peer, method, params);

	ck_assert_int_eq(at_number(message, "error code"), code);
	json_decref(message);
}

/* Waits until a list shows so many requests. The result, which the caller frees. */
static json_t *
expect_requests(struct peer *peer, size_t count)
{
	long end = milliseconds() + HARNESS_LIMIT;
	json_t *message;

	while (json_array_size(at(message = call(peer, "list", "{\"requests\":true}"), "result requests")) != count) {
		ck_assert_msg(milliseconds() < end, "the list does not show %zu requests", count);
		json_decref(message);
	}
	return message;
}

static json_t *
request_at(json_t *message, size_t i)
{
	return json_array_get(at(message, "result requests"), i);
}

/* What most tests need. */
static struct run *canceld;
static struct peer person;

static void
connect_person(void)
{
	canceld = run_session(with_socket(""), NULL);
	person = connect_to(socket_path);
}

static void
leave(void)
{
	hang_up(&person);
	run_end(canceld);
}

SUITE("control", .seconds = 10);

TEST(a_list_tells_about_canceld_and_its_requests)
{
	struct run *run = run_session(with_socket("--name tests"), NULL);
	struct peer peer = connect_to(socket_path);
	json_t *message, *request;

	run_call(run, "2", "stubborn", FOR_EVER);
	message = expect_requests(&peer, 1);
	ck_assert_int_eq(at_number(message, "result pid"), run->pid);
	ck_assert_str_eq(at_text(message, "result name"), "tests");
	ck_assert_str_eq(at_text(message, "result dialect"), "mcp");
	ck_assert_str_eq(at_text(message, "result era"), "legacy");
	ck_assert_str_eq(at_text(message, "result server state"), "running");
	ck_assert_int_gt(at_number(message, "result server pid"), 1);
	ck_assert_int_eq(at_number(message, "result client pid"), getpid());
	ck_assert_int_eq(at_number(message, "result in_flight"), 1);
	ck_assert_int_ge(at_number(message, "result oldest_ms"), 0);
	ck_assert_uint_ge(json_array_size(at(message, "result command")), 1);
	request = request_at(message, 0);
	ck_assert_str_eq(at_text(request, "id"), "2");
	ck_assert_str_eq(at_text(request, "from"), "client");
	ck_assert_str_eq(at_text(request, "method"), "tools/call");
	ck_assert_str_eq(at_text(request, "name"), "stubborn");
	ck_assert_str_eq(at_text(request, "state"), "waiting");
	ck_assert_int_gt(at_number(request, "timeout_left_ms"), 1700000);
	ck_assert_int_gt(at_number(request, "max_time_left_ms"), 86000000);
	ck_assert(!json_is_true(at(request, "exempt")));
	json_decref(message);
	hang_up(&peer);
	run_end(run);
}

SUITE("control", .before = connect_person, .after = leave);

TEST(a_person_cancels_a_call)
{
	json_t *message, *named;

	run_call(canceld, "\"a\"", "stubborn", FOR_EVER);
	json_decref(expect_requests(&person, 1));
	message = call(&person, "cancel", "{\"id\":\"\\\"a\\\"\",\"reason\":\"it hangs\"}");
	named = json_array_get(at(message, "result cancelled"), 0);
	ck_assert_str_eq(at_text(named, "id"), "\"a\"");
	ck_assert_str_eq(at_text(named, "name"), "stubborn");
	json_decref(message);
	message = run_expect_error(canceld, "\"a\"", CODE_CANCELLED, "operator");
	ck_assert_ptr_nonnull(strstr(at_text(message, "error message"), "by a person: it hangs"));
	run_expect_logged(canceld, "OPERATOR_CANCELLED to=client method=tools/call name=stubborn id=\"a\"");
	run_expect_cancelled(canceld, "\"a\"");
	expect_refused(&person, "cancel", "{\"id\":\"\\\"a\\\"\"}", -32001);
	run_expect_echo(canceld, "3");
}

SUITE("control");

SUITE("control", .before = connect_person, .after = leave);

/* A watch that is never read: it loses notifications, and nobody waits for it. */
TEST(a_slow_reader_is_told_what_it_lost)
{
	char id[16];
	json_t *message;
	long lost = 0;

	json_decref(call(&person, "watch", "{\"level\":\"traffic\"}"));
	for (int i = 2; i < 3000; i++) {
		snprintf(id, sizeof(id), "%d", i);
		run_expect_echo(canceld, id);
	}
	ck_assert_int_lt(process_resident(canceld->pid), 64 << 20);
	while (lost == 0) {
		message = next_message(&person);
		if (strcmp(at_text(message, "method"), "lost") == 0)
			lost = at_number(message, "params count");
		json_decref(message);
	}
	ck_assert_int_gt(lost, 0);
	json_decref(call(&person, "list", "{}"));
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
	{ "{\"id\":1,\"method\":\"exec\"}", -32601, NULL },
	{ "{\"id\":1,\"method\":\"cancel\"}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":7}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":\"x\"}}", -32001, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":\"{}\"}}", -32001, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"id\":\"7\",\"from\":\"me\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"older_ms\":\"1\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"set\",\"params\":{\"option\":\"x\",\"rule\":\"1s\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"set\",\"params\":{\"option\":\"timeout\",\"rule\":\"soon\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"set\",\"params\":{\"option\":\"timeout\",\"rule\":\"*********=1s\"}}", -32602,
	    "8 of" },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"method\":\"*********\"}}", -32602, "8 of them" },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"name\":\"*********\"}}", -32602, "8 of them" },
	{ "{\"id\":1,\"method\":\"watch\",\"params\":{\"level\":\"x\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"cancel\",\"params\":{\"older_ms\":0,\"nmae\":\"slow\"}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"list\",\"params\":{\"request\":true}}", -32602, NULL },
	{ "{\"id\":1,\"method\":\"reload\",\"params\":{\"now\":true}}", -32602, NULL },
};

TEST(what_is_wrong_is_refused)
{
	for (size_t i = 0; i < COUNT(faults); i++) {
		json_t *message;

		send_bytes(&person, faults[i].line, strlen(faults[i].line));
		send_bytes(&person, "\n", 1);
		message = next_message(&person);
		ck_assert_int_eq(at_number(message, "error code"), faults[i].code);
		if (faults[i].text != NULL)
			ck_assert_msg(strstr(at_text(message, "error message"), faults[i].text) != NULL, "%s",
			    at_text(message, "error message"));
		json_decref(message);
	}
	json_decref(call(&person, "list", "{}"));
	run_expect_echo(canceld, "2");
}

SUITE("control");

TEST(a_line_that_is_too_long_ends_the_connection)
{
	struct run *run = run_session(with_socket(""), NULL);
	struct peer peer = connect_to(socket_path), other = connect_to(socket_path);
	static char bytes[80 << 10];
	json_t *message;

	memset(bytes, 'x', sizeof(bytes));
	ck_assert_int_gt(send(peer.fd, bytes, sizeof(bytes), MSG_NOSIGNAL), 64 << 10);
	message = next_message(&peer);
	ck_assert_int_eq(at_number(message, "error code"), -32600);
	json_decref(message);
	ck_assert_ptr_null(next_line(&peer));
	json_decref(call(&other, "list", "{}"));
	hang_up(&peer);
	hang_up(&other);
	run_expect_echo(run, "2");
	run_end(run);
}

/* cancelctl with these arguments: its exit status, and this on standard error. */
static void
expect_cancelctl(const char *arguments, int status, const char *text)
{
	char command[512], said[1024] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "%s %s 2>&1 >/dev/null", getenv("CANCELCTL"), arguments);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	said[fread(said, 1, sizeof(said) - 1, pipe)] = '\0';
	ck_assert_int_eq(WEXITSTATUS(pclose(pipe)), status);
	ck_assert_msg(strstr(said, text) != NULL, "cancelctl %s: %s", arguments, said);
}

/* It has not gone: cancelctl says why it is not shown. */
TEST(cancelctl_tells_that_all_connections_are_taken)
{
	struct run *run = run_session(with_socket(""), NULL);
	struct peer served[PEERS];
	char arguments[256];

	for (int i = 0; i < PEERS; i++) {
		served[i] = connect_to(socket_path);
		json_decref(call(&served[i], "list", "{}"));
	}
	for (int i = 0; i < 2; i++) {
		snprintf(arguments, sizeof(arguments), "%s %s", i == 0 ? "ls" : "watch", socket_path);
		expect_cancelctl(arguments, 125, "too many connections");
	}
	for (int i = 0; i < PEERS; i++)
		hang_up(&served[i]);
	run_end(run);
}

TEST(a_connection_too_many_is_refused)
{
	struct run *run = run_session(with_socket(""), NULL);
	struct peer served[PEERS];

	for (int i = 0; i < PEERS; i++) {
		served[i] = connect_to(socket_path);
		json_decref(call(&served[i], "list", "{}"));
	}
	for (int i = 0; i < 1000; i++) {
		struct peer peer = connect_to(socket_path);
		const char *line = next_line(&peer);

		ck_assert_ptr_nonnull(line);
		ck_assert_ptr_nonnull(strstr(line, "too many connections"));
		hang_up(&peer);
	}
	run_expect_echo(run, "2");
	for (int i = 0; i < PEERS; i++)
		hang_up(&served[i]);
	run_end(run);
}

/* How long an answer of the server's takes, at best. */
static long
best_echo(struct run *run, int first)
{
	long best = HARNESS_LIMIT;
	char id[16];

	for (int i = first; i < first + 10; i++) {
		long start = milliseconds();

		snprintf(id, sizeof(id), "%d", i);
		run_expect_echo(run, id);
		best = milliseconds() - start < best ? milliseconds() - start : best;
	}
	return best;
}

SUITE("control", .before = connect_person, .after = leave);

/* Each of them makes canceld work, and none is held up by an answer that was not read. */
TEST(a_flood_of_long_questions_delays_nobody)
{
	static const char line[] = "{\"method\":\"list\",\"params\":{\"requests\":true}}\n";
	struct text flood = { 0 };
	char id[16];
	long start;

	for (int i = 0; i < 600; i++) {
		snprintf(id, sizeof(id), "%d", 2000 + i);
		run_call(canceld, id, "stubborn", FOR_EVER);
	}
	run_expect_echo(canceld, "2");
	start = milliseconds();
	for (int i = 0; i < 64; i++)
		json_decref(call(&person, "list", "{\"requests\":true}"));
	start = milliseconds() - start;
	for (int i = 0; i < 2000; i++)
		text_append(&flood, line, sizeof(line) - 1);
	ck_assert_int_gt(send(person.fd, flood.data, flood.len, MSG_NOSIGNAL | MSG_DONTWAIT), 0);
	ck_assert_int_lt(best_echo(canceld, 1000), start / 4);
	free(flood.data);
}

static void
end_by_client(struct run *run)
{
	run_close_in(run);
}

static void
end_by_signal(struct run *run)
{
	kill(run->pid, SIGTERM);
}

static void
end_by_crash(struct run *run)
{
	run_call(run, "3", "crash", "{\"status\":7}");
}

static void (*const ends[])(struct run *) = { end_by_client, end_by_signal, end_by_crash };

SUITE("control");

TESTS(a_watcher_sees_the_end, 0, COUNT(ends))
{
	struct run *run = run_session(with_socket(""), NULL);
	struct peer peer = connect_to(socket_path);
	const char *line;
	char last[1024] = "";

	json_decref(call(&peer, "watch", "{}"));
	run_call(run, "2", "stubborn", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	ends[_i](run);
	while ((line = next_line(&peer)) != NULL)
		snprintf(last, sizeof(last), "%s", line);
	ck_assert_msg(strstr(last, "\"why\":\"SUMMARY\"") != NULL, "the last one is %s", last);
	hang_up(&peer);
	run_expect_exit(run, ANY_STATUS);
	run_end(run);
}

/* Two that are started at once: one has it, and keeps it when the other one ends. */
TEST(only_one_has_it)
{
	const struct setup setup = { .options = with_socket("") };
	struct run *runs[] = { run_start(&setup), run_start(&setup) }, *has, *has_not;
	struct peer peer;
	json_t *message;

	for (int i = 0; i < 2; i++)
		run_handshake(runs[i]);
	peer = connect_to(socket_path);
	message = call(&peer, "list", "{}");
	has = runs[at_number(message, "result pid") == runs[1]->pid];
	has_not = runs[has == runs[0]];
	ck_assert_int_eq(at_number(message, "result pid"), has->pid);
	json_decref(message);
	run_expect_logged(has_not, "reason=\"another canceld uses it\"");
	ck_assert_ptr_null(strstr(has->error.data, "CONTROL_REFUSED"));
	run_end(has_not);
	json_decref(call(&peer, "list", "{}"));
	hang_up(&peer);
	ck_assert(exists(socket_path));
	run_end(has);
	ck_assert(!exists(socket_path));
}

TEST(the_guardian_removes_it_when_canceld_is_killed)
{
	struct run *run = run_session(with_socket(""), NULL);
	long end = milliseconds() + HARNESS_LIMIT;

	ck_assert(exists(socket_path));
	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	while (exists(socket_path)) {
		ck_assert_msg(milliseconds() < end, "the socket is left");
		run_pump(run, 20);
	}
	run_end(run);
}

/* The directory's only socket of this process. */
static bool
find_socket(const char *directory, pid_t pid, char *path, size_t size)
{
	DIR *list = opendir(directory);
	struct dirent *entry;
	char start[32];
	bool found = false;

	snprintf(start, sizeof(start), "%d-", (int)pid);
	while (list != NULL && (entry = readdir(list)) != NULL)
		if (strncmp(entry->d_name, start, strlen(start)) == 0) {
			found = true;
			snprintf(path, size, "%s/%s", directory, entry->d_name);
		}
	if (list != NULL)
		closedir(list);
	return found;
}

static bool
has_runtime_directory(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/user/%d", (int)geteuid());
	return exists(path);
}

TEST(the_usual_place_is_below_the_home)
{
	char home[128], path[512], private[256];
	struct run *run;
	struct stat status;
	struct peer peer;

	if (has_runtime_directory())
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
	json_decref(call(&peer, "list", "{}"));
	hang_up(&peer);
	run_end(run);
	ck_assert(!exists(path));
}

static const struct {
	const char *options, *shell, *word;
} unusable[] = {
	{ "--control /nonexistent/s", NULL, "CONTROL_REFUSED at=/nonexistent/s reason=" },
	{ "--control /dev/null", NULL, "CONTROL_REFUSED at=/dev/null reason=" },
	{ "--control ./"
	  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	    NULL, "reason=\"File name too long\"" },
	{ NULL, "mkdir -p $HOME/open/.local/state/canceld; chmod 755 $HOME/open/.local/state/canceld; HOME=$HOME/open",
	    NULL },
	{ NULL, "unset HOME", NULL },
};

/* Without a socket everything else works. */
TESTS(without_a_place_there_is_no_socket, 0, COUNT(unusable))
{
	struct run *run = run_start(&(struct setup){ .options = unusable[_i].options, .shell = unusable[_i].shell });

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
