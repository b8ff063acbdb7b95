#include "ctl/trace.h"

#include <check.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/why.h"
#include "ctl/show.h"

static struct trace trace;

/*
 * A line of the log: how many ms after the beginning, and its members behind the time and the pid,
 * with ' for ".
 */
static bool
hear(int ms, const char *members)
{
	char text[2048];

	snprintf(text, sizeof(text),
	    "{'time':'2026-11-26T04:%02d:%02d.%03dZ','pid':7,'server':'s',%s}", ms / 60000,
	    ms / 1000 % 60, ms % 1000, members);
	for (char *at = text; *at != '\0'; at++)
		*at = *at == '\'' ? '"' : *at;
	return trace_hear(&trace, json_loads(text, JSON_ALLOW_NUL, NULL));
}

static void
relayed(int ms, const char *to, const char *request, int elapsed, const char *rest)
{
	char members[1024];

	snprintf(members, sizeof(members), "'why':'RELAYED','to':'%s',%s,'elapsed':%d%s", to,
	    request, elapsed, rest);
	ck_assert(hear(ms, members));
}

static void
decided(int ms, const char *why, const char *to, const char *request, int elapsed)
{
	char members[1024];

	snprintf(members, sizeof(members), "'why':'%s','to':'%s',%s,'elapsed':%d", why, to, request,
	    elapsed);
	ck_assert(hear(ms, members));
}

static json_t *
session(size_t i)
{
	return json_array_get(trace.sessions, i);
}

static json_t *
call(size_t i)
{
	json_t *calls = json_object_get(session(0), "calls");

	show_sort(calls, "start");
	return json_array_get(calls, i);
}

static void
expect_text(const json_t *object, const char *key, const char *text)
{
	const char *got = json_string_value(json_object_get(object, key));

	ck_assert_msg(got != NULL && strcmp(got, text) == 0, "%s: %s, not %s", key,
	    got == NULL ? "(none)" : got, text);
}

/* How long it took, how it ended, and the words of its events. */
static void
expect_call(size_t i, int duration, const char *outcome, const char *events)
{
	json_t *line, *list = json_object_get(call(i), "events");
	char words[256] = "";
	size_t k, len = 0;

	ck_assert_int_eq(trace_end(session(0), call(i)) -
		json_integer_value(json_object_get(call(i), "start")),
	    duration);
	if (outcome == NULL)
		ck_assert_ptr_null(json_object_get(call(i), "outcome"));
	else
		expect_text(call(i), "outcome", outcome);
	json_array_foreach (list, k, line)
		len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s", k > 0 ? " " : "",
		    json_string_value(json_object_get(line, "why")));
	ck_assert_str_eq(words, events);
}

static void
set_up(void)
{
	trace = (struct trace){ .sessions = json_array(), .open = json_object() };
}

static void
tear_down(void)
{
	json_decref(trace.sessions);
	json_decref(trace.open);
}

SUITE("trace", .before = set_up, .after = tear_down);

#define SLOW "'method':'tools/call','name':'slow','id':2"
#define PING "'method':'ping','id':1"
#define RESULT ",'outcome':'result'"

TEST(a_request_its_progress_and_its_answer)
{
	relayed(0, "server", SLOW, 0, "");
	relayed(0, "client", SLOW, 0, "");
	relayed(10, "client", SLOW, 10, "");
	relayed(50, "client", SLOW, 50, RESULT);
	expect_call(0, 50, "result", "progress progress");
	expect_text(call(0), "title", "tools/call slow");
	expect_text(call(0), "from", "client");
	ck_assert(!trace_failed(call(0)));
	ck_assert_ptr_null(call(1));
}

TEST(a_request_that_is_held_begins_as_it_comes)
{
	decided(0, "HELD", "server", SLOW, 0);
	decided(30, "RELEASED", "server", SLOW, 30);
	relayed(50, "client", SLOW, 50, RESULT);
	expect_call(0, 50, "result", "RELEASED");
	ck_assert_ptr_null(call(1));
}

TEST(an_answer_may_be_an_error)
{
	relayed(0, "server", SLOW, 0, "");
	relayed(0, "server", "'method':'a','id':'2'", 0, "");
	relayed(20, "client", SLOW, 20, ",'outcome':'-32602'");
	relayed(30, "client", "'method':'a','id':'2'", 30, ",'outcome':'isError'");
	expect_call(0, 20, "-32602", "");
	expect_call(1, 30, "isError", "");
	ck_assert(trace_failed(call(0)) && trace_failed(call(1)));
}

TEST(what_was_given_up_ends_then_and_its_late_answer_is_an_event)
{
	relayed(0, "server", SLOW, 0, "");
	decided(1000, "TIMED_OUT", "client", SLOW ",'reason':'no progress'", 1000);
	decided(1000, "CANCEL_SENT", "server", SLOW, 1000);
	decided(1500, "LATE", "client", SLOW RESULT, 1500);
	expect_call(0, 1000, "TIMED_OUT", "TIMED_OUT CANCEL_SENT LATE");
	expect_text(call(0), "reason", "no progress");
	ck_assert(trace_failed(call(0)));
}

/* As the history has it. */
TEST(what_its_client_gave_up_or_left_is_no_failure)
{
	static const char *const words[] = { "CANCEL_FORWARDED", "CANCEL_UNSENT", "CLIENT_GONE",
		"TERMINATED" };

	for (int i = 0; i < COUNT(words); i++) {
		relayed(100 * i, "server", SLOW, 0, "");
		decided(100 * i + 50, words[i], "client", SLOW, 50);
		expect_text(call((size_t)i), "outcome", words[i]);
		ck_assert(!trace_failed(call((size_t)i)));
	}
}

/* As in ACP and LSP. */
TEST(what_was_given_up_may_be_answered_even_so)
{
	relayed(0, "server", SLOW, 0, "");
	decided(1000, "CANCEL_FORWARDED", "server", SLOW, 1000);
	relayed(1200, "client", SLOW, 1200, RESULT);
	relayed(1300, "client", SLOW, 1300, RESULT);
	expect_call(0, 1200, "CANCEL_FORWARDED", "CANCEL_FORWARDED");
}

TEST(both_sides_may_use_one_id)
{
	relayed(0, "server", SLOW, 0, "");
	relayed(5, "client", "'method':'sampling/createMessage','id':2", 0, "");
	relayed(10, "server", PING, 0, "");
	relayed(11, "client", PING, 1, RESULT);
	relayed(20, "client", PING, 0, "");
	relayed(25, "server", PING, 5, RESULT);
	relayed(30, "server", "'method':'sampling/createMessage','id':2", 25, RESULT);
	decided(40, "CLIENT_GONE", "server", SLOW, 40);
	expect_call(0, 40, "CLIENT_GONE", "CLIENT_GONE");
	expect_call(1, 25, "result", "");
	expect_text(call(1), "from", "server");
	expect_call(2, 1, "result", "");
	expect_call(3, 5, "result", "");
	expect_text(call(3), "from", "server");
}

TEST(both_sides_may_ping_with_one_id_at_once)
{
	relayed(0, "server", PING, 0, "");
	relayed(0, "client", PING, 0, "");
	relayed(3, "client", PING, 3, RESULT);
	relayed(5, "server", PING, 5, RESULT);
	expect_call(0, 3, "result", "");
	expect_text(call(0), "from", "client");
	expect_call(1, 5, "result", "");
	expect_text(call(1), "from", "server");
	ck_assert_ptr_null(call(2));
}

#define LIST "'method':'tasks/list','id':1"

TEST(a_line_is_about_the_request_whose_age_it_has)
{
	relayed(0, "server", LIST, 0, "");
	relayed(1000, "client", LIST, 0, "");
	decided(2000, "TIMED_OUT", "client", LIST, 2000);
	decided(2000, "CANCEL_SENT", "server", LIST, 2000);
	decided(2500, "TIMED_OUT", "server", LIST, 1500);
	decided(2500, "CANCEL_SENT", "client", LIST, 1500);
	expect_call(0, 2000, "TIMED_OUT", "TIMED_OUT CANCEL_SENT");
	expect_call(1, 1500, "TIMED_OUT", "TIMED_OUT CANCEL_SENT");
}

TEST(a_method_may_be_empty)
{
	relayed(0, "server", "'method':'','id':1", 0, "");
	relayed(3, "client", "'method':'','id':1", 3, RESULT);
	expect_call(0, 3, "result", "");
	expect_text(call(0), "title", "");
}

TEST(an_id_may_be_used_again)
{
	relayed(0, "server", SLOW, 0, "");
	decided(100, "TIMED_OUT", "client", SLOW, 100);
	relayed(200, "server", SLOW, 0, "");
	relayed(300, "client", SLOW, 100, RESULT);
	expect_call(0, 100, "TIMED_OUT", "TIMED_OUT");
	expect_call(1, 100, "result", "");
}

/* The log has only decisions. */
TEST(without_traffic_a_call_begins_when_its_end_says)
{
	decided(5000, "TIMED_OUT", "client", "'method':'b','id':1", 1000);
	decided(5000, "CANCEL_SENT", "server", "'method':'b','id':1", 1000);
	decided(6000, "TIMED_OUT", "client", "'method':'a','id':2", 3000);
	decided(7000, "RECOVERED", "client", "'method':'c','id':3", 500);
	expect_call(0, 3000, "TIMED_OUT", "TIMED_OUT");
	expect_call(1, 1000, "TIMED_OUT", "TIMED_OUT CANCEL_SENT");
	expect_text(call(0), "title", "a");
	ck_assert_ptr_null(call(2));
}

TEST(what_is_open_ends_with_its_session)
{
	relayed(0, "server", SLOW, 0, "");
	ck_assert(hear(700, "'why':'SERVER_EXITED','status':1"));
	relayed(900, "client", "'method':'notifications/x'", 0, "");
	expect_call(0, 900, NULL, "");
	ck_assert(!trace_failed(call(0)));
	ck_assert_uint_eq(json_array_size(json_object_get(session(0), "events")), 1);
}

TEST(a_session_has_all_times_even_if_the_clock_was_set_back)
{
	relayed(100, "server", SLOW, 0, "");
	decided(99, "TIMED_OUT", "client", "'method':'b','id':1", 90);
	ck_assert_int_eq(show_number(session(0), "start"), show_number(call(0), "start"));
	ck_assert_int_eq(show_number(session(0), "end") - show_number(session(0), "start"), 91);
	expect_call(0, 90, "TIMED_OUT", "TIMED_OUT");
	expect_call(1, 0, NULL, "");
}

TEST(a_pid_may_be_used_again_and_many_share_a_file)
{
	relayed(0, "server", SLOW, 0, "");
	ck_assert(hear(1, "'pid':8,'why':'STARTED'"));
	ck_assert(hear(2, "'why':'SUMMARY'"));
	relayed(3, "server", SLOW, 0, "");
	relayed(4, "client", SLOW, 1, RESULT);
	ck_assert_uint_eq(json_array_size(trace.sessions), 3);
	expect_call(0, 2, NULL, "");
	ck_assert_uint_eq(json_array_size(json_object_get(session(2), "calls")), 1);
}

/* As of two containers with one home. */
TEST(sessions_with_one_pid_are_told_apart)
{
	for (int ms = 0; ms < 4; ms++)
		ck_assert(hear(ms,
		    ms % 2 == 0 ? "'session':'7-1','why':'STARTED'" :
				  "'session':'7-2','why':'STARTED'"));
	ck_assert_uint_eq(json_array_size(trace.sessions), 2);
	ck_assert(hear(4, "'session':'7-1','why':'SUMMARY'"));
	ck_assert_ptr_nonnull(json_object_get(session(0), "over"));
	ck_assert_ptr_null(json_object_get(session(1), "over"));
}

#define REQUEST \
	",'payload':'{\\'method\\':\\'initialize\\',\\'id\\':0,\\'params\\':{\\'clientInfo\\':{\\'name\\':\\'c\\'}," \
	"\\'_meta\\':{}}}','traceparent':'00-x'"
#define ANSWER \
	",'payload':'{\\'id\\':0,\\'result\\':{\\'protocolVersion\\':\\'2025-11-25\\',\\'serverInfo\\':{\\'name\\':\\'p\\'}}}'"

TESTS(messages_are_kept_if_asked_for_and_versions_in_any_case, 0, 2)
{
	trace.payload = _i == 1;
	relayed(0, "server", "'method':'initialize','id':0", 0, REQUEST);
	relayed(9, "client", "'method':'initialize','id':0", 9, RESULT ANSWER);
	expect_text(json_object_get(session(0), "clientInfo"), "name", "c");
	expect_text(json_object_get(session(0), "serverInfo"), "name", "p");
	expect_text(session(0), "protocol", "2025-11-25");
	expect_text(call(0), "traceparent", "00-x");
	ck_assert_int_eq(json_object_get(call(0), "request") != NULL, _i == 1);
	ck_assert_int_eq(json_object_get(call(0), "response") != NULL, _i == 1);
}

/* It was killed. */
TEST(a_session_may_end_without_a_word)
{
	struct trace taken = { .sessions = json_array() };

	relayed(0, "server", SLOW, 0, "");
	trace_close(&trace, 8);
	trace_close(&trace, 7);
	trace_close(&trace, 7);
	trace_take(&trace, 0, &taken);
	ck_assert_uint_eq(json_array_size(
			      json_object_get(json_array_get(taken.sessions, 0), "calls")),
	    1);
	ck_assert_uint_eq(json_array_size(trace.sessions) + json_object_size(trace.open), 0);
	json_decref(taken.sessions);
}

TEST(lines_that_are_none_are_passed_over)
{
	ck_assert(!trace_hear(&trace, NULL));
	ck_assert(!trace_hear(&trace, json_array()));
	ck_assert(!hear(0, "'time':'yesterday','why':'RELAYED'"));
	ck_assert(!hear(0, "'time':'2026-11-26T04:00:00','why':'RELAYED'"));
	ck_assert(!hear(0, "'time':'1066-10-14T04:00:00.000Z','why':'RELAYED'"));
	ck_assert(!hear(0, "'time':7,'why':'RELAYED'"));
	ck_assert(!hear(0, "'pid':'x','why':'RELAYED'"));
	ck_assert(!hear(0, "'why':7"));
	ck_assert_uint_eq(json_array_size(trace.sessions), 0);
	ck_assert(
	    hear(0, "'why':'UNHEARD_OF','id':[],'method':{},'to':1,'elapsed':'x','payload':'{'"));
	ck_assert(hear(0, "'why':'RELAYED','id':null,'method':'m','to':'server','elapsed':-1e300"));
	ck_assert(hear(0, "'why':'RELAYED','id':{'a':1},'method':7,'name':[],'to':'server'"));
	ck_assert(hear(0, "'why':'RELAYED','id':1,'method':'m','to':'client','outcome':7"));
	ck_assert(hear(0,
	    "'why':'TIMED_OUT','id':'\\u0000','method':'\\u0000','name':'\\u0000','elapsed':9e99"));
}

TEST(lines_before_the_time_wanted_are_passed_over)
{
	ck_assert(hear(0, "'why':'STARTED'"));
	trace.since = json_integer_value(json_object_get(session(0), "start")) + 100;
	ck_assert(hear(99, "'why':'STARTED'"));
	ck_assert(hear(100, "'why':'STARTED'"));
	ck_assert_uint_eq(json_array_size(json_object_get(session(0), "events")), 2);
}

TEST(those_that_overlap_stand_in_different_rows)
{
	static const int starts[] = { 0, 1, 2, 5, 6 }, ends[] = { 5, 3, 9, 6, 7 },
			 rows[] = { 0, 1, 2, 0, 0 };
	msec_t taken[TRACE_ROWS] = { 0 };
	char request[64];

	for (int ms = 0; ms < 10; ms++)
		for (int i = 0; i < COUNT(starts); i++) {
			snprintf(request, sizeof(request), "'method':'m','id':%d", i);
			if (ends[i] == ms)
				relayed(ms, "client", request, ms - starts[i], RESULT);
			if (starts[i] == ms)
				relayed(ms, "server", request, 0, "");
		}
	for (int i = 0; i < COUNT(starts); i++)
		ck_assert_uint_eq(trace_row(session(0), call((size_t)i), taken), (size_t)rows[i]);
}

TEST(what_is_done_is_taken_once)
{
	struct trace taken = { .sessions = json_array() };
	msec_t start;

	relayed(0, "server", SLOW, 0, "");
	relayed(0, "server", PING, 0, "");
	relayed(1, "client", PING, 1, RESULT);
	decided(100, "TIMED_OUT", "client", SLOW, 100);
	relayed(100, "server", "'method':'open','id':3", 0, "");
	start = json_integer_value(json_object_get(session(0), "start"));
	trace_take(&trace, start + 99, &taken);
	ck_assert_uint_eq(json_array_size(
			      json_object_get(json_array_get(taken.sessions, 0), "calls")),
	    1);
	decided(150, "LATE", "client", SLOW RESULT, 150);
	expect_call(0, 100, "TIMED_OUT", "TIMED_OUT LATE");
	trace_take(&trace, start + 100, &taken);
	ck_assert_uint_eq(json_array_size(
			      json_object_get(json_array_get(taken.sessions, 1), "calls")),
	    1);
	decided(160, "LATE", "client", SLOW RESULT, 160);
	expect_call(0, 60, NULL, "");
	ck_assert(hear(200, "'why':'SUMMARY'"));
	trace_take(&trace, 0, &taken);
	ck_assert_uint_eq(json_array_size(
			      json_object_get(json_array_get(taken.sessions, 2), "calls")),
	    1);
	ck_assert_uint_eq(json_array_size(
			      json_object_get(json_array_get(taken.sessions, 2), "events")),
	    2);
	ck_assert_uint_eq(json_array_size(trace.sessions), 0);
	json_decref(taken.sessions);
}

/* The ticks of the processor that so many calls take, each of which began before the former one. */
static clock_t
ticks_of(int calls)
{
	clock_t began = clock();
	char request[64];

	for (int i = 0; i < calls; i++) {
		snprintf(request, sizeof(request), "'method':'m','id':%d", i);
		decided(calls, "TIMED_OUT", "client", request, i);
	}
	ck_assert_int_eq(show_number(call(0), "id"), calls - 1);
	trace_close(&trace, 7);
	json_array_clear(trace.sessions);
	return clock() - began;
}

TEST(many_calls_are_sorted_once)
{
	clock_t few = ticks_of(4000), many = ticks_of(16000);

	ck_assert_msg(many < 10 * few, "%ld, but %ld", (long)many, (long)few);
}

TEST(requests_that_were_only_counted_have_no_longest)
{
	json_t *tools = json_object(), *rows;

	ck_assert(hear(0, "'why':'COUNTED','method':'a','count':4,'sum':8"));
	ck_assert(hear(0, "'why':'COUNTED','method':'b','count':0,'sum':0"));
	decided(90, "TIMED_OUT", "client", SLOW, 50);
	trace_count(tools, session(0));
	rows = trace_tools(tools, 1);
	ck_assert_uint_eq(json_array_size(rows), 1);
	json_decref(rows);
	rows = trace_tools(tools, 0);
	ck_assert_uint_eq(json_array_size(rows), 2);
	ck_assert_int_eq(show_number(json_array_get(rows, 0), "p95"), 2);
	ck_assert_ptr_null(json_object_get(json_array_get(rows, 0), "max"));
	ck_assert_int_eq(show_number(json_array_get(rows, 1), "max"), 50);
	json_decref(rows);
	json_decref(tools);
}

static bool
is_word(struct span word)
{
	int why = 0;

	while (why < WHY_COUNT && !span_equal(word, span_of(why_word((enum why)why))))
		why++;
	return why < WHY_COUNT;
}

/* The next string in the source, without its quotes; its text is NULL: there is none. */
static struct span
next_string(const char *source)
{
	const char *start = strchr(source, '"'), *end = start;

	if (start == NULL)
		return (struct span){ NULL, 0 };
	for (end++; *end != '"' && *end != '\0'; end++)
		end += *end == '\\';
	return (struct span){ start + 1, (size_t)(end - start - 1) };
}

/* In capitals, and not the title of a column, which the name of a member follows. */
static bool
has_words(struct span string)
{
	const char *behind = string.ptr + string.len;
	bool column =
	    strncmp(string.ptr - 3, "{ \"", 3) == 0 || strncmp(string.ptr - 7, "_TIME(\"", 7) == 0;
	bool title = column && strncmp(behind, "\", \"", 4) == 0 && islower(behind[4]);

	return !title && strspn(string.ptr, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_ ") == string.len;
}

/* Expects words of the log, but for names of signals, and returns how many there are. */
static int
expect_words(const char *path, struct span string)
{
	struct span word;
	int words = 0;

	for (; string.len > 0; string = span_from(string, word.len + (word.len < string.len))) {
		word = span_until(string, " ");
		if (word.len == 0 || strncmp(word.ptr, "SIG", 3) == 0)
			continue;
		ck_assert_msg(is_word(word), "%s: '%.*s' is no word of the log", path,
		    (int)word.len, word.ptr);
		words++;
	}
	return words;
}

static const struct {
	const char *path;
	int least;
} sources[] = { { "src/ctl/trace/reader.c", 20 }, { "src/ctl/trace/history.c", 8 },
	{ "src/ctl/trace/tools.c", 1 }, { "src/ctl/trace/otlp.c", 1 },
	{ "src/ctl/doctor/visit.c", 6 }, { "src/ctl/doctor/checkup.c", 15 } };

/* They stand in strings: of one that canceld has no more nothing would be told. */
TESTS(the_words_that_are_looked_for_are_those_of_the_log, 0, 6)
{
	const char *path = sources[_i].path;
	static char text[64 << 10];
	FILE *file = fopen(path, "r");
	struct span string;
	int words = 0;

	ck_assert_msg(file != NULL, "%s: run the tests from where it is", path);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	for (string = next_string(text); string.ptr != NULL;
	     string = next_string(string.ptr + string.len + 1))
		words += has_words(string) ? expect_words(path, string) : 0;
	ck_assert_int_ge(words, sources[_i].least);
}
