#include <check.h>
#include <stdio.h>

#include "ctl/commands.h"

static struct exposition exposition;
static json_t *answers;
static struct buf text;

static void
add(const char *key, const char *name, int late, const char *tool)
{
	char source[2048];

	snprintf(source, sizeof(source),
	    "{\"name\":\"%s\",\"dialect\":\"mcp\",\"why\":{\"LATE\":%d},\"in_flight\":{\"client\":2},\"restarts\":0,\"oldest_ms\":%d,\"methods\":"
	    "[{\"method\":\"tools/call\",\"name\":\"%s\",\"tallies\":{\"answered\":2,\"timed_out\":1},\"count\":3,"
	    "\"sum_ms\":1500,\"longest_ms\":900,\"within_s\":{\"0.5\":1,\"1\":3,\"+Inf\":3}}]}",
	    name, late, late * 1000, tool);
	ck_assert_int_eq(json_object_set_new(answers, key, json_loads(source, 0, NULL)), 0);
}

static const char *
written(void)
{
	buf_clear(&text);
	exposition_write(&exposition, answers, &text);
	json_object_clear(answers);
	buf_append(&text, (struct span){ "", 1 });
	return buf_span(&text).ptr;
}

static void
expect(const char *line)
{
	ck_assert_msg(strstr(buf_span(&text).ptr, line) != NULL, "no '%s' in:\n%s", line,
	    buf_span(&text).ptr);
}

static void
set_up(void)
{
	exposition_init(&exposition);
	answers = json_object();
}

static void
tear_down(void)
{
	exposition_free(&exposition);
	json_decref(answers);
	buf_free(&text);
}

SUITE("exposition", .before = set_up, .after = tear_down);

TEST(those_of_one_name_are_summed)
{
	add("a", "x", 1, "t");
	add("b", "x", 2, "t");
	add("c", "y", 4, "t");
	written();
	expect(
	    "# TYPE canceld_decisions_total counter\ncanceld_decisions_total{server=\"x\",why=\"LATE\"} 3\n");
	expect("canceld_instances{server=\"x\"} 2\n");
	expect("_count{server=\"x\",method=\"tools/call\",name=\"t\"} 6\n");
	expect(
	    "canceld_request_longest_seconds{server=\"x\",method=\"tools/call\",name=\"t\"} 0.9\n");
	expect("_sum{server=\"x\",method=\"tools/call\",name=\"t\"} 3\n");
	expect(
	    "# TYPE canceld_requests_ended_total counter\n"
	    "canceld_requests_ended_total{server=\"x\",method=\"tools/call\",name=\"t\",outcome=\"answered\"} 4\n"
	    "canceld_requests_ended_total{server=\"x\",method=\"tools/call\",name=\"t\",outcome=\"timed_out\"} 2\n");
	expect("canceld_request_oldest_seconds{server=\"x\"} 2\n");
}

/* prometheus.io/docs/instrumenting/exposition_formats, and OpenTelemetry's conventions for MCP. */
TEST(times_are_histograms)
{
	add("a", "x", 1, "t");
	add("b", "x", 2, "t");
	written();
	expect(
	    "# TYPE canceld_request_duration_seconds histogram\n"
	    "canceld_request_duration_seconds_bucket{server=\"x\",method=\"tools/call\",name=\"t\",le=\"0.5\"} 2\n"
	    "canceld_request_duration_seconds_bucket{server=\"x\",method=\"tools/call\",name=\"t\",le=\"1\"} 6\n"
	    "canceld_request_duration_seconds_bucket{server=\"x\",method=\"tools/call\",name=\"t\",le=\"+Inf\"} 6\n"
	    "canceld_request_duration_seconds_sum");
	expect(
	    "# TYPE mcp_server_operation_duration_seconds histogram\n"
	    "mcp_server_operation_duration_seconds_bucket{server=\"x\",mcp_method_name=\"tools/call\","
	    "gen_ai_tool_name=\"t\",le=\"0.5\",network_transport=\"pipe\"} 2\n");
	expect(
	    "mcp_server_operation_duration_seconds_count{server=\"x\",mcp_method_name=\"tools/call\","
	    "gen_ai_tool_name=\"t\",network_transport=\"pipe\"} 6\n");
}

TEST(counters_outlive_their_canceld)
{
	add("a", "x", 1, "t");
	add("b", "x", 2, "t");
	written();
	add("a", "x", 5, "t");
	written();
	expect("canceld_decisions_total{server=\"x\",why=\"LATE\"} 7\n");
	expect("canceld_instances{server=\"x\"} 1\n");
	written();
	expect("canceld_decisions_total{server=\"x\",why=\"LATE\"} 7\n");
	ck_assert_ptr_null(strstr(buf_span(&text).ptr, "in_flight"));
}

TEST(one_that_does_not_answer_keeps_its_last_values)
{
	add("a", "x", 3, "t");
	written();
	json_object_set_new(answers, "a", json_null());
	json_object_set_new(answers, "b", json_null());
	written();
	expect("canceld_decisions_total{server=\"x\",why=\"LATE\"} 3\n");
	expect("canceld_requests_in_flight{server=\"x\",from=\"client\"} 2\n");
}

TEST(a_uri_is_no_label)
{
	json_t *entry;

	add("a", "x", 1, "postgres://me:hunter2@db/payroll");
	add("b", "y", 1, "memo:hunter2");
	entry = json_array_get(json_object_get(json_object_get(answers, "b"), "methods"), 0);
	json_object_set_new(entry, "method", json_string("resources/read"));
	ck_assert_ptr_null(strstr(written(), "hunter2"));
	expect("_count{server=\"x\",method=\"tools/call\",name=\"\"} 3\n");
	expect("_count{server=\"y\",method=\"resources/read\",name=\"\"} 3\n");
}

TEST(labels_are_escaped)
{
	add("a", "q\\\"b\\\\s\\n\\u001b", 1, "t");
	written();
	expect("{server=\"q\\\"b\\\\s\\\\x0a\\\\x1b\",why");
}

TEST(values_are_bounded)
{
	char name[32];
	size_t lines = 0;

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		add(name, name, 1, name);
	}
	for (const char *at = written(); (at = strstr(at, "\ncanceld_instances{")) != NULL; at++)
		lines++;
	ck_assert_uint_eq(lines, EXPOSITION_SERVERS + 1);
	expect("canceld_decisions_total{server=\"other\",why=\"LATE\"} 936\n");
	lines = 0;
	for (const char *at = buf_span(&text).ptr;
	     (at = strstr(at, "request_duration_seconds_count{")) != NULL; at++)
		lines++;
	ck_assert_uint_eq(lines, EXPOSITION_PAIRS + 1);
}
