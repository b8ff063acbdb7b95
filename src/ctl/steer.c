#include "ctl/steer.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/policy.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/log.h"
#include "shell/printable.h"
#include "shell/units.h"

struct order {
	bool json, all, now, cap;
	const char *words[2]; /* what is not an option */
	int count;
};

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "all", no_argument, NULL, 'a' },
	{ "now", no_argument, NULL, 'n' },
	{ "max-time", no_argument, NULL, 'T' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* -1: go on; else the exit status. letters: the options of this command. */
static int
read_order(struct order *order, int argc, char *argv[], const char *letters, int words, const char *usage)
{
	int got;

	*order = (struct order){ 0 };
	optind = 0;
	opterr = 0;
	while ((got = getopt_long(argc, argv, ":jaTnh", options, NULL)) >= 0) {
		if (got == 'h')
			return ctl_help(usage);
		if (got == ':' || got == '?' || strchr(letters, got) == NULL) {
			optopt = got == '?' ? optopt : got;
			return ctl_option(argv, '?');
		}
		order->json = order->json || got == 'j';
		order->all = order->all || got == 'a';
		order->now = order->now || got == 'n';
		order->cap = order->cap || got == 'T';
	}
	if (argc - optind != words - order->all)
		return ctl_usage("wrong number of arguments; see cancelctl %s --help", argv[0]);
	while (optind < argc)
		order->words[order->count++] = argv[optind++];
	return -1;
}

/* What the one canceld said, as a line. tell: the human form. */
static void
report(const struct target *target, json_t *result, bool json, void (*tell)(struct buf *line, const json_t *result))
{
	struct buf line;

	if (json) {
		target_show(target, result);
		return;
	}
	buf_init(&line);
	show_who(&line, target_name(target), target->pid);
	buf_append(&line, SPAN(": "));
	tell(&line, result);
	show_line(buf_span(&line));
	buf_free(&line);
}

/* Calls the method of the one canceld that is meant, or of all; the status is that of the last one that refused. */
static int
call_each(const struct order *order, const char *method, json_t *params,
    void (*tell)(struct buf *line, const json_t *result))
{
	struct targets targets;
	int status = targets_choose(&targets, order->all ? NULL : order->words[0], false, CALL_LIMIT);
	bool chosen = status == CTL_YES;

	for (size_t i = 0; chosen && i < targets.count; i++) {
		json_t *result = target_call(targets.list[i], method, json_incref(params), &status);

		if (result != NULL)
			report(targets.list[i], result, order->json, tell);
		json_decref(result);
	}
	targets_free(&targets);
	json_decref(params);
	return status;
}

static void
tell_changed(struct buf *line, const json_t *result)
{
	char number[SPAN_NUMBER_MAX];

	buf_append(line, SPAN("set; "));
	buf_append(line, span_number(show_number(result, "changed"), number));
	buf_append(line, SPAN(" in flight changed"));
}

int
ctl_set(int argc, char *argv[])
{
	static const char usage[] =
	    "usage: cancelctl set [-Tnj] -a|" TARGETS_USAGE " [METHOD[:NAME]=]DURATION\n\n"
	    "Sets a deadline for the requests that come, in the form of canceld's option -t.\n\n"
	    "  -T, --max-time   the deadline for the whole time, which nothing extends\n"
	    "  -n, --now        also for what is in flight, counted from its last sign of life\n"
	    "  -a, --all        for every canceld of this user\n"
	    "  -j, --json       the answer of each as a JSON object\n";
	struct policy policy;
	struct order order;
	const char *rule;
	int status = read_order(&order, argc, argv, "jaTn", 2, usage);
	bool good;

	if (status >= 0)
		return status;
	rule = order.words[order.count - 1];
	policy_init(&policy);
	good = units_read_rule(span_of(rule), POLICY_SET, POLICY_IDLE, &policy);
	policy_free(&policy);
	if (!good)
		return ctl_usage("'%.200s': want [METHOD[:NAME]=]DURATION, with a DURATION as " UNITS_DURATION, rule);
	return call_each(&order, "set",
	    json_pack("{s:s, s:o, s:b}", "option", order.cap ? "max-time" : "timeout", "rule",
		printable_json(span_of(rule), false), "now", order.now),
	    tell_changed);
}

static void
tell_level(struct buf *line, const json_t *result)
{
	(void)result;
	buf_append(line, SPAN("the level of the log is changed"));
}

int
ctl_log(int argc, char *argv[])
{
	static const char usage[] = "usage: cancelctl log [-j] -a|" TARGETS_USAGE " error|person|decision|traffic\n\n"
				    "Sets how much canceld logs; the levels are those of -q, no option, -v and -vv.\n\n"
				    "  -a, --all    for every canceld of this user\n"
				    "  -j, --json   the answer of each as a JSON object\n";
	enum why_level level;
	struct order order;
	const char *name;
	int status = read_order(&order, argc, argv, "ja", 2, usage);

	if (status >= 0)
		return status;
	name = order.words[order.count - 1];
	if (!log_level_named(span_of(name), &level))
		return ctl_usage("'%.60s' is none of error, person, decision and traffic", name);
	return call_each(&order, "log", json_pack("{s:s}", "level", name), tell_level);
}

static void
append_names(struct buf *line, const char *head, const json_t *names)
{
	if (json_array_size(names) == 0)
		return;
	buf_append(line, span_of(head));
	for (size_t i = 0; i < json_array_size(names); i++) {
		const json_t *name = json_array_get(names, i);

		buf_append(line, i > 0 ? SPAN(", ") : SPAN(" "));
		if (json_is_string(name))
			buf_append(line, (struct span){ json_string_value(name), json_string_length(name) });
	}
	buf_append(line, SPAN(". "));
}

static void
tell_reloaded(struct buf *line, const json_t *result)
{
	const json_t *changed = json_object_get(result, "changed"), *later = json_object_get(result, "at_next_start");

	append_names(line, "Changed:", changed);
	append_names(line, "At the next start:", later);
	if (json_array_size(changed) == 0 && json_array_size(later) == 0)
		buf_append(line, SPAN("nothing changed"));
}

int
ctl_reload(int argc, char *argv[])
{
	static const char usage[] =
	    "usage: cancelctl reload [-j] -a|" TARGETS_USAGE "\n\n"
	    "Makes canceld read its configuration file again; a faulty file changes nothing.\n\n"
	    "  -a, --all    every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n";
	struct order order;
	int status = read_order(&order, argc, argv, "ja", 1, usage);

	return status >= 0 ? status : call_each(&order, "reload", json_object(), tell_reloaded);
}
