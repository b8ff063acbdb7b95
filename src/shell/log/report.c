#include "core/compose.h"
#include "shell/log.h"

/* The key of an action's detail, where it is not "reason". */
static const char *const detail_keys[WHY_COUNT] = {
	[WHY_DIALECT] = "dialect",
	[WHY_ERA] = "era",
	[WHY_ALIASED] = "alias",
	[WHY_PROGRESS_ASKED] = "token",
	[WHY_TASK_CANCEL_SENT] = "task",
	[WHY_PROBE_SENT] = "after",
	[WHY_STUCK] = "probe",
};

/* A detail that begins with a quote is a JSON string from a peer. */
static struct log_field
detail_of(const struct action *action)
{
	const char *key = detail_keys[action->why];
	bool quoted = action->detail.len > 0 && action->detail.ptr[0] == '"';

	return LOG_FIELD(key != NULL ? key : "reason", quoted ? LOG_ID : LOG_TEXT, text,
	    action->detail);
}

/* Which request the action is about, and how old that is. */
#define REQUEST_OF(action) \
	log_text("method", (action)->method), log_text("name", (action)->name), \
	    log_id("id", (action)->id), log_time("elapsed", (action)->elapsed)

/* The word for who ended the request. */
static const char *
giver_of(const struct action *action)
{
	static const char *const givers[TALLIES] = {
		[TALLY_TIMED_OUT] = "deadline",
		[TALLY_BY_PERSON] = "person",
		[TALLY_REFUSED] = "canceld",
	};

	if (action->tally == TALLY_LOST && action->dismissed)
		return "person";
	if (givers[action->tally] != NULL)
		return givers[action->tally];
	if (action->tally == TALLY_CANCELLED || action->tally == TALLY_LEFT)
		return side_name(action->side);
	return side_name(side_other(action->side));
}

void
report_end(struct log *log, const struct action *action)
{
	log_event(log, action->why, log_string("ended", tally_word(action->tally)),
	    log_string("requester", side_name(action->side)), REQUEST_OF(action),
	    log_positive("held", action->held), log_time("timeout", action->timeout),
	    log_text("outcome", action->outcome), log_string("by", giver_of(action)),
	    detail_of(action), log_id("traceparent", action->traceparent));
}

/* The beginning of a message that did not pass, for the words where it shows what was wrong. */
static struct span
beginning_of(const struct action *action)
{
	static const unsigned char shows[] = { WHY_PARSE_ERROR, WHY_INVALID_REQUEST, WHY_TOO_DEEP,
		WHY_REPEATED_ID, WHY_REPEATED_METHOD, WHY_STRAY, WHY_TRUNCATED };

	return memchr(shows, (int)action->why, sizeof(shows)) != NULL ? action->message : SPAN_NONE;
}

void
report_action(struct log *log, const struct action *action)
{
	if (!log_shows(log, action->why))
		return;
	if (action->why == WHY_NOISE)
		log_event(log, WHY_NOISE, log_text("text", action->message),
		    log_text("hint", action->hint), log_number("bytes", action->message.len));
	else
		log_event(log, action->why, log_string("to", side_name(action->side)),
		    REQUEST_OF(action), log_time("timeout", action->timeout),
		    log_text("from", action->origin), detail_of(action),
		    log_text("text", beginning_of(action)), log_text("outcome", action->outcome),
		    log_text("hint", action->hint), log_id("traceparent", action->traceparent),
		    log_positive("bytes",
			why_level(action->why) == LEVEL_TRAFFIC ? action->message.len : 0),
		    log_payload(action->message));
}

void
report_rules(struct log *log, enum why why, struct policy *policy, const struct dialect *dialect)
{
	BUF_AUTO meant = { 0 };

	policy->tools_new = false;
	each_rule (rule, policy) {
		/* A rule of the file is for many servers, so it may well be unused here. */
		bool vain = rule->kind == POLICY_PARALLEL && dialect != NULL &&
		    !(dialect->flags & DIALECT_PARALLEL);
		bool unused = !rule->matched && (rule->method != NULL || vain) &&
		    rule->source >= (vain ? POLICY_SECTION : POLICY_OPTION);
		bool doubted, due;

		buf_clear(&meant);
		doubted = policy_meant(policy, rule, dialect, &meant);
		due = doubted && !rule->doubted;
		if (why == WHY_RULE_UNUSED)
			due = doubted || unused;
		if (due)
			log_event(log, why, log_string("from", rule->origin),
			    log_text("meant", buf_span(&meant)));
		rule->doubted |= doubted;
	}
}

void
report_summary(struct log *log, const struct session *session, struct policy *policy)
{
	struct session_view view = session_view(session);
	const uint64_t *tallies = view.journal->tallies, *counts = view.journal->counts;

	report_rules(log, WHY_RULE_UNUSED, policy, view.dialect);
	log_event(log, WHY_SUMMARY, log_number("requests", view.journal->requests[SIDE_CLIENT]),
	    log_number("answered", tallies[TALLY_ANSWERED]),
	    log_number("failed", tallies[TALLY_FAILED]),
	    log_number("timeouts", tallies[TALLY_TIMED_OUT]),
	    log_number("cancelled", tallies[TALLY_CANCELLED]),
	    log_number("lost", tallies[TALLY_LOST]),
	    log_positive("by_person", tallies[TALLY_BY_PERSON]),
	    log_positive("left", tallies[TALLY_LEFT]),
	    log_positive("refused", tallies[TALLY_REFUSED]),
	    log_positive("streams", tallies[TALLY_STREAMS]),
	    log_positive("untracked", tallies[TALLY_UNTRACKED]),
	    log_positive("open", session_outstanding(session, SIDE_CLIENT)),
	    log_number("late", counts[WHY_LATE] + counts[WHY_LATE_PROGRESS]),
	    log_number("noise", counts[WHY_NOISE]),
	    log_positive("restarts", counts[WHY_RESTARTED]));
}
