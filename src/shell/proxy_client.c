#include <unistd.h>

#include "proxy_inside.h"
#include "shell/ancestor.h"

static void
on_reader_gone(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)events;
	proxy->reader_is_gone = true;
	ev_io_stop(loop, watcher);
}

static void
on_hung_up(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)events;
	if (!descriptor_hung_up(watcher->fd))
		return;
	proxy->has_hung_up = true;
	ev_io_stop(loop, watcher);
}

static void
on_client_ended(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)events;
	proxy->client_is_gone = true;
	ev_io_stop(loop, watcher);
}

/*
 * The end of the client's process is none where work goes on without it: in the background of a shell that was left, or
 * with the input in a file.
 */
static bool
outlives_client(const struct proxy *proxy, const struct saved_signals *signals)
{
	return proxy->options->drain || proxy->port[SIDE_CLIENT].in.file || signals_ignored(signals, SIGHUP);
}

static void
start(struct proxy *proxy, ev_io *watcher, int fd)
{
	watcher->data = proxy;
	if (fd < 0)
		return;
	ev_io_set(watcher, fd, EV_READ);
	ev_io_start(proxy->loop, watcher);
}

void
proxy_watch_client(struct proxy *proxy, const struct saved_signals *signals)
{
	const struct port *client = &proxy->port[SIDE_CLIENT];

	/* PR_SET_PDEATHSIG would tell of the end of the thread that started us, and of no other process. */
	ev_io_init(&proxy->reader_gone, on_reader_gone, -1, EV_READ);
	ev_io_init(&proxy->hung_up, on_hung_up, -1, EV_READ);
	ev_io_init(&proxy->client_ended, on_client_ended, -1, EV_READ);
	start(proxy, &proxy->reader_gone, descriptor_watch(&client->out));
	start(proxy, &proxy->hung_up, descriptor_watch_hangup(&client->in));
	if (!outlives_client(proxy, signals))
		start(proxy, &proxy->client_ended, ancestor_watch(client->in.given));
}

void
proxy_unwatch_client(struct proxy *proxy)
{
	ev_io *watchers[] = { &proxy->reader_gone, &proxy->hung_up, &proxy->client_ended };
	size_t i;

	for (i = 0; i < sizeof(watchers) / sizeof(watchers[0]); i++) {
		ev_io_stop(proxy->loop, watchers[i]);
		if (watchers[i]->fd >= 0)
			close(watchers[i]->fd);
	}
}
