#include "ctl/commands.h"

#include "core/compose.h"
#include "core/limits.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "ctl/trace.h"
#include "shell/options.h"
#include "shell/words.h"

enum {
	PAUSE = 50,     /* ms between two looks at what has become of it */
	GONE_LOOKS = 40 /* at a server that is gone: its canceld may wait for the client to read */
};

/* server: as `list` has it. */
static bool
is_awaited(const json_t *server)
{
	return json_is_integer(json_object_get(server, "unanswered_ms"));
}

bool
steer_ping_is_over(const json_t *server)
{
	return !is_awaited(server) || show_number(server, "unanswered_ms") >= TIME_PROBE;
}

int
steer_tell_ping(struct buf *line, const json_t *server)
{
	bool late = is_awaited(server);
	const char *key = late ? "unanswered_ms" : "probe_ms";

	if (!json_is_integer(json_object_get(server, key))) {
		compose_text(line, "the server ended before it answered");
		return CTL_NO;
	}
	compose_text(line, late ? "not answered for %b" : "answered after %b",
	    show_time(show_number(server, key)));
	return late ? STATUS_TIMED_OUT : CTL_YES;
}

static bool
restart_is_over(const json_t *server)
{
	/*
	 * One that did not accept the session is stuck, until canceld has ended it. When it is gone
	 * for good, its canceld most likely ends: that tells more.
	 */
	return !show_is(server, "state", "restarting stuck gone");
}

static int
tell_restart(struct buf *line, const json_t *server)
{
	bool runs = show_is(server, "state", "running");

	compose_text(line, runs ? "restarted" : "ended, and not started again");
	return runs ? CTL_YES : CTL_NO;
}

static int
tell_changed(struct buf *line, const json_t *result)
{
	int64_t changed = show_number(result, "changed");

	compose_text(line,
	    changed > 0 ? "set; %d in flight changed" : "set for the requests that come", changed);
	if (show_has(result, "meant"))
		compose_text(line, "; was this meant? %b", show_string(result, "meant"));
	return CTL_YES;
}

static int
tell_level(struct buf *line, const json_t *result)
{
	(void)result;
	compose_text(line, "the level of the log is changed");
	return CTL_YES;
}

/* Whether there are any. */
static bool
append_names(struct buf *line, const char *head, const json_t *result, const char *key)
{
	const json_t *names = json_object_get(result, key);
	json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		compose_text(line, "%s %b", i == 0 ? head : ",", show_text(name));
	return i > 0;
}

static int
tell_reloaded(struct buf *line, const json_t *result)
{
	bool now, then;

	compose_text(line, "%b:", show_string(result, "file"));
	now = append_names(line, " changed", result, "changed");
	then = append_names(line, now ? "; at the next start" : " at the next start", result,
	    "at_next_start");
	compose_text(line, now || then ? "" : " nothing changed");
	return CTL_YES;
}

/* The commands; each is a method of the same name. */
static const struct order {
	const char *name, *wants, *usage;
	int words; /* at most so many, options not counted */
	/* appends one canceld's answer in words; returns the exit status */
	int (*tell)(struct buf *line, const json_t *result);
	/*
	 * whether the order is carried out, which `list` then shows of the server; NULL: it is at
	 * once
	 */
	bool (*is_over)(const json_t *server);
} orders[] = {
	{ "set", "which canceld, and which deadline? give NAME DURATION, or --all DURATION",
	    "usage: cancelctl set [-Tnuj] -a|" TARGETS_USAGE " [[METHOD[:NAME]=]DURATION]\n\n"
	    "Sets a deadline for the requests that come, in the form of canceld's option -t.\n"
	    "Without it: the rules by where each comes from, the strongest first (cancelctl\n"
	    "set, command line, or the file, first its section for this server), and whether\n"
	    "a stronger one for the same covers it. What no rule sets is built in.\n\n"
	    "  -T, --max-time   the deadline for the whole time, which nothing extends\n"
	    "  -n, --now        for what is in flight too, from its last sign of life\n"
	    "  -u, --unset      takes back what was set for this METHOD[:NAME]; without one,\n"
	    "                   all that was set, or with -T all that was set with -T\n"
	    "  -a, --all        for every canceld of this user\n"
	    "  -j, --json       the answer of each as a JSON object\n",
	    2, tell_changed, NULL },
	{ "log",
	    "whose log? give NAME, as cancelctl ls shows it, or --all; and a LEVEL only to change how much is logged",
	    "usage: cancelctl log [-j] -a|" TARGETS_USAGE " [error|notice|decision|traffic]\n\n"
	    "Shows the last lines of canceld's log; or sets how much it logs: the levels are\n"
	    "those of -q, no option, -v and -vv.\n\n"
	    "  -a, --all    for every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n",
	    2, tell_level, NULL },
	{ "reload", "which canceld? give NAME, or --all",
	    "usage: cancelctl reload [-j] -a|" TARGETS_USAGE "\n\n"
	    "Makes canceld read its configuration file again, and tells what is wrong in it.\n\n"
	    "  -a, --all    every canceld of this user\n"
	    "  -j, --json   the answer of each as a JSON object\n",
	    1, tell_reloaded, NULL },
	{ "ping", "which canceld? give NAME, or --all",
	    "usage: cancelctl ping [-j] -a|" TARGETS_USAGE "\n\n"
	    "Asks the server whether it is alive, and tells how long its answer took. The\n"
	    "status is 124 if it has not answered within 5 seconds.\n\n"
	    "  -a, --all    every canceld of this user\n"
	    "  -j, --json   what canceld knows of its server as a JSON object\n",
	    1, steer_tell_ping, steer_ping_is_over },
	{ "restart", "which canceld? give NAME, or --all",
	    "usage: cancelctl restart [-fj] -a|" TARGETS_USAGE "\n\n"
	    "Ends the server, which may be stuck, and starts another one, which continues the\n"
	    "session. What the server was working on is answered with an error.\n\n"
	    "  -f, --force  end it even if no other one can continue the session\n"
	    "  -a, --all    every canceld of this user\n"
	    "  -j, --json   what canceld knows of its server as a JSON object\n",
	    1, tell_restart, restart_is_over },
};

struct steering {
	const struct order *order;
	bool json, list; /* list: `set` without a rule, `log` without a level */
	bool all, unset, force;
	size_t answers, asked;
	json_t *params; /* of the order */
	json_t *rules;
	json_t *unfit;  /* by section: the canceld whose servers it does not fit */
	json_t *faults; /* by text: the canceld that answered with it */
};

static void
write_duration(struct buf *text, const json_t *row, const char *key)
{
	column_time(text, row, key);
	compose_text(text, text->len > 0 ? "" : "none");
}

static const struct column rule_columns[] = {
	{ "SERVER", "server", COLUMN_FLEXIBLE, .rank = 0 },
	{ "OPTION", "option", COLUMN_LEFT, .rank = 0 },
	{ "METHOD", "method", COLUMN_FLEXIBLE, .rank = 0 },
	{ "NAME", "name", COLUMN_FLEXIBLE, .rank = 0 },
	{ "DURATION", "duration_ms", COLUMN_RIGHT, .write = write_duration },
	{ "STATE", "state", COLUMN_LEFT, .rank = 0 },
	{ "FROM", "from", COLUMN_LEFT, .rank = 0 },
	{ 0 },
};

static void
note(json_t *texts, const char *text, const struct target *target)
{
	if (!show_has(texts, text))
		json_object_set_new(texts, text, json_array());
	json_array_append_new(json_object_get(texts, text), json_string(target_name(target)));
}

/*
 * Writes a fault to stderr; with --all it is kept for the end, because every canceld may have the
 * same.
 */
static int
note_fault(struct steering *steering, const struct target *target, int status, const char *text)
{
	if (!steering->all)
		return target_say(target, status, text);
	note(steering->faults, text, target);
	return status;
}

/*
 * Of the answer to `reload`: notes what is wrong in the file, and the sections that do not fit the
 * server.
 */
static int
note_file(struct steering *steering, const struct target *target, const json_t *result)
{
	int status = CTL_YES;
	json_t *text;

	steering->answers++;
	show_each_in (text, result, "refused")
		status = note_fault(steering, target, CTL_NO, json_string_value(text));
	show_each_in (text, result, "doubted")
		note_fault(steering, target, CTL_YES, json_string_value(text));
	/* Where only one is asked, and has its section, the others are those of other servers. */
	show_each (text,
	    steering->all || !show_has(result, "section") ? json_object_get(result, "unfit") : NULL)
		note(steering->unfit, json_string_value(text), target);
	return status;
}

/* Adds to the fault how the server ended, as its canceld has told since its last start. */
static void
explain_end(struct target *target)
{
	json_t *end;

	show_each (end, target->ends) {
		json_auto_t *reason = trace_reason(end);
		size_t len = strlen(target->fault);

		snprintf(target->fault + len, sizeof(target->fault) - len, ": %s",
		    show_text(reason).ptr);
	}
}

/*
 * Gives the order, and waits until it is carried out. Returns the server as `list` then has it,
 * which the caller owns. NULL: canceld refused, or did not answer; see its fault.
 */
static json_t *
await(const struct steering *steering, struct target *target)
{
	json_auto_t *begun =
	    target_call(target, steering->order->name, json_incref(steering->params));
	json_t *server = NULL;

	for (int gone = 0; begun != NULL; poll(NULL, 0, PAUSE)) {
		json_auto_t *about = target_call(target, "list", NULL);

		server = json_incref(json_object_get(about, "server"));
		gone += show_is(server, "state", "gone");
		if (server == NULL || gone > GONE_LOOKS || steering->order->is_over(server))
			break;
		json_decref(server);
	}
	if (server != NULL)
		return server;
	explain_end(target);
	/* The session may have ended with the server. */
	return steering->force && target->gone ? json_pack("{s:s}", "state", "gone") : NULL;
}

/*
 * Adds a rule of a target. It is covered if a stronger one for the same, which came before, is in
 * the list. Of a name that is long or an address, canceld tells only a part: whether two such names
 * are the same is unknown. Takes the reference.
 */
static void
add_rule(json_t *rules, json_t *row)
{
	const char *state = "in force";
	json_t *same = json_object(), *other;

	show_take(same, row, "pid option method name");
	show_each (other, rules)
		if (json_equal(json_object_get(other, "same"), same))
			state = strpbrk(show_chars(row, "name"), ":*.") != NULL ? "" : "covered";
	json_object_set_new(row, "same", same);
	json_object_set_new(row, "state", json_string(state));
	json_array_append_new(rules, row);
}

/* Shows the lines of a log, and keeps rules, which are shown once all have answered. */
static void
take_lists(struct steering *steering, const struct target *target, const json_t *result)
{
	json_t *item;

	show_each_in (item, result, "rules")
		add_rule(steering->rules, target_with(target, item));
	if (show_number(result, "more") > 0)
		ctl_no("%lld more rules are not shown", show_number(result, "more"));
	show_each_in (item, result, "lines") {
		struct buf shown = { 0 };

		if (steering->json)
			show_json(item);
		else
			view_decision(&shown, item, true);
		show_buf(&shown);
	}
}

/* Shows the answer of one canceld. Returns the exit status. */
static int
show(const struct steering *steering, const struct target *target, json_t *result)
{
	json_auto_t *whole = target_with(target, result);
	BUF_AUTO line = { 0 };
	int status = CTL_YES;

	compose_text(&line, steering->unset ? "%s: taken back" : "%s: ", target_name(target));
	if (!steering->unset)
		status = steering->order->tell(&line, result);
	if (steering->json && !show_has(result, "lines"))
		show_json(whole);
	else if (!steering->json && !steering->list)
		show_line(&line);
	return steering->force ? CTL_YES : status; /* it has ended, which was asked */
}

static int
report(void *user, struct target *target, json_t *result)
{
	struct steering *steering = user;
	json_auto_t *said = result != NULL && steering->order->is_over != NULL ?
	    await(steering, target) :
	    json_incref(result);
	int status, file;

	steering->asked++;
	if (said == NULL)
		return note_fault(steering, target, target->status, target->fault);
	file = note_file(steering, target, said);
	take_lists(steering, target, said);
	status = show(steering, target, said);
	return file > status ? file : status;
}

/* Shows what was kept until all had answered. */
static void
end(struct steering *steering)
{
	struct buf sections = { 0 };
	const char *text;
	json_t *tellers;

	json_object_foreach (steering->faults, text, tellers) {
		if (json_array_size(tellers) == 1)
			ctl_no("%s: %s", json_string_value(json_array_get(tellers, 0)), text);
		else
			ctl_no("%zu of %zu: %s", json_array_size(tellers), steering->asked, text);
	}
	if (json_array_size(steering->rules) > 0 && !steering->json)
		table_show(rule_columns, steering->rules);
	else if (steering->list && steering->order == orders && !steering->json &&
	    steering->answers > 0)
		puts("no rule is set: all deadlines are built in");
	json_object_foreach (steering->unfit, text, tellers)
		if (json_array_size(tellers) == steering->answers)
			compose_text(&sections, sections.len > 0 ? ", %s" : "%s", text);
	if (sections.len > 0)
		ctl_no("no server that was asked fits these sections: %.*s", (int)sections.len,
		    sections.data);
	json_decref(steering->params);
	json_decref(steering->rules);
	json_decref(steering->unfit);
	json_decref(steering->faults);
}

/*
 * The rule as the method `set` wants it: with --unset, "none" stands in for a duration that is
 * missing. A NAME may have a '=', so the last one counts.
 */
static json_t *
rule_of(const char *typed, bool unset)
{
	const char *last = strrchr(typed, '='), *end = last != NULL ? last + 1 : typed;
	bool bare = unset && !units_read_duration(end, &(msec_t){ 0 });
	struct buf rule = { 0 };

	compose_text(&rule, "%s%s", typed, !bare ? "" : *typed == '\0' ? "none" : "=none");
	return printable_json(buf_span(&rule));
}

/*
 * Whether a word in the place of PID|NAME is a rule. Its METHOD may look like the path of a socket.
 */
static bool
is_rule(const char *word, bool unset)
{
	return strchr(word, '=') != NULL || units_read_duration(word, &(msec_t){ 0 }) ||
	    (unset && strchr(word, '/') != NULL && access(word, F_OK) < 0);
}

int
ctl_steer(int argc, char *argv[])
{
	struct steering steering = { .order = orders,
		.rules = json_array(),
		.unfit = json_object(),
		.faults = json_object() };
	bool now = false, cap = false, bare, sets, waits;
	json_auto_t *watched = json_pack("{s:s}", "level", "notice");
	int status;

	while (!text_is(argv[0], steering.order->name))
		steering.order++;
	sets = steering.order == orders;
	ctl_line(argc, argv,
	    CTL_OPTIONS({ "json", 'j', &steering.json }, { "all", 'a', &steering.all },
		{ sets                                             ? "now" :
			steering.order->is_over == restart_is_over ? "force" :
								     NULL,
		    sets ? 'n' : 'f', sets ? &now : &steering.force },
		{ sets ? "max-time" : NULL, 'T', &cap }, { "unset", 'u', &steering.unset }),
	    steering.order->words, steering.order->usage);
	bare = steering.order->words == 2 && argc - optind == 1 - steering.all;
	if (sets && bare && !steering.all && is_rule(argv[optind], steering.unset))
		return ctl_usage("'%.100s' is no canceld: %s", argv[optind], steering.order->wants);
	steering.list = bare && !now && !cap && !steering.unset;
	if (argc - optind !=
	    steering.order->words - steering.all - (bare && (steering.unset || steering.list)))
		return ctl_usage("%s; see cancelctl %s --help", steering.order->wants, argv[0]);
	if (steering.list || steering.order->words == 1)
		steering.params =
		    steering.force ? json_pack("{s:b}", "force", true) : json_object();
	else if (sets)
		steering.params = json_pack("{s:s, s:b, s:b, s:o}", "option",
		    cap ? "max-time" : "timeout", "now", now, "unset", steering.unset, "rule",
		    rule_of(bare ? "" : argv[argc - 1], steering.unset));
	else
		steering.params =
		    json_pack("{s:o}", "level", printable_json(span_of(argv[argc - 1])));
	/* What becomes of a server is heard from before the order on. */
	waits = steering.order->is_over != NULL;
	status = targets_ask(steering.all ? NULL : argv[optind], waits ? "watch" : argv[0],
	    waits ? watched : steering.params, report, &steering);
	end(&steering);
	return status;
}
