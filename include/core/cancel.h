#ifndef CORE_CANCEL_H
#define CORE_CANCEL_H

/*
 * Tells the receiver of a request that nobody waits for its answer any more: in its own protocol's form, or not at all.
 */

#include "core/message.h"
#include "core/state.h"

enum cancel_result {
	CANCEL_NOT_SENT,
	CANCEL_NOT_YET, /* the cancel has to be sent once the era is settled */
	CANCEL_SENT,
	CANCEL_SENT_TURN, /* the whole turn was cancelled (ACP session/cancel), with the agent's requests in it */
};

/* Sends the receiver a cancel of canceld's own, ahead of the queued messages, or reports why not. */
enum cancel_result cancel_send(struct session *session, enum side requester, const struct request *request);

/* Forwards the requester's own cancel, or reports why not. why: the word if the cancel passes unchanged. */
enum cancel_result cancel_forward(struct session *session, struct message *message, const struct request *request,
    enum why why);

/*
 * Sends session/cancel for the ACP session of these turns although no request of it is outstanding: in v2 the prompts
 * were answered, and the turns run on. false: reports why not.
 */
bool cancel_turns(struct session *session, const struct turns *turns);

/*
 * Drops the cancel at hand, which names no one request of the table, if no cancel may be sent. true: it was dropped.
 */
bool cancel_withhold(struct session *session, struct message *message);

/*
 * The cancel at hand passes in its place: it ends the stream `request`, or, with NULL, names a request that cannot be
 * tracked.
 */
void cancel_pass(struct session *session, struct message *message, const struct request *request);

/* Tells the receiver to cancel the task that the request created, or reports why not; task_id as spelled. */
void cancel_task(struct session *session, enum side requester, const struct request *request, struct span task_id);

#endif
