/*
 * The server's beginnings:
 *
 *   started ─▶ runs ─gone▶ lost: is another one to come? ─yes▶ nothing is left of it ─wait▶ started
 *                                                      └─no─▶ what is outstanding is answered; the end
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/limits.h"
#include "proxy_inside.h"

/* Whoever called canceld looks at stderr for this, wherever the log goes. */
static void
report_failure(struct proxy *proxy, int error)
{
	const char *command = proxy->options->command[0];
	char doing[256], words[512];
	int len;

	snprintf(doing, sizeof(doing), "start %s", command);
	log_failure(proxy->log, doing, error);
	len = snprintf(words, sizeof(words), "canceld: cannot %s: %s", doing, strerror(error));
	if (proxy->options->log.file != NULL)
		relay_say(&proxy->relay, (struct span){ words, (size_t)len });
	session_quote(proxy->session,
	    span_part((struct span){ words, (size_t)len }, strlen("canceld: "), (size_t)len - strlen("canceld: ")));
}

/* 0, or the status to exit with. */
static int
start(struct proxy *proxy)
{
	struct log_field fields[2];
	int status;

	proxy->told_to_end = false;
	relay_forget(&proxy->relay);
	status = child_start(&proxy->child, proxy->options->command, proxy->signals, proxy->relay.write_end,
	    proxy->options->sweep_group);
	proxy->now = proxy_clock(); /* it may have taken its time */
	if (status != 0) {
		report_failure(proxy, errno);
		return status;
	}
	fields[0] = log_string("command", proxy->options->command[0]);
	fields[1] = log_number("server", proxy->child.pid);
	log_event(proxy->log, WHY_STARTED, fields, 2);
	proxy_attach_server(proxy);
	return 0;
}

static void
finish(struct proxy *proxy)
{
	proxy->restarting = false;
	proxy->restart_at = MSEC_NEVER;
	proxy->finishing = true;
	if (!session_opened(proxy->session))
		proxy->linger_until = proxy->now + TIME_FIRST_REQUEST;
}

static void
give_up(struct proxy *proxy)
{
	session_server_gone(proxy->session, proxy->child.status, proxy->child.signal, proxy->now);
	finish(proxy);
}

void
proxy_start_server(struct proxy *proxy)
{
	struct port *server = &proxy->port[SIDE_SERVER];

	server->in.fd = server->in.given = server->out.fd = server->out.given = -1;
	proxy->start_status = start(proxy);
	if (proxy->start_status == 0)
		return;
	supervisor_init(&proxy->supervisor, MSEC_NEVER, MSEC_NEVER);
	proxy->supervisor.state = SERVER_OVER;
	give_up(proxy);
}

static void
refuse(struct proxy *proxy, const char *reason)
{
	struct log_field fields[] = { log_string("reason", reason) };

	log_event(proxy->log, WHY_RESTART_REFUSED, fields, 1);
}

/* It was told to go, or went when there was nothing more to do and said that all was well. */
static bool
went_in_order(const struct proxy *proxy)
{
	if (session_closed(proxy->session))
		return true;
	return proxy->child.exited && proxy->child.status == 0 && !proxy->told_to_end &&
	    session_outstanding(proxy->session, SIDE_CLIENT) == 0;
}

/* Nobody waits for what another server would answer: what was written to this one is not repeated. */
static bool
has_left(const struct proxy *proxy)
{
	return proxy->signal != 0 ||
	    (proxy->left &&
		(!proxy->draining || session_outstanding(proxy->session, SIDE_CLIENT) == 0 ||
		    lane_queued(session_lane(proxy->session, SIDE_CLIENT)) == 0));
}

/* How long to wait for the next one; MSEC_NEVER: there is none. */
static msec_t
next_server(struct proxy *proxy, bool served)
{
	const char *reason = session_cannot_restart(proxy->session);
	msec_t wait;

	if (proxy->options->restarts == 0 || has_left(proxy) || session_wants_end(proxy->session))
		return MSEC_NEVER;
	if (reason != NULL) {
		refuse(proxy, reason);
		return MSEC_NEVER;
	}
	wait = restart_after(&proxy->restart, served, proxy->now);
	if (wait == MSEC_NEVER) {
		refuse(proxy, "it has failed too often (see --restart)");
		session_give_up(proxy->session);
	}
	return wait;
}

static void
report_restart(struct proxy *proxy, msec_t wait)
{
	struct log_field fields[] = {
		log_number("count", (int64_t)proxy->restart.count),
		log_time("after", wait),
	};

	log_event(proxy->log, WHY_RESTARTING, fields, 2);
}

void
proxy_lose_server(struct proxy *proxy)
{
	struct port *server = &proxy->port[SIDE_SERVER];
	const struct child *child = &proxy->child;
	msec_t wait;

	if (!server->heard_end) {
		server->heard_end = true;
		session_end_of_input(proxy->session, SIDE_SERVER, proxy->now);
	}
	session_quote(proxy->session, relay_last_lines(&proxy->relay));
	wait = went_in_order(proxy) ? MSEC_NEVER : next_server(proxy, session_server_served(proxy->session));
	if (wait == MSEC_NEVER) {
		session_server_gone(proxy->session, child->status, child->signal, proxy->now);
		return;
	}
	proxy->restarting = true;
	proxy->restart_wait = wait;
	proxy->restart_at = proxy->now + wait;
	proxy->deaf_until = MSEC_NEVER;
	/* What it left behind may still write: the session is not theirs. */
	ev_io_stop(proxy->loop, &server->readable);
	descriptor_close(&server->in);
	session_server_lost(proxy->session, child->status, child->signal, proxy->now);
}

void
proxy_finish_server(struct proxy *proxy)
{
	if (!proxy->restarting) {
		finish(proxy);
		return;
	}
	proxy_detach_server(proxy);
	if (has_left(proxy))
		give_up(proxy);
	else
		report_restart(proxy, proxy->restart_wait);
}

bool
proxy_keeps_queue(const struct proxy *proxy)
{
	if (proxy->restarting)
		return true;
	return proxy->options->restarts > 0 && !proxy->finishing && !has_left(proxy) &&
	    session_cannot_restart(proxy->session) == NULL;
}

static void
start_again(struct proxy *proxy)
{
	msec_t wait;

	proxy->start_status = start(proxy);
	if (proxy->start_status == 0) {
		proxy->restarting = false;
		proxy->restart_at = MSEC_NEVER;
		session_server_back(proxy->session, proxy->now);
		return;
	}
	wait = next_server(proxy, false);
	if (wait == MSEC_NEVER) {
		give_up(proxy);
		return;
	}
	report_restart(proxy, wait);
	proxy->restart_at = proxy->now + wait;
}

bool
proxy_awaits_server(struct proxy *proxy, bool leaving)
{
	if (!proxy->restarting || proxy->supervisor.state != SERVER_OVER)
		return false;
	if (leaving || session_closed(proxy->session))
		give_up(proxy);
	else if (proxy->now >= proxy->restart_at)
		start_again(proxy);
	return true;
}

bool
proxy_server_failed(const struct proxy *proxy)
{
	return proxy->options->restarts > 0 && !proxy->restarting &&
	    (session_server_stuck(proxy->session) ||
		(proxy->now >= proxy->deaf_until && !session_server_owes(proxy->session)));
}

static void
wake_at(const struct proxy *proxy, msec_t time, msec_t *wake)
{
	if (time > proxy->now && time < *wake)
		*wake = time;
}

msec_t
proxy_restart_wake(const struct proxy *proxy)
{
	msec_t wake = MSEC_NEVER;

	wake_at(proxy, proxy->linger_until, &wake);
	if (!proxy->restarting)
		wake_at(proxy, proxy->deaf_until, &wake);
	else if (proxy->supervisor.state == SERVER_OVER)
		wake = proxy->restart_at;
	return wake;
}
