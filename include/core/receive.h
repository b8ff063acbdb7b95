#ifndef CORE_RECEIVE_H
#define CORE_RECEIVE_H

/*
 * Handles one whole message: enters a request in the table, finds the request of a response or progress, or cancels a
 * request; then the message leaves its lane.
 */

#include "core/message.h"
#include "core/state.h"

void receive_request(struct session *session, struct message *message);
void receive_response(struct session *session, struct message *message);
void receive_notification(struct session *session, struct message *message);
void receive_batch(struct session *session, struct message *message);

#endif
