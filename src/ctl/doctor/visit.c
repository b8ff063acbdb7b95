#include "core/buf.h"
#include "core/compose.h"
#include "core/scan.h"
#include "doctor.h"
#include "ctl/show.h"
#include "ctl/trace.h"
#include "shell/child.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	ERROR_UNSUPPORTED_VERSION = -32022,

	PIECE = 64 << 10,
	/* bytes that canceld did not take yet; more requests are not answered */
	UNWRITTEN_MAX = 16 << 20,
	/* ms: the longest single wait, after which lateness and canceld's exit are looked at */
	WAIT_MOST = 20,
	FLUSH = 500,   /* ms for what is not written yet when the visit ends */
	ASKS_MAX = 32, /* methods that a server asks its client for and that are counted */
};

#define INFO "{\"name\":\"cancelctl\",\"version\":\"" CANCELD_VERSION "\"}"

#define META "io.modelcontextprotocol/"

/*
 * ACP: methods that begin with an underscore are extensions; LSP: those with "$/", and an unknown
 * one is an error.
 */
const struct dialogue dialogues[] = {
	[DIALOGUE_MCP] = { "mcp", "initialize",
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":" INFO "}",
	    "serverInfo", "ping", "notifications/cancelled", "requestId", "notifications/progress",
	    .opened = "notifications/initialized", .call = "tools/call", .token = "progressToken" },
	[DIALOGUE_ACP] = { "acp", "initialize", "{\"protocolVersion\":1,\"clientCapabilities\":{}}",
	    "agentInfo", "_canceld/ping", "$/cancel_request", "requestId", "session/update",
	    .owed = true },
	[DIALOGUE_LSP] = { "lsp", "initialize",
	    "{\"processId\":null,\"rootUri\":null,\"capabilities\":{\"window\":{\"workDoneProgress\":true}},"
	    "\"clientInfo\":" INFO "}",
	    "serverInfo", "$/canceld/ping", "$/cancelRequest", "id", "$/progress",
	    .opened = "initialized", .token = "token", .farewell = "shutdown", .last = "exit",
	    .framing = FRAMING_HEADER, .owed = true },
	[DIALOGUE_MCP_NEWEST] = { "mcp", "server/discover", "{}", "serverInfo", "server/discover",
	    "notifications/cancelled", "requestId", "notifications/progress", .call = "tools/call",
	    .token = "progressToken",
	    .meta = "{\"" META "protocolVersion\":\"2026-07-28\",\"" META
		    "clientCapabilities\":{},\"" META "clientInfo\":" INFO "}" },
};

volatile sig_atomic_t visit_interrupted;

static bool
is_progress(const struct dialogue *dialogue, const json_t *message, json_int_t id)
{
	const json_t *params = json_object_get(message, "params");

	return show_is(message, "method", dialogue->progress) &&
	    (dialogue->token == NULL || show_number(params, dialogue->token) == id);
}

/* Takes the reference to the answer. */
static void
take_answer(struct asked *asked, json_t *answer)
{
	const json_t *error = json_object_get(answer, "error"),
		     *result = json_object_get(answer, "result");
	const json_t *data = json_object_get(error, "data");
	json_int_t code = show_number(error, "code");
	const char *text = show_chars(error, "message");

	if (error == NULL)
		text = show_chars(json_array_get(json_object_get(result, "content"), 0), "text");
	if (error != NULL || json_is_true(json_object_get(result, "isError")))
		asked->error = *text != '\0' ? text : "an error without a text";
	if (show_has(answer, "method"))
		asked->error = "the command sends back what it reads";
	asked->answer = answer;
	asked->result = json_is_object(result) ? result : NULL;
	asked->served = !text_begins(text, "canceld: ") || !show_has(data, "cause");
	asked->died = !asked->served && show_is(data, "cause", "server-exited");
	asked->cancelled = code == CODE_REQUEST_CANCELLED || code == CODE_SERVER_CANCELLED ||
	    show_is(result, "stopReason", "cancelled");
	asked->unknown = code == CODE_METHOD_NOT_FOUND;
	asked->newer = asked->unknown || code == ERROR_UNSUPPORTED_VERSION;
	/* The SDKs of MCP say so in a result with isError. */
	asked->unfit = code == CODE_INVALID_PARAMS ||
	    (asked->error != NULL && strstr(asked->error, "Input validation error: ") != NULL);
}

/*
 * The answer of a client without any capability: an error, or a result where one is required or an
 * error would stop the server.
 */
static json_t *
answer_to(const json_t *request)
{
	static const struct {
		const char *method, *result;
	} rows[] = { { "ping", "{}" },
		{ "session/request_permission", "{\"outcome\":{\"outcome\":\"cancelled\"}}" },
		{ "window/workDoneProgress/create", "null" },
		{ "client/registerCapability", "null" } };
	json_t *id = json_object_get(request, "id");

	each_of (row, rows)
		if (show_is(request, "method", row->method))
			return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result",
			    json_loads(row->result, JSON_DECODE_ANY, NULL));
	return json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error", "code",
	    CODE_METHOD_NOT_FOUND, "message", "cancelctl does not offer this");
}

static void
clear_line(const struct visit *visit)
{
	if (visit->terminal && visit->told > 0)
		fprintf(stderr, "\r%*s\r", (int)term_told_width, "");
}

static void
stop(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

/* Shows the caller the decisions of canceld that he must know of. */
static void
tell_event(struct visit *visit, json_t *event)
{
	static const struct {
		const char *why, *before, *key, *between, *last;
	} rows[] = {
		{ "RULE_DOUBTED", "", "from", ": was this meant? ", "meant" },
		{ "CONFIG_REFUSED", "", "file", ": ", "reason" },
		{ "FORCED", "the server did not end by itself, and got ", "step", "", "" },
		{ "CONTAINER_LEFT", "the server's container may still run: ", "reason", ": ",
		    "hint" },
	};

	each_of (row, rows)
		if (show_is(event, "why", row->why)) {
			clear_line(visit);
			ctl_tell(CTL_YES, "%s%s%s%s", row->before, show_chars(event, row->key),
			    row->between, show_chars(event, row->last));
		}
}

static void
hear_event(struct visit *visit, json_t *event)
{
	const char *step = show_chars(event, "step"), *why = show_chars(event, "why");
	const char *how = show_has(event, "signal") ? "signal" : "status";
	json_t *first;
	char word[64];

	/*
	 * A decision about a message to the server is about the client's fault, not the server's.
	 */
	if (show_is(event, "to", "server"))
		return;
	if (visit->tells)
		tell_event(visit, event);
	if (show_is(event, "why", "SERVER_ENDED SERVER_EXITED")) {
		print_into(visit->end, "%s %d", how, (int)show_number(event, how));
		visit->ended = trace_time(event);
	}
	print_into(word, "%s%s%s", why, step[0] != '\0' ? " " : "", step);
	first = json_object_get(visit->decisions, word);
	if (first == NULL) {
		json_object_set(visit->decisions, word, event);
		first = event;
	}
	show_add(first, "times", 1);
}

/* Queues the message; takes the reference. */
static void
send_message(struct visit *visit, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);

	framing_append(&visit->out, visit->dialogue->framing, span_of(text));
	free(text);
	json_decref(message);
}

/* Queues a request; a notification if id is NULL. Takes the references to id and params. */
static void
send_call(struct visit *visit, json_t *id, const char *method, json_t *params)
{
	json_t *meta = json_loads(visit->dialogue->meta, 0, NULL); /* of NULL it reads nothing */

	if (meta != NULL) {
		json_object_update(meta, json_object_get(params, "_meta"));
		json_object_set_new(params, "_meta", meta);
	}
	send_message(visit,
	    json_pack("{s:s, s:o*, s:s, s:o*}", "jsonrpc", "2.0", "id", id, "method", method,
		"params", params));
}

static void
count_ask(const struct visit *visit, const char *method)
{
	json_t *asks = visit->asks;

	if (asks != NULL && (json_object_size(asks) < ASKS_MAX || show_has(asks, method)))
		show_add(asks, method, 1);
}

static void
hear_message(struct visit *visit, json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	double number = json_number_value(id);
	struct asked *asked = visit->asked;

	/*
	 * The opening request echoed, as by cat(1), is no request of the server's: it counts as the
	 * answer.
	 */
	if (!show_has(message, "method") ||
	    (number == 1 && show_is(message, "method", visit->dialogue->opening))) {
		if (!(number >= 1 && number <= visit->count))
			return;
		asked += (int)number - 1;
		if (asked->answer != NULL)
			return;
		take_answer(asked, json_incref(message));
		asked->order = ++visit->answers;
		asked->answered = visit_now(visit);
		asked->ended = monotonic_now();
	} else if (id == NULL) {
		for (; asked < visit->asked + visit->count; asked++)
			if (is_progress(visit->dialogue, message, asked->id)) {
				asked->progress++;
				asked->progressed = visit_now(visit);
				json_decref(asked->report);
				asked->report = json_incref(json_object_get(message, "params"));
			}
	} else if (visit->out.len < UNWRITTEN_MAX) {
		count_ask(visit, show_chars(message, "method"));
		/*
		 * In a flood of requests only those are answered whose answers canceld takes at
		 * once.
		 */
		send_message(visit, answer_to(message));
	}
}

/* Whether a message that cannot be read is a request or a response, so that somebody waits. */
static bool
answers(struct span body)
{
	struct scan scan;

	scan_read(&scan, body);
	return scan_has(&scan, SCAN_ID) || !scan_has(&scan, SCAN_METHOD);
}

/* Reads what is there, and hears all that is whole. */
static void
read_some(struct visit *visit, enum visit_end end)
{
	enum framing framing = end == VISIT_FROM ? visit->dialogue->framing : FRAMING_NEWLINE;
	struct frame *frame = &visit->frames[end];
	struct buf *in = &visit->in[end];
	ssize_t got = read(visit->ends[end], buf_space(in, PIECE), PIECE);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		stop(&visit->ends[end]);
	if (got > 0)
		buf_added(in, (size_t)got);
	while (got > 0 && frame_read(frame, framing, buf_span(in))) {
		struct span body = { buf_span(in).ptr + frame->body,
			(size_t)(frame->end - frame->body) };
		json_auto_t *value = show_parse(body, false);

		visit->unreadable |= value == NULL && end == VISIT_FROM && answers(body);
		if (json_is_object(value))
			(end == VISIT_LOG ? hear_event : hear_message)(visit, value);
		buf_consume(in, (size_t)frame->next);
		frame_advance(frame, frame->next);
	}
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

static int
open_ends(struct visit *visit)
{
	int pair[2];

	for (int i = 0; i < VISIT_ENDS; i++) {
		if (system_pipe(pair) < 0)
			return -1;
		visit->ends[i] = pair[i == VISIT_TO];
		visit->theirs[i] = pair[i != VISIT_TO];
		fcntl(visit->ends[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

_Noreturn static void
become_canceld(const struct examination *what, const struct visit *visit, pid_t owner)
{
	const int *ends = visit->theirs;
	char program[PROGRAM_SIZE], path[48], log[64], **argv = NULL;
	char *const telling[] = { "--log-format=json", log, NULL };
	char *const watching[] = { "--no-control", "--no-history", "--dialect=none",
		"--log-format=json", "-v", "--timeout=*=none", "--max-time=*=none",
		"--term-after=2s", "--kill-after=1s", "--sweep=tree", "--config=/dev/null", log,
		NULL };

	/*
	 * canceld gets its log as the path of a descriptor: of ours if the system has such paths;
	 * otherwise of its own, which it inherits.
	 */
	if (!system_path_of(owner, ends[VISIT_LOG], path, sizeof(path))) {
		print_into(path, "/dev/fd/%d", ends[VISIT_LOG]);
		fcntl(ends[VISIT_LOG], F_SETFD, 0);
	}
	print_into(log, "--log=%s", path);
	memcpy(program, what->canceld, sizeof(program));
	ctl_add_words(&argv, (char *const[]){ program, NULL });
	ctl_add_words(&argv, what->options == NULL ? watching : what->logs ? NULL : telling);
	ctl_add_words(&argv, what->options);
	ctl_add_words(&argv, (char *const[]){ "--", NULL });
	ctl_add_words(&argv, what->command);
	signal(SIGPIPE, SIG_DFL);
	/* A Ctrl+C at the terminal must reach only us: we then tell canceld what to do. */
	setpgid(0, 0);
	if (dup2(ends[VISIT_TO], STDIN_FILENO) >= 0 && dup2(ends[VISIT_FROM], STDOUT_FILENO) >= 0 &&
	    (what->loud || dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0))
		execv(what->canceld, argv);
	_exit(STATUS_NOT_EXECUTABLE);
}

msec_t
visit_now(const struct visit *visit)
{
	return monotonic_now() - visit->late;
}

long long
visit_took(const struct asked *asked)
{
	return (asked->answer != NULL ? asked->ended : monotonic_now()) - asked->began;
}

void
visit_begin(struct visit *visit, const char *check, msec_t limit)
{
	clear_line(visit);
	visit->check = check;
	visit->began = visit_now(visit);
	visit->until = visit->began + limit;
	visit->told = 0;
}

/* " [#####...............] 3/12 message" */
static void
append_progress(struct buf *line, const json_t *report)
{
	const struct span full = SPAN("####################"), empty = SPAN("....................");
	double total = json_number_value(json_object_get(report, "total"));
	double part =
	    total > 0 ? json_number_value(json_object_get(report, "progress")) / total : 0;
	size_t cells = part > 1 ? full.len : part > 0 ? (size_t)(part * (double)full.len) : 0;

	compose_text(line, total > 0 ? " [%b%b] " : " ", span_head(full, cells),
	    span_from(empty, cells));
	view_progress(line, report);
}

/*
 * Says what is waited for: on a terminal every second and at each progress, otherwise once, and
 * only if the wait is limited.
 */
static void
tell_wait(struct visit *visit)
{
	const struct asked *asked = &visit->asked[visit->count - 1];
	bool open = asked->answer == NULL;
	msec_t waited = visit_now(visit) - visit->began,
	       news = waited / 1000 + (open ? asked->progress : 0);
	msec_t left = visit->until - visit->began - waited;
	bool limited = left < VISIT_FOREVER / 2;
	BUF_AUTO line = { 0 }, shown = { 0 };

	if (news <= visit->told || (!visit->terminal && (visit->told > 0 || !limited)))
		return;
	clear_line(visit);
	visit->told = news;
	compose_text(&line, "%s: %b", visit->check, show_time(waited));
	if (limited)
		compose_text(&line, ", at most %b more", show_time(left));
	if (open && asked->report != NULL && visit->terminal)
		append_progress(&line, asked->report);
	printable_append(&shown, buf_span(&line), "");
	buf_clear(&line);
	table_cut(&line, buf_span(&shown), term_told_width, 0);
	fprintf(stderr, "%.*s%s", (int)line.len, line.data, visit->terminal ? "" : "\n");
}

int
visit_start(struct visit *visit, const struct examination *what, const struct dialogue *dialogue)
{
	pid_t owner = getpid(); /* later the child's parent may be another one */
	int error;

	*visit = (struct visit){ .dialogue = dialogue,
		.decisions = json_object(),
		.pid = -1,
		.ends = { -1, -1, -1 },
		.theirs = { -1, -1, -1 },
		.dismissed = MSEC_NEVER,
		.tells = what->options != NULL,
		.terminal = !what->loud && isatty(STDERR_FILENO) };
	if (open_ends(visit) == 0)
		visit->pid = fork();
	if (visit->pid == 0)
		become_canceld(what, visit, owner);
	error = errno;
	for (int i = 0; i < VISIT_ENDS; i++)
		if (i != VISIT_LOG)
			stop(&visit->theirs[i]);
	if (what->logs)
		stop(&visit->ends[VISIT_LOG]);
	if (visit->pid > 0)
		return 0;
	visit_free(visit);
	errno = error;
	return -1;
}

/*
 * Waits until something happens, at most until that time. false: the time is over and all that came
 * was heard, or nothing more can come.
 */
static bool
wait_once(struct visit *visit, msec_t until)
{
	struct pollfd ready[VISIT_ENDS];
	/*
	 * Once canceld has exited, all that it wrote can be read. A process that it left may hold
	 * the pipes open.
	 */
	bool over = visit->pid == 0;
	msec_t left = (until < visit->until ? until : visit->until) - visit_now(visit);
	msec_t wait = over || left < 0 ? 0 : left < WAIT_MOST ? left : WAIT_MOST, due, late;
	int count;

	tell_wait(visit);
	for (int i = 0; i < VISIT_ENDS; i++)
		ready[i] = (struct pollfd){ .fd = visit->ends[i], .events = POLLIN };
	ready[VISIT_TO] = (struct pollfd){ .fd = visit->out.len > 0 ? visit->ends[VISIT_TO] : -1,
		.events = POLLOUT };
	due = monotonic_now() + wait + 1;
	count = poll(ready, VISIT_ENDS, (int)wait);
	/*
	 * Only time lost in poll counts as lateness, not this process's own work, as with a flood
	 * of messages.
	 */
	late = monotonic_now() - due;
	visit->late += late > 0 ? late : 0;
	if (count > 0) {
		if (ready[VISIT_TO].revents != 0)
			write_some(visit);
		for (enum visit_end end = VISIT_FROM; end < VISIT_ENDS; end++)
			if (ready[end].revents != 0)
				read_some(visit, end);
	}
	if (visit->pid > 0 && waitpid(visit->pid, &visit->status, WNOHANG) == visit->pid)
		visit->pid = 0;
	return left > 0 && (!over || (ready[VISIT_FROM].revents | ready[VISIT_LOG].revents) != 0);
}

struct asked *
visit_ask(struct visit *visit, const char *method, json_t *params)
{
	struct asked *asked;

	assert(visit->count < VISIT_REQUESTS);
	asked = &visit->asked[visit->count];
	*asked = (struct asked){ .id = ++visit->count,
		.method = method,
		.sent = visit_now(visit),
		.began = monotonic_now() };
	send_call(visit, json_integer(asked->id), method, params);
	return asked;
}

static bool
is_awaited(const struct visit *visit, const struct asked *asked)
{
	return asked->answer == NULL && !visit_interrupted && !visit->unreadable;
}

struct asked *
visit_open(struct visit *visit, const char *check, msec_t limit)
{
	const struct dialogue *dialogue = visit->dialogue;
	msec_t began = real_now();
	struct asked *asked =
	    visit_ask(visit, dialogue->opening, json_loads(dialogue->params, 0, NULL));

	visit_begin(visit, check, limit);
	/* The limit counts from when canceld has started the server, if its log is ours to see. */
	while (visit->ends[VISIT_LOG] >= 0 && !show_has(visit->decisions, "STARTED") &&
	    is_awaited(visit, asked) && wait_once(visit, visit->until))
		;
	visit_begin(visit, check, limit);
	if (visit_wait(visit, asked, limit) && asked->result != NULL && dialogue->opened != NULL)
		send_call(visit, NULL, dialogue->opened, json_object());
	if (show_has(visit->decisions, "STARTED"))
		asked->began += trace_time(json_object_get(visit->decisions, "STARTED")) - began;
	return asked;
}

struct asked *
visit_call(struct visit *visit, const char *name, const json_t *arguments)
{
	const struct dialogue *dialogue = visit->dialogue;
	json_t *params = json_deep_copy(arguments);
	json_int_t id = visit->count + 1;

	if (dialogue->call != NULL)
		params = json_pack("{s:s, s:o, s:{s:I}}", "name", name, "arguments", params,
		    "_meta", dialogue->token, id);
	else if (dialogue->token != NULL)
		json_object_set_new(params, "workDoneToken", json_integer(id));
	else if (visit->session[0] != '\0')
		json_object_set_new(params, "sessionId", json_string(visit->session));
	return visit_ask(visit, dialogue->call != NULL ? dialogue->call : name, params);
}

void
visit_cancel(struct visit *visit, const struct asked *asked)
{
	const struct dialogue *dialogue = visit->dialogue;
	bool prompt = visit->session[0] != '\0' && text_is(asked->method, "session/prompt");

	send_call(visit, NULL, prompt ? "session/cancel" : dialogue->cancel,
	    prompt ? json_pack("{s:s}", "sessionId", visit->session) :
		     json_pack("{s:I}", dialogue->id, asked->id));
}

bool
visit_wait(struct visit *visit, const struct asked *asked, msec_t limit)
{
	msec_t until = visit_now(visit) + limit;

	while (is_awaited(visit, asked) && wait_once(visit, until))
		;
	return asked->answer != NULL;
}

void
visit_rest(struct visit *visit, msec_t limit)
{
	msec_t until = visit_now(visit) + limit;

	while (wait_once(visit, until))
		;
}

bool
visit_dismiss(struct visit *visit, msec_t limit)
{
	bool answered = true;

	if (visit->dialogue->farewell != NULL) {
		answered =
		    visit_wait(visit, visit_ask(visit, visit->dialogue->farewell, NULL), limit);
		visit->dismissed = real_now();
		send_call(visit, NULL, visit->dialogue->last, NULL);
	}
	return answered;
}

void
visit_close(struct visit *visit)
{
	msec_t now = visit_now(visit);

	while (visit->out.len > 0 && visit->ends[VISIT_TO] >= 0 && wait_once(visit, now + FLUSH))
		;
	stop(&visit->ends[VISIT_TO]);
	visit_rest(visit, VISIT_FOREVER);
	/* The guardian then ends the server. */
	if (visit->pid > 0) {
		kill(visit->pid, SIGKILL);
		waitpid(visit->pid, NULL, 0);
	}
}

void
visit_free(struct visit *visit)
{
	clear_line(visit);
	for (int i = 0; i < visit->count; i++)
		json_decref(visit->asked[i].answer), json_decref(visit->asked[i].report);
	for (int i = 0; i < VISIT_ENDS; i++) {
		stop(&visit->ends[i]);
		stop(&visit->theirs[i]);
		buf_free(&visit->in[i]);
	}
	json_decref(visit->decisions);
	buf_free(&visit->out);
}
