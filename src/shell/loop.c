/*
 *   one round of the loop
 *
 *   libev ──▶ watchers note what happened, nothing more
 *   go_round:  read and hear ─▶ write ─▶ control, expire ─▶ client, server ─▶ write ─▶ watch
 *
 * libev runs a due timer before a readable descriptor of the same round, and a child's end is known
 * before its last bytes are read. So nothing is decided in a callback: each round first reads and
 * hears what is there.
 */
#include "shell/life.h"

#include <libgen.h>

#include "shell/control.h"
#include "shell/history.h"

enum {
	ROUND_READ_MAX = 1 << 20, /* the largest pipe */
	INTERRUPT_AGAIN = 2000,   /* ms */
	/* ms: the longest wait while something is due, to notice that the machine slept */
	LOOK = 60 * 1000,
};

struct loop {
	struct options *options;
	struct log *log;
	struct ev_loop *ev;
	struct session *session;
	union {
		struct port port[2]; /* by enum side */
		struct {
			struct port client, server; /* the same */
		};
	};
	struct lane *wires[2]; /* of the ports: see port_init */
	struct life life;
	struct control control;
	struct statistics statistics;
	struct history history;
	ev_timer timer;
	msec_t now;   /* of this round */
	msec_t due;   /* when the session is, as it was before the wait */
	msec_t alarm; /* the time that the timer is set to; MSEC_NEVER: it does not run */
	msec_t meant; /* until then Ctrl+C is meant for canceld, as it is the second one */
	bool failed;  /* stdin could not be read, or stdout not be written */
};

static void
hear(struct port *port)
{
	if (port_may_read(port) && port->in.ready)
		port_read(port);
}

/*
 * Whether the server is not read only because the client does not read its answers, and not because
 * the server itself reads nothing.
 */
static bool
is_stalled(const struct loop *loop)
{
	return loop->server.throttled && port_queued(&loop->server) > LIMIT_LOW;
}

/*
 * A deadline counts only after all that the server had written by then was read. What falls due
 * meanwhile waits for the next round.
 */
static void
expire(struct loop *loop)
{
	struct port *server = &loop->server;
	bool stalled = is_stalled(loop);
	size_t total = 0, n;

	if (loop->due > loop->now)
		return;
	while (port_may_read(server) && total < ROUND_READ_MAX && (n = port_read(server)) > 0)
		total += n;
	session_quote(loop->session, relay_last_lines(&loop->life.relay));
	session_expire(loop->session, !stalled);
}

/*
 * The kernel sends SIGINT to the whole foreground group. A client that is a member of it decides
 * what Ctrl+C means: most often that the turn is interrupted, and not that the session is over.
 */
static bool
is_clients_interrupt(const struct loop *loop, int signal)
{
	return signal == SIGINT && signals_ending() == 0 && loop->now >= loop->meant &&
	    life_shares_group(&loop->life);
}

/* Returns whether a child may have ended. */
static bool
hear_signals(struct loop *loop)
{
	bool child = false;
	int signal;

	while ((signal = signals_next()) != 0) {
		if (signal == SIGCHLD) {
			child = true;
		} else if (signal == SIGUSR2) {
			json_decref(configfile_reload(loop->options, loop->log));
		} else if (is_clients_interrupt(loop, signal)) {
			loop->meant = loop->now + INTERRUPT_AGAIN;
			log_event(loop->log, WHY_INTERRUPT_IGNORED,
			    log_number("client", loop->life.client.process),
			    log_string("hint", "a second one within 2 seconds ends canceld"));
		} else {
			signals_end(signal);
			log_event(loop->log, WHY_SIGNALLED, log_number("signal", signal),
			    log_string("reason", strsignal(signal)));
		}
	}
	return child;
}

static msec_t
next_wake(const struct loop *loop)
{
	const struct port *client = &loop->client;

	if (port_may_read(client) && client->in.ready)
		return loop->now;
	return earlier(earlier(loop->due, loop->control.wake),
	    earlier(life_wake(&loop->life), loop->history.wake));
}

/*
 * A timer that is set too early costs one round; that is less than to set it anew in every round.
 */
static void
set_alarm(struct loop *loop, msec_t wake)
{
	if (wake >= loop->alarm)
		return;
	loop->alarm = wake;
	ev_timer_stop(loop->ev, &loop->timer);
	ev_timer_set(&loop->timer, (double)(wake - loop->now) / 1000.0, 0.);
	ev_timer_start(loop->ev, &loop->timer);
}

static void
watch(struct loop *loop)
{
	life_watch(&loop->life);
	log_watch(loop->log);
	control_watch(&loop->control);
	history_watch(&loop->history, loop->now);
	session_report_traffic(loop->session, log_shows(loop->log, WHY_RELAYED));
	/* The time that this round took must not be taken for time in which the machine slept. */
	loop->now = monotonic_now();
	session_set_time(loop->session, loop->now);
	loop->due = session_sleep(loop->session, is_stalled(loop), loop->now + LOOK);
	set_alarm(loop, next_wake(loop));
}

static bool
report_error(struct loop *loop, struct descriptor *descriptor, const char *doing)
{
	int error = descriptor->error;

	descriptor->error = 0;
	if (error != 0)
		log_failure(loop->log, doing, error);
	return error != 0;
}

/* Logs failed reads and writes. That the log itself cannot be written is said once, on stderr. */
static void
report_errors(struct loop *loop)
{
	char words[256];
	int error;

	loop->failed |= report_error(loop, &loop->client.in, "read stdin");
	loop->failed |= report_error(loop, &loop->client.out, "write to stdout");
	report_error(loop, &loop->server.in, "read the server's stdout");
	report_error(loop, &loop->server.out, "write to the server's stdin");
	log_flush(loop->log);
	error = log_failed(loop->log);
	if (error == 0)
		return;
	print_into(words, "--log: %.128s: %s", loop->options->log.file, strerror(error));
	relay_say(&loop->life.relay, span_of(words));
}

/* false: it was the last one. */
static bool
go_round(struct loop *loop)
{
	struct port *client = &loop->client;
	msec_t now = monotonic_now();
	bool child;

	loop->now = now;
	session_set_time(loop->session, now);
	child = hear_signals(loop);
	relay_round(&loop->life.relay);
	hear(&loop->server);
	hear(client);
	/* the bytes written decide which requests may be cancelled, and how */
	life_write(&loop->life, now);
	control_round(&loop->control, now);
	expire(loop);
	life_round(&loop->life, child, now);
	life_write(&loop->life, now);
	port_write(client);
	if (port_is_closed(client))
		port_abandon(client);
	report_errors(loop);
	history_round(&loop->history, now, false);
	watch(loop);
	return !life_is_over(&loop->life);
}

/*
 * Called just before libev waits. An event is pending then only if the kernel refused to watch a
 * descriptor, one of libev's own perhaps (ENOSPC, ENOMEM): libev would wait without it. So canceld
 * ends, and the guardian ends the server.
 */
static void
on_wait(struct ev_loop *ev)
{
	struct loop *loop = ev_userdata(ev);
	int error = errno;

	if (ev_pending_count(ev) == 0)
		return;
	log_failure(loop->log, "watch a descriptor", error);
	control_close(&loop->control);
	log_close(loop->log);
	_exit(STATUS_FAILED);
}

static void
on_timer(struct ev_loop *ev, ev_timer *watcher, int events)
{
	struct loop *loop = watcher->data;

	(void)ev;
	(void)events;
	loop->alarm = MSEC_NEVER;
}

/* An action_fn. */
static void
on_action(void *user, const struct action *action)
{
	struct loop *loop = user;

	if (action->verb != VERB_END) {
		report_action(loop->log, action);
		return;
	}
	statistics_end(&loop->statistics, action, loop->now);
	history_end(&loop->history, action, loop->now);
	if (loop->options->policy.tools_new)
		report_rules(loop->log, WHY_RULE_DOUBTED, &loop->options->policy,
		    session_view(loop->session).dialect);
}

static void
open_session(struct loop *loop)
{
	struct options *options = loop->options;
	struct session_config config = options->session;

	config.policy = &options->policy;
	config.observed = !options->no_control;
	config.restarts = options->restarts > 0;
	/* The hint to cancelctl names the pid, which only finds a socket in the usual place. */
	config.pid = options->no_control || *options->control != '\0' ? 0 : getpid();
	/*
	 * Without random numbers the hash tables still work, but a peer could choose colliding ids.
	 */
	if (!system_random(&id_secret, sizeof(id_secret)))
		id_secret = (uint64_t)loop->now;
	loop->session = session_new(&config, on_action, loop, loop->now);
}

/*
 * At its end canceld removes its control socket, and it may start another writer of the history,
 * whose folder must be there by now. The file of the log is open.
 */
static void
isolate(struct loop *loop)
{
	const char *path = loop->control.path;
	char control[PLACE_PATH];

	print_into(control, "%s", path);
	if (!starter_isolate((const char *[]){ path[0] == '\0' ? path : dirname(control),
		loop->history.directory, NULL }))
		log_event(loop->log, WHY_ISOLATION_REFUSED, log_string("reason", strerror(errno)));
}

static int
start(struct loop *loop)
{
	struct options *options = loop->options;
	struct port *client = &loop->client;

	loop->now = monotonic_now();
	loop->due = loop->alarm = MSEC_NEVER;
	open_session(loop);
	each_side (side)
		loop->wires[side] =
		    options->session.dry_run ? lane_new() : session_lane(loop->session, side);
	each_side (side)
		port_init(&loop->port[side], side, loop->session, loop->wires);
	port_open(client, STDIN_FILENO, STDOUT_FILENO, false);
	loop->control = (struct control){
		.options = options,
		.log = loop->log,
		.session = loop->session,
		.life = &loop->life,
		.statistics = &loop->statistics,
		.now = loop->now,
	};
	control_open(&loop->control);
	loop->life = (struct life){
		.options = options,
		.log = loop->log,
		.session = loop->session,
		.socket = loop->control.path,
		.port = &loop->server,
		.client.port = client,
		.now = loop->now,
	};
	if (!options->no_history && !options->session.dry_run && options->fault[0] == '\0')
		history_open(&loop->history, loop->log, loop->life.client.name, loop->session,
		    &loop->statistics);
	/* A signal may come as soon as the server runs. */
	signals_watch(loop->ev);
	if (life_start(&loop->life) < 0)
		return -1;
	isolate(loop);
	ev_timer_init(&loop->timer, on_timer, 0., 0.);
	loop->timer.data = loop;
	ev_set_userdata(loop->ev, loop);
	ev_set_loop_release_cb(loop->ev, on_wait, NULL);
	return 0;
}

static void
finish(struct loop *loop)
{
	signals_unwatch();
	control_close(&loop->control);
	history_close(&loop->history);
	life_close(&loop->life);
	port_close(&loop->client);
	descriptor_want(&loop->log->descriptor, 0);
	descriptor_want(&loop->log->writer.back, 0);
	each_of (wire, loop->wires)
		if (loop->options->session.dry_run)
			lane_free(*wire);
	session_free(loop->session);
	ev_loop_destroy(loop->ev);
}

static int
exit_status(const struct loop *loop)
{
	const struct journal *journal = session_view(loop->session).journal;
	int status = life_status(&loop->life);
	/* A client that reads no more does not miss the answers that were left. */
	bool left = journal->tallies[TALLY_LEFT] > 0 && !loop->life.client.left_deaf;
	bool failed = journal->tallies[TALLY_FAILED] + journal->tallies[TALLY_TIMED_OUT] +
		journal->tallies[TALLY_BY_PERSON] + journal->tallies[TALLY_LOST] +
		journal->tallies[TALLY_REFUSED] + journal->refusals >
	    0;

	if (signals_ending() != 0)
		return 128 + signals_ending();
	if (loop->failed)
		return STATUS_FAILED;
	if (status != 0)
		return status;
	if (loop->options->fail_on_timeout && (journal->counts[WHY_TIMED_OUT] > 0 || left))
		return STATUS_TIMED_OUT;
	return loop->options->fail_on_error && (failed || left) ? STATUS_ERROR : 0;
}

int
loop_run(struct options *options, struct log *log)
{
	struct loop loop = { .options = options, .log = log, .history.wake = MSEC_NEVER };
	int status = STATUS_FAILED;

	descriptor_loop = loop.ev = ev_loop_new(EVFLAG_AUTO);
	if (loop.ev == NULL) {
		log_failure(log, "start an event loop", 0);
		return STATUS_FAILED;
	}
	if (start(&loop) == 0) {
		while (go_round(&loop))
			ev_run(loop.ev, EVRUN_ONCE);
		history_round(&loop.history, loop.now, true);
		report_summary(log, loop.session, &options->policy);
		report_errors(&loop);
		status = exit_status(&loop);
	}
	finish(&loop);
	return status;
}
