#pragma once

#include "state.h"

/*
 * Handles a message, which is not MESSAGE_NONE or MESSAGE_BLANK: enters a request in the table,
 * finds the request of a response or progress, or cancels one; then the message leaves its lane.
 */
void receive_message(struct session *session, struct message *message);
