#ifndef CORE_NOISE_H
#define CORE_NOISE_H

/*
 * Handles input that is not a JSON-RPC message. The client gets an error for it. On the server's stdout it is text that
 * some program printed: messages in the same line are recovered; the rest is dropped, and the shell writes it to the
 * log.
 */

#include "core/message.h"
#include "core/state.h"

void noise_receive(struct session *session, struct message *message);

/*
 * The line at hand has grown. If it is text, and longer than a message that is held, handles it as far as it has
 * arrived: only what may be the beginning of a message in it is kept.
 */
void noise_continue(struct session *session, enum side from);

/* The server has gone, and the line of text at hand with it. */
void noise_forget(struct session *session);

#endif
