#include "shell/life.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "core/limits.h"
#include "shell/io.h"
#include "shell/system.h"

enum {
	READER_GONE,  /* stdout has no reader any more */
	HUNG_UP,      /* stdin has no writer any more, but may contain more to be read */
	PROCESS_GONE, /* the client's process has ended */
};

enum {
	GENERATIONS = 32,
	NAME = 64, /* "pipe:[4026531840]" */
};

/* proc(5): what a descriptor of the process is, such as "socket:[7]"; "" if that cannot be read. */
static void
name_descriptor(pid_t pid, int fd, char name[NAME])
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)pid, fd);
	len = proc_is_own() ? readlink(path, name, NAME - 1) : 0;
	name[len > 0 ? len : 0] = '\0';
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
	char own[NAME], other[NAME];
	struct stat status;
	pid_t pid = getppid();

	if (fstat(input, &status) < 0 || (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)))
		return -1;
	name_descriptor(getpid(), input, own);
	for (int i = 0; i < GENERATIONS && pid > 1; i++, pid = proc_parent(pid)) {
		int fd = open_process(pid);
		bool gone = fd < 0 || (i == 0 && getppid() != pid);

		/* Read while fd is open: the pid cannot be reused for another process then. */
		name_descriptor(pid, STDIN_FILENO, other);
		*process = pid;
		if (!gone && (other[0] == '\0' || strcmp(own, other) != 0))
			return fd;
		if (fd >= 0)
			close(fd);
		if (gone)
			break;
	}
	return -1;
}

/* These descriptors stay readable, so each wakes the loop once only. */
static void
settle_watches(struct client *client)
{
	for (int i = 0; i < CLIENT_WATCHES; i++)
		descriptor_want(&client->watches[i], client->watches[i].ready ? 0 : EV_READ);
}

static struct descriptor
watch_stream(struct client *client, const struct descriptor *stream, bool hangup)
{
	struct descriptor watch = descriptor_watch(stream, hangup);

	if (watch.fd < 0 && errno != EPERM && errno != ENOSYS)
		log_failure(client->log, hangup ? "watch stdin" : "watch stdout", errno);
	return watch;
}

void
client_open(struct client *client)
{
	const struct port *port = client->port;
	/* The work has to go on without the client in the background of a shell that has exited, or with a file's input. */
	bool outlives = client->options->drain || port->in.file || signals_ignored(SIGHUP);
	int fd = outlives ? -1 : watch_process(port->in.given, &client->process);

	client->hung_until = client->drain_until = client->leave_by = MSEC_NEVER;
	client->watches[READER_GONE] = watch_stream(client, &port->out, false);
	client->watches[HUNG_UP] = watch_stream(client, &port->in, true);
	client->watches[PROCESS_GONE] = (struct descriptor){ .fd = fd, .given = fd, .pollable = true };
	settle_watches(client);
}

void
client_close(struct client *client)
{
	for (int i = 0; i < CLIENT_WATCHES; i++)
		descriptor_close(&client->watches[i]);
}

pid_t
client_process(const struct client *client)
{
	const struct descriptor *watch = &client->watches[PROCESS_GONE];

	return watch->fd >= 0 && !watch->ready ? client->process : 0;
}

bool
client_is_deaf(const struct client *client)
{
	return client->watches[READER_GONE].ready || client->watches[PROCESS_GONE].ready || client->port->out.broken;
}

/* In a dry run the server may still answer the handshake. */
static bool
wants_end(const struct client *client)
{
	return session_server(client->session)->hung && !client->options->session.dry_run;
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
client_wake(const struct client *client)
{
	msec_t wake = client->state == CLIENT_DRAINING ? client->drain_until : MSEC_NEVER;

	/* A turn writes after client_turn: the next one has to handle what that has found. */
	if (client->port->out.broken && client->state != CLIENT_LEFT && !wants_end(client))
		return 0;
	return earlier(client->hung_until, wake);
}

/*
 * Whether the client has closed its end of stdin while the rest of stdin is not read, because the server reads nothing
 * or the client does not read its answers.
 */
static void
note_hangup(struct client *client, msec_t now)
{
	const struct port *port = client->port;

	if (client->state != CLIENT_PRESENT || client->options->drain || port->in.ended || !port->throttled ||
	    !client->watches[HUNG_UP].ready)
		client->hung_until = MSEC_NEVER;
	else if (client->hung_until == MSEC_NEVER)
		client->hung_until = now + TIME_HANGUP_WAIT;
}

static msec_t
time_or(msec_t given, msec_t built_in)
{
	return given == MSEC_NEVER ? built_in : given;
}

static void
leave(struct client *client, enum leaving leaving, msec_t now)
{
	int64_t outstanding = (int64_t)session_outstanding(client->session, SIDE_CLIENT);
	bool deaf = client_is_deaf(client), early = leaving == LEAVE_CANCEL && !deaf && outstanding > 0;

	client->state = leaving == LEAVE_DRAIN ? CLIENT_DRAINING : CLIENT_LEFT;
	client->leave_by = now + TIME_FLUSH_WAIT + time_or(client->options->term_after, TIME_CLOSE_WAIT) +
	    time_or(client->options->kill_after, TIME_TERM_WAIT);
	if (leaving != LEAVE_TERMINATED)
		log_event(client->log, early ? WHY_INPUT_ENDED_EARLY : WHY_INPUT_ENDED,
		    LOG_FIELDS(log_number("outstanding", outstanding),
			log_string("hint", early ? "--drain would wait for the answers" : NULL)));
	client->left_deaf = deaf;
	session_client_leaves(client->session, leaving, now);
}

static void
leave_on_signal(struct client *client, msec_t now)
{
	if (client->state != CLIENT_LEFT)
		leave(client, LEAVE_TERMINATED, now);
	client->leave_by =
	    earlier(client->leave_by, now + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT + TIME_HASTY_TERM_WAIT);
}

static void
leave_at_end(struct client *client, msec_t now)
{
	bool drain = !client_is_deaf(client) && (client->options->drain || client->port->in.file);

	if (drain && client->options->drain_for != MSEC_NEVER)
		client->drain_until = now + client->options->drain_for;
	leave(client, drain ? LEAVE_DRAIN : LEAVE_CANCEL, now);
}

enum client_end
client_turn(struct client *client, bool signalled, msec_t now)
{
	bool gone, deaf = client_is_deaf(client);

	settle_watches(client);
	note_hangup(client, now);
	gone = deaf || client->port->in.ended || now >= client->hung_until;
	if (signalled) {
		leave_on_signal(client, now);
		return CLIENT_ENDS_SOON;
	}
	if (wants_end(client))
		return CLIENT_ENDS;
	if (client->state == CLIENT_PRESENT && gone)
		leave_at_end(client, now);
	else if (client->state == CLIENT_DRAINING && (deaf || now >= client->drain_until))
		leave(client, deaf ? LEAVE_CANCEL : LEAVE_TERMINATED, now);
	if (client->state == CLIENT_DRAINING &&
	    (session_outstanding(client->session, SIDE_CLIENT) > 0 || session_turn_runs(client->session)))
		return CLIENT_STAYS;
	return client->state == CLIENT_PRESENT ? CLIENT_STAYS : CLIENT_ENDS;
}
