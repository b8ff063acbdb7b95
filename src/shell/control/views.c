#include "shell/control.h"

#include "core/compose.h"

static json_t *
shown(struct span text)
{
	BUF_AUTO head = { 0 };

	compose_text(&head, text.len > VIEWS_NAME ? "%b..." : "%b", span_head(text, VIEWS_NAME));
	return printable_json(buf_span(&head));
}

static json_t *
time_or_null(msec_t time)
{
	return time == MSEC_NEVER ? json_null() : json_integer(time);
}

json_t *
views_name(const struct request_view *view)
{
	const struct request *request = view->request;

	return json_pack("{s:o,s:I,s:s,s:o,s:o,s:I}", "id", printable_json(request->id.text),
	    "serial", (json_int_t)request->serial, "from", side_name(request->from), "method",
	    shown(request->method), "name", shown(request->shown), "age_ms", (json_int_t)view->age);
}

static json_t *
object_or_null(json_t *object)
{
	if (json_object_size(object) > 0)
		return object;
	json_decref(object);
	return NULL;
}

/* The latest progress of a request, as its protocol spells it; null if it says nothing. */
static json_t *
progress_of(struct span notification, const struct progress_form *form)
{
	json_auto_t *message = json_loadb(notification.ptr, notification.len, JSON_ALLOW_NUL, NULL);
	const json_t *params = json_object_get(message, "params");
	const json_t *said = form->in != NULL ? json_object_get(params, form->in) : params;
	json_t *text = json_object_get(said, form->said[0]);

	return object_or_null(json_pack("{s:O*,s:O*,s:O*}", "progress",
	    json_object_get(said, form->done), "total", json_object_get(said, form->total),
	    "message", text != NULL ? text : json_object_get(said, form->said[1])));
}

static json_t *
verdict_or_null(enum session_verdict verdict)
{
	static const char *const words[] = {
		[VERDICT_HELD] = "held",
		[VERDICT_WORKS] = "works",
		[VERDICT_SILENT] = "silent",
		[VERDICT_ASKS] = "asks",
		[VERDICT_STUCK] = "stuck",
	};

	return json_pack("s?", words[verdict]);
}

static json_t *
view_request(const struct request_view *view)
{
	static const char *const states[REQUEST_STATES] = {
		[REQUEST_QUEUED] = "queued",
		[REQUEST_WAITING] = "waiting",
		[REQUEST_CANCELLING] = "cancelling",
	};
	const struct request *request = view->request;
	const struct deadline *idle = &request->deadlines[POLICY_IDLE],
			      *cap = &request->deadlines[POLICY_CAP];
	json_t *object = views_name(view);
	json_auto_t *rest = json_pack("{s:o,s:I,s:o,s:o,s:s,s:o,s:o,s:s,s:s,s:b,s:o?,s:o*}",
	    "verdict", verdict_or_null(view->verdict), "idle_ms", (json_int_t)view->silent,
	    "timeout_ms", time_or_null(idle->after), "timeout_left_ms",
	    time_or_null(view->idle_left), "timeout_from", idle->origin, "max_time_ms",
	    time_or_null(cap->after), "max_time_left_ms", time_or_null(view->cap_left),
	    "max_time_from", cap->origin, "state", states[view->state], "exempt", view->exempt,
	    "progress", progress_of(buf_span(&request->progress), view->form), "alias",
	    request_is_aliased(request) ? printable_json(request->wire_id) : NULL);

	json_object_update(object, rest);
	return object;
}

/*
 * The oldest requests of both sides, until they need too many bytes; *more: how many are left out.
 */
static json_t *
view_requests(const struct session *session, size_t *more)
{
	json_t *array = json_array();
	size_t bytes = 0;

	*more = 0;
	each_side (from) {
		size_t left = session_outstanding(session, from);
		struct request_view view = { 0 };

		while (bytes < VIEWS_BYTES &&
		    session_next_request(session, from, view.request, &view)) {
			json_t *object = view_request(&view);

			bytes += json_dumpb(object, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII);
			json_array_append_new(array, object);
			left--;
		}
		*more += left;
	}
	return array;
}

/* The last requests that have ended, the latest first. */
static json_t *
view_ended(const struct statistics *statistics, msec_t now)
{
	json_t *array = json_array();

	for (size_t i = 1; i <= LIMIT_ENDED && i <= statistics->ended_count; i++) {
		const struct ended *ended =
		    &statistics->ended[(statistics->ended_count - i) % LIMIT_ENDED];
		const struct action *action = &ended->action;

		json_array_append_new(array,
		    json_pack("{s:o,s:I,s:s,s:o,s:o,s:I,s:I,s:s}", "id", printable_json(action->id),
			"serial", (json_int_t)action->serial, "from", side_name(action->side),
			"method", printable_json(action->method), "name",
			printable_json(action->name), "age_ms", (json_int_t)action->elapsed,
			"ended_ms", (json_int_t)(now - ended->at), "state",
			tally_word(action->tally)));
	}
	return array;
}

/* The client's process and its own description, as far as they are known. */
static json_t *
view_client(const struct control *control)
{
	const struct client *client = &control->life->client;
	struct span told = session_view(control->session).client;
	json_auto_t *info = json_loadb(told.ptr, told.len, JSON_ALLOW_NUL, NULL);

	return object_or_null(json_pack("{s:o*,s:o*,s:O*,s:O*}", "pid",
	    client->process > 0 ? json_integer(client->process) : NULL, "name",
	    client->process > 0 ? printable_json(span_of(client->name)) : NULL, "title",
	    json_object_get(info, "name"), "version", json_object_get(info, "version")));
}

static json_t *
view_server(const struct control *control, enum session_verdict verdict)
{
	struct session_view view = session_view(control->session);
	static const char *const lives[] = {
		[SERVER_OPEN] = "running",
		[SERVER_STUCK] = "stuck",
		[SERVER_DEAF] = "deaf",
		[SERVER_RETIRED] = "deaf",
		[SERVER_GONE] = "gone",
	};
	const char *state = lives[view.server->life]; /* NULL: a new server is on its way */
	pid_t pid = control->life->child.pid;

	return json_pack("{s:o?,s:s,s:o,s:o,s:o}", "pid", pid > 0 ? json_integer(pid) : NULL,
	    "state",
	    control->life->resting ? "resting" :
		state == NULL || (view.server->dismissed && view.server->life != SERVER_GONE) ?
				     "restarting" :
				     state,
	    "verdict", verdict_or_null(verdict), "probe_ms", time_or_null(view.probe_took),
	    "unanswered_ms", time_or_null(session_unanswered(control->session)));
}

static json_t *
view_command(char *const command[])
{
	json_t *array = json_array();
	BUF_AUTO word = { 0 };

	for (size_t i = 0; command[i] != NULL; i++) {
		buf_clear(&word);
		command_append_word(&word, command, i);
		json_array_append_new(array, shown(buf_span(&word)));
	}
	return array;
}

json_t *
views_meant(const struct control *control, const struct policy_rule *rule)
{
	BUF_AUTO text = { 0 };

	return policy_meant(&control->options->policy, rule, session_view(control->session).dialect,
		   &text) &&
		text.len > 0 ?
	    printable_json(buf_span(&text)) :
	    NULL;
}

json_t *
views_doubts(const struct control *control)
{
	json_t *doubts = json_array();

	each_rule (rule, &control->options->policy) {
		json_auto_t *meant = views_meant(control, rule);

		if (meant != NULL)
			json_array_append_new(doubts,
			    json_sprintf("%s: was this meant? %s", rule->origin,
				json_string_value(meant)));
	}
	return doubts;
}

json_t *
views_list(const struct control *control, bool requests)
{
	const struct session *session = control->session;
	struct session_view view = session_view(session);
	const uint64_t *counts = view.journal->counts;
	size_t in_flight =
	    session_outstanding(session, SIDE_CLIENT) + session_outstanding(session, SIDE_SERVER);
	enum session_verdict verdict;
	msec_t oldest = session_oldest(session, &verdict);
	size_t more = 0, taken = session_places_taken(session);
	json_t *shown_requests = requests ? view_requests(session, &more) : NULL;
	char path[PATH_MAX]; /* in which the client started canceld */

	return json_pack(
	    "{s:i,s:o,s:s,s:o,s:s,s:s,s:o?,s:o?,s:I,s:I,s:o,s:I,s:I,s:o,s:I,s:b,s:I,s:o,s:O,s:o,s:o*,s:o*,s:o*,s:o*}",
	    "pid", (int)getpid(), "name", printable_json(span_of(control->options->name)),
	    "version", CANCELD_VERSION, "command", view_command(control->options->command),
	    "dialect", view.protocol, "era", view.era, "client", view_client(control), "directory",
	    getcwd(path, sizeof(path)) == NULL ? NULL : printable_json(span_of(path)), "started",
	    (json_int_t)control->started, "age_ms",
	    (json_int_t)(control->now - control->started_at), "server",
	    view_server(control, verdict), "in_flight", (json_int_t)in_flight, "calls",
	    (json_int_t)view.journal->requests[SIDE_CLIENT], "oldest_ms", time_or_null(oldest),
	    "timeouts", (json_int_t)counts[WHY_TIMED_OUT], "dry_run",
	    control->options->session.dry_run, "restarts", (json_int_t)counts[WHY_RESTARTED],
	    "file", printable_json(span_of(control->options->config)), "config",
	    control->options->file.faults, "doubted", views_doubts(control), "requests",
	    shown_requests, "more", more > 0 ? json_integer((json_int_t)more) : NULL,
	    "places_taken", taken > 0 ? json_integer((json_int_t)taken) : NULL, "ended",
	    requests ? view_ended(control->statistics, control->now) : NULL);
}

static json_t *
pair(uint64_t client, uint64_t server)
{
	return json_pack("{s:I,s:I}", "client", (json_int_t)client, "server", (json_int_t)server);
}

static json_t *
view_tallies(const uint64_t tallies[TALLIES])
{
	json_t *object = json_object();

	for (enum tally tally = TALLY_ANSWERED; tally < TALLIES; tally++)
		json_object_set_new(object, tally_word(tally),
		    json_integer((json_int_t)tallies[tally]));
	return object;
}

/* For each bound of the histogram in seconds: how many requests took at most so long. */
static json_t *
view_times(const struct method_totals *totals)
{
	json_t *object = json_object();
	uint64_t count = 0;
	char bound[32];

	for (size_t i = 0; i < STATISTICS_TIMES; i++) {
		print_into(bound, "%g", (double)statistics_times[i] / 1000);
		count += totals->times[i];
		json_object_set_new(object, i < STATISTICS_TIMES - 1 ? bound : "+Inf",
		    json_integer((json_int_t)count));
	}
	return object;
}

static json_t *
view_methods(const struct statistics *statistics)
{
	json_t *array = json_array();

	for (size_t i = 0; i < statistics->method_count; i++) {
		const struct method_totals *totals = &statistics->methods[i];

		json_array_append_new(array,
		    json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:o}", "method",
			printable_json(totals->method), "name", printable_json(totals->name),
			"tallies", view_tallies(totals->tallies), "count",
			(json_int_t)totals->count, "sum_ms", (json_int_t)totals->sum, "longest_ms",
			(json_int_t)totals->longest, "within_s", view_times(totals)));
	}
	return array;
}

json_t *
views_stats(const struct control *control)
{
	const struct session *session = control->session;
	struct session_view view = session_view(session);
	const struct journal *journal = view.journal;
	json_t *words = json_object();
	enum session_verdict verdict;

	for (enum why why = (enum why)0; why < WHY_COUNT; why++)
		if (journal->counts[why] > 0)
			json_object_set_new(words, why_word(why),
			    json_integer((json_int_t)journal->counts[why]));
	return json_pack("{s:i,s:o,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o}", "pid", (int)getpid(),
	    "name", printable_json(span_of(control->options->name)), "dialect", view.protocol,
	    "uptime_ms", (json_int_t)(control->now - control->started_at), "why", words, "requests",
	    pair(journal->requests[SIDE_CLIENT], journal->requests[SIDE_SERVER]), "tallies",
	    view_tallies(journal->tallies), "in_flight",
	    pair(session_outstanding(session, SIDE_CLIENT),
		session_outstanding(session, SIDE_SERVER)),
	    "oldest_ms", time_or_null(session_oldest(session, &verdict)), "queued_bytes",
	    pair(port_size(control->life->port), port_size(control->life->client.port)), "restarts",
	    (json_int_t)journal->counts[WHY_RESTARTED], "methods",
	    view_methods(control->statistics));
}

json_t *
views_rules(const struct policy *policy)
{
	json_t *array = json_array();
	json_int_t more = 0;

	for (int source = POLICY_SET; source >= POLICY_FILE; source--)
		for (size_t i = policy->count; i-- > 0;) {
			const struct policy_rule *rule = &policy->rules[i];
			char storage[NAME_SHOWN];

			if ((int)rule->source != source || !(POLICY_DEADLINES & 1 << rule->kind) ||
			    (more += json_array_size(array) == VIEWS_RULES) > 0)
				continue;
			json_array_append_new(array,
			    json_pack("{s:s,s:o,s:o,s:o,s:s}", "option",
				rule->kind == POLICY_CAP ? "max-time" : "timeout", "method",
				shown(span_of(rule->method)), "name",
				shown(policy_shown(rule, storage)), "duration_ms",
				time_or_null(rule->value), "from", rule->origin));
		}
	return json_pack("{s:I,s:o}", "more", more, "rules", array);
}
