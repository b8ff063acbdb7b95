#include "shell/report.h"

static int64_t
count(const struct session *session, enum why why)
{
	return (int64_t)session_count(session, why);
}

/* The field is left out if the number is 0. */
static struct log_field
positive(const char *key, int64_t number)
{
	return number > 0 ? log_number(key, number) : log_string(key, NULL);
}

/* The key of an action's detail, where it is not "reason". */
static const char *const detail_keys[WHY_COUNT] = {
	[WHY_DIALECT] = "dialect",
	[WHY_ERA] = "era",
	[WHY_ALIASED] = "alias",
	[WHY_PROGRESS_ASKED] = "token",
	[WHY_TASK_CANCEL_SENT] = "task",
	[WHY_PROBE_SENT] = "after",
	[WHY_STUCK] = "probe",
	[WHY_WRONG_ID] = "found",
};

/* A detail that begins with a quote is a JSON string from a peer. */
static struct log_field
detail_of(const struct action *action)
{
	const char *key = detail_keys[action->why] != NULL ? detail_keys[action->why] : "reason";
	bool quoted = action->detail.len > 0 && action->detail.ptr[0] == '"';

	return quoted ? log_id(key, action->detail) : log_text(key, action->detail);
}

/* The beginning of a message that did not pass, where it shows what was wrong. */
static struct span
excerpt_of(const struct action *action)
{
	bool shown = action->why == WHY_PARSE_ERROR || action->why == WHY_INVALID_REQUEST ||
	    action->why == WHY_TOO_DEEP || action->why == WHY_REPEATED_ID || action->why == WHY_REPEATED_METHOD ||
	    action->why == WHY_STRAY || action->why == WHY_TRUNCATED;

	return shown ? action->message : SPAN_NONE;
}

static void
show(struct log *log, const struct action *action)
{
	bool traffic = why_level(action->why) == LEVEL_TRAFFIC;

	log_event(log, action->why,
	    LOG_FIELDS(log_string("to", action->side == SIDE_CLIENT ? "client" : "server"),
		log_text("method", action->method), log_text("name", action->name), log_id("id", action->id),
		log_time("elapsed", action->elapsed), log_time("timeout", action->timeout), detail_of(action),
		log_text("text", excerpt_of(action)), log_text("outcome", action->outcome),
		log_text("hint", action->hint), positive("bytes", traffic ? (int64_t)action->message.len : 0)));
}

void
report_action(void *user, const struct action *action)
{
	struct log *log = user;

	if (!log_shows(log, action->why))
		return;
	if (action->why == WHY_NOISE)
		log_noise(log, action->message);
	else
		show(log, action);
}

static int64_t
tally(const struct session *session, enum tally tally)
{
	return (int64_t)session_tally(session, tally);
}

/* The options' rules that have named no request: -t METHOD:NAME, ... The file's are for many servers. */
static void
list_unmatched(const struct policy *policy, struct buf *list)
{
	for (int clock = 0; clock < POLICY_CLOCKS; clock++)
		for (size_t i = 0; i < policy->clock[clock].count; i++) {
			const struct policy_rule *rule = &policy->clock[clock].rules[i];

			if (rule->matched || rule->method == NULL || rule->source != POLICY_OPTION)
				continue;
			buf_append(list, list->len > 0 ? SPAN(", ") : SPAN_NONE);
			buf_append(list, clock == POLICY_IDLE ? SPAN("-t ") : SPAN("-T "));
			buf_append(list, span_of(rule->method));
			if (rule->name != NULL) {
				buf_append(list, SPAN(":"));
				buf_append(list, span_of(rule->name));
			}
		}
}

void
report_summary(struct log *log, const struct session *session, const struct policy *policy)
{
	struct buf unmatched;

	buf_init(&unmatched);
	list_unmatched(policy, &unmatched);
	log_event(log, WHY_SUMMARY,
	    LOG_FIELDS(log_number("requests", (int64_t)session_requests(session, SIDE_CLIENT)),
		log_number("answered", tally(session, TALLY_ANSWERED)),
		log_number("failed", tally(session, TALLY_FAILED)),
		log_number("timeouts", tally(session, TALLY_TIMED_OUT)),
		log_number("cancelled", tally(session, TALLY_CANCELLED)),
		log_number("lost", tally(session, TALLY_LOST)), positive("left", tally(session, TALLY_LEFT)),
		positive("refused", tally(session, TALLY_REFUSED)), positive("streams", tally(session, TALLY_STREAMS)),
		positive("untracked", tally(session, TALLY_UNTRACKED)),
		positive("open", (int64_t)session_outstanding(session, SIDE_CLIENT)),
		log_number("late", count(session, WHY_LATE) + count(session, WHY_LATE_PROGRESS)),
		log_number("noise", count(session, WHY_NOISE)), positive("restarts", count(session, WHY_RESTARTED)),
		log_text("unmatched", buf_span(&unmatched))));
	buf_free(&unmatched);
}

void
report_statistics(struct log *log, struct session *session)
{
	struct log_field fields[WHY_COUNT + 8];
	size_t n = 0;
	int why;

	fields[n++] = log_number("requests", (int64_t)session_requests(session, SIDE_CLIENT));
	fields[n++] = log_number("serverRequests", (int64_t)session_requests(session, SIDE_SERVER));
	fields[n++] = log_number("outstanding", (int64_t)session_outstanding(session, SIDE_CLIENT));
	fields[n++] = log_number("serverOutstanding", (int64_t)session_outstanding(session, SIDE_SERVER));
	fields[n++] = log_number("bytesForServer", (int64_t)lane_size(session_lane(session, SIDE_CLIENT)));
	fields[n++] = log_number("bytesForClient", (int64_t)lane_size(session_lane(session, SIDE_SERVER)));
	for (why = 0; why < WHY_COUNT; why++)
		fields[n++] = positive(why_word((enum why)why), count(session, (enum why)why));
	log_statistics(log, fields, n);
}
