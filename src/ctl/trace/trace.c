#include "ctl/trace.h"

#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/system.h"
#include "shell/words.h"

enum { HOLD = 10000 /* ms for which the late answer of what was given up is awaited */ };

static const char usage[] =
    "usage: cancelctl trace [-f FORMAT] [-s TIME] [-u TIME] [--payload]\n"
    "                       [PID|NAME | FILE...]\n"
    "       cancelctl trace --follow [" TARGETS_USAGE "]\n"
    "\n"
    "Writes what the history, or JSON logs of canceld, tell of each request, to be\n"
    "looked at or handed on: of all servers, or of one. A FILE - is standard input.\n"
    "A log needs -vv; with less it has only the requests that were given up. The\n"
    "history has none that was answered at once.\n\n"
    "  -f, --format FORMAT    perfetto (the default), for ui.perfetto.dev and others\n"
    "                         that read Chrome's trace events; otlp, for\n"
    "                         collectors of OpenTelemetry, one object a line;\n"
    "                         or html, a page of at most 1 MiB\n"
    "  -s, --since TIME       only lines that are not older than 2h or 1d, today,\n"
    "                         yesterday, 10:00, 2026-11-25 or '2026-11-25 10:00'\n"
    "  -u, --until TIME       only lines that are older, in the same forms\n"
    "      --payload          with the texts of messages, if the log has them: every\n"
    "                         secret of the session; never in a page\n"
    "      --follow           what every canceld of this user does, or one, while it\n"
    "                         does it; as otlp\n";

static const struct format {
	const char *name;
	void (*write)(const struct trace *trace);
} formats[] = { { "perfetto", trace_perfetto }, { "otlp", trace_otlp }, { "html", trace_html } };

enum { FORMATS = COUNT_OF(formats) };

static int
read_all(struct trace *trace, char *const files[])
{
	int status = *files == NULL ? trace_read_history(trace_hear, trace, true) : CTL_YES;
	json_t *session;

	for (; *files != NULL && status == CTL_YES; files++)
		status = trace_read(*files, trace);
	if (status == CTL_YES && json_array_size(trace->sessions) == 0)
		status = trace->which != NULL ?
		    ctl_no("%.500s: no such file, and nothing of such a server in the history",
			trace->which) :
		    ctl_no("nothing to tell: no line of a JSON log or of the history");
	show_each (session, trace->sessions)
		show_sort(json_object_get(session, "calls"), "start");
	return status;
}

static void
hear(void *user, json_t *decision)
{
	trace_hear(user, json_incref(decision));
}

static void
hand_on(void *user)
{
	struct trace taken = { .sessions = json_array() };

	trace_take(user, real_now() - HOLD, &taken);
	trace_otlp(&taken);
	json_decref(taken.sessions);
}

int
ctl_trace(int argc, char *argv[])
{
	struct trace trace = { .sessions = json_array(), .open = json_object() };
	struct watcher watcher = { .level = "traffic",
		.hear = hear,
		.end = trace_close,
		.round = hand_on,
		.user = &trace };
	const char *name = NULL, *since = NULL, *until = NULL;
	bool follow = false;
	size_t format = 0;
	int status;

	ctl_line(argc, argv,
	    CTL_OPTIONS({ "=format", 'f', &name }, { "=since", 's', &since },
		{ "=until", 'u', &until }, { "payload", 0, &trace.payload },
		{ "follow", 0, &follow }),
	    argc, usage);
	while (name != NULL && format < FORMATS && !text_is(formats[format].name, name))
		format++;
	if (format == FORMATS)
		return ctl_usage("--format: '%.60s' is none of perfetto, otlp and html", name);
	if (follow &&
	    (trace.payload || since != NULL || until != NULL || argc - optind > 1 ||
		(name != NULL && !text_is(name, "otlp"))))
		return ctl_usage(
		    "--follow writes otlp alone, of every canceld or one; see cancelctl trace --help");
	trace.since = trace_read_since(since);
	trace.until = trace_read_since(until);
	status = follow ? watch_run(&watcher, argv[optind]) : read_all(&trace, argv + optind);
	if (follow)
		trace_otlp(&trace);
	else if (status == CTL_YES)
		formats[format].write(&trace);
	return status;
}
