#pragma once

/*
 * One direction of the bytes: read into one buffer, decided in place, written from it.
 *
 *        written         decided          received
 *   ........|###############|----------------|
 *     gone    to be written   not decided yet
 *
 * Positions count bytes from the first one ever received. Between written and decided lies a queue
 * of whole messages: those that pass, with their edits, and canceld's own. A lane knows nothing of
 * JSON, only how messages are framed.
 */

#include "core/framing.h"

struct lane { /* read only, but where it says otherwise */
	/* every byte before it is written or dropped; it passes a message when all of that is */
	uint64_t written;
	uint64_t decided;     /* every byte before it is decided */
	uint64_t taken;       /* bytes that lane_sent was given, in all */
	unsigned unread;      /* of these, by its owner: what a reader that has gone had not read */
	struct buf urgent;    /* messages of lane_overtake that are not written yet */
	uint64_t stop;        /* see lane_stop_at */
	enum framing framing; /* how it writes; set by its owner before any byte is decided */
	bool mute;            /* set by its owner: canceld's own messages are dropped */
	/* from `written` to the last byte received: its owner appends what it reads, and no more */
	struct buf bytes;

	/* private */
	struct buf queue; /* struct queued, in order */
	struct buf cuts;  /* struct cut of all queued messages, in order */
	struct buf texts; /* canceld's own bytes at these cuts */
	size_t sent;      /* how many bytes of the first queued message were written */
	size_t backlog;   /* bytes that all queued messages are written as */
};

/* What its reader has read, in lane->taken; exact once that has gone. */
static inline uint64_t
lane_read_to(const struct lane *lane)
{
	return lane->taken - lane->unread;
}

struct lane *lane_new(void);
void lane_free(struct lane *lane);

static inline uint64_t
lane_received_to(const struct lane *lane)
{
	return lane->written + lane->bytes.len;
}

/* The bytes from lane->decided on. */
static inline struct span
lane_undecided(const struct lane *lane)
{
	return span_from(buf_span(&lane->bytes), (size_t)(lane->decided - lane->written));
}

struct edit {            /* bytes of a message that are replaced */
	uint64_t offset; /* in its text */
	size_t len;
	size_t text, text_len; /* what is written instead, in the message's texts */
};

struct lane_message {
	uint64_t start, end;      /* positions of the text */
	uint64_t next;            /* position behind its frame */
	const struct edit *edits; /* by offset; within the text, not at its first or last byte */
	size_t edit_count;
	const char *texts;
	bool bound; /* meaningful to the current reader only: see lane_lose_reader */
	/*
	 * Where the position of its first byte in lane->taken is noted once that is written; NULL:
	 * nobody asks. It has to stay until then, or until the message is taken out of the queue.
	 */
	uint64_t *taken_at;
};

/*
 * Decide the bytes before message->next, or before position, that are not decided yet. lane_pass
 * queues the message, in a frame of its own; lane_drop_to queues nothing. Spans of the bytes stay
 * valid until more are read into the lane, lane_sent or lane_give_back.
 */
void lane_pass(struct lane *lane, const struct lane_message *message);
void lane_pass_all(struct lane *lane); /* as they are; FRAMING_NEWLINE */
void lane_drop_to(struct lane *lane, uint64_t position);

/*
 * Gives back the memory of a large buffer that is empty now: no span of its bytes is needed any
 * more.
 */
void lane_give_back(struct lane *lane);

/*
 * Queue a message of canceld's own, which the lane frames: behind all decided messages, or as
 * urgent, to be written at the next boundary between two messages.
 */
void lane_answer(struct lane *lane, struct span message);
void lane_overtake(struct lane *lane, struct span message);

/* What lane->taken will be when all urgent messages are written. */
uint64_t lane_urgent_end(const struct lane *lane);

/*
 * Whether no byte of the message with this position was written yet, its header included: then
 * lane_withdraw takes it out of the queue.
 */
bool lane_untouched(const struct lane *lane, uint64_t position);
void lane_withdraw(struct lane *lane, uint64_t position);

/*
 * The reader has gone: drop all that is queued. Unless it was the last one, keep whole messages,
 * but for canceld's own and those bound to the former reader.
 */
void lane_lose_reader(struct lane *lane, bool last);

/*
 * Write nothing at or after this position, except urgent messages, messages of lane_answer at this
 * position, and the rest of a message already begun. This lasts until the next call; LANE_FREE:
 * everything may be written.
 */
#define LANE_FREE UINT64_MAX
void lane_stop_at(struct lane *lane, uint64_t position);

/*
 * The lowest position for lane_stop_at that holds back no message which is meant for the current
 * reader only.
 */
uint64_t lane_bound_to(const struct lane *lane);

/*
 * What to write next, in order: fills at most max spans and returns their number. Afterwards call
 * lane_sent with the number of bytes that were written.
 */
int lane_output(const struct lane *lane, struct span *spans, int max);
void lane_sent(struct lane *lane, size_t n);

/* 0 if lane_output would give nothing; else at least as many bytes as it would give. */
size_t lane_backlog(const struct lane *lane);

/*
 * Bytes of messages. lane_size: all; lane_queued: the decided ones, for the high and low marks;
 * lane_own: canceld's own among these.
 */
size_t lane_size(const struct lane *lane);
size_t lane_queued(const struct lane *lane);
size_t lane_own(const struct lane *lane);
