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

void
client_open(struct life *life)
{
	struct client *client = &life->client;
	const struct descriptor *in = &client->port->in;
	/* The work has to go on without the client in the background of a shell that has exited, or with a file's input. */
	bool outlives = life->options->drain || in->file || signals_ignored(SIGHUP);
	int fd = outlives ? -1 : watch_process(in->given, &client->process);

	client->until = MSEC_NEVER;
	client->hangup = descriptor_watch(in, true);
	if (client->hangup.fd < 0 && errno != EPERM && errno != ENOSYS)
		log_failure(life->log, "watch stdin", errno);
	client->exit = (struct descriptor){ .fd = fd, .given = fd, .pollable = true };
}

bool
client_is_deaf(const struct client *client)
{
	return port_is_closed(client->port) || client->exit.ready;
}

bool
client_needs_server(const struct life *life)
{
	const struct client *client = &life->client;

	if (client->state == CLIENT_DRAINING)
		return session_outstanding(life->session, SIDE_CLIENT) > 0 && port_queued(client->port) > 0;
	return client->state == CLIENT_PRESENT;
}

msec_t
client_wake(const struct life *life)
{
	const struct client *client = &life->client;

	if (client->state == CLIENT_LEFT)
		return supervisor_is_over(&life->supervisor) ? client->until : MSEC_NEVER;
	/* A turn writes after client_turn: the next one has to handle what that has found. */
	return port_is_closed(client->port) && client->state != CLIENT_UNSERVED ? 0 : client->until;
}

/*
 * Whether the client has closed its end of stdin while the rest of stdin is not read, because the server reads nothing
 * or the client does not read its answers.
 */
static void
note_hangup(struct life *life)
{
	struct client *client = &life->client;
	const struct port *port = client->port;

	if (life->options->drain || port->in.ended || !port->throttled || !client->hangup.ready)
		client->until = MSEC_NEVER;
	else if (client->until == MSEC_NEVER)
		client->until = life->now + TIME_HANGUP_WAIT;
}

static msec_t
time_or(msec_t given, msec_t built_in)
{
	return given == MSEC_NEVER ? built_in : given;
}

static enum leaving
way_to_leave(const struct life *life, bool signalled)
{
	const struct client *client = &life->client;
	bool deaf = client_is_deaf(client);

	if (signalled || (!deaf && client->state == CLIENT_DRAINING))
		return LEAVE_TERMINATED;
	return !deaf && (life->options->drain || client->port->in.file) ? LEAVE_DRAIN : LEAVE_CANCEL;
}

/* The client does not stay in its state. */
static void
leave(struct life *life, bool signalled)
{
	struct client *client = &life->client;
	int64_t outstanding = (int64_t)session_outstanding(life->session, SIDE_CLIENT);
	enum leaving leaving = way_to_leave(life, signalled);
	const struct options *options = life->options;
	bool early;

	client->left_deaf = client_is_deaf(client);
	early = leaving == LEAVE_CANCEL && !client->left_deaf && outstanding > 0;
	client->port->in.ended = true; /* nothing more is read */
	if (leaving == LEAVE_DRAIN) {
		client->state = CLIENT_DRAINING;
		client->until = options->drain_for == MSEC_NEVER ? MSEC_NEVER : life->now + options->drain_for;
	} else {
		client->state = CLIENT_LEFT;
		client->until = life->now + TIME_FLUSH_WAIT + time_or(options->term_after, TIME_CLOSE_WAIT) +
		    time_or(options->kill_after, TIME_TERM_WAIT);
	}
	if (leaving != LEAVE_TERMINATED)
		log_event(life->log, early ? WHY_INPUT_ENDED_EARLY : WHY_INPUT_ENDED,
		    LOG_FIELDS(log_number("outstanding", outstanding),
			log_string("hint", early ? "--drain would wait for the answers" : NULL)));
	session_client_leaves(life->session, leaving, life->now);
}

enum supervisor_event
client_turn(struct life *life)
{
	const msec_t hasty = life->now + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT + TIME_HASTY_TERM_WAIT;
	struct client *client = &life->client;
	bool signalled = signals_ending() != 0, gone;

	if (client->state == CLIENT_PRESENT)
		note_hangup(life);
	gone = client_is_deaf(client) || (client->state == CLIENT_PRESENT && client->port->in.ended) ||
	    life->now >= client->until;
	/* In a dry run the server may still answer the handshake. */
	if (life->server->hung && !life->options->session.dry_run && client->state != CLIENT_LEFT) {
		client->state = CLIENT_UNSERVED;
		client->until = MSEC_NEVER;
	}
	if (client->state != CLIENT_LEFT && (signalled || (gone && client->state != CLIENT_UNSERVED)))
		leave(life, signalled);
	if (signalled) {
		client->until = earlier(client->until, hasty);
		return SUPERVISE_HASTEN;
	}
	if (client->state == CLIENT_DRAINING &&
	    (session_outstanding(life->session, SIDE_CLIENT) > 0 || session_turn_runs(life->session)))
		return SUPERVISE_NOTHING;
	return client->state == CLIENT_PRESENT ? SUPERVISE_NOTHING : SUPERVISE_END;
}
