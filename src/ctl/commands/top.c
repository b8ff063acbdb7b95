#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "top.h"
#include "ctl/trace.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	INTERVAL_LEAST = 100, /* ms */
	INTERVAL_MOST = 3600 * 1000,
	KEYS_MAX = 64,
	NOTICE_TIME = 10 * 1000, /* ms for which an answer stands in the place of the keys */
	GONE_MOST = 32,          /* requests of canceld that have ended */
	ESCAPE = 27
};

static const char usage[] =
    "usage: cancelctl top [-i DURATION] [" TARGETS_USAGE "]\n\n"
    "Shows the requests in flight on a terminal, of every canceld of this user, or\n"
    "of those that are called NAME: what hangs longest stands first, and what has\n"
    "ended last stands below. ? shows the keys, q quits.\n\n"
    "  -i, --interval DURATION   between two looks; 1s\n";

/* Makes only calls that a handler may make. */
static void
on_signal(int number)
{
	if (number == SIGWINCH)
		return;
	term_leave();
	if (number == SIGTSTP) {
		raise(SIGSTOP);
		term_enter();
		return;
	}
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * The number that rows are sorted by, the smallest first. An open request has a time that stays the
 * same while nothing happens to it. One that --parallel holds stands below those that it waits for.
 */
static json_int_t
key_of(const json_t *row, int order)
{
	json_int_t behind = show_is(row, "verdict", "held") ? MSEC_NEVER / 2 : 0,
		   now = show_number(row, "now");

	if (show_has(row, "ended_ms"))
		return show_number(row, "ended_ms");
	if (order == 'l')
		return view_left(row) < MSEC_NEVER ? now + view_left(row) : MSEC_NEVER;
	return behind + now - show_number(row, order == 'a' ? "age_ms" : "idle_ms");
}

/* Compares sockets, not pids: canceld in two containers may have the same pid. */
static bool
is_same(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "socket"), json_object_get(b, "socket")) &&
	    json_equal(json_object_get(a, "serial"), json_object_get(b, "serial"));
}

/* The index of the request's row; the number of rows: it has none. */
static size_t
place_of(const struct top *top, const json_t *request)
{
	size_t i;

	for (i = 0;
	     i < json_array_size(top->rows) && !is_same(json_array_get(top->rows, i), request); i++)
		continue;
	return i;
}

/*
 * Appends the row to what is known, and, if the filter lets it be shown, to the open rows or to
 * `ended`. Takes the reference.
 */
static void
add_row(const struct top *top, json_t *ended, json_t *row)
{
	static const char *const keys_of[] = { "server", "method", "name", "id", "verdict",
		"state" };
	struct span filter = buf_span(&top->filter), text;
	bool fits = filter.len == 0;

	for (int i = 0; i < 6 && !fits; i++) {
		text = show_string(row, keys_of[i]);
		fits = memmem(text.ptr, text.len, filter.ptr, filter.len) != NULL;
	}
	json_object_set_new(row, "key", json_integer(key_of(row, top->order)));
	if (fits)
		json_array_append(show_has(row, "ended_ms") ? ended : top->rows, row);
	json_array_append_new(top->known, row);
}

static void
collect(struct top *top, json_t *ended)
{
	json_t *request, *row;
	json_int_t age;

	top->more = 0;
	each_listed (target, &top->targets) {
		age = show_number(target->about, "age_ms");
		if (age > 0 && !show_has(top->starts, target->path))
			json_object_set_new(top->starts, target->path,
			    json_integer(monotonic_now() - age));
		age += show_number(top->starts, target->path);
		top->more += show_number(target->about, "more");
		for (int over = 0; over < 2; over++)
			show_each_in (request, target->about, over ? "ended" : "requests") {
				row = target_with(target, request);
				json_object_set_new(row, "socket",
				    json_string_nocheck(target->path));
				json_object_set_new(row, "now", json_integer(age));
				show_take(row, target->about, "config doubted");
				add_row(top, ended, row);
			}
	}
}

static void
note_end(json_t *row, const char *state)
{
	json_object_del(row, "idle_ms");
	json_object_del(row, "timeout_left_ms");
	json_object_del(row, "max_time_left_ms");
	json_object_del(row, "verdict");
	json_object_set_new(row, "state", json_string(state));
}

/*
 * Keeps the requests that no canceld told of in this look: they count as ended if their canceld has
 * ended, at most GONE_MOST of them; if it only does not answer, they stay where they were.
 */
static void
keep_unheard(struct top *top, const json_t *former, json_t *ended, msec_t passed)
{
	const struct target *target;
	size_t count = 0;
	json_t *row;
	bool over;

	show_each (row, former) {
		target = top_target(top, row);
		if (target == NULL ? count++ >= GONE_MOST : target->about != NULL)
			continue;
		over = show_has(row, "ended_ms");
		if (!over)
			note_end(row, target == NULL ? "gone" : "not answering");
		over |= target == NULL;
		if (over)
			show_add(row, "ended_ms", passed);
		add_row(top, ended, json_incref(row));
	}
}

/* Notes how many calls each server had at the end of each slot of the last minute. */
static void
note_calls(struct top *top, msec_t now)
{
	json_auto_t *former = top->calls;

	top->calls = json_object();
	each_listed (target, &top->targets) {
		json_t *counts = json_object_get(former, target->path);
		json_t *count = json_object_get(target->about, "calls");
		bool known = counts != NULL;

		/* This canceld has never answered. */
		if (!known && count == NULL)
			continue;
		counts = known ? json_incref(counts) : json_pack("[O]", count);
		json_object_set_new(top->calls, target->path, counts);
		for (msec_t k = 0; k < (known ? now / SLOT - top->looked / SLOT : 1) && k < SLOTS;
		     k++)
			json_array_append(counts,
			    json_array_get(counts, json_array_size(counts) - 1));
		while (json_array_size(counts) > SLOTS)
			json_array_remove(counts, 0);
		json_array_set(counts, json_array_size(counts) - 1, count);
	}
}

/* Shows what is known by now of the answer to a ping. */
static void
note_ping(struct top *top)
{
	const struct target *target = top_target(top, top->pinged);
	const json_t *server = target == NULL ? NULL : json_object_get(target->about, "server");

	top->told = top->looked;
	buf_clear(&top->notice);
	compose_text(&top->notice, "%b: ", view_name(top->pinged));
	steer_tell_ping(&top->notice, server);
	if (!steer_ping_is_over(server))
		return;
	json_decref(top->pinged);
	top->pinged = NULL;
}

/* Reads the last lines of the log if the screen has room for them. */
static void
read_log(struct top *top)
{
	struct target *target = top_target(top, json_array_get(top->rows, top->marked));
	json_auto_t *result = NULL;

	if (top_has_panels() && target != NULL && target->about != NULL)
		result = target_call(target, "log", json_object());
	json_decref(top->log);
	top->log = json_incref(json_object_get(result, "lines"));
}

/* A canceld that does not answer tells no name: one that was shown before is kept without it. */
static void
find_targets(struct top *top)
{
	targets_free(&top->targets);
	top->targets.params = json_pack("{s:b}", "requests", true);
	if (top->path != NULL)
		targets_hear(&top->targets, top->path, TARGETS_LOOK);
	else
		targets_find(&top->targets, TARGETS_LOOK);
	each_listed (target, &top->targets)
		target->meant = top->path != NULL || show_has(top->calls, target->path);
	targets_keep(&top->targets, top->which);
}

/*
 * Moves the mark with its request: on PAGE_REQUEST while the request is known; in the table unless
 * the mark is on the first row, and for an open request only while that is open.
 */
static void
keep_mark(struct top *top, const json_t *marked, bool open)
{
	size_t at = place_of(top, marked), count = json_array_size(top->rows);

	if (top->page == PAGE_REQUEST && at == count)
		top->page = 0;
	if (top->page == PAGE_REQUEST || (top->marked > 0 && at < (open ? top->open : count)))
		top->marked = at;
	else if (top->marked >= count)
		top->marked = count > 0 ? count - 1 : 0;
}

static void
look(struct top *top)
{
	json_auto_t *former = top->known, *ended = json_array(),
		    *marked = json_incref(json_array_get(top->rows, top->marked));
	msec_t now = monotonic_now();
	bool open = top->marked < top->open;

	find_targets(top);
	json_decref(top->rows);
	top->rows = json_array();
	top->known = json_array();
	collect(top, ended);
	keep_unheard(top, former, ended, now - top->looked);
	note_calls(top, now);
	top->looked = now;
	show_sort(top->rows, "key");
	show_sort(ended, "key");
	top->open = json_array_size(top->rows);
	json_array_extend(top->rows, ended);
	keep_mark(top, marked, open);
	if (top->asked == NULL && now - top->told > NOTICE_TIME)
		buf_clear(&top->notice);
	if (top->pinged != NULL && top->asked == NULL)
		note_ping(top);
	read_log(top);
}

/*
 * Calls the canceld of the request. NULL: *fault tells why there is no result. Takes the reference
 * to params.
 */
static json_t *
call(const struct top *top, const json_t *request, const char *method, json_t *params,
    const char **fault)
{
	struct target *target = top_target(top, request);

	*fault = "its canceld has ended";
	if (target == NULL) {
		json_decref(params);
		return NULL;
	}
	*fault = target->fault;
	return target_call(target, method, params);
}

/* Cancels the request that was asked about, and shows what came of it. */
static void
cancel_asked(struct top *top)
{
	json_t *row = top->asked, *params = json_object(), *result, *refused;
	const char *fault;

	show_take(params, row, "id serial from");
	result = call(top, row, "cancel", params, &fault);
	refused = json_array_get(json_object_get(result, "refused"), 0);
	if (refused != NULL)
		json_object_set(row, "why", json_object_get(refused, "why"));
	else if (result == NULL)
		json_object_set_new(row, "why", printable_json(span_of(fault)));
	view_outcome(&top->notice, row);
	json_decref(result);
	look(top);
}

/*
 * Calls a method of the request's canceld, and shows what came of it. Takes the reference to
 * params. Returns whether the call succeeded.
 */
static bool
order(struct top *top, const json_t *request, const char *method, json_t *params, const char *done)
{
	const char *fault;
	json_auto_t *result = call(top, request, method, params, &fault);

	compose_text(&top->notice, "%b: %s", view_name(request), result != NULL ? done : fault);
	return result != NULL;
}

static void
ping(struct top *top, json_t *request)
{
	json_decref(top->pinged);
	top->pinged = order(top, request, "ping", NULL, "asked") ? json_incref(request) : NULL;
	look(top);
}

/* The METHOD or METHOD:NAME that a deadline is set for. */
static void
append_rule(struct buf *rule, const json_t *request)
{
	struct span name = show_string(request, "name");

	compose_text(rule, name.len > 0 ? "%b:%b" : "%b", show_string(request, "method"), name);
}

static void
set_asked(struct top *top)
{
	BUF_AUTO rule = { 0 };

	append_rule(&rule, top->asked);
	compose_text(&rule, "=%b", buf_span(&top->typed));
	order(top, top->asked, "set",
	    json_pack("{s:s, s:b, s:o}", "option", "timeout", "now", true, "rule",
		printable_json(buf_span(&rule))),
	    "the deadline is set");
}

/* Begins a question to the person. request: what it is about; NULL for the filter. */
static void
ask(struct top *top, json_t *request, char key)
{
	top->asked = request == NULL ? json_object() : json_deep_copy(request);
	top->asks = key;
	if (key == 'c') {
		compose_text(&top->notice, "Cancel? y or n: ");
		view_request(&top->notice, request);
	} else if (key == 'R') {
		compose_text(&top->notice, "Restart? y or n: %b", view_name(request));
	} else if (key == 's') {
		compose_text(&top->notice, "Deadline for ");
		append_rule(&top->notice, request);
		compose_text(&top->notice, " of %b, such as 10m: ", show_string(request, "server"));
	} else {
		compose_text(&top->notice, "Only what has: ");
	}
}

/*
 * Carries out a key that acts on the marked request, or says why that cannot be. false: the key is
 * none of these, or nothing is marked.
 */
static bool
act(struct top *top, char key)
{
	json_t *marked = json_array_get(top->rows, top->marked);

	if (marked == NULL || strchr("pcRs", key) == NULL)
		return false;
	if (key == 'c' && top->marked >= top->open)
		compose_text(&top->notice, "it has ended: there is nothing to cancel");
	else if (key == 'p')
		ping(top, marked);
	else
		ask(top, marked, key);
	return true;
}

/* Handles a key while a page hides the table. */
static void
on_page_key(struct top *top, char key)
{
	if (top->page == PAGE_HISTORY && key == 'k')
		top->below++;
	else if (top->page == PAGE_HISTORY && key == 'j')
		top->below -= top->below > 0;
	else if (top->page != PAGE_REQUEST || !act(top, key))
		top->page = 0;
}

static void
on_table_key(struct top *top, char key)
{
	size_t count = json_array_size(top->rows);

	if (key == 'q') {
		top->ends = true;
	} else if (key == 'j' && top->marked + 1 < count) {
		top->marked++;
	} else if (key == 'k' && top->marked > 0) {
		top->marked--;
	} else if (key == 'i' || key == 'a' || key == 'l') {
		top->order = (unsigned char)key;
		look(top);
	} else if (key == PAGE_KEYS) {
		top->page = PAGE_KEYS;
	} else if (key == PAGE_HISTORY) {
		top->page = PAGE_HISTORY;
		top->below = 0;
		buf_clear(&top->history);
		history_append(&top->history, top->which, term_width - MARGIN);
	} else if ((key == '\r' || key == PAGE_REQUEST) && count > 0) {
		top->page = PAGE_REQUEST;
	} else if (key == '/') {
		ask(top, NULL, key);
	} else {
		act(top, key);
	}
}

/*
 * Handles a key while a question is asked. Ends the question, unless a line is still being typed.
 */
static void
on_answer_key(struct top *top, char key)
{
	bool line = top->asks == 's' || top->asks == '/', enter = key == '\r' || key == '\n';
	bool yes = key == 'y' || key == 'Y';

	if (line && !enter && key != ESCAPE) {
		if ((key == '\b' || key == '\177') && top->typed.len > 0)
			top->typed.len--;
		else if ((unsigned char)key >= ' ' && key != '\177')
			buf_append(&top->typed, span_at(&key, 1));
		return;
	}
	buf_clear(&top->notice);
	if (top->asks == 'c' && yes)
		cancel_asked(top);
	else if (top->asks == 'R' && yes)
		order(top, top->asked, "restart", NULL,
		    "its server is ended, and another one started");
	else if (top->asks == 's' && enter && top->typed.len > 0)
		set_asked(top);
	else if (top->asks == '/')
		buf_set(&top->filter, enter ? buf_span(&top->typed) : SPAN_NONE);
	buf_clear(&top->typed);
	json_decref(top->asked);
	top->asked = NULL;
	look(top);
}

static void
on_key(struct top *top, char key)
{
	top->told = monotonic_now();
	if (top->asked != NULL) {
		on_answer_key(top, key);
		return;
	}
	buf_clear(&top->notice);
	key = (char)(key == 'A' ? 'k' : key == 'B' ? 'j' : key);
	if (top->page != 0)
		on_page_key(top, key);
	else
		on_table_key(top, key);
}

/* The arrows are ESC [ A and ESC [ B, or with O. */
static void
read_keys(struct top *top)
{
	char typed[KEYS_MAX];
	ssize_t got = read(STDIN_FILENO, typed, sizeof(typed));

	top->ends = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
	for (ssize_t i = 0; i < got; i++) {
		if (typed[i] == ESCAPE && i + 2 < got &&
		    (typed[i + 1] == '[' || typed[i + 1] == 'O'))
			i += 2;
		on_key(top, typed[i]);
	}
}

static int
run(struct top *top, msec_t interval)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGTSTP,
		SIGWINCH };
	struct pollfd typed = { .fd = STDIN_FILENO, .events = POLLIN };
	msec_t next = 0, rest;

	each_of (number, signals)
		sigaction(*number,
		    &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART }, NULL);
	if (!term_enter())
		return ctl_usage("top needs a terminal; see cancelctl ls for a list");
	while (!top->ends) {
		rest = next - monotonic_now();
		if (rest <= 0) {
			look(top);
			next = monotonic_now() + interval;
			rest = interval;
		}
		top_draw(top);
		if (poll(&typed, 1, (int)rest) > 0)
			read_keys(top);
	}
	term_leave();
	return CTL_YES;
}

int
ctl_top(int argc, char *argv[])
{
	/* ends with the process */
	static struct top top = { .order = 'i', .targets = { .method = "list" } };
	msec_t interval;
	const char *text = "1s";
	int status;

	ctl_line(argc, argv, CTL_OPTIONS({ "=interval", 'i', &text }), 1, usage);
	if (!units_read_duration(text, &interval) || interval < INTERVAL_LEAST ||
	    interval > INTERVAL_MOST)
		return ctl_usage("--interval: '%.60s' is no duration from 100ms to 1h", text);
	top.which = argv[optind];
	top.starts = json_object();
	if (top.which != NULL && strchr(top.which, '/') != NULL) {
		status = targets_choose(&top.targets, top.which, CALL_LIMIT);
		if (status != CTL_YES)
			return status;
		top.path = top.which;
		top.which = json_string_value(
		    json_incref(json_object_get(top.targets.list->about, "name")));
	}
	look(&top);
	return top.which != NULL && top.targets.count == 0 ?
	    targets_tell_none(&top.targets, top.which) :
	    run(&top, interval);
}
