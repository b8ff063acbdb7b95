#include "ctl/metrics.h"

#include <unistd.h>
#include <stdio.h>
#include <string.h>

#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/system.h"
#include "shell/words.h"

static const struct family {
	const char *name, *type, *help;
} families[] = {
	{ "canceld_decisions_total", "counter", "Decisions by their word in the log." },
	{ "canceld_requests_total", "counter", "Requests by the side that sent them." },
	{ "canceld_requests_ended_total", "counter", "Requests of the client by how they ended." },
	{ "canceld_server_restarts_total", "counter", "Starts of a new server inside a session." },
	{ "canceld_request_duration_seconds", "summary", "Time from a request to its end." },
	{ "canceld_request_longest_seconds", "gauge", "The longest time from a request to its end." },
	{ "canceld_instances", "gauge", "How many canceld run." },
	{ "canceld_requests_in_flight", "gauge", "Requests not answered yet, by the side that sent them." },
	{ "canceld_queued_bytes", "gauge", "Bytes read from a side and not yet written to the other." },
};

enum { FAMILIES = sizeof(families) / sizeof(families[0]), LONGEST = 5, LABELS = 3 };

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

/* The value, if it is seen already, or there is room for it. */
static struct span
admit(json_t *seen, size_t most, struct span value)
{
	if (json_object_getn(seen, value.ptr, value.len) != NULL)
		return value;
	if (json_object_size(seen) >= most || json_object_setn_new(seen, value.ptr, value.len, json_true()) < 0)
		return SPAN("other");
	return value;
}

/* The number of the family of `NAME{...}`, where a summary has NAME_sum and NAME_count. */
static int
family_of(const char *sample)
{
	int family = 0;

	while (family < FAMILIES - 1) {
		size_t len = strlen(families[family].name);

		if (strncmp(sample, families[family].name, len) == 0 &&
		    (sample[len] == '{' || (sample[len] == '_' && strcmp(families[family].type, "summary") == 0)))
			break;
		family++;
	}
	return family;
}

/* Several canceld with the same labels have one sample. */
static void
add(json_t *samples, const char *sample, double value)
{
	double before = json_number_value(json_object_get(samples, sample));

	if (family_of(sample) != LONGEST)
		value += before;
	json_object_set_new(samples, sample, json_real(value > before ? value : before));
}

struct label {
	const char *key; /* NULL: none */
	struct span value;
};

/* Bytes that are not safe for a terminal are escaped twice: in the value, and as the format wants it. */
static void
add_sample(json_t *samples, const char *name, const struct label labels[LABELS], double value)
{
	struct buf sample, safe;

	buf_init(&sample);
	buf_init(&safe);
	compose(&sample, "%s", name);
	for (int i = 0; i < LABELS && labels[i].key != NULL; i++) {
		struct span text = labels[i].value;

		buf_clear(&safe);
		printable_append(&safe,
		    span_part(text, 0, text.len < EXPOSITION_VALUE_MAX ? text.len : EXPOSITION_VALUE_MAX), "");
		compose(&sample, i == 0 ? "{%s='" : ",%s='", labels[i].key);
		printable_append(&sample, buf_span(&safe), "\"\\");
		compose(&sample, "'");
	}
	buf_append(&sample, (struct span){ "}", 2 });
	add(samples, buf_span(&sample).ptr, value);
	buf_free(&sample);
	buf_free(&safe);
}

static void
add_times(struct exposition *exposition, json_t *samples, struct span server, const json_t *entry)
{
	static const struct {
		const char *name, *key;
		double unit;
	} values[] = { { "canceld_request_duration_seconds_sum", "sum_ms", 1000 },
		{ "canceld_request_duration_seconds_count", "count", 1 },
		{ "canceld_request_longest_seconds", "longest_ms", 1000 } };
	struct span method = show_string(entry, "method"), name = show_string(entry, "name");
	struct buf pair;

	buf_init(&pair);
	compose(&pair, "%b:%b", method, name);
	if (!span_equal(admit(exposition->pairs, EXPOSITION_PAIRS, buf_span(&pair)), buf_span(&pair)))
		method = name = SPAN("other");
	buf_free(&pair);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		add_sample(samples, values[i].name,
		    (struct label[LABELS]){ { "server", server }, { "method", method }, { "name", name } },
		    (double)show_number(entry, values[i].key) / values[i].unit);
}

static json_t *
samples_of(struct exposition *exposition, const json_t *stats)
{
	static const struct {
		const char *name, *label, *member;
	} counts[] = { { "canceld_decisions_total", "why", "why" }, { "canceld_requests_total", "from", "requests" },
		{ "canceld_requests_ended_total", "end", "tallies" },
		{ "canceld_requests_in_flight", "from", "in_flight" },
		{ "canceld_queued_bytes", "from", "queued_bytes" } };
	struct span server = admit(exposition->servers, EXPOSITION_SERVERS, show_string(stats, "name"));
	json_t *samples = json_object(), *value;
	const char *key;
	size_t i;

	add_sample(samples, "canceld_instances", (struct label[LABELS]){ { "server", server } }, 1);
	add_sample(samples, "canceld_server_restarts_total", (struct label[LABELS]){ { "server", server } },
	    (double)show_number(stats, "restarts"));
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_object_foreach(json_object_get(stats, counts[i].member), key, value)
		    add_sample(samples, counts[i].name,
			(struct label[LABELS]){ { "server", server },
			    { counts[i].label, admit(exposition->words, EXPOSITION_WORDS, span_of(key)) } },
			json_number_value(value));
	json_array_foreach(json_object_get(stats, "latency"), i, value) add_times(exposition, samples, server, value);
	return samples;
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

/* Adds what has ended, which has no gauges any more, or all, to the sums. */
static void
add_all(json_t *sums, json_t *samples, bool gauges)
{
	const char *key;
	json_t *value;

	json_object_foreach(samples, key, value)
	{
		if (gauges || strcmp(families[family_of(key)].type, "gauge") != 0)
			add(sums, key, json_number_value(value));
	}
}

static void
write_family(int family, json_t *sums, struct buf *text)
{
	char line[512];
	bool begun = false;
	const char *key;
	json_t *value;

	json_object_foreach(sums, key, value)
	{
		if (family_of(key) != family)
			continue;
		snprintf(line, sizeof(line), "# HELP %s %s\n# TYPE %s %s\n", families[family].name,
		    families[family].help, families[family].name, families[family].type);
		buf_append(text, begun ? SPAN("") : span_of(line));
		begun = true;
		buf_append(text, span_of(key));
		snprintf(line, sizeof(line), " %.15g\n", json_number_value(value));
		buf_append(text, span_of(line));
	}
}

void
exposition_write(struct exposition *exposition, struct buf *text)
{
	json_t *sums, *samples;
	const char *key;

	json_object_foreach(exposition->current, key, samples)
	{
		if (json_object_get(exposition->next, key) == NULL)
			add_all(exposition->ended, samples, false);
	}
	json_decref(exposition->current);
	exposition->current = exposition->next;
	exposition->next = NULL;
	sums = json_deep_copy(exposition->ended);
	json_object_foreach(exposition->current, key, samples) add_all(sums, samples, true);
	for (int family = 0; family < FAMILIES; family++)
		write_family(family, sums, text);
	json_decref(sums);
}

static const char usage[] =
    "usage: cancelctl metrics [-l [ADDRESS:]PORT]\n\n"
    "Prints the counters of every canceld of this user in the text format of Prometheus.\n\n"
    "  -l, --listen [ADDRESS:]PORT   serve them at http://ADDRESS:PORT/metrics; ADDRESS: 127.0.0.1\n";

/* All are asked before the first answer is awaited. tells: one that does not answer is told on standard error. */
static void
look(struct exposition *exposition, bool tells, struct buf *text)
{
	struct targets targets;
	msec_t end;

	targets_find(&targets, false, TARGETS_LOOK);
	end = monotonic_now() + TARGETS_LOOK;
	for (size_t i = 0; i < targets.count; i++) {
		struct target *target = targets.list[i];

		if (target->about == NULL && tells)
			target_tell_silent(target);
		if (target->about != NULL && connection_ask(&target->connection, "stats", json_object(), end) < 0)
			connection_close(&target->connection);
	}
	exposition_begin(exposition);
	for (size_t i = 0; i < targets.count; i++) {
		struct target *target = targets.list[i];
		bool asked = target->about != NULL && target->connection.fd >= 0;
		json_t *answer = asked ? connection_answer(&target->connection, end) : NULL;

		exposition_add(exposition, target->path, json_object_get(answer, "result"));
		json_decref(answer);
	}
	exposition_write(exposition, text);
	targets_free(&targets);
}

/* For serve_metrics: standard error may have no reader any more. */
static void
answer_visitor(void *user, struct buf *body)
{
	look(user, false, body);
}

int
ctl_metrics(int argc, char *argv[])
{
	struct exposition exposition;
	const char *where = NULL;
	struct buf text;
	int status =
	    ctl_options(argc, argv, (struct ctl_option[]){ { "listen", 'l', NULL, &where }, { 0 } }, false, usage);

	if (status >= 0)
		return status;
	if (optind < argc)
		return ctl_usage("metrics takes no argument; see cancelctl metrics --help");
	status = CTL_YES;
	exposition_init(&exposition);
	if (where != NULL) {
		status = serve_metrics(where, answer_visitor, &exposition);
	} else {
		buf_init(&text);
		look(&exposition, true, &text);
		show_bytes(buf_span(&text));
		buf_free(&text);
	}
	exposition_free(&exposition);
	return status;
}
