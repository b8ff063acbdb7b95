#include "ctl/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "ctl/program.h"
#include "shell/child.h"
#include "shell/monotonic.h"

enum {
	PIECE = 64 << 10,
	EVENT_MAX = 256 << 10, /* no line of the log is as long */
	TURN = 20,             /* ms: the longest wait whose lateness is noticed */
	WORDS_MAX = 64,        /* options for canceld, and those added here */
};

static const int interrupting[PEER_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static void
remove_directory(struct peer *peer)
{
	unlink(peer->pipe);
	unlink(peer->config);
	rmdir(peer->directory);
	peer->directory[0] = '\0';
}

static void
hear(struct peer *peer, peer_heard *heard, struct span text)
{
	json_t *value = json_loadb(text.ptr, text.len, JSON_ALLOW_NUL, NULL);

	if (json_is_object(value))
		heard(peer->user, value);
	else
		peer->unreadable++;
	json_decref(value);
}

/* The length of the header and, in *length, of the message behind it; 0: it is not complete. */
static size_t
read_header(struct span bytes, size_t *length)
{
	static const char name[] = "content-length:";
	const char *end = bytes.len == 0 ? NULL : memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4);
	const char *line = bytes.ptr;

	*length = 0;
	for (; end != NULL && line < end; line = (const char *)memchr(line, '\n', (size_t)(end + 2 - line)) + 1)
		if (strncasecmp(line, name, sizeof(name) - 1) == 0)
			*length = (size_t)strtoull(line + sizeof(name) - 1, NULL, 10);
	return end == NULL ? 0 : (size_t)(end + 4 - bytes.ptr);
}

/* Takes the next message with a header. false: it is not complete. */
static bool
take_framed(struct peer *peer)
{
	size_t length, head = read_header(buf_span(&peer->in), &length);

	if (head == 0)
		return false;
	if (length > PEER_MESSAGE_MAX) {
		buf_consume(&peer->in, head);
		peer->skip = length;
		peer->discarded++;
		return true;
	}
	if (peer->in.len - head < length)
		return false;
	hear(peer, peer->on_message, span_part(buf_span(&peer->in), head, length));
	buf_consume(&peer->in, head + length);
	return true;
}

/* Takes the next line; fresh: where the bytes begin that were not searched. false: it is not complete. */
static bool
take_line(struct buf *in, size_t fresh, struct span *line)
{
	struct span bytes = buf_span(in);
	const char *newline = bytes.len == fresh ? NULL : memchr(bytes.ptr + fresh, '\n', bytes.len - fresh);

	if (newline == NULL)
		return false;
	*line = span_part(bytes, 0, (size_t)(newline - bytes.ptr));
	return true;
}

/* Drops bytes of a message that is discarded. false: all that there are. */
static bool
skip(struct peer *peer)
{
	struct span bytes = buf_span(&peer->in), line;
	size_t len = peer->skip < bytes.len ? peer->skip : bytes.len;

	if (peer->skip != SIZE_MAX) {
		peer->skip -= len;
	} else if (take_line(&peer->in, 0, &line)) {
		len = line.len + 1;
		peer->skip = 0;
	}
	buf_consume(&peer->in, len);
	return peer->skip == 0;
}

/* fresh: how many bytes at the front were searched for a newline before. */
static void
take_messages(struct peer *peer, size_t fresh)
{
	struct span line;

	while (peer->in.len > 0) {
		if (peer->skip > 0) {
			if (!skip(peer))
				return;
		} else if (peer->headers) {
			if (!take_framed(peer))
				return;
		} else if (take_line(&peer->in, fresh, &line)) {
			hear(peer, peer->on_message, line);
			buf_consume(&peer->in, line.len + 1);
		} else {
			if (peer->in.len <= PEER_MESSAGE_MAX)
				return;
			peer->skip = SIZE_MAX;
			peer->discarded++;
		}
		fresh = 0;
	}
}

static ssize_t
read_piece(int fd, struct buf *in)
{
	ssize_t got = read(fd, buf_space(in, PIECE), PIECE);

	if (got > 0)
		buf_added(in, (size_t)got);
	return got;
}

static void
stop(struct peer *peer, ev_io *watcher)
{
	ev_io_stop(peer->loop, watcher);
	if (watcher->fd >= 0)
		close(watcher->fd);
	ev_io_set(watcher, -1, 0);
}

static void
on_from(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct peer *peer = ev_userdata(loop);
	size_t had = peer->in.len;
	ssize_t got = read_piece(watcher->fd, &peer->in);

	(void)events;
	if (got > 0) {
		take_messages(peer, peer->skip > 0 ? 0 : had);
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		peer->ended = true;
		stop(peer, watcher);
	}
}

/* Reads what is there. */
static void
read_events(struct peer *peer)
{
	struct span line;
	size_t had = peer->events.len;

	while (read_piece(peer->log.fd, &peer->events) > 0) {
		/* canceld has opened what is in there, and is done with the names. */
		if (peer->directory[0] != '\0')
			remove_directory(peer);
		for (; take_line(&peer->events, had, &line); had = 0) {
			hear(peer, peer->on_event, line);
			buf_consume(&peer->events, line.len + 1);
		}
		had = peer->events.len;
		if (had > EVENT_MAX)
			buf_clear(&peer->events);
	}
}

static void
on_log(struct ev_loop *loop, ev_io *watcher, int events)
{
	(void)watcher;
	(void)events;
	read_events(ev_userdata(loop));
}

static void
on_to(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct peer *peer = ev_userdata(loop);
	struct span bytes = buf_span(&peer->out);
	ssize_t put = write(watcher->fd, bytes.ptr, bytes.len);

	(void)events;
	if (put >= 0)
		buf_consume(&peer->out, (size_t)put);
	else if (errno != EAGAIN && errno != EINTR)
		stop(peer, watcher);
	if (peer->out.len == 0)
		ev_io_stop(loop, watcher);
}

static void
on_child(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct peer *peer = ev_userdata(loop);

	(void)watcher;
	(void)events;
	if (!peer->exited && waitpid(peer->pid, &peer->status, WNOHANG) == peer->pid)
		peer->exited = true;
}

static void
on_interrupt(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct peer *peer = ev_userdata(loop);

	(void)events;
	peer->interrupted = watcher->signum;
}

static void
on_time(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)watcher;
	(void)events;
}

/* An empty configuration: the user's own is for other sessions. */
static int
write_config(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t put = fd < 0 ? -1 : write(fd, "{}\n", 3);

	if (fd >= 0)
		close(fd);
	return put == 3 ? 0 : -1;
}

/* A pipe with a name: canceld opens its log itself. */
static int
open_log(struct peer *peer)
{
	const char *temporary = getenv("TMPDIR");
	int fd = -1, error;

	if (temporary == NULL || temporary[0] != '/' || strlen(temporary) > PEER_PATH / 2)
		temporary = "/tmp";
	snprintf(peer->directory, sizeof(peer->directory), "%s/canceld-doctor-XXXXXX", temporary);
	if (mkdtemp(peer->directory) == NULL)
		return -1;
	snprintf(peer->pipe, sizeof(peer->pipe), "%s/log", peer->directory);
	snprintf(peer->config, sizeof(peer->config), "%s/config", peer->directory);
	if (write_config(peer->config) == 0 && mkfifo(peer->pipe, 0600) == 0)
		fd = open(peer->pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	peer->writer = fd < 0 ? -1 : open(peer->pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (peer->writer >= 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	remove_directory(peer);
	errno = error;
	return -1;
}

_Noreturn static void
become_canceld(struct peer *peer, const int fds[2], const struct peer_setup *setup)
{
	char *const *options = setup->options;
	char path[PROGRAM_SIZE], pipe[sizeof(peer->pipe)], config[sizeof(peer->config)];
	size_t words = 0, count = 0;
	char **argv;
	bool found = program_canceld(path);
	int quiet = setup->loud ? STDERR_FILENO : open("/dev/null", O_WRONLY);

	while (setup->command[count] != NULL)
		count++;
	argv = mem_resize(NULL, WORDS_MAX + count + 1, sizeof(*argv));
	memcpy(pipe, peer->pipe, sizeof(pipe));
	memcpy(config, peer->config, sizeof(config));
	argv[words++] = path;
	while (words < WORDS_MAX - 8 && *options != NULL)
		argv[words++] = *options++;
	argv[words++] = (char[]){ "--log-format=json" };
	argv[words++] = (char[]){ "-v" };
	argv[words++] = (char[]){ "--config" };
	argv[words++] = config;
	argv[words++] = (char[]){ "--log" };
	argv[words++] = pipe;
	argv[words++] = (char[]){ "--" };
	memcpy(argv + words, setup->command, (count + 1) * sizeof(*argv));
	if (dup2(fds[0], STDIN_FILENO) < 0 || dup2(fds[1], STDOUT_FILENO) < 0 || dup2(quiet, STDERR_FILENO) < 0)
		_exit(125);
	signal(SIGPIPE, SIG_DFL);
	if (setup->directory != NULL && chdir(setup->directory) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	if (found)
		execve(path, argv, setup->environment != NULL ? setup->environment : environ);
	_exit(STATUS_NOT_FOUND);
}

static int
start(struct peer *peer, int ends[2], const struct peer_setup *setup)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	sigset_t all, before;
	int error;

	/* Our handlers, in the child, would take a signal that is meant to end canceld. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0)
		peer->pid = fork();
	error = errno;
	for (int i = 0; peer->pid == 0 && i < PEER_SIGNALS; i++)
		signal(interrupting[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (peer->pid == 0)
		become_canceld(peer, (int[]){ in[0], out[1] }, setup);
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	ends[0] = in[1];
	ends[1] = out[0];
	if (peer->pid > 0) {
		fcntl(in[1], F_SETFL, O_NONBLOCK);
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		return 0;
	}
	if (in[1] >= 0)
		close(in[1]);
	if (out[0] >= 0)
		close(out[0]);
	errno = error;
	return -1;
}

static void
watch_signals(struct peer *peer)
{
	ev_set_userdata(peer->loop, peer);
	ev_signal_init(&peer->child, on_child, SIGCHLD);
	ev_signal_start(peer->loop, &peer->child);
	for (int i = 0; i < PEER_SIGNALS; i++) {
		ev_signal_init(&peer->interrupts[i], on_interrupt, interrupting[i]);
		ev_signal_start(peer->loop, &peer->interrupts[i]);
	}
	ev_timer_init(&peer->timer, on_time, 0, 0);
}

static void
unwatch_signals(struct peer *peer)
{
	ev_signal_stop(peer->loop, &peer->child);
	for (int i = 0; i < PEER_SIGNALS; i++)
		ev_signal_stop(peer->loop, &peer->interrupts[i]);
	ev_timer_stop(peer->loop, &peer->timer);
	ev_loop_destroy(peer->loop);
}

int
peer_start(struct peer *peer, const struct peer_setup *setup)
{
	int ends[2], log, error;

	*peer = (struct peer){
		.pid = -1,
		.due = MSEC_NEVER,
		.headers = setup->headers,
		.on_message = setup->on_message,
		.on_event = setup->on_event,
		.user = setup->user,
	};
	/* Before there is a directory that a signal would leave, and before the fork, so that no end of a child is missed. */
	peer->loop = ev_loop_new(EVFLAG_AUTO);
	watch_signals(peer);
	log = open_log(peer);
	if (log < 0 || start(peer, ends, setup) < 0) {
		error = errno;
		if (log >= 0) {
			close(log);
			close(peer->writer);
			remove_directory(peer);
		}
		unwatch_signals(peer);
		errno = error;
		return -1;
	}
	ev_io_init(&peer->to, on_to, ends[0], EV_WRITE);
	ev_io_init(&peer->from, on_from, ends[1], EV_READ);
	ev_io_init(&peer->log, on_log, log, EV_READ);
	ev_io_start(peer->loop, &peer->from);
	ev_io_start(peer->loop, &peer->log);
	return 0;
}

static int
append_dumped(const char *bytes, size_t len, void *out)
{
	buf_append(out, (struct span){ bytes, len });
	return 0;
}

void
peer_send(struct peer *peer, json_t *message)
{
	char head[64];
	struct buf text;

	buf_init(&text);
	json_dump_callback(message, append_dumped, &text, JSON_COMPACT);
	json_decref(message);
	snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", text.len);
	if (peer->to.fd >= 0) {
		buf_append(&peer->out, peer->headers ? span_of(head) : SPAN_NONE);
		buf_append(&peer->out, buf_span(&text));
		buf_append(&peer->out, peer->headers ? SPAN_NONE : SPAN("\n"));
		ev_io_start(peer->loop, &peer->to);
	}
	buf_free(&text);
}

msec_t
peer_now(struct peer *peer)
{
	msec_t now = monotonic_now();

	if (now > peer->due) {
		peer->late += now - peer->due;
		peer->due = now;
	}
	return now - peer->late;
}

bool
peer_turn(struct peer *peer, msec_t until)
{
	msec_t left = until - peer_now(peer);
	msec_t wait = left < TURN ? left : TURN;

	if (peer->interrupted != 0 || (peer->exited && peer->ended))
		return false;
	if (left <= 0) {
		ev_run(peer->loop, EVRUN_NOWAIT);
		return false;
	}
	peer->due = monotonic_now() + wait + 1; /* the timer may be a fraction late */
	ev_now_update(peer->loop);
	ev_timer_stop(peer->loop, &peer->timer);
	ev_timer_set(&peer->timer, (double)wait / 1000, 0);
	ev_timer_start(peer->loop, &peer->timer);
	ev_run(peer->loop, EVRUN_ONCE);
	peer_now(peer);
	peer->due = MSEC_NEVER;
	return true;
}

void
peer_close_input(struct peer *peer)
{
	/* What canceld does not read now, it never will. */
	msec_t until = peer_now(peer) + 1000;

	while (peer->out.len > 0 && peer->to.fd >= 0 && peer_turn(peer, until))
		;
	stop(peer, &peer->to);
}

void
peer_finish(struct peer *peer, msec_t until)
{
	int interrupted;

	while (peer_turn(peer, until))
		;
	interrupted = peer->interrupted;
	if (!peer->exited)
		kill(peer->pid, SIGTERM);
	/* After a signal canceld needs 0.7 s. */
	for (until = peer_now(peer) + 2000; !peer->exited && peer_now(peer) < until;) {
		peer->interrupted = 0;
		peer_turn(peer, until);
	}
	peer->interrupted = interrupted;
	if (!peer->exited) {
		kill(peer->pid, SIGKILL);
		waitpid(peer->pid, &peer->status, 0);
		peer->exited = true;
	}
	read_events(peer);
}

void
peer_free(struct peer *peer)
{
	stop(peer, &peer->to);
	stop(peer, &peer->from);
	stop(peer, &peer->log);
	close(peer->writer);
	if (peer->directory[0] != '\0')
		remove_directory(peer);
	unwatch_signals(peer);
	buf_free(&peer->in);
	buf_free(&peer->out);
	buf_free(&peer->events);
}
