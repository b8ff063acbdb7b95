#ifndef CORE_NOISE_H
#define CORE_NOISE_H

/*
 * Handles input that is not a JSON-RPC message. The client gets an error for it. On the server's stdout it is text that
 * some program printed: responses in the same line are recovered; the rest is dropped, and the shell writes it to
 * stderr.
 */

#include "core/message.h"
#include "core/state.h"

void noise_receive(struct session *session, struct message *message);

#endif
