#ifndef CORE_LANE_H
#define CORE_LANE_H

/*
 * One direction of the bytes: read into one buffer, decided in place, written from it.
 *
 *        written         decided          received
 *   ........|###############|----------------|
 *     gone    to be written   not decided yet
 *
 * Positions count bytes from the first one ever received. Between written and decided lie segments: bytes that
 * pass, gaps, and bytes of canceld's own. A lane knows nothing of JSON, only how messages are framed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/framing.h"

struct lane;

struct lane *lane_new(void);
void lane_free(struct lane *lane);

/*
 * Returns the place for the next bytes to be read: *room bytes, at least want. All spans of this lane become invalid.
 */
char *lane_space(struct lane *lane, size_t want, size_t *room) __attribute__((warn_unused_result));
void lane_received(struct lane *lane, size_t n);

uint64_t lane_written_to(const struct lane *lane); /* every byte before it is written or dropped */
uint64_t lane_decided_to(const struct lane *lane);
uint64_t lane_received_to(const struct lane *lane);

/* The undecided bytes from position on. position must not be before lane_decided_to. */
struct span lane_from(const struct lane *lane, uint64_t position);

/* Replaces a byte wherever it stands in the undecided bytes from one position to another. true: it stood there. */
bool lane_replace(struct lane *lane, uint64_t from, uint64_t to, char byte, char with);

/*
 * Decide the next n undecided bytes: lane_pass has them written, lane_drop does not. What lane_pass passes is a whole
 * message, or a part of an open one (lane_set_open).
 */
void lane_pass(struct lane *lane, size_t n);
void lane_drop(struct lane *lane, size_t n);

/* How the lane frames its own messages. Default: FRAMING_NEWLINE. Set it before any byte is decided. */
void lane_set_framing(struct lane *lane, enum framing framing);
enum framing lane_framing(const struct lane *lane);

/* From now on the lane takes no bytes of canceld's own: those below do nothing. */
void lane_mute(struct lane *lane);

/* Add bytes of canceld's own at the decided position, as a part of the open message. */
void lane_insert(struct lane *lane, struct span bytes);

/*
 * Add the header of the open message, which has len bytes, before any of them. With FRAMING_NEWLINE it is empty.
 */
void lane_insert_head(struct lane *lane, uint64_t len);

/* Add n spaces, which take no memory, in place of the rest of a message that will not come. */
void lane_insert_blanks(struct lane *lane, uint64_t n);

/*
 * true: a message begins that is passed in several calls. false: that message has ended. Between the two, lane_answer
 * keeps its messages until the end.
 */
void lane_set_open(struct lane *lane, bool open);

/* Queue a message of canceld's own, which the lane frames, behind all decided messages; never inside an open one. */
void lane_answer(struct lane *lane, struct span message);

/*
 * Queue a message of canceld's own, which the lane frames, as urgent: it is written at the next boundary between two
 * messages.
 */
void lane_overtake(struct lane *lane, struct span message);

/*
 * How many bytes of urgent messages there have been, and how many of them were written or dropped: the last urgent
 * message was written if the second has reached what the first was then.
 */
uint64_t lane_urgent_to(const struct lane *lane);
uint64_t lane_urgent_gone(const struct lane *lane);

/* Whether no byte of the message that starts at this position was written yet, its inserted header included. */
bool lane_untouched(const struct lane *lane, uint64_t start);

/* Take the message at [start, end) out of the queue; it must be untouched (lane_untouched). */
void lane_withdraw(struct lane *lane, uint64_t start, uint64_t end);

/* Drop everything that is queued: there is no reader any more. */
void lane_abandon(struct lane *lane);

/*
 * true: bytes decided from now on are meaningful to the current reader only, and lane_keep drops them. false: they are
 * not. Messages of lane_answer and lane_overtake are always meaningful to the current reader only.
 */
void lane_bind(struct lane *lane, bool bound);

/*
 * The reader has gone and another one will come. Keep the whole messages that are queued; drop the rest of a message
 * that is half written, urgent messages, and messages bound to the former reader (lane_bind). false: the open message
 * was dropped, and is no longer open.
 */
bool lane_keep(struct lane *lane);

/*
 * Write nothing at or after this position, except urgent messages, messages of lane_answer at this position, and the
 * rest of a message already begun. This lasts until the next call; LANE_FREE: everything may be written.
 */
#define LANE_FREE UINT64_MAX
void lane_stop_at(struct lane *lane, uint64_t position);

/* Whether a message that starts at this position and is untouched is not written, because of lane_stop_at. */
bool lane_holds(const struct lane *lane, uint64_t start);

/*
 * Makes messages of lane_answer that wait for the end of an open message urgent. Returns the lowest position for
 * lane_stop_at that holds back no message which is meant for the current reader only.
 */
uint64_t lane_hasten(struct lane *lane);

/*
 * What to write next, in order: fills at most max spans and returns their number. Afterwards call lane_sent with the
 * number of bytes that were written.
 */
int lane_output(const struct lane *lane, struct span *spans, int max);
void lane_sent(struct lane *lane, size_t n);
uint64_t lane_taken(const struct lane *lane); /* the number of bytes ever passed to lane_sent */

/* Whether an urgent message has bytes left to write. */
bool lane_overtaking(const struct lane *lane);

/* Bytes that lane_output will give; after lane_stop_at, only those of its next call. */
size_t lane_backlog(const struct lane *lane);

/* Decided bytes that take memory, gaps included: compare this with the high and low marks. */
size_t lane_queued(const struct lane *lane);

/* Bytes of canceld's own among lane_queued. */
size_t lane_own(const struct lane *lane);

/* All bytes of this lane that take memory, undecided ones included. */
size_t lane_size(const struct lane *lane);

#endif
