/*
 * cancelctl trace: the log of a real session in each format, read by strict readers; and hostile
 * logs.
 */
#include <poll.h>

#include "client.h"
#include "shell.h"

#define TRACE "11112222333344445555666677778888"
#define PARENT "1111222233334444"
#define SECRET "{\"ms\":600000,\"secret\":\"swordfish\"}"

enum { US = 1000, KIND_INTERNAL = 1, KIND_SERVER, KIND_CLIENT };

static void
expect(const char *script, int status, const char *said)
{
	shell_expect("cd \"$E2E_DIRECTORY\"; C=$CANCELCTL", script, status, said);
}

/* The objects of a file, a line each. */
static json_t *
read_lines(FILE *file)
{
	const size_t flags = JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
	json_t *lines = json_array(), *line;

	while ((line = json_loadf(file, flags, NULL)) != NULL) {
		json_array_append_new(lines, line);
		ck_assert_int_eq(fgetc(file), '\n');
	}
	ck_assert_int_eq(fgetc(file), EOF);
	return lines;
}

/* What `cancelctl trace WORDS` writes. */
static json_t *
trace(const char *words)
{
	json_t *lines;
	char script[512];
	FILE *file;

	snprintf(script, sizeof(script), "$C trace %s >traced && echo done", words);
	expect(script, 0, "done\n");
	snprintf(script, sizeof(script), "%s/traced", getenv("E2E_DIRECTORY"));
	file = fopen(script, "r");
	ck_assert_ptr_nonnull(file);
	lines = read_lines(file);
	fclose(file);
	return lines;
}

static bool
has_text(const json_t *value, const char *text)
{
	char *dumped = json_dumps(value, JSON_ENCODE_ANY);
	bool found = strstr(dumped, text) != NULL;

	free(dumped);
	return found;
}

/* A call with a parent, which reports progress and is answered. */
static void
call_progress(struct run *run)
{
	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"tools/call\",\"params\":{\"name\":\"progress\",\"arguments\":"
	    "{\"ms\":1,\"steps\":2},\"_meta\":{\"progressToken\":1,\"traceparent\":\"00-" TRACE
	    "-" PARENT "-01\"}}}");
	for (int i = 0; i < 2; i++)
		ck_assert_str_eq(at_text(run_expect_message(run), "method"),
		    "notifications/progress");
	run_expect_result(run, "\"p\"");
}

/*
 * A progress with a parent, an error, one that the client cancels, one that is late, one that is
 * left; then the end.
 */
static void
make_log(const char *options)
{
	struct run *run;
	char words[512];

	snprintf(words, sizeof(words),
	    "--log-format json -l %s/log -t tools/call:stubborn=300ms -D mcp --no-control %s",
	    getenv("E2E_DIRECTORY"), options);
	expect("rm -f log", 0, "");
	run = run_session(words, NULL);
	call_progress(run);
	run_call(run, "2", "nosuch", SECRET);
	run_expect_answer(run, "2");
	run_call(run, "3", "sleep", SECRET);
	run_call(run, "4", "stubborn", SECRET);
	run_expect_received(run, "\"id\":4");
	run_cancel(run, "3");
	run_expect_error(run, "4", CODE_CANCELLED, "timeout");
	run_call(run, "5", "release", "{}");
	run_expect_answer(run, "5");
	run_call(run, "6", "sleep", SECRET);
	run_expect_received(run, "\"id\":6");
	run_leave(run, 0);
	run_end(run);
}

/*
 * What ui.perfetto.dev needs: events of known phases with their members, and in each thread slices
 * that do not overlap.
 */
static json_t *
read_perfetto(const char *words)
{
	json_t *lines = trace(words),
	       *events = json_incref(at(json_array_get(lines, 0), "traceEvents")), *event, *before;
	size_t i, k;

	ck_assert_uint_eq(json_array_size(lines), 1);
	ck_assert_str_eq(at_text(json_array_get(lines, 0), "displayTimeUnit"), "ms");
	json_decref(lines);
	json_array_foreach (events, i, event) {
		const char *phase = at_text(event, "ph");

		ck_assert(json_is_integer(at(event, "ts")) && json_is_integer(at(event, "pid")));
		ck_assert(json_is_integer(at(event, "tid")) && json_is_object(at(event, "args")));
		at_text(event, "name");
		if (strcmp(phase, "M") == 0)
			at_text(event, "args name");
		else if (strcmp(phase, "i") == 0)
			ck_assert_str_eq(at_text(event, "s"), "t");
		else
			ck_assert_str_eq(phase, "X");
		if (strcmp(phase, "X") != 0)
			continue;
		ck_assert_int_ge(at_number(event, "dur"), 0);
		for (k = 0; k < i; k++) {
			before = json_array_get(events, k);
			ck_assert(!at_exists(before, "dur") ||
			    at_number(before, "tid") != at_number(event, "tid") ||
			    at_number(before, "pid") != at_number(event, "pid") ||
			    at_number(before, "ts") + at_number(before, "dur") <=
				at_number(event, "ts"));
		}
	}
	return events;
}

/* The event of this phase and name. */
static json_t *
event_of(json_t *events, const char *phase, const char *name)
{
	json_t *event;
	size_t i;

	json_array_foreach (events, i, event)
		if (strcmp(at_text(event, "ph"), phase) == 0 &&
		    strcmp(at_text(event, "name"), name) == 0)
			return event;
	ck_abort_msg("no %s %s", phase, name);
}

static void
expect_digits(const char *text, const char *digits, size_t count)
{
	ck_assert_msg(strlen(text) == count && strspn(text, digits) == count, "%s", text);
}

static void
read_attributes(json_t *attributes)
{
	json_t *attribute, *value;
	const char *key;
	size_t i;

	json_array_foreach (attributes, i, attribute) {
		at_text(attribute, "key");
		ck_assert_uint_eq(json_object_size(at(attribute, "value")), 1);
		json_object_foreach (at(attribute, "value"), key, value) {
			if (strcmp(key, "boolValue") == 0)
				ck_assert(json_is_boolean(value));
			else
				ck_assert(json_is_string(value));
			if (strcmp(key, "intValue") == 0)
				ck_assert_uint_eq(strspn(json_string_value(value), "-0123456789"),
				    json_string_length(value));
			else
				ck_assert(strcmp(key, "stringValue") == 0 ||
				    strcmp(key, "boolValue") == 0);
		}
	}
}

static void
read_span(json_t *span)
{
	static const char hex[] = "0123456789abcdef", decimal[] = "0123456789";
	json_t *event;
	size_t i;

	expect_digits(at_text(span, "traceId"), hex, 32);
	expect_digits(at_text(span, "spanId"), hex, 16);
	if (at_exists(span, "parentSpanId"))
		expect_digits(at_text(span, "parentSpanId"), hex, 16);
	expect_digits(at_text(span, "startTimeUnixNano"), decimal, 19);
	expect_digits(at_text(span, "endTimeUnixNano"), decimal, 19);
	ck_assert_int_le(strcmp(at_text(span, "startTimeUnixNano"),
			     at_text(span, "endTimeUnixNano")),
	    0);
	ck_assert(
	    at_number(span, "kind") >= KIND_INTERNAL && at_number(span, "kind") <= KIND_CLIENT);
	at_text(span, "name");
	read_attributes(at(span, "attributes"));
	if (at_exists(span, "status"))
		ck_assert_int_eq(at_number(span, "status code"), 2);
	if (!at_exists(span, "events"))
		return;
	json_array_foreach (at(span, "events"), i, event) {
		expect_digits(at_text(event, "timeUnixNano"), decimal, 19);
		at_text(event, "name");
		read_attributes(at(event, "attributes"));
	}
}

static json_t *attribute_of(json_t *attributes, const char *key);

/* What a collector accepts: requests of the protocol; all their spans. Frees the lines. */
static json_t *
read_spans(json_t *lines)
{
	json_t *spans = json_array(), *line, *span;
	size_t i, k;

	json_array_foreach (lines, i, line) {
		json_t *resource = json_array_get(at(line, "resourceSpans"), 0);
		json_t *scope = json_array_get(at(resource, "scopeSpans"), 0);

		ck_assert_uint_eq(json_object_size(line), 1);
		read_attributes(at(resource, "resource attributes"));
		ck_assert_ptr_nonnull(
		    attribute_of(at(resource, "resource attributes"), "service.name"));
		ck_assert_str_eq(at_text(scope, "scope name"), "canceld");
		at_text(scope, "scope version");
		ck_assert_uint_gt(json_array_size(at(scope, "spans")), 0);
		ck_assert_uint_le(json_array_size(at(scope, "spans")), 512);
		json_array_foreach (at(scope, "spans"), k, span)
			read_span(span);
		json_array_extend(spans, at(scope, "spans"));
	}
	json_decref(lines);
	return spans;
}

static json_t *
read_otlp(const char *words)
{
	return read_spans(trace(words));
}

static json_t *
attribute_of(json_t *attributes, const char *key)
{
	json_t *attribute;
	size_t i;

	json_array_foreach (attributes, i, attribute)
		if (strcmp(at_text(attribute, "key"), key) == 0)
			return json_object_iter_value(json_object_iter(at(attribute, "value")));
	return NULL;
}

static json_t *
span_of_name(json_t *spans, const char *name)
{
	json_t *span;
	size_t i;

	json_array_foreach (spans, i, span)
		if (strcmp(at_text(span, "name"), name) == 0)
			return span;
	ck_abort_msg("no span %s", name);
}

static void
expect_attribute(json_t *span, const char *key, const char *text)
{
	json_t *value = attribute_of(at(span, "attributes"), key);

	if (text == NULL)
		ck_assert_ptr_null(value);
	else
		ck_assert_msg(value != NULL && strcmp(json_string_value(value), text) == 0, "%s",
		    key);
}

static bool
has_event(json_t *span, const char *name)
{
	json_t *event;
	size_t i;

	json_array_foreach (at(span, "events"), i, event)
		if (strcmp(at_text(event, "name"), name) == 0)
			return true;
	return false;
}

SUITE("trace", .seconds = 11);

TEST(perfetto_has_a_process_for_the_session_and_rows_for_its_calls)
{
	json_t *events, *late, *call;

	make_log("-vv --log-payload");
	events = read_perfetto("log");
	ck_assert(strncmp(at_text(event_of(events, "M", "process_name"), "args name"),
		      "demo-server[", 12) == 0);
	call = event_of(events, "X", "tools/call progress");
	ck_assert_str_eq(at_text(call, "args outcome"), "result");
	ck_assert_str_eq(at_text(call, "args traceparent"), "00-" TRACE "-" PARENT "-01");
	ck_assert_int_eq(at_number(event_of(events, "i", "progress"), "tid"),
	    at_number(call, "tid"));
	ck_assert_str_eq(at_text(event_of(events, "X", "tools/call nosuch"), "cat"), "failed");
	ck_assert_str_eq(at_text(event_of(events, "X", "tools/call sleep"), "cat"), "request");
	call = event_of(events, "X", "tools/call stubborn");
	late = event_of(events, "i", "LATE");
	ck_assert_str_eq(at_text(call, "args outcome"), "TIMED_OUT");
	/* Both lines of the log may be written late. */
	ck_assert_int_ge(at_number(call, "dur"), 200 * US);
	ck_assert_int_eq(at_number(late, "tid"), at_number(call, "tid"));
	ck_assert_int_ge(at_number(late, "ts"), at_number(call, "ts") + at_number(call, "dur"));
	event_of(events, "i", "CANCEL_FORWARDED");
	ck_assert_int_eq(at_number(event_of(events, "i", "SUMMARY"), "tid"), 1);
	ck_assert(!has_text(events, "swordfish"));
	json_decref(events);
	events = read_perfetto("--payload -f perfetto log");
	ck_assert(
	    has_text(at(event_of(events, "X", "tools/call sleep"), "args request"), "swordfish"));
	ck_assert(has_text(at(event_of(events, "X", "tools/call nosuch"), "args response"),
	    "no such tool"));
	json_decref(events);
}

TEST(otlp_has_a_span_for_each_call)
{
	json_t *spans, *span, *again;

	make_log("-vv --log-payload");
	spans = read_otlp("-f otlp log");
	span = span_of_name(spans, "tools/call progress");
	ck_assert_str_eq(at_text(span, "traceId"), TRACE);
	ck_assert_str_eq(at_text(span, "parentSpanId"), PARENT);
	ck_assert_int_eq(at_number(span, "kind"), KIND_SERVER);
	expect_attribute(span, "mcp.method.name", "tools/call");
	expect_attribute(span, "gen_ai.tool.name", "progress");
	expect_attribute(span, "gen_ai.operation.name", "execute_tool");
	expect_attribute(span, "jsonrpc.request.id", "p");
	expect_attribute(span, "mcp.protocol.version", "2025-11-25");
	expect_attribute(span, "network.transport", "pipe");
	expect_attribute(span, "error.type", NULL);
	ck_assert(has_event(span, "progress") && !at_exists(span, "status"));
	span = span_of_name(spans, "tools/call nosuch");
	expect_attribute(span, "error.type", "-32602");
	expect_attribute(span, "rpc.response.status_code", "-32602");
	ck_assert(!at_exists(span, "parentSpanId") && at_exists(span, "status"));
	span = span_of_name(spans, "tools/call stubborn");
	expect_attribute(span, "error.type", "timeout");
	expect_attribute(span, "rpc.response.status_code", NULL);
	ck_assert_str_eq(at_text(span, "status message"), "no progress");
	ck_assert(has_event(span, "LATE") && has_event(span, "CANCEL_SENT"));
	/* Its client cancelled it. */
	span = span_of_name(spans, "tools/call sleep");
	expect_attribute(span, "canceld.outcome", "CANCEL_FORWARDED");
	expect_attribute(span, "error.type", NULL);
	ck_assert(!at_exists(span, "status"));
	again = span_of_name(spans, "initialize");
	ck_assert_str_eq(at_text(span, "traceId"), at_text(again, "traceId"));
	expect_attribute(again, "gen_ai.operation.name", NULL);
	ck_assert_int_eq(at_number(span_of_name(spans, "STARTED"), "kind"), KIND_INTERNAL);
	ck_assert(!has_text(spans, "swordfish"));
	again = read_otlp("-f otlp - <log");
	ck_assert(json_equal(spans, again));
	json_decref(again);
	again = read_otlp("-f otlp --payload log");
	ck_assert(has_text(attribute_of(at(span_of_name(again, "tools/call sleep"), "attributes"),
			       "canceld.request"),
	    "swordfish"));
	json_decref(again);
	json_decref(spans);
}

/* How a log that was written with less than -vv and without payloads looks. */
TEST(a_log_of_decisions_has_what_was_given_up)
{
	json_t *spans, *span;

	make_log("-v");
	spans = read_otlp("-f otlp log");
	span = span_of_name(spans, "tools/call stubborn");
	ck_assert_int_ge(atoll(at_text(span, "endTimeUnixNano")) -
		atoll(at_text(span, "startTimeUnixNano")),
	    300000000);
	span_of_name(spans, "tools/call sleep");
	ck_assert(!has_text(spans, "nosuch") && !has_text(spans, TRACE));
	json_decref(spans);
}

#define LINE \
	"{\"time\":\"2026-11-26T04:00:0%d.000Z\",\"pid\":%d,\"server\":\"s\",\"why\":\"RELAYED\",\"to\":\"%s\","

/* A request and its answer 1 s later, with these further members. */
static void
put_call(FILE *file, int pid, const char *request, const char *more)
{
	fprintf(file, LINE "%s,\"elapsed\":0%s}\n", 1, pid, "server", request, more);
	fprintf(file, LINE "%s,\"elapsed\":1000,\"outcome\":\"result\"}\n", 2, pid, "client",
	    request);
}

static FILE *
open_log(void)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/log", getenv("E2E_DIRECTORY"));
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	return file;
}

TEST(what_a_parent_must_be)
{
	static const struct {
		const char *parent;
		int left_out; /* 1: the root of a trace of its own; 2: it is not to be recorded */
	} parents[] = { { "00-" TRACE "-" PARENT "-03", 0 }, { "00-" TRACE "-" PARENT "-00", 2 },
		{ "01-" TRACE "-" PARENT "-01", 1 }, { "00-" TRACE "-" PARENT "-1", 1 },
		{ "00-" TRACE "-" PARENT "-01-", 1 }, { "00-" TRACE "-000000000000000-01", 1 },
		{ "00-" TRACE "-0000000000000000-01", 1 },
		{ "00-00000000000000000000000000000000-" PARENT "-01", 1 },
		{ "00-" TRACE "-" PARENT "-0G", 1 }, { "00-" TRACE "-A111222233334444-01", 1 } };
	char request[64], more[512];
	FILE *file = open_log();
	json_t *spans;

	for (int i = 0; i < COUNT(parents); i++) {
		snprintf(request, sizeof(request), "\"id\":%d,\"method\":\"m%d\"", i, i);
		snprintf(more, sizeof(more), ",\"traceparent\":\"%s\"", parents[i].parent);
		put_call(file, 7, request, more);
	}
	fclose(file);
	spans = read_otlp("-f otlp log");
	ck_assert(!has_text(spans, "\"m1\""));
	ck_assert_uint_eq(json_array_size(spans), COUNT(parents) - 1);
	for (int i = 0; i < COUNT(parents); i++) {
		snprintf(request, sizeof(request), "m%d", i);
		if (parents[i].left_out != 2)
			ck_assert_int_eq(at_exists(span_of_name(spans, request), "parentSpanId"),
			    parents[i].left_out == 0);
	}
	json_decref(spans);
}

/* A whole page of known tags alone, which loads nothing. */
static char *
read_page(const char *words)
{
	static const char *const tags[] = { "!DOCTYPE html>", "html ", "meta ", "title>", "/title>",
		"style>", "/style>", "h1>", "/h1>", "h2>", "/h2>", "p>", "p ", "table>", "/table>",
		"tr>", "tr ", "th ", "th>", "td ", "svg ", "/svg>", "rect " };
	static char page[(1 << 20) + 1];
	char path[256];
	FILE *file;
	size_t len;
	int i;

	snprintf(path, sizeof(path), "$C trace -f html %s >page && echo done", words);
	expect(path, 0, "done\n");
	snprintf(path, sizeof(path), "%s/page", getenv("E2E_DIRECTORY"));
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	len = fread(page, 1, sizeof(page), file);
	fclose(file);
	ck_assert_uint_lt(len, sizeof(page));
	page[len] = '\0';
	ck_assert_uint_eq(strlen(page), len);
	for (const char *at = page; (at = strchr(at, '<')) != NULL; at++) {
		for (i = 0; i < COUNT(tags) && strncmp(at + 1, tags[i], strlen(tags[i])) != 0; i++)
			continue;
		ck_assert_msg(i < COUNT(tags), "%.40s", at);
	}
	ck_assert_ptr_null(strstr(page, "://"));
	ck_assert_ptr_null(strstr(page, "url("));
	ck_assert_ptr_nonnull(strstr(page, "default-src 'none'"));
	return page;
}

/* Of the history, which does not keep each of them. */
TEST(a_page_counts_what_was_only_counted)
{
	expect(
	    "printf '{\"time\":\"2026-11-26T09:18:10.018Z\",\"pid\":1,\"server\":\"s\",\"why\":\"COUNTED\",'"
	    "'\"method\":\"tools/call\",\"name\":\"x\",\"count\":5,\"sum\":20}\\n' >counted; "
	    "$C trace -f html counted | grep -o 'tools/call x<td.*'",
	    0, "tools/call x<td class=n>5<td class=n>0<td class=n>4<td class=n>4<td class=n><");
}

TEST(a_page_has_times_failures_and_versions)
{
	const char *page;

	make_log("-vv --log-payload");
	page = read_page("--payload log");
	ck_assert_ptr_nonnull(strstr(page, "protocol 2025-11-25"));
	ck_assert_ptr_nonnull(strstr(page, "serverInfo demo-server 1"));
	ck_assert_ptr_nonnull(strstr(page, "p50 ms<th class=n>p95 ms<th class=n>max ms"));
	ck_assert_ptr_nonnull(
	    strstr(page, "<tr><td class=t>tools/call sleep<td class=n>2<td class=n>0<"));
	ck_assert_ptr_nonnull(strstr(page, "<td class=w>no progress"));
	ck_assert_uint_eq(count_of(page, "<td class=o>TIMED_OUT"), 2);
	ck_assert_uint_eq(count_of(page, "<td class=o>result"), 3);
	/* A row stands in a table. */
	ck_assert_ptr_null(strstr(page, "<tr><h2>"));
	ck_assert_ptr_null(strstr(page, "swordfish"));
	ck_assert_ptr_null(strstr(page, "left out"));
}

TEST(ids_are_as_they_were)
{
	static const char *const ids[] = { "1.5", "null", "0", "12345678901234567890",
		"12345678901234567891", "-7" };
	FILE *file = open_log();
	char request[64];
	json_t *spans;

	for (int i = 0; i < COUNT(ids); i++) {
		snprintf(request, sizeof(request), "\"id\":%s,\"method\":\"m%d\"", ids[i], i);
		put_call(file, 7, request,
		    ",\"bytes\":98765432109876543210,\"text\":\"\\\"12345678901234567890\"");
	}
	fclose(file);
	spans = read_otlp("-f otlp log");
	for (int i = 0; i < COUNT(ids); i++) {
		snprintf(request, sizeof(request), "m%d", i);
		expect_attribute(span_of_name(spans, request), "jsonrpc.request.id", ids[i]);
	}
	json_decref(spans);
}

TEST(a_page_has_no_width_below_zero)
{
	FILE *file = open_log();
	const char *page;

	put_call(file, 7, "\"id\":1,\"method\":\"m\"", "");
	fprintf(file, LINE "\"id\":2,\"method\":\"m\",\"elapsed\":9000,\"why\":\"TIMED_OUT\"}\n", 0,
	    7, "client");
	fprintf(file,
	    "{\"time\":\"2026-11-26T04:00:00.999Z\",\"pid\":8,\"why\":\"A\"}\n" LINE "\"id\":1}\n",
	    0, 8, "client");
	fclose(file);
	page = read_page("log");
	ck_assert_ptr_null(strstr(page, "=-"));
	ck_assert_ptr_nonnull(strstr(page, ", 11s"));
	ck_assert_ptr_nonnull(strstr(page, ", 999ms"));
}

TEST(a_page_has_the_shares_of_times)
{
	FILE *file = open_log();
	char line[256];

	snprintf(line, sizeof(line), LINE "\"method\":\"m\",\"elapsed\":", 5, 7, "client");
	for (int i = 99; i >= 0; i--)
		fprintf(file, "%s%d,\"id\":%d,\"why\":\"TIMED_OUT\"}\n", line, i + 1, i);
	fclose(file);
	ck_assert_ptr_nonnull(strstr(read_page("log"),
	    ">m<td class=n>100<td class=n>100<td class=n>50<td class=n>95<td class=n>100<"));
}

#define HOSTILE "</script><b>\\u0000\\u001B[2J\\u202e\\ud83d\\ude00\\uFFFD&\\\"'\\n"

TEST(hostile_names_break_nothing)
{
	FILE *file = open_log();
	json_t *events, *spans;

	put_call(file, 7,
	    "\"id\":\"" HOSTILE "\",\"method\":\"tools/call\",\"name\":\"" HOSTILE "\"", "");
	put_call(file, 8, "\"id\":1,\"method\":\"" HOSTILE "\"", ",\"payload\":\"" HOSTILE "\"");
	fprintf(file, LINE "\"id\":2,\"method\":\"%01048576d\",\"elapsed\":0}\n", 3, 9, "server",
	    7);
	for (int i = 0; i < 1200; i++)
		fprintf(file, LINE "\"id\":%d,\"method\":\"parallel\",\"elapsed\":0}\n", 4, 9,
		    "server", i);
	fprintf(file, "\xff\xfe{}\n{\"time\":\"2026-11-26T04:00:00.000Z\"}\nplain text\n");
	fclose(file);
	ck_assert_ptr_nonnull(
	    strstr(read_page("log 2>noise"), "&#60;/script&#62;&#60;b&#62;\\x00\\x1b[2J"));
	expect("$C trace log >traced", 0,
	    "cancelctl: log: 3 lines are not of a JSON log, and were passed over\n");
	expect("LC_ALL=C grep -aP '[^ -~\\n]' traced", 1, "");
	events = trace("log 2>noise");
	ck_assert(has_text(events, "\\u0000\\u001B[2J"));
	spans = read_otlp("-f otlp log 2>noise");
	ck_assert_uint_gt(json_array_size(spans), 1200);
	json_decref(events);
	json_decref(spans);
}

/* A log of many requests and long names. */
TEST(a_page_has_at_most_one_mebibyte)
{
	FILE *file = open_log();
	const char *page;
	char request[512];

	for (int i = 0; i < 5000; i++) {
		snprintf(request, sizeof(request), "\"id\":%d,\"method\":\"%0400d\"", i, i % 7);
		put_call(file, 7, request, "");
	}
	put_call(file, 8, "\"id\":1,\"method\":\"m\"", "");
	fclose(file);
	page = read_page("log");
	ck_assert_uint_gt(strlen(page), 900 << 10);
	ck_assert_ptr_nonnull(strstr(page, " rows are left out: they do not fit into 1 MiB."));
	ck_assert_ptr_nonnull(strstr(page, "...<td class=n>715<td class=n>0<td class=n>1000<td"));
}

/* Each answer has its span at once: so there is one to read as soon as the trace begins. */
static FILE *
follow(struct run *run, const char *which)
{
	char script[512];
	FILE *followed;
	struct pollfd shown = { .events = POLLIN };

	snprintf(script, sizeof(script), "exec \"$CANCELCTL\" trace --follow %s", which);
	followed = popen(script, "r");
	ck_assert_ptr_nonnull(followed);
	shown.fd = fileno(followed);
	for (long end = milliseconds() + HARNESS_LIMIT; poll(&shown, 1, 10) == 0;) {
		ck_assert_int_lt(milliseconds(), end);
		run_expect_echo(run, "9");
	}
	return followed;
}

TEST(a_session_is_followed_to_its_end)
{
	struct run *run = run_session("--name followed -t tools/call:stubborn=300ms", NULL);
	json_t *lines, *spans, *span;
	FILE *followed = follow(run, "followed");

	call_progress(run);
	run_call(run, "2", "nosuch", SECRET);
	run_expect_answer(run, "2");
	run_call(run, "3", "stubborn", SECRET);
	run_expect_error(run, "3", CODE_CANCELLED, "timeout");
	run_call(run, "4", "release", "{}");
	run_expect_answer(run, "4");
	run_leave(run, 0);
	lines = read_lines(followed);
	ck_assert_int_eq(pclose(followed), 0);
	ck_assert_uint_gt(json_array_size(lines), 1);
	spans = read_spans(lines);
	span_of_name(spans, "tools/call echo");
	ck_assert_str_eq(at_text(span_of_name(spans, "tools/call progress"), "parentSpanId"),
	    PARENT);
	expect_attribute(span_of_name(spans, "tools/call nosuch"), "error.type", "-32602");
	span = span_of_name(spans, "tools/call stubborn");
	expect_attribute(span, "error.type", "timeout");
	ck_assert(has_event(span, "LATE"));
	ck_assert_str_eq(at_text(span, "traceId"),
	    at_text(span_of_name(spans, "SUMMARY"), "traceId"));
	ck_assert(!has_text(spans, "swordfish"));
	json_decref(spans);
	run_end(run);
}

/* Whether the file has a line of this session with the text. */
static bool
has_line(const struct run *run, const char *text)
{
	char script[256];

	snprintf(script, sizeof(script), "cd \"$E2E_DIRECTORY\"; grep '\"%d\"' all | grep -q '%s'",
	    (int)run->pid, text);
	return shell_run(":", script) == 0;
}

/*
 * Starts a trace that follows, and a call that stays open, of which it has heard when it tells of a
 * later one.
 */
static pid_t
follow_until_open(struct run *run)
{
	pid_t follower;

	expect("timeout 60 $C trace --follow >all 2>&1 & echo $!", 0, "\n");
	follower = (pid_t)atol(shell_output);
	for (long end = milliseconds() + HARNESS_LIMIT; !has_line(run, "tools/call echo");) {
		ck_assert_int_lt(milliseconds(), end);
		run_expect_echo(run, "9");
	}
	run_call(run, "2", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":2");
	run_call(run, "3", "nosuch", "{}");
	run_expect_answer(run, "3");
	run_until(run, has_line(run, "tools/call nosuch"), "the error is not told");
	return follower;
}

/* Nothing is told twice, what is open is not told yet, and other sessions may be told too. */
TEST(every_session_is_followed)
{
	struct run *run = run_session(NULL, NULL);
	pid_t follower = follow_until_open(run);

	ck_assert(!has_line(run, "tools/call sleep"));
	run_leave(run, 0);
	run_until(run, has_line(run, "SUMMARY"), "the end is not told");
	ck_assert_int_eq(kill(follower, SIGTERM), 0);
	ck_assert(has_line(run, "tools/call sleep"));
	expect("grep -o 'spanId\":\"[0-9a-f]*' all | sort | uniq -d", 0, "");
	ck_assert_str_eq(shell_output, "");
	run_end(run);
}

TEST(a_session_that_was_killed_is_told)
{
	struct run *run = run_session(NULL, NULL);
	pid_t follower = follow_until_open(run);

	ck_assert_int_eq(kill(run->pid, SIGKILL), 0);
	for (long end = milliseconds() + HARNESS_LIMIT; !has_line(run, "tools/call sleep");)
		ck_assert_int_lt(milliseconds(), end);
	ck_assert_int_eq(kill(follower, SIGTERM), 0);
	run_end(run);
}

/* JSON allows \u0000 in a string. */
TEST(a_name_is_not_cut_at_the_character_0)
{
	expect(
	    "printf '%s\\n' '{\"time\":\"2026-11-26T10:00:00.000Z\",\"pid\":7,\"server\":\"s\",\"to\":\"client\","
	    "\"why\":\"TIMED_OUT\",\"id\":1,\"method\":\"tools/call\",\"name\":\"ec\\u0000ho\"}' | $C trace -f perfetto -",
	    0, "\"name\":\"tools/call ec\\u0000ho\"");
}

TEST(what_cannot_be_done_is_told)
{
	make_log("");
	expect("HOME=/nonexistent $C trace", 1, "nothing to tell");
	expect("$C trace -f pdf log", 2, "--format: 'pdf' is none of perfetto, otlp and html");
	expect("$C trace -s soon log", 2, "'soon' is no time such as 2h");
	expect("$C trace --follow -f perfetto", 2,
	    "--follow writes otlp alone, of every canceld or one; see");
	expect("$C trace --follow a b || $C trace --follow -s 1h || $C trace --follow --payload", 2,
	    "--follow writes otlp");
	expect("$C trace --follow nobody", 1, "no canceld");
	expect("$C trace nosuch", 1,
	    "cancelctl: nosuch: no such file, and nothing of such a server in the history");
	expect("$C trace .", 1, "cancelctl: .: Is a directory");
	expect("echo x | $C trace -", 1,
	    "nothing to tell: no line of a JSON log or of the history");
	expect("$C trace log >/dev/full", 125, "standard output: No space left");
	expect("$C trace --help", 0, "usage: cancelctl trace ");
	expect("$C trace --since 1h log | grep -c TIMED_OUT", 0, "1\n");
	expect("sed 's/2[0-9]*-/2001-/' log >old; $C trace --since 1h old", 1, "nothing to tell");
}
