#include "shell/views.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shell/command.h"
#include "shell/printable.h"
#include "shell/proc.h"

static json_t *
shown(struct span text)
{
	bool cut = text.len > VIEWS_NAME;

	return printable_json(cut ? span_part(text, 0, VIEWS_NAME) : text, cut);
}

static json_t *
number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *
time_or_null(msec_t time)
{
	return time == MSEC_NEVER ? json_null() : json_integer(time);
}

json_t *
views_name(const struct request_view *view)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", printable_json(view->id, false));
	json_object_set_new(object, "from", json_string(side_name(view->from)));
	json_object_set_new(object, "method", shown(view->method));
	json_object_set_new(object, "name", shown(view->name));
	json_object_set_new(object, "age_ms", json_integer(view->age));
	return object;
}

/* The first of these members that is there becomes `key` of the view. */
static void
take(json_t *view, const char *key, const json_t *said, const char *const names[])
{
	json_t *value = NULL;

	while (value == NULL && *names != NULL)
		value = json_object_get(said, *names++);
	json_object_set(view, key, value);
}

/*
 * MCP: progress, total and message are members of params; LSP: message and percentage, of params.value; ACP: the title of a
 * tool call, and the kind of each update, of params.update.
 */
static json_t *
progress_of(struct span notification)
{
	json_t *message =
	    notification.len == 0 ? NULL : json_loadb(notification.ptr, notification.len, JSON_ALLOW_NUL, NULL);
	json_t *params = json_object_get(message, "params"), *value = json_object_get(params, "value");
	json_t *update = json_object_get(params, "update"), *object = json_object();
	const json_t *said = json_is_object(value) ? value : json_is_object(update) ? update : params;

	take(object, "progress", said, (const char *const[]){ "progress", "percentage", NULL });
	take(object, "total", said, (const char *const[]){ "total", NULL });
	take(object, "message", said, (const char *const[]){ "message", "title", "sessionUpdate", NULL });
	json_decref(message);
	if (json_object_size(object) > 0)
		return object;
	json_decref(object);
	return json_null();
}

static json_t *
view_request(const struct request_view *view)
{
	static const char *const states[REQUEST_STATES] = {
		[REQUEST_QUEUED] = "queued",
		[REQUEST_WAITING] = "waiting",
		[REQUEST_CANCELLING] = "cancelling",
		[REQUEST_PASSING] = "passing",
	};
	json_t *object = views_name(view);

	json_object_set_new(object, "idle_ms", json_integer(view->silent));
	json_object_set_new(object, "timeout_left_ms", time_or_null(view->idle_left));
	json_object_set_new(object, "max_time_left_ms", time_or_null(view->cap_left));
	json_object_set_new(object, "state", json_string(states[view->state]));
	json_object_set_new(object, "exempt", json_boolean(view->exempt));
	json_object_set_new(object, "progress", progress_of(view->progress));
	return object;
}

/* The oldest requests of both sides, until they need too many bytes; *more: how many are left out. */
static json_t *
view_requests(const struct session *session, size_t *more)
{
	json_t *array = json_array();
	size_t bytes = 0;

	*more = 0;
	for (enum side from = SIDE_CLIENT; from <= SIDE_SERVER; from++) {
		size_t left = session_outstanding(session, from);
		struct request_view view = { 0 };

		while (bytes < VIEWS_BYTES && session_next_request(session, from, view.request, &view)) {
			json_t *object = view_request(&view);

			bytes += json_dumpb(object, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII);
			json_array_append_new(array, object);
			left--;
		}
		*more += left;
	}
	return array;
}

/* The client's process, from the descriptor that watches it: null if it is not known. */
static json_t *
view_client(const struct views *views)
{
	pid_t pid = client_process(views->client);
	char path[64], name[64] = "";
	json_t *object;

	if (pid <= 0)
		return json_null();
	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	proc_read(path, name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	object = json_object();
	json_object_set_new(object, "pid", json_integer(pid));
	json_object_set_new(object, "name", printable_json(span_of(name), false));
	return object;
}

static json_t *
view_server(const struct views *views)
{
	static const char *const lives[] = {
		[SERVER_OPEN] = "running",
		[SERVER_STUCK] = "stuck",
		[SERVER_DEAF] = "deaf",
		[SERVER_RETIRED] = "deaf",
		[SERVER_AWAY] = "restarting",
		[SERVER_HANDSHAKE] = "restarting",
		[SERVER_SETTINGS] = "restarting",
		[SERVER_GONE] = "gone",
	};
	json_t *object = json_object();
	pid_t pid = views->life->child.pid;

	json_object_set_new(object, "pid", pid > 0 ? json_integer(pid) : json_null());
	json_object_set_new(object, "state", json_string(lives[session_server(views->session)]));
	return object;
}

static json_t *
view_command(char *const command[])
{
	json_t *array = json_array();
	struct buf word;

	buf_init(&word);
	for (size_t i = 0; command != NULL && command[i] != NULL; i++) {
		buf_clear(&word);
		command_append_word(&word, command, i);
		json_array_append_new(array, shown(buf_span(&word)));
	}
	buf_free(&word);
	return array;
}

static json_t *
view_identity(const struct views *views)
{
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_integer(getpid()));
	json_object_set_new(object, "name", printable_json(span_of(views->options->name), false));
	return object;
}

json_t *
views_list(const struct views *views, bool requests)
{
	const struct session *session = views->session;
	size_t in_flight = session_outstanding(session, SIDE_CLIENT) + session_outstanding(session, SIDE_SERVER), more;
	json_t *object = view_identity(views);

	json_object_set_new(object, "version", json_string(CANCELD_VERSION));
	json_object_set_new(object, "command", view_command(views->options->command));
	json_object_set_new(object, "dialect", json_string(session_dialect(session)));
	json_object_set_new(object, "era", json_string(session_era(session)));
	json_object_set_new(object, "client", view_client(views));
	json_object_set_new(object, "started", json_integer(views->started));
	json_object_set_new(object, "age_ms", json_integer(views->now - views->started_at));
	json_object_set_new(object, "server", view_server(views));
	json_object_set_new(object, "in_flight", number(in_flight));
	json_object_set_new(object, "oldest_ms", time_or_null(session_oldest(session)));
	json_object_set_new(object, "timeouts", number(session_journal(session)->counts[WHY_TIMED_OUT]));
	json_object_set_new(object, "dry_run", json_boolean(views->options->session.dry_run));
	json_object_set_new(object, "restarts", number(session_journal(session)->counts[WHY_RESTARTED]));
	if (!requests)
		return object;
	json_object_set_new(object, "requests", view_requests(session, &more));
	if (more > 0)
		json_object_set_new(object, "more", number(more));
	return object;
}

static json_t *
pair(uint64_t client, uint64_t server)
{
	json_t *object = json_object();

	json_object_set_new(object, "client", number(client));
	json_object_set_new(object, "server", number(server));
	return object;
}

/* Cumulative, as Prometheus wants them; the last bucket has no bound. */
static json_t *
view_buckets(const struct latency_entry *entry)
{
	json_t *array = json_array();
	uint64_t sum = 0;

	for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
		json_t *bucket = json_array();

		sum += entry->buckets[i];
		json_array_append_new(bucket, i < LATENCY_BUCKETS - 1 ? json_integer(latency_bounds[i]) : json_null());
		json_array_append_new(bucket, number(sum));
		json_array_append_new(array, bucket);
	}
	return array;
}

static json_t *
view_latency(const struct latency *latency)
{
	const struct latency_entry *entry;
	json_t *array = json_array();

	for (size_t i = 0; (entry = latency_at(latency, i)) != NULL; i++) {
		struct span names = { entry->names, entry->method_len + entry->name_len };
		json_t *object = json_object();

		json_object_set_new(object, "method",
		    entry->names == NULL ? json_string("other") :
					   printable_json(span_part(names, 0, entry->method_len), false));
		json_object_set_new(object, "name",
		    printable_json(span_part(names, entry->method_len, entry->name_len), false));
		json_object_set_new(object, "count", number(entry->count));
		json_object_set_new(object, "sum_ms", number(entry->sum));
		json_object_set_new(object, "buckets", view_buckets(entry));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *
view_tallies(const struct journal *journal)
{
	json_t *object = json_object();

	for (enum tally tally = TALLY_ANSWERED; tally < TALLIES; tally++)
		json_object_set_new(object, tally_word(tally), number(journal->tallies[tally]));
	return object;
}

json_t *
views_stats(const struct views *views)
{
	const struct feed *feed = views->client->port->feed;
	struct session *session = views->session;
	const struct journal *journal = session_journal(session);
	json_t *object = view_identity(views), *words = json_object();

	for (enum why why = (enum why)0; why < WHY_COUNT; why++)
		if (journal->counts[why] > 0)
			json_object_set_new(words, why_word(why), number(journal->counts[why]));
	json_object_set_new(object, "uptime_ms", json_integer(views->now - views->started_at));
	json_object_set_new(object, "why", words);
	json_object_set_new(object, "requests", pair(journal->requests[SIDE_CLIENT], journal->requests[SIDE_SERVER]));
	json_object_set_new(object, "tallies", view_tallies(journal));
	json_object_set_new(object, "in_flight",
	    pair(session_outstanding(session, SIDE_CLIENT), session_outstanding(session, SIDE_SERVER)));
	json_object_set_new(object, "queued_bytes",
	    pair(lane_size(feed_wire(feed, SIDE_SERVER)), lane_size(feed_wire(feed, SIDE_CLIENT))));
	json_object_set_new(object, "restarts", number(journal->counts[WHY_RESTARTED]));
	json_object_set_new(object, "latency", view_latency(session_latency(session)));
	return object;
}
