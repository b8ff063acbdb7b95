#include "shell/port.h"

#include "core/limits.h"
#include "shell/watcher.h"

enum { SPANS = 16 };

static struct lane *
lane_in(const struct port *port)
{
	return feed_wire(port->feed, port->side);
}

static struct lane *
lane_out(const struct port *port)
{
	return feed_wire(port->feed, side_other(port->side));
}

void
port_init(struct port *port, enum side side, struct feed *feed)
{
	*port = (struct port){ .side = side, .feed = feed };
	descriptor_clear(&port->in);
	descriptor_clear(&port->out);
	watcher_init(&port->readable, -1, EV_READ, NULL);
	watcher_init(&port->writable, -1, EV_WRITE, NULL);
}

void
port_open(struct port *port, int in, int out, bool ours)
{
	descriptor_init(&port->in, in, ours);
	descriptor_init(&port->out, out, ours);
	watcher_init(&port->readable, port->in.fd, EV_READ, &port->ready);
	watcher_init(&port->writable, port->out.fd, EV_WRITE, NULL);
	port->ready = true;
	port->throttled = port->end_heard = false;
}

void
port_close_in(struct port *port, struct ev_loop *loop)
{
	watcher_set(loop, &port->readable, false);
	descriptor_close(&port->in);
}

void
port_close_out(struct port *port, struct ev_loop *loop)
{
	watcher_set(loop, &port->writable, false);
	descriptor_close(&port->out);
}

bool
port_may_read(const struct port *port)
{
	return port->in.fd >= 0 && !port->in.ended && !port->throttled;
}

bool
port_is_ready(const struct port *port)
{
	return port->ready || !port->in.pollable;
}

size_t
port_read(struct port *port, msec_t now)
{
	struct lane *lane = lane_in(port);
	size_t room;
	char *space = lane_space(lane, LIMIT_READ, &room);
	ssize_t got = descriptor_read(&port->in, space, room < 4 * LIMIT_READ ? room : 4 * LIMIT_READ);

	port->ready = false;
	if (got <= 0)
		return 0;
	feed_hear(port->feed, port->side, (size_t)got, now);
	return (size_t)got;
}

void
port_end_input(struct port *port, msec_t now)
{
	if (port->end_heard)
		return;
	port->end_heard = true;
	feed_end_of_input(port->feed, port->side, now);
}

bool
port_is_closed(const struct port *port)
{
	return port->out.fd < 0 || port->out.broken;
}

size_t
port_backlog(const struct port *port)
{
	return lane_backlog(lane_out(port));
}

void
port_write(struct port *port, msec_t now)
{
	struct lane *lane = lane_out(port);
	struct span spans[SPANS];
	ssize_t put;
	int count;

	while (!port_is_closed(port) && (count = lane_output(lane, spans, SPANS)) > 0) {
		put = descriptor_write(&port->out, spans, count);
		if (put <= 0)
			break;
		feed_sent(port->feed, side_other(port->side), (size_t)put, now);
	}
}

void
port_abandon(struct port *port, msec_t now)
{
	feed_abandon(port->feed, side_other(port->side), now);
}

void
port_throttle(struct port *port)
{
	bool client = port->side == SIDE_CLIENT;
	size_t high = client ? LIMIT_SERVER_HIGH : LIMIT_CLIENT_HIGH;
	size_t low = client ? LIMIT_SERVER_LOW : LIMIT_CLIENT_LOW;
	size_t own = client ? LIMIT_CLIENT_OWN : LIMIT_SERVER_OWN;
	size_t queued = lane_queued(lane_in(port));

	port->throttled = (port->throttled ? queued > low : queued >= high) || lane_own(lane_out(port)) > own;
}

void
port_watch(struct port *port, struct ev_loop *loop, bool reading, bool writing)
{
	watcher_set(loop, &port->readable, reading && port->in.pollable);
	watcher_set(loop, &port->writable, writing && port->out.pollable);
}
