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
	int64_t changed = show_number(result, "changed");

	compose(line, changed > 0 ? "set; %d in flight changed" : "set for the requests that come", changed);
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
	const char *name, *wants, *usage;
	int words;                                            /* that are no options, with the canceld */
	void (*tell)(struct buf *line, const json_t *result); /* the human form of what one said */
} orders[] = {
	{ "set", "which canceld, and which deadline? give NAME DURATION, or --all DURATION",
	    "usage: cancelctl set [-Tnj] -a|" TARGETS_USAGE " [[METHOD[:NAME]=]DURATION]\n\n"
	    "Sets a deadline for the requests that come, in the form of canceld's option -t.\n"
	    "Without it: the rules in force, the strongest first, and where they come from.\n\n"
	    "  -T, --max-time   the deadline for the whole time, which nothing extends\n"
	    "  -n, --now        for what is in flight too, from its last sign of life\n"
	    "  -a, --all        for every canceld of this user\n"
	    "  -j, --json       the answer of each as a JSON object\n",
	    2, tell_changed },
	{ "log", "which canceld, and which level? give NAME LEVEL, or --all LEVEL",
	    "usage: cancelctl log [-j] -a|" TARGETS_USAGE " error|person|decision|traffic\n\n"
	    "Sets how much canceld logs; the levels are those of -q, no option, -v and -vv.\n\n"
	    "  -a, --all    for every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n",
	    2, tell_level },
	{ "reload", "which canceld? give NAME, or --all",
	    "usage: cancelctl reload [-j] -a|" TARGETS_USAGE "\n\n"
	    "Makes canceld read its configuration file again, and tells what is wrong in it.\n\n"
	    "  -a, --all    every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n",
	    1, tell_reloaded },
};

struct steering {
	const struct order *order;
	bool json, list; /* list: `set` without a rule */
	int status, answers;
	json_t *rules, *unfit; /* unfit: of each section the number of servers that it does not fit */
};

static void
write_duration(struct buf *text, const json_t *row, const char *key)
{
	column_time(text, row, key);
	compose(text, text->len > 0 ? "" : "none");
}

static const struct column rule_columns[] = {
	{ "SERVER", "server", COLUMN_FLEXIBLE, .write = column_text },
	{ "OPTION", "option", COLUMN_LEFT, .write = column_text },
	{ "METHOD", "method", COLUMN_FLEXIBLE, .write = column_text },
	{ "NAME", "name", COLUMN_FLEXIBLE, .write = column_text },
	{ "DURATION", "duration_ms", COLUMN_RIGHT, .write = write_duration },
	{ "FROM", "from", COLUMN_LEFT, .write = column_text },
	{ 0 },
};

/* Of a reload: what is wrong in the file is told at once, the sections that fit nowhere at the end. */
static void
note_file(struct steering *steering, const struct target *target, const json_t *result)
{
	json_t *text;
	size_t i;

	steering->answers++;
	json_array_foreach(json_object_get(result, "refused"), i, text) steering->status =
	    target_say(target, CTL_NO, json_string_value(text));
	json_array_foreach(json_object_get(result, "unfit"), i, text) json_object_set_new(steering->unfit,
	    json_string_value(text), json_integer(1 + show_number(steering->unfit, json_string_value(text))));
}

static void
report(void *user, const struct target *target, json_t *result)
{
	struct steering *steering = user;
	json_t *whole = target_with(target, result), *rule;
	struct buf line = { 0 };
	size_t i;

	target_append_name(&line, target);
	compose(&line, ": ");
	steering->order->tell(&line, result);
	note_file(steering, target, result);
	json_array_foreach(json_object_get(result, "rules"), i, rule)
	    json_array_append_new(steering->rules, target_with(target, rule));
	if (show_number(result, "more") > 0)
		ctl_no("%lld more rules are not shown", (long long)show_number(result, "more"));
	if (steering->json)
		show_json(whole);
	else if (!steering->list)
		show_line(buf_span(&line));
	buf_free(&line);
	json_decref(whole);
}

static void
show_rules(json_t *rules)
{
	if (json_array_size(rules) > 0)
		table_show(rule_columns, rules);
	else
		show_line(SPAN("no rule is set: all deadlines are built in"));
}

/* What is told once all have answered. Returns the exit status. */
static int
end(struct steering *steering, int status)
{
	struct buf sections = { 0 };
	const char *name;
	json_t *count;

	if (steering->list && !steering->json && steering->answers > 0)
		show_rules(steering->rules);
	json_object_foreach(steering->unfit, name, count) if (json_integer_value(count) == steering->answers)
	    compose(&sections, sections.len > 0 ? ", %s" : "%s", name);
	if (sections.len > 0)
		ctl_no("no server that was asked fits these sections: %.*s", (int)sections.len, sections.data);
	buf_free(&sections);
	json_decref(steering->rules);
	json_decref(steering->unfit);
	return status > steering->status ? status : steering->status;
}

int
ctl_steer(int argc, char *argv[])
{
	struct steering steering = { .order = orders, .rules = json_array(), .unfit = json_object() };
	bool all = false, now = false, cap = false;
	json_t *params, *value;

	while (strcmp(argv[0], steering.order->name) != 0)
		steering.order++;
	ctl_line(argc, argv,
	    (struct ctl_option[]){ { "json", 'j', &steering.json, NULL }, { "all", 'a', &all, NULL },
		{ steering.order == orders ? "now" : NULL, 'n', &now, NULL }, { "max-time", 'T', &cap, NULL }, { 0 } },
	    steering.order->words, steering.order->usage);
	steering.list = steering.order == orders && argc - optind == 1 - all && !now && !cap;
	if (argc - optind != steering.order->words - all - steering.list)
		return ctl_usage("%s; see cancelctl %s --help", steering.order->wants, argv[0]);
	value = printable_json(span_of(argv[argc - 1]), false);
	if (steering.list || steering.order->words == 1)
		params = json_object();
	else if (steering.order == orders)
		params =
		    json_pack("{s:s, s:b, s:O}", "option", cap ? "max-time" : "timeout", "now", now, "rule", value);
	else
		params = json_pack("{s:O}", "level", value);
	json_decref(value);
	return end(&steering, targets_ask(all ? NULL : argv[optind], argv[0], params, report, &steering));
}
