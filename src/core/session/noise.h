#pragma once

#include "state.h"

/*
 * Handles input that is not a JSON-RPC message, or too long to be kept. The client gets an error
 * for it. On the server's stdout it is text that some program printed: messages behind text in the
 * same line are recovered; the rest is dropped, and the shell writes it to the log.
 */

/*
 * Answers the request that the message at hand is meant to answer, if it still waits, with an error
 * in the message's place. The server's message is shown as noise.
 */
void noise_replace(struct session *session, struct message *message);

/* Handles a frame that is no message. */
void noise_receive(struct session *session, struct message *message);

/*
 * If the frame at hand is too long to be kept, throws away what has come of it, to its end. false:
 * it is kept, or not too long yet.
 */
bool noise_skip(struct session *session, struct party *party);

/*
 * Drops what has come of the frame at hand, whose writer has ended: what another server writes
 * starts at a boundary.
 */
void noise_forget(struct session *session, struct party *party);
