/*
 * targets, with find and call, against sockets that this process serves itself, or that nobody
 * serves.
 */
#include "ctl/targets.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"

#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "e2e/life.h"
#include "shell/system.h"

enum { PEERS = 8 };

static char place[128];
static pid_t peers[PEERS];
static int peer_count;

static void
set_up(void)
{
	snprintf(place, sizeof(place), "%s/ctl-XXXXXX", getenv("TMPDIR"));
	ck_assert_ptr_nonnull(mkdtemp(place));
	sockets_place = place;
}

static void
tear_down(void)
{
	for (int i = 0; i < peer_count; i++) {
		kill(peers[i], SIGKILL);
		waitpid(peers[i], NULL, 0);
	}
	ck_assert_int_eq(folder_remove(place), 0);
}

static int
listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/%.30s", place, name);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	return fd;
}

static void
reply(int fd, const char *answer)
{
	char asked[4096];

	if (read(fd, asked, sizeof(asked)) > 0 && write(fd, answer, strlen(answer)) < 0)
		_exit(1);
}

/* One answer to each request. */
static void
reply_to(int fd, const char *asked)
{
	if (strstr(asked, "list") != NULL)
		dprintf(fd, "{\"id\":1,\"result\":{\"pid\":11,\"name\":\"x\"}}\n");
	if (strstr(asked, "cancel") != NULL)
		dprintf(fd, "{\"id\":1,\"result\":{\"cancelled\":[]}}\n");
}

/*
 * A process that answers each connection's first request, and its second one if `second` is given,
 * and then closes. NULL: it never answers.
 */
static void
serve(const char *name, const char *answer, const char *second)
{
	int listener = listen_at(name);

	ck_assert_int_lt(peer_count, PEERS);
	peers[peer_count] = fork();
	if (peers[peer_count++] == 0) {
		int fd;

		live_on();
		while ((fd = accept(listener, NULL, NULL)) >= 0)
			if (answer != NULL) {
				reply(fd, answer);
				if (second != NULL)
					reply(fd, second);
				close(fd);
			}
		_exit(0);
	}
	close(listener);
}

/* A process that gives this answer to each request. */
static void
serve_always(const char *name, const char *answer)
{
	int listener = listen_at(name), fd;
	char asked[4096];

	peers[peer_count] = fork();
	if (peers[peer_count++] == 0) {
		live_on();
		while ((fd = accept(listener, NULL, NULL)) >= 0)
			while (read(fd, asked, sizeof(asked)) > 0)
				if (write(fd, answer, strlen(answer)) < 0)
					_exit(1);
		_exit(0);
	}
	close(listener);
}

static bool
exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return access(path, F_OK) == 0;
}

#define ABOUT(pid, name) "{\"id\":1,\"result\":{\"pid\":" pid ",\"name\":\"" name "\"}}\n"

static void
expect_choice(const char *which, int status, size_t count)
{
	struct targets targets = { .method = "list" };

	ck_assert_int_eq(targets_choose(&targets, which, CALL_LIMIT), status);
	if (status == CTL_YES)
		ck_assert_uint_eq(targets.count, count);
	targets_free(&targets);
}

SUITE("targets", .alone = true, .before = set_up, .after = tear_down);

TEST(one_is_meant_by_pid_or_name)
{
	serve("11-a.sock", ABOUT("11", "files"), NULL);
	serve("12-a.sock", ABOUT("12", "files"), NULL);
	serve("13-a.sock", ABOUT("13", "12"), NULL);
	expect_choice("11", CTL_YES, 1);
	expect_choice("files", CTL_USAGE, 0);
	expect_choice("12", CTL_USAGE, 0);
	expect_choice("file", CTL_NO, 0);
	expect_choice(NULL, CTL_YES, 3);
}

TEST(only_what_is_stale_is_removed)
{
	close(listen_at("11-dead.sock"));
	close(listen_at("12-a.new"));
	serve("13-a.sock", ABOUT("13", "x"), NULL);
	expect_choice(NULL, CTL_YES, 1);
	ck_assert(!exists("11-dead.sock") && exists("12-a.new") && exists("13-a.sock"));
}

/* i: 0: nobody listens; 1: the listener ends when it is asked. */
TESTS(what_was_typed_is_never_removed, 0, 2)
{
	struct targets targets = { .method = "watch" };
	int listener = listen_at("11-typed.sock"), accepted;
	char path[256];

	snprintf(path, sizeof(path), "%s/11-typed.sock", place);
	peers[peer_count] = _i == 0 ? 0 : fork();
	if (_i == 1 && peers[peer_count++] == 0) {
		live_on();
		accepted = accept(listener, NULL, NULL);
		close(listener);
		close(accepted);
		pause();
	}
	close(listener);
	expect_choice(path, CTL_NO, 0);
	ck_assert(exists("11-typed.sock"));
	targets_hear(&targets, path, CALL_LIMIT);
	ck_assert_uint_eq(targets.count, 1);
	ck_assert(targets.list->gone && exists("11-typed.sock"));
	targets_free(&targets);
}

static const char *const hostile[] = {
	NULL,
	"",
	"no JSON\n",
	"[]\n",
	"{\"id\":1,\"result\":7}\n",
	"{\"id\":1,\"error\":{\"code\":\"x\"}}\n",
	"{\"id\":1,\"result\":{",
};

TESTS(what_does_not_answer_is_left_out, 0, COUNT(hostile))
{
	struct targets targets = { .method = "list" };

	serve("11-a.sock", hostile[_i], NULL);
	serve("12-a.sock", ABOUT("12", "x"), NULL);
	targets_find(&targets, 500);
	ck_assert_uint_eq(targets.count, 2);
	ck_assert_ptr_null(targets.list[0].about);
	ck_assert(targets.list[1].about != NULL);
	targets_free(&targets);
	if (hostile[_i] != NULL)
		expect_choice("11", CTL_FAILED, 0);
}

/* Its queue is full, as that of a canceld which was stopped and often looked at. */
TEST(what_takes_no_connection_holds_up_no_other)
{
	int listener = listen_at("11-a.sock"), fd, status;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct targets targets = { .method = "list" };

	snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/11-a.sock", place);
	do {
		fd = system_socket(AF_UNIX);
		status = connect(fd, (struct sockaddr *)&address, sizeof(address));
	} while (status == 0);
	ck_assert_int_eq(errno, EAGAIN);
	serve("12-a.sock", ABOUT("12", "x"), NULL);
	targets_find(&targets, TARGETS_LOOK);
	ck_assert_uint_eq(targets.count, 2);
	ck_assert_int_eq(targets.list[0].pid, 11);
	ck_assert_ptr_null(targets.list[0].about);
	ck_assert_ptr_nonnull(targets.list[1].about);
	targets_free(&targets);
	/* The one that is named is enough to look at it. */
	expect_choice("x", CTL_YES, 1);
	close(listener);
}

/* So many more descriptors may be opened. */
static void
leave_descriptors(rlim_t count)
{
	int next = dup(STDERR_FILENO);
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)next + count;
	close(next);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* One for the directory, then two connections at once. */
TEST(more_than_there_are_descriptors_are_asked_in_turn)
{
	struct targets targets = { .method = "list" };

	serve("11-a.sock", ABOUT("11", "x"), NULL);
	serve("12-a.sock", ABOUT("12", "x"), NULL);
	serve("13-a.sock", ABOUT("13", "x"), NULL);
	serve("14-a.sock", ABOUT("14", "x"), NULL);
	leave_descriptors(2);
	expect_choice(NULL, CTL_YES, 4);
	targets_find(&targets, CALL_LIMIT);
	ck_assert_uint_eq(targets.count, 4);
	leave_descriptors(0);
	ck_assert_int_eq(targets.list[0].fd, -1);
	ck_assert_ptr_null(target_call(&targets.list[0], "list", NULL));
	ck_assert(targets.list[0].unasked && !targets.list[0].gone);
	ck_assert_int_eq(targets.list[0].status, CTL_FAILED);
	ck_assert_str_eq(targets.list[0].fault, strerror(EMFILE));
	leave_descriptors(9);
	targets_free(&targets);
}

static const char *const decisions[] = { "{\"why\":5}", "[]", "5", "null", "\"x\"", "true" };

TESTS(a_decision_may_be_any_json, 0, COUNT(decisions))
{
	char second[128], path[256], *words[] = { (char[]){ "watch" }, path, NULL, NULL };

	snprintf(second, sizeof(second),
	    "{\"method\":\"decision\",\"params\":%s}\n{\"method\":\"decision\"}\n", decisions[_i]);
	snprintf(path, sizeof(path), "%s/11-a.sock", place);
	serve("11-a.sock", ABOUT("11", "x"), second);
	ck_assert_int_eq(ctl_watch(2, words), CTL_YES);
	words[2] = (char[]){ "-j" };
	ck_assert_int_eq(ctl_watch(3, words), CTL_YES);
}

TEST(a_place_that_others_may_enter_is_left_out)
{
	struct targets targets = { .method = "list" };

	serve("11-a.sock", ABOUT("11", "x"), NULL);
	ck_assert_int_eq(chmod(place, 0750), 0);
	targets_find(&targets, 500);
	ck_assert_uint_eq(targets.count, 0);
	ck_assert_int_eq(chmod(place, 0700), 0);
	targets_free(&targets);
}

TESTS(errors_of_canceld_are_exit_statuses, 0, 5)
{
	static const struct {
		const char *error;
		int status;
	} errors[] = { { "{\"id\":2,\"error\":{\"code\":-32001,\"message\":\"m\"}}\n", CTL_NO },
		{ "{\"id\":2,\"error\":{\"code\":-32002,\"message\":\"m\"}}\n", CTL_NO },
		{ "{\"id\":2,\"error\":{\"code\":-32602,\"message\":\"m\"}}\n", CTL_USAGE },
		{ "{\"id\":2,\"error\":{\"code\":-32601,\"message\":\"m\"}}\n", CTL_FAILED },
		{ "", CTL_FAILED } };
	struct targets targets = { .method = "list" };

	serve("11-a.sock", ABOUT("11", "x"), errors[_i].error);
	ck_assert_int_eq(targets_choose(&targets, "x", CALL_LIMIT), CTL_YES);
	ck_assert_ptr_null(target_call(&targets.list[0], "cancel", NULL));
	ck_assert_int_eq(target_tell(&targets.list[0]), errors[_i].status);
	targets_free(&targets);
}

/* Its answer to the list comes when the next request does, on the same connection. */
TEST(a_late_answer_is_not_that_of_the_next_request)
{
	struct targets targets = { .method = "list" };
	int listener = listen_at("11-a.sock"), fd;
	json_t *result;
	char asked[4096];

	targets_find(&targets, 100);
	ck_assert_ptr_null(targets.list[0].about);
	peers[peer_count] = fork();
	if (peers[peer_count++] == 0) {
		live_on();
		close(targets.list[0].fd);
		signal(SIGPIPE, SIG_IGN);
		while ((fd = accept(listener, NULL, NULL)) >= 0)
			for (ssize_t got; (got = read(fd, asked, sizeof(asked) - 1)) > 0;) {
				asked[got] = '\0';
				reply_to(fd, asked);
			}
		_exit(0);
	}
	result = target_call(&targets.list[0], "cancel", NULL);
	ck_assert_ptr_nonnull(json_object_get(result, "cancelled"));
	json_decref(result);
	targets_free(&targets);
	close(listener);
}

/* The status is that of the worst one. */
TEST(all_servers_are_asked_whether_they_are_alive)
{
	char name[] = "ping", all[] = "--all", *argv[] = { name, all, NULL };

	serve_always("11-a.sock",
	    "{\"id\":1,\"result\":{\"pid\":11,\"name\":\"x\",\"server\":{\"probe_ms\":3}}}\n");
	ck_assert_int_eq(ctl_steer(2, argv), CTL_YES);
	serve_always("12-b.sock",
	    "{\"id\":1,\"result\":{\"pid\":12,\"name\":\"y\",\"server\":{\"unanswered_ms\":5000}}}\n");
	ck_assert_int_eq(ctl_steer(2, argv), 124);
}
