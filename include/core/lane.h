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
 * pass, gaps, and bytes of canceld's own. A lane knows nothing of JSON; its messages end with a newline.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

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

/* Bytes of our own, at the decided position: a whole message with its newline, or part of an edited one. */
void lane_insert(struct lane *lane, struct span bytes);

/*
 * The next lane_pass starts (or, with false, has ended) a message that passes in parts. Meanwhile lane_answer
 * keeps its messages back until the end.
 */
void lane_set_open(struct lane *lane, bool open);

/* A whole message of our own, with its newline: behind all decided ones, never inside an open one. */
void lane_answer(struct lane *lane, struct span message);

/* A whole message that overtakes what is queued, at the next boundary between two messages. */
void lane_overtake(struct lane *lane, struct span message);

/* Takes the message at [start, end) out of the queue; not a byte of it may have been written. */
void lane_withdraw(struct lane *lane, uint64_t start, uint64_t end);

/* Drops everything that is queued: nobody will take it any more. */
void lane_abandon(struct lane *lane);

/* What to write next, in order; returns how many spans (at most max). Then say how many bytes were written. */
int lane_output(const struct lane *lane, struct span *spans, int max);
void lane_sent(struct lane *lane, size_t n);

/* Bytes that lane_output would still give. */
size_t lane_backlog(const struct lane *lane);

/* What is decided and keeps memory, gaps included: for the marks. */
size_t lane_queued(const struct lane *lane);

/* All bytes that this lane holds. */
size_t lane_size(const struct lane *lane);

#endif
