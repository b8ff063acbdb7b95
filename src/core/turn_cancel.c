#include "core/turn_cancel.h"

#include "core/cancel.h"
#include "core/pass.h"
#include "core/recovery.h"
#include "core/reply.h"
#include "core/requests.h"

static void
forward_turn_cancel(struct session *session, struct message *message, const struct ended_turns *turns)
{
	struct lane *lane = session->party[SIDE_CLIENT].lane;

	if (cancel_withhold(session, message))
		return;
	if (turns->live + turns->passing == 0 && turns->repeated + turns->unsent > 0) {
		pass_drop(session, message, turns->repeated > 0 ? WHY_REPEATED_CANCEL : WHY_CANCEL_UNSENT, NULL);
		return;
	}
	if (message->extent == MESSAGE_ELEMENT) {
		pass_on(session, message, turns->live > 0 ? WHY_CANCEL_FORWARDED : WHY_RELAYED, NULL);
		return;
	}
	buf_clear(&session->scratch);
	if (message->envelope.kind == ENVELOPE_REQUEST)
		compose_turn_cancel(&session->scratch, session->handshake.dialect->turn_cancel,
		    scan_text(message->scan, SCAN_SESSION_ID));
	else
		buf_append(&session->scratch, message->text);
	pass_take(session, message, turns->live > 0 ? WHY_CANCEL_FORWARDED : WHY_RELAYED, NULL);
	if (turns->live > 0)
		lane_overtake(lane, buf_span(&session->scratch));
	else
		lane_answer(lane, buf_span(&session->scratch));
}

void
turn_cancel_receive(struct session *session, struct message *message)
{
	struct ended_turns turns = requests_cancel_turns(session, scan_text(message->scan, SCAN_SESSION_ID));
	struct action action = state_action(session, VERB_NOTE, SIDE_CLIENT, WHY_REPAIRED, NULL);

	/* Agents know session/cancel as a notification only: a request passes as one, and canceld answers it. */
	if (message->envelope.kind == ENVELOPE_REQUEST) {
		action.id = message->envelope.id;
		action.method = message->envelope.method;
		journal_tell(&session->journal, &action);
		reply_result(session, SIDE_CLIENT, message->envelope.id, "null");
		journal_tally(&session->journal, SIDE_CLIENT, TALLY_ANSWERED);
	}
	forward_turn_cancel(session, message, &turns);
	if (turns.last != NULL && message->extent == MESSAGE_WHOLE)
		recovery_probe(session, turns.last);
}
