#ifndef CORE_NOISE_H
#define CORE_NOISE_H

/*
 * What is no JSON-RPC message. The client is told so. On the server's stdout it is text that some program printed there: responses
 * that share its line are recovered, the rest is dropped, for the shell to write to stderr.
 */

#include "core/message.h"
#include "core/state.h"

void noise_receive(struct session *session, struct message *message);

#endif
