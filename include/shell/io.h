#ifndef SHELL_IO_H
#define SHELL_IO_H

/* What comes in and goes out: descriptors and their watchers, signals, the streams of each side, the server's stderr. */

#include <ev.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/session.h"

/*
 * Reads and writes that never block, whatever kind of file stdin, stdout and stderr are. O_NONBLOCK is never set on a
 * file description that another process may share, as that process would get EAGAIN in its own reads and writes. Keeps
 * no bytes. The libev watcher decides nothing: it sets `ready`, and the next turn of the loop handles it.
 */
enum descriptor_way {
	DESCRIPTOR_PLAIN,   /* files, which never block, and descriptions of canceld's own with O_NONBLOCK */
	DESCRIPTOR_SOCKET,  /* MSG_DONTWAIT */
	DESCRIPTOR_NOWAIT,  /* RWF_NOWAIT, unless the kernel does not support it */
	DESCRIPTOR_CAREFUL, /* poll first, then write no more of the first span than is sure to be accepted */
};

struct descriptor {
	int fd;    /* the descriptor to read, write and watch; -1: none, nothing is read or written */
	int given; /* the descriptor passed in; differs from fd if the file had to be opened again */
	enum descriptor_way way;
	bool file;     /* a regular file */
	bool pollable; /* false: always ready, and epoll refuses it */
	bool ready;    /* a read may give bytes, or a write succeed; cleared by a read, and by a short write */
	bool ended;    /* nothing more can be read: end of file, or an error */
	bool broken;   /* the last write failed; a full disk may have room later, a pipe without reader will not */
	bool inside;   /* the last byte written did not end a line */
	int error;  /* errno of the last read or write, if it failed, and not because the other end has gone; else 0 */
	int wanted; /* the events that are watched */
	ev_io watcher;
};

#define DESCRIPTOR_NONE ((struct descriptor){ .fd = -1, .given = -1 })

/*
 * Opens /dev/null for each of stdin, stdout and stderr that is closed; for stdout so that a write still fails. Must be
 * called before anything else opens a file. 0, or -1 with errno.
 */
int descriptor_sanitize(void) __attribute__((warn_unused_result));

/*
 * Takes ownership of fd. ours: canceld created it and no other process uses its description, so O_NONBLOCK may be set.
 * SIGPIPE must be ignored before the first write.
 */
void descriptor_init(struct descriptor *descriptor, int fd, bool ours);

/* Closes the descriptor, and stops its watcher; fd is -1 afterwards. */
void descriptor_close(struct descriptor *descriptor);

/* The loop of all watchers; must be set before any event is wanted. */
extern struct ev_loop *descriptor_loop;

/* From now on these events are watched (EV_READ, EV_WRITE; 0: none), if the descriptor can be watched. */
void descriptor_want(struct descriptor *descriptor, int events);

/* Like read(2): EAGAIN if there is nothing yet, never EINTR; sets ended at end of file and for any other error. */
ssize_t descriptor_read(struct descriptor *descriptor, char *to, size_t room) __attribute__((warn_unused_result));

/*
 * Like writev(2): may write a part; EAGAIN if nothing can be written now; sets broken for any other error (EPIPE: there
 * is no reader). Spans beyond the first DESCRIPTOR_SPANS are left for the next call.
 */
ssize_t descriptor_write(struct descriptor *descriptor, const struct span *spans, int count)
    __attribute__((warn_unused_result));

enum { DESCRIPTOR_SPANS = 32 };

/* The error, once; 0: none. */
int descriptor_take_error(struct descriptor *descriptor);

/* Waits until a write may succeed, at most until that time (monotonic_now); false: the time is over. */
bool descriptor_wait(const struct descriptor *descriptor, msec_t until) __attribute__((warn_unused_result));

/*
 * A new descriptor that turns ready when the last reader has gone, or with `hangup` at any change; then
 * descriptor_hung_up() consumes the event, and returns whether the writer has gone, though bytes may be left to read.
 * None, with errno EPERM or ENOSYS, if only a write can show that (files, /dev/null; other systems than Linux).
 */
struct descriptor descriptor_watch(const struct descriptor *descriptor, bool hangup);
bool descriptor_hung_up(const struct descriptor *watch);

/*
 * The signals of this process: the dispositions that it started with, which the server gets back, and the signals that
 * it handles while it runs.
 *
 * signals_save saves what the server has to get back; then it ignores SIGPIPE and SIGXFSZ, gives SIGCHLD its default
 * disposition and unblocks the signals that canceld handles: SIGCHLD SIGHUP SIGINT SIGQUIT SIGTERM SIGUSR1 SIGUSR2. Must
 * be called before anything starts a process or a loop. signals_restore is called in the server's process, before exec.
 */
void signals_save(void);
void signals_restore(void);

/*
 * For one of the signals above: whether canceld was started with it ignored (nohup, sh -c 'canceld &') and so should
 * keep ignoring it.
 */
bool signals_ignored(int signal);

/* Starts handling signals; those that would end canceld and were ignored stay ignored. */
void signals_watch(struct ev_loop *loop);

/* Stops handling signals. Must be called before the loop is freed, as libev's handlers would write to it. */
void signals_unwatch(void);

/* The number of a signal that has arrived, each once, those that end canceld first; 0: no more. */
int signals_next(void);

/* The first signal that ends canceld; 0: none. */
int signals_ending(void);

/*
 * One side of the session as the loop sees it: bytes read from it go to the session, and the session's bytes for it are
 * written to it. A port decides nothing. In a dry run all bytes pass beside the session, which hears a copy of them.
 */
struct port {
	enum side side;
	struct session *session;
	struct lane *from_lane, *to_lane; /* the session's, by the side that writes and that reads */
	struct buf *from, *to;            /* dry run: bytes that this side has written, and bytes for it; else NULL */
	struct descriptor in, out;
	struct descriptor reader; /* turns ready when nothing reads what is written to out any more */
	bool throttled; /* not read: the other side does not read its messages, or this side not canceld's answers */
	bool end_heard; /* the session was told of the end of its input */
};

/* A port without descriptors. beside: dry run: the bytes that pass, by the side that writes them. All is borrowed. */
void port_init(struct port *port, enum side side, struct session *session, struct buf *beside);

/*
 * Takes ownership of both descriptors. ours: as in descriptor_init. The first turn tries to read without waiting for a
 * watcher.
 */
void port_open(struct port *port, int in, int out, bool ours);

void port_close(struct port *port);

/* Whether more input may come, and the lane has room for it. */
bool port_may_read(const struct port *port);

/* Reads once and tells the session, also of the end; returns the number of bytes, 0 if there are no more now. */
size_t port_read(struct port *port, msec_t now);

/* Tells the session, once, that no more input will be read. */
void port_end_input(struct port *port, msec_t now);

/* Whether nothing can be written any more. */
bool port_is_closed(const struct port *port);

/* The number of bytes that can be written now. */
size_t port_backlog(const struct port *port);

/* Bytes read from this side that wait to be written to the other one; all bytes read from it that take memory. */
size_t port_queued(const struct port *port);
size_t port_size(const struct port *port);

/* Writes as much as possible without blocking. */
void port_write(struct port *port);

/* Drops the bytes to be written, as they will not be read. */
void port_abandon(struct port *port);

/*
 * Stops or resumes reading, by the size of the queues: the marks are LIMIT_{CLIENT,SERVER}_{HIGH,LOW,OWN}. Sets up the
 * watchers; writing: whether the caller writes at all.
 */
void port_watch(struct port *port, bool writing);

/*
 * Passes the server's stderr on to canceld's own, and keeps the last bytes. Neither side ever waits for the other:
 * lines that do not fit into the queue are dropped whole, and counted. If stderr is a terminal, the server writes to it
 * directly.
 */
enum {
	RELAY_QUEUE_MAX = 64 << 10, /* bytes not written yet */
	RELAY_TAIL_MAX = 4 << 10,   /* bytes kept */
	RELAY_LAST_WAIT = 50,       /* ms, to write the last bytes */
};

struct relay {
	struct descriptor in, own, *out; /* out: own, or the shared one */
	int write_end;                   /* the server's stderr; -1: canceld's own */
	struct buf queue;                /* bytes not written yet */
	struct buf tail;                 /* the last bytes that were read */
	uint64_t lost;                   /* lines dropped since relay_lost last returned some */
	bool dropping, inside;           /* inside a line that is dropped; inside one that is queued */
};

/*
 * 0, or -1 with errno. inherited: the server writes to canceld's stderr directly, as to a terminal, so that a process
 * that outlives canceld can still write. shared: that of a log on stderr, which so knows whether a line is unfinished;
 * NULL: none. relay must not move in memory until relay_close.
 */
int relay_open(struct relay *relay, bool inherited, struct descriptor *shared) __attribute__((warn_unused_result));

/* Closes the relay, after at most RELAY_LAST_WAIT to write the last bytes. Also after a failed relay_open. */
void relay_close(struct relay *relay);

/* Sets up the watchers for the next wait; that of a shared descriptor is the caller's. */
void relay_watch(struct relay *relay);

/* One turn of the loop: reads what is ready, as much as one turn has time for, and writes as much as possible. */
void relay_turn(struct relay *relay);

/* Writes a line of canceld's own, given without its newline and the program's name. */
void relay_say(struct relay *relay, const char *line);

/* The number of lines that were lost since the last call; 0 while the queue is not empty. */
uint64_t relay_lost(struct relay *relay);

/*
 * The last lines, whole ones if there are any; valid until the next call. First reads all that was written until now.
 */
struct span relay_last_lines(struct relay *relay);

/* Forgets the last lines, before another server is started. */
void relay_forget(struct relay *relay);

#endif
