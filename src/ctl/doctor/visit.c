#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "ctl/doctor.h"
#include "shell/child.h"
#include "shell/system.h"

enum {
	PIECE = 64 << 10,
	UNWRITTEN_MAX = 16 << 20, /* bytes that canceld did not take yet; more requests are not answered */
	HEADER_MAX = 4096,
	TURN = 20,         /* ms: the longest wait whose lateness is noticed, or that of canceld's exit */
	END = 10000,       /* ms that canceld gets to end */
	LAST_WRITE = 1000, /* what canceld does not read in this time, it never will */
};

const char *
visit_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

static void
hear_event(struct visit *visit, json_t *event)
{
	const char *step = visit_text(event, "step");
	json_t *first;
	char word[64];

	/* What a client sent is not the server's fault. */
	if (strcmp(visit_text(event, "to"), "server") == 0)
		return;
	snprintf(word, sizeof(word), "%s%s%s", visit_text(event, "why"), step[0] != '\0' ? " " : "", step);
	first = json_object_get(visit->decisions, word);
	if (first == NULL) {
		json_object_set_new(event, "heard", json_integer(visit_now(visit)));
		json_object_set(visit->decisions, word, event);
		first = event;
	}
	json_object_set_new(first, "times", json_integer(json_integer_value(json_object_get(first, "times")) + 1));
}

const json_t *
visit_saw(const struct visit *visit, const char *word)
{
	return json_object_get(visit->decisions, word);
}

const json_t *
visit_ended(const struct visit *visit)
{
	const json_t *ended = visit_saw(visit, "SERVER_ENDED");

	return ended != NULL ? ended : visit_saw(visit, "SERVER_EXITED");
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
	char head[64];

	if (visit->dialogue->headers) {
		snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", json_dumpb(message, NULL, 0, JSON_COMPACT));
		buf_append(&visit->out, span_of(head));
	}
	json_dump_callback(message, append_dumped, &visit->out, JSON_COMPACT);
	if (!visit->dialogue->headers)
		buf_append(&visit->out, SPAN("\n"));
	json_decref(message);
}

static void
hear_message(struct visit *visit, json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	json_int_t number = json_integer_value(id);
	struct asked *asked = visit->asked;

	if (json_object_get(message, "method") == NULL) {
		asked += number - 1;
		if (number < 1 || number > visit->count || asked->answer != NULL)
			return;
		asked->answer = json_incref(message);
		asked->order = ++visit->answers;
		asked->answered = visit_now(visit);
	} else if (id == NULL) {
		for (; asked < visit->asked + visit->count; asked++)
			if (dialogue_is_progress(visit->dialogue, message, asked->id)) {
				asked->progress++;
				asked->progressed = visit_now(visit);
			}
	} else if (visit->out.len < UNWRITTEN_MAX) {
		/* Of a flood of requests only those are answered that canceld takes at once. */
		send_message(visit, dialogue_answer(message));
	}
}

/* The length of the header and, in *length, of the message behind it; 0: it is not complete. */
static size_t
read_header(struct span bytes, size_t *length)
{
	const char *end = memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4), *name;
	char head[HEADER_MAX];

	if (end == NULL)
		return 0;
	snprintf(head, sizeof(head), "%.*s", (int)(end - bytes.ptr), bytes.ptr);
	name = strcasestr(head, "content-length:");
	*length = name == NULL ? 0 : (size_t)strtoull(name + strlen("content-length:"), NULL, 10);
	return (size_t)(end + 4 - bytes.ptr);
}

/* Takes the next text of canceld, whose framing is right. fresh: where the bytes begin that were not searched before. */
static bool
take(struct visit *visit, struct buf *in, size_t fresh, bool headers, void (*hear)(struct visit *visit, json_t *value))
{
	struct span bytes = buf_span(in);
	const char *newline = headers ? NULL : memchr(bytes.ptr + fresh, '\n', bytes.len - fresh);
	size_t length = newline == NULL ? 0 : (size_t)(newline + 1 - bytes.ptr);
	size_t head = headers ? read_header(bytes, &length) : 0;
	json_t *value;

	if ((headers ? head == 0 : newline == NULL) || length > bytes.len - head)
		return false;
	value = json_loadb(bytes.ptr + head, length, JSON_ALLOW_NUL, NULL);
	buf_consume(in, head + length);
	if (json_is_object(value))
		hear(visit, value);
	json_decref(value);
	return true;
}

static void
stop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Reads what is there, and hears all that is whole. */
static void
read_some(struct visit *visit, int *fd, struct buf *in, bool headers, void (*hear)(struct visit *visit, json_t *value))
{
	size_t had = in->len;
	ssize_t got = read(*fd, buf_space(in, PIECE), PIECE);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		stop(fd);
	if (got > 0)
		buf_added(in, (size_t)got);
	for (; got > 0 && take(visit, in, had, headers, hear); had = 0)
		;
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

/* Keeps the last line of the server's stderr. */
static void
read_said(struct visit *visit)
{
	char piece[4096], *line = piece;
	ssize_t got = read(visit->errors, piece, sizeof(piece) - 1);

	if (got == 0)
		stop(&visit->errors);
	piece[got < 0 ? 0 : got] = '\0';
	while ((line = strtok(line, "\n")) != NULL) {
		snprintf(visit->said, sizeof(visit->said), ": %s", line);
		line = NULL;
	}
}

enum end { IN_READ, IN_WRITE, OUT_READ, OUT_WRITE, LOG_READ, LOG_WRITE, ERRORS_READ, ERRORS_WRITE, CONFIG, ENDS };

/* Four pipes, and a file with an empty configuration, as the user's own is for other sessions. */
static int
open_ends(int ends[ENDS])
{
	FILE *config;

	for (int i = 0; i < ENDS; i++)
		ends[i] = -1;
	if (pipe2(&ends[IN_READ], O_CLOEXEC) < 0 || pipe2(&ends[OUT_READ], O_CLOEXEC) < 0 ||
	    pipe2(&ends[LOG_READ], O_CLOEXEC) < 0 || pipe2(&ends[ERRORS_READ], O_CLOEXEC) < 0 ||
	    (config = tmpfile()) == NULL)
		return -1;
	fputs("{}\n", config);
	rewind(config);
	ends[CONFIG] = fcntl(fileno(config), F_DUPFD_CLOEXEC, 0);
	fclose(config);
	return ends[CONFIG] < 0 ? -1 : 0;
}

/* canceld opens its log and its configuration by the names that descriptors have. */
_Noreturn static void
become_canceld(const struct examination *what, const int ends[ENDS])
{
	char log[64], config[64];
	const char *const options[] = { what->canceld, "--no-control", "--dialect=none", "--log-format=json", "-v",
		"--timeout=*=none", "--max-time=*=none", "--term-after=2s", "--kill-after=1s", log, config, "--" };
	size_t words = sizeof(options) / sizeof(options[0]), count = 0;
	char **argv;

	snprintf(log, sizeof(log), "--log=/dev/fd/%d", ends[LOG_WRITE]);
	snprintf(config, sizeof(config), "--config=/dev/fd/%d", ends[CONFIG]);
	while (what->command[count] != NULL)
		count++;
	argv = mem_resize(NULL, words + count + 1, sizeof(*argv));
	memcpy(argv, options, sizeof(options));
	memcpy(argv + words, what->command, (count + 1) * sizeof(*argv));
	fcntl(ends[LOG_WRITE], F_SETFD, 0);
	fcntl(ends[CONFIG], F_SETFD, 0);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(ends[IN_READ], STDIN_FILENO) >= 0 && dup2(ends[OUT_WRITE], STDOUT_FILENO) >= 0 &&
	    (what->loud || dup2(ends[ERRORS_WRITE], STDERR_FILENO) >= 0))
		execv(what->canceld, argv);
	_exit(STATUS_NOT_EXECUTABLE);
}

int
visit_start(struct visit *visit, const struct examination *what, const struct dialogue *dialogue)
{
	int ends[ENDS], error;

	*visit = (struct visit){ .dialogue = dialogue, .pid = -1, .due = MSEC_NEVER };
	if (open_ends(ends) == 0)
		visit->pid = fork();
	if (visit->pid == 0)
		become_canceld(what, ends);
	error = errno;
	stop(&ends[IN_READ]);
	stop(&ends[OUT_WRITE]);
	stop(&ends[LOG_WRITE]);
	stop(&ends[ERRORS_WRITE]);
	stop(&ends[CONFIG]);
	visit->to = ends[IN_WRITE];
	visit->from = ends[OUT_READ];
	visit->log = ends[LOG_READ];
	visit->errors = ends[ERRORS_READ];
	visit->decisions = json_object();
	if (visit->pid > 0) {
		fcntl(visit->to, F_SETFL, O_NONBLOCK);
		fcntl(visit->from, F_SETFL, O_NONBLOCK);
		fcntl(visit->log, F_SETFL, O_NONBLOCK);
		fcntl(visit->errors, F_SETFL, O_NONBLOCK);
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

/*
 * Waits until that time at the most, and returns as soon as anything has happened. false: the time is over and all
 * that had come was heard, or nothing more can come.
 */
static bool
turn(struct visit *visit, msec_t until)
{
	struct pollfd ready[] = { { .fd = visit->from, .events = POLLIN }, { .fd = visit->log, .events = POLLIN },
		{ .fd = visit->errors, .events = POLLIN },
		{ .fd = visit->out.len > 0 ? visit->to : -1, .events = POLLOUT } };
	msec_t left = until - visit_now(visit), wait = left < 0 ? 0 : left < TURN ? left : TURN;

	if (visit->pid == 0 && visit->from < 0 && visit->log < 0)
		return false;
	visit->due = monotonic_now() + wait + 1;
	if (poll(ready, sizeof(ready) / sizeof(ready[0]), (int)wait) > 0) {
		if (ready[0].revents != 0)
			read_some(visit, &visit->from, &visit->in, visit->dialogue->headers, hear_message);
		if (ready[1].revents != 0)
			read_some(visit, &visit->log, &visit->events, false, hear_event);
		if (ready[2].revents != 0)
			read_said(visit);
		if (ready[3].revents != 0)
			write_some(visit);
	}
	visit_now(visit);
	visit->due = MSEC_NEVER;
	if (visit->pid > 0 && waitpid(visit->pid, NULL, WNOHANG) == visit->pid)
		visit->pid = 0;
	return left > 0;
}

/* The params with the _meta that the dialogue demands. */
static json_t *
complete(const struct dialogue *dialogue, json_t *params)
{
	json_t *meta;

	if (dialogue->meta == NULL)
		return params;
	meta = json_loads(dialogue->meta, 0, NULL);
	json_object_update(meta, json_object_get(params, "_meta"));
	json_object_set_new(params, "_meta", meta);
	return params;
}

struct asked *
visit_ask(struct visit *visit, const char *method, json_t *params)
{
	struct asked *asked = &visit->asked[visit->count];

	assert(visit->count < VISIT_REQUESTS);
	*asked = (struct asked){ .id = ++visit->count, .method = method, .sent = visit_now(visit) };
	send_message(visit,
	    json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", asked->id, "method", method, "params",
		complete(visit->dialogue, params)));
	return asked;
}

struct asked *
visit_open(struct visit *visit, msec_t limit)
{
	const struct dialogue *dialogue = visit->dialogue;
	struct asked *asked = visit_ask(visit, dialogue->opening, json_loads(dialogue->params, 0, NULL));
	msec_t until = visit_now(visit) + limit;

	/* The time that canceld itself takes to start is not the server's. */
	while (visit_saw(visit, "STARTED") == NULL && turn(visit, until))
		;
	asked->sent = visit_now(visit);
	if (visit_wait(visit, asked, limit) && json_is_object(json_object_get(asked->answer, "result")) &&
	    dialogue->opened != NULL)
		send_message(visit,
		    json_pack("{s:s, s:s, s:{}}", "jsonrpc", "2.0", "method", dialogue->opened, "params"));
	return asked;
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

	while (asked->answer == NULL && turn(visit, until))
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

	while (visit->out.len > 0 && visit->to >= 0 && turn(visit, until))
		;
	stop(&visit->to);
	until = visit_now(visit) + END;
	while (turn(visit, until))
		;
	/* The guardian then ends the server. */
	if (visit->pid > 0) {
		kill(visit->pid, SIGKILL);
		waitpid(visit->pid, NULL, 0);
	}
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
	stop(&visit->errors);
	buf_free(&visit->in);
	buf_free(&visit->out);
	buf_free(&visit->events);
}
