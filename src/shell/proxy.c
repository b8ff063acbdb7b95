/*
 *   one turn of the loop
 *
 *   libev ──▶ on_readable, on_writable, on_signal ...   note what happened, nothing more
 *         ──▶ settle (ev_prepare):  read ─▶ hear ─▶ write ─▶ expire ─▶ supervise ─▶ write ─▶ watch
 *
 * libev runs a due timer before a readable descriptor of the same turn, and a child's end is known before its last
 * bytes are read. So nothing is decided in a callback: each settle first reads and hears what is there. (Of many messages
 * the first are written before the others are heard.)
 */
#include "shell/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/limits.h"
#include "proxy_inside.h"
#include "shell/report.h"

enum {
	SETTLE_READ_MAX = 1 << 20, /* what a pipe holds at most: read before a deadline is believed */
	SETTLE_FIRST = 1 << 10,    /* of what one read gave, written before the rest is decided */
	SETTLE_SPANS = 16,
};

/* Microseconds. */
static int64_t
exact_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

msec_t
proxy_clock(void)
{
	return exact_clock() / 1000;
}

static void
on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct port *port = watcher->data;

	(void)loop;
	(void)events;
	port->ready = true;
}

static void
on_wake(struct ev_loop *loop, ev_io *watcher, int events)
{
	(void)loop;
	(void)watcher;
	(void)events;
}

static void
on_errors(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)loop;
	(void)events;
	proxy->errors_ready = true;
}

static void
on_timer(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)loop;
	(void)events;
	proxy->wake = MSEC_NEVER;
}

/* The guardian has something to say. */
static void
on_control(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)loop;
	(void)events;
	proxy->child_changed = true;
}

/* Writes what the side's peer left for it, as much as is taken now. */
static void
flush(struct proxy *proxy, enum side to)
{
	struct lane *lane = session_lane(proxy->session, side_other(to));
	struct descriptor *out = &proxy->port[to].out;
	struct span spans[SETTLE_SPANS];
	ssize_t n;
	int count;

	if (out->fd >= 0 && !out->broken && lane_backlog(lane) == 0)
		return;
	if (to == SIDE_SERVER && (out->fd < 0 || proxy->child.exited) && proxy_keeps_queue(proxy))
		return;
	while (out->fd >= 0 && !out->broken && (count = lane_output(lane, spans, SETTLE_SPANS)) > 0) {
		n = descriptor_write(out, spans, count);
		if (n <= 0)
			break;
		lane_sent(lane, (size_t)n);
	}
	if (out->broken && to == SIDE_SERVER) {
		ev_io_stop(proxy->loop, &proxy->port[to].writable);
		descriptor_close(out);
		if (proxy_keeps_queue(proxy)) {
			proxy->deaf_until = proxy->now + TIME_EOF_WAIT;
			return;
		}
		session_quote(proxy->session, relay_last_lines(&proxy->relay));
		session_server_deaf(proxy->session, proxy->now);
	}
	if (out->fd < 0 || out->broken)
		lane_abandon(lane);
}

/*
 * The first of many messages are written at once: their reader wakes up while the others are decided. A cancel among the
 * others finds the first ones written.
 */
static void
hear_all(struct proxy *proxy, enum side from)
{
	if (!session_hear_first(proxy->session, from, SETTLE_FIRST, proxy->now))
		return;
	flush(proxy, side_other(from));
	session_hear(proxy->session, from, proxy->now);
}

/* One read; returns how many bytes it gave, 0 if there is nothing (more) now. */
static size_t
read_once(struct proxy *proxy, enum side from)
{
	struct port *port = &proxy->port[from];
	struct lane *lane = session_lane(proxy->session, from);
	size_t room;
	char *space = lane_space(lane, LIMIT_READ, &room);
	ssize_t n;

	if (room > 4 * LIMIT_READ)
		room = 4 * LIMIT_READ;
	n = descriptor_read(&port->in, space, room);
	port->ready = false;
	if (n <= 0)
		return 0;
	lane_received(lane, (size_t)n);
	spin_heard(&proxy->spin, from);
	hear_all(proxy, from);
	return (size_t)n;
}

static bool
may_read(const struct proxy *proxy, enum side from)
{
	const struct port *port = &proxy->port[from];

	if (port->in.fd < 0 || port->in.ended || port->throttled)
		return false;
	return from == SIDE_SERVER || !proxy->left;
}

static void
hear(struct proxy *proxy, enum side from)
{
	struct port *port = &proxy->port[from];

	if (may_read(proxy, from) && (port->ready || !port->in.pollable))
		read_once(proxy, from);
	if (port->in.ended && !port->heard_end) {
		port->heard_end = true;
		session_end_of_input(proxy->session, from, proxy->now);
	}
}

/* The server is not read because the client does not take what it wrote; not because it reads nothing itself. */
static bool
is_stalled(struct proxy *proxy)
{
	return proxy->port[SIDE_SERVER].throttled &&
	    lane_queued(session_lane(proxy->session, SIDE_SERVER)) > LIMIT_CLIENT_LOW;
}

/* Deadlines are believed only after all that the server had written by then was read. */
static void
expire(struct proxy *proxy)
{
	bool stalled = is_stalled(proxy);
	size_t total = 0, n;

	if (session_wake(proxy->session, stalled, proxy->now) > proxy->now)
		return;
	while (may_read(proxy, SIDE_SERVER) && total < SETTLE_READ_MAX && (n = read_once(proxy, SIDE_SERVER)) > 0)
		total += n;
	session_expire(proxy->session, !stalled, proxy->now);
}

static void
set_watching(struct proxy *proxy, ev_io *watcher, bool wanted)
{
	if (wanted && !ev_is_active(watcher))
		ev_io_start(proxy->loop, watcher);
	else if (!wanted && ev_is_active(watcher))
		ev_io_stop(proxy->loop, watcher);
}

/* Stops reading a side when its peer does not take what it wrote, or it does not take our answers. */
static void
throttle(struct proxy *proxy, enum side from)
{
	size_t high = from == SIDE_CLIENT ? LIMIT_SERVER_HIGH : LIMIT_CLIENT_HIGH;
	size_t low = from == SIDE_CLIENT ? LIMIT_SERVER_LOW : LIMIT_CLIENT_LOW;
	size_t back = from == SIDE_CLIENT ? LIMIT_CLIENT_OWN : LIMIT_SERVER_OWN;
	size_t ahead = lane_queued(session_lane(proxy->session, from));
	enum side other = side_other(from);
	size_t behind = lane_own(session_lane(proxy->session, other));
	bool *throttled = &proxy->port[from].throttled;

	if (*throttled)
		*throttled = ahead > low || behind > back;
	else
		*throttled = ahead >= high || behind > back;
}

static void
watch_port(struct proxy *proxy, enum side side)
{
	struct port *port = &proxy->port[side];
	enum side from = side_other(side);

	throttle(proxy, side);
	set_watching(proxy, &port->readable, may_read(proxy, side) && port->in.pollable);
	set_watching(proxy, &port->writable,
	    port->out.fd >= 0 && !port->out.broken && port->out.pollable &&
		!(side == SIDE_SERVER && proxy->child.exited) && lane_backlog(session_lane(proxy->session, from)) > 0);
}

static msec_t
next_wake(struct proxy *proxy)
{
	msec_t wake = session_wake(proxy->session, is_stalled(proxy), proxy->now);

	if (proxy->supervisor.wake < wake)
		wake = proxy->supervisor.wake;
	if (proxy->draining && proxy->drain_until < wake)
		wake = proxy->drain_until;
	if (proxy->hung_until < wake)
		wake = proxy->hung_until;
	if (proxy_restart_wake(proxy) < wake)
		wake = proxy_restart_wake(proxy);
	/* All is written, and nothing else would tell. */
	if (proxy->supervisor.state == SERVER_FLUSHING && lane_backlog(session_lane(proxy->session, SIDE_CLIENT)) == 0)
		wake = proxy->now;
	if (proxy->finishing && proxy->left && !proxy->draining && proxy->leave_by < wake)
		wake = proxy->leave_by;
	if (may_read(proxy, SIDE_CLIENT) && !proxy->port[SIDE_CLIENT].in.pollable)
		wake = proxy->now;
	return wake;
}

static void
set_timer(struct proxy *proxy)
{
	msec_t wake = next_wake(proxy);

	if (wake == proxy->wake)
		return;
	proxy->wake = wake;
	ev_timer_stop(proxy->loop, &proxy->timer);
	if (wake == MSEC_NEVER)
		return;
	ev_timer_set(&proxy->timer, wake > proxy->now ? (double)(wake - proxy->now) / 1000.0 : 0., 0.);
	ev_timer_start(proxy->loop, &proxy->timer);
}

/* What the server wrote to stderr and nobody took. */
static void
report_lost(struct proxy *proxy)
{
	uint64_t lost = relay_lost(&proxy->relay);
	struct log_field fields[2];

	if (lost == 0)
		return;
	fields[0] = log_number("lines", (int64_t)lost);
	fields[1] = log_string("of", "server");
	log_event(proxy->log, WHY_LINES_LOST, fields, 2);
}

/* Whoever quotes what the server wrote to stderr reads the rest of it first. */
static void
pass_errors(struct proxy *proxy)
{
	if (proxy->errors_ready || relay_wants_write(&proxy->relay))
		relay_move(&proxy->relay);
	proxy->errors_ready = false;
}

static void
await_next(struct proxy *proxy, int64_t now)
{
	int fds[2], count = 0;

	for (int side = 0; side < 2; side++)
		if (ev_is_active(&proxy->port[side].readable))
			fds[count++] = proxy->port[side].in.fd;
	spin_wait(&proxy->spin, fds, count, now);
}

static void
on_settle(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct proxy *proxy = watcher->data;
	int64_t now = exact_clock();

	(void)events;
	proxy->now = now / 1000;
	pass_errors(proxy);
	hear(proxy, SIDE_SERVER);
	hear(proxy, SIDE_CLIENT);
	flush(proxy, SIDE_SERVER); /* what is written decides what may be cancelled, and how */
	expire(proxy);
	proxy_supervise(proxy);
	flush(proxy, SIDE_SERVER);
	flush(proxy, SIDE_CLIENT);
	if (proxy_finished(proxy))
		ev_break(loop, EVBREAK_ALL);
	report_lost(proxy);
	log_flush(proxy->log);
	set_watching(proxy, &proxy->errors_writable, relay_wants_write(&proxy->relay));
	watch_port(proxy, SIDE_CLIENT);
	watch_port(proxy, SIDE_SERVER);
	set_watching(proxy, &proxy->log_writable, log_wants_write(proxy->log));
	set_timer(proxy);
	await_next(proxy, now);
}

static void
port_init(struct port *port)
{
	ev_io_init(&port->readable, on_readable, port->in.fd, EV_READ);
	ev_io_init(&port->writable, on_wake, port->out.fd, EV_WRITE);
	port->readable.data = port;
	port->ready = false;
}

void
proxy_attach_server(struct proxy *proxy)
{
	struct port *server = &proxy->port[SIDE_SERVER];

	descriptor_init(&server->in, proxy->child.output, true);
	descriptor_init(&server->out, proxy->child.input, true);
	server->heard_end = server->throttled = false;
	port_init(server);
	ev_io_init(&proxy->control, on_control, proxy->child.control, EV_READ);
	proxy->control.data = proxy;
	ev_io_start(proxy->loop, &proxy->control);
	supervisor_init(&proxy->supervisor, proxy->options->term_after, proxy->options->kill_after);
	proxy->child_changed = true; /* it may have ended before */
}

void
proxy_detach_server(struct proxy *proxy)
{
	struct port *server = &proxy->port[SIDE_SERVER];

	ev_io_stop(proxy->loop, &server->readable);
	ev_io_stop(proxy->loop, &server->writable);
	ev_io_stop(proxy->loop, &proxy->control);
	descriptor_close(&server->in);
	descriptor_close(&server->out);
	child_close(&proxy->child);
}

static void
watch_errors(struct proxy *proxy)
{
	ev_io_init(&proxy->errors_readable, on_errors, proxy->relay.in.fd, EV_READ);
	proxy->errors_readable.data = proxy;
	ev_io_init(&proxy->errors_writable, on_wake, proxy->relay.out.fd, EV_WRITE);
	if (proxy->relay.in.fd >= 0)
		ev_io_start(proxy->loop, &proxy->errors_readable);
}

static void
watch_descriptors(struct proxy *proxy)
{
	struct port *client = &proxy->port[SIDE_CLIENT];

	descriptor_init(&client->in, STDIN_FILENO, false);
	descriptor_init(&client->out, STDOUT_FILENO, false);
	port_init(client);
	client->ready = true; /* what is there before the first turn is heard in it */
	ev_io_init(&proxy->log_writable, on_wake, proxy->log->descriptor.fd, EV_WRITE);
	watch_errors(proxy);
}

static struct session *
new_session(const struct options *options, struct log *log)
{
	struct session_config config = {
		.dialect = options->dialect,
		.policy = &options->policy,
		.grace = options->grace,
		.max_message = options->max_message,
		.max_inflight = options->max_inflight,
		.no_cancel = options->no_cancel,
		.answer_cancelled = options->answer_cancelled,
		.tool_errors = options->tool_errors,
		.ask_progress = options->ask_progress,
		.legacy = options->legacy,
		.strict = options->strict,
		.traffic_unseen = !log_shows(log, WHY_RELAYED),
		.restarts = options->restarts > 0,
		.stateless = options->stateless,
		.kill_stuck = options->kill_stuck,
	};

	/* Without randomness the hash tables still work; only their order can be foreseen. */
	if (getrandom(&config.seed, sizeof(config.seed), GRND_NONBLOCK) < 0)
		config.seed = (uint64_t)proxy_clock();
	return session_new(&config, report_action, log, proxy_clock());
}

static void
close_all(struct proxy *proxy)
{
	proxy_unwatch_signals();
	proxy_unwatch_client(proxy);
	proxy_detach_server(proxy);
	relay_close(&proxy->relay);
	restart_free(&proxy->restart);
	descriptor_close(&proxy->port[SIDE_CLIENT].in);
	descriptor_close(&proxy->port[SIDE_CLIENT].out);
	session_free(proxy->session);
	ev_loop_destroy(proxy->loop);
}

static void
start(struct proxy *proxy)
{
	const struct options *options = proxy->options;

	proxy->now = proxy_clock();
	proxy->session = new_session(options, proxy->log);
	proxy->wake = proxy->drain_until = proxy->hung_until = MSEC_NEVER;
	proxy->restart_at = proxy->deaf_until = proxy->linger_until = MSEC_NEVER;
	spin_init(&proxy->spin);
	restart_init(&proxy->restart, options->restarts, options->restarts_within);
	watch_descriptors(proxy);
	proxy_start_server(proxy);
	proxy_watch_client(proxy, proxy->signals);
	proxy_watch_signals(proxy);
	ev_timer_init(&proxy->timer, on_timer, 0., 0.);
	proxy->timer.data = proxy;
	ev_prepare_init(&proxy->settle, on_settle);
	proxy->settle.data = proxy;
	ev_prepare_start(proxy->loop, &proxy->settle);
}

int
proxy_run(const struct options *options, struct log *log, const struct saved_signals *signals)
{
	struct proxy proxy = { .options = options, .log = log, .signals = signals };
	int status;

	if (relay_open(&proxy.relay, options->sweep_group) < 0) {
		log_failure(log, "relay the server's stderr", errno);
		return STATUS_FAILED;
	}
	proxy.loop = ev_loop_new(EVFLAG_AUTO);
	if (proxy.loop == NULL) {
		log_failure(log, "cannot start an event loop", 0);
		relay_close(&proxy.relay);
		return STATUS_FAILED;
	}
	start(&proxy);
	ev_run(proxy.loop, 0);
	report_summary(log, proxy.session);
	status = proxy_exit_status(&proxy);
	close_all(&proxy);
	return status;
}
