#ifndef CORE_RECEIVE_H
#define CORE_RECEIVE_H

/* A message has come, whole: it is entered, finds its request, or cancels one, and leaves its lane. */

#include "core/message.h"
#include "core/state.h"

void receive_request(struct session *session, struct message *message);
void receive_response(struct session *session, struct message *message);
void receive_notification(struct session *session, struct message *message);
void receive_batch(struct session *session, struct message *message);

#endif
