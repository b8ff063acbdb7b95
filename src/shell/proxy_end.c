#include <signal.h>
#include <string.h>

#include "core/limits.h"
#include "proxy_inside.h"

static msec_t
time_or(msec_t given, msec_t built_in)
{
	return given == MSEC_NEVER ? built_in : given;
}

/* Who has gone for good, and reads no answers any more. */
static bool
is_unread(const struct proxy *proxy)
{
	return proxy->reader_is_gone || proxy->client_is_gone || proxy->port[SIDE_CLIENT].out.broken;
}

static void
leave(struct proxy *proxy, enum leaving leaving)
{
	struct log_field fields[] = {
		log_number("outstanding", (int64_t)session_outstanding(proxy->session, SIDE_CLIENT)),
		log_string("hint", "--drain would wait for the answers"),
	};
	bool hint = leaving == LEAVE_CANCEL && !is_unread(proxy) && fields[0].number > 0;

	proxy->left = true;
	proxy->leave_by = proxy->now + TIME_FLUSH_WAIT + time_or(proxy->options->term_after, TIME_CLOSE_WAIT) +
	    time_or(proxy->options->kill_after, TIME_TERM_WAIT);
	if (leaving != LEAVE_TERMINATED)
		log_event(proxy->log, hint ? WHY_INPUT_ENDED_EARLY : WHY_INPUT_ENDED, fields, hint ? 2 : 1);
	session_client_leaves(proxy->session, leaving, proxy->now);
}

/*
 * Its end of stdin is closed and all of it read; or it is closed, and what it holds is not read because the server
 * reads nothing, and the client nothing.
 */
static bool
has_ended(struct proxy *proxy)
{
	const struct port *client = &proxy->port[SIDE_CLIENT];

	if (client->in.ended || !proxy->has_hung_up || !client->throttled || proxy->options->drain || proxy->left) {
		proxy->hung_until = MSEC_NEVER;
		return client->in.ended;
	}
	if (proxy->hung_until == MSEC_NEVER)
		proxy->hung_until = proxy->now + TIME_HANGUP_WAIT;
	return proxy->now >= proxy->hung_until;
}

/* After a signal nobody waits long for the client to take its answers. */
static void
hasten(struct proxy *proxy)
{
	msec_t leave_by = proxy->now + TIME_HASTY_FLUSH_WAIT + TIME_HASTY_CLOSE_WAIT + TIME_HASTY_TERM_WAIT;

	if (leave_by < proxy->leave_by)
		proxy->leave_by = leave_by;
}

/* The client's end, in each of its forms. Returns the event that the supervisor has to hear; -1: none. */
static int
client_end(struct proxy *proxy)
{
	const struct descriptor *in = &proxy->port[SIDE_CLIENT].in;
	bool unread = is_unread(proxy);
	bool ended = has_ended(proxy);

	if (proxy->signal != 0) {
		if (!proxy->left || proxy->draining)
			leave(proxy, LEAVE_TERMINATED);
		proxy->draining = false;
		hasten(proxy);
		return SUPERVISE_SIGNAL;
	}
	if (session_wants_end(proxy->session))
		return SUPERVISE_END;
	if (!proxy->left && (ended || unread)) {
		proxy->hung_until = MSEC_NEVER;
		proxy->draining = !unread && (proxy->options->drain || in->file);
		if (proxy->draining && proxy->options->drain_for != MSEC_NEVER)
			proxy->drain_until = proxy->now + proxy->options->drain_for;
		leave(proxy, proxy->draining ? LEAVE_DRAIN : LEAVE_CANCEL);
	} else if (proxy->draining && (unread || proxy->now >= proxy->drain_until)) {
		proxy->draining = false;
		proxy->drain_failed = !unread && session_outstanding(proxy->session, SIDE_CLIENT) > 0;
		leave(proxy, unread ? LEAVE_CANCEL : LEAVE_TERMINATED);
	}
	if (!proxy->left)
		return -1;
	if (proxy->draining && session_outstanding(proxy->session, SIDE_CLIENT) > 0)
		return -1;
	return SUPERVISE_END;
}

static void
log_ending(struct proxy *proxy, const char *step)
{
	struct log_field fields[] = { log_string("step", step) };

	log_event(proxy->log, WHY_ENDING, fields, 1);
}

/* Because of the client, not of the server. */
static bool
is_over(const struct proxy *proxy)
{
	return proxy->left || session_wants_end(proxy->session);
}

static void
log_exit(struct proxy *proxy)
{
	const struct child *child = &proxy->child;
	bool ended = proxy->supervisor.ended && !proxy->restarting && is_over(proxy);
	struct log_field fields[] = {
		log_number(child->signal > 0 ? "signal" : "status", child->signal > 0 ? child->signal : child->status),
		log_string("reason", child->signal > 0 ? strsignal(child->signal) : NULL),
	};

	log_event(proxy->log, ended ? WHY_SERVER_ENDED : WHY_SERVER_EXITED, fields, child->exited ? 2 : 0);
}

static void
take_steps(struct proxy *proxy, unsigned steps)
{
	if (steps & STEP_ANSWER)
		proxy_lose_server(proxy);
	if (steps & STEP_CLOSE_STDIN) {
		log_ending(proxy, "stdin closed");
		descriptor_close(&proxy->port[SIDE_SERVER].out);
	}
	if (steps & STEP_TERMINATE) {
		log_ending(proxy, "SIGTERM");
		proxy->told_to_end = true;
		child_signal_group(&proxy->child, SIGTERM);
		child_signal_group(&proxy->child, SIGCONT);
	}
	if (steps & STEP_KILL) {
		log_ending(proxy, "SIGKILL");
		proxy->told_to_end = true;
		child_signal_group(&proxy->child, SIGKILL);
	}
	if (steps & STEP_SWEEP) {
		log_exit(proxy);
		child_sweep(&proxy->child);
	}
	if (steps & STEP_FINISH)
		proxy_finish_server(proxy);
}

static void
tell(struct proxy *proxy, enum supervisor_event event)
{
	take_steps(proxy, supervisor_handle(&proxy->supervisor, event, proxy->now));
}

static void
on_swept(void *context, pid_t pid, const char *name)
{
	struct proxy *proxy = context;
	struct log_field fields[] = { log_number("process", pid), log_string("name", name) };

	log_event(proxy->log, WHY_SWEPT, fields, 2);
}

static void
hear_child(struct proxy *proxy)
{
	struct child *child = &proxy->child;

	proxy->child_changed = false;
	child_hear(child, on_swept, proxy);
	/* Its socket stays readable for ever. */
	if (child->guardian == 0)
		ev_io_stop(proxy->loop, &proxy->control);
}

void
proxy_supervise(struct proxy *proxy)
{
	const struct descriptor *to_server = &proxy->port[SIDE_SERVER].out;
	int end = client_end(proxy);

	if (proxy_awaits_server(proxy, end >= 0))
		return;
	if (end < 0 && proxy_server_failed(proxy))
		end = SUPERVISE_SIGNAL;
	if (end >= 0)
		tell(proxy, (enum supervisor_event)end);
	if (to_server->fd < 0 || to_server->broken || lane_backlog(session_lane(proxy->session, SIDE_CLIENT)) == 0)
		tell(proxy, SUPERVISE_FLUSHED);
	if (proxy->child_changed)
		hear_child(proxy);
	if (proxy->child.exited && !proxy->supervisor.exited)
		tell(proxy, SUPERVISE_EXITED);
	if (proxy->port[SIDE_SERVER].in.ended)
		tell(proxy, SUPERVISE_EOF);
	/* The rest of what the server wrote lies in the pipe because we do not read it. */
	if (proxy->supervisor.state == SERVER_LINGERING && end < 0 && proxy->port[SIDE_SERVER].throttled)
		proxy->supervisor.wake = proxy->now + TIME_EOF_WAIT;
	if (proxy->supervisor.wake <= proxy->now)
		tell(proxy, SUPERVISE_TICK);
	if (proxy->supervisor.state != SERVER_SWEEPING)
		return;
	hear_child(proxy);
	if (proxy->child.swept)
		tell(proxy, SUPERVISE_SWEPT);
}

/* The server is gone: leave once the client has taken its answers, if it is still there to take them. */
bool
proxy_finished(const struct proxy *proxy)
{
	if (!proxy->finishing)
		return false;
	if (is_unread(proxy))
		return true;
	if (!proxy->left && !session_opened(proxy->session) && proxy->now < proxy->linger_until)
		return false;
	/* Who closed its stdin may still read what was answered before, but not for long. */
	if (proxy->left && !proxy->draining && proxy->now >= proxy->leave_by)
		return true;
	return lane_backlog(session_lane(proxy->session, SIDE_SERVER)) == 0;
}

int
proxy_exit_status(const struct proxy *proxy)
{
	bool ours = proxy->told_to_end && proxy->supervisor.ended && is_over(proxy);
	int status = ours ? 0 : child_status(&proxy->child);

	if (proxy->signal != 0)
		return 128 + proxy->signal;
	if (proxy->start_status != 0)
		return proxy->start_status;
	if (status == 0 && proxy->options->fail_on_timeout &&
	    (session_timed_out(proxy->session) || proxy->drain_failed))
		return STATUS_TIMED_OUT;
	return status;
}
