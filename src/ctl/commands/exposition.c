#include "ctl/commands.h"

#include "core/compose.h"
#include "core/dialect.h"
#include "ctl/show.h"
#include "shell/words.h"

enum { TIME = 1, BY_METHOD = 2, MCP = 4 };

/* The families of one histogram. */
#define HISTOGRAM(name, help, traits) \
	{ name, "_bucket", "histogram", help, "within_s", "le", traits }, \
	    { name, "_sum", "histogram", "", "sum_ms", NULL, TIME | (traits) }, \
	{ \
		name, "_count", "histogram", "", "count", NULL, traits \
	}

/* THE TABLE of the families: what of an answer to `stats` they show. */
static const struct family {
	const char *name, *suffix; /* of the samples */
	const char *type, *help;
	const char *member; /* a number, or an object with one for each value of the label; "": 1 */
	const char *label;  /* NULL: none of its own */
	/*
	 * TIME: in ms, and a gauge shows the longest of several. BY_METHOD: it is a member of each
	 * entry of `methods`; MCP: only of servers of MCP, and with the labels of OpenTelemetry's
	 * conventions
	 */
	int traits;
} families[] = {
	{ "canceld_decisions_total", "", "counter", "Decisions by their word in the log.", "why",
	    "why", 0 },
	{ "canceld_requests_total", "", "counter", "Requests by the side that sent them.",
	    "requests", "from", 0 },
	{ "canceld_outcomes_total", "", "counter",
	    "Requests of the client by how they ended, of all methods.", "tallies", "outcome", 0 },
	{ "canceld_requests_ended_total", "", "counter",
	    "Requests of the client by how they ended.", "tallies", "outcome", BY_METHOD },
	{ "canceld_server_restarts_total", "", "counter",
	    "Starts of a new server inside a session.", "restarts", NULL, 0 },
	HISTOGRAM("canceld_request_duration_seconds", "Time from a request to its end.", BY_METHOD),
	HISTOGRAM("mcp_server_operation_duration_seconds",
	    "Time from a request to its end, as OpenTelemetry names it.", BY_METHOD | MCP),
	{ "canceld_request_longest_seconds", "", "gauge",
	    "The longest time from a request to its end.", "longest_ms", NULL, BY_METHOD | TIME },
	{ "canceld_request_oldest_seconds", "", "gauge",
	    "How old the oldest request not answered yet is; 0: none.", "oldest_ms", NULL, TIME },
	{ "canceld_instances", "", "gauge", "How many canceld run.", "", NULL, 0 },
	{ "canceld_requests_in_flight", "", "gauge",
	    "Requests not answered yet, by the side that sent them.", "in_flight", "from", 0 },
	{ "canceld_queued_bytes", "", "gauge",
	    "Bytes read from a side and not yet written to the other.", "queued_bytes", "from", 0 },
};

enum { LABELS = 4 };

void
exposition_init(struct exposition *exposition)
{
	*exposition = (struct exposition){ json_pack("{s:{}}", ""), json_object(), json_object() };
}

void
exposition_free(struct exposition *exposition)
{
	json_decref(exposition->samples);
	json_decref(exposition->servers);
	json_decref(exposition->pairs);
}

/* Whether the value is seen already, or there is room for it. */
static bool
is_admitted(json_t *seen, size_t most, struct span value)
{
	if (json_object_getn(seen, value.ptr, value.len) != NULL)
		return true;
	return json_object_size(seen) < most &&
	    json_object_setn_new(seen, value.ptr, value.len, json_true()) == 0;
}

/* A key is the family's letter with the labels. */
static const struct family *
family_of(const char *key)
{
	return &families[key[0] - 'a'];
}

static bool
is_gauge(const struct family *family)
{
	return text_is(family->type, "gauge");
}

/* Several canceld with the same labels have one sample: the sum, or the longest time. */
static void
add(json_t *samples, const char *key, double value)
{
	const struct family *family = family_of(key);
	double before = json_number_value(json_object_get(samples, key));

	if (!is_gauge(family) || !(family->traits & TIME))
		value += before;
	json_object_set_new(samples, key, json_real(value > before ? value : before));
}

/*
 * Bytes that are not safe for a terminal are escaped twice: in the value, and as the format wants
 * it.
 */
static void
add_sample(json_t *samples, const struct family *family, const struct span values[LABELS],
    double value)
{
	bool named = family->traits & BY_METHOD;
	const char *keys[LABELS] = { "server", named ? "method" : NULL, named ? "name" : NULL,
		family->label };
	bool mcp = family->traits & MCP;
	char letter = (char)('a' + (family - families));
	BUF_AUTO text = { 0 }, safe = { 0 };

	if (mcp) {
		keys[1] = "mcp_method_name";
		keys[2] = span_is(values[1], "tools/call") ? "gen_ai_tool_name" :
		    span_is(values[1], "prompts/get")      ? "gen_ai_prompt_name" :
							     NULL;
	}
	buf_append(&text, span_at(&letter, 1));
	for (int i = 0; i < LABELS; i++) {
		if (keys[i] == NULL)
			continue;
		buf_clear(&safe);
		printable_append(&safe, values[i], "");
		compose_text(&text, i == 0 ? "{%s=\"" : ",%s=\"", keys[i]);
		printable_append(&text, buf_span(&safe), "\"\\");
		compose_text(&text, "\"");
	}
	compose_text(&text, mcp ? ",network_transport=\"pipe\"" : "");
	buf_append(&text, span_at("}", 2));
	add(samples, buf_span(&text).ptr, value);
}

/*
 * Samples of the family's member of an answer or of an entry; the last value is of the family's own
 * label.
 */
static void
add_member(json_t *samples, const struct family *family, struct span values[LABELS],
    const json_t *object)
{
	json_t *counted = json_object_get(object, family->member), *value;
	double number = family->member[0] == '\0' ? 1 : json_number_value(counted);
	const char *key;

	if (family->label == NULL)
		add_sample(samples, family, values, family->traits & TIME ? number / 1000 : number);
	json_object_foreach (counted, key, value) {
		values[LABELS - 1] = span_of(key);
		add_sample(samples, family, values, json_number_value(value));
	}
}

/*
 * The method and name of an entry of `methods`, if there is room for them; a URI may hold a secret,
 * and is left out.
 */
static void
read_pair(struct exposition *exposition, const json_t *entry, struct span pair[2])
{
	BUF_AUTO key = { 0 };

	pair[0] = show_string(entry, "method");
	pair[1] = show_string(entry, "name");
	if (dialect_method(&dialect_mcp, pair[0])->name_field == SCAN_URI ||
	    strstr(pair[1].ptr, "://") != NULL)
		pair[1] = SPAN("");
	compose_text(&key, "%b:%b", pair[0], pair[1]);
	if (!is_admitted(exposition->pairs, EXPOSITION_PAIRS, buf_span(&key)))
		pair[0] = pair[1] = SPAN("other");
}

static json_t *
samples_of(struct exposition *exposition, const json_t *stats)
{
	struct span values[LABELS] = { show_string(stats, "name") };
	json_t *samples = json_object(), *entry;

	if (!is_admitted(exposition->servers, EXPOSITION_SERVERS, values[0]))
		values[0] = SPAN("other");
	each_of (family, families) {
		if ((family->traits & MCP) && !show_is(stats, "dialect", "mcp"))
			continue;
		if (!(family->traits & BY_METHOD))
			add_member(samples, family, values, stats);
		show_each (entry,
		    family->traits & BY_METHOD ? json_object_get(stats, "methods") : NULL) {
			read_pair(exposition, entry, values + 1);
			add_member(samples, family, values, entry);
		}
	}
	return samples;
}

/* Adds samples to the sums; those of a canceld that has ended without their gauges. */
static void
add_all(json_t *sums, json_t *samples, bool gauges)
{
	const char *key;
	json_t *value;

	json_object_foreach (samples, key, value) {
		if (gauges || !is_gauge(family_of(key)))
			add(sums, key, json_number_value(value));
	}
}

static void
write_family(const struct family *family, json_t *samples, struct buf *text)
{
	bool begun = family->help[0] == '\0';
	char number[64];
	const char *key;
	json_t *value;

	json_object_foreach (samples, key, value) {
		if (family_of(key) != family)
			continue;
		if (!begun)
			compose_text(text, "# HELP %s %s\n# TYPE %s %s\n", family->name,
			    family->help, family->name, family->type);
		begun = true;
		print_into(number, "%.15g", json_number_value(value));
		compose_text(text, "%s%s%s %s\n", family->name, family->suffix, key + 1, number);
	}
}

void
exposition_write(struct exposition *exposition, json_t *stats, struct buf *text)
{
	json_t *samples = exposition->samples, *value;
	json_auto_t *sums = json_object();
	const char *key;
	void *next;

	json_object_foreach_safe(samples, next, key, value)
	{
		if (key[0] == '\0' || show_has(stats, key))
			continue;
		add_all(json_object_get(samples, ""), value, false);
		json_object_del(samples, key);
	}
	json_object_foreach (stats, key, value)
		if (json_is_object(value))
			json_object_set_new(samples, key, samples_of(exposition, value));
	json_object_foreach (samples, key, value)
		add_all(sums, value, true);
	each_of (family, families)
		write_family(family, sums, text);
}
