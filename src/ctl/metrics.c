#include "ctl/metrics.h"

#include <getopt.h>

#include "ctl/ctl.h"
#include "ctl/exposition.h"
#include "ctl/serve.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/monotonic.h"

static const char usage[] =
    "usage: cancelctl metrics [-l [ADDRESS:]PORT]\n\n"
    "Prints the counters of every canceld of this user in the text format of Prometheus.\n\n"
    "  -l, --listen [ADDRESS:]PORT   serve them at http://ADDRESS:PORT/metrics; ADDRESS: 127.0.0.1\n";

/* All are asked before the first answer is awaited. tells: one that does not answer is told on standard error. */
static void
look(struct exposition *exposition, bool tells, struct buf *text)
{
	struct targets targets;
	msec_t end;

	targets_find(&targets, false, TARGETS_LOOK);
	end = monotonic_now() + TARGETS_LOOK;
	for (size_t i = 0; i < targets.count; i++) {
		struct target *target = targets.list[i];

		if (target->about == NULL && tells)
			target_tell_silent(target);
		if (target->about != NULL && connection_ask(&target->connection, "stats", json_object(), end) < 0)
			connection_close(&target->connection);
	}
	exposition_begin(exposition);
	for (size_t i = 0; i < targets.count; i++) {
		struct target *target = targets.list[i];
		bool asked = target->about != NULL && target->connection.fd >= 0;
		json_t *answer = asked ? connection_answer(&target->connection, end) : NULL;

		exposition_add(exposition, target->path, json_object_get(answer, "result"));
		json_decref(answer);
	}
	exposition_write(exposition, text);
	targets_free(&targets);
}

/* For serve_metrics: standard error may have no reader any more. */
static void
answer_visitor(void *user, struct buf *body)
{
	look(user, false, body);
}

int
ctl_metrics(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct exposition exposition;
	const char *where = NULL;
	int got, status = CTL_YES;
	struct buf text;

	optind = 0;
	opterr = 0;
	while ((got = getopt_long(argc, argv, ":l:h", options, NULL)) >= 0) {
		if (got == 'h')
			return ctl_help(usage);
		if (got != 'l')
			return ctl_option(argv, got);
		where = optarg;
	}
	if (optind < argc)
		return ctl_usage("metrics takes no argument; see cancelctl metrics --help");
	exposition_init(&exposition);
	if (where != NULL) {
		status = serve_metrics(where, answer_visitor, &exposition);
	} else {
		buf_init(&text);
		look(&exposition, true, &text);
		show_bytes(buf_span(&text));
		buf_free(&text);
	}
	exposition_free(&exposition);
	return status;
}
