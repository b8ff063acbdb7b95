#include "shell/control.h"

#include <unistd.h>

#include "shell/words.h"

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
	return json_pack("{s:o,s:s,s:o,s:o,s:I}", "id", printable_json(view->id, false), "from", side_name(view->from),
	    "method", shown(view->method), "name", shown(view->name), "age_ms", (json_int_t)view->age);
}

/* The latest progress of a request, as its protocol spells it; null if it says nothing. */
static json_t *
progress_of(struct span notification, const struct progress_form *form)
{
	json_t *message =
	    notification.len == 0 ? NULL : json_loadb(notification.ptr, notification.len, JSON_ALLOW_NUL, NULL);
	const json_t *params = json_object_get(message, "params");
	const json_t *said = form->in != NULL ? json_object_get(params, form->in) : params;
	json_t *object = json_object(), *text = json_object_get(said, form->said[0]);

	if (text == NULL)
		text = json_object_get(said, form->said[1]);
	json_object_set(object, "progress", json_object_get(said, form->done));
	json_object_set(object, "total", json_object_get(said, form->total));
	json_object_set(object, "message", text);
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
	};
	json_t *object = views_name(view);

	json_object_set_new(object, "idle_ms", json_integer(view->silent));
	json_object_set_new(object, "timeout_left_ms", time_or_null(view->idle_left));
	json_object_set_new(object, "max_time_left_ms", time_or_null(view->cap_left));
	json_object_set_new(object, "state", json_string(states[view->state]));
	json_object_set_new(object, "exempt", json_boolean(view->exempt));
	json_object_set_new(object, "progress", progress_of(view->progress, view->form));
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

/* The client's process; null if it is not known. */
static json_t *
view_client(const struct control *control)
{
	pid_t pid = client_process(control->client);
	char name[PROC_NAME];

	if (pid <= 0)
		return json_null();
	proc_name(pid, name);
	return json_pack("{s:i,s:o}", "pid", (int)pid, "name", printable_json(span_of(name), false));
}

static json_t *
view_server(const struct control *control)
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
	pid_t pid = control->life->child.pid;

	return json_pack("{s:o,s:s}", "pid", pid > 0 ? json_integer(pid) : json_null(), "state",
	    lives[session_server(control->session)]);
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
view_identity(const struct control *control)
{
	return json_pack("{s:i,s:o}", "pid", (int)getpid(), "name",
	    printable_json(span_of(control->options->name), false));
}

json_t *
views_list(const struct control *control, bool requests)
{
	const struct session *session = control->session;
	size_t in_flight = session_outstanding(session, SIDE_CLIENT) + session_outstanding(session, SIDE_SERVER), more;
	json_t *object = view_identity(control);

	json_object_set_new(object, "version", json_string(CANCELD_VERSION));
	json_object_set_new(object, "command", view_command(control->options->command));
	json_object_set_new(object, "dialect", json_string(session_dialect(session)));
	json_object_set_new(object, "era", json_string(session_era(session)));
	json_object_set_new(object, "client", view_client(control));
	json_object_set_new(object, "started", json_integer(control->started));
	json_object_set_new(object, "age_ms", json_integer(control->now - control->started_at));
	json_object_set_new(object, "server", view_server(control));
	json_object_set_new(object, "in_flight", number(in_flight));
	json_object_set_new(object, "oldest_ms", time_or_null(session_oldest(session)));
	json_object_set_new(object, "timeouts", number(session_journal(session)->counts[WHY_TIMED_OUT]));
	json_object_set_new(object, "dry_run", json_boolean(control->options->session.dry_run));
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
	return json_pack("{s:o,s:o}", "client", number(client), "server", number(server));
}

static json_t *
view_latency(const struct latency *latency)
{
	const struct latency_entry *entry;
	json_t *array = json_array();

	for (size_t i = 0; (entry = latency_at(latency, i)) != NULL; i++) {
		struct span names = { entry->names, entry->method_len + entry->name_len };
		struct span method = entry->names == NULL ? SPAN("other") : span_part(names, 0, entry->method_len);
		struct span name = span_part(names, entry->method_len, entry->name_len);

		json_array_append_new(array,
		    json_pack("{s:o,s:o,s:o,s:o,s:I}", "method", printable_json(method, false), "name",
			printable_json(name, false), "count", number(entry->count), "sum_ms", number(entry->sum),
			"longest_ms", (json_int_t)entry->longest));
	}
	return array;
}

json_t *
views_stats(const struct control *control)
{
	const struct session *session = control->session;
	const struct journal *journal = session_journal(session);
	json_t *object = view_identity(control), *words = json_object(), *tallies = json_object();

	for (enum why why = (enum why)0; why < WHY_COUNT; why++)
		if (journal->counts[why] > 0)
			json_object_set_new(words, why_word(why), number(journal->counts[why]));
	for (enum tally tally = TALLY_ANSWERED; tally < TALLIES; tally++)
		json_object_set_new(tallies, tally_word(tally), number(journal->tallies[tally]));
	json_object_set_new(object, "uptime_ms", json_integer(control->now - control->started_at));
	json_object_set_new(object, "why", words);
	json_object_set_new(object, "requests", pair(journal->requests[SIDE_CLIENT], journal->requests[SIDE_SERVER]));
	json_object_set_new(object, "tallies", tallies);
	json_object_set_new(object, "in_flight",
	    pair(session_outstanding(session, SIDE_CLIENT), session_outstanding(session, SIDE_SERVER)));
	json_object_set_new(object, "queued_bytes",
	    pair(port_size(control->life->port), port_size(control->client->port)));
	json_object_set_new(object, "restarts", number(journal->counts[WHY_RESTARTED]));
	json_object_set_new(object, "latency", view_latency(session_latency(session)));
	return object;
}
