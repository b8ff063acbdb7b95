#include "core/limits.h"
#include "session_inside.h"

/* The idle clock of the client's requests stands while a person is asked something. */
static bool
person_is_asked(const struct session *session)
{
	return session->party[SIDE_SERVER].pending.persons > 0;
}

msec_t
session_idle(const struct session *session, enum side requester)
{
	return requester == SIDE_CLIENT ? session->idle : session->steady;
}

static void
note_skew(struct session *session, msec_t gap)
{
	struct action action = action_of(session, VERB_NOTE, SIDE_CLIENT, WHY_SKEWED, NULL);

	session->skew += gap;
	action.elapsed = gap;
	session_report(session, &action);
}

static msec_t
later(msec_t a, msec_t b)
{
	return a > b ? a : b;
}

void
session_set_clock(struct session *session, msec_t now)
{
	msec_t steady;

	if (now < session->now)
		return;
	/* When it began is not known: what is due first gets back what it may have lost before its time. */
	if (session->planned != MSEC_NEVER && now > session->planned + TIME_SKEW)
		note_skew(session, now - later(session->now, session->planned - TIME_SKEW));
	session->now = now;
	session->planned = MSEC_NEVER;
	session->resumed = false;
	steady = now - session->skew;
	if (!person_is_asked(session) && !session->stalled)
		session->idle += steady - session->steady;
	session->steady = steady;
	if (session_outstanding(session, SIDE_SERVER) > 0)
		session->asking = steady;
}

bool
session_answer_is_passing(const struct session *session, enum side requester)
{
	const struct party *party = &session->party[side_other(requester)];

	return party->reading == READ_PASS && scan_value(party->frame.scan, SCAN_METHOD)->type == VALUE_ABSENT;
}

/* Its response has begun to arrive: the id was read, and the end was not. */
static bool
is_arriving(const struct session *session, enum side requester, const struct request *request)
{
	const struct party *party = &session->party[side_other(requester)];
	struct envelope envelope;

	if (party->reading != READ_HOLD || party->frame.scanned == party->frame.start)
		return false;
	envelope_peek(&envelope, party->frame.scan);
	return envelope.kind == ENVELOPE_RESPONSE && envelope.id.len > 0 &&
	    pending_by_wire(&session->party[requester].pending, envelope.id) == request;
}

/* What an expired initialize, and any expired request, mean for the session. */
static void
note_timeout(struct session *session, const struct request *request)
{
	const struct method *traits = dialect_method(session->dialect, text_span(request->method));

	session->timed_out = true;
	if (traits != NULL && (traits->traits & METHOD_HANDSHAKE))
		session->wants_end = true;
}

/* A deadline has passed: is its receiver to answer the request itself? */
static enum decide_event
deadline_event(const struct session *session, enum side requester, const struct request *request)
{
	bool waits = (session->dialect->flags & DIALECT_DEADLINE_WAITS) && !(request->flags & REQUEST_NO_CANCEL) &&
	    !(session->config.no_cancel && requester == SIDE_CLIENT);

	return waits ? EVENT_DEADLINE_OWED : EVENT_DEADLINE;
}

/* The client has had its time to answer what the agent had asked in a cancelled turn. */
static enum decide_event
end_cascaded(struct session *session, struct request *request)
{
	if (session_state(session, SIDE_SERVER, request) == REQUEST_QUEUED)
		return EVENT_CANCEL_OWED;
	if (request->state == REQUEST_WAITING && request->flags & REQUEST_CROSSED)
		session_send_cancel(session, SIDE_SERVER, request);
	if (request->state == REQUEST_WAITING)
		pending_move(&session->party[SIDE_SERVER].pending, request, REQUEST_CANCELLING);
	if (request->state == REQUEST_CANCELLING && !(request->flags & REQUEST_CROSSED))
		session_regrace(session, request_token(request));
	return EVENT_DEADLINE_OWED;
}

static void
expire_request(struct session *session, enum side requester, struct request *request)
{
	struct pending *pending = &session->party[requester].pending;
	enum decide_event event = deadline_event(session, requester, request);

	if (request->flags & REQUEST_TOKEN_ONLY) {
		pending_remove(pending, request);
		return;
	}
	if (session_is_own_question(request)) {
		session_own_expired(session, request);
		return;
	}
	if (request->state == REQUEST_WAITING && !(request->flags & REQUEST_GRACED) &&
	    is_arriving(session, requester, request)) {
		request->flags |= REQUEST_GRACED;
		alarm_disarm(&request->idle);
		alarm_arm(&pending->hard, &request->hard, session_grace(session, request), session->steady);
		return;
	}
	if (request->flags & REQUEST_CASCADED)
		event = end_cascaded(session, request);
	else if (request->state == REQUEST_WAITING)
		note_timeout(session, request);
	session_decide(session, requester, request, event, NULL);
}

static bool
is_due(const struct alarm *alarm, msec_t now)
{
	return alarm != NULL && alarm_due(alarm) <= now;
}

static void
expire_party(struct session *session, enum side requester)
{
	struct pending *pending = &session->party[requester].pending;

	while (is_due(timeline_first(&pending->hard), session->steady))
		expire_request(session, requester, request_of_hard(timeline_first(&pending->hard)));
	while (is_due(timeline_first(&pending->idle), session_idle(session, requester)))
		expire_request(session, requester, request_of_idle(timeline_first(&pending->idle)));
}

/* When a message of the server's that passes in parts has stood still too long: others wait behind it. */
static msec_t
cut_due(const struct session *session)
{
	const struct party *party = &session->party[SIDE_SERVER];

	if (party->reading != READ_PASS && party->reading != READ_PASSED)
		return MSEC_NEVER;
	return party->heard + party->passing.patience;
}

static void
expire_side(struct session *session, enum side side, bool heard)
{
	struct pending *pending = &session->party[side].pending;

	while (is_due(timeline_first(&pending->linger), session->steady))
		expire_request(session, side, request_of_hard(timeline_first(&pending->linger)));
	if (side == SIDE_SERVER && heard && cut_due(session) <= session->steady)
		session_truncate(session, side, true);
	if ((side == SIDE_SERVER || heard) && !session_answer_is_passing(session, side))
		expire_party(session, side);
}

void
session_expire(struct session *session, bool heard, msec_t now)
{
	session_set_clock(session, now);
	session_release_withheld(session);
	expire_side(session, SIDE_SERVER, heard); /* first: what ends there may give a turn more time */
	expire_side(session, SIDE_CLIENT, heard);
}

static msec_t
earlier(msec_t a, msec_t b)
{
	return a < b ? a : b;
}

/* When the timeline's first alarm is due by the caller's clock; `ahead` is how far its own clock lags behind that. */
static msec_t
due_of(const struct timeline *timeline, msec_t ahead)
{
	const struct alarm *first = timeline_first(timeline);

	return first == NULL ? MSEC_NEVER : alarm_due(first) + ahead;
}

static msec_t
wake_of(const struct session *session, enum side side, bool stalled)
{
	const struct party *party = &session->party[side];
	msec_t wake, cut;

	if (party->pending.count == 0 && party->reading == READ_HOLD)
		return MSEC_NEVER;
	wake = due_of(&party->pending.linger, session->skew);
	cut = side == SIDE_SERVER && !stalled ? cut_due(session) : MSEC_NEVER;
	if (cut != MSEC_NEVER)
		wake = earlier(wake, cut + session->skew);
	if ((side == SIDE_CLIENT && stalled) || session_answer_is_passing(session, side))
		return wake;
	wake = earlier(wake, due_of(&party->pending.hard, session->skew));
	if (side == SIDE_SERVER || !person_is_asked(session))
		wake = earlier(wake, due_of(&party->pending.idle, session->now - session_idle(session, side)));
	return wake;
}

msec_t
session_wake(struct session *session, bool stalled, msec_t now)
{
	msec_t wake;

	session_set_clock(session, now);
	wake = earlier(wake_of(session, SIDE_CLIENT, stalled), wake_of(session, SIDE_SERVER, stalled));
	if (session->withheld && session_settled(session))
		wake = session->now;
	/* Deadlines that passed while the server was not read are late, and the clock is not to blame. */
	session->resumed |= session->stalled && !stalled;
	session->stalled = stalled;
	session->planned = session->resumed || wake < session->now ? MSEC_NEVER : wake;
	return wake;
}

void
session_sleep(struct session *session, bool stalled, msec_t now)
{
	(void)session_wake(session, stalled, now);
}

bool
session_wants_end(const struct session *session)
{
	return session->wants_end;
}

bool
session_timed_out(const struct session *session)
{
	return session->timed_out;
}
