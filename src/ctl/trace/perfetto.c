/*
 * Chrome's trace events: a process for each session, a thread for each row of its calls. Times are
 * in microseconds.
 */
#include "ctl/show.h"
#include "ctl/trace.h"

enum { US = 1000, THREAD_SESSION = 1, THREAD_CALLS };

/* Where an event belongs; thread 0: to none. */
struct place {
	json_t *events;
	size_t process, thread;
};

/* One more event; takes the reference to args. */
static json_t *
add(const struct place *place, const char *phase, struct span name, msec_t time, json_t *args)
{
	json_t *event = json_pack("{s:s, s:s%, s:I, s:I, s:I, s:o}", "ph", phase, "name", name.ptr,
	    name.len, "ts", (json_int_t)time * US, "pid", (json_int_t)place->process, "tid",
	    (json_int_t)place->thread, "args", args);

	json_array_append_new(place->events, event);
	return event;
}

static void
add_name(const struct place *place, const char *kind, json_t *name)
{
	add(place, "M", span_of(kind), 0, json_pack("{s:o}", "name", name));
}

static void
add_instants(const struct place *place, const json_t *owner)
{
	json_t *line;

	show_each_in (line, owner, "events")
		json_object_set_new(add(place, "i", show_string(line, "why"),
					show_number(line, "time"), json_incref(line)),
		    "s", json_string("t"));
}

static void
add_calls(struct place *place, const json_t *session)
{
	msec_t taken[TRACE_ROWS] = { 0 };
	size_t rows = 0, row;
	json_t *call, *args, *event;

	show_each_in (call, session, "calls") {
		row = trace_row(session, call, taken);
		place->thread = THREAD_CALLS + row;
		for (; rows <= row; rows++)
			add_name(place, "thread_name", json_sprintf("requests %zu", rows + 1));
		args = json_copy(call);
		json_object_del(args, "events");
		event =
		    add(place, "X", show_string(call, "title"), show_number(call, "start"), args);
		json_object_set_new(event, "dur",
		    json_integer((trace_end(session, call) - show_number(call, "start")) * US));
		json_object_set_new(event, "cat",
		    json_string(trace_failed(call) ? "failed" : "request"));
		add_instants(place, call);
	}
}

void
trace_perfetto(const struct trace *trace)
{
	json_auto_t *file = json_pack("{s:s, s:[]}", "displayTimeUnit", "ms", "traceEvents");
	struct place place = { .events = json_object_get(file, "traceEvents") };
	json_t *session;
	size_t i;

	json_array_foreach (trace->sessions, i, session) {
		place.process = i + 1;
		place.thread = THREAD_SESSION;
		add_name(&place, "process_name",
		    json_sprintf("%s[%lld]", show_chars(session, "server"),
			show_number(session, "pid")));
		add_name(&place, "thread_name", json_string("session"));
		add_instants(&place, session);
		add_calls(&place, session);
	}
	show_json(file);
}
