#ifndef CORE_CANCEL_H
#define CORE_CANCEL_H

/* How the receiver of a request hears that nobody waits for its answer any more: in its own protocol's words, or not at all. */

#include <stdbool.h>

#include "core/message.h"
#include "core/state.h"

/*
 * Tells the receiver with a message of canceld's own, ahead of what is queued, or says why not. true: it was told that the whole
 * turn is cancelled (ACP session/cancel), and so what it has asked in that turn.
 */
bool cancel_send(struct session *session, enum side requester, struct request *request);

/* Hands the requester's own cancel on, likewise. why: the word if it goes on unchanged. */
bool cancel_forward(struct session *session, struct message *message, struct request *request, enum why why);

/*
 * The cancel at hand goes on in its place: it ends the stream that its sender was asked for, or, with NULL, names what cannot be
 * tracked.
 */
void cancel_pass(struct session *session, struct message *message, const struct request *request);

/* Tells the server to cancel the task that the request created; task_id as spelled. */
void cancel_task(struct session *session, enum side requester, const struct request *request, struct span task_id);

/* Sends what was withheld until the era is settled, if it is by now. */
void cancel_release(struct session *session);

#endif
