#ifndef CORE_TURN_CANCEL_H
#define CORE_TURN_CANCEL_H

/* ACP: the client's session/cancel, which ends all turns of a session (ACP "Prompt Turn", Cancellation). */

#include <stdbool.h>

#include "core/message.h"
#include "core/state.h"

/* Whether the message is a session/cancel, as a notification or as a request, that names a session. */
bool turn_cancel_is(const struct session *session, const struct message *message);

/*
 * Handles it: the turns are cancelled, and the agent is told, if it has one of them. A request is answered, as agents know
 * session/cancel as a notification only.
 */
void turn_cancel_receive(struct session *session, struct message *message);

#endif
