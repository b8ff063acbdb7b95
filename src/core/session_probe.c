/*
 * Is the server alive? After a cancel it is asked what every server answers at once; one that does not, in the time that
 * --kill-stuck gives it, is stuck. What canceld itself asks stands among the client's requests, as a tombstone.
 */
#include <string.h>

#include "session_inside.h"

/* JSON-RPC 2.0 section 5.1: it is answered with -32601. */
#define METHOD_UNKNOWN_TO_ALL "$/canceld/probe"

struct request *
session_ask(struct session *session, const char *method, bool string, msec_t time)
{
	struct pending *pending = &session->party[SIDE_CLIENT].pending;
	struct pending_names names = { .method = { method, strlen(method) }, .flags = REQUEST_OURS };
	struct request *request;

	names.id = names.wire_id = session_mint(session, SIDE_CLIENT, string);
	request = pending_add(pending, &names);
	request->received = session->steady;
	request->cap_after = time;
	pending_move(pending, request, REQUEST_ABANDONED);
	alarm_arm(&pending->hard, &request->hard, time, session->steady);
	return request;
}

bool
session_is_own_question(const struct request *request)
{
	return (request->flags & REQUEST_OURS) && request->cap_after != MSEC_NEVER;
}

static const char *
probe_method(const struct session *session)
{
	const struct dialect *dialect = session->dialect;
	const char *method = session->era == ERA_MODERN ? dialect->modern_ping : dialect->ping;

	return method != NULL ? method : METHOD_UNKNOWN_TO_ALL;
}

static uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * What a stuck server would never read is kept for the next one: until the answer nothing goes to it that has not begun.
 * But what has waited for one answer does not wait for the next, nor longer than the server has for it: many cancels, or a
 * person who never answers, would keep it for ever.
 */
static void
free_queue(struct session *session)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;

	session->probe_free = lane_decided_to(lane);
	lane_hold(lane, LANE_FREE);
}

static void
end_probe(struct session *session)
{
	session->probe = NULL;
	free_queue(session);
}

static void
send_probe(struct session *session, struct span meta)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;
	const char *method = probe_method(session);
	struct action action;
	struct buf copy;

	session->probe = session_ask(session, method, false, session->config.kill_stuck);
	session->probe_taken = lane_taken(lane);
	session->probe_again = false;
	lane_hold(lane, later(lane_written_to(lane), session->probe_free));
	buf_init(&copy);
	compose_probe(&copy, method, session->probe->id, session->era == ERA_MODERN ? meta : (struct span){ NULL, 0 });
	lane_overtake(lane, buf_span(&copy));
	buf_free(&copy);
	action = action_of(session, VERB_SEND, SIDE_SERVER, WHY_PROBE_SENT, session->probe);
	session_report(session, &action);
}

void
session_probe(struct session *session, const struct request *request)
{
	if (session->config.kill_stuck == 0 || session->party[SIDE_SERVER].gone || session->away || session->stuck ||
	    !session_settled(session))
		return;
	if (session->probe != NULL) {
		session->probe_again = true;
		return;
	}
	buf_clear(&session->probe_meta);
	buf_append(&session->probe_meta, request->meta);
	send_probe(session, buf_span(&session->probe_meta));
}

void
session_own_answered(struct session *session, struct request *request, const struct message *message)
{
	if (request != session->probe) {
		session_replay_answered(session, request, message);
		return;
	}
	end_probe(session);
	if (session->probe_again)
		send_probe(session, buf_span(&session->probe_meta));
}

/* It has not read the probe yet, and reads: a long message stands before it. */
static bool
is_reading(const struct session *session)
{
	const struct lane *lane = session->party[SIDE_CLIENT].lane;

	return lane_overtaking(lane) && lane_taken(lane) > session->probe_taken;
}

/*
 * How long it still has to answer. What it writes is a sign of life, and its answer may lie behind a long message; who
 * waits for the client, as for a person, may be able to do nothing else.
 */
static msec_t
time_left(struct session *session)
{
	msec_t heard = session->party[SIDE_SERVER].heard;
	msec_t alive = heard > session->asking ? heard : session->asking;

	if (is_reading(session)) {
		session->probe_taken = lane_taken(session->party[SIDE_CLIENT].lane);
		return session->config.kill_stuck;
	}
	return session->config.kill_stuck - (session->steady - alive);
}

void
session_own_expired(struct session *session, struct request *request)
{
	struct pending *pending = &session->party[SIDE_CLIENT].pending;
	struct action action = action_of(session, VERB_NOTE, SIDE_SERVER, WHY_STUCK, request);
	msec_t left;

	if (request != session->probe) {
		session_replay_expired(session, request);
		pending_remove(pending, request);
		return;
	}
	left = time_left(session);
	if (left > 0) {
		free_queue(session);
		alarm_arm(&pending->hard, &request->hard, left, session->steady);
		return;
	}
	session->stuck = true;
	session->probe = NULL;
	session_keep_refusal(session, SPAN("it was stuck (see canceld --kill-stuck)"));
	action.timeout = session->config.kill_stuck;
	session_report(session, &action);
	pending_remove(pending, request);
}

static void
drop_question(void *user, struct request *request)
{
	struct session *session = user;

	if (request->flags & REQUEST_OURS)
		pending_remove(&session->party[SIDE_CLIENT].pending, request);
}

void
session_drop_questions(struct session *session)
{
	pending_each(&session->party[SIDE_CLIENT].pending, drop_question, session);
	end_probe(session);
	if (session->replay != NULL)
		session_stop_replay(session);
}

bool
session_holds(const struct session *session)
{
	return session->probe != NULL || session->stuck || session_replays(session);
}

void
session_end_probe(struct session *session)
{
	if (session->probe == NULL)
		return;
	pending_remove(&session->party[SIDE_CLIENT].pending, session->probe);
	end_probe(session);
}

void
session_free_probe(struct session *session)
{
	if (session->probe != NULL)
		free_queue(session);
}

bool
session_server_stuck(const struct session *session)
{
	return session->stuck;
}
