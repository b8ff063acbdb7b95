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
	ERROR_CANCELLED = -32800,
	ERROR_SERVER_CANCELLED = -32802,
	ERROR_METHOD_NOT_FOUND = -32601,

	PIECE = 64 << 10,
	UNWRITTEN_MAX = 16 << 20, /* bytes that canceld did not take yet; more requests are not answered */
	HEADER_MAX = 4096,
	TURN = 20,   /* ms: the longest wait whose lateness is noticed, or that of canceld's exit */
	END = 10000, /* ms that canceld gets to end */
};

#define INFO "{\"name\":\"cancelctl-doctor\",\"version\":\"" CANCELD_VERSION "\"}"
#define META "io.modelcontextprotocol/"

/* ACP: methods that begin with an underscore are extensions; LSP: those with "$/", and an unknown one is an error. */
const struct dialogue dialogues[] = {
	[DIALOGUE_MCP] = { "mcp", "initialize",
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":" INFO "}", "serverInfo", "ping",
	    "notifications/cancelled", "requestId", "notifications/progress", .opened = "notifications/initialized",
	    .call = "tools/call", .token = "progressToken" },
	[DIALOGUE_ACP] = { "acp", "initialize", "{\"protocolVersion\":1,\"clientCapabilities\":{}}", "agentInfo",
	    "_canceld/ping", "$/cancel_request", "requestId", "session/update", .owed = true },
	[DIALOGUE_LSP] = { "lsp", "initialize",
	    "{\"processId\":null,\"rootUri\":null,\"capabilities\":{\"window\":{\"workDoneProgress\":true}},"
	    "\"clientInfo\":" INFO "}",
	    "serverInfo", "$/canceld/ping", "$/cancelRequest", "id", "$/progress", .opened = "initialized",
	    .token = "token", .headers = true, .owed = true },
	[DIALOGUE_MCP_NEWEST] = { "mcp", "server/discover", "{}", "serverInfo", "server/discover",
	    "notifications/cancelled", "requestId", "notifications/progress", .call = "tools/call",
	    .token = "progressToken",
	    .meta = "{\"" META "protocolVersion\":\"2026-07-28\",\"" META "clientCapabilities\":{},\"" META
		    "clientInfo\":" INFO "}" },
};

const char *
visit_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* The params of a call, with the request for progress under this id. */
static json_t *
call_params(const struct visit *visit, const char *name, const json_t *arguments, json_int_t id)
{
	const struct dialogue *dialogue = visit->dialogue;
	json_t *params = json_deep_copy(arguments);

	if (dialogue->call != NULL)
		return json_pack("{s:s, s:o, s:{s:I}}", "name", name, "arguments", params, "_meta", dialogue->token,
		    id);
	if (dialogue->token != NULL)
		json_object_set_new(params, "workDoneToken", json_integer(id));
	else if (visit->session[0] != '\0' && strncmp(name, "session/", strlen("session/")) == 0)
		json_object_set_new(params, "sessionId", json_string(visit->session));
	return params;
}

static bool
is_progress(const struct dialogue *dialogue, const json_t *message, json_int_t id)
{
	const json_t *params = json_object_get(message, "params"), *token;

	if (strcmp(visit_text(message, "method"), dialogue->progress) != 0)
		return false;
	token = dialogue->token == NULL ? NULL : json_object_get(params, dialogue->token);
	return dialogue->token == NULL || (json_is_integer(token) && json_integer_value(token) == id);
}

bool
visit_says_cancelled(const json_t *answer)
{
	json_int_t code = json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));

	return code == ERROR_CANCELLED || code == ERROR_SERVER_CANCELLED ||
	    strcmp(visit_text(json_object_get(answer, "result"), "stopReason"), "cancelled") == 0;
}

/* The answer of a client without any capability; a result where it must have one, or where an error would stop the server. */
static json_t *
answer_to(const json_t *request)
{
	static const struct {
		const char *method, *result;
	} rows[] = { { "ping", "{}" }, { "session/request_permission", "{\"outcome\":{\"outcome\":\"cancelled\"}}" },
		{ "window/workDoneProgress/create", "null" }, { "client/registerCapability", "null" } };
	json_t *id = json_object_get(request, "id");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(visit_text(request, "method"), rows[i].method) == 0)
			return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result",
			    json_loads(rows[i].result, JSON_DECODE_ANY, NULL));
	return json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error", "code",
	    ERROR_METHOD_NOT_FOUND, "message", "The doctor does not offer this");
}

static void
stop(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

/* canceld has opened them. */
static void
release(struct visit *visit)
{
	stop(&visit->log);
	stop(&visit->config);
}

static void
hear_event(struct visit *visit, json_t *event)
{
	const char *step = visit_text(event, "step"), *why = visit_text(event, "why");
	const char *how = json_object_get(event, "signal") != NULL ? "signal" : "status";
	json_t *first;
	char word[64];

	release(visit);
	/* What a client sent is not the server's fault. */
	if (strcmp(visit_text(event, "to"), "server") == 0)
		return;
	if (strcmp(why, "SERVER_ENDED") == 0 || strcmp(why, "SERVER_EXITED") == 0) {
		snprintf(visit->end, sizeof(visit->end), "%s %d", how,
		    (int)json_integer_value(json_object_get(event, how)));
		visit->ended = visit_now(visit);
	}
	snprintf(word, sizeof(word), "%s%s%s", why, step[0] != '\0' ? " " : "", step);
	first = json_object_get(visit->decisions, word);
	if (first == NULL) {
		json_object_set_new(event, "heard", json_integer(visit_now(visit)));
		json_object_set(visit->decisions, word, event);
		first = event;
	}
	json_object_set_new(first, "times", json_integer(json_integer_value(json_object_get(first, "times")) + 1));
}

/* Queues the message; takes the reference. */
static void
send_message(struct visit *visit, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT), head[64];

	snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", strlen(text));
	buf_append(&visit->out, visit->dialogue->headers ? span_of(head) : SPAN_NONE);
	buf_append(&visit->out, span_of(text));
	buf_append(&visit->out, visit->dialogue->headers ? SPAN_NONE : SPAN("\n"));
	free(text);
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
			if (is_progress(visit->dialogue, message, asked->id)) {
				asked->progress++;
				asked->progressed = visit_now(visit);
			}
	} else if (visit->out.len < UNWRITTEN_MAX) {
		/* Of a flood of requests only those are answered that canceld takes at once. */
		send_message(visit, answer_to(message));
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

	if (head + length == 0 || length > bytes.len - head)
		return false;
	value = json_loadb(bytes.ptr + head, length, JSON_ALLOW_NUL, NULL);
	buf_consume(in, head + length);
	if (json_is_object(value))
		hear(visit, value);
	json_decref(value);
	return true;
}

/* Reads what is there, and hears all that is whole. */
static void
read_some(struct visit *visit, enum visit_end end, struct buf *in, void (*hear)(struct visit *visit, json_t *value))
{
	bool headers = end == VISIT_FROM && visit->dialogue->headers;
	size_t had = in->len;
	ssize_t got = read(visit->ends[end], buf_space(in, PIECE), PIECE);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		stop(&visit->ends[end]);
	if (got > 0)
		buf_added(in, (size_t)got);
	for (; got > 0 && take(visit, in, had, headers, hear); had = 0)
		;
}

static void
write_some(struct visit *visit)
{
	struct span bytes = buf_span(&visit->out);
	ssize_t put = write(visit->ends[VISIT_TO], bytes.ptr, bytes.len);

	if (put >= 0)
		buf_consume(&visit->out, (size_t)put);
	else if (errno != EAGAIN && errno != EINTR)
		stop(&visit->ends[VISIT_TO]);
}

/* Keeps the last line of the server's stderr. */
static void
read_said(struct visit *visit)
{
	char piece[4096], *line = piece;
	ssize_t got = read(visit->ends[VISIT_ERRORS], piece, sizeof(piece) - 1);

	if (got == 0)
		stop(&visit->ends[VISIT_ERRORS]);
	piece[got < 0 ? 0 : got] = '\0';
	while ((line = strtok(line, "\n")) != NULL) {
		snprintf(visit->said, sizeof(visit->said), ": %s", line);
		line = NULL;
	}
}

/* Opens the pipes, and a file with an empty configuration, as the user's own is for other sessions. */
static int
open_ends(struct visit *visit, int theirs[VISIT_ENDS + 1])
{
	FILE *config = tmpfile();
	int pair[2];

	if (config == NULL)
		return -1;
	fputs("{}\n", config);
	rewind(config);
	theirs[VISIT_ENDS] = fcntl(fileno(config), F_DUPFD_CLOEXEC, 0);
	fclose(config);
	for (int i = 0; i < VISIT_ENDS; i++) {
		if (pipe2(pair, O_CLOEXEC) < 0)
			return -1;
		visit->ends[i] = pair[i == VISIT_TO];
		theirs[i] = pair[i != VISIT_TO];
		fcntl(visit->ends[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

/* canceld opens its log and its configuration by the names of descriptors: of ours where they have one, as it hands its own on. */
static void
name_end(char name[64], const char *option, int end)
{
#ifdef __linux__
	snprintf(name, 64, "%s=/proc/%ld/fd/%d", option, (long)getppid(), end);
#else
	snprintf(name, 64, "%s=/dev/fd/%d", option, end);
	fcntl(end, F_SETFD, 0);
#endif
}

_Noreturn static void
become_canceld(const struct examination *what, const int ends[VISIT_ENDS + 1])
{
	char log[64], config[64];
	const char *const options[] = { what->canceld, "--no-control", "--dialect=none", "--log-format=json", "-v",
		"--timeout=*=none", "--max-time=*=none", "--term-after=2s", "--kill-after=1s", log, config, "--" };
	size_t words = sizeof(options) / sizeof(options[0]), count = 0;
	char **argv;

	name_end(log, "--log", ends[VISIT_LOG]);
	name_end(config, "--config", ends[VISIT_ENDS]);
	while (what->command[count] != NULL)
		count++;
	argv = mem_resize(NULL, words + count + 1, sizeof(*argv));
	memcpy(argv, options, sizeof(options));
	memcpy(argv + words, what->command, (count + 1) * sizeof(*argv));
	signal(SIGPIPE, SIG_DFL);
	if (dup2(ends[VISIT_TO], STDIN_FILENO) >= 0 && dup2(ends[VISIT_FROM], STDOUT_FILENO) >= 0 &&
	    (what->loud || dup2(ends[VISIT_ERRORS], STDERR_FILENO) >= 0))
		execv(what->canceld, argv);
	_exit(STATUS_NOT_EXECUTABLE);
}

int
visit_start(struct visit *visit, const struct examination *what, const struct dialogue *dialogue)
{
	int theirs[VISIT_ENDS + 1] = { -1, -1, -1, -1, -1 }, error;

	*visit = (struct visit){ .dialogue = dialogue,
		.decisions = json_object(),
		.pid = -1,
		.ends = { -1, -1, -1, -1 },
		.due = MSEC_NEVER };
	if (open_ends(visit, theirs) == 0)
		visit->pid = fork();
	if (visit->pid == 0)
		become_canceld(what, theirs);
	error = errno;
	visit->log = theirs[VISIT_LOG];
	visit->config = theirs[VISIT_ENDS];
	stop(&theirs[VISIT_TO]);
	stop(&theirs[VISIT_FROM]);
	stop(&theirs[VISIT_ERRORS]);
	if (visit->pid > 0)
		return 0;
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
	struct pollfd ready[VISIT_ENDS];
	msec_t left = until - visit_now(visit), wait = left < 0 ? 0 : left < TURN ? left : TURN;

	if (visit->pid == 0 && visit->ends[VISIT_FROM] < 0 && visit->ends[VISIT_LOG] < 0)
		return false;
	for (int i = 0; i < VISIT_ENDS; i++)
		ready[i] = (struct pollfd){ .fd = visit->ends[i], .events = i == VISIT_TO ? POLLOUT : POLLIN };
	if (visit->out.len == 0)
		ready[VISIT_TO].fd = -1;
	visit->due = monotonic_now() + wait + 1;
	if (poll(ready, VISIT_ENDS, (int)wait) > 0) {
		if (ready[VISIT_TO].revents != 0)
			write_some(visit);
		if (ready[VISIT_FROM].revents != 0)
			read_some(visit, VISIT_FROM, &visit->in, hear_message);
		if (ready[VISIT_LOG].revents != 0)
			read_some(visit, VISIT_LOG, &visit->events, hear_event);
		if (ready[VISIT_ERRORS].revents != 0)
			read_said(visit);
	}
	visit_now(visit);
	visit->due = MSEC_NEVER;
	if (visit->pid > 0 && waitpid(visit->pid, NULL, WNOHANG) == visit->pid) {
		visit->pid = 0;
		release(visit);
	}
	return left > 0;
}

struct asked *
visit_ask(struct visit *visit, const char *method, json_t *params)
{
	struct asked *asked = &visit->asked[visit->count];
	json_t *meta = visit->dialogue->meta == NULL ? NULL : json_loads(visit->dialogue->meta, 0, NULL);

	assert(visit->count < VISIT_REQUESTS);
	if (meta != NULL) {
		json_object_update(meta, json_object_get(params, "_meta"));
		json_object_set_new(params, "_meta", meta);
	}
	*asked = (struct asked){ .id = ++visit->count, .method = method, .sent = visit_now(visit) };
	send_message(visit,
	    json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", asked->id, "method", method, "params", params));
	return asked;
}

struct asked *
visit_open(struct visit *visit, msec_t limit)
{
	const struct dialogue *dialogue = visit->dialogue;
	struct asked *asked = visit_ask(visit, dialogue->opening, json_loads(dialogue->params, 0, NULL));
	msec_t until = visit_now(visit) + limit;

	/* The time that canceld itself takes to start is not the server's. */
	while (json_object_get(visit->decisions, "STARTED") == NULL && turn(visit, until))
		;
	asked->sent = visit_now(visit);
	if (visit_wait(visit, asked, limit) && json_is_object(json_object_get(asked->answer, "result")) &&
	    dialogue->opened != NULL)
		send_message(visit,
		    json_pack("{s:s, s:s, s:{}}", "jsonrpc", "2.0", "method", dialogue->opened, "params"));
	return asked;
}

struct asked *
visit_call(struct visit *visit, const char *name, const json_t *arguments)
{
	const char *method = visit->dialogue->call;

	return visit_ask(visit, method != NULL ? method : name, call_params(visit, name, arguments, visit->count + 1));
}

void
visit_cancel(struct visit *visit, const struct asked *asked)
{
	const struct dialogue *dialogue = visit->dialogue;
	bool prompt = visit->session[0] != '\0' && strcmp(asked->method, "session/prompt") == 0;
	json_t *params =
	    prompt ? json_pack("{s:s}", "sessionId", visit->session) : json_pack("{s:I}", dialogue->id, asked->id);

	if (dialogue->meta != NULL)
		json_object_set_new(params, "_meta", json_loads(dialogue->meta, 0, NULL));
	send_message(visit,
	    json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", prompt ? "session/cancel" : dialogue->cancel,
		"params", params));
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
	msec_t until = visit_now(visit) + END;

	stop(&visit->ends[VISIT_TO]);
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
	for (int i = 0; i < VISIT_ENDS; i++)
		stop(&visit->ends[i]);
	release(visit);
	json_decref(visit->decisions);
	buf_free(&visit->in);
	buf_free(&visit->out);
	buf_free(&visit->events);
}
