#ifndef CORE_TURN_CANCEL_H
#define CORE_TURN_CANCEL_H

/* ACP: the client's session/cancel, which ends all turns of a session (ACP "Prompt Turn", Cancellation). */

#include "core/message.h"
#include "core/state.h"

/*
 * Handles the message, a notification or a request that names a session: the turns are cancelled, and the agent is told,
 * if it has one of them. A request is answered, as agents know session/cancel as a notification only.
 */
void turn_cancel_receive(struct session *session, struct message *message);

#endif
