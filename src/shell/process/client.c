#include "shell/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/limits.h"
#include "shell/io.h"
#include "shell/system.h"

enum {
	READER_GONE,  /* stdout has no reader any more */
	HUNG_UP,      /* stdin has no writer any more, but may contain more to be read */
	PROCESS_GONE, /* the client's process has ended */
};

/*
 * The end of the client's process is ignored where the work has to go on without it: in the background of a shell that
 * has exited, or with input from a file.
 */
static bool
outlives_client(const struct client *client, const struct saved_signals *saved)
{
	return client->options->drain || client->port->in.file || signals_ignored(saved, SIGHUP);
}

void
client_open(struct client *client, const struct options *options, struct log *log, struct session *session,
    const struct port *port, struct ev_loop *loop, const struct saved_signals *saved)
{
	int fds[CLIENT_WATCHES], i;

	*client = (struct client){ .options = options, .log = log, .session = session, .port = port, .loop = loop };
	client->hung_until = client->drain_until = client->leave_by = MSEC_NEVER;
	fds[READER_GONE] = descriptor_watch(&port->out, false);
	if (fds[READER_GONE] < 0 && errno != EPERM && errno != ENOSYS)
		log_failure(log, "watch stdout", errno);
	fds[HUNG_UP] = descriptor_watch(&port->in, true);
	if (fds[HUNG_UP] < 0 && errno != EPERM && errno != ENOSYS)
		log_failure(log, "watch stdin", errno);
	/* PR_SET_PDEATHSIG reports only the end of the thread that started this process. */
	fds[PROCESS_GONE] = outlives_client(client, saved) ? -1 : ancestor_watch(port->in.given);
	for (i = 0; i < CLIENT_WATCHES; i++) {
		watcher_init(&client->watchers[i], fds[i], EV_READ, &client->noted[i]);
		watcher_set(loop, &client->watchers[i], true);
	}
}

void
client_close(struct client *client)
{
	int i;

	for (i = 0; i < CLIENT_WATCHES; i++) {
		watcher_set(client->loop, &client->watchers[i], false);
		if (client->watchers[i].fd >= 0)
			close(client->watchers[i].fd);
	}
}

bool
client_is_deaf(const struct client *client)
{
	return client->noted[READER_GONE] || client->noted[PROCESS_GONE] || client->port->out.broken;
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
	return client->hung_until < wake ? client->hung_until : wake;
}

/*
 * These descriptors stay readable, so each wakes the loop once only; that of a hangup may turn readable for another
 * reason.
 */
static void
settle_watchers(struct client *client)
{
	int i;

	if (client->noted[HUNG_UP] && ev_is_active(&client->watchers[HUNG_UP]))
		client->noted[HUNG_UP] = descriptor_hung_up(client->watchers[HUNG_UP].fd);
	for (i = 0; i < CLIENT_WATCHES; i++)
		if (client->noted[i])
			watcher_set(client->loop, &client->watchers[i], false);
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
	    !client->noted[HUNG_UP])
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
	msec_t leave_by = now + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT + TIME_HASTY_TERM_WAIT;

	if (client->state != CLIENT_LEFT)
		leave(client, LEAVE_TERMINATED, now);
	if (leave_by < client->leave_by)
		client->leave_by = leave_by;
}

static void
leave_at_end(struct client *client, msec_t now)
{
	bool deaf = client_is_deaf(client);
	bool drain = !deaf && (client->options->drain || client->port->in.file);

	if (drain && client->options->drain_for != MSEC_NEVER)
		client->drain_until = now + client->options->drain_for;
	leave(client, drain ? LEAVE_DRAIN : LEAVE_CANCEL, now);
}

enum client_end
client_turn(struct client *client, bool signalled, msec_t now)
{
	bool gone, deaf = client_is_deaf(client);

	settle_watchers(client);
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

/* proc(5): the line "Pid:" in fdinfo of the descriptor that watches the process. */
pid_t
client_process(const struct client *client)
{
	char path[64], text[512];
	const char *line;

	if (client->watchers[PROCESS_GONE].fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", client->watchers[PROCESS_GONE].fd);
	line = proc_is_own() && proc_read(path, text, sizeof(text)) ? strstr(text, "\nPid:") : NULL;
	return line == NULL ? 0 : (pid_t)strtol(line + strlen("\nPid:"), NULL, 10);
}
