#pragma once

#include "party.h"

/*
 * The message at hand leaves its lane: it passes unchanged except for its edits, or it is dropped.
 * Each is one decision and is reported.
 */

/* The message passes to the other side. */
void pass_on(struct message *message, enum why why);

/*
 * Keeps a copy of the request at hand as it is to be sent, for as long as it is WAITING: it waits
 * for a place, or the server may go and have read nothing of it.
 */
void pass_copy(struct message *message);

/* The message is dropped. */
void pass_drop(struct message *message, enum why why);

/*
 * Drops the message's bytes here and reports it as passed: what goes to the other side in its
 * place, if anything does, goes elsewhere in the queue.
 */
void pass_take(struct message *message, enum why why);

/* The message is dropped and nothing is reported. */
void pass_discard(struct message *message);
