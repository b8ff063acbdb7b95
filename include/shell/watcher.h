#ifndef SHELL_WATCHER_H
#define SHELL_WATCHER_H

/*
 * libev watchers that decide nothing: they set a flag when an event happens, and the next turn of the loop handles it.
 */

#include <ev.h>
#include <stdbool.h>

/*
 * Initialises a watcher that sets *noted when fd is ready for events (EV_READ, EV_WRITE); noted NULL: the loop only
 * wakes up. The watcher is not started.
 */
void watcher_init(ev_io *watcher, int fd, int events, bool *noted);

/* Starts or stops the watcher. One without a descriptor (fd < 0) is never started. */
void watcher_set(struct ev_loop *loop, ev_io *watcher, bool wanted);

#endif
