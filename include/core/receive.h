#ifndef CORE_RECEIVE_H
#define CORE_RECEIVE_H

/*
 * Handles one whole message: enters a request in the table, finds the request of a response or progress, or cancels a
 * request; then the message leaves its lane.
 */

#include "core/message.h"
#include "core/state.h"

/* A message of the kinds up to ENVELOPE_BATCH. */
void receive_message(struct session *session, struct message *message);

#endif
