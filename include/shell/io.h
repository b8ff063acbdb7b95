#pragma once

/* What comes in and goes out: descriptors and their watchers, signals, the streams of each side. */

#include <ev.h>

#include "core/session.h"
#include "shell/system.h"

/*
 * Reads and writes that never block, whatever kind of file stdin, stdout and stderr are. O_NONBLOCK
 * is never set on a file description that another process may share, as that process would get
 * EAGAIN in its own reads and writes. Keeps no bytes. The libev watcher decides nothing: it sets
 * `ready`, and the next round of the loop handles it.
 */
enum descriptor_way {
	/* files, which never block, and descriptions of canceld's own with O_NONBLOCK */
	DESCRIPTOR_PLAIN,
	DESCRIPTOR_SOCKET, /* MSG_DONTWAIT; to write, only with SYSTEM_SENDS_AT_ONCE, or careful */
	DESCRIPTOR_NOWAIT, /* system_transfer, unless the system has none */
	/* poll first, then write no more of the first span than is sure to be accepted */
	DESCRIPTOR_CAREFUL,
};

struct descriptor {
	int fd; /* the descriptor to read, write and watch; -1: none, nothing is read or written */
	/* the descriptor passed in; differs from fd if the file had to be opened again */
	int given;
	enum descriptor_way way;
	bool file;     /* a regular file */
	bool pollable; /* false: always ready, and not to be watched */
	/* a read may give bytes, or a write succeed; cleared by a read, and by a short write */
	bool ready;
	bool ended; /* nothing more can be read: end of file, or an error */
	/* the last write failed; a full disk may have room later, a pipe without reader will not */
	bool broken;
	/*
	 * errno of the last read or write, if it failed, and not because the other end has gone;
	 * else 0
	 */
	int error;
	int wanted; /* the events that are watched */
	ev_io watcher;
};

#define DESCRIPTOR_NONE ((struct descriptor){ .fd = -1, .given = -1 })

/*
 * Opens /dev/null for each of stdin, stdout and stderr that is closed; for stdout so that a write
 * still fails. Must be called before anything else opens a file. 0, or -1 with errno.
 */
int descriptor_sanitize(void) MUST_USE;

/*
 * Takes ownership of fd. ours: canceld created it and no other process uses its description, so
 * O_NONBLOCK may be set. SIGPIPE must be ignored before the first write.
 */
void descriptor_init(struct descriptor *descriptor, int fd, bool ours);

/* Closes the descriptor, and stops its watcher; fd is -1 afterwards. */
void descriptor_close(struct descriptor *descriptor);

/* The loop of all watchers; must be set before any event is wanted. */
extern struct ev_loop *descriptor_loop;

/*
 * From now on these events are watched (EV_READ, EV_WRITE; 0: none), if the descriptor can be
 * watched.
 */
void descriptor_want(struct descriptor *descriptor, int events);

/*
 * Like read(2): EAGAIN if there is nothing yet, never EINTR; sets ended at end of file and for any
 * other error.
 */
ssize_t descriptor_read(struct descriptor *descriptor, char *to, size_t room) MUST_USE;

/*
 * Like writev(2): may write a part; EAGAIN if nothing can be written now; sets broken for any other
 * error (EPIPE: there is no reader). count: at most DESCRIPTOR_SPANS.
 */
ssize_t descriptor_write(struct descriptor *descriptor, const struct span *spans,
    int count) MUST_USE;

enum { DESCRIPTOR_SPANS = 16 };

/*
 * One that nothing is read from or written to: system_watch_end or system_watch_client made it, and
 * it only turns ready. fd: -1: none.
 */
struct descriptor descriptor_watch(int fd);

/*
 * Makes the watch of a descriptor ready if the other end has gone: for a caller that has to look,
 * because no event wakes it.
 */
void descriptor_look(const struct descriptor *descriptor, struct descriptor *watch);

/*
 * The signals of this process. signals_save, before anything starts a process or a loop, saves
 * their dispositions, ignores SIGPIPE and SIGXFSZ, gives SIGCHLD its default disposition and
 * unblocks what canceld handles: SIGCHLD SIGHUP SIGINT SIGQUIT SIGTERM SIGUSR2. signals_restore is
 * called in the server's process, before exec.
 */
void signals_save(void);
void signals_restore(void);

/*
 * Forks with this function. All signals are blocked in the new process: a handler of the event loop
 * must not run there, as it shares its descriptors.
 */
pid_t signals_fork(pid_t (*forker)(void));

/* For one of the signals above: whether canceld was started with it ignored, as by nohup(1). */
bool signals_ignored(int signal);

/* Starts handling signals; those that would end canceld and were ignored stay ignored. */
void signals_watch(struct ev_loop *loop);

/*
 * Stops handling signals. To be called before the loop is freed, because libev's handlers write to
 * it.
 */
void signals_unwatch(void);

/* The number of a signal that has arrived, each once, those that end canceld first; 0: no more. */
int signals_next(void);

/*
 * The first signal that ends canceld; 0: none. A SIGINT that was typed in a terminal does so only
 * by signals_end.
 */
int signals_ending(void);
void signals_end(int signal);

/*
 * One side of the session as the loop sees it: bytes read from it go to the session, and the
 * session's bytes for it are written to it. A port decides nothing. In a dry run all bytes pass
 * beside the session, which hears a copy of them.
 */
struct port {
	enum side side;
	struct session *session;
	struct lane *from, *to; /* what this side has written, and what is written to it */
	/* the session's lanes for the same bytes; only in a dry run they are others */
	struct lane *heard, *told;
	struct descriptor in, out;
	/* gets ready when nothing reads what is written to `out` any more */
	struct descriptor reader;
	/*
	 * it is not read, because the other side does not read this one's messages, or this side
	 * does not read canceld's answers
	 */
	bool throttled;
};

/*
 * A port without descriptors. wires: the lanes of the bytes that pass, by the side that writes
 * them: the session's, or in a dry run others. All is borrowed.
 */
void port_init(struct port *port, enum side side, struct session *session,
    struct lane *const wires[2]);

/* Takes ownership of both descriptors. ours: as in descriptor_init. */
void port_open(struct port *port, int in, int out, bool ours);

void port_close(struct port *port);

/* Whether more input may come, and the lane has room for it. */
bool port_may_read(const struct port *port);

/*
 * Reads once, and gives the bytes or the end to the session. Returns the number of bytes; 0: there
 * are no more now.
 */
size_t port_read(struct port *port);

/* Whether nothing can be written any more. */
bool port_is_closed(const struct port *port);

/* The number of bytes that can be written now. */
size_t port_backlog(const struct port *port);

/*
 * Bytes read from this side: port_queued, those that wait to be written to the other side;
 * port_size, all that take memory.
 */
size_t port_queued(const struct port *port);
size_t port_size(const struct port *port);

/* Writes as much as possible without blocking. */
void port_write(struct port *port);

/*
 * If nothing reads any more, closes what is written to, and tells the lane what was not read, if
 * the system knows that.
 */
void port_lose_reader(struct port *port);

/* Drops the bytes to be written, as they will not be read. */
void port_abandon(struct port *port);

/*
 * Stops or resumes reading, by the marks of limits.h, and sets up the watchers; writing: whether
 * the caller writes at all.
 */
void port_watch(struct port *port, bool writing);
