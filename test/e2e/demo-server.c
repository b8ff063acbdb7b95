/*
 * demo-server: a small MCP server on stdin and stdout, for the demo and the tests. One process,
 * one poll loop, both eras: initialize, and server/discover with a _meta in each request. Ids and
 * progress tokens are returned byte for byte, whatever their size.
 *
 * --help tells its options, and its tools: most of them do one thing that servers do wrong, or
 * slowly.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "life.h"
#include "process.h"
#include "text.h"

struct call {
	struct call *next;
	char *id;    /* JSON text */
	char *token; /* JSON text, NULL if the client asked for no progress */
	long due;    /* when something is to be done for it; -1 never */
	long every;
	int step, steps;
	bool modern, stubborn, cancelled;
};

struct arguments {
	const char *text;
	json_t *json;
};

static struct text input;
static struct text output;
static size_t sent; /* bytes of output that are written */
static struct call *calls;
static const char *muted = "";
static FILE *record;
static bool at_eof, ignore_eof;
static unsigned int life = 600; /* seconds */

static void
on_alarm(int number)
{
	static const char reason[] =
	    "demo-server: ends itself, as it has received nothing for so long; see --help\n";

	(void)number;
	_exit(write(STDERR_FILENO, reason, sizeof(reason) - 1) > 0 ? 1 : 2);
}

/*
 * Ends this process some time after the last call. A runner of tests leaves its mark, and wants it
 * sooner.
 */
static void
go_on(void)
{
	if (getenv(PROCESS_MARK) != NULL) {
		live_on();
		life = life < LIFE ? life : LIFE - 1;
	}
	signal(SIGALRM, on_alarm);
	alarm(life);
}

static long
number_of(const struct arguments *arguments, const char *key)
{
	return (long)json_number_value(json_object_get(arguments->json, key));
}

static struct call *
call_new(const char *id, const char *params)
{
	const char *meta = member_find(params, "_meta");
	struct call *call = calloc(1, sizeof(*call));

	if (call == NULL)
		abort();
	call->id = strndup(id, (size_t)(value_end(id) - id));
	call->token = member_copy(meta, "progressToken");
	call->modern = member_find(meta, "io.modelcontextprotocol/protocolVersion") != NULL;
	call->due = -1;
	call->next = calls;
	calls = call;
	return call;
}

static void
call_free(struct call *call)
{
	struct call **link = &calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	free(call->id);
	free(call->token);
	free(call);
}

static void
put_answer(const struct call *call, const char *text)
{
	json_t *string = json_string_nocheck(text);
	char *quoted = json_dumps(string, JSON_ENCODE_ANY);

	text_print(&output, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{", call->id);
	text_print(&output, "%s", call->modern ? "\"resultType\":\"complete\"," : "");
	text_print(&output, "\"content\":[{\"type\":\"text\",\"text\":%s}]}}", quoted);
	free(quoted);
	json_decref(string);
}

/* kind is "result" or "error". */
static void
call_reply(struct call *call, const char *kind, const char *value)
{
	text_print(&output, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":%s}\n", call->id, kind, value);
	call_free(call);
}

static void
call_finish(struct call *call, const char *text)
{
	put_answer(call, text);
	text_print(&output, "\n");
	if (call->cancelled)
		fprintf(stderr, "demo-server: late answer id=%s\n", call->id);
	call_free(call);
}

static void
put_progress(const struct call *call, int step, int steps)
{
	if (call->token != NULL)
		text_print(&output,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
		    "{\"progressToken\":%s,\"progress\":%d,\"total\":%d}}\n",
		    call->token, step, steps);
}

static void
start_echo(struct call *call, const struct arguments *arguments)
{
	call_finish(call, arguments->text);
}

static void
start_sleep(struct call *call, const struct arguments *arguments)
{
	call->due = milliseconds() + number_of(arguments, "ms");
}

static void
start_stubborn(struct call *call, const struct arguments *arguments)
{
	start_sleep(call, arguments);
	call->stubborn = true;
}

/* Answers every stubborn call, then its own. */
static void
start_release(struct call *call, const struct arguments *arguments)
{
	struct call *other = calls;
	struct call *next;

	(void)arguments;
	for (; other != NULL; other = next) {
		next = other->next;
		if (other->stubborn)
			call_finish(other, "released");
	}
	call_finish(call, "done");
}

static void
start_progress(struct call *call, const struct arguments *arguments)
{
	call->steps = (int)number_of(arguments, "steps");
	call->every = number_of(arguments, "everyMs");
	call->due = milliseconds() + call->every;
}

static void
flush(void)
{
	ssize_t done = 0;

	if (output.len > sent)
		done = write(STDOUT_FILENO, output.data + sent, output.len - sent);
	if (done > 0)
		sent += (size_t)done;
	if (sent == output.len || (done < 0 && errno != EAGAIN && errno != EINTR))
		sent = output.len = 0;
}

/* Reads nothing any more. */
static void
start_block(struct call *call, const struct arguments *arguments)
{
	(void)call;
	(void)arguments;
	flush();
	for (;;)
		pause();
}

static void
start_crash(struct call *call, const struct arguments *arguments)
{
	if (json_is_true(json_object_get(arguments->json, "half"))) {
		put_answer(call, "only the first half of this answer is ever written");
		output.len -= 30;
	}
	flush();
	fprintf(stderr, "demo-server: crash\n");
	if (number_of(arguments, "signal") != 0) {
		/* a sanitizer's handler would exit */
		signal((int)number_of(arguments, "signal"), SIG_DFL);
		kill(getpid(), (int)number_of(arguments, "signal"));
	}
	_exit((int)number_of(arguments, "status"));
}

/* What the noise tool prints before and after its answer, by kind. */
static const struct {
	const char *kind, *before, *after;
} noises[] = {
	{ "text", "starting up...\nlistening on port 8080\n", "\n" },
	{ "glued", "debug: about to answer ", "\n" },
};

static void
start_noise(struct call *call, const struct arguments *arguments)
{
	const char *kind = json_string_value(json_object_get(arguments->json, "kind"));
	size_t i = 0;

	while (i + 1 < sizeof(noises) / sizeof(noises[0]) &&
	    (kind == NULL || strcmp(kind, noises[i].kind) != 0))
		i++;
	text_print(&output, "%s", noises[i].before);
	put_answer(call, arguments->text);
	text_print(&output, "%s", noises[i].after);
	call_free(call);
}

static void
start_flood(struct call *call, const struct arguments *arguments)
{
	size_t bytes = (size_t)number_of(arguments, "bytes");
	char *big = malloc(bytes + 1);

	for (long i = 0; i < number_of(arguments, "count"); i++)
		text_print(&output,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
		    "{\"level\":\"info\",\"data\":%ld}}\n",
		    i);
	if (big == NULL)
		abort();
	memset(big, 'x', bytes);
	big[bytes] = '\0';
	call_finish(call, big);
	free(big);
}

static void
start_twice(struct call *call, const struct arguments *arguments)
{
	start_echo(call_new(call->id, NULL), arguments);
	call_finish(call, arguments->text);
}

static void
start_late_progress(struct call *call, const struct arguments *arguments)
{
	start_echo(call_new(call->id, NULL), arguments);
	put_progress(call, 1, 1);
	call_free(call);
}

static const struct tool {
	const char *name;
	void (*start)(struct call *call, const struct arguments *arguments);
	const char *help; /* its arguments, and what it does */
} tools[] = {
	{ "echo", start_echo, "answers with its arguments" },
	{ "sleep", start_sleep, "ms=N: answers then; stops when it is cancelled" },
	{ "stubborn", start_stubborn,
	    "[ms=N]: does not stop; answers then, or at the next release" },
	{ "release", start_release, "answers each stubborn call" },
	{ "crash", start_crash,
	    "[status=N | signal=N] [half=true]: dies, in the middle of an answer" },
	{ "block", start_block, "reads nothing any more" },
	{ "noise", start_noise,
	    "[kind=text | glued]: lines that are no messages around its answer" },
	{ "flood", start_flood,
	    "[count=N] [bytes=N]: so many notifications, and an answer of that length" },
	{ "progress", start_progress, "steps=N everyMs=N: reports progress, then answers" },
	{ "twice", start_twice, "answers twice" },
	{ "late-progress", start_late_progress, "reports progress after its answer" },
};

static void
put_tools(const struct call *call)
{
	text_print(&output, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{%s\"tools\":[", call->id,
	    call->modern ? "\"resultType\":\"complete\"," : "");
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		text_print(&output, "%s{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}",
		    i == 0 ? "" : ",", tools[i].name);
	text_print(&output, "]}}\n");
}

static const struct tool *
tool_find(const char *quoted)
{
	size_t len = quoted == NULL ? 0 : strlen(quoted) - 2;

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (len == strlen(tools[i].name) && memcmp(quoted + 1, tools[i].name, len) == 0)
			return &tools[i];
	return NULL;
}

static void
start_tool(struct call *call, const char *params)
{
	char *name = member_copy(params, "name");
	char *text = member_copy(params, "arguments");
	struct arguments arguments = { text == NULL ? "{}" : text, NULL };
	const struct tool *tool = tool_find(name);

	arguments.json = json_loads(arguments.text, JSON_DECODE_INT_AS_REAL, NULL);
	if (tool != NULL)
		tool->start(call, &arguments);
	else
		call_reply(call, "error", "{\"code\":-32602,\"message\":\"no such tool\"}");
	json_decref(arguments.json);
	free(name);
	free(text);
}

static void
on_request(const char *method, const char *id, const char *params)
{
	struct call *call = call_new(id, params);

	if (strcmp(method, "tools/call") == 0) {
		start_tool(call, params);
	} else if (strcmp(method, "tools/list") == 0) {
		put_tools(call);
		call_free(call);
	} else if (strcmp(method, "initialize") == 0) {
		call_reply(call, "result",
		    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
		    "\"serverInfo\":{\"name\":\"demo-server\",\"version\":\"1\"}}");
	} else if (strcmp(method, "server/discover") == 0) {
		call_reply(call, "result",
		    "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
		    "\"capabilities\":{\"tools\":{}},\"ttlMs\":0,\"cacheScope\":\"private\"}");
	} else if (strcmp(method, "ping") == 0) {
		call_reply(call, "result", "{}");
	} else {
		call_reply(call, "error", "{\"code\":-32601,\"message\":\"no such method\"}");
	}
}

static void
on_cancelled(const char *params)
{
	char *id = member_copy(params, "requestId");
	struct call *call = calls;

	while (call != NULL && (id == NULL || strcmp(call->id, id) != 0))
		call = call->next;
	fprintf(stderr, "demo-server: %s id=%s\n",
	    call == NULL       ? "unknown cancel" :
		call->stubborn ? "ignored cancel" :
				 "cancelled",
	    id == NULL ? "" : id);
	if (call != NULL && call->stubborn)
		call->cancelled = true;
	else if (call != NULL)
		call_free(call);
	free(id);
}

static void
on_line(const char *line, size_t len)
{
	json_t *message = json_loadb(line, len, JSON_DECODE_INT_AS_REAL, NULL);
	const char *method = json_string_value(json_object_get(message, "method"));
	const char *id = message == NULL ? NULL : member_find(line, "id");

	if (record != NULL) {
		fprintf(record, "%s\n", line);
		fflush(record);
	}
	if (message == NULL)
		fprintf(stderr, "demo-server: unreadable line of %zu bytes\n", len);
	else if (method != NULL && id != NULL && strcmp(method, muted) != 0)
		on_request(method, id, member_find(line, "params"));
	else if (method != NULL && strcmp(method, "notifications/cancelled") == 0)
		on_cancelled(member_find(line, "params"));
	json_decref(message);
}

static void
on_readable(void)
{
	static char piece[65536];
	ssize_t done = read(STDIN_FILENO, piece, sizeof(piece));
	size_t fresh = input.len;
	size_t start = 0;
	char *newline;

	go_on();
	at_eof = done == 0;
	if (done <= 0)
		return;
	text_append(&input, piece, (size_t)done);
	while ((newline = memchr(input.data + fresh, '\n', input.len - fresh)) != NULL) {
		*newline = '\0';
		fresh = (size_t)(newline + 1 - input.data);
		on_line(input.data + start, fresh - start - 1);
		start = fresh;
	}
	text_drop(&input, start);
}

static void
call_tick(struct call *call)
{
	if (call->step < call->steps) {
		put_progress(call, ++call->step, call->steps);
		call->due += call->every;
	} else {
		call_finish(call, "done");
	}
}

/* Does what is due; returns the milliseconds until something is due again, -1 for never. */
static int
tick(void)
{
	struct call *call = calls;
	struct call *next;
	long now = milliseconds();
	long first = -1;

	for (; call != NULL; call = next) {
		next = call->next;
		if (call->due >= 0 && call->due <= now)
			call_tick(call);
	}
	for (call = calls; call != NULL; call = call->next)
		if (call->due >= 0 && (first < 0 || call->due < first))
			first = call->due;
	return first < 0 ? -1 : first > now ? (int)(first - now) : 0;
}

static void
show_help(void)
{
	puts(
	    "usage: demo-server [option...]\n\n"
	    "A small MCP server on stdin and stdout, to try canceld with. It waits for a client:\n\n"
	    "  cancelctl call sleep ms=60000 -- -t 3s demo-server\n\n"
	    "It ends itself, and says so, ten minutes after the last line that it received; in\n"
	    "tests (with " PROCESS_MARK " in the environment) after 49 seconds.\n\n"
	    "  --life SECONDS  end so long after the last line\n"
	    "  --record FILE   append every line received to FILE\n"
	    "  --mute METHOD   never answer requests of that method\n"
	    "  --ignore-eof    go on when stdin ends\n"
	    "  --ignore-term   ignore SIGTERM\n"
	    "  --help          this text\n\n"
	    "Tools, with their arguments:\n");
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		printf("  %-14s  %s\n", tools[i].name, tools[i].help);
	exit(0);
}

static void
read_options(int count, char **arguments)
{
	static const struct option options[] = {
		{ "record", required_argument, NULL, 'r' },
		{ "mute", required_argument, NULL, 'm' },
		{ "life", required_argument, NULL, 'l' },
		{ "ignore-eof", no_argument, NULL, 'e' },
		{ "ignore-term", no_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
		if (option == 'r')
			record = fopen(optarg, "ae");
		else if (option == 'm')
			muted = optarg;
		else if (option == 'l')
			life = (unsigned int)atoi(optarg);
		else if (option == 'e')
			ignore_eof = true;
		else if (option == 't')
			signal(SIGTERM, SIG_IGN);
		else if (option == 'h')
			show_help();
		else
			exit(2);
	}
}

int
main(int count, char **arguments)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLOUT } };

	read_options(count, arguments);
	go_on();
	if (ignore_eof)
		signal(SIGPIPE, SIG_IGN);
	fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
	while (!at_eof || ignore_eof) {
		int wait = tick();

		flush();
		fds[0].fd = at_eof ? -1 : STDIN_FILENO;
		fds[1].fd = output.len > sent ? STDOUT_FILENO : -1;
		if (poll(fds, 2, wait) < 0 && errno != EINTR)
			return 1;
		if (fds[0].revents != 0)
			on_readable();
	}
	flush();
	return 0;
}
