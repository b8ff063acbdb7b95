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

#include "core/scan.h"
#include "shell/monotonic.h"
#include "shell/printable.h"
#include "shell/units.h"
#include "shell/watcher.h"

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

/* Text of a peer's, for an error. */
static const char *
text_of(const json_t *params, const char *key)
{
	const char *text = json_string_value(json_object_get(params, key));

	return text == NULL ? "" : text;
}

static json_t *
on_list(struct peer *peer, json_t *params, struct fault *fault)
{
	(void)fault;
	return views_list(&peer->control->views, json_is_true(json_object_get(params, "requests")));
}

static json_t *
on_stats(struct peer *peer, json_t *params, struct fault *fault)
{
	(void)params;
	(void)fault;
	return views_stats(&peer->control->views);
}

/* What one call of cancel does. */
struct order {
	json_t *cancelled, *refused;
	struct span reason;
};

static struct feed *
feed_of(const struct control *control)
{
	return control->views.client->port->feed;
}

static void
cancel_one(struct control *control, const struct request_view *view, struct order *order)
{
	static const char *const faults[] = {
		[OPERATOR_DONE] = NULL,
		[OPERATOR_NOT_FOUND] = "already completed",
		[OPERATOR_PASSING] = "its answer is already going out",
		[OPERATOR_FORBIDDEN] = "it opens the session; a deadline ends both: cancelctl set --now",
	};
	enum side from = view->from;
	json_t *named = views_name(view);
	enum operator_result result;
	struct buf id;

	/* The view's spans die with the call. */
	buf_init(&id);
	buf_append(&id, view->id);
	result = feed_cancel(feed_of(control), from, buf_span(&id), order->reason, control->views.now);
	if (result != OPERATOR_DONE)
		json_object_set_new(named, "why", json_string(faults[result]));
	json_array_append_new(result == OPERATOR_DONE ? order->cancelled : order->refused, named);
	buf_free(&id);
}

/* A number or a string, and nothing else: also what jansson does not read, such as long numbers and lone surrogates. */
static bool
is_id(struct span text)
{
	struct scan *scan = scan_new(SCAN_END_EXPLICIT);
	bool fits;

	scan_feed(scan, text.ptr, text.len);
	scan_finish(scan);
	fits = !scan_failed(scan) && (scan_type(scan) == VALUE_NUMBER || scan_type(scan) == VALUE_STRING) &&
	    scan_value_start(scan) == 0 && scan_value_end(scan) == text.len;
	scan_free(scan);
	return fits;
}

static bool
asks_side(const json_t *params, enum side side)
{
	const char *from = text_of(params, "from");

	return *from == '\0' || strcmp(from, side_name(side)) == 0;
}

static json_t *
cancel_id(struct control *control, json_t *params, struct order *order, struct fault *fault)
{
	struct span id = span_of(text_of(params, "id"));
	struct request_view found[2];
	int count = 0;

	if (!is_id(id))
		return refuse(fault, -32602, "id: want the id as JSON text, such as \"7\" or \"\\\"7\\\"\"");
	for (enum side from = SIDE_CLIENT; from <= SIDE_SERVER; from++)
		count +=
		    asks_side(params, from) && session_find_request(control->views.session, from, id, &found[count]);
	if (count == 0)
		return refuse(fault, CONTROL_NOT_FOUND, "not found or already completed");
	if (count > 1)
		return refuse(fault, -32602, "client and server both have a request with this id: want from");
	cancel_one(control, &found[0], order);
	return NULL;
}

static bool
is_asked(const json_t *params, const struct request_view *view)
{
	const json_t *older = json_object_get(params, "older_ms");
	const char *method = text_of(params, "method"), *name = text_of(params, "name");

	if (!asks_side(params, view->from) || (view->exempt && *method == '\0'))
		return false;
	return (older == NULL || view->age >= json_integer_value(older)) &&
	    (*method == '\0' || policy_fits(method, view->method)) && (*name == '\0' || policy_fits(name, view->name));
}

/* A cancel may end other requests too: they are looked for anew after each one. true: more are left. */
static bool
cancel_all(struct control *control, json_t *params, struct order *order)
{
	const struct session *session = control->views.session;
	struct request_view chosen[CONTROL_CANCELS];
	bool more = false;
	size_t count = 0;
	struct buf ids;

	buf_init(&ids);
	for (enum side from = SIDE_CLIENT; from <= SIDE_SERVER; from++) {
		struct request_view view = { 0 };

		while (!more && session_next_request(session, from, view.request, &view)) {
			if (!is_asked(params, &view))
				continue;
			more = count == CONTROL_CANCELS;
			if (more)
				continue;
			chosen[count] = view;
			buf_append(&ids, view.id);
			chosen[count++].id.ptr = NULL;
		}
	}
	for (size_t i = 0, at = 0; i < count; i++) {
		struct span id = span_part(buf_span(&ids), at, chosen[i].id.len);
		struct request_view view;

		at += id.len;
		if (session_find_request(session, chosen[i].from, id, &view))
			cancel_one(control, &view, order);
	}
	buf_free(&ids);
	return more;
}

static json_t *
on_cancel(struct peer *peer, json_t *params, struct fault *fault)
{
	const char *const keys[] = { "id", "from", "reason", "method", "name" };
	const char *from = text_of(params, "from"), *reason = text_of(params, "reason");
	const json_t *older = json_object_get(params, "older_ms");
	struct order order = { json_array(), json_array(), span_of(reason) };
	json_t *result;
	bool more = false;

	if (peer->control->options->session.dry_run)
		refuse(fault, CONTROL_REFUSED, "this is a dry run: nothing is cancelled");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *value = json_object_get(params, keys[i]);

		if (value != NULL && !json_is_string(value))
			refuse(fault, -32602, "%s: want a string", keys[i]);
	}
	if (older != NULL && (!json_is_integer(older) || json_integer_value(older) < 0))
		refuse(fault, -32602, "older_ms: want a number of milliseconds");
	if (*from != '\0' && !asks_side(params, SIDE_CLIENT) && !asks_side(params, SIDE_SERVER))
		refuse(fault, -32602, "from: want client or server");
	if (order.reason.len > REASON_MOST)
		refuse(fault, -32602, "reason: want at most %d bytes", REASON_MOST);
	if (fault->code == 0 && json_object_get(params, "id") != NULL)
		cancel_id(peer->control, params, &order, fault);
	else if (fault->code == 0 && older == NULL && *text_of(params, "method") == '\0' &&
	    *text_of(params, "name") == '\0')
		refuse(fault, -32602, "want id, or one of older_ms, method and name");
	else if (fault->code == 0)
		more = cancel_all(peer->control, params, &order);
	result = json_pack("{s:o, s:o}", "cancelled", order.cancelled, "refused", order.refused);
	if (more)
		json_object_set_new(result, "more", json_true());
	return result;
}

static json_t *
on_set(struct peer *peer, json_t *params, struct fault *fault)
{
	struct control *control = peer->control;
	const char *option = text_of(params, "option"), *rule = text_of(params, "rule");
	enum policy_clock which = strcmp(option, "max-time") == 0 ? POLICY_CAP : POLICY_IDLE;
	bool in_flight = json_is_true(json_object_get(params, "now"));
	struct policy scratch;
	size_t changed = 0;

	if (strcmp(option, "timeout") != 0 && strcmp(option, "max-time") != 0)
		return refuse(fault, -32602, "option: want timeout or max-time");
	policy_init(&scratch);
	if (!units_read_rule(span_of(rule), POLICY_SET, which, &scratch)) {
		refuse(fault, -32602, "rule: want [METHOD[:NAME]=]DURATION; a DURATION is " UNITS_DURATION);
	} else if (!feed_set(feed_of(control), which, scratch.clock[which].rules, in_flight, control->views.now,
		       &changed)) {
		refuse(fault, CONTROL_REFUSED, "%d rules were set already", LIMIT_RULES_SET);
	} else {
		log_event(control->log, WHY_OPERATOR_SET,
		    LOG_FIELDS(log_string("option", option), log_string("rule", rule),
			log_number("changed", (int64_t)changed)));
	}
	policy_free(&scratch);
	return json_pack("{s:I}", "changed", (json_int_t)changed);
}

/* The level that is asked for; otherwise if none is. false: it is none. */
static bool
read_level(const json_t *params, enum why_level otherwise, enum why_level *level, struct fault *fault)
{
	*level = otherwise;
	if (json_object_get(params, "level") == NULL || log_level_named(span_of(text_of(params, "level")), level))
		return true;
	refuse(fault, -32602, "level: want error, person, decision or traffic");
	return false;
}

static void
send_text(struct peer *peer, struct span text)
{
	buf_append(&peer->out, text);
}

static void
send_lost(struct peer *peer)
{
	char line[128];

	snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"method\":\"lost\",\"params\":{\"count\":%llu}}\n",
	    (unsigned long long)peer->lost);
	peer->lost = 0;
	send_text(peer, span_of(line));
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
	send_text(peer, SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"decision\",\"params\":"));
	send_text(peer, span_part(line, 0, line.len - 1));
	send_text(peer, SPAN("}\n"));
}

static json_t *
on_watch(struct peer *peer, json_t *params, struct fault *fault)
{
	enum why_level level;

	if (!read_level(params, LEVEL_DECISION, &level, fault))
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
	feed_rules(feed_of(control), &control->options->policy, control->views.now);
	return result != NULL ?
	    result :
	    refuse(fault, CONTROL_REFUSED, "%.*s", (int)control->file->fault.len, buf_span(&control->file->fault).ptr);
}

static json_t *
on_log(struct peer *peer, json_t *params, struct fault *fault)
{
	enum why_level level;

	if (json_object_get(params, "level") == NULL)
		return refuse(fault, -32602, "level: want error, person, decision or traffic");
	if (!read_level(params, LEVEL_PERSON, &level, fault))
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
	json_t *response = json_object();

	json_object_set_new(response, "jsonrpc", json_string("2.0"));
	json_object_set_new(response, "id", id == NULL ? json_null() : json_incref(id));
	if (fault->code == 0) {
		json_object_set(response, "result", result);
	} else {
		json_t *error = json_object();

		json_object_set_new(error, "code", json_integer(fault->code));
		json_object_set_new(error, "message", printable_json(span_of(fault->text), false));
		json_object_set_new(response, "error", error);
	}
	json_decref(result);
	json_dump_callback(response, append_dumped, &peer->out, JSON_COMPACT | JSON_ENSURE_ASCII);
	send_text(peer, SPAN("\n"));
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
	json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params"), *result = NULL;
	const char *method = json_string_value(json_object_get(message, "method"));
	bool valid = method != NULL && (params == NULL || json_is_object(params)) &&
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
	json_decref(message);
}

static void
hang_up(struct peer *peer)
{
	if (peer->watching)
		log_untap(peer->control->log, &peer->tap);
	watcher_set(peer->control->loop, &peer->readable, false);
	watcher_set(peer->control->loop, &peer->writable, false);
	close(peer->fd);
	buf_free(&peer->in);
	buf_free(&peer->out);
	*peer = (struct peer){ .control = peer->control, .fd = -1 };
}

static void
receive(struct peer *peer)
{
	ssize_t got;

	peer->ready = false;
	if (peer->ended || peer->in.len > CONTROL_LINE)
		return;
	got = recv(peer->fd, buf_space(&peer->in, CONTROL_LINE), CONTROL_LINE, MSG_DONTWAIT);
	if (got > 0)
		buf_added(&peer->in, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		peer->ended = true;
}

/* Takes and carries out the next line. false: there is no whole one. */
static bool
take_line(struct peer *peer)
{
	struct span in = buf_span(&peer->in);
	const char *newline =
	    in.len > peer->searched ? memchr(in.ptr + peer->searched, '\n', in.len - peer->searched) : NULL;
	size_t len = newline == NULL ? in.len : (size_t)(newline - in.ptr);

	if (len > CONTROL_LINE) {
		answer(peer, NULL, NULL, &(struct fault){ -32600, "the line is too long" });
		peer->closing = true;
		return false;
	}
	if (newline == NULL) {
		peer->searched = in.len;
		return false;
	}
	peer->searched = 0;
	on_line(peer, span_part(in, 0, len));
	buf_consume(&peer->in, len + 1);
	return true;
}

/* Whether its next line may be taken: it has read its answers. */
static bool
has_room(const struct peer *peer)
{
	return !peer->closing && peer->out.len < ROOM;
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

	while (peer < control->peers + CONTROL_PEERS && peer->fd >= 0)
		peer++;
	if (peer == control->peers + CONTROL_PEERS || !is_permitted(fd)) {
		send_refusal(fd, is_permitted(fd) ? "too many connections" : "another user's");
		close(fd);
		return;
	}
	*peer = (struct peer){ .control = control, .fd = fd, .ready = true };
	buf_init(&peer->in);
	buf_init(&peer->out);
	watcher_init(&peer->readable, fd, EV_READ, &peer->ready);
	watcher_init(&peer->writable, fd, EV_WRITE, NULL);
}

static void
accept_all(struct control *control, msec_t now)
{
	int fd, i;

	if (!control->called && now < control->accept_at)
		return;
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
		control->accept_at = now + ACCEPT_PAUSE;
}

/* Whether it may have a line that may be taken now. */
static bool
asks(const struct peer *peer)
{
	return peer->fd >= 0 && peer->in.len > peer->searched && has_room(peer);
}

void
control_turn(struct control *control, msec_t now)
{
	int lines = CONTROL_LINES, silent = 0;

	if (control->path[0] == '\0')
		return;
	control->views.now = now;
	accept_all(control, now);
	for (int i = 0; i < CONTROL_PEERS; i++)
		if (control->peers[i].fd >= 0 && control->peers[i].ready && has_room(&control->peers[i]))
			receive(&control->peers[i]);
	/* A line of each in turn, the next time from where the time was up. */
	while (lines > 0 && silent < CONTROL_PEERS) {
		struct peer *peer = &control->peers[control->turn];

		control->turn = (control->turn + 1) % CONTROL_PEERS;
		silent++;
		if (!asks(peer))
			continue;
		feed_set_time(feed_of(control), now);
		if (!take_line(peer))
			continue;
		silent = 0;
		lines = monotonic_now() - now < CONTROL_TIME ? lines - 1 : 0;
	}
	control->pending = lines == 0;
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
	if (peer->closing || (peer->ended && peer->out.len == 0 && peer->in.len <= peer->searched))
		hang_up(peer);
}

static void
write_all(struct control *control)
{
	for (int i = 0; i < CONTROL_PEERS; i++)
		if (control->peers[i].fd >= 0)
			write_out(&control->peers[i]);
}

void
control_watch(struct control *control)
{
	if (control->path[0] == '\0')
		return;
	write_all(control);
	for (int i = 0; i < CONTROL_PEERS; i++) {
		struct peer *peer = &control->peers[i];

		if (peer->fd < 0)
			continue;
		watcher_set(control->loop, &peer->readable, !peer->ended && has_room(peer));
		watcher_set(control->loop, &peer->writable, peer->out.len > 0);
		control->pending |= asks(peer);
	}
	watcher_set(control->loop, &control->listener, control->accept_at == MSEC_NEVER);
}

msec_t
control_wake(const struct control *control, msec_t now)
{
	return control->pending ? now : control->accept_at;
}

void
control_open(struct control *control, struct options *options, struct configfile *file, struct log *log)
{
	const char *at;
	int fd;

	*control = (struct control){ .options = options, .file = file, .log = log, .accept_at = MSEC_NEVER };
	for (int i = 0; i < CONTROL_PEERS; i++)
		control->peers[i].fd = -1;
	if (options->no_control)
		return;
	fd = place_listen(options->control[0] != '\0' ? options->control : NULL, control->path, &at);
	watcher_init(&control->listener, fd, EV_READ, &control->called);
	if (fd >= 0)
		return;
	log_event(log, WHY_CONTROL_REFUSED,
	    LOG_FIELDS(log_string("at", at),
		log_string("reason", errno == EADDRINUSE ? "another canceld uses it" : strerror(errno))));
	control->path[0] = '\0';
}

void
control_start(struct control *control, struct session *session, const struct life *life, const struct client *client,
    struct ev_loop *loop, msec_t now)
{
	control->views = (struct views){
		.options = control->options,
		.session = session,
		.life = life,
		.client = client,
		.started = time(NULL),
		.started_at = now,
		.now = now,
	};
	control->loop = loop;
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
