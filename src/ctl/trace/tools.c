/*
 * For each method and name: how many requests there were, how many failed, and how long they took.
 */

#include "ctl/show.h"
#include "ctl/trace.h"

/* The row of the tool that the call or line is about; borrowed. */
static json_t *
tool_of(json_t *tools, const json_t *session, const json_t *call)
{
	json_auto_t *key = json_pack("[O*, O*, O*]", json_object_get(session, "server"),
	    json_object_get(call, "method"), json_object_get(call, "name"));
	const char *name = show_chars(call, "name");
	char *text = json_dumps(key, 0);
	json_t *tool = json_object_get(tools, text);

	if (tool == NULL) {
		tool = json_pack("{s:o, s:i, s:i, s:i, s:[]}", "title",
		    json_sprintf(*name != '\0' ? "%s %s" : "%s", show_chars(call, "method"), name),
		    "count", 0, "failed", 0, "at_once", 0, "times");
		show_take(tool, session, "server");
		show_take(tool, call, "method name");
		json_object_set_new(tools, text, tool);
	}
	free(text);
	return tool;
}

/*
 * Of those that were open as canceld was killed only the oldest has a name, unless many before it
 * had been given up.
 */
static void
count_others(json_t *tools, const json_t *session, json_int_t count)
{
	json_auto_t *none = json_pack("{s:s}", "method", "other");
	json_t *tool;

	if (count > 0) {
		tool = tool_of(tools, session, none);
		show_add(tool, "count", count);
		show_add(tool, "failed", count);
	}
}

void
trace_count(json_t *tools, const json_t *session)
{
	json_t *item, *tool;

	show_each_in (item, session, "calls") {
		tool = tool_of(tools, session, item);
		show_add(tool, "count", 1);
		show_add(tool, "failed", trace_failed(item));
		count_others(tools, session, show_number(item, "open") - 1);
		json_array_append_new(json_object_get(tool, "times"),
		    json_integer(trace_end(session, item) - show_number(item, "start")));
	}
	show_each_in (item, session, "events") {
		if (show_is(item, "why", "KILLED"))
			count_others(tools, session, show_number(item, "open"));
		if (!show_is(item, "why", "COUNTED") || show_number(item, "count") <= 0)
			continue;
		tool = tool_of(tools, session, item);
		show_add(tool, "count", show_number(item, "count"));
		show_add(tool, "at_once", show_number(item, "count"));
		show_add(tool, "at_once_ms", show_number(item, "sum"));
	}
}

/*
 * Sets the member to the time that so many of a hundred needed at most; what was only counted
 * needed less than the others.
 */
static void
set_quantile(json_t *tool, const char *key, json_int_t percent)
{
	json_int_t quick = show_number(tool, "at_once"),
		   rank = (show_number(tool, "count") * percent + 99) / 100;
	const json_t *times = json_object_get(tool, "times");

	if (rank > quick)
		json_object_set(tool, key, json_array_get(times, (size_t)(rank - quick - 1)));
	else if (percent < 100)
		json_object_set_new(tool, key,
		    json_integer(show_number(tool, "at_once_ms") / quick));
}

json_t *
trace_tools(json_t *tools, json_int_t least)
{
	json_t *rows = json_array(), *tool;
	const char *key;

	json_object_foreach (tools, key, tool) {
		show_sort(json_object_get(tool, "times"), NULL);
		set_quantile(tool, "p50", 50);
		set_quantile(tool, "p95", 95);
		set_quantile(tool, "max", 100);
		if (show_number(tool, "failed") >= least)
			json_array_append(rows, tool);
	}
	show_sort(rows, "max");
	return rows;
}
