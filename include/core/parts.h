#ifndef CORE_PARTS_H
#define CORE_PARTS_H

/*
 * Messages that are too long to be held: they pass in parts as soon as enough of them is known to decide, or are
 * discarded with bounded memory.
 */

#include "core/message.h"
#include "core/state.h"

enum parts_result {
	PARTS_NONE,    /* no message was passing */
	PARTS_ENDED,   /* a message ended, and nothing is left to be done */
	PARTS_MESSAGE, /* *message has passed, and has still to be entered in the table like a held one */
};

/*
 * The frame at hand has grown and may be longer than the limit: decides it if that is possible by now, and passes or
 * drops the decided bytes.
 */
void parts_continue(struct session *session, enum side from);

/* The frame at hand, which was not held, has ended. */
enum parts_result parts_end(struct session *session, enum side from, struct message *message);

/*
 * The rest of the message that passes in parts will not come (stalled: is not waited for any more). Closes the message,
 * and answers its request if an answer is owed.
 */
enum parts_result parts_truncate(struct session *session, enum side from, bool stalled, struct message *message);

/* Drops the frame at hand, as far as it has arrived and to its end: it was handled. */
void parts_drop(struct session *session, enum side from);

/* The server has gone: drops its last, incomplete frame, so that the next server's output starts at a boundary. */
void parts_forget(struct session *session);

/* The server has gone while the client was writing it a message: drops the rest of that message. */
void parts_lose_reader(struct session *session);

/*
 * When the message that passes from the server will have stood still too long, in steady time; MSEC_NEVER: none passes.
 */
msec_t parts_due(const struct session *session);

#endif
