#include "ctl/commands.h"

#include <unistd.h>
#include <string.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/words.h"

struct order {
	bool json, all, now, cap;
	const char *which;                                    /* NULL: all */
	json_t *word;                                         /* what stands behind it; owned, NULL: nothing */
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
	order->which = order->all ? NULL : argv[optind];
	order->word = words > 1 ? printable_json(span_of(argv[argc - 1]), false) : NULL;
	return -1;
}

static void
report(void *user, const struct target *target, json_t *result)
{
	const struct order *order = user;
	json_t *whole = target_with(target, result);
	struct buf line;

	buf_init(&line);
	target_append_name(&line, target);
	compose(&line, ": ");
	order->tell(&line, result);
	if (order->json)
		show_json(whole);
	else
		show_line(buf_span(&line));
	buf_free(&line);
	json_decref(whole);
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
	struct order order = { .tell = tell_changed };
	int status = read_order(&order, argc, argv, 2, usage);
	json_t *params;

	if (status >= 0)
		return status;
	params = json_pack("{s:s, s:o, s:b}", "option", order.cap ? "max-time" : "timeout", "rule", order.word, "now",
	    order.now);
	return targets_ask(order.which, "set", params, report, &order);
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
	struct order order = { .tell = tell_level };
	int status = read_order(&order, argc, argv, 2, usage);

	if (status >= 0)
		return status;
	return targets_ask(order.which, "log", json_pack("{s:o}", "level", order.word), report, &order);
}

static void
append_names(struct buf *line, const char *head, const json_t *names)
{
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name) compose(line, "%s %b", i == 0 ? head : ",", show_text(name));
}

static void
tell_reloaded(struct buf *line, const json_t *result)
{
	const json_t *changed = json_object_get(result, "changed"), *later = json_object_get(result, "at_next_start");
	bool now = json_array_size(changed) > 0, then = json_array_size(later) > 0;

	append_names(line, "changed", changed);
	compose(line, now && then ? "; " : now || then ? "" : "nothing changed");
	append_names(line, "at the next start", later);
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

	return status >= 0 ? status : targets_ask(order.which, "reload", NULL, report, &order);
}
