#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "ctl/ctl.h"
#include "ctl/doctor.h"
#include "shell/child.h"
#include "shell/system.h"

enum {
	PIECE = 64 << 10,
	UNWRITTEN_MAX = 16 << 20, /* bytes that canceld did not take yet; more requests are not answered */
	TURN = 20,                /* ms: the longest wait whose lateness is noticed, or that of canceld's exit */
	START = 60000,            /* ms that canceld gets to start the server */
	END = 10000,              /* ms that canceld gets to end */
	END_BY_SIGNAL = 2000,     /* the same after SIGTERM; it needs 0.7 s */
	LAST_WRITE = 1000,        /* what canceld does not read in this time, it never will */
	OPTIONS = 16
};

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

enum { ENDINGS = sizeof(ending) / sizeof(ending[0]) };

static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
	interrupted = number;
}

void
visit_watch(void)
{
	interrupted = 0;
	for (int i = 0; i < ENDINGS; i++)
		sigaction(ending[i], &(struct sigaction){ .sa_handler = on_signal }, NULL);
}

int
visit_interrupted(void)
{
	return interrupted;
}

void
visit_unwatch(void)
{
	for (int i = 0; i < ENDINGS; i++)
		signal(ending[i], SIG_DFL);
}

const char *
visit_text(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text == NULL ? "" : text;
}

static void
remove_directory(struct visit *visit)
{
	unlink(visit->pipe);
	unlink(visit->config);
	rmdir(visit->directory);
	visit->directory[0] = '\0';
}

/* Only the first of a flood are kept. */
static void
hear_event(struct visit *visit, json_t *event)
{
	json_t *those = json_object_get(visit->decisions, visit_text(event, "why"));

	/* canceld has opened what is in there, and is done with the names. */
	if (visit->directory[0] != '\0')
		remove_directory(visit);
	json_object_set_new(event, "heard", json_integer(visit_now(visit)));
	if (those == NULL)
		json_object_set_new(visit->decisions, visit_text(event, "why"), json_pack("[O]", event));
	else if (json_array_size(those) < VISIT_KEPT)
		json_array_append(those, event);
}

json_t *
visit_saw(const struct visit *visit, const char *why, const char *key, const char *value)
{
	json_t *event;
	size_t i;

	json_array_foreach(json_object_get(visit->decisions, why), i,
	    event) if (key == NULL || strcmp(visit_text(event, key), value) == 0) return event;
	return NULL;
}

const json_t *
visit_ended(const struct visit *visit)
{
	const json_t *ended = visit_saw(visit, "SERVER_ENDED", NULL, NULL);

	return ended != NULL ? ended : visit_saw(visit, "SERVER_EXITED", NULL, NULL);
}

static int
append_dumped(const char *bytes, size_t len, void *out)
{
	buf_append(out, (struct span){ bytes, len });
	return 0;
}

/* Queues the message; takes the reference. */
static void
send_message(struct visit *visit, json_t *message)
{
	bool headers = visit->dialogue.kind == DIALOGUE_LSP;
	char head[64];
	struct buf text;

	buf_init(&text);
	json_dump_callback(message, append_dumped, &text, JSON_COMPACT);
	json_decref(message);
	snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", text.len);
	buf_append(&visit->out, headers ? span_of(head) : SPAN_NONE);
	buf_append(&visit->out, buf_span(&text));
	buf_append(&visit->out, headers ? SPAN_NONE : SPAN("\n"));
	buf_free(&text);
}

static void
hear_message(struct visit *visit, json_t *message)
{
	const json_t *id = json_object_get(message, "id"), *method = json_object_get(message, "method");
	json_int_t number = json_integer_value(id);

	if (method != NULL && id != NULL) {
		/* Of a flood of requests only those are answered that canceld takes at once. */
		if (json_is_string(method) && visit->out.len < UNWRITTEN_MAX)
			send_message(visit, dialogue_answer(message));
	} else if (method != NULL) {
		for (struct asked *asked = visit->asked; asked < visit->asked + visit->count; asked++)
			asked->progress +=
			    asked->answer == NULL && dialogue_is_progress(visit->dialogue, message, asked->id);
	} else if (number >= 1 && number <= visit->count && visit->asked[number - 1].answer == NULL) {
		visit->asked[number - 1].answer = json_incref(message);
		visit->asked[number - 1].order = ++visit->answers;
		visit->asked[number - 1].answered = visit_now(visit);
	}
}

/* The length of the header and, in *length, of the message behind it; 0: it is not complete. */
static size_t
read_header(struct span bytes, size_t *length)
{
	static const char name[] = "content-length:";
	const char *end = memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4), *line = bytes.ptr;

	*length = 0;
	for (; end != NULL && line < end; line = (const char *)memchr(line, '\n', (size_t)(end + 2 - line)) + 1)
		if (strncasecmp(line, name, sizeof(name) - 1) == 0)
			*length = (size_t)strtoull(line + sizeof(name) - 1, NULL, 10);
	return end == NULL ? 0 : (size_t)(end + 4 - bytes.ptr);
}

/* Takes the next text of canceld, whose framing is right. fresh: where the bytes begin that were not searched before. */
static bool
take(struct visit *visit, struct buf *in, size_t fresh, bool headers, void (*hear)(struct visit *visit, json_t *value))
{
	struct span bytes = buf_span(in);
	size_t head = 0, length = 0, end;
	const char *newline;
	json_t *value;

	if (bytes.len == 0)
		return false;
	if (headers) {
		head = read_header(bytes, &length);
		end = head + length;
		if (head == 0 || length > bytes.len - head)
			return false;
	} else {
		newline = fresh < bytes.len ? memchr(bytes.ptr + fresh, '\n', bytes.len - fresh) : NULL;
		if (newline == NULL)
			return false;
		length = (size_t)(newline - bytes.ptr);
		end = length + 1;
	}
	value = json_loadb(bytes.ptr + head, length, JSON_ALLOW_NUL, NULL);
	buf_consume(in, end);
	if (json_is_object(value))
		hear(visit, value);
	json_decref(value);
	return true;
}

static ssize_t
read_piece(int fd, struct buf *in)
{
	ssize_t got = read(fd, buf_space(in, PIECE), PIECE);

	if (got > 0)
		buf_added(in, (size_t)got);
	return got;
}

static void
stop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
read_messages(struct visit *visit)
{
	size_t had = visit->in.len;
	ssize_t got = read_piece(visit->from, &visit->in);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		stop(&visit->from);
	for (; got > 0 && take(visit, &visit->in, had, visit->dialogue.kind == DIALOGUE_LSP, hear_message); had = 0)
		;
}

/* false: there is nothing to read now. */
static bool
read_events(struct visit *visit)
{
	size_t had = visit->events.len;
	ssize_t got = read_piece(visit->log, &visit->events);

	for (; got > 0 && take(visit, &visit->events, had, false, hear_event); had = 0)
		;
	return got > 0;
}

static void
write_some(struct visit *visit)
{
	struct span bytes = buf_span(&visit->out);
	ssize_t put = write(visit->to, bytes.ptr, bytes.len);

	if (put >= 0)
		buf_consume(&visit->out, (size_t)put);
	else if (errno != EAGAIN && errno != EINTR)
		stop(&visit->to);
}

/* An empty configuration, as the user's own is for other sessions. */
static int
write_config(const char *path)
{
	FILE *file = fopen(path, "wxe");

	if (file == NULL)
		return -1;
	fputs("{}\n", file);
	return fclose(file);
}

/* A pipe with a name: canceld opens its log itself. */
static int
open_log(struct visit *visit)
{
	const char *temporary = getenv("TMPDIR");

	if (temporary == NULL || temporary[0] != '/' || strlen(temporary) > VISIT_TEXT / 2)
		temporary = "/tmp";
	snprintf(visit->directory, sizeof(visit->directory), "%s/canceld-doctor-XXXXXX", temporary);
	if (mkdtemp(visit->directory) == NULL) {
		visit->directory[0] = '\0';
		return -1;
	}
	snprintf(visit->pipe, sizeof(visit->pipe), "%s/log", visit->directory);
	snprintf(visit->config, sizeof(visit->config), "%s/config", visit->directory);
	if (write_config(visit->config) < 0 || mkfifo(visit->pipe, 0600) < 0)
		return -1;
	visit->log = open(visit->pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	visit->writer = visit->log < 0 ? -1 : open(visit->pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return visit->writer < 0 ? -1 : 0;
}

_Noreturn static void
become_canceld(const struct visit *visit, const int fds[2], const struct visit_setup *setup)
{
	char path[PROGRAM_SIZE], texts[3][64];
	const char *options[OPTIONS] = { path, "--no-control", "--log-format=json", "-v", "--config", visit->config,
		"--log", visit->pipe, "--timeout=*=none", "--max-time=*=none", "--kill-after=1s", texts[0], texts[1],
		texts[2], "--" };
	int quiet = setup->loud ? STDERR_FILENO : open("/dev/null", O_WRONLY);
	bool found = program_canceld(path);
	size_t words = 0, count = 0;
	char **argv;

	snprintf(texts[0], sizeof(texts[0]), "--dialect=%s",
	    setup->plain ? "none" : dialogue_name(setup->dialogue.kind));
	snprintf(texts[1], sizeof(texts[1]), "--grace=%lldms", (long long)setup->grace);
	snprintf(texts[2], sizeof(texts[2]), "--term-after=%dms", VISIT_TERM_AFTER);
	while (setup->command[count] != NULL)
		count++;
	argv = mem_resize(NULL, OPTIONS + count + 1, sizeof(*argv));
	for (; options[words] != NULL; words++)
		memcpy(&argv[words], &options[words], sizeof(*argv));
	memcpy(argv + words, setup->command, (count + 1) * sizeof(*argv));
	if (dup2(fds[0], STDIN_FILENO) < 0 || dup2(fds[1], STDOUT_FILENO) < 0 || dup2(quiet, STDERR_FILENO) < 0)
		_exit(125);
	signal(SIGPIPE, SIG_DFL);
	if (setup->directory != NULL && chdir(setup->directory) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	if (found)
		execve(path, argv, setup->environment != NULL ? setup->environment : environ);
	_exit(STATUS_NOT_FOUND);
}

int
visit_start(struct visit *visit, const struct visit_setup *setup)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, error;
	sigset_t all, before;

	*visit = (struct visit){ .dialogue = setup->dialogue,
		.decisions = json_object(),
		.pid = -1,
		.from = -1,
		.to = -1,
		.log = -1,
		.writer = -1,
		.due = MSEC_NEVER };
	/* Our handlers, in the child, would take a signal that is meant to end canceld. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	if (open_log(visit) == 0 && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0)
		visit->pid = fork();
	error = errno;
	for (int i = 0; visit->pid == 0 && i < ENDINGS; i++)
		signal(ending[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (visit->pid == 0)
		become_canceld(visit, (int[]){ in[0], out[1] }, setup);
	stop(&in[0]);
	stop(&out[1]);
	visit->to = in[1];
	visit->from = out[0];
	if (visit->pid > 0) {
		fcntl(visit->to, F_SETFL, O_NONBLOCK);
		fcntl(visit->from, F_SETFL, O_NONBLOCK);
		return 0;
	}
	visit_free(visit);
	errno = error;
	return -1;
}

msec_t
visit_now(struct visit *visit)
{
	msec_t now = monotonic_now();

	if (now > visit->due) {
		visit->late += now - visit->due;
		visit->due = now;
	}
	return now - visit->late;
}

bool
visit_turn(struct visit *visit, msec_t until)
{
	struct pollfd ready[] = { { .fd = visit->from, .events = POLLIN }, { .fd = visit->log, .events = POLLIN },
		{ .fd = visit->out.len > 0 ? visit->to : -1, .events = POLLOUT } };
	msec_t left = until - visit_now(visit), wait = left < 0 ? 0 : left < TURN ? left : TURN;

	if (interrupted != 0 || (visit->exited && visit->from < 0))
		return false;
	visit->due = monotonic_now() + wait + 1;
	if (poll(ready, sizeof(ready) / sizeof(ready[0]), (int)wait) > 0) {
		if (ready[0].revents != 0)
			read_messages(visit);
		if (ready[1].revents != 0)
			read_events(visit);
		if (ready[2].revents != 0)
			write_some(visit);
	}
	visit_now(visit);
	visit->due = MSEC_NEVER;
	visit->exited = visit->exited || waitpid(visit->pid, &visit->status, WNOHANG) == visit->pid;
	return left > 0;
}

void
visit_wait_start(struct visit *visit, struct asked *first)
{
	msec_t until = visit_now(visit) + START;

	while (visit_saw(visit, "STARTED", NULL, NULL) == NULL && visit_turn(visit, until))
		;
	first->sent = visit_now(visit);
}

struct asked *
visit_ask(struct visit *visit, const char *method, json_t *params)
{
	struct asked *asked = &visit->asked[visit->count];

	assert(visit->count < VISIT_REQUESTS);
	*asked = (struct asked){ .id = ++visit->count, .method = method, .sent = visit_now(visit) };
	send_message(visit,
	    json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", (json_int_t)asked->id, "method", method, "params",
		dialogue_params(visit->dialogue, params)));
	return asked;
}

void
visit_notify(struct visit *visit, const char *method)
{
	send_message(visit, json_pack("{s:s, s:s, s:{}}", "jsonrpc", "2.0", "method", method, "params"));
}

void
visit_cancel(struct visit *visit, const struct asked *asked)
{
	send_message(visit, dialogue_cancel(visit->dialogue, asked->method, visit->session, asked->id));
}

bool
visit_wait(struct visit *visit, const struct asked *asked, msec_t limit)
{
	msec_t until = visit_now(visit) + limit;

	while (asked->answer == NULL && visit_turn(visit, until))
		;
	return asked->answer != NULL;
}

bool
visit_is_answered(const struct asked *asked)
{
	const json_t *error = json_object_get(asked->answer, "error");
	bool own = strncmp(visit_text(error, "message"), "canceld: ", strlen("canceld: ")) == 0 &&
	    json_is_string(json_object_get(json_object_get(error, "data"), "cause"));

	return asked->answer != NULL && !own;
}

const char *
visit_error(const struct asked *asked)
{
	const json_t *error = json_object_get(asked->answer, "error");
	const json_t *result = json_object_get(asked->answer, "result");
	const char *text = json_string_value(json_object_get(error, "message"));

	if (error != NULL)
		return text == NULL ? "an error without a text" : text;
	if (!json_is_true(json_object_get(result, "isError")))
		return NULL;
	text = json_string_value(json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
	return text == NULL ? "a result with isError" : text;
}

void
visit_close(struct visit *visit)
{
	msec_t until = visit_now(visit) + LAST_WRITE;
	int kept;

	while (visit->out.len > 0 && visit->to >= 0 && visit_turn(visit, until))
		;
	stop(&visit->to);
	until = visit_now(visit) + END;
	while (visit_turn(visit, until))
		;
	kept = interrupted;
	if (!visit->exited)
		kill(visit->pid, SIGTERM);
	for (until = visit_now(visit) + END_BY_SIGNAL; !visit->exited && visit_now(visit) < until;) {
		interrupted = 0;
		visit_turn(visit, until);
	}
	interrupted = kept;
	if (!visit->exited) {
		kill(visit->pid, SIGKILL);
		waitpid(visit->pid, &visit->status, 0);
		visit->exited = true;
	}
	while (read_events(visit))
		;
}

void
visit_free(struct visit *visit)
{
	for (int i = 0; i < visit->count; i++)
		json_decref(visit->asked[i].answer);
	json_decref(visit->decisions);
	stop(&visit->to);
	stop(&visit->from);
	stop(&visit->log);
	stop(&visit->writer);
	if (visit->directory[0] != '\0')
		remove_directory(visit);
	buf_free(&visit->in);
	buf_free(&visit->out);
	buf_free(&visit->events);
}
