#include "shell/io.h"

static void
on_event(struct ev_loop *loop, ev_io *watcher, int events)
{
	bool *noted = watcher->data;

	(void)loop;
	(void)events;
	if (noted != NULL)
		*noted = true;
}

void
watcher_init(ev_io *watcher, int fd, int events, bool *noted)
{
	ev_io_init(watcher, on_event, fd, events);
	watcher->data = noted;
}

void
watcher_set(struct ev_loop *loop, ev_io *watcher, bool wanted)
{
	if (watcher->fd < 0 || wanted == (ev_is_active(watcher) != 0))
		return;
	if (wanted)
		ev_io_start(loop, watcher);
	else
		ev_io_stop(loop, watcher);
}
