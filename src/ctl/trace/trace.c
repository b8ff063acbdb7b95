#include "ctl/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "shell/words.h"

static const char usage[] = "usage: cancelctl trace [-f FORMAT] [-s DURATION] [--payload] FILE...\n"
			    "\n"
			    "Writes what JSON logs of canceld tell of each request, to be looked at or handed\n"
			    "on. A FILE - is standard input. The log needs -vv; with less it has only the\n"
			    "requests about which something was decided.\n\n"
			    "  -f, --format FORMAT    perfetto (the default), for ui.perfetto.dev and others\n"
			    "                         that read Chrome's trace events; otlp, for\n"
			    "                         collectors of OpenTelemetry, one object a line;\n"
			    "                         or html, a page of at most 1 MiB\n"
			    "  -s, --since DURATION   only lines that are not older, such as 2h\n"
			    "      --payload          with the texts of messages, where the log has them; they\n"
			    "                         have every secret of the session; never in a page\n";

static const struct format {
	const char *name;
	void (*write)(const struct trace *trace);
} formats[] = { { "perfetto", trace_perfetto }, { "otlp", trace_otlp }, { "html", trace_html } };

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* Each line has an object. Returns the exit status. */
static int
read_log(struct trace *trace, const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	unsigned long others = 0;
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int fault;

	if (file == NULL)
		return ctl_no("%.500s: %s", path, strerror(errno));
	while ((len = getline(&text, &size, file)) >= 0)
		others += !trace_hear(trace, json_loadb(text, (size_t)len, JSON_ALLOW_NUL, NULL));
	fault = ferror(file) ? errno : 0;
	fclose(file);
	free(text);
	if (others > 0)
		ctl_tell(CTL_YES, "%.500s: %lu lines are not of a JSON log, and were passed over", path, others);
	return fault == 0 ? CTL_YES : ctl_no("%.500s: %s", path, strerror(fault));
}

static int
read_all(struct trace *trace, char *const files[])
{
	int status = CTL_YES;

	for (; *files != NULL && status == CTL_YES; files++)
		status = read_log(trace, *files);
	if (status == CTL_YES && json_array_size(trace->sessions) == 0)
		status = ctl_no("nothing to tell: canceld writes a JSON log with --log-format json");
	return status;
}

int
ctl_trace(int argc, char *argv[])
{
	struct trace trace = { .sessions = json_array(), .open = json_object() };
	const char *name = formats[0].name, *since = NULL;
	size_t format = 0;
	uint64_t age;
	int status;

	ctl_line(argc, argv,
	    (struct ctl_option[]){ { "format", 'f', NULL, &name }, { "since", 's', NULL, &since },
		{ "payload", 0, &trace.payload, NULL }, { 0 } },
	    argc, usage);
	while (format < FORMATS && strcmp(formats[format].name, name) != 0)
		format++;
	if (format == FORMATS)
		return ctl_usage("--format: '%.60s' is none of perfetto, otlp and html", name);
	if (since != NULL && !units_read_time(span_of(since), &age))
		return ctl_usage("--since: '%.60s' is no duration such as 2h", since);
	if (optind == argc)
		return ctl_usage("which FILE? see cancelctl trace --help");
	if (since != NULL)
		trace.since = ((msec_t)time(NULL) * 1000) - (msec_t)age;
	status = read_all(&trace, argv + optind);
	if (status == CTL_YES)
		formats[format].write(&trace);
	json_decref(trace.sessions);
	json_decref(trace.open);
	return status;
}
