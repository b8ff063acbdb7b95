#include "shell/io.h"

#include <sys/ioctl.h>

void
port_init(struct port *port, enum side side, struct session *session, struct lane *const wires[2])
{
	*port = (struct port){ .side = side,
		.session = session,
		.from = wires[side],
		.to = wires[side_other(side)],
		.heard = session_lane(session, side),
		.told = session_lane(session, side_other(side)),
		.in = DESCRIPTOR_NONE,
		.out = DESCRIPTOR_NONE,
		.reader = DESCRIPTOR_NONE };
}

void
port_open(struct port *port, int in, int out, bool ours)
{
	descriptor_init(&port->in, in, ours);
	descriptor_init(&port->out, out, ours);
	port->reader = descriptor_watch(system_watch_end(port->out.fd, false));
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
	struct buf *bytes = &port->heard->bytes;
	char *space = buf_space(bytes, LIMIT_READ);
	size_t room = buf_room(bytes);
	ssize_t got =
	    descriptor_read(&port->in, space, room < 4 * LIMIT_READ ? room : 4 * LIMIT_READ);

	if (port->in.ended)
		session_end_of_input(port->session, port->side);
	if (got <= 0)
		return 0;
	buf_added(bytes, (size_t)got);
	if (port->from != port->heard) {
		buf_append(&port->from->bytes, span_at(space, (size_t)got));
		lane_pass_all(port->from);
	}
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
	return lane_backlog(port->to);
}

size_t
port_queued(const struct port *port)
{
	return lane_queued(port->from);
}

size_t
port_size(const struct port *port)
{
	return lane_size(port->heard) + (port->from != port->heard ? lane_size(port->from) : 0);
}

void
port_write(struct port *port)
{
	struct span spans[DESCRIPTOR_SPANS];
	ssize_t put;
	int count;

	/* In a dry run, what the session would write counts as written. */
	while (port->told != port->to && lane_output(port->told, spans, 1) > 0)
		lane_sent(port->told, spans[0].len);
	while (port->out.ready && port_backlog(port) > 0 && !port_is_closed(port) &&
	    (count = lane_output(port->to, spans, DESCRIPTOR_SPANS)) > 0 &&
	    (put = descriptor_write(&port->out, spans, count)) > 0)
		lane_sent(port->to, (size_t)put);
}

void
port_lose_reader(struct port *port)
{
	descriptor_look(&port->out, &port->reader);
	if (!port_is_closed(port))
		return;
	/* Linux answers at the end that is written to, too; others with 0 or an error. */
	ioctl(port->out.fd, FIONREAD, &port->to->unread);
	descriptor_close(&port->out);
}

void
port_abandon(struct port *port)
{
	lane_lose_reader(port->to, true);
	lane_lose_reader(port->told, true);
}

void
port_watch(struct port *port, bool writing)
{
	size_t queued = port_queued(port);

	port->throttled = (port->throttled ? queued > LIMIT_LOW : queued >= LIMIT_HIGH) ||
	    lane_own(port->to) > (port->side == SIDE_CLIENT ? LIMIT_CLIENT_OWN : LIMIT_SERVER_OWN);
	descriptor_want(&port->in, port_may_read(port) ? EV_READ : 0);
	/*
	 * A port that is open and ready has no backlog: each round ends with port_write, which goes
	 * on while there are both.
	 */
	descriptor_want(&port->out,
	    writing && !port->out.ready && port_backlog(port) > 0 ? EV_WRITE : 0);
	/* once ready, it stays readable, and watching it would wake the loop for ever */
	descriptor_want(&port->reader, port->reader.ready ? 0 : EV_READ);
}
