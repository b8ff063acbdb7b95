#include "harness.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "hide.h"
#include "process.h"

enum { WORDS = 64 };

/* It starts with that of the runner, by which process_guard sweeps. */
void
mark_new(char *mark, size_t size)
{
	static int count;

	process_note_others();
	snprintf(mark, size, "%s%d.%d.", getenv(PROCESS_MARK), (int)getpid(), ++count);
}

const char *
path_of(const char *name)
{
	static char paths[4][300];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s-%d", getenv("E2E_DIRECTORY"), name, (int)getpid());
	return path;
}

void
file_write(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

size_t
count_of(const char *text, const char *wanted)
{
	size_t found = 0;

	for (; (text = strstr(text, wanted)) != NULL; text++)
		found++;
	return found;
}

int
open_terminal(bool raw)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	struct termios mode;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	ck_assert_int_eq(tcgetattr(master, &mode), 0);
	if (raw)
		cfmakeraw(&mode);
	ck_assert_int_eq(tcsetattr(master, TCSANOW, &mode), 0);
	return master;
}

static const char *
program(const char *variable)
{
	const char *path = getenv(variable);

	if (path == NULL || access(path, X_OK) != 0)
		ck_abort_msg("%s must name a program", variable);
	return path;
}

static size_t
add_words(const char **words, size_t count, const char *text)
{
	static char copies[4][4096];
	static unsigned turn;
	char *copy = copies[turn++ % 4];

	snprintf(copy, sizeof(copies[0]), "%s", text);
	for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
		words[count++] = word;
	ck_assert_uint_lt(count, WORDS - 4);
	return count;
}

/* canceld runs this program as a peer, so /proc/self/exe must be resolved here. */
static char *
own_path(void)
{
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	ck_assert_int_gt(len, 0);
	path[len] = '\0';
	return path;
}

static void
insert_words(const char **words, size_t at, const char *const *more, size_t count)
{
	size_t have = 0;

	while (words[at + have] != NULL)
		have++;
	ck_assert_uint_lt(at + have + count, WORDS - 4);
	memmove(&words[at + count], &words[at], have * sizeof(*words));
	memcpy(&words[at], more, count * sizeof(*words));
}

/* npx takes one string, for a shell; no word has a single quote. */
static void
join_words(const char **words)
{
	static char joined[8192];

	*joined = '\0';
	for (size_t i = 0; words[i] != NULL; i++) {
		snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "'%s' ",
		    words[i]);
		words[i] = NULL;
	}
	words[0] = joined;
}

static void
put_behind(const char **words, size_t at, const char *behind)
{
	const char *shell[] = { "/bin/sh", "-c", "\"$@\"; exit $?", "sh" };
	const char *noterm[] = { "/bin/sh", "-c", "trap '' TERM; exec \"$@\"", "sh" };
	/* only the outer canceld runs under valgrind */
	const char *plain = getenv("VALGRIND_PROGRAM");
	const char *canceld[] = { plain == NULL ? getenv("CANCELD") : plain, "--" };
	const char *npx[] = { "npx", "-c" };
	const char *rest = behind + strcspn(behind, " ");

	if (*rest != '\0')
		put_behind(words, at, rest + 1);
	if (strncmp(behind, "sh", 2) == 0)
		insert_words(words, at, shell, 4);
	else if (strncmp(behind, "noterm", 6) == 0)
		insert_words(words, at, noterm, 4);
	else if (strncmp(behind, "canceld", 7) == 0)
		insert_words(words, at, canceld, 2);
	else if (strncmp(behind, "npx", 3) == 0) {
		join_words(words + at);
		insert_words(words, at, npx, 2);
	}
}

static size_t
add_command(const char **words, size_t count, const char *command, const char *record)
{
	size_t first = count;

	if (command != NULL && strncmp(command, "sh:", 3) == 0) {
		words[count++] = "/bin/sh";
		words[count++] = "-c";
		words[count++] = command + 3;
		return count;
	}
	count = add_words(words, count, command == NULL ? "demo" : command);
	if (count > first && strcmp(words[first], "demo") == 0) {
		words[first] = program("DEMO_SERVER");
		words[count++] = "--record";
		words[count++] = record;
	} else if (count > first && strcmp(words[first], "peer") == 0) {
		words[first] = own_path();
		memmove(&words[first + 2], &words[first + 1], (count - first - 1) * sizeof(*words));
		words[first + 1] = "--peer";
		count++;
	}
	return count;
}

static void
move_to(int fd, int target)
{
	if (fd != target && dup2(fd, target) < 0)
		_exit(125);
}

static void
close_from(int fd)
{
	for (; fd < 256; fd++)
		close(fd);
}

static void
signals_as_given(const struct setup *setup)
{
	sigset_t set;

	sigemptyset(&set);
	if (setup->blocked != 0)
		sigaddset(&set, setup->blocked);
	sigprocmask(SIG_SETMASK, &set, NULL);
	for (int number = 1; number < 32; number++)
		signal(number, SIG_DFL);
}

static bool
in_new_namespace(void)
{
	return unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
}

/* unshare(2) puts only the children into the new pid namespace. */
static void
become_init(void)
{
	int status;
	pid_t pid;

	if (!in_new_namespace())
		_exit(125);
	pid = fork();
	if (pid == 0)
		return;
	close_from(0);
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

bool
can_be_init(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(in_new_namespace() ? 0 : 1);
	waitpid(pid, &status, 0);
	return status == 0;
}

_Noreturn static void
become(const struct setup *setup, const struct run *run, const char *const *words, const int *fds,
    int hider)
{
	const struct rlimit none = { 0, 0 };
	char *const *arguments;

	setenv(PROCESS_MARK, run->mark, 1);
	setrlimit(RLIMIT_CORE, &none);
	for (int i = 0; i < 3; i++)
		move_to(fds[i], i);
	if (setup->hides != NULL)
		hide_begin(hider);
	close_from(3);
	signals_as_given(setup);
	if (setup->own_group)
		setpgid(0, 0);
	if (setup->as_init)
		become_init();
	if (setup->prepare != NULL)
		setup->prepare();
	memcpy(&arguments, &words, sizeof(arguments));
	execv(words[0], arguments);
	_exit(127);
}

static void
wire(int *near, int *far, enum wiring wiring, bool inward)
{
	int ends[2];
	int result = wiring == WIRED_PIPES ?
	    pipe2(ends, O_CLOEXEC) :
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);

	ck_assert_int_eq(result, 0);
	*near = ends[inward ? 1 : 0];
	*far = ends[inward ? 0 : 1];
}

static int
open_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

/* fds are the three that canceld gets, all above 2 so that none is overwritten by another. */
static void
wire_all(struct run *run, const struct setup *setup, int *fds)
{
	run->to = run->from = -1;
	if (setup->in != NULL)
		fds[0] = open_path(setup->in, O_RDONLY);
	else
		wire(&run->to, &fds[0], setup->wiring, true);
	if (setup->out != NULL)
		fds[1] = open_path(setup->out, O_WRONLY);
	else if (setup->wiring == WIRED_ONE_SOCKET)
		fds[1] = fcntl(fds[0], F_DUPFD_CLOEXEC, 3);
	else
		wire(&run->from, &fds[1], setup->wiring, false);
	if (run->from < 0 && setup->out == NULL)
		run->from = fcntl(run->to, F_DUPFD_CLOEXEC, 3);
	wire(&run->errors, &fds[2], WIRED_PIPES, false);
}

static void
own_ends(struct run *run, const struct setup *setup, const int *fds)
{
	int mine[3] = { run->to, run->from, run->errors };

	for (int i = 0; i < 3; i++)
		if (mine[i] >= 0)
			fcntl(mine[i], F_SETFL, fcntl(mine[i], F_GETFL) | O_NONBLOCK);
	for (int i = 0; i < 2; i++)
		run->kept[i] = setup->keep ? fcntl(fds[i], F_DUPFD_CLOEXEC, 3) : -1;
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static void
close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static struct run *
run_new(const struct setup *setup)
{
	const char *directory = getenv("E2E_DIRECTORY");
	struct run *run = calloc(1, sizeof(*run));

	ck_assert_ptr_nonnull(run);
	if (setup->mark != NULL)
		snprintf(run->mark, sizeof(run->mark), "%s", setup->mark);
	else
		mark_new(run->mark, sizeof(run->mark));
	snprintf(run->record, sizeof(run->record), "%s/%s", directory == NULL ? "/tmp" : directory,
	    run->mark);
	text_append(&run->unsent, "", 0);
	text_append(&run->out, "", 0);
	text_append(&run->error, "", 0);
	return run;
}

struct run *
run_start(const struct setup *setup)
{
	struct run *run = run_new(setup);
	const char *words[WORDS] = { NULL };
	char script[128];
	size_t count = 0;
	int fds[3], hider[2] = { -1, -1 };

	if (!setup->bare) {
		words[count++] = program("CANCELD");
		count = add_words(words, count, setup->options == NULL ? "" : setup->options);
		words[count++] = "--";
	}
	add_command(words, count, setup->command, run->record);
	if (setup->behind != NULL)
		put_behind(words, count, setup->behind);
	if (setup->before != NULL)
		put_behind(words, 0, setup->before);
	if (setup->shell != NULL) {
		snprintf(script, sizeof(script), "%s; exec \"$@\"", setup->shell);
		insert_words(words, 0, (const char *const[]){ "/bin/sh", "-c", script, "sh" }, 4);
	}
	wire_all(run, setup, fds);
	signal(SIGPIPE, SIG_IGN);
	if (setup->hides != NULL)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hider), 0);
	run->pid = fork();
	ck_assert_int_ge(run->pid, 0);
	if (run->pid == 0)
		become(setup, run, words, fds, hider[1]);
	close_end(&hider[1]);
	if (setup->hides != NULL)
		run->hiding = hide_watch(hider[0], setup->hides,
		    setup->hides_as == 0 ? ENOENT : setup->hides_as);
	own_ends(run, setup, fds);
	return run;
}

struct run *
run_observe(const char *mark)
{
	const struct setup setup = { .mark = mark };
	struct run *run = run_new(&setup);

	run->to = run->from = run->errors = run->kept[0] = run->kept[1] = -1;
	run->exited = true;
	return run;
}

struct run *
run_options(const char *options, const char *command)
{
	const struct setup setup = { .options = options, .command = command };

	return run_start(&setup);
}

static size_t
piece_size(const struct run *run, size_t most)
{
	size_t size = run->piece == 0 ? most : 1 + (size_t)random() % run->piece;

	return size < most ? size : most;
}

static void
take_bytes(struct run *run, int *fd, struct text *text)
{
	char piece[65536];
	ssize_t done = read(*fd, piece, piece_size(run, sizeof(piece)));

	if (done > 0)
		text_append(text, piece, (size_t)done);
	if (done > 0 || (done < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	close(*fd);
	*fd = -1;
}

static void
give_bytes(struct run *run)
{
	size_t size = piece_size(run, run->unsent.len);
	ssize_t done = write(run->to, run->unsent.data, size);

	if (done > 0)
		text_drop(&run->unsent, (size_t)done);
	else if (done < 0 && errno != EAGAIN && errno != EINTR)
		run->unsent.len = 0;
}

void
run_pump(struct run *run, int wait)
{
	struct pollfd fds[3] = {
		{ .fd = run->unsent.len > 0 ? run->to : -1, .events = POLLOUT },
		{ .fd = run->stdout_unread ? -1 : run->from, .events = POLLIN },
		{ .fd = run->stderr_unread ? -1 : run->errors, .events = POLLIN },
	};

	if (poll(fds, 3, wait) <= 0)
		return;
	if (fds[0].revents != 0)
		give_bytes(run);
	if (fds[1].revents != 0)
		take_bytes(run, &run->from, &run->out);
	if (fds[2].revents != 0)
		take_bytes(run, &run->errors, &run->error);
}

void
run_close_in(struct run *run)
{
	long limit = milliseconds() + HARNESS_LIMIT;

	while (run->to >= 0 && run->unsent.len > 0 && milliseconds() < limit)
		run_pump(run, 10);
	close_end(&run->to);
}

void
run_close_out(struct run *run)
{
	close_end(&run->from);
}

static bool adopting;

void
adopt_orphans(void)
{
	adopting = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

/* Reaps the orphans too: until then their process group exists. */
static bool
has_exited(struct run *run)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(adopting ? -1 : run->pid, &status, WNOHANG)) > 0)
		if (pid == run->pid) {
			run->exited = true;
			run->status = status;
		}
	return run->exited;
}

static void
wait_exit(struct run *run, long limit)
{
	long end = milliseconds() + limit;

	while (!has_exited(run) && milliseconds() < end)
		run_pump(run, 2);
}

void
run_expect_exit_alone(struct run *run, int status)
{
	wait_exit(run, HARNESS_LIMIT);
	if (!run->exited)
		run_fail(run, "it did not exit within %d ms", HARNESS_LIMIT);
	if (!WIFEXITED(run->status) || (status >= 0 && WEXITSTATUS(run->status) != status))
		run_fail(run, "it ended with wait status %#x, not with exit status %d",
		    (unsigned)run->status, status);
	run->stderr_unread = false;
}

void
run_expect_exit(struct run *run, int status)
{
	long limit = milliseconds() + HARNESS_LIMIT;

	run_expect_exit_alone(run, status);
	while (run->errors >= 0 && milliseconds() < limit)
		run_pump(run, 2);
}

void
run_stop(const struct run *run)
{
	int ends[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		/* No child of the test, nor in its group. */
		if (fork() != 0)
			_exit(0);
		setsid();
		move_to(ends[0], 0);
		close_from(1);
		if (read(0, &byte, 1) == 0)
			kill(run->pid, SIGCONT);
		_exit(0);
	}
	close(ends[0]);
	waitpid(child, NULL, 0);
	ck_assert_int_eq(kill(run->pid, SIGSTOP), 0);
}

/* Whether a process of the run is left, and which. */
static bool
run_leaves(const struct run *run, char *left, size_t size)
{
	if (process_marked(run->mark, left, size) > 0)
		return true;
	snprintf(left, size, "an orphan without a mark");
	return adopting && process_has_child(getpid(), run->pid);
}

void
run_expect_gone(struct run *run)
{
	long limit = milliseconds() + HARNESS_LIMIT;
	char left[2048];

	while (run_leaves(run, left, sizeof(left))) {
		if (milliseconds() > limit)
			run_fail(run, "left behind: %s", left);
		run_pump(run, 5);
		has_exited(run);
	}
}

void
run_end(struct run *run)
{
	run_close_in(run);
	wait_exit(run, HARNESS_LIMIT);
	if (!run->exited)
		run_fail(run, "it did not exit within %d ms of its stdin's end", HARNESS_LIMIT);
	run_expect_gone(run);
	close_end(&run->from);
	close_end(&run->errors);
	close_end(&run->kept[0]);
	close_end(&run->kept[1]);
	unlink(run->record);
	json_decref(run->message);
	free(run->unsent.data);
	free(run->out.data);
	free(run->error.data);
	free(run);
}

void
run_finish(struct run *run, int status)
{
	run_expect_exit(run, status);
	run_end(run);
}

static void
print_tail(const char *name, const struct text *text)
{
	size_t start = text->len > 3000 ? text->len - 3000 : 0;

	fprintf(stderr, "---- %s, %zu bytes%s\n%s", name, text->len, start > 0 ? ", the end" : "",
	    text->data + start);
}

void
run_fail(struct run *run, const char *format, ...)
{
	char message[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	run_pump(run, 0);
	print_tail("stdout, not taken", &run->out);
	print_tail("stderr", &run->error);
	fprintf(stderr, "----\n");
	process_sweep(run->mark);
	ck_abort_msg("%s", message);
	abort();
}
