#include <signal.h>
#include <string.h>

#include "proxy_inside.h"
#include "shell/report.h"

static const int ending_signals[ENDING_SIGNALS] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

static void
on_ending_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct proxy *proxy = watcher->data;
	struct log_field fields[] = {
		log_number("signal", watcher->signum),
		log_string("reason", strsignal(watcher->signum)),
	};

	(void)loop;
	(void)events;
	log_event(proxy->log, WHY_SIGNALLED, fields, 2);
	if (proxy->signal == 0)
		proxy->signal = watcher->signum;
}

static void
on_child_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)loop;
	(void)events;
	proxy->child_changed = true;
}

static void
on_statistics(struct ev_loop *loop, ev_signal *watcher, int events)
{
	struct proxy *proxy = watcher->data;

	(void)loop;
	(void)events;
	report_statistics(proxy->log, proxy->session);
}

void
proxy_watch_signals(struct proxy *proxy)
{
	size_t i;

	for (i = 0; i < ENDING_SIGNALS; i++) {
		ev_signal_init(&proxy->endings[i], on_ending_signal, ending_signals[i]);
		proxy->endings[i].data = proxy;
		if (!signals_ignored(proxy->signals, ending_signals[i]))
			ev_signal_start(proxy->loop, &proxy->endings[i]);
	}
	ev_signal_init(&proxy->child_signal, on_child_signal, SIGCHLD);
	proxy->child_signal.data = proxy;
	ev_signal_start(proxy->loop, &proxy->child_signal);
	proxy->child_changed = true; /* it may have ended before */
	ev_signal_init(&proxy->statistics, on_statistics, SIGUSR1);
	proxy->statistics.data = proxy;
	ev_signal_start(proxy->loop, &proxy->statistics);
}

/* libev's handlers stay when its loop is freed, and would write to it. */
void
proxy_unwatch_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}
