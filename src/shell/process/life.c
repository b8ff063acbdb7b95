/*
 *   WAITING ─▶ STARTING ─▶ RUNNING ─ exit, end of file, or canceld ends it ─▶ SWEEPING ─▶ ENDED
 *      ▲          └──────── it cannot be executed ────────────────────────────▶ │
 *      └─────────────── another server follows ◀────────────────────────────────┘
 *
 * All states, and the steps from one to the next: src/core/process/supervisor.c.
 */
#include "shell/life.h"

#include "core/compose.h"

enum { LOOK = 250 }; /* ms from one look to the next */

static void
open_client(struct life *life)
{
	struct client *client = &life->client;
	const struct descriptor *in = &client->port->in;

	client->exit = descriptor_watch(system_watch_client(in->given, &client->process));
	if (client->process > 0)
		system_name(client->process, client->name);
	/*
	 * The work has to go on without the client in the background of a shell that has exited, or
	 * with a file's input.
	 */
	if (life->options->drain || in->file || signals_ignored(SIGHUP))
		descriptor_close(&client->exit);
	client->until = MSEC_NEVER;
	client->hangup = descriptor_watch(system_watch_end(in->fd, true));
	if (client->hangup.fd < 0 && errno != EPERM && errno != ENOSYS)
		log_failure(life->log, "watch stdin", errno);
	life->look = system_has(SYSTEM_SEES_ENDS) ? MSEC_NEVER : life->now;
}

/*
 * Where nothing wakes the loop as the other end goes, and nothing is read or written that would
 * show it.
 */
static void
look_at_ends(struct life *life)
{
	struct port *client = life->client.port;

	if (life->now < life->look)
		return;
	life->look = life->now + LOOK;
	descriptor_look(&client->in, &life->client.hangup);
	descriptor_look(&client->out, &client->reader);
	descriptor_look(&life->port->out, &life->port->reader);
}

/* Whether the client reads no more answers. */
static bool
is_deaf(const struct client *client)
{
	return port_is_closed(client->port) || client->exit.ready;
}

/* Whether its descriptors show no end of it. */
static bool
is_connected(const struct client *client)
{
	return !port_is_closed(client->port) && !client->port->in.ended && !client->hangup.ready;
}

bool
life_shares_group(const struct life *life)
{
	const struct client *client = &life->client;

	return client->state == CLIENT_PRESENT && is_connected(client) && !client->exit.ready &&
	    client->process > 0 && getpgid(client->process) == getpgrp();
}

/*
 * Whether a new server could still answer the client: the client may send more, or has requests
 * that the old server has not read.
 */
static bool
needs_server(const struct life *life)
{
	struct request_view view = { 0 };

	while (life->client.state == CLIENT_DRAINING &&
	    session_next_request(life->session, SIDE_CLIENT, view.request, &view))
		if (view.state == REQUEST_QUEUED || request_is_untaken(view.request))
			return true;
	return life->client.state == CLIENT_PRESENT;
}

/*
 * Whether the client has closed its end of stdin while the rest of stdin is not read, because the
 * server reads nothing or the client does not read its answers.
 */
static void
note_hangup(struct life *life)
{
	struct client *client = &life->client;

	if (life->options->drain || client->port->in.ended || !client->port->throttled ||
	    !client->hangup.ready)
		client->until = MSEC_NEVER;
	else if (client->until == MSEC_NEVER)
		client->until = life->now + TIME_HANGUP_WAIT;
}

static msec_t
time_or(msec_t given, msec_t built_in)
{
	return given == MSEC_NEVER ? built_in : given;
}

static msec_t
patience_of(const struct life *life)
{
	return life->server->closed ?
	    TIME_EXIT_WAIT :
	    TIME_CLOSE_WAIT + session_view(life->session).dialect->patience;
}

static void
leave(struct life *life, enum leaving leaving)
{
	struct client *client = &life->client;
	int64_t outstanding = (int64_t)session_outstanding(life->session, SIDE_CLIENT);
	bool deaf = is_deaf(client), unseen = deaf && is_connected(client);
	bool early = leaving == LEAVE_CANCEL && !deaf && outstanding > 0;
	msec_t wait = leaving == LEAVE_DRAIN ?
	    life->options->drain_for :
	    TIME_FLUSH_WAIT + time_or(life->options->term_after, patience_of(life)) +
		time_or(life->options->kill_after, TIME_TERM_WAIT);
	enum why why = WHY_INPUT_ENDED;
	const char *hint = NULL;

	if (unseen) {
		why = WHY_CLIENT_ENDED;
		hint = "if it was not the client: --drain waits for the end of the connection";
	} else if (early) {
		why = WHY_INPUT_ENDED_EARLY;
		hint = "--drain would wait for the answers";
	}
	client->left_deaf = deaf;
	client->port->in.ended = true; /* nothing more is read */
	client->until = wait == MSEC_NEVER ? MSEC_NEVER : life->now + wait;
	if (leaving != LEAVE_TERMINATED)
		log_event(life->log, why, log_positive("process", unseen ? client->process : 0),
		    log_string("name", unseen ? client->name : NULL),
		    log_number("outstanding", outstanding), log_string("hint", hint));
	session_client_leaves(life->session, leaving);
}

/* The weightiest of what was noted since the last round. */
static enum client_event
event_of_client(const struct life *life)
{
	const struct client *client = &life->client;
	const struct descriptor *in = &client->port->in;

	if (signals_ending() != 0)
		return CLIENT_SIGNAL;
	/* In a dry run the server may still answer the handshake. */
	if (life->server->hung && !life->options->session.dry_run)
		return CLIENT_HUNG;
	if (is_deaf(client))
		return CLIENT_DEAF;
	if (life->now >= client->until)
		return CLIENT_TIME;
	if (!in->ended)
		return CLIENT_STAYS;
	return life->options->drain || in->file ? CLIENT_FINISHES : CLIENT_ENDS;
}

/* Tells the session of the client's life. Returns what the server has to do. */
static enum supervisor_event
hear_client(struct life *life)
{
	struct client *client = &life->client;
	enum client_event event = event_of_client(life);
	enum leaving leaving = client_handle(&client->state, event);

	if (leaving != LEAVE_NOT)
		leave(life, leaving);
	else if (client->state == CLIENT_UNSERVED)
		client->until = MSEC_NEVER;
	if (event == CLIENT_SIGNAL) {
		client->until = earlier(client->until,
		    life->now + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT +
			TIME_HASTY_TERM_WAIT);
		return SUPERVISE_SIGNAL;
	}
	if (client->state == CLIENT_PRESENT ||
	    (client->state == CLIENT_DRAINING &&
		(session_outstanding(life->session, SIDE_CLIENT) > 0 ||
		    session_turn_runs(life->session))))
		return SUPERVISE_NOTHING;
	return SUPERVISE_END;
}

/* Reported on stderr too if the log goes to a file, as a person looks there first. */
static void
report_failure(struct life *life)
{
	const char *program = life->options->command[0];
	const size_t verb = strlen("cannot ");
	BUF_AUTO words = { 0 };
	struct span whole;
	size_t doing;

	compose_text(&words, "cannot start ");
	command_append_word(&words, life->options->command, 0);
	words.len -= command_is_line(program); /* the '*' for its arguments */
	doing = words.len;
	compose_text(&words, ": ");
	if (life->child.unguarded != NULL)
		compose_text(&words, "its guardian was lost: %s", life->child.unguarded);
	else
		command_explain(&words, program, life->child.error);
	whole = buf_span(&words);
	log_event(life->log, WHY_FAILED, log_text("doing", span_part(whole, verb, doing - verb)),
	    log_text("reason", span_from(whole, doing + strlen(": "))));
	if (life->options->log.file != NULL)
		relay_say(&life->relay, whole);
	(life->server->life == SERVER_AWAY ? session_quote : session_refuse)(life->session, whole);
}

/* What becomes of a session that is not over. */
static const char *
hint_of_exit(const struct life *life)
{
	if (life->resting)
		return life->server->probed ?
		    "it ended on server/discover, and is started again with the next request; --legacy spares that" :
		    "it is started again with the next request";
	/* Not after a person's restart either, until the next server accepts requests. */
	return life->options->restarts > 0 || life->server->refusal.len > 0 ||
		life->options->session.dry_run || !needs_server(life) ||
		session_cannot_restart(life->session) != NULL ?
	    NULL :
	    "-r starts it again in the same session";
}

static void
report_exit(struct life *life)
{
	const struct child *child = &life->child;
	bool ended = life->server->closed ||
	    (life->supervisor.ours && life->supervisor.next_start == MSEC_NEVER &&
		life->client.state != CLIENT_PRESENT);

	log_event(life->log, ended ? WHY_SERVER_ENDED : WHY_SERVER_EXITED,
	    log_positive("signal", child->signal),
	    child->status < 0 ? log_string("status", NULL) : log_number("status", child->status),
	    log_string("reason",
		life->server->status == STATUS_SILENT ? "it had closed its standard output" :
		    child->signal > 0                 ? strsignal(child->signal) :
							NULL),
	    log_string("hint", ended ? NULL : hint_of_exit(life)));
}

static void
detach(struct life *life)
{
	port_close(life->port);
	descriptor_close(&life->child.control);
}

/* Whether a server that fails now is to be replaced. */
static bool
wants_successor(const struct life *life)
{
	return (life->options->restarts > 0 || life->server->dismissed) && needs_server(life);
}

static bool
is_replaceable(const struct life *life)
{
	return wants_successor(life) && session_cannot_restart(life->session) == NULL;
}

/* Plans another server after a failure; false: none will follow. */
static bool
plan_successor(struct life *life)
{
	const char *obstacle = session_cannot_restart(life->session);

	if (!wants_successor(life)) {
		session_explain(life->session,
		    hint_of_exit(life) != NULL ? "-r was not given" : NULL);
		return false;
	}
	if (obstacle == NULL)
		obstacle = starter_obstacle();
	/* What canceld had to end was of no use, however long it ran. */
	if (life->server->refusal.len > 0)
		life->restart.last = life->now;
	if (life->server->dismissed)
		life->restart.wait = life->restart.row = 0;
	else if (obstacle == NULL &&
	    restart_after(&life->restart, life->server->served, life->now) == MSEC_NEVER)
		obstacle = life->restart.row == LIMIT_UNSERVED ?
		    "it was started 20 times in a row and answered no request of the client's" :
		    "it has failed more often than --restart=N/DURATION allows, which is 5/1m by default; -r1000/1m allows 1000 in a minute";
	session_explain(life->session, obstacle);
	if (obstacle == NULL)
		life->supervisor.next_start = life->now + life->restart.wait;
	else
		log_event(life->log, WHY_RESTART_REFUSED, log_string("reason", obstacle));
	return obstacle == NULL;
}

/*
 * The hint names the option that decides on it. A signal to canceld had ended the wait for SIGTERM.
 */
static void
on_signalled(void *context, pid_t pid, int signal, const char *name)
{
	struct life *life = context;
	bool killed = signal == SIGKILL;
	BUF_AUTO container = { 0 };
	const char *hint = NULL;

	if (signal & SWEEP_APART)
		hint = "--sweep group spares what has left the server";
	else if (killed)
		hint = "--kill-after gives it more time";
	else if (life->supervisor.ours && !life->supervisor.signalled)
		hint = "--term-after gives it more time";
	if (signal < 0)
		log_event(life->log, WHY_NOT_SWEPT, log_number("process", pid),
		    log_string("name", name),
		    log_string("reason",
			signal == SWEEP_FOREIGN ? "it is another user's" :
						  "it does not end: stuck in the kernel?"));
	else
		log_event(life->log, pid == life->child.pid ? WHY_FORCED : WHY_SWEPT,
		    log_string("step", killed ? "SIGKILL" : "SIGTERM"), log_number("process", pid),
		    log_string("name", name), log_string("hint", hint));
	if (killed && pid == life->child.pid &&
	    command_runs_container(life->options->command, &container))
		log_event(life->log, WHY_CONTAINER_LEFT,
		    log_string("reason",
			"the end of its command line does not end it, and SIGTERM did not end it either"),
		    log_text("hint", buf_span(&container)));
}

static void
report_start(struct life *life)
{
	BUF_AUTO command = { 0 };
	bool again = life->server->life == SERVER_AWAY;

	life->restart.last = life->now;
	command_append(&command, life->options->command);
	log_event(life->log, WHY_STARTED, log_number("process", life->child.pid),
	    log_text("command", buf_span(&command)),
	    log_string("hint",
		!again && isatty(STDIN_FILENO) ?
		    "waiting for JSON-RPC messages from the terminal, a line each; Ctrl-D ends" :
		    NULL));
	if (again)
		session_server_back(life->session);
}

static enum supervisor_event
event_of_start(const struct life *life)
{
	if (life->child.error < 0)
		return SUPERVISE_NOTHING;
	return life->child.error == 0 ? SUPERVISE_STARTED : SUPERVISE_FAILED;
}

static enum supervisor_event
start_server(struct life *life)
{
	const struct guardian guardian = {
		.group = life->options->sweep_group,
		.command = life->options->command,
		.errors = life->relay.write_end,
		.reader = life->relay.in.fd,
		.socket = life->socket,
		.kill_after = time_or(life->options->kill_after, TIME_TERM_WAIT),
	};

	relay_forget(&life->relay);
	life->stuck = life->resting = false;
	if (life->options->fault[0] == '\0') {
		child_start(&life->child, guardian, life->port, on_signalled, life);
	} else {
		child_refuse(&life->child, EAGAIN);
		life->child.swept = true;
	}
	return event_of_start(life);
}

static void
lose_start(struct life *life)
{
	if (life->options->fault[0] == '\0')
		report_failure(life);
	else
		session_refuse(life->session, span_of(life->options->fault));
	port_close(life->port);
	if (life->server->life != SERVER_AWAY || !plan_successor(life))
		session_server_gone(life->session, -1, -1, true);
}

/*
 * Whether the exit was in order: the client asked for it, or the status was 0 and no request was
 * outstanding.
 */
static bool
exited_in_order(const struct life *life)
{
	/* the exit of a stuck one only follows from the end of its stdin */
	return life->server->closed ||
	    (life->server->life != SERVER_STUCK && life->child.status == 0 &&
		!life->child.signalled && session_outstanding(life->session, SIDE_CLIENT) == 0);
}

/*
 * Whether the next server has to start only when it is asked something: with -r after an exit in
 * order, or after LIMIT_UNSERVED servers of which nobody asked anything; and where the first one
 * ended on server/discover. The client has not told it to end.
 */
static bool
may_rest(const struct life *life)
{
	bool unasked = life->restart.row == LIMIT_UNSERVED && !life->server->dismissed &&
	    !session_asks(life->session);

	return needs_server(life) && !life->server->closed &&
	    (session_ended_on_probe(life->session) ||
		((exited_in_order(life) || unasked) && is_replaceable(life)));
}

static void
lose_server(struct life *life)
{
	bool last;

	port_lose_reader(life->port);
	session_end_of_input(life->session, SIDE_SERVER);
	session_quote(life->session, relay_last_lines(&life->relay));
	life->stuck = life->server->life == SERVER_STUCK;
	life->resting = may_rest(life);
	if (life->resting)
		life->supervisor.next_start = life->now; /* see life_round */
	last = !life->resting && (exited_in_order(life) || !plan_successor(life));
	/*
	 * Processes that the server left behind may still write to its stdout: that is no part of
	 * the session.
	 */
	if (!last)
		descriptor_close(&life->port->in);
	session_server_gone(life->session,
	    life->child.exited || life->supervisor.ours ? life->child.status : STATUS_SILENT,
	    life->child.signal, last);
}

/* Carries out a set of steps; returns the event that they have led to. */
static enum supervisor_event
take_steps(struct life *life, unsigned steps)
{
	if (steps & STEP_ANSWER)
		lose_server(life);
	if (steps & STEP_CLOSE_STDIN) {
		/* Of what is not written by now, the log may have said that it was sent. */
		log_event(life->log, WHY_ENDING, log_string("step", "stdin closed"),
		    log_positive("unwritten",
			port_is_closed(life->port) ? 0 : port_backlog(life->port)));
		descriptor_close(&life->port->out);
		session_server_shut(life->session);
	}
	if (steps & STEP_SWEEP)
		report_exit(life);
	if (steps & STEP_SEIZE)
		child_seize(&life->child);
	if (steps & STEP_RELEASE) {
		detach(life);
		if (!life->resting)
			log_event(life->log, WHY_RESTARTING,
			    log_number("count", life->restart.count),
			    log_time("after", life->restart.wait));
	}
	if (steps & STEP_FINISH && life->server->life != SERVER_GONE)
		session_server_gone(life->session, life->child.status, life->child.signal, true);
	if (steps & STEP_TELL) {
		session_quote(life->session, relay_last_lines(&life->relay));
		session_server_deaf(life->session, is_replaceable(life));
	}
	if (steps & STEP_REFUSED)
		lose_start(life);
	if (steps & STEP_STARTED)
		report_start(life);
	return steps & STEP_START ? start_server(life) : SUPERVISE_NOTHING;
}

static void
tell(struct life *life, enum supervisor_event event)
{
	struct supervisor *supervisor = &life->supervisor;

	while (event != SUPERVISE_NOTHING)
		event = take_steps(life, supervisor_handle(supervisor, event, life->now));
	if (supervisor->term != MSEC_NEVER)
		child_order(&life->child, supervisor->term, supervisor_kill_after(supervisor));
}

int
life_start(struct life *life)
{
	const struct options *options = life->options;

	life->server = session_view(life->session).server;
	open_client(life);
	child_init(&life->child);
	life->restart =
	    (struct restart){ .most = options->restarts, .within = options->restarts_within };
	supervisor_init(&life->supervisor, options->term_after, options->kill_after);
	if (relay_open(&life->relay, options->sweep_group,
		options->log.file != NULL ? NULL : life->log) < 0) {
		log_failure(life->log, "relay the server's stderr", errno);
		return -1;
	}
	tell(life, SUPERVISE_TICK);
	return 0;
}

void
life_close(struct life *life)
{
	descriptor_close(&life->client.hangup);
	descriptor_close(&life->client.exit);
	detach(life);
	relay_close(&life->relay);
	free(life->restart.times);
}

/* Whether messages that cannot be written to this server are kept for its successor. */
static bool
keeps_queue(const struct life *life)
{
	enum server_life server = life->server->life;

	/*
	 * If a process that closed its stdin exits soon, the errors to its requests can name its
	 * status.
	 */
	return server != SERVER_DEAF && server != SERVER_GONE &&
	    (server == SERVER_AWAY || server == SERVER_RETIRED ||
		life->supervisor.state == PROCESS_DEAF || is_replaceable(life));
}

void
life_write(struct life *life, msec_t now)
{
	struct port *port = life->port;
	bool closed;

	life->now = now;
	if (life->supervisor.state == PROCESS_STARTING)
		return;
	if (!(port_is_closed(port) || life->child.exited) || !keeps_queue(life))
		port_write(port);
	closed = port_is_closed(port);
	if (closed && port->out.fd >= 0) {
		port_lose_reader(port);
		tell(life, SUPERVISE_DEAF);
	}
	if (closed && !keeps_queue(life))
		port_abandon(port);
	if (life->supervisor.state == PROCESS_FLUSHING && (closed || port_backlog(port) == 0))
		tell(life, SUPERVISE_FLUSHED);
}

/*
 * Whether the server is to be ended, as it cannot continue the session. In a dry run its client
 * decides that.
 */
static bool
has_failed(const struct life *life)
{
	enum server_life server = life->server->life;

	return !life->options->session.dry_run &&
	    (server == SERVER_STUCK ||
		(life->supervisor.state == PROCESS_DEAF &&
		    (server == SERVER_DEAF || server == SERVER_RETIRED) &&
		    !session_server_owes(life->session)));
}

/* end: what the client's end demands. A server is closed once it was sent what tells it to end. */
static void
tell_end(struct life *life, enum supervisor_event end)
{
	life->supervisor.patience = patience_of(life);
	if (end == SUPERVISE_NOTHING && has_failed(life))
		end = SUPERVISE_HASTEN;
	else if (end == SUPERVISE_NOTHING && life->server->closed && port_backlog(life->port) == 0)
		end = SUPERVISE_END;
	tell(life, end);
}

static void
tell_exit(struct life *life, bool child_signal)
{
	bool guarded = life->child.unguarded == NULL, ended = life->port->in.ended;

	if (child_signal || life->child.control.ready || life->child.unguarded != NULL)
		child_hear(&life->child);
	if (guarded && life->child.unguarded != NULL)
		log_event(life->log, WHY_GUARDIAN_LOST,
		    log_string("reason", life->child.unguarded));
	if (life->supervisor.state != PROCESS_RUNNING)
		tell(life, event_of_start(life));
	if (life->child.exited)
		tell(life, ended ? SUPERVISE_GONE : SUPERVISE_EXITED);
	else if (ended)
		tell(life, SUPERVISE_EOF);
}

void
life_round(struct life *life, bool child_signal, msec_t now)
{
	struct supervisor *supervisor = &life->supervisor;
	int64_t lost = (int64_t)relay_lost(&life->relay);
	enum supervisor_event end;

	life->now = now;
	look_at_ends(life);
	if (life->client.state == CLIENT_PRESENT)
		note_hangup(life);
	end = hear_client(life);
	if (lost > 0)
		log_event(life->log, WHY_LINES_LOST, log_number("lines", lost),
		    log_string("of", "server"));
	tell_end(life, end);
	tell_exit(life, child_signal);
	if (end == SUPERVISE_NOTHING && life->port->throttled)
		tell(life, SUPERVISE_BLOCKED);
	if (supervisor_sweeps(supervisor) && !needs_server(life))
		supervisor->next_start = MSEC_NEVER;
	/*
	 * No server runs, and the next one is due as soon as the client asks something, or is not
	 * read any more.
	 */
	if (life->resting && supervisor->state == PROCESS_WAITING)
		supervisor->wake =
		    session_asks(life->session) || life->client.port->throttled ? now : MSEC_NEVER;
	if (now >= supervisor->wake)
		tell(life, SUPERVISE_TICK);
	if (life->child.swept && supervisor_sweeps(supervisor))
		tell(life, SUPERVISE_SWEPT);
}

void
life_watch(struct life *life)
{
	struct client *client = &life->client;
	struct descriptor *control = &life->child.control;

	port_watch(client->port, true);
	port_watch(life->port, !life->child.exited && life->supervisor.state != PROCESS_STARTING);
	relay_watch(&life->relay);
	/* Each of these stays readable then. */
	descriptor_want(&client->hangup, client->hangup.ready ? 0 : EV_READ);
	descriptor_want(&client->exit, client->exit.ready ? 0 : EV_READ);
	descriptor_want(control, control->ended ? 0 : EV_READ);
}

msec_t
life_wake(const struct life *life)
{
	const struct client *client = &life->client;
	msec_t wake;

	/*
	 * A round writes after it has handled the client: what a write has found is for the next
	 * one.
	 */
	if (port_is_closed(client->port) &&
	    (client->state == CLIENT_PRESENT || client->state == CLIENT_DRAINING))
		return 0;
	wake = earlier(earlier(life->supervisor.wake, child_wake(&life->child, life->now)),
	    life->look);
	if (client->state == CLIENT_LEFT && !supervisor_is_over(&life->supervisor))
		return wake;
	return earlier(wake, client->until);
}

bool
life_is_over(const struct life *life)
{
	const struct client *client = &life->client;
	struct session_view view;

	if (!supervisor_is_over(&life->supervisor))
		return false;
	view = session_view(life->session);
	if (is_deaf(client))
		return true;
	if (life->supervisor.state == PROCESS_ENDED && view.journal->requests[SIDE_CLIENT] == 0 &&
	    !view.plain)
		return false;
	/* A client that closed its stdin may still read earlier answers, but not for long. */
	return port_backlog(client->port) == 0 ||
	    (client->state == CLIENT_LEFT && life->now >= client->until);
}

int
life_status(const struct life *life)
{
	const struct child *child = &life->child;
	bool over = life->client.state != CLIENT_PRESENT || life->server->closed;
	/* A server whose guardian is lost is killed, by the kernel or by canceld. */
	bool killed = child->signalled || (child->unguarded != NULL && child->signal == SIGKILL);

	if (life->supervisor.ours && killed && over)
		return 0;
	if (child->signal > 0)
		return 128 + child->signal;
	if (child->status > 0)
		return child->status;
	/* A stuck server may end as soon as its stdin is closed, before SIGTERM is due. */
	return life->stuck && !over ? 128 + SIGTERM : 0;
}
