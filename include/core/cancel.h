#ifndef CORE_CANCEL_H
#define CORE_CANCEL_H

/* How the receiver of a request hears that nobody waits for its answer any more: in its own protocol's words, or not at all. */

#include "core/message.h"
#include "core/state.h"

enum cancel_result {
	CANCEL_NOT_SENT,
	CANCEL_NOT_YET, /* it has to be sent once the era is settled */
	CANCEL_SENT,
	CANCEL_SENT_TURN, /* the whole turn was cancelled (ACP session/cancel), and so what its receiver has asked in it */
};

/* Tells the receiver with a message of canceld's own, ahead of what is queued, or reports why not. */
enum cancel_result cancel_send(struct session *session, enum side requester, const struct request *request);

/* Hands the requester's own cancel on, likewise. why: the word if it goes on unchanged. */
enum cancel_result cancel_forward(struct session *session, struct message *message, const struct request *request,
    enum why why);

/*
 * The cancel at hand goes on in its place: it ends the stream that its sender was asked for, or, with NULL, names what cannot be
 * tracked.
 */
void cancel_pass(struct session *session, struct message *message, const struct request *request);

/* Tells the server to cancel the task that the request created; task_id as spelled. */
void cancel_task(struct session *session, enum side requester, const struct request *request, struct span task_id);

#endif
