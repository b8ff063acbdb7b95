/*
 *   connections ─▶ control_round: read ─▶ a line ─▶ THE METHODS ─▶ session, views ─▶ answer
 *   the log (watch)  ─▶ notifications ─▶ the connection's queue ─▶ control_watch: write
 */
#include "shell/control.h"

#include <stdarg.h>

#include "core/compose.h"

enum {
	ACCEPT_PAUSE = 250, /* ms, after there was no descriptor for a connection */
	REST = 9, /* so many times as long as a call is the rest behind it, but for REST_MOST */
	REST_MOST = 250, /* ms; the next one is answered before its sender gives up */
	ROOM = 32 << 10, /* a connection that has more answers to read is not read itself */
	REASON_MOST = 512,
};

struct peer { /* a connection */
	struct control *control;
	struct descriptor socket;
	bool closing;  /* it is to be closed even if it does not read its last answer */
	int level;     /* of the events that it wants, enum why_level; -1: none */
	uint64_t lost; /* notifications lost since the last one that was sent */
	struct buf in, out;
	bool full;   /* nothing can be written until the socket is ready */
	size_t line; /* the length of the next line in `in`, with its newline; 0: it is not whole */
};

#define each_peer(peer, control) \
	/* NOLINTNEXTLINE: it declares */ \
	for (struct peer **at_ = (control)->peers, *peer; \
	     at_ < (control)->peers + (control)->count && ((peer) = *at_) != NULL; at_++)

struct call { /* of a method */
	struct control *control;
	struct peer *peer;
	json_t *params, *id; /* id: NULL: unknown */
	bool silent;         /* it is not answered */
};

/* key: "result" or "error"; takes the value. */
static void
answer(const struct call *call, const char *key, json_t *value)
{
	json_auto_t *response =
	    json_pack("{s:s,s:O?,s:o}", "jsonrpc", "2.0", "id", call->id, key, value);
	char *text = json_dumps(response, JSON_COMPACT);

	if (!call->silent) {
		printable_append_json(&call->peer->out, span_of(text), false);
		compose_text(&call->peer->out, "\n");
	}
	free(text);
}

/* Answers with an error. Returns NULL, for the handler to return. */
__attribute__((format(printf, 3, 4))) static json_t *
refuse(const struct call *call, int code, const char *format, ...)
{
	char text[OPTIONS_PATH + OPTIONS_FAULT];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	answer(call, "error",
	    json_pack("{s:i,s:o}", "code", code, "message", printable_json(span_of(text))));
	return NULL;
}

static json_t *
on_list(struct call *call)
{
	return views_list(call->control, json_is_true(json_object_get(call->params, "requests")));
}

static json_t *
on_stats(struct call *call)
{
	return views_stats(call->control);
}

/* The parameters of one call of cancel; NULL: not given. */
struct order {
	struct span id; /* as JSON */
	const char *from, *method, *name;
	json_int_t older, serial;
	bool numbered; /* serial is given */
};

static bool
asks_side(const struct order *order, enum side side)
{
	return order->from == NULL || text_is(order->from, side_name(side));
}

static bool
is_asked(const struct order *order, const struct request_view *view)
{
	const struct request *request = view->request;

	if (order->id.ptr != NULL || order->numbered)
		return (order->id.ptr == NULL || id_equal(order->id, request->id.text)) &&
		    (!order->numbered || request->serial == (uint64_t)order->serial);
	/* A request that is cancelled already keeps its grace. */
	return view->age >= order->older && view->state != REQUEST_CANCELLING &&
	    (order->method == NULL ? !view->exempt : policy_fits(order->method, request->method)) &&
	    (order->name == NULL || policy_fits(order->name, request->name));
}

/*
 * Lists the requests that the order means: at most one more than can be cancelled at once, which
 * shows that there are more.
 */
static void
choose(const struct session *session, const struct order *order, json_t *chosen)
{
	each_side (from) {
		struct request_view view = { 0 };

		while (asks_side(order, from) && json_array_size(chosen) <= CONTROL_CANCELS &&
		    session_next_request(session, from, view.request, &view))
			if (is_asked(order, &view))
				json_array_append_new(chosen, views_name(&view));
	}
}

/* Chooses by an id as a person writes it: 7 means the string "7" if no request has the number. */
static void
choose_written(const struct session *session, struct order *order, const char *id, json_t *chosen)
{
	BUF_AUTO string = { 0 };

	compose_json(&string, "\"%s\"", id);
	order->id = span_of(id);
	choose(session, order, chosen);
	order->id = buf_span(&string);
	if (json_array_size(chosen) == 0)
		choose(session, order, chosen);
}

/*
 * Cancels the chosen requests. If one cancel also ends another of them, that one is in neither list
 * of the result.
 */
static json_t *
cancel_chosen(struct control *control, json_t *chosen, const char *reason)
{
	static const char fault[] =
	    "it opens the session; a deadline ends both: cancelctl set --now";
	json_t *cancelled = json_array(), *refused = json_array(), *named;
	size_t i;

	json_array_foreach (chosen, i, named) {
		struct span id = span_of(json_string_value(json_object_get(named, "id")));
		const char *name = json_string_value(json_object_get(named, "from"));
		enum side from = text_is(name, side_name(SIDE_CLIENT)) ? SIDE_CLIENT : SIDE_SERVER;
		uint64_t serial = (uint64_t)json_integer_value(json_object_get(named, "serial"));
		enum cancelling outcome = i == CONTROL_CANCELS ?
		    CANCELLING_NONE :
		    session_cancel(control->session, from, id, serial, span_of(reason));

		if (outcome == CANCELLING_REFUSED)
			json_object_set_new(named, "why", json_string(fault));
		if (outcome != CANCELLING_NONE)
			json_array_append(outcome == CANCELLING_DONE ? cancelled : refused, named);
	}
	return json_pack("{s:o,s:o,s:o*}", "cancelled", cancelled, "refused", refused, "more",
	    json_array_size(chosen) > CONTROL_CANCELS ? json_true() : NULL);
}

static json_t *
on_cancel(struct call *call)
{
	struct control *control = call->control;
	struct order order = { .older = -1 };
	const char *id = NULL, *reason = "";
	json_auto_t *chosen = json_array();
	bool one;

	if (control->options->session.dry_run)
		return refuse(call, CONTROL_REFUSED, "this is a dry run: nothing is cancelled");
	if (json_unpack(call->params, "{s?s,s?I,s?s,s?s,s?s,s?s,s?I}", "id", &id, "serial",
		&order.serial, "from", &order.from, "reason", &reason, "method", &order.method,
		"name", &order.name, "older_ms", &order.older) < 0)
		return refuse(call, CONTROL_BAD_PARAMS,
		    "want strings, serial as a number, and older_ms as milliseconds");
	if (!asks_side(&order, SIDE_CLIENT) && !asks_side(&order, SIDE_SERVER))
		return refuse(call, CONTROL_BAD_PARAMS, "from: want client or server");
	if (!policy_allows(span_of(order.method)) || !policy_allows(span_of(order.name)))
		return refuse(call, CONTROL_BAD_PARAMS, POLICY_PATTERN);
	if (strlen(reason) > REASON_MOST)
		return refuse(call, CONTROL_BAD_PARAMS, "reason: want at most %d bytes",
		    REASON_MOST);
	order.numbered = json_object_get(call->params, "serial") != NULL;
	one = id != NULL || order.numbered;
	if (!one && order.older < 0 && order.method == NULL && order.name == NULL)
		return refuse(call, CONTROL_BAD_PARAMS,
		    "want id or serial, or one of older_ms, method and name");
	if (id != NULL)
		choose_written(control->session, &order, id, chosen);
	else
		choose(control->session, &order, chosen);
	if (one && json_array_size(chosen) == 0)
		return refuse(call, CONTROL_NOT_FOUND,
		    "request %.200s not found or already completed",
		    id != NULL ? id : "of this serial");
	if (one && json_array_size(chosen) > 1)
		return refuse(call, CONTROL_BAD_PARAMS,
		    "client and server both have a request with this id: want from");
	return cancel_chosen(control, chosen, reason);
}

static json_t *
on_set(struct call *call)
{
	struct control *control = call->control;
	const char *option = "", *rule = "", *origin;
	const struct options_row *row;
	struct options scratch = { .origins = control->options->origins };
	json_t *meant;
	size_t changed = 0;
	int in_flight = 0, unset = 0;
	bool done;

	if (json_object_size(call->params) == 0)
		return views_rules(&control->options->policy);
	if (json_unpack(call->params, "{s:s,s:s,s?b,s?b}", "option", &option, "rule", &rule, "now",
		&in_flight, "unset", &unset) < 0)
		option = "";
	row = options_key(option);
	if (row == NULL || row->traits != OPTION_DEADLINE)
		return refuse(call, CONTROL_BAD_PARAMS,
		    "want an option, timeout or max-time, and a rule");
	if (!options_check(scratch.fault, row, rule))
		return refuse(call, CONTROL_BAD_PARAMS, "%s", scratch.fault);
	options_set(&scratch, row, POLICY_SET, rule);
	if (unset)
		scratch.policy.rules->value = POLICY_UNSET;
	done = session_set(control->session, scratch.policy.rules, in_flight, &changed);
	origin = scratch.policy.rules->origin;
	meant = done && !unset ? views_meant(control, scratch.policy.rules) : NULL;
	policy_free(&scratch.policy);
	if (!done && unset)
		return refuse(call, CONTROL_NOT_FOUND, "no such rule was set");
	if (!done)
		return refuse(call, CONTROL_REFUSED, "%d rules were set already", LIMIT_RULES_SET);
	log_event(control->log, WHY_OPERATOR_SET, log_string("option", option),
	    log_string(unset ? "unset" : "rule", origin), log_number("changed", changed));
	return json_pack("{s:I,s:o*}", "changed", (json_int_t)changed, "meant", meant);
}

/* Reads the parameter level. name: the default, or NULL. false: it was refused. */
static bool
read_level(struct call *call, const char *name, enum why_level *level)
{
	if (json_unpack(call->params, "{s?s}", "level", &name) == 0 &&
	    log_level_named(span_of(name), level))
		return true;
	refuse(call, CONTROL_BAD_PARAMS, "level: want error, notice, decision or traffic");
	return false;
}

/*
 * Sends an event to the connections that watch. After a loss a connection gets no more events until
 * it has read its queue: see send_out.
 */
static void
on_event(void *user, enum why why, const struct log_field *fields, size_t count)
{
	struct control *control = user;
	BUF_AUTO line = { 0 };

	each_peer (peer, control) {
		if ((int)why_level(why) > peer->level)
			continue;
		if (peer->lost > 0 || peer->out.len >= CONTROL_QUEUE) {
			peer->lost++;
			continue;
		}
		if (line.len == 0) {
			compose_json(&line,
			    "{\"jsonrpc\":\"2.0\",\"method\":\"decision\",\"params\":");
			log_append_line(&line, control->log, true, why, fields, count);
			line.len--; /* its newline */
			compose_json(&line, "}\n");
		}
		buf_append(&peer->out, buf_span(&line));
	}
}

/* Tells the log up to which level the connections want events. */
static void
listen_to_log(struct control *control)
{
	control->log->hear_level = LEVEL_ERROR;
	each_peer (peer, control)
		if (peer->level > (int)control->log->hear_level)
			control->log->hear_level = (enum why_level)peer->level;
}

static json_t *
on_watch(struct call *call)
{
	enum why_level level;

	if (!read_level(call, "decision", &level))
		return NULL;
	call->peer->level = (int)level;
	listen_to_log(call->control);
	return json_object();
}

static json_t *
on_log(struct call *call)
{
	struct span tail = buf_span(&call->control->log->tail);
	json_t *lines;

	if (json_object_size(call->params) == 0) {
		lines = json_array();
		for (struct span line; (line = span_until(tail, "\n")).len > 0;
		     tail = span_from(tail, line.len + 1))
			json_array_append_new(lines,
			    json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL));
		return json_pack("{s:o}", "lines", lines);
	}
	return read_level(call, NULL, &call->control->log->config.level) ? json_object() : NULL;
}

/* The result of a method that may be refused. obstacle: the reason; NULL: it was done. */
static json_t *
done_unless(struct call *call, const char *obstacle)
{
	return obstacle == NULL ? json_object() : refuse(call, CONTROL_REFUSED, "%s", obstacle);
}

static json_t *
on_ping(struct call *call)
{
	return done_unless(call, session_ping(call->control->session));
}

static json_t *
on_restart(struct call *call)
{
	bool force = json_is_true(json_object_get(call->params, "force"));
	const char *obstacle = force ? NULL : starter_obstacle();

	if (obstacle == NULL)
		obstacle = session_restart(call->control->session, force);
	return done_unless(call, obstacle);
}

static json_t *
on_reload(struct call *call)
{
	struct control *control = call->control;
	json_t *result = configfile_reload(control->options, control->log);

	if (result == NULL)
		refuse(call, CONTROL_REFUSED,
		    "%s: %s; what was in force stays, until the file says otherwise, {} for nothing",
		    control->options->config,
		    json_string_value(json_array_get(control->options->file.faults, 0)));
	else
		json_object_set_new(result, "doubted", views_doubts(control));
	return result;
}

/* THE METHODS. A handler returns the result, or NULL after refuse. */
static const struct {
	const char *name;
	json_t *(*handle)(struct call *call);
	const char *params; /* the names, each with a blank on both sides */
} methods[] = {
	{ "list", on_list, " requests " },
	{ "cancel", on_cancel, " id serial from reason method name older_ms " },
	{ "set", on_set, " option rule now unset " },
	{ "stats", on_stats, " " },
	{ "watch", on_watch, " level " },
	{ "ping", on_ping, " " },
	{ "restart", on_restart, " force " },
	{ "reload", on_reload, " " },
	{ "log", on_log, " level " },
};

static json_t *
carry_out(struct call *call, const char *method)
{
	const char *key;
	json_t *value;

	each_of (it, methods) {
		if (!text_is(it->name, method))
			continue;
		/* A mistyped filter must not widen what is cancelled. */
		json_object_foreach (call->params, key, value) {
			if (!span_is_any(span_of(key), it->params))
				return refuse(call, CONTROL_BAD_PARAMS,
				    "%s: there is no such parameter; %s takes:%s", key, method,
				    it->params);
		}
		return it->handle(call);
	}
	return refuse(call, -32601, "there is no such method");
}

/* A request without an id is carried out and not answered. */
static void
on_line(struct peer *peer, struct span line)
{
	json_error_t error;
	json_auto_t *message =
	    json_loadb(line.ptr, line.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	json_auto_t *none = json_object();
	json_t *id = NULL, *result = NULL;
	struct call call = { .control = peer->control, .peer = peer, .params = none };
	const char *method;

	if (message == NULL) {
		refuse(&call, -32700, "%s", error.text);
	} else if (json_unpack(message, "{s?o,s:s,s?o}", "id", &id, "method", &method, "params",
		       &call.params) < 0 ||
	    !json_is_object(call.params) || json_is_object(id) || json_is_array(id) ||
	    json_is_boolean(id)) {
		refuse(&call, -32600, "that is no JSON-RPC request with named parameters");
	} else {
		call.id = id;
		call.silent = id == NULL;
		result = carry_out(&call, method);
	}
	if (result != NULL)
		answer(&call, "result", result);
}

/* A line that is too long is answered, and ends the connection. */
static void
find_line(struct peer *peer)
{
	struct span in = buf_span(&peer->in);
	size_t len = span_until(in, "\n").len;

	peer->line = len < in.len ? len + 1 : 0;
	if (len > CONTROL_LINE) {
		refuse(&(struct call){ .peer = peer }, -32600, "the line is too long");
		peer->closing = true;
	}
}

/* Whether the connection's next line may be taken: not while its answers are not read. */
static bool
has_room(const struct peer *peer)
{
	return !peer->closing && peer->out.len < ROOM;
}

static bool
may_read(const struct peer *peer)
{
	return !peer->socket.ended && peer->line == 0 && has_room(peer);
}

static void
receive(struct peer *peer)
{
	ssize_t got =
	    descriptor_read(&peer->socket, buf_space(&peer->in, CONTROL_LINE), CONTROL_LINE);

	buf_added(&peer->in, got > 0 ? (size_t)got : 0);
	find_line(peer);
}

static void
send_out(struct peer *peer)
{
	struct span out = buf_span(&peer->out);
	ssize_t put = out.len == 0 || (peer->full && !peer->socket.ready) ?
	    0 :
	    descriptor_write(&peer->socket, &out, 1);

	peer->full = put < (ssize_t)out.len;
	if (put > 0)
		buf_consume(&peer->out, (size_t)put);
	if (peer->lost == 0 || peer->out.len >= ROOM)
		return;
	compose_json(&peer->out,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"lost\",\"params\":{\"count\":%d}}\n",
	    (int64_t)peer->lost);
	peer->lost = 0;
}

static void
hang_up(struct control *control, int i)
{
	struct peer *peer = control->peers[i];

	descriptor_close(&peer->socket);
	buf_free(&peer->in);
	buf_free(&peer->out);
	free(peer);
	control->peers[i] = control->peers[--control->count];
	listen_to_log(control);
}

/*
 * Accepts a connection. If there is no descriptor for it, the listener, which stays readable, is
 * not watched for a while.
 */
static void
accept_one(struct control *control)
{
	int fd = system_accept(control->listener.fd);
	struct peer *peer;

	control->listener.ready = false;
	control->accept_at = fd < 0 ? control->now + ACCEPT_PAUSE : MSEC_NEVER;
	if (fd < 0)
		return;
	peer = mem_new(sizeof(*peer));
	*peer = (struct peer){ .control = control, .level = -1 };
	descriptor_init(&peer->socket, fd, true);
	control->peers[control->count++] = peer;
	if (control->count <= CONTROL_PEERS)
		return;
	refuse(&(struct call){ .peer = peer }, CONTROL_REFUSED, "too many connections");
	peer->closing = true;
}

/* Carries out one line; the connections take turns. */
static void
take_line(struct control *control)
{
	msec_t begun = monotonic_now(), ended;

	for (int i = 0; i < control->count; i++) {
		struct peer *peer = control->peers[control->next++ % (unsigned)control->count];

		if (peer->line == 0 || !has_room(peer))
			continue;
		on_line(peer, span_head(buf_span(&peer->in), peer->line - 1));
		buf_consume(&peer->in, peer->line);
		find_line(peer);
		ended = monotonic_now();
		control->rest = ended + earlier(REST * (ended - begun + 1), REST_MOST);
		return;
	}
}

void
control_round(struct control *control, msec_t now)
{
	control->now = now;
	if (control->listener.ready || now >= control->accept_at)
		accept_one(control);
	each_peer (peer, control)
		if (peer->socket.ready && may_read(peer))
			receive(peer);
	if (now >= control->rest)
		take_line(control);
}

void
control_watch(struct control *control)
{
	control->wake = control->accept_at;
	for (int i = control->count - 1; i >= 0; i--) {
		struct peer *peer = control->peers[i];

		send_out(peer);
		descriptor_want(&peer->socket,
		    (may_read(peer) ? EV_READ : 0) | (peer->out.len > 0 ? EV_WRITE : 0));
		if (peer->line > 0 && has_room(peer))
			control->wake = control->rest;
		/* One that has closed its own end may still read its answers. */
		if (peer->closing || peer->socket.broken ||
		    (peer->socket.ended && peer->out.len == 0 && peer->line == 0))
			hang_up(control, i);
	}
	descriptor_want(&control->listener, control->accept_at == MSEC_NEVER ? EV_READ : 0);
}

void
control_open(struct control *control)
{
	const char *at;
	int fd;

	control->started = time(NULL);
	control->started_at = control->now;
	control->accept_at = MSEC_NEVER;
	control->listener = DESCRIPTOR_NONE;
	if (control->options->no_control)
		return;
	fd = place_listen(control->options->control, control->path, &at);
	if (fd >= 0) {
		descriptor_init(&control->listener, fd, true);
		control->log->hear = on_event;
		control->log->hearer = control;
		return;
	}
	control->path[0] = '\0';
	log_event(control->log, WHY_CONTROL_REFUSED, log_string("at", at),
	    log_string("reason",
		errno == EADDRINUSE ? "another canceld uses it" :
		    errno == ENOENT ? NO_SUCH_FOLDER :
		    errno == 0      ? home_obstacle(at) :
				      strerror(errno)));
}

void
control_close(struct control *control)
{
	if (control->path[0] == '\0')
		return;
	/*
	 * The socket goes before the connections: whoever sees a connection end finds no socket any
	 * more.
	 */
	descriptor_close(&control->listener);
	place_remove_dead(control->path); /* by now another canceld may listen under this name */
	while (control->count > 0) {
		send_out(control->peers[0]);
		hang_up(control, 0);
	}
	control->log->hear = NULL;
	control->path[0] = '\0';
}
