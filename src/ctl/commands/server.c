/* What a person has canceld do to its server, and waits for. */
#include "ctl/commands.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/compose.h"
#include "core/limits.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/options.h"

enum { PAUSE = 50 /* ms between two looks at what has become of it */ };

/* server: as `list` has it. */
static bool
is_awaited(const json_t *server)
{
	return json_is_integer(json_object_get(server, "unanswered_ms"));
}

bool
server_ping_is_over(const json_t *server)
{
	return !is_awaited(server) || show_number(server, "unanswered_ms") >= TIME_PROBE;
}

int
server_tell_ping(struct buf *line, const json_t *server)
{
	bool late = is_awaited(server);
	const char *key = late ? "unanswered_ms" : "probe_ms";
	char time[SHOW_TIME_SIZE];

	if (!json_is_integer(json_object_get(server, key))) {
		compose(line, "the server ended before it answered");
		return CTL_NO;
	}
	compose(line, late ? "not answered for %b" : "answered after %b", show_time(show_number(server, key), time));
	return late ? STATUS_TIMED_OUT : CTL_YES;
}

static bool
restart_is_over(const json_t *server)
{
	return !span_equal(show_string(server, "state"), SPAN("restarting"));
}

static int
tell_restart(struct buf *line, const json_t *server)
{
	bool runs = span_equal(show_string(server, "state"), SPAN("running"));

	compose(line, runs ? "restarted" : "ended, and not started again");
	return runs ? CTL_YES : CTL_NO;
}

/* The commands; each is a method of the same name. */
static const struct deed {
	const char *name, *usage;
	bool (*is_over)(const json_t *server);
	int (*tell)(struct buf *line, const json_t *server); /* what came of it; the exit status */
} deeds[] = {
	{ "ping",
	    "usage: cancelctl ping [-j] " TARGETS_USAGE "\n\n"
	    "Asks the server whether it is alive, and tells how long its answer took. The\n"
	    "status is 124 if it has not answered within 5 seconds.\n\n"
	    "  -j, --json   what canceld knows of its server as a JSON object\n",
	    server_ping_is_over, server_tell_ping },
	{ "restart",
	    "usage: cancelctl restart [-fj] " TARGETS_USAGE "\n\n"
	    "Ends the server, which may be stuck, and starts another one, which continues the\n"
	    "session. What the server was working on is answered with an error.\n\n"
	    "  -f, --force  end it even if no other one can continue the session\n"
	    "  -j, --json   what canceld knows of its server as a JSON object\n",
	    restart_is_over, tell_restart },
};

/* Its server once that is over; the caller's. NULL: canceld does not tell: see its fault. */
static json_t *
await(struct target *target, const struct deed *deed)
{
	for (;; poll(NULL, 0, PAUSE)) {
		json_t *about = target_call(target, "list", NULL);
		json_t *server = json_incref(json_object_get(about, "server"));

		json_decref(about);
		if (server == NULL || deed->is_over(server))
			return server;
		json_decref(server);
	}
}

static int
show(const struct target *target, const struct deed *deed, json_t *server, bool json)
{
	struct buf line = { 0 };
	int status;

	target_append_name(&line, target);
	compose(&line, ": ");
	status = deed->tell(&line, server);
	if (json)
		show_json(server);
	else
		show_line(buf_span(&line));
	buf_free(&line);
	return status;
}

int
ctl_server(int argc, char *argv[])
{
	const struct deed *deed = &deeds[strcmp(argv[0], deeds[1].name) == 0];
	struct targets targets = { .method = "list" };
	bool json = false, force = false;
	json_t *begun, *server = NULL;
	int status;

	ctl_line(argc, argv,
	    (struct ctl_option[]){ { "json", 'j', &json, NULL }, { deed == deeds ? NULL : "force", 'f', &force, NULL },
		{ 0 } },
	    1, deed->usage);
	if (optind == argc)
		return ctl_usage("which canceld? give NAME; see cancelctl %s --help", argv[0]);
	status = targets_choose(&targets, argv[optind], CALL_LIMIT);
	if (status == CTL_YES) {
		begun = target_call(targets.list, argv[0], force ? json_pack("{s:b}", "force", true) : NULL);
		server = begun != NULL ? await(targets.list, deed) : NULL;
		if (server == NULL && begun != NULL && force && targets.list->gone)
			server = json_pack("{s:s}", "state", "gone"); /* and the session with it */
		status = server != NULL ? show(targets.list, deed, server, json) : target_tell(targets.list);
		if (server != NULL && force) /* it has ended, which was asked */
			status = CTL_YES;
		json_decref(begun);
		json_decref(server);
	}
	targets_free(&targets);
	return status;
}
