/*
 * OTLP as JSON (opentelemetry.io/docs/specs/otlp), with the names of OpenTelemetry's conventions
 * for MCP.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ctl/show.h"
#include "ctl/trace.h"

enum {
	KIND_INTERNAL = 1,
	KIND_SERVER,
	KIND_CLIENT,
	STATUS_ERROR = 2,
	SPANS_MOST = 512, /* in one line */
	ID_SIZE = 17,
	PARENT_LENGTH = 55
};

/* What of a session is being written. */
struct export
{
	const json_t *session;
	json_t *spans;
	char trace[2 * ID_SIZE]; /* for what has no parent */
};

/* W3C Trace Context, as the requester sent it: 00-TRACE-PARENT-FLAGS. */
struct origin {
	char trace[33], parent[ID_SIZE], flags[3];
};

static bool
read_origin(const json_t *call, struct origin *origin)
{
	struct span text = show_string(call, "traceparent");
	int end = 0;

	return text.len == PARENT_LENGTH &&
	    sscanf(text.ptr, "00-%32[0-9a-f]-%16[0-9a-f]-%2[0-9a-f]%n", origin->trace,
		origin->parent, origin->flags, &end) == 3 &&
	    end == PARENT_LENGTH && strspn(origin->trace, "0") < strlen(origin->trace) &&
	    strspn(origin->parent, "0") < strlen(origin->parent);
}

/*
 * Attributes of the members, which it takes. 64-bit integers are strings in OTLP; what is no scalar
 * is JSON text.
 */
static json_t *
attributes_of(json_t *members)
{
	json_t *attributes = json_array(), *value;
	const char *key;

	json_object_foreach (members, key, value) {
		json_array_append_new(attributes,
		    json_pack("{s:s, s:{s:o}}", "key", key, "value",
			json_is_boolean(value)     ? "boolValue" :
			    json_is_integer(value) ? "intValue" :
						     "stringValue",
			json_is_boolean(value) ? json_incref(value) : show_dump(value)));
	}
	json_decref(members);
	return attributes;
}

static json_t *
nanoseconds(msec_t time)
{
	return json_sprintf(time > 0 ? "%" PRId64 "000000" : "%" PRId64, time);
}

static json_t *
attributes_of_line(json_t *line)
{
	json_t *members = json_object(), *value;
	char name[64];
	const char *key;

	json_object_foreach (line, key, value) {
		print_into(name, "canceld.%s", key);
		if (!span_is_any(span_of(key), "time why"))
			json_object_set(members, name, value);
	}
	return attributes_of(members);
}

static json_t *
attributes_of_call(const json_t *session, const json_t *call)
{
	json_t *outcome = json_object_get(call, "outcome");
	const char *method = show_chars(call, "method"), *how = show_chars(call, "outcome");
	struct span dialect = show_string(session, "dialect");
	bool mcp = dialect.len == 0 || span_is(dialect, "mcp"), failed = trace_failed(call);
	bool tool = text_is(method, "tools/call");
	json_t *members =
	    json_pack("{s:s, s:O*, s:s*, s:o*, s:O*, s:s, s:O*, s:s*, s:O*, s:O*, s:O*}",
		mcp ? "mcp.method.name" : "rpc.method", method,
		tool                                  ? "gen_ai.tool.name" :
		    text_is(method, "prompts/get")    ? "gen_ai.prompt.name" :
		    text_begins(method, "resources/") ? "mcp.resource.uri" :
							"canceld.name",
		json_object_get(call, "name"), "gen_ai.operation.name",
		tool ? "execute_tool" : NULL, "jsonrpc.request.id",
		show_dump(json_object_get(call, "id")), "mcp.protocol.version",
		mcp ? json_object_get(session, "protocol") : NULL, "network.transport", "pipe",
		"canceld.outcome", outcome, "error.type",
		!failed                       ? NULL :
		    text_is(how, "isError")   ? "tool_error" :
		    text_is(how, "TIMED_OUT") ? "timeout" :
						how,
		"rpc.response.status_code",
		how[0] != '\0' && strchr("-0123456789", how[0]) != NULL ? outcome : NULL,
		"canceld.request", json_object_get(call, "request"), "canceld.response",
		json_object_get(call, "response"));

	return attributes_of(members);
}

static void
flush(struct export *export)
{
	json_t *resource =
	    json_pack("{s:O*, s:O}", "service.name", json_object_get(export->session, "server"),
		"process.pid", json_object_get(export->session, "pid"));
	json_auto_t *file = json_pack("{s:[{s:{s:o}, s:[{s:{s:s, s:s}, s:O}]}]}", "resourceSpans",
	    "resource", "attributes", attributes_of(resource), "scopeSpans", "scope", "name",
	    "canceld", "version", CANCELD_VERSION, "spans", export->spans);
	if (json_array_size(export->spans) > 0)
		show_json(file);
	json_array_clear(export->spans);
}

/*
 * Adds a span and returns it, borrowed, for the caller to add to. Takes the reference to
 * attributes. origin: may be NULL.
 */
static json_t *
add_span(struct export *export, const struct origin *origin, int kind, const json_t *name,
    msec_t start, msec_t end, json_t *attributes)
{
	static uint64_t count;
	json_t *span = json_pack("{s:s, s:s*, s:o, s:O, s:i, s:o, s:o, s:o}", "traceId",
	    origin != NULL ? origin->trace : export->trace, "parentSpanId",
	    origin != NULL ? origin->parent : NULL, "spanId",
	    json_sprintf("%016" PRIx64, hash_of(span_of(export->trace), ++count)), "name", name,
	    "kind", kind, "startTimeUnixNano", nanoseconds(start), "endTimeUnixNano",
	    nanoseconds(end), "attributes", attributes);

	if (json_array_size(export->spans) == SPANS_MOST)
		flush(export);
	json_array_append_new(export->spans, span);
	return span;
}

static void
export_call(struct export *export, const json_t *call)
{
	struct origin origin;
	bool known = read_origin(call, &origin), client = show_is(call, "from", "client");
	json_t *events, *line, *span;

	/* The last bit says whether the trace is to be recorded. */
	if (known && (strtol(origin.flags, NULL, 16) & 1) == 0)
		return;
	events = json_array();
	span = add_span(export, known ? &origin : NULL, client ? KIND_SERVER : KIND_CLIENT,
	    json_object_get(call, "title"), show_number(call, "start"),
	    trace_end(export->session, call), attributes_of_call(export->session, call));
	show_each_in (line, call, "events")
		json_array_append_new(events,
		    json_pack("{s:o, s:O, s:o}", "timeUnixNano",
			nanoseconds(show_number(line, "time")), "name",
			json_object_get(line, "why"), "attributes", attributes_of_line(line)));
	json_object_set_new(span, "events", events);
	if (trace_failed(call))
		json_object_set_new(span, "status",
		    json_pack("{s:i, s:O*}", "code", STATUS_ERROR, "message",
			json_object_get(call, "reason")));
}

static void
export_session(struct export *export)
{
	const json_t *session = export->session;
	uint64_t pid = (uint64_t)show_number(session, "pid");
	json_t *item;

	print_into(export->trace, "%016" PRIx64 "%016" PRIx64,
	    hash_of(show_string(session, "since"), pid),
	    hash_of(show_string(session, "server"), pid));
	show_each_in (item, session, "events")
		add_span(export, NULL, KIND_INTERNAL, json_object_get(item, "why"),
		    show_number(item, "time"), show_number(item, "time"), attributes_of_line(item));
	show_each_in (item, session, "calls")
		export_call(export, item);
	flush(export);
}

void
trace_otlp(const struct trace *trace)
{
	struct export export = { .spans = json_array() };

	show_each (export.session, trace->sessions)
		export_session(&export);
	json_decref(export.spans);
}
