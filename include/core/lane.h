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

/* Where to read the next bytes to: *room (at least want) bytes. All spans of this lane die. */
char *lane_space(struct lane *lane, size_t want, size_t *room) __attribute__((warn_unused_result));
void lane_received(struct lane *lane, size_t n);

uint64_t lane_written_to(const struct lane *lane); /* every byte before it is written or dropped */
uint64_t lane_decided_to(const struct lane *lane);
uint64_t lane_received_to(const struct lane *lane);

/* Undecided bytes from position on, which must not be before lane_decided_to. */
struct span lane_from(const struct lane *lane, uint64_t position);

/* Decide the next n undecided bytes. */
void lane_pass(struct lane *lane, size_t n);
void lane_drop(struct lane *lane, size_t n);

/* How its reader tells messages apart: a line each, unless set before anything is decided. */
void lane_set_framing(struct lane *lane, enum framing framing);
enum framing lane_framing(const struct lane *lane);

/* Bytes of our own, at the decided position, inside a message that passes. */
void lane_insert(struct lane *lane, struct span bytes);

/* The header of a message of len bytes, which passes next; it belongs to the message. Nothing with FRAMING_NEWLINE. */
void lane_insert_head(struct lane *lane, uint64_t len);

/* n spaces that take no memory: the rest of a message that will not come. */
void lane_insert_blanks(struct lane *lane, uint64_t n);

/*
 * The next lane_pass starts (or, with false, has ended) a message that passes in parts. Meanwhile lane_answer
 * keeps its messages back until the end.
 */
void lane_set_open(struct lane *lane, bool open);

/* A whole message of our own, which the lane frames: behind all decided ones, never inside an open one. */
void lane_answer(struct lane *lane, struct span message);

/* The same, but it overtakes what is queued, at the next boundary between two messages. */
void lane_overtake(struct lane *lane, struct span message);

/* Not a byte of the message that starts there was written, nor of the header that was inserted for it. */
bool lane_untouched(const struct lane *lane, uint64_t start);

/* Takes the message at [start, end) out of the queue; it must be untouched. */
void lane_withdraw(struct lane *lane, uint64_t start, uint64_t end);

/* Drops everything that is queued: nobody will take it any more. */
void lane_abandon(struct lane *lane);

/* What is decided from here on (or, with false, no more) says nothing to another reader. So does every lane_answer. */
void lane_bind(struct lane *lane, bool bound);

/*
 * Its reader has gone, and another one will come, which has read nothing: drops what is half written, what overtakes and
 * what was for the former one only. false: the open message was, too, and is open no longer.
 */
bool lane_keep(struct lane *lane);

/*
 * What stands at this position or behind it is not written until it is set again, but what overtakes, and the rest of a
 * message that has begun. LANE_FREE: all is written.
 */
#define LANE_FREE UINT64_MAX
void lane_hold(struct lane *lane, uint64_t position);

/* What to write next, in order; returns how many spans (at most max). Then say how many bytes were written. */
int lane_output(const struct lane *lane, struct span *spans, int max);
void lane_sent(struct lane *lane, size_t n);
uint64_t lane_taken(const struct lane *lane); /* how many, ever */

/* Something that overtakes is not written to its end. */
bool lane_overtaking(const struct lane *lane);

/* Bytes that lane_output would still give; while some are held, those of its next call. */
size_t lane_backlog(const struct lane *lane);

/* What is decided and keeps memory, gaps included: for the marks. */
size_t lane_queued(const struct lane *lane);

/* Of that, bytes of canceld's own. */
size_t lane_own(const struct lane *lane);

/* All bytes that this lane holds. */
size_t lane_size(const struct lane *lane);

#endif
