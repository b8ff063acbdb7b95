#include "ctl/commands.h"

#include <unistd.h>
#include <stdio.h>
#include <string.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/words.h"

/* THE TABLE of the families: what of an answer to `stats` they show. */
static const struct family {
	const char *name, *suffix; /* of the samples */
	const char *type, *help;
	const char *member; /* a number, or an object with one for each value of the label; is none there: 1 */
	const char *label;  /* beside the server's name; NULL: none */
	int unit;           /* not 0: member is one of each entry of `latency`, and the name a label too */
} families[] = {
	{ "canceld_decisions_total", "", "counter", "Decisions by their word in the log.", "why", "why", 0 },
	{ "canceld_requests_total", "", "counter", "Requests by the side that sent them.", "requests", "from", 0 },
	{ "canceld_requests_ended_total", "", "counter", "Requests of the client by how they ended.", "tallies", "end",
	    0 },
	{ "canceld_server_restarts_total", "", "counter", "Starts of a new server inside a session.", "restarts", NULL,
	    0 },
	{ "canceld_request_duration_seconds", "_sum", "summary", "Time from a request to its end.", "sum_ms", "method",
	    1000 },
	{ "canceld_request_duration_seconds", "_count", "summary", "", "count", "method", 1 },
	{ "canceld_request_longest_seconds", "", "gauge", "The longest time from a request to its end.", "longest_ms",
	    "method", 1000 },
	{ "canceld_instances", "", "gauge", "How many canceld run.", "", NULL, 0 },
	{ "canceld_requests_in_flight", "", "gauge", "Requests not answered yet, by the side that sent them.",
	    "in_flight", "from", 0 },
	{ "canceld_queued_bytes", "", "gauge", "Bytes read from a side and not yet written to the other.",
	    "queued_bytes", "from", 0 },
};

enum { FAMILIES = sizeof(families) / sizeof(families[0]), LABELS = 3 };

/* For each family an object: its samples by the text of their labels. */
static json_t *
new_samples(void)
{
	json_t *samples = json_array();

	for (int i = 0; i < FAMILIES; i++)
		json_array_append_new(samples, json_object());
	return samples;
}

void
exposition_init(struct exposition *exposition)
{
	*exposition = (struct exposition){ new_samples(), json_object(), json_object(), json_object() };
}

void
exposition_free(struct exposition *exposition)
{
	json_decref(exposition->ended);
	json_decref(exposition->current);
	json_decref(exposition->servers);
	json_decref(exposition->pairs);
}

/* Whether the value is seen already, or there is room for it. */
static bool
is_admitted(json_t *seen, size_t most, struct span value)
{
	if (json_object_getn(seen, value.ptr, value.len) != NULL)
		return true;
	return json_object_size(seen) < most && json_object_setn_new(seen, value.ptr, value.len, json_true()) == 0;
}

static bool
is_gauge(int family)
{
	return strcmp(families[family].type, "gauge") == 0;
}

/* Several canceld with the same labels have one sample: the sum, or the longest time. */
static void
add(json_t *samples, int family, const char *labels, double value)
{
	json_t *of_family = json_array_get(samples, (size_t)family);
	double before = json_number_value(json_object_get(of_family, labels));

	if (!is_gauge(family) || families[family].unit == 0)
		value += before;
	json_object_set_new(of_family, labels, json_real(value > before ? value : before));
}

/* Bytes that are not safe for a terminal are escaped twice: in the value, and as the format wants it. */
static void
add_sample(json_t *samples, int family, const struct span values[LABELS], double value)
{
	const char *keys[LABELS] = { "server", families[family].label, families[family].unit != 0 ? "name" : NULL };
	struct buf text, safe;

	buf_init(&text);
	buf_init(&safe);
	for (int i = 0; i < LABELS && keys[i] != NULL; i++) {
		size_t len = values[i].len < EXPOSITION_VALUE_MAX ? values[i].len : EXPOSITION_VALUE_MAX;

		buf_clear(&safe);
		printable_append(&safe, span_part(values[i], 0, len), "");
		compose(&text, i == 0 ? "{%s='" : ",%s='", keys[i]);
		printable_append(&text, buf_span(&safe), "\"\\");
		compose(&text, "'");
	}
	buf_append(&text, (struct span){ "}", 2 });
	add(samples, family, buf_span(&text).ptr, value);
	buf_free(&text);
	buf_free(&safe);
}

/* The method and name of an entry of `latency`, if there is room for them. */
static void
read_pair(struct exposition *exposition, const json_t *entry, struct span pair[2])
{
	struct buf key;

	buf_init(&key);
	pair[0] = show_string(entry, "method");
	pair[1] = show_string(entry, "name");
	compose(&key, "%b:%b", pair[0], pair[1]);
	if (!is_admitted(exposition->pairs, EXPOSITION_PAIRS, buf_span(&key)))
		pair[0] = pair[1] = SPAN("other");
	buf_free(&key);
}

static json_t *
samples_of(struct exposition *exposition, const json_t *stats)
{
	struct span values[LABELS] = { show_string(stats, "name") };
	json_t *samples = new_samples(), *value;
	const char *key;
	size_t i;

	if (!is_admitted(exposition->servers, EXPOSITION_SERVERS, values[0]))
		values[0] = SPAN("other");
	for (int number = 0; number < FAMILIES; number++) {
		const struct family *family = &families[number];
		json_t *counted = json_object_get(stats, family->member);

		if (family->label == NULL)
			add_sample(samples, number, values, counted != NULL ? json_number_value(counted) : 1);
		json_object_foreach(counted, key, value)
		{
			values[1] = span_of(key);
			add_sample(samples, number, values, json_number_value(value));
		}
		json_array_foreach(family->unit != 0 ? json_object_get(stats, "latency") : NULL, i, value)
		{
			read_pair(exposition, value, values + 1);
			add_sample(samples, number, values,
			    json_number_value(json_object_get(value, family->member)) / family->unit);
		}
	}
	return samples;
}

/* Adds what has ended, which has no gauges any more, or all, to the sums. */
static void
add_all(json_t *sums, json_t *samples, bool gauges)
{
	const char *key;
	json_t *value;

	for (int family = 0; family < FAMILIES; family++)
		if (gauges || !is_gauge(family))
			json_object_foreach(json_array_get(samples, (size_t)family), key, value)
			    add(sums, family, key, json_number_value(value));
}

static void
write_family(const struct family *family, json_t *samples, struct buf *text)
{
	char number[64];
	const char *key;
	json_t *value;

	if (json_object_size(samples) > 0 && family->help[0] != '\0')
		compose(text, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name, family->type);
	json_object_foreach(samples, key, value)
	{
		snprintf(number, sizeof(number), "%.15g", json_number_value(value));
		compose(text, "%s%s%s %s\n", family->name, family->suffix, key, number);
	}
}

void
exposition_write(struct exposition *exposition, json_t *stats, struct buf *text)
{
	json_t *former = exposition->current, *sums, *value;
	const char *key;

	exposition->current = json_object();
	json_object_foreach(stats, key, value)
	{
		if (json_is_object(value))
			json_object_set_new(exposition->current, key, samples_of(exposition, value));
		else
			json_object_set(exposition->current, key, json_object_get(former, key));
	}
	json_object_foreach(former, key, value)
	{
		if (json_object_get(exposition->current, key) == NULL)
			add_all(exposition->ended, value, false);
	}
	json_decref(former);
	sums = json_deep_copy(exposition->ended);
	json_object_foreach(exposition->current, key, value) add_all(sums, value, true);
	for (int family = 0; family < FAMILIES; family++)
		write_family(&families[family], json_array_get(sums, (size_t)family), text);
	json_decref(sums);
}

static const char usage[] =
    "usage: cancelctl metrics [-l [ADDRESS:]PORT]\n\n"
    "Prints the counters of every canceld of this user in the text format of Prometheus.\n\n"
    "  -l, --listen [ADDRESS:]PORT   serve them at http://ADDRESS:PORT/metrics; ADDRESS: 127.0.0.1\n";

struct view {
	struct exposition exposition;
	bool serves;
};

/* While it serves, standard error may have no reader any more: one that does not answer is not told there. */
static void
look(void *user, struct buf *text)
{
	struct targets targets = { .method = "stats" };
	struct view *view = user;
	json_t *stats = json_object();

	targets_find(&targets, TARGETS_LOOK);
	for (size_t i = 0; i < targets.count; i++) {
		const struct target *target = &targets.list[i];

		json_object_set_new(stats, target->path,
		    target->about != NULL ? json_incref(target->about) : json_null());
		if (target->about == NULL && !view->serves)
			target_tell(target);
	}
	exposition_write(&view->exposition, stats, text);
	json_decref(stats);
	targets_free(&targets);
}

int
ctl_metrics(int argc, char *argv[])
{
	const char *where = NULL;
	struct view view;
	struct buf text;
	int status =
	    ctl_options(argc, argv, (struct ctl_option[]){ { "listen", 'l', NULL, &where }, { 0 } }, false, usage);

	if (status >= 0)
		return status;
	if (optind < argc)
		return ctl_usage("metrics takes no argument; see cancelctl metrics --help");
	view.serves = where != NULL;
	exposition_init(&view.exposition);
	if (where != NULL)
		return serve_metrics(where, look, &view);
	buf_init(&text);
	look(&view, &text);
	show_buf(&text);
	exposition_free(&view.exposition);
	return CTL_YES;
}
