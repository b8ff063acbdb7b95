/*
 * An acknowledged cancel, with the guarantees of ABP "Cancellation": the client asks canceld itself, with the request
 * $/canceld/cancel {id, reason?}, and is told what came of it: {id, cancelled, reason?, confirmed?}.
 */
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/limits.h"
#include "core/mem.h"
#include "session_inside.h"

#define METHOD_ACKNOWLEDGED SPAN("$/canceld/cancel")

struct ack {                           /* waits until the request that it is to cancel has ended */
	const struct request *request; /* NULL: its answer passes in parts, and nothing else is known of it any more */
	struct buf id, target;         /* its own id, and what it called the request, as spelled */
};

enum outcome { OUTCOME_UNKNOWN, OUTCOME_COMPLETED, OUTCOME_FORBIDDEN, OUTCOME_CANCELLED, OUTCOME_CONFIRMED };

/* ABP "Edge Cases". */
static const char *const outcomes[] = {
	[OUTCOME_UNKNOWN] = "\"cancelled\":false,\"reason\":\"Operation not found\"",
	[OUTCOME_COMPLETED] = "\"cancelled\":false,\"reason\":\"Operation already completed\"",
	[OUTCOME_FORBIDDEN] = "\"cancelled\":false,\"reason\":\"Operation cannot be cancelled\"",
	[OUTCOME_CANCELLED] = "\"cancelled\":true",
	[OUTCOME_CONFIRMED] = "\"cancelled\":true,\"confirmed\":true",
};

bool
session_is_acknowledged_cancel(struct span method)
{
	return span_equal(method, METHOD_ACKNOWLEDGED);
}

static void
acknowledge(struct session *session, struct span id, struct span target, enum outcome outcome)
{
	buf_clear(&session->scratch);
	compose_acknowledgement(&session->scratch, id, target, outcomes[outcome]);
	lane_answer(session->party[SIDE_SERVER].lane, buf_span(&session->scratch));
}

static enum outcome
outcome_of(const struct request *request)
{
	if (!(request->flags & REQUEST_CANCELLED))
		return OUTCOME_COMPLETED;
	return request->flags & REQUEST_CONFIRMED ? OUTCOME_CONFIRMED : OUTCOME_CANCELLED;
}

static void
ack_free(struct ack *ack)
{
	buf_free(&ack->id);
	buf_free(&ack->target);
}

static void
settle(struct session *session, const struct request *request, enum outcome outcome)
{
	size_t i, kept = 0;

	for (i = 0; i < session->ack_count; i++) {
		struct ack *ack = &session->acks[i];

		if (ack->request != request) {
			session->acks[kept++] = *ack;
			continue;
		}
		acknowledge(session, buf_span(&ack->id), buf_span(&ack->target), outcome);
		ack_free(ack);
	}
	session->ack_count = kept;
}

void
session_free_acks(struct session *session)
{
	while (session->ack_count > 0)
		ack_free(&session->acks[--session->ack_count]);
	free(session->acks);
}

void
session_note_end(struct session *session, enum side requester, const struct request *request)
{
	if (requester != SIDE_CLIENT || (request->flags & REQUEST_OURS))
		return;
	if (session->ack_count > 0)
		settle(session, request, outcome_of(request));
	session_record_end(session, request);
	finished_note(&session->finished, id_hash(request->id, session->config.seed), request->flags & REQUEST_CANCELLED);
}

void
session_note_passed(struct session *session, bool whole)
{
	settle(session, NULL, whole ? OUTCOME_COMPLETED : OUTCOME_CANCELLED);
}

/* As the client's requests have it. */
static uint64_t
hash_of_id(const struct session *session, struct span id)
{
	return id_hash(id, session->config.seed);
}

void
session_note_refused(struct session *session, const struct message *message)
{
	if (message->from == SIDE_CLIENT)
		finished_note(&session->finished, hash_of_id(session, message->envelope.id), false);
}

bool
session_is_initialized(const struct session *session)
{
	const struct method *row;

	if (session->initialized || session->era == ERA_MODERN)
		return true;
	for (row = session->dialect->methods; row->name != NULL; row++)
		if (row->traits & METHOD_HANDSHAKE)
			return false;
	return true;
}

static void
reject(struct session *session, struct span id, int code, const char *text, const char *code_name)
{
	struct answer answer = {
		.id = id,
		.code = code,
		.message = { text, strlen(text) },
		.code_name = code_name,
	};

	session_send_error(session, SIDE_CLIENT, &answer);
}

/* false: it was refused. */
static bool
ack_add(struct session *session, struct span id, struct span target, const struct request *request)
{
	struct ack *ack;

	if (session->ack_count >= LIMIT_ACKS) {
		reject(session, id, session->dialect->failure_code, "canceld: too many cancels wait for their requests",
		    NULL);
		return false;
	}
	session->acks = mem_resize(session->acks, session->ack_count + 1, sizeof(*session->acks));
	ack = &session->acks[session->ack_count++];
	ack->request = request;
	buf_init(&ack->id);
	buf_init(&ack->target);
	buf_append(&ack->id, id);
	buf_append(&ack->target, target);
	return true;
}

static void
cancel(struct session *session, struct span id, struct span target, struct request *request)
{
	bool owed = session_owes_answer(session, SIDE_CLIENT) || session_answer_is_passing(session, SIDE_CLIENT);

	if (request->flags & REQUEST_NO_CANCEL)
		acknowledge(session, id, target, OUTCOME_FORBIDDEN);
	else if (ack_add(session, id, target, request))
		session_decide(session, SIDE_CLIENT, request, owed ? EVENT_CANCEL_OWED : EVENT_CANCEL_ACKNOWLEDGED,
		    NULL);
}

static void
cancel_finished(struct session *session, struct span id, struct span target)
{
	static const enum outcome how[] = {
		[FINISH_UNKNOWN] = OUTCOME_UNKNOWN,
		[FINISH_COMPLETED] = OUTCOME_COMPLETED,
		[FINISH_CANCELLED] = OUTCOME_CANCELLED,
	};

	if (session_cut_cancelled(session, SIDE_CLIENT, target, true))
		ack_add(session, id, target, NULL);
	else
		acknowledge(session, id, target, how[finished_find(&session->finished, hash_of_id(session, target))]);
}

/* Under the id of the request that is meant. */
static void
report(struct session *session, const struct message *message)
{
	struct action action = action_of(session, VERB_DROP, SIDE_SERVER, WHY_CANCEL_ACKNOWLEDGED, NULL);

	action.message = message->text;
	action.id = scan_text(message->scan, SCAN_PARAMS_ID);
	action.detail = scan_text(message->scan, SCAN_REASON);
	session_report(session, &action);
}

void
session_on_acknowledged_cancel(struct session *session, struct message *message)
{
	enum value_type type = scan_value(message->scan, SCAN_PARAMS_ID)->type;
	struct span target = scan_text(message->scan, SCAN_PARAMS_ID);
	struct span id = message->envelope.id;
	struct request *request;

	if (message->envelope.untracked) {
		message_drop(session, message, WHY_MALFORMED_CANCEL, NULL);
		return;
	}
	report(session, message);
	message_discard(session, message);
	if (!session_is_initialized(session)) {
		reject(session, id, session->dialect->closed_code, "canceld: no session is open yet",
		    "NOT_INITIALIZED");
	} else if ((type != VALUE_STRING && type != VALUE_NUMBER) || target.len == 0) {
		reject(session, id, CODE_INVALID_PARAMS,
		    "canceld: $/canceld/cancel needs the id of a request as params.id", NULL);
	} else {
		request = pending_by_id(&session->party[SIDE_CLIENT].pending, target);
		if (request != NULL && request->state != REQUEST_ABANDONED)
			cancel(session, id, target, request);
		else
			cancel_finished(session, id, target);
	}
}
