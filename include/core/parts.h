#ifndef CORE_PARTS_H
#define CORE_PARTS_H

/*
 * Messages that are too large to be held: they pass in parts as soon as what is known of them decides them, or are discarded with
 * bounded memory (DESIGN section 3).
 */

#include "core/message.h"
#include "core/state.h"

enum parts_result {
	PARTS_NONE,    /* no message was passing */
	PARTS_ENDED,   /* it is dealt with */
	PARTS_MESSAGE, /* *message has passed, and has still to be entered as if it had been held */
};

/*
 * The frame at hand has grown, and may be longer than what is held: decides it if that can be done by now, and moves on the bytes
 * that are decided.
 */
void parts_continue(struct session *session, enum side from);

/* The frame at hand has ended, and was not held. */
enum parts_result parts_end(struct session *session, enum side from, struct message *message);

/*
 * The rest of the message that passes in parts will not come, or, with stalled, is not waited for any more: closes it, and answers
 * its request if an answer is owed.
 */
enum parts_result parts_truncate(struct session *session, enum side from, bool stalled, struct message *message);

/* The server has gone: its last frame, which is not whole, is dropped, so that the next server's output starts anew. */
void parts_forget(struct session *session);

/* The server has gone in the middle of a message that the client is writing: the rest is dropped. */
void parts_lose_reader(struct session *session);

/* When a message of the server's has stood still for too long, steady; MSEC_NEVER: none passes. */
msec_t parts_due(const struct session *session);

#endif
