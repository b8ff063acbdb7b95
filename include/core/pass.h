#ifndef CORE_PASS_H
#define CORE_PASS_H

/*
 * The message at hand leaves its lane: it passes unchanged except for its edits, or it is dropped. Each is one decision
 * and is reported. For a message that passes in parts only the decision is reported here; parts.c moves the bytes.
 */

#include "core/message.h"
#include "core/state.h"

/* The message passes to the other side. request: the one that it is about, or NULL. */
void pass_on(struct session *session, struct message *message, enum why why, const struct request *request);

/* The message is dropped. */
void pass_drop(struct session *session, struct message *message, enum why why, const struct request *request);

/* Drops the message's bytes here and reports it as passed: a copy goes to the other side elsewhere in the queue. */
void pass_take(struct session *session, struct message *message, enum why why, const struct request *request);

/* The message is dropped and nothing is reported. */
void pass_discard(struct session *session, const struct message *message);

/*
 * FRAMING_NEWLINE: makes each carriage return in the message, which is undecided and without a fault, a space. Many
 * line readers take one for the end of a line. A Content-Length is read by none.
 */
void pass_replace_crs(struct session *session, const struct message *message);

/*
 * Inserts the header of a message of len bytes, whose text begins at position start. Undecided bytes before start are
 * passed if they are that header already, else dropped.
 */
void pass_head(struct party *party, uint64_t start, uint64_t len);

#endif
