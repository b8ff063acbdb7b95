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
	if (json_object_get(result, "meant") != NULL)
		compose(line, "; was this meant? %b", show_string(result, "meant"));
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
	json_t *doubt;
	size_t i;

	append_names(line, "changed", changed);
	compose(line, now && then ? "; " : now || then ? "" : "nothing changed");
	append_names(line, "at the next start", later);
	json_array_foreach(json_object_get(result, "doubted"), i, doubt) compose(line, "; %b", show_text(doubt));
}

/* The commands; each is a method of the same name. */
static const struct order {
	const char *name, *wants, *usage;
	int words;                                            /* that are no options, with the canceld */
	void (*tell)(struct buf *line, const json_t *result); /* the human form of what one said */
} orders[] = {
	{ "set", "which canceld, and which deadline? give NAME DURATION, or --all DURATION",
	    "usage: cancelctl set [-Tnuj] -a|" TARGETS_USAGE " [[METHOD[:NAME]=]DURATION]\n\n"
	    "Sets a deadline for the requests that come, in the form of canceld's option -t.\n"
	    "Without it: the rules in force, the strongest first, and where they come from.\n\n"
	    "  -T, --max-time   the deadline for the whole time, which nothing extends\n"
	    "  -n, --now        for what is in flight too, from its last sign of life\n"
	    "  -u, --unset      takes back what was set for this METHOD[:NAME], or for all\n"
	    "  -a, --all        for every canceld of this user\n"
	    "  -j, --json       the answer of each as a JSON object\n",
	    2, tell_changed },
	{ "log", "which canceld, and which level? give NAME, or NAME LEVEL, or --all",
	    "usage: cancelctl log [-j] -a|" TARGETS_USAGE " [error|person|decision|traffic]\n\n"
	    "Shows the last lines of canceld's log; or sets how much it logs: the levels are\n"
	    "those of -q, no option, -v and -vv.\n\n"
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
	bool json, list; /* list: `set` without a rule, `log` without a level */
	bool all, unset;
	int answers, asked;
	json_t *rules;
	json_t *unfit;  /* of each section the number of servers that it does not fit */
	json_t *faults; /* of each text who told it */
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

/* Of one it is told at once; of all at the end, as all may have the same. */
static int
note_fault(struct steering *steering, const struct target *target, int status, const char *text)
{
	json_t *tellers = json_object_get(steering->faults, text);
	struct buf name = { 0 };

	if (!steering->all)
		return target_say(target, status, text);
	if (tellers == NULL) {
		tellers = json_array();
		json_object_set_new(steering->faults, text, tellers);
	}
	target_append_name(&name, target);
	json_array_append_new(tellers, json_stringn(name.data, name.len));
	buf_free(&name);
	return status;
}

/* Of a reload: what is wrong in the file, and the sections that fit nowhere. */
static int
note_file(struct steering *steering, const struct target *target, const json_t *result)
{
	int status = CTL_YES;
	json_t *text;
	size_t i;

	steering->answers++;
	json_array_foreach(json_object_get(result, "refused"), i, text) status =
	    note_fault(steering, target, CTL_NO, json_string_value(text));
	json_array_foreach(json_object_get(result, "unfit"), i, text) json_object_set_new(steering->unfit,
	    json_string_value(text), json_integer(1 + show_number(steering->unfit, json_string_value(text))));
	return status;
}

static int
report(void *user, const struct target *target, json_t *result)
{
	struct steering *steering = user;
	struct buf line = { 0 };
	json_t *lines = json_object_get(result, "lines"), *whole, *rule, *decision;
	int status;
	size_t i;

	steering->asked++;
	if (result == NULL)
		return note_fault(steering, target, target->status, target->fault);
	whole = target_with(target, result);
	target_append_name(&line, target);
	compose(&line, ": ");
	if (steering->unset)
		compose(&line, "taken back");
	else
		steering->order->tell(&line, result);
	status = note_file(steering, target, result);
	json_array_foreach(json_object_get(result, "rules"), i, rule)
	    json_array_append_new(steering->rules, target_with(target, rule));
	if (show_number(result, "more") > 0)
		ctl_no("%lld more rules are not shown", (long long)show_number(result, "more"));
	json_array_foreach(lines, i, decision)
	{
		struct buf shown = { 0 };

		if (steering->json)
			show_json(decision);
		else
			view_decision(&shown, decision, true);
		show_buf(&shown);
	}
	if (steering->json && lines == NULL)
		show_json(whole);
	else if (!steering->list)
		show_line(buf_span(&line));
	buf_free(&line);
	json_decref(whole);
	return status;
}

static void
show_rules(json_t *rules)
{
	if (json_array_size(rules) > 0)
		table_show(rule_columns, rules);
	else
		show_line(SPAN("no rule is set: all deadlines are built in"));
}

static void
tell_faults(const struct steering *steering)
{
	const char *text;
	json_t *tellers;

	json_object_foreach(steering->faults, text, tellers)
	{
		if (json_array_size(tellers) == 1)
			ctl_no("%s: %s", json_string_value(json_array_get(tellers, 0)), text);
		else
			ctl_no("%zu of %d: %s", json_array_size(tellers), steering->asked, text);
	}
}

/* What is told once all have answered. */
static void
end(struct steering *steering)
{
	struct buf sections = { 0 };
	const char *name;
	json_t *number;

	tell_faults(steering);
	if (steering->list && steering->order == orders && !steering->json && steering->answers > 0)
		show_rules(steering->rules);
	json_object_foreach(steering->unfit, name, number) if (json_integer_value(number) == steering->answers)
	    compose(&sections, sections.len > 0 ? ", %s" : "%s", name);
	if (sections.len > 0)
		ctl_no("no server that was asked fits these sections: %.*s", (int)sections.len, sections.data);
	buf_free(&sections);
	json_decref(steering->rules);
	json_decref(steering->unfit);
	json_decref(steering->faults);
}

/* What is taken back needs no duration; a NAME may have a '='. */
static json_t *
rule_of(const char *typed, bool unset)
{
	const char *last = strrchr(typed, '='), *end = last != NULL ? last + 1 : typed;
	bool bare = unset && !units_read_duration(span_of(end), &(msec_t){ 0 });
	struct buf rule = { 0 };
	json_t *value;

	compose(&rule, "%s%s", typed, !bare ? "" : *typed == '\0' ? "none" : "=none");
	value = printable_json(buf_span(&rule), false);
	buf_free(&rule);
	return value;
}

int
ctl_steer(int argc, char *argv[])
{
	struct steering steering = { .order = orders,
		.rules = json_array(),
		.unfit = json_object(),
		.faults = json_object() };
	bool now = false, cap = false, bare;
	json_t *params;
	int status;

	while (strcmp(argv[0], steering.order->name) != 0)
		steering.order++;
	ctl_line(argc, argv,
	    (struct ctl_option[]){ { "json", 'j', &steering.json, NULL }, { "all", 'a', &steering.all, NULL },
		{ steering.order == orders ? "now" : NULL, 'n', &now, NULL }, { "max-time", 'T', &cap, NULL },
		{ "unset", 'u', &steering.unset, NULL }, { 0 } },
	    steering.order->words, steering.order->usage);
	bare = steering.order->words == 2 && argc - optind == 1 - steering.all;
	steering.list = bare && !now && !cap && !steering.unset;
	if (argc - optind != steering.order->words - steering.all - (bare && (steering.unset || steering.list)))
		return ctl_usage("%s; see cancelctl %s --help", steering.order->wants, argv[0]);
	if (steering.list || steering.order->words == 1)
		params = json_object();
	else if (steering.order == orders)
		params = json_pack("{s:s, s:b, s:b, s:o}", "option", cap ? "max-time" : "timeout", "now", now, "unset",
		    steering.unset, "rule", rule_of(bare ? "" : argv[argc - 1], steering.unset));
	else
		params = json_pack("{s:o}", "level", printable_json(span_of(argv[argc - 1]), false));
	status = targets_ask(steering.all ? NULL : argv[optind], argv[0], params, report, &steering);
	end(&steering);
	return status;
}
