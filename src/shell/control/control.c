/*
 *   connections ─▶ control_turn: read ─▶ a line ─▶ THE METHODS ─▶ session, views ─▶ answer
 *   log taps (watch) ─▶ notifications ─▶ the connection's queue ─▶ control_watch: write
 */
#include "shell/control.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "shell/io.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	ACCEPTS = 32,       /* connections taken in one turn */
	ACCEPT_PAUSE = 250, /* ms, after there was no descriptor for a connection */
	ROOM = 32 << 10,    /* a connection with more to read is not read itself */
	REASON_MOST = 512,
};

struct fault {    /* a JSON-RPC error */
	int code; /* 0: none */
	char text[512];
};

__attribute__((format(printf, 3, 4))) static json_t *
refuse(struct fault *fault, int code, const char *format, ...)
{
	va_list values;

	fault->code = code;
	va_start(values, format);
	vsnprintf(fault->text, sizeof(fault->text), format, values);
	va_end(values);
	return NULL;
}

static json_t *
on_list(struct peer *peer, json_t *params, struct fault *fault)
{
	(void)fault;
	return views_list(peer->control, json_is_true(json_object_get(params, "requests")));
}

static json_t *
on_stats(struct peer *peer, json_t *params, struct fault *fault)
{
	(void)params;
	(void)fault;
	return views_stats(peer->control);
}

/* One call of cancel; texts that are not given are empty, or NULL for the id. */
struct order {
	const char *id, *from, *reason, *method, *name;
	json_int_t older;
	json_t *cancelled, *refused;
};

/* A cancel may have ended the request already, with another one. */
static void
cancel_one(struct control *control, enum side from, struct span id, struct order *order)
{
	static const char *const faults[] = {
		[OPERATOR_DONE] = NULL,
		[OPERATOR_NOT_FOUND] = "already completed",
		[OPERATOR_FORBIDDEN] = "it opens the session; a deadline ends both: cancelctl set --now",
	};
	struct request_view view;
	enum operator_result result;
	json_t *named;

	if (!session_find_request(control->session, from, id, &view))
		return;
	named = views_name(&view);
	result = session_cancel(control->session, from, id, span_of(order->reason), control->now);
	if (result != OPERATOR_DONE)
		json_object_set_new(named, "why", json_string(faults[result]));
	json_array_append_new(result == OPERATOR_DONE ? order->cancelled : order->refused, named);
}

/* A number or a string. jansson does not read some that a session takes, such as long numbers and lone surrogates. */
static bool
is_id(struct span text)
{
	size_t i = 0;

	if (text.len >= 2 && text.ptr[0] == '"')
		return text.ptr[text.len - 1] == '"';
	while (i < text.len && strchr("0123456789+-.eE", text.ptr[i]) != NULL)
		i++;
	return i > 0 && i == text.len;
}

static bool
asks_side(const struct order *order, enum side side)
{
	return *order->from == '\0' || strcmp(order->from, side_name(side)) == 0;
}

static void
cancel_id(struct control *control, struct order *order, struct fault *fault)
{
	struct span id = span_of(order->id);
	enum side found = SIDE_CLIENT;
	struct request_view view;
	int count = 0;

	if (!is_id(id)) {
		refuse(fault, -32602, "id: want the id as JSON text, such as \"7\" or \"\\\"7\\\"\"");
		return;
	}
	for (enum side from = SIDE_CLIENT; from <= SIDE_SERVER; from++)
		if (asks_side(order, from) && session_find_request(control->session, from, id, &view)) {
			found = from;
			count++;
		}
	if (count == 0)
		refuse(fault, CONTROL_NOT_FOUND, "not found or already completed");
	else if (count > 1)
		refuse(fault, -32602, "client and server both have a request with this id: want from");
	else
		cancel_one(control, found, id, order);
}

static bool
is_asked(const struct order *order, const struct request_view *view)
{
	const char *method = order->method, *name = order->name;

	if (!asks_side(order, view->from) || (view->exempt && *method == '\0'))
		return false;
	return view->age >= order->older && (*method == '\0' || policy_fits(method, view->method)) &&
	    (*name == '\0' || policy_fits(name, view->name));
}

/* A cancel may end other requests too: they are looked for anew after each one. true: more are left. */
static bool
cancel_all(struct control *control, struct order *order)
{
	struct {
		enum side from;
		size_t len;
	} chosen[CONTROL_CANCELS];
	struct request_view view;
	size_t count = 0, asked = 0, at = 0;
	struct buf ids;

	buf_init(&ids);
	for (enum side from = SIDE_CLIENT; from <= SIDE_SERVER; from++) {
		view.request = NULL;
		while (asked <= CONTROL_CANCELS && session_next_request(control->session, from, view.request, &view)) {
			if (!is_asked(order, &view) || asked++ == CONTROL_CANCELS)
				continue;
			chosen[count].from = from;
			chosen[count++].len = view.id.len;
			buf_append(&ids, view.id);
		}
	}
	for (size_t i = 0; i < count; at += chosen[i++].len)
		cancel_one(control, chosen[i].from, span_part(buf_span(&ids), at, chosen[i].len), order);
	buf_free(&ids);
	return asked > CONTROL_CANCELS;
}

static json_t *
on_cancel(struct peer *peer, json_t *params, struct fault *fault)
{
	struct order order = { .from = "", .reason = "", .method = "", .name = "", .older = -1 };
	json_t *result;

	if (peer->control->options->session.dry_run)
		return refuse(fault, CONTROL_REFUSED, "this is a dry run: nothing is cancelled");
	if (json_unpack(params, "{s?s,s?s,s?s,s?s,s?s,s?I}", "id", &order.id, "from", &order.from, "reason",
		&order.reason, "method", &order.method, "name", &order.name, "older_ms", &order.older) < 0)
		return refuse(fault, -32602, "want strings, and older_ms as a number of milliseconds");
	if (!asks_side(&order, SIDE_CLIENT) && !asks_side(&order, SIDE_SERVER))
		return refuse(fault, -32602, "from: want client or server");
	if (strlen(order.reason) > REASON_MOST)
		return refuse(fault, -32602, "reason: want at most %d bytes", REASON_MOST);
	if (order.id == NULL && order.older < 0 && *order.method == '\0' && *order.name == '\0')
		return refuse(fault, -32602, "want id, or one of older_ms, method and name");
	order.cancelled = json_array();
	order.refused = json_array();
	result = json_pack("{s:o,s:o}", "cancelled", order.cancelled, "refused", order.refused);
	if (order.id != NULL)
		cancel_id(peer->control, &order, fault);
	else if (cancel_all(peer->control, &order))
		json_object_set_new(result, "more", json_true());
	return result;
}

static json_t *
on_set(struct peer *peer, json_t *params, struct fault *fault)
{
	struct control *control = peer->control;
	const char *option = "", *rule = "";
	enum policy_clock which;
	struct policy scratch;
	size_t changed = 0;
	int in_flight = 0;

	if (json_unpack(params, "{s:s,s:s,s?b}", "option", &option, "rule", &rule, "now", &in_flight) < 0 ||
	    (strcmp(option, "timeout") != 0 && strcmp(option, "max-time") != 0))
		return refuse(fault, -32602, "want an option, timeout or max-time, and a rule");
	which = strcmp(option, "max-time") == 0 ? POLICY_CAP : POLICY_IDLE;
	policy_init(&scratch);
	if (!units_read_rule(span_of(rule), POLICY_SET, which, &scratch))
		refuse(fault, -32602, "rule: want [METHOD[:NAME]=]DURATION; a DURATION is " UNITS_DURATION);
	else if (!session_set(control->session, which, scratch.clock[which].rules, in_flight, control->now, &changed))
		refuse(fault, CONTROL_REFUSED, "%d rules were set already", LIMIT_RULES_SET);
	else
		log_event(control->log, WHY_OPERATOR_SET,
		    LOG_FIELDS(log_string("option", option), log_string("rule", rule),
			log_number("changed", (int64_t)changed)));
	policy_free(&scratch);
	return json_pack("{s:I}", "changed", (json_int_t)changed);
}

static bool
read_level(const json_t *params, enum why_level *level, struct fault *fault)
{
	const char *text = json_string_value(json_object_get(params, "level"));

	if (text != NULL && log_level_named(span_of(text), level))
		return true;
	refuse(fault, -32602, "level: want error, person, decision or traffic");
	return false;
}

static void
send_lost(struct peer *peer)
{
	char line[128];

	snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"method\":\"lost\",\"params\":{\"count\":%llu}}\n",
	    (unsigned long long)peer->lost);
	peer->lost = 0;
	buf_append(&peer->out, span_of(line));
}

/* An event of the log, for a connection that watches. */
static void
on_event(void *user, enum why why, struct span line)
{
	struct peer *peer = user;

	(void)why;
	if (peer->out.len + line.len > CONTROL_QUEUE || peer->closing) {
		peer->lost++;
		return;
	}
	if (peer->lost > 0)
		send_lost(peer);
	buf_append(&peer->out, SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"decision\",\"params\":"));
	buf_append(&peer->out, span_part(line, 0, line.len - 1));
	buf_append(&peer->out, SPAN("}\n"));
}

static json_t *
on_watch(struct peer *peer, json_t *params, struct fault *fault)
{
	enum why_level level = LEVEL_DECISION;

	if (json_object_get(params, "level") != NULL && !read_level(params, &level, fault))
		return NULL;
	if (!peer->watching) {
		peer->tap = (struct log_tap){ .hear = on_event, .user = peer };
		log_tap(peer->control->log, &peer->tap);
	}
	peer->watching = true;
	peer->tap.level = level;
	return json_object();
}

static json_t *
on_reload(struct peer *peer, json_t *params, struct fault *fault)
{
	struct control *control = peer->control;
	json_t *result = configfile_reload(control->file, control->options, control->log);

	(void)params;
	session_set_rules(control->session, &control->options->policy);
	if (result == NULL)
		refuse(fault, CONTROL_REFUSED, "%.*s", (int)control->file->fault.len, control->file->fault.data);
	return result;
}

static json_t *
on_log(struct peer *peer, json_t *params, struct fault *fault)
{
	enum why_level level;

	if (!read_level(params, &level, fault))
		return NULL;
	log_set_level(peer->control->log, level);
	return json_object();
}

/* THE METHODS. A handler returns the result, or refuses. */
static const struct {
	const char *name;
	json_t *(*handle)(struct peer *peer, json_t *params, struct fault *fault);
} methods[] = {
	{ "list", on_list },
	{ "cancel", on_cancel },
	{ "set", on_set },
	{ "stats", on_stats },
	{ "watch", on_watch },
	{ "reload", on_reload },
	{ "log", on_log },
};

static int
append_dumped(const char *bytes, size_t len, void *line)
{
	buf_append(line, (struct span){ bytes, len });
	return 0;
}

/* Takes the result. id NULL: unknown. */
static void
answer(struct peer *peer, json_t *id, json_t *result, const struct fault *fault)
{
	json_t *response = json_pack("{s:s,s:O?}", "jsonrpc", "2.0", "id", id);

	if (fault->code == 0)
		json_object_set(response, "result", result);
	else
		json_object_set_new(response, "error",
		    json_pack("{s:i,s:o}", "code", fault->code, "message",
			printable_json(span_of(fault->text), false)));
	json_decref(result);
	json_dump_callback(response, append_dumped, &peer->out, JSON_COMPACT | JSON_ENSURE_ASCII);
	buf_append(&peer->out, SPAN("\n"));
	json_decref(response);
}

static json_t *
carry_out(struct peer *peer, const char *method, json_t *params, struct fault *fault)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, method) == 0)
			return methods[i].handle(peer, params, fault);
	return refuse(fault, -32601, "there is no such method");
}

/* A request without an id is carried out and not answered. */
static void
on_line(struct peer *peer, struct span line)
{
	struct fault fault = { 0 };
	json_error_t error;
	json_t *message = json_loadb(line.ptr, line.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	json_t *id = json_object_get(message, "id"), *given = json_object_get(message, "params"), *result = NULL;
	json_t *params = given == NULL ? json_object() : json_incref(given);
	const char *method = json_string_value(json_object_get(message, "method"));
	bool valid = method != NULL && json_is_object(params) &&
	    (id == NULL || json_is_string(id) || json_is_number(id) || json_is_null(id));

	if (message == NULL)
		refuse(&fault, -32700, "%s", error.text);
	else if (!valid)
		refuse(&fault, -32600, "that is no JSON-RPC request with named parameters");
	else
		result = carry_out(peer, method, params, &fault);
	if (!valid || id != NULL)
		answer(peer, valid ? id : NULL, result, &fault);
	else
		json_decref(result);
	json_decref(params);
	json_decref(message);
}

static void
hang_up(struct peer *peer)
{
	struct control *control = peer->control;

	if (peer->watching)
		log_untap(control->log, &peer->tap);
	watcher_set(control->loop, &peer->readable, false);
	watcher_set(control->loop, &peer->writable, false);
	close(peer->fd);
	buf_free(&peer->in);
	buf_free(&peer->out);
	peer->fd = -1;
	control->open--;
}

/* Whether its next line may be taken: it has read its answers. */
static bool
has_room(const struct peer *peer)
{
	return !peer->closing && peer->out.len < ROOM;
}

static void
receive(struct peer *peer)
{
	ssize_t got;

	peer->ready = false;
	if (peer->ended || peer->in.len > CONTROL_LINE)
		return;
	got = recv(peer->fd, buf_space(&peer->in, CONTROL_LINE), CONTROL_LINE, MSG_DONTWAIT);
	if (got > 0) {
		buf_added(&peer->in, (size_t)got);
		peer->asks = true;
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		peer->ended = true;
	}
}

/* Takes and carries out the next line. false: there is no whole one. */
static bool
take_line(struct peer *peer)
{
	struct span in = buf_span(&peer->in);
	const char *newline = memchr(in.ptr, '\n', in.len);
	size_t len = newline == NULL ? in.len : (size_t)(newline - in.ptr);

	peer->asks = newline != NULL;
	if (len > CONTROL_LINE) {
		answer(peer, NULL, NULL, &(struct fault){ -32600, "the line is too long" });
		peer->closing = true;
	} else if (newline != NULL) {
		on_line(peer, span_part(in, 0, len));
		buf_consume(&peer->in, len + 1);
		return true;
	}
	return false;
}

static void
send_refusal(int fd, const char *text)
{
	char line[160];
	int len = snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":\"%s\"}}\n", CONTROL_REFUSED, text);

	if (send(fd, line, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		errno = 0; /* it has gone */
}

/* Whether the other end is this user's, or root's. */
static bool
is_permitted(int fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

static void
admit(struct control *control, int fd)
{
	struct peer *peer = control->peers;

	if (control->open == CONTROL_PEERS || !is_permitted(fd)) {
		send_refusal(fd, is_permitted(fd) ? "too many connections" : "another user's");
		close(fd);
		return;
	}
	while (peer->fd >= 0)
		peer++;
	*peer = (struct peer){ .control = control, .fd = fd, .ready = true };
	buf_init(&peer->in);
	buf_init(&peer->out);
	watcher_init(&peer->readable, fd, EV_READ, &peer->ready);
	watcher_init(&peer->writable, fd, EV_WRITE, NULL);
	control->open++;
}

static void
accept_all(struct control *control)
{
	int fd, i;

	control->called = false;
	control->accept_at = MSEC_NEVER;
	for (i = 0; i < ACCEPTS; i++) {
		fd = accept4(control->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			admit(control, fd);
		else if (errno == EAGAIN)
			return;
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			break;
	}
	/* Without a descriptor the listener would stay readable. */
	if (i < ACCEPTS)
		control->accept_at = control->now + ACCEPT_PAUSE;
}

/* Takes a line of each connection in turn, the next time from where the time was up. */
static void
take_lines(struct control *control)
{
	int lines = CONTROL_LINES, silent = 0;

	while (lines > 0 && silent < CONTROL_PEERS) {
		struct peer *peer = &control->peers[control->turn];

		control->turn = (control->turn + 1) % CONTROL_PEERS;
		silent++;
		if (peer->fd < 0 || !peer->asks || !has_room(peer))
			continue;
		session_set_time(control->session, control->now);
		if (!take_line(peer))
			continue;
		silent = 0;
		lines = monotonic_now() - control->now < CONTROL_TIME ? lines - 1 : 0;
	}
}

void
control_turn(struct control *control, msec_t now)
{
	control->now = now;
	if (control->called || now >= control->accept_at)
		accept_all(control);
	if (control->open == 0)
		return;
	for (int i = 0; i < CONTROL_PEERS; i++)
		if (control->peers[i].fd >= 0 && control->peers[i].ready && has_room(&control->peers[i]))
			receive(&control->peers[i]);
	take_lines(control);
}

static void
write_out(struct peer *peer)
{
	struct span out = buf_span(&peer->out);
	ssize_t put;

	if (out.len > 0) {
		put = send(peer->fd, out.ptr, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put > 0)
			buf_consume(&peer->out, (size_t)put);
		else if (put < 0 && errno != EAGAIN && errno != EINTR)
			peer->closing = true;
	}
	if (peer->lost > 0 && peer->out.len < ROOM)
		send_lost(peer);
	/* One that has closed its own end may still read its answers. */
	if (peer->closing || (peer->ended && peer->out.len == 0 && !peer->asks))
		hang_up(peer);
}

static void
write_all(struct control *control)
{
	for (int i = 0; i < CONTROL_PEERS && control->open > 0; i++)
		if (control->peers[i].fd >= 0)
			write_out(&control->peers[i]);
}

void
control_watch(struct control *control)
{
	write_all(control);
	control->pending = false;
	for (int i = 0; i < CONTROL_PEERS && control->open > 0; i++) {
		struct peer *peer = &control->peers[i];

		if (peer->fd < 0)
			continue;
		watcher_set(control->loop, &peer->readable, !peer->ended && has_room(peer));
		watcher_set(control->loop, &peer->writable, peer->out.len > 0);
		control->pending |= peer->asks && has_room(peer);
	}
	watcher_set(control->loop, &control->listener, control->accept_at == MSEC_NEVER);
}

msec_t
control_wake(const struct control *control, msec_t now)
{
	return control->pending ? now : control->accept_at;
}

void
control_open(struct control *control, struct options *options, struct configfile *file, struct log *log,
    struct session *session, const struct life *life, const struct client *client, struct ev_loop *loop, msec_t now)
{
	const char *at;
	int fd = -1;

	*control = (struct control){
		.options = options,
		.file = file,
		.log = log,
		.session = session,
		.life = life,
		.client = client,
		.loop = loop,
		.started = time(NULL),
		.started_at = now,
		.accept_at = MSEC_NEVER,
	};
	for (int i = 0; i < CONTROL_PEERS; i++)
		control->peers[i].fd = -1;
	if (!options->no_control)
		fd = place_listen(options->control[0] != '\0' ? options->control : NULL, control->path, &at);
	watcher_init(&control->listener, fd, EV_READ, &control->called);
	if (fd >= 0)
		return;
	control->path[0] = '\0';
	if (!options->no_control)
		log_event(log, WHY_CONTROL_REFUSED,
		    LOG_FIELDS(log_string("at", at),
			log_string("reason", errno == EADDRINUSE ? "another canceld uses it" : strerror(errno))));
}

/* Waits until a connection reads what it has not read yet. false: none has to, or the time is up. */
static bool
await_reader(const struct control *control, msec_t end)
{
	struct pollfd unread[CONTROL_PEERS];
	msec_t left = end - monotonic_now();
	nfds_t count = 0;

	for (int i = 0; i < CONTROL_PEERS; i++)
		if (control->peers[i].fd >= 0 && control->peers[i].out.len > 0)
			unread[count++] = (struct pollfd){ .fd = control->peers[i].fd, .events = POLLOUT };
	return count > 0 && left > 0 && (poll(unread, count, (int)left) > 0 || errno == EINTR);
}

void
control_close(struct control *control)
{
	msec_t end = monotonic_now() + CONTROL_LAST_WAIT;

	if (control->path[0] == '\0')
		return;
	do
		write_all(control);
	while (await_reader(control, end));
	/* Before the connections, so that their end tells that canceld's has come. */
	watcher_set(control->loop, &control->listener, false);
	close(control->listener.fd);
	place_remove_dead(control->path); /* by now another canceld may listen under this name */
	for (int i = 0; i < CONTROL_PEERS; i++)
		if (control->peers[i].fd >= 0)
			hang_up(&control->peers[i]);
	control->path[0] = '\0';
}
