#ifndef CORE_PENDING_H
#define CORE_PENDING_H

/*
 * The outstanding requests of one direction: found by the requester's id, by the id that the receiver sees, by progress
 * token; each with an idle deadline and an absolute one. A table: it keeps requests and decides nothing. Look-ups are O(1)
 * on average, except among entries that share one id or token.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/map.h"
#include "core/timeline.h"

enum request_state {
	REQUEST_NONE,       /* there is no such request */
	REQUEST_QUEUED,     /* not one byte written to the receiver; derived, never stored */
	REQUEST_WAITING,    /* the requester waits for the answer */
	REQUEST_CANCELLING, /* cancelled, and the requester is owed an answer */
	REQUEST_PASSING,    /* its answer goes out in parts */
	REQUEST_ABANDONED,  /* a tombstone: its late answer will be dropped */
	REQUEST_STATES
};

enum request_flag {                  /* what is known of it from the start */
	REQUEST_PERSON = 1 << 0,     /* its answer waits for a person */
	REQUEST_TWO_TOKENS = 1 << 1, /* token and wire_token are two, and it is found by either */
	REQUEST_TASK = 1 << 2,       /* params.task: cancelled with tasks/cancel only */
	REQUEST_ASKED = 1 << 3,      /* canceld gave it its token, for itself */
};

enum request_mark {                 /* what has happened to it */
	REQUEST_WITHHELD = 1 << 0,  /* its cancel waits until the era is settled */
	REQUEST_GRACED = 1 << 1,    /* its deadline was put off once, as its response is arriving */
	REQUEST_EXPIRED = 1 << 2,   /* CANCELLING because its deadline passed ... */
	REQUEST_CAPPED = 1 << 3,    /* ... which was the absolute one */
	REQUEST_CASCADED = 1 << 4,  /* the turn that it was asked in is cancelled */
	REQUEST_CROSSED = 1 << 5,   /* CASCADED, and was so already when it came */
	REQUEST_CANCELLED = 1 << 6, /* it was cancelled before its answer came */
	REQUEST_CONFIRMED = 1 << 7, /* ... and its receiver said so */
	REQUEST_TURN_TOLD = 1 << 8, /* a cancel of its whole ACP session has gone out */
	REQUEST_UNOWED = 1 << 9,    /* PASSING, and its first cancel waived the answer */
};

/* request->start of one that stands in no lane and that canceld itself is still to send: it is QUEUED. */
#define REQUEST_UNSENT UINT64_MAX

struct method; /* core/dialect.h */

struct request_name {                  /* private: an id or token of a request */
	struct map_entry exact, loose; /* in pending->exact; in ->loose if it is a number */
	struct request *request;
	struct span text;
	unsigned kinds; /* which ids and tokens of the request it is */
};

enum { REQUEST_NAMES = 4 };

struct request {
	struct span id, wire_id;       /* as the requester spelled it; as the receiver sees it */
	struct span token, wire_token; /* progress token; both empty if there is none */
	struct span method, name;      /* unescaped; name: tool, prompt or resource, or empty */
	struct span meta;              /* raw members of params._meta for its cancel; or empty */
	const struct method *row;      /* what the dialect says of the method; NULL: nothing. Borrowed, static */
	unsigned flags;                /* enum request_flag */
	unsigned marks;                /* enum request_mark; requests.c sets them */
	enum request_state state;      /* set with pending_move */
	uint64_t start, end;           /* the frame's positions in its lane; see pending_place */
	msec_t received;               /* when the frame's last byte was */
	msec_t idle_after, cap_after;  /* its deadlines' durations; MSEC_NEVER if none */
	struct alarm idle;             /* in pending->idle, or not armed */
	struct alarm hard;             /* in ->hard (cap, grace) or ->linger (tombstones), or not armed */
	struct request *older, *newer; /* by age, within its table; read only */
	size_t len;                    /* private: of its text */
	size_t name_count;             /* private */
	struct request_name names[REQUEST_NAMES]; /* private */
};

struct pending {
	struct timeline idle;   /* on a clock of the caller's that may stand still */
	struct timeline hard;   /* absolute deadlines and graces */
	struct timeline linger; /* how long tombstones stay */
	size_t count;           /* all entries */
	struct request *oldest, *newest;
	size_t in_state[REQUEST_STATES];
	size_t persons;          /* WAITING with REQUEST_PERSON */
	size_t aliased;          /* entries whose wire_id differs from id */
	struct map exact, loose; /* private: names by id_hash; by the double that id_number gives */
	bool finds_numbers;      /* private: loose is in use */
	struct request *spare;   /* private: removed entries, linked by `newer` */
	size_t spares;           /* private */
	uint64_t seed;           /* private */
};

void pending_init(struct pending *pending, uint64_t seed);
void pending_free(struct pending *pending); /* removes every entry */

struct pending_names { /* what is known of a new request; the bytes are copied; wire_id is empty if it is the id */
	struct span id, wire_id, token, wire_token, method, name, meta;
	const struct method *row;
	unsigned flags;
	uint64_t hash; /* pending_hash of the id, if it was asked; else 0 */
};

/* A new entry, WAITING. It stays where it is until pending_remove. */
struct request *pending_add(struct pending *pending, const struct pending_names *names);

/* Where its frame stands in its lane; see REQUEST_UNSENT. 0, 0 after pending_add. */
void pending_place(struct request *request, uint64_t start, uint64_t end);

/* It came at `now`. Arms its deadlines: idle_after ms after idle_now, cap_after ms after now; MSEC_NEVER: none. */
void pending_set_deadlines(struct pending *pending, struct request *request, msec_t idle_after, msec_t cap_after,
    msec_t idle_now, msec_t now);

/* Changes its state and the counts that follow from it. Not to NONE or QUEUED. */
void pending_move(struct pending *pending, struct request *request, enum request_state state);

/* Disarms and frees it. */
void pending_remove(struct pending *pending, struct request *request);

/*
 * By the requester's id: of several the newest that WAITS or is CANCELLING, else the newest that is PASSING, else the newest.
 */
struct request *pending_by_id(const struct pending *pending, struct span id);

/*
 * The one that a response with this wire id would answer: as above, but never one that is PASSING, since its answer
 * has come. NULL if there is none.
 */
struct request *pending_by_wire(const struct pending *pending, struct span wire_id);

/* id_hash of the id with the table's seed; and the look-up of one whose hash is known. */
uint64_t pending_hash(const struct pending *pending, struct span id);
struct request *pending_by_wire_hash(const struct pending *pending, struct span wire_id, uint64_t hash);

/*
 * By wire token, or by the other one of a request that has two: exactly (the newest that is not ABANDONED, else the newest;
 * one that is PASSING counts as ABANDONED, as its progress is late), else the one whose wire token is the same as text or
 * as a number (id_loosely_equal), if that is unique.
 */
struct request *pending_by_token(struct pending *pending, struct span wire_token);

/* Those with exactly this wire token, newest first: the first one, with after NULL, or the one behind that; or NULL. */
struct request *pending_next_by_token(const struct pending *pending, struct span wire_token,
    const struct request *after);

/*
 * The one WAITING or CANCELLING request whose wire id a peer might confuse with this one (id_loosely_equal) and that is
 * not equal to it; NULL if there is none, or more than one. O(1) on average, except among PASSING and ABANDONED entries
 * with ids that are the same number.
 */
struct request *pending_loosely(struct pending *pending, struct span wire_id);

/* true if any entry has this id in either form: a minted id must not. */
bool pending_holds(const struct pending *pending, struct span id);

/* pending_hash of its id. */
static inline uint64_t
request_hash(const struct request *request)
{
	return request->names[0].exact.hash;
}

/* The receiver sees another id than the requester's. */
static inline bool
request_is_aliased(const struct request *request)
{
	return request->wire_id.ptr != request->id.ptr;
}

/* The request that an alarm is in; NULL for NULL. */
struct request *request_of_idle(struct alarm *alarm);
struct request *request_of_hard(struct alarm *alarm);

#endif
