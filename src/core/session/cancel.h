#pragma once

/*
 * The receiver hears in its own protocol's form, or not at all, that nobody waits for the answer
 * any more.
 */

#include "party.h"

/*
 * Sends the receiver a cancel of canceld's own, ahead of the queued messages; or forwards the
 * requester's own, under the word `why` if it passes unchanged; or reports why not. Before the era
 * is settled it is put off and the request marked. true: the whole turn was cancelled (ACP
 * session/cancel), with the agent's requests in it.
 */
bool cancel_send(struct party *requester, struct request *request);
bool cancel_forward(struct message *message, enum why why);

/*
 * Sends session/cancel, which cancels all turns of this ACP session. request: one of them; NULL:
 * none is outstanding: in v2 the prompts were answered, and the turns run on. false: reports why
 * not.
 */
bool cancel_turns(const struct party *client, const struct request *request, struct id session_id);

/* Drops the cancel at hand if none may be sent. true: it was dropped. */
bool cancel_withhold(struct message *message);

/*
 * The cancel at hand passes in its place: it ends the stream that it names, or names what cannot be
 * tracked.
 */
void cancel_pass(struct message *message);

/*
 * Tells the receiver to cancel the task that the request created, or reports why not; task_id as
 * spelled.
 */
void cancel_task(struct party *requester, const struct request *request, struct span task_id);
