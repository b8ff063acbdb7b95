#include <errno.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "proxy_inside.h"

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
on_parent_ended(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)events;
	proxy->parent_is_gone = true;
	ev_io_stop(loop, watcher);
}

/*
 * Turns readable when our parent ends; -1: cannot be known. PR_SET_PDEATHSIG would tell of the end of the thread that
 * started us.
 */
static int
watch_parent(void)
{
	int fd = -1;
#ifdef SYS_pidfd_open
	pid_t parent = getppid();

	/* Init, or somebody outside of our pid namespace. */
	if (parent <= 1)
		return -1;
	fd = (int)syscall(SYS_pidfd_open, parent, 0);
	if (fd >= 0 && getppid() != parent) {
		close(fd);
		fd = -1;
	}
#endif
	return fd;
}

/*
 * The end of what started us is not the client's where work goes on without it: in the background of a shell that was
 * left, or with the input in a file.
 */
static bool
outlives_parent(const struct proxy *proxy, const struct saved_signals *signals)
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

	ev_io_init(&proxy->reader_gone, on_reader_gone, -1, EV_READ);
	ev_io_init(&proxy->hung_up, on_hung_up, -1, EV_READ);
	ev_io_init(&proxy->parent_ended, on_parent_ended, -1, EV_READ);
	start(proxy, &proxy->reader_gone, descriptor_watch(&client->out));
	start(proxy, &proxy->hung_up, descriptor_watch_hangup(&client->in));
	if (!outlives_parent(proxy, signals))
		start(proxy, &proxy->parent_ended, watch_parent());
}

void
proxy_unwatch_client(struct proxy *proxy)
{
	ev_io *watchers[] = { &proxy->reader_gone, &proxy->hung_up, &proxy->parent_ended };
	size_t i;

	for (i = 0; i < sizeof(watchers) / sizeof(watchers[0]); i++) {
		ev_io_stop(proxy->loop, watchers[i]);
		if (watchers[i]->fd >= 0)
			close(watchers[i]->fd);
	}
}
