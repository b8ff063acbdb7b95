#include "ctl/commands.h"

#include <unistd.h>
#include <string.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/words.h"

static void
tell_changed(struct buf *line, const json_t *result)
{
	compose(line, "set; %d in flight changed", (int64_t)show_number(result, "changed"));
}

static void
tell_level(struct buf *line, const json_t *result)
{
	(void)result;
	compose(line, "the level of the log is changed");
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

/* The commands; each is a method of the same name. */
static const struct order {
	const char *name, *usage;
	int words;                                            /* that are no options, with the canceld */
	void (*tell)(struct buf *line, const json_t *result); /* the human form of what one said */
} orders[] = {
	{ "set",
	    "usage: cancelctl set [-Tnj] -a|" TARGETS_USAGE " [METHOD[:NAME]=]DURATION\n\n"
	    "Sets a deadline for the requests that come, in the form of canceld's option -t.\n\n"
	    "  -T, --max-time   the deadline for the whole time, which nothing extends\n"
	    "  -n, --now        for what is in flight too, from its last sign of life\n"
	    "  -a, --all        for every canceld of this user\n"
	    "  -j, --json       the answer of each as a JSON object\n",
	    2, tell_changed },
	{ "log",
	    "usage: cancelctl log [-j] -a|" TARGETS_USAGE " error|person|decision|traffic\n\n"
	    "Sets how much canceld logs; the levels are those of -q, no option, -v and -vv.\n\n"
	    "  -a, --all    for every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n",
	    2, tell_level },
	{ "reload",
	    "usage: cancelctl reload [-j] -a|" TARGETS_USAGE "\n\n"
	    "Makes canceld read its configuration file again; a faulty file changes nothing.\n\n"
	    "  -a, --all    every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n",
	    1, tell_reloaded },
};

struct steering {
	const struct order *order;
	bool json;
};

static void
report(void *user, const struct target *target, json_t *result)
{
	const struct steering *steering = user;
	json_t *whole = target_with(target, result);
	struct buf line = { 0 };

	target_append_name(&line, target);
	compose(&line, ": ");
	steering->order->tell(&line, result);
	if (steering->json)
		show_json(whole);
	else
		show_line(buf_span(&line));
	buf_free(&line);
	json_decref(whole);
}

int
ctl_steer(int argc, char *argv[])
{
	struct steering steering = { .order = orders };
	bool all = false, now = false, cap = false;
	json_t *params, *value;

	while (strcmp(argv[0], steering.order->name) != 0)
		steering.order++;
	ctl_line(argc, argv,
	    (struct ctl_option[]){ { "json", 'j', &steering.json, NULL }, { "all", 'a', &all, NULL },
		{ steering.order == orders ? "now" : NULL, 'n', &now, NULL }, { "max-time", 'T', &cap, NULL }, { 0 } },
	    argc, steering.order->usage);
	if (argc - optind != steering.order->words - all)
		return ctl_usage("wrong number of arguments; see cancelctl %s --help", argv[0]);
	value = printable_json(span_of(argv[argc - 1]), false);
	if (steering.order == orders)
		params =
		    json_pack("{s:s, s:b, s:O}", "option", cap ? "max-time" : "timeout", "now", now, "rule", value);
	else
		params = steering.order->words == 2 ? json_pack("{s:O}", "level", value) : json_object();
	json_decref(value);
	return targets_ask(all ? NULL : argv[optind], argv[0], params, report, &steering);
}
