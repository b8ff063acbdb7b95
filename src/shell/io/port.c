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
	port->throttled = port->end_heard = false;
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
		port_end_input(port);
	if (got <= 0)
		return 0;
	if (port->from != NULL)
		buf_append(port->from, (struct span){ space, (size_t)got });
	buf_added(bytes, (size_t)got);
	session_hear(port->session, port->side);
	return (size_t)got;
}

void
port_end_input(struct port *port)
{
	if (port->end_heard)
		return;
	port->end_heard = true;
	session_end_of_input(port->session, port->side);
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

static size_t
write_once(struct port *port, const struct span *spans, int count)
{
	ssize_t put = port->out.ready && !port_is_closed(port) ? descriptor_write(&port->out, spans, count) : 0;

	return put > 0 ? (size_t)put : 0;
}

/* Writes the bytes that pass beside the session. What the session would write counts as written. */
static void
write_beside(struct port *port)
{
	struct lane *lane = port->to_lane;
	struct span spans[DESCRIPTOR_SPANS];
	size_t put = 1;
	int count;

	while ((count = lane_output(lane, spans, DESCRIPTOR_SPANS)) > 0)
		for (int i = 0; i < count; i++)
			lane_sent(lane, spans[i].len);
	while (port->to->len > 0 && put > 0) {
		spans[0] = buf_span(port->to);
		put = write_once(port, spans, 1);
		buf_consume(port->to, put);
	}
}

void
port_write(struct port *port)
{
	struct lane *lane = port->to_lane;
	struct span spans[DESCRIPTOR_SPANS];
	size_t put;
	int count;

	if (port->to != NULL) {
		write_beside(port);
		return;
	}
	while (port->out.ready && lane_backlog(lane) > 0 && (count = lane_output(lane, spans, DESCRIPTOR_SPANS)) > 0 &&
	    (put = write_once(port, spans, count)) > 0)
		lane_sent(lane, put);
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
