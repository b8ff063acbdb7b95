#include "shell/io.h"

#include "core/limits.h"

void
port_init(struct port *port, enum side side, struct session *session, struct buf *beside)
{
	*port = (struct port){ .side = side,
		.session = session,
		.from_lane = session->party[side].lane,
		.to_lane = session->party[side_other(side)].lane,
		.in = DESCRIPTOR_NONE,
		.out = DESCRIPTOR_NONE,
		.reader = DESCRIPTOR_NONE };
	if (beside != NULL) {
		port->from = &beside[side];
		port->to = &beside[side_other(side)];
	}
}

void
port_open(struct port *port, int in, int out, bool ours)
{
	descriptor_init(&port->in, in, ours);
	descriptor_init(&port->out, out, ours);
	port->reader = descriptor_watch(&port->out, false);
	port->throttled = false;
}

void
port_close(struct port *port)
{
	descriptor_close(&port->in);
	descriptor_close(&port->out);
	descriptor_close(&port->reader);
}

bool
port_may_read(const struct port *port)
{
	return port->in.fd >= 0 && !port->in.ended && !port->throttled;
}

size_t
port_read(struct port *port)
{
	struct buf *bytes = &port->from_lane->bytes;
	char *space = buf_space(bytes, LIMIT_READ);
	size_t room = buf_room(bytes);
	ssize_t got = descriptor_read(&port->in, space, room < 4 * LIMIT_READ ? room : 4 * LIMIT_READ);

	if (port->in.ended)
		session_end_of_input(port->session, port->side);
	if (got <= 0)
		return 0;
	if (port->from != NULL)
		buf_append(port->from, (struct span){ space, (size_t)got });
	buf_added(bytes, (size_t)got);
	session_hear(port->session, port->side);
	return (size_t)got;
}

bool
port_is_closed(const struct port *port)
{
	return port->out.fd < 0 || port->out.broken || port->reader.ready;
}

size_t
port_backlog(const struct port *port)
{
	return port->to != NULL ? port->to->len : lane_backlog(port->to_lane);
}

size_t
port_queued(const struct port *port)
{
	return port->from != NULL ? port->from->len : lane_queued(port->from_lane);
}

size_t
port_size(const struct port *port)
{
	return lane_size(port->from_lane) + (port->from != NULL ? port->from->len : 0);
}

static int
next_output(const struct port *port, struct span *spans)
{
	if (port->to == NULL)
		return lane_backlog(port->to_lane) > 0 ? lane_output(port->to_lane, spans, DESCRIPTOR_SPANS) : 0;
	spans[0] = buf_span(port->to);
	return port->to->len > 0 ? 1 : 0;
}

void
port_write(struct port *port)
{
	struct lane *lane = port->to_lane;
	struct span spans[DESCRIPTOR_SPANS];
	ssize_t put;
	int count;

	/* In a dry run, what the session would write counts as written. */
	while (port->to != NULL && lane_output(lane, spans, 1) > 0)
		lane_sent(lane, spans[0].len);
	while (port->out.ready && !port_is_closed(port) && (count = next_output(port, spans)) > 0 &&
	    (put = descriptor_write(&port->out, spans, count)) > 0) {
		if (port->to == NULL)
			lane_sent(lane, (size_t)put);
		else
			buf_consume(port->to, (size_t)put);
	}
}

void
port_abandon(struct port *port)
{
	lane_lose_reader(port->to_lane, true);
	if (port->to != NULL)
		buf_clear(port->to);
}

static void
throttle(struct port *port)
{
	bool client = port->side == SIDE_CLIENT;
	size_t own = client ? LIMIT_CLIENT_OWN : LIMIT_SERVER_OWN;
	size_t queued = port_queued(port);

	port->throttled =
	    (port->throttled ? queued > LIMIT_LOW : queued >= LIMIT_HIGH) || lane_own(port->to_lane) > own;
}

void
port_watch(struct port *port, bool writing)
{
	throttle(port);
	descriptor_want(&port->in, port_may_read(port) ? EV_READ : 0);
	descriptor_want(&port->out, writing && !port_is_closed(port) && port_backlog(port) > 0 ? EV_WRITE : 0);
	descriptor_want(&port->reader, port->reader.ready ? 0 : EV_READ); /* it stays readable then */
}
