#include "ctl/exposition.h"

#include <stdio.h>
#include <string.h>

#include "ctl/show.h"
#include "shell/printable.h"

enum { NUMBER_SIZE = 48 };

enum family { DECISIONS, REQUESTS, ENDED, RESTARTS, DURATION, INSTANCES, IN_FLIGHT, QUEUED, FAMILIES };

static const struct {
	const char *name, *type, *help;
} families[FAMILIES] = {
	[DECISIONS] = { "canceld_decisions_total", "counter", "Decisions by their word in the log." },
	[REQUESTS] = { "canceld_requests_total", "counter", "Requests by the side that sent them." },
	[ENDED] = { "canceld_requests_ended_total", "counter", "Requests of the client by how they ended." },
	[RESTARTS] = { "canceld_server_restarts_total", "counter", "Starts of a new server inside a session." },
	[DURATION] = { "canceld_request_duration_seconds", "histogram", "Time from a request to its end." },
	[INSTANCES] = { "canceld_instances", "gauge", "How many canceld run." },
	[IN_FLIGHT] = { "canceld_requests_in_flight", "gauge",
	    "Requests not answered yet, by the side that sent them." },
	[QUEUED] = { "canceld_queued_bytes", "gauge", "Bytes read from a side and not yet written to the other." },
};

void
exposition_init(struct exposition *exposition)
{
	*exposition = (struct exposition){
		.ended = json_object(),
		.current = json_object(),
		.servers = json_object(),
		.pairs = json_object(),
		.words = json_object(),
	};
}

void
exposition_free(struct exposition *exposition)
{
	json_decref(exposition->ended);
	json_decref(exposition->current);
	json_decref(exposition->next);
	json_decref(exposition->servers);
	json_decref(exposition->pairs);
	json_decref(exposition->words);
}

/* Whether the value is seen already, or there is room for it. */
static bool
admit(json_t *seen, size_t most, struct span value)
{
	bool known = json_object_getn(seen, value.ptr, value.len) != NULL;

	if (!known && json_object_size(seen) < most)
		known = json_object_setn_new(seen, value.ptr, value.len, json_true()) == 0;
	return known;
}

static struct span
admitted(json_t *seen, size_t most, struct span value)
{
	return admit(seen, most, value) ? value : SPAN("other");
}

/* `key="value"`; bytes that are not safe for a terminal are escaped twice: in the value, and as the format wants it. */
static void
append_label(struct buf *labels, const char *key, struct span value)
{
	struct buf safe;
	struct span rest;

	buf_init(&safe);
	printable_append(&safe,
	    span_part(value, 0, value.len < EXPOSITION_VALUE_MAX ? value.len : EXPOSITION_VALUE_MAX), "");
	buf_append(labels, labels->len > 0 ? SPAN(",") : SPAN(""));
	buf_append(labels, span_of(key));
	buf_append(labels, SPAN("=\""));
	for (rest = buf_span(&safe); rest.len > 0; rest = span_part(rest, 1, rest.len - 1)) {
		buf_append(labels, rest.ptr[0] == '"' || rest.ptr[0] == '\\' ? SPAN("\\") : SPAN(""));
		buf_append(labels, span_part(rest, 0, 1));
	}
	buf_append(labels, SPAN("\""));
	buf_free(&safe);
}

/* Adds to the sample of these labels; suffix: of a histogram. */
static void
add_sample(json_t *samples, enum family family, const char *suffix, const struct buf *labels, double value)
{
	json_t *those = json_object_get(samples, families[family].name);
	struct buf key;
	const json_t *former;

	if (those == NULL) {
		those = json_object();
		json_object_set_new(samples, families[family].name, those);
	}
	buf_init(&key);
	buf_append(&key, span_of(families[family].name));
	buf_append(&key, span_of(suffix));
	buf_append(&key, SPAN("{"));
	buf_append(&key, buf_span(labels));
	buf_append(&key, SPAN("}"));
	former = json_object_getn(those, buf_span(&key).ptr, key.len);
	json_object_setn_new(those, buf_span(&key).ptr, key.len, json_real(json_number_value(former) + value));
	buf_free(&key);
}

static void
add_one(json_t *samples, enum family family, struct span server, double value)
{
	struct buf labels;

	buf_init(&labels);
	append_label(&labels, "server", server);
	add_sample(samples, family, "", &labels, value);
	buf_free(&labels);
}

/* One sample for each member of the object, labelled with its key. */
static void
add_members(struct exposition *exposition, json_t *samples, enum family family, struct span server, const char *label,
    json_t *members)
{
	const char *key;
	json_t *value;

	json_object_foreach(members, key, value)
	{
		struct buf labels;

		buf_init(&labels);
		append_label(&labels, "server", server);
		append_label(&labels, label, admitted(exposition->words, EXPOSITION_WORDS, span_of(key)));
		add_sample(samples, family, "", &labels, json_number_value(value));
		buf_free(&labels);
	}
}

static void
add_bucket(json_t *samples, const struct buf *labels, const char *bound, double count)
{
	struct buf whole;

	buf_init(&whole);
	buf_append(&whole, buf_span(labels));
	append_label(&whole, "le", span_of(bound));
	add_sample(samples, DURATION, "_bucket", &whole, count);
	buf_free(&whole);
}

static void
add_histogram(struct exposition *exposition, json_t *samples, struct span server, const json_t *entry)
{
	struct span method = show_string(entry, "method"), name = show_string(entry, "name");
	const json_t *buckets = json_object_get(entry, "buckets");
	struct buf labels;
	bool known;

	buf_init(&labels);
	buf_append(&labels, method);
	buf_append(&labels, SPAN(":"));
	buf_append(&labels, name);
	known = admit(exposition->pairs, EXPOSITION_PAIRS, buf_span(&labels));
	buf_clear(&labels);
	append_label(&labels, "server", server);
	append_label(&labels, "method", known ? method : SPAN("other"));
	append_label(&labels, "name", known ? name : SPAN("other"));
	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *bucket = json_array_get(buckets, i), *bound = json_array_get(bucket, 0);
		char seconds[NUMBER_SIZE];

		if (!json_is_number(bound))
			continue;
		snprintf(seconds, sizeof(seconds), "%.15g", json_number_value(bound) / 1000);
		add_bucket(samples, &labels, seconds, json_number_value(json_array_get(bucket, 1)));
	}
	add_bucket(samples, &labels, "+Inf", (double)show_number(entry, "count"));
	add_sample(samples, DURATION, "_sum", &labels, (double)show_number(entry, "sum_ms") / 1000);
	add_sample(samples, DURATION, "_count", &labels, (double)show_number(entry, "count"));
	buf_free(&labels);
}

static json_t *
samples_of(struct exposition *exposition, const json_t *stats)
{
	struct span server = admitted(exposition->servers, EXPOSITION_SERVERS, show_string(stats, "name"));
	const json_t *latency = json_object_get(stats, "latency");
	json_t *samples = json_object();

	add_one(samples, INSTANCES, server, 1);
	add_one(samples, RESTARTS, server, (double)show_number(stats, "restarts"));
	add_members(exposition, samples, DECISIONS, server, "why", json_object_get(stats, "why"));
	add_members(exposition, samples, REQUESTS, server, "from", json_object_get(stats, "requests"));
	add_members(exposition, samples, ENDED, server, "end", json_object_get(stats, "tallies"));
	add_members(exposition, samples, IN_FLIGHT, server, "from", json_object_get(stats, "in_flight"));
	add_members(exposition, samples, QUEUED, server, "from", json_object_get(stats, "queued_bytes"));
	for (size_t i = 0; i < json_array_size(latency); i++)
		add_histogram(exposition, samples, server, json_array_get(latency, i));
	return samples;
}

/* Adds what has ended, which has no gauges any more, or all, to the sums. */
static void
add_all(json_t *sums, json_t *samples, bool gauges)
{
	for (int family = 0; family < FAMILIES; family++) {
		json_t *those = json_object_get(samples, families[family].name);
		json_t *sum = json_object_get(sums, families[family].name);
		const char *key;
		json_t *value;

		if (those == NULL || (!gauges && strcmp(families[family].type, "gauge") == 0))
			continue;
		if (sum == NULL) {
			sum = json_object();
			json_object_set_new(sums, families[family].name, sum);
		}
		json_object_foreach(those, key, value) json_object_set_new(sum, key,
		    json_real(json_number_value(json_object_get(sum, key)) + json_number_value(value)));
	}
}

void
exposition_begin(struct exposition *exposition)
{
	exposition->next = json_object();
}

void
exposition_add(struct exposition *exposition, const char *key, const json_t *stats)
{
	json_t *former = json_object_get(exposition->current, key);

	if (stats != NULL)
		json_object_set_new(exposition->next, key, samples_of(exposition, stats));
	else if (former != NULL)
		json_object_set(exposition->next, key, former);
}

static void
write_family(enum family family, json_t *samples, struct buf *text)
{
	char number[NUMBER_SIZE];
	const char *key;
	json_t *value;
	struct buf head;

	if (samples == NULL)
		return;
	buf_init(&head);
	buf_append(&head, SPAN("# HELP "));
	buf_append(&head, span_of(families[family].name));
	buf_append(&head, SPAN(" "));
	buf_append(&head, span_of(families[family].help));
	buf_append(&head, SPAN("\n# TYPE "));
	buf_append(&head, span_of(families[family].name));
	buf_append(&head, SPAN(" "));
	buf_append(&head, span_of(families[family].type));
	buf_append(&head, SPAN("\n"));
	buf_append(text, buf_span(&head));
	buf_free(&head);
	json_object_foreach(samples, key, value)
	{
		snprintf(number, sizeof(number), " %.15g\n", json_number_value(value));
		buf_append(text, span_of(key));
		buf_append(text, span_of(number));
	}
}

void
exposition_write(struct exposition *exposition, struct buf *text)
{
	json_t *sums, *samples;
	const char *key;

	json_object_foreach(exposition->current, key, samples) if (json_object_get(exposition->next, key) == NULL)
	    add_all(exposition->ended, samples, false);
	json_decref(exposition->current);
	exposition->current = exposition->next;
	exposition->next = NULL;
	sums = json_deep_copy(exposition->ended);
	json_object_foreach(exposition->current, key, samples) add_all(sums, samples, true);
	for (int family = 0; family < FAMILIES; family++)
		write_family((enum family)family, json_object_get(sums, families[family].name), text);
	json_decref(sums);
}
