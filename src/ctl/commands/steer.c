#include "ctl/commands.h"

#include <unistd.h>
#include <stdio.h>
#include <string.h>

#include "core/compose.h"
#include "core/dialect.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/log.h"
#include "shell/words.h"

struct order {
	bool json, all, now, cap;
	const char *words[2]; /* what is not an option */
	int count;
	void (*tell)(struct buf *line, const json_t *result); /* the human form of what one said */
};

/* -1: go on; else the exit status. words: how many there are, with the canceld. */
static int
read_order(struct order *order, int argc, char *argv[], int words, const char *usage)
{
	bool sets = strcmp(argv[0], "set") == 0;
	struct ctl_option options[] = { { "json", 'j', &order->json, NULL }, { "all", 'a', &order->all, NULL },
		{ sets ? "now" : NULL, 'n', &order->now, NULL }, { "max-time", 'T', &order->cap, NULL }, { 0 } };
	int status = ctl_options(argc, argv, options, false, usage);

	if (status >= 0)
		return status;
	if (argc - optind != words - order->all)
		return ctl_usage("wrong number of arguments; see cancelctl %s --help", argv[0]);
	while (optind < argc)
		order->words[order->count++] = argv[optind++];
	return -1;
}

static void
report(void *user, const struct target *target, json_t *result)
{
	const struct order *order = user;
	struct buf line;

	if (order->json) {
		target_show(target, result);
		return;
	}
	buf_init(&line);
	compose(&line, "%b[%d]: ", target_name(target), (int64_t)target->pid);
	order->tell(&line, result);
	show_line(buf_span(&line));
	buf_free(&line);
}

/* Calls the method of the one canceld that is meant, or of all. */
static int
carry_out(struct order *order, const char *method, json_t *params)
{
	return targets_ask(order->all ? NULL : order->words[0], CALL_LIMIT, method, params, report, order);
}

static void
tell_changed(struct buf *line, const json_t *result)
{
	compose(line, "set; %d in flight changed", (int64_t)show_number(result, "changed"));
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
	struct policy policy = { 0 };
	struct order order = { .tell = tell_changed };
	const char *rule;
	int status = read_order(&order, argc, argv, 2, usage);
	bool good;

	if (status >= 0)
		return status;
	rule = order.words[order.count - 1];
	good = units_read_rule(span_of(rule), POLICY_SET, POLICY_IDLE, &policy);
	policy_free(&policy);
	if (!good)
		return ctl_usage("'%.200s': want [METHOD[:NAME]=]DURATION, with a DURATION as " UNITS_DURATION, rule);
	return carry_out(&order, "set",
	    json_pack("{s:s, s:o, s:b}", "option", order.cap ? "max-time" : "timeout", "rule",
		printable_json(span_of(rule), false), "now", order.now));
}

static void
tell_level(struct buf *line, const json_t *result)
{
	(void)result;
	compose(line, "the level of the log is changed");
}

int
ctl_log(int argc, char *argv[])
{
	static const char usage[] = "usage: cancelctl log [-j] -a|" TARGETS_USAGE " error|person|decision|traffic\n\n"
				    "Sets how much canceld logs; the levels are those of -q, no option, -v and -vv.\n\n"
				    "  -a, --all    for every canceld of this user\n"
				    "  -j, --json   the answer of each as a JSON object\n";
	enum why_level level;
	struct order order = { .tell = tell_level };
	const char *name;
	int status = read_order(&order, argc, argv, 2, usage);

	if (status >= 0)
		return status;
	name = order.words[order.count - 1];
	if (!log_level_named(span_of(name), &level))
		return ctl_usage("'%.60s' is none of error, person, decision and traffic", name);
	return carry_out(&order, "log", json_pack("{s:s}", "level", name));
}

static void
append_names(struct buf *line, const char *head, const json_t *names)
{
	size_t count = json_array_size(names);

	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_array_get(names, i));

		compose(line, "%s %s", i == 0 ? head : ",", name != NULL ? name : "");
	}
}

static void
tell_reloaded(struct buf *line, const json_t *result)
{
	const json_t *changed = json_object_get(result, "changed"), *later = json_object_get(result, "at_next_start");

	append_names(line, "changed", changed);
	if (json_array_size(changed) > 0 && json_array_size(later) > 0)
		compose(line, "; ");
	append_names(line, "at the next start", later);
	if (json_array_size(changed) == 0 && json_array_size(later) == 0)
		compose(line, "nothing changed");
}

int
ctl_reload(int argc, char *argv[])
{
	static const char usage[] =
	    "usage: cancelctl reload [-j] -a|" TARGETS_USAGE "\n\n"
	    "Makes canceld read its configuration file again; a faulty file changes nothing.\n\n"
	    "  -a, --all    every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n";
	struct order order = { .tell = tell_reloaded };
	int status = read_order(&order, argc, argv, 1, usage);

	return status >= 0 ? status : carry_out(&order, "reload", json_object());
}
