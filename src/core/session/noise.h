#pragma once

#include "state.h"

/*
 * Handles input that is not a JSON-RPC message, or too long to be kept. The client gets an error
 * for it. On the server's stdout it is text that some program printed: messages behind text in the
 * same line are recovered; the rest is dropped, and the shell writes it to the log.
 */

/*
 * The request that the message at hand is meant to answer, and that still waits, gets an error in
 * the message's place, which is shown as noise if it is the server's.
 */
void noise_replace(struct session *session, struct message *message);

/* The message at hand is none. */
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
