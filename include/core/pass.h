#ifndef CORE_PASS_H
#define CORE_PASS_H

/*
 * The message at hand leaves its lane: it passes, byte for byte but for its edits, or it is dropped. Each is one decision that is
 * told. Of a message that passes in parts only the decision is told here: parts.c moves the bytes.
 */

#include "core/message.h"
#include "core/state.h"

/* It goes to the other side. request: the one that it is about, or NULL. */
void pass_on(struct session *session, struct message *message, enum why why, const struct request *request);

/* It goes no further. */
void pass_drop(struct session *session, struct message *message, enum why why, const struct request *request);

/* Its bytes leave the lane here, as they go to the other side elsewhere in the queue. */
void pass_take(struct session *session, struct message *message, enum why why, const struct request *request);

/* It goes no further, without a word. */
void pass_discard(struct session *session, const struct message *message);

/*
 * The header of a message of len bytes, whose text begins at position start: what lies before start is that header already, or is
 * dropped.
 */
void pass_head(struct party *party, uint64_t start, uint64_t len);

#endif
