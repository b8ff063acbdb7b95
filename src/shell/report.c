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
		log_text("text", excerpt_of(action)), positive("bytes", traffic ? (int64_t)action->message.len : 0)));
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

void
report_summary(struct log *log, const struct session *session)
{
	int64_t timeouts = count(session, WHY_TIMED_OUT) + count(session, WHY_STALLED);
	int64_t cancelled = count(session, WHY_CANCEL_FORWARDED) + count(session, WHY_CANCEL_TRANSLATED) +
	    count(session, WHY_CANCEL_UNSENT);
	int64_t late = count(session, WHY_LATE) + count(session, WHY_LATE_PROGRESS);

	log_event(log, WHY_SUMMARY,
	    LOG_FIELDS(log_number("requests", (int64_t)session_requests(session, SIDE_CLIENT)),
		log_number("timeouts", timeouts), log_number("cancelled", cancelled), log_number("late", late),
		log_number("noise", count(session, WHY_NOISE)), positive("restarts", count(session, WHY_RESTARTED))));
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
