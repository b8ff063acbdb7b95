#include "ctl/commands.h"

#include "core/compose.h"
#include "core/why.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/log.h"
#include "shell/system.h"
#include "shell/words.h"

enum { LOOK = 1000 /* ms between two looks for a canceld that was started */ };

static const char usage[] =
    "usage: cancelctl watch [-j] [-l LEVEL] [" TARGETS_USAGE "] [FILTER...]\n"
    "\n"
    "Shows the decisions of every canceld of this user, or of one. All filters must\n"
    "fit: why=LATE,TIMED_OUT method=tools/* name!=echo server=NAME age>5s id=7\n\n"
    "  -l, --level LEVEL    error, notice, decision (the default) or traffic\n"
    "  -j, --json           one JSON object a line\n";

struct view {
	struct filter filter;
	bool json;
};

static void
show(void *user, json_t *decision)
{
	const struct view *view = user;
	struct buf line = { 0 };

	if (!filter_fits(&view->filter, decision))
		return;
	if (view->json)
		show_json(decision);
	else
		view_decision(&line, decision, true);
	show_buf(&line);
}

static void
hear(const struct watcher *watcher, struct target *target, json_t *message)
{
	struct span method = show_string(message, "method");
	json_t *params = json_object_get(message, "params");
	const char *why;

	if (span_is(method, "decision")) {
		watcher->hear(watcher->user, params);
	} else if (span_is(method, "lost")) {
		if (watcher->json)
			show_json(message);
		else
			ctl_no(
			    "canceld %ld: %lld decisions were lost, because they were not read fast enough",
			    target->pid, show_number(params, "count"));
	} else if (json_unpack(message, "{s:{s:s}}", "error", "message", &why) == 0 &&
	    target->about == NULL) {
		/* This canceld is asked again at each look; its error is shown only once. */
		target->about = json_incref(message);
		target_say(target, CTL_FAILED, why);
	}
}

/* Hears what comes within so many ms. */
static void
hear_all(const struct watcher *watcher, struct targets *targets, int limit)
{
	struct pollfd *awaited = mem_new((targets->count + 1) * sizeof(*awaited));
	json_t *message;

	for (size_t i = 0; i < targets->count; i++)
		awaited[i] = (struct pollfd){ .fd = targets->list[i].fd, .events = POLLIN };
	poll(awaited, (nfds_t)targets->count, limit);
	free(awaited);
	each_listed (target, targets) {
		target_read(target);
		while ((message = target_take(target)) != NULL) {
			hear(watcher, target, message);
			json_decref(message);
		}
		if (target->fd < 0 && watcher->end != NULL)
			watcher->end(watcher->user, target->pid);
	}
}

/*
 * Finds the running canceld. One for which there is no descriptor is named on stderr once, and
 * tried again at each look.
 */
static void
look(struct targets *targets)
{
	targets_look(targets);
	each_listed (target, targets)
		if (target->unasked && target->about == NULL) {
			target->about = json_true();
			target_tell(target);
		}
}

int
watch_run(const struct watcher *watcher, const char *which)
{
	struct targets targets = { .method = "list" };
	int status = which != NULL ? targets_choose(&targets, which, TARGETS_LOOK) : CTL_YES;
	json_t *params = json_pack("{s:s}", "level", watcher->level);
	struct target *one = which != NULL ? targets.list : NULL;
	msec_t now = monotonic_now(), next = now;

	if (one != NULL && !target_ask(one, "watch", json_incref(params), now + CALL_LIMIT))
		status = target_tell(one);
	targets.method = "watch";
	targets.params = params;
	if (which == NULL) {
		look(&targets);
		if (targets.count == 0)
			ctl_no("waiting for a canceld of this user");
	}
	for (; status == CTL_YES && show_flush() == 0 && (one == NULL || one->fd >= 0);
	     now = monotonic_now()) {
		if (now >= next) {
			if (one == NULL)
				look(&targets);
			next = now + LOOK;
		}
		hear_all(watcher, &targets,
		    one != NULL && watcher->round == NULL ? -1 : (int)(next - now));
		if (watcher->round != NULL)
			watcher->round(watcher->user);
	}
	targets_free(&targets);
	return status;
}

int
ctl_watch(int argc, char *argv[])
{
	struct view view = { 0 };
	struct watcher watcher = { .level = "decision", .hear = show, .user = &view };
	const char *which = NULL;
	enum why_level level;
	int status = -1;

	ctl_line(argc, argv,
	    CTL_OPTIONS({ "=level", 'l', &watcher.level }, { "json", 'j', &view.json }), argc,
	    usage);
	if (!log_level_named(span_of(watcher.level), &level))
		status =
		    ctl_usage("--level: '%.60s' is none of error, notice, decision and traffic",
			watcher.level);
	for (int i = optind; i < argc && status < 0; i++)
		if (filter_is_condition(argv[i]))
			status = filter_add(&view.filter, argv[i]);
		else if (which != NULL)
			status = ctl_usage("'%.100s' is no filter, and a canceld is given already",
			    argv[i]);
		else
			which = argv[i];
	watcher.json = view.json;
	return status < 0 ? watch_run(&watcher, which) : status;
}
