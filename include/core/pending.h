#ifndef CORE_PENDING_H
#define CORE_PENDING_H

/*
 * The outstanding requests of one direction: found by the requester's id, by the id that the
 * receiver sees, by progress token; each with an idle deadline and an absolute one. It keeps
 * them and decides nothing. Every look-up costs the same for ten and for a million
 * (of different ids: those that share one are gone through one by one).
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/text.h"
#include "core/timeline.h"

enum request_state {
	REQUEST_NONE,       /* there is no such request */
	REQUEST_QUEUED,     /* not one byte written to the receiver; derived, never stored */
	REQUEST_WAITING,    /* the requester waits for the answer */
	REQUEST_CANCELLING, /* cancelled, and the requester is owed an answer */
	REQUEST_ABANDONED,  /* nobody waits any more: a tombstone */
	REQUEST_STATES
};

enum request_flag {
	REQUEST_PERSON = 1 << 0,      /* its answer waits for a person */
	REQUEST_TASK = 1 << 1,        /* params.task: cancelled with tasks/cancel only */
	REQUEST_NO_CANCEL = 1 << 2,   /* must never be cancelled on the wire */
	REQUEST_WITHHELD = 1 << 3,    /* its cancel waits until the era is settled */
	REQUEST_STREAM = 1 << 4,      /* has no end of its own */
	REQUEST_GRACED = 1 << 5,      /* its deadline was put off once, as its response is arriving */
	REQUEST_OURS = 1 << 6,        /* canceld asked; its response is swallowed */
	REQUEST_TOKEN_ONLY = 1 << 7,  /* answered; only its progress token lives on (a task) */
	REQUEST_EXPIRED = 1 << 8,     /* CANCELLING because its deadline passed */
	REQUEST_CASCADED = 1 << 9,    /* the turn that it was asked in is cancelled */
	REQUEST_TWO_TOKENS = 1 << 10, /* token and wire_token are two, and it is found by either */
	REQUEST_CANCELLED = 1 << 11,  /* it was cancelled before its answer came */
	REQUEST_CONFIRMED = 1 << 12,  /* ... and its receiver said so */
	REQUEST_ASKED = 1 << 13,      /* canceld gave it its token, for itself */
	REQUEST_TURN_TOLD = 1 << 14,  /* a cancel of its whole session has gone out */
	REQUEST_CROSSED = 1 << 15,    /* CASCADED, and was so already when it came */
};

/* request->start of one that stands in no lane and that canceld itself is still to send: it is QUEUED. */
#define REQUEST_UNSENT UINT64_MAX

enum { REQUEST_INLINE = 8, CACHE_LINE = 64 }; /* bytes */

struct request_part { /* of an entry's text: its ids and tokens, one behind the other; the id comes first */
	uint32_t at, len;
};

/*
 * There may be a million, far from the processor: so its size counts, and how many lines of its cache an operation
 * reads. A look-up reads the first; whoever leaves the lists reads the second, of its neighbours too.
 */
struct request {
	struct span id;                 /* as the requester spelled it */
	uint64_t hash;                  /* of the id; see pending_hash */
	struct request_part wire_id;    /* as the receiver sees it; the id's own bytes unless aliased */
	struct request_part token;      /* progress token; len 0 if none */
	struct request_part wire_token; /* as the receiver sees it */
	union {
		char here[REQUEST_INLINE];
		char *block;
	} bytes;         /* private: the text */
	uint32_t handle; /* private */
	uint16_t flags;  /* enum request_flag; PERSON, OURS and TWO_TOKENS are fixed from pending_add on */
	uint8_t state;   /* enum request_state; set with pending_move; NONE once TOKEN_ONLY */

	uint32_t older, newer; /* private */
	struct alarm idle;     /* in pending->idle, or not armed */
	struct alarm hard;     /* in ->hard (cap, grace) or ->linger (tombstones), or not armed */
	msec_t received;       /* when the frame's last byte was */

	struct text *method;          /* never NULL */
	struct text *name;            /* tool, prompt or resource; its task id once TOKEN_ONLY; or NULL */
	struct text *meta;            /* SCAN_PARAMS_META; or NULL */
	uint64_t start, end;          /* the frame's positions in its lane */
	msec_t idle_after, cap_after; /* its deadlines' durations; MSEC_NEVER if none */
} __attribute__((aligned(CACHE_LINE)));

static inline struct span
request_part(const struct request *request, struct request_part part)
{
	return (struct span){ request->id.ptr + part.at, part.len };
}

static inline struct span
request_wire_id(const struct request *request)
{
	return request_part(request, request->wire_id);
}

static inline struct span
request_token(const struct request *request)
{
	return request_part(request, request->token);
}

static inline struct span
request_wire_token(const struct request *request)
{
	return request_part(request, request->wire_token);
}

/* The receiver sees another id than the requester's. */
static inline bool
request_is_aliased(const struct request *request)
{
	return request->wire_id.at > 0;
}

struct pending {
	struct timeline idle;   /* on a clock of the caller's that may stand still */
	struct timeline hard;   /* absolute deadlines and graces */
	struct timeline linger; /* how long tombstones stay */
	size_t count;           /* all entries */
	struct request *oldest, *newest;
	size_t in_state[REQUEST_STATES]; /* without TOKEN_ONLY */
	size_t persons;                  /* WAITING with REQUEST_PERSON */
	size_t aliased;                  /* entries whose wire_id differs from id */
	struct pending_index *index;     /* private */
	struct text_table *texts;        /* shared with the other direction; not owned */
};

void pending_init(struct pending *pending, struct text_table *texts, uint64_t seed);
void pending_free(struct pending *pending);

struct pending_names { /* what is known of a new request; everything is copied; no id is empty */
	struct span id, wire_id, token, wire_token, method, name, meta;
	uint16_t flags;
	uint64_t hash; /* pending_hash of the id, or 0: it is not known yet */
};

/* A new entry, WAITING. Pointers to entries stay valid until pending_remove. */
struct request *pending_add(struct pending *pending, const struct pending_names *names);

/* Changes its state and the counts that follow from it. */
void pending_move(struct pending *pending, struct request *request, enum request_state state);

/* Disarms and frees it. */
void pending_remove(struct pending *pending, struct request *request);

/* Disarms it; it is no longer found by its ids, only by its token, which it must have. */
void pending_keep_token(struct pending *pending, struct request *request, struct span task_id);

/* id_hash of the id with the seed of all that is kept here. */
uint64_t pending_hash(const struct pending *pending, struct span id);

/* By the requester's id: the newest that is not ABANDONED, else the newest. Not REQUEST_OURS. */
struct request *pending_by_id(const struct pending *pending, struct span id);

/* The receiver cannot tell several with the same wire id apart: then it is one that is not ABANDONED, if any. */
struct request *pending_by_wire(const struct pending *pending, struct span wire_id);

/* The same, with the id's pending_hash. */
struct request *pending_by_wire_hash(const struct pending *pending, struct span wire_id, uint64_t hash);

/*
 * By wire token, or by the other one of a request that has two: exactly (the newest that is not ABANDONED, else the
 * newest; where one has it as wire token and another as its other one: either, but none that is ABANDONED if one is
 * not), else the one whose wire token is alike as text (id_twin), if that is unique.
 */
struct request *pending_by_token(const struct pending *pending, struct span wire_token);

/* Those with exactly this wire token, newest first: the first one, with after NULL, or the one behind that; or NULL. */
struct request *pending_next_by_token(const struct pending *pending, struct span wire_token,
    const struct request *after);

/*
 * The one WAITING or CANCELLING request whose wire id is alike (id_alike) but not equal; NULL if none
 * or several. One look-up while all numbers among the ids are integers of up to 15 digits; else linear.
 */
struct request *pending_alike(const struct pending *pending, struct span wire_id);

/* true if any entry has this id in either form: a minted id must not. */
bool pending_holds(const struct pending *pending, struct span id);

/* Every entry once, oldest first; visit may remove any, and add some, which may be left out. */
void pending_each(struct pending *pending, void (*visit)(void *user, struct request *request), void *user);

/* The request that an alarm is in; NULL for NULL. */
struct request *request_of_idle(struct alarm *alarm);
struct request *request_of_hard(struct alarm *alarm);

#endif
