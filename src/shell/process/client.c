#include "shell/life.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "core/limits.h"
#include "shell/io.h"
#include "shell/system.h"

/* proc(5): whether the process has our pipe or socket as its descriptor 0; false also if that cannot be read. */
static bool
has_ours(pid_t pid, const struct stat *ours)
{
	char path[64];
	struct stat other;

	snprintf(path, sizeof(path), "/proc/%ld/fd/0", (long)pid);
	return proc_is_own() && stat(path, &other) == 0 && other.st_dev == ours->st_dev && other.st_ino == ours->st_ino;
}

static int
open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

/*
 * The client's process is the nearest ancestor whose descriptor 0 is not the pipe or socket that is ours, as shells and
 * launchers hand theirs on; one whose descriptors cannot be read counts as the client. It is not known if our input is
 * neither pipe nor socket, or the client would be init. PR_SET_PDEATHSIG would report only the end of the thread that
 * started this process.
 */
static int
watch_process(int input, pid_t *process)
{
	struct stat ours;
	int fd = -1;

	if (fstat(input, &ours) < 0 || (!S_ISFIFO(ours.st_mode) && !S_ISSOCK(ours.st_mode)))
		return -1;
	for (pid_t pid = getppid(); pid > 1 && (fd = open_process(pid)) >= 0; pid = proc_parent(pid)) {
		/* Read while fd is open: the pid cannot be reused for another process then. */
		if (!has_ours(pid, &ours)) {
			*process = pid;
			return fd;
		}
		close(fd);
	}
	return -1;
}

/* These descriptors stay readable, so each wakes the loop once only. */
static void
settle_watches(struct client *client)
{
	descriptor_want(&client->hangup, client->hangup.ready ? 0 : EV_READ);
	descriptor_want(&client->exit, client->exit.ready ? 0 : EV_READ);
}

void
client_open(struct client *client)
{
	const struct port *port = client->port;
	/* The work has to go on without the client in the background of a shell that has exited, or with a file's input. */
	bool outlives = client->options->drain || port->in.file || signals_ignored(SIGHUP);
	int fd = outlives ? -1 : watch_process(port->in.given, &client->process);

	client->until = MSEC_NEVER;
	client->hangup = descriptor_watch(&port->in, true);
	if (client->hangup.fd < 0 && errno != EPERM && errno != ENOSYS)
		log_failure(client->log, "watch stdin", errno);
	client->exit = (struct descriptor){ .fd = fd, .given = fd, .pollable = true };
	settle_watches(client);
}

void
client_close(struct client *client)
{
	descriptor_close(&client->hangup);
	descriptor_close(&client->exit);
}

bool
client_is_deaf(const struct client *client)
{
	return port_is_closed(client->port) || client->exit.ready;
}

/* In a dry run the server may still answer the handshake. */
static bool
wants_end(const struct client *client)
{
	return client->session->server.hung && !client->options->session.dry_run;
}

bool
client_is_over(const struct client *client)
{
	return client->state != CLIENT_PRESENT || wants_end(client);
}

bool
client_needs_server(const struct client *client)
{
	if (client->state == CLIENT_DRAINING)
		return session_outstanding(client->session, SIDE_CLIENT) > 0 && port_queued(client->port) > 0;
	return client->state == CLIENT_PRESENT;
}

msec_t
client_wake(const struct client *client, bool served)
{
	/* A turn writes after client_turn: the next one has to handle what that has found. */
	if (port_is_closed(client->port) && client->state != CLIENT_LEFT && !wants_end(client))
		return 0;
	return client->state == CLIENT_LEFT && served ? MSEC_NEVER : client->until;
}

/*
 * Whether the client has closed its end of stdin while the rest of stdin is not read, because the server reads nothing
 * or the client does not read its answers.
 */
static void
note_hangup(struct client *client, msec_t now)
{
	const struct port *port = client->port;

	if (client->options->drain || port->in.ended || !port->throttled || !client->hangup.ready)
		client->until = MSEC_NEVER;
	else if (client->until == MSEC_NEVER)
		client->until = now + TIME_HANGUP_WAIT;
}

static msec_t
time_or(msec_t given, msec_t built_in)
{
	return given == MSEC_NEVER ? built_in : given;
}

static enum leaving
way_to_leave(const struct client *client, bool signalled)
{
	bool deaf = client_is_deaf(client);

	if (signalled || (!deaf && client->state == CLIENT_DRAINING))
		return LEAVE_TERMINATED;
	return !deaf && (client->options->drain || client->port->in.file) ? LEAVE_DRAIN : LEAVE_CANCEL;
}

/* The client does not stay in its state. */
static void
leave(struct client *client, bool signalled, msec_t now)
{
	int64_t outstanding = (int64_t)session_outstanding(client->session, SIDE_CLIENT);
	enum leaving leaving = way_to_leave(client, signalled);
	const struct options *options = client->options;
	bool early;

	client->left_deaf = client_is_deaf(client);
	early = leaving == LEAVE_CANCEL && !client->left_deaf && outstanding > 0;
	client->port->in.ended = true; /* nothing more is read */
	if (leaving == LEAVE_DRAIN) {
		client->state = CLIENT_DRAINING;
		client->until = options->drain_for == MSEC_NEVER ? MSEC_NEVER : now + options->drain_for;
	} else {
		client->state = CLIENT_LEFT;
		client->until = now + TIME_FLUSH_WAIT + time_or(options->term_after, TIME_CLOSE_WAIT) +
		    time_or(options->kill_after, TIME_TERM_WAIT);
	}
	if (leaving != LEAVE_TERMINATED)
		log_event(client->log, early ? WHY_INPUT_ENDED_EARLY : WHY_INPUT_ENDED,
		    LOG_FIELDS(log_number("outstanding", outstanding),
			log_string("hint", early ? "--drain would wait for the answers" : NULL)));
	session_client_leaves(client->session, leaving);
}

enum client_end
client_turn(struct client *client, bool signalled, msec_t now)
{
	const msec_t hasty = now + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT + TIME_HASTY_TERM_WAIT;
	bool ended = client->state == CLIENT_PRESENT && client->port->in.ended;

	settle_watches(client);
	if (client->state == CLIENT_PRESENT)
		note_hangup(client, now);
	if (wants_end(client) && !signalled)
		return CLIENT_ENDS;
	if (client->state != CLIENT_LEFT && (signalled || ended || client_is_deaf(client) || now >= client->until))
		leave(client, signalled, now);
	if (signalled) {
		client->until = earlier(client->until, hasty);
		return CLIENT_ENDS_SOON;
	}
	if (client->state == CLIENT_DRAINING &&
	    (session_outstanding(client->session, SIDE_CLIENT) > 0 || session_turn_runs(client->session)))
		return CLIENT_STAYS;
	return client->state == CLIENT_PRESENT ? CLIENT_STAYS : CLIENT_ENDS;
}
