#ifndef SHELL_WATCHER_H
#define SHELL_WATCHER_H

/* libev watchers that decide nothing: they note that something happened, and the next turn of the loop looks at it. */

#include <ev.h>
#include <stdbool.h>

/* Sets *noted when fd is ready for events (EV_READ, EV_WRITE); noted NULL: the loop only wakes up. Not started. */
void watcher_init(ev_io *watcher, int fd, int events, bool *noted);

/* Starts or stops the watcher, as needed. One without a descriptor (fd < 0) is never started. */
void watcher_set(struct ev_loop *loop, ev_io *watcher, bool wanted);

#endif
