#ifndef CORE_PENDING_H
#define CORE_PENDING_H

/*
 * The outstanding requests of one direction, found by the requester's id, by the id that the receiver sees, and by
 * progress token; each with an idle deadline and an absolute one. This is a table: it keeps requests and decides
 * nothing. Every call is O(1) on average, however many entries have the same id or token.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/map.h"
#include "core/timeline.h"

enum request_state {
	REQUEST_NONE,       /* there is no such request */
	REQUEST_QUEUED,     /* no byte was written to the receiver; derived, never stored */
	REQUEST_WAITING,    /* the requester waits for the answer */
	REQUEST_CANCELLING, /* cancelled, and the requester is owed an answer */
	REQUEST_PASSING,    /* its answer is going out in parts */
	REQUEST_ABANDONED,  /* a tombstone: its late answer will be dropped */
	REQUEST_STATES
};

enum request_flag {                  /* properties, known from the start */
	REQUEST_PERSON = 1 << 0,     /* its answer waits for a person */
	REQUEST_TWO_TOKENS = 1 << 1, /* token and wire_token are two different tokens, and it is found by either */
	REQUEST_TASK = 1 << 2,       /* params.task: cancelled with tasks/cancel only */
	REQUEST_ASKED = 1 << 3,      /* canceld added its token, for its own use */
};

enum request_mark {                 /* events that have happened to it */
	REQUEST_WITHHELD = 1 << 0,  /* its cancel waits until the era is settled; a turn's: until no other runs */
	REQUEST_GRACED = 1 << 1,    /* its deadline was put off once, because its response is arriving */
	REQUEST_EXPIRED = 1 << 2,   /* CANCELLING because its deadline passed ... */
	REQUEST_CAPPED = 1 << 3,    /* ... which was the absolute one */
	REQUEST_CASCADED = 1 << 4,  /* its turn is cancelled */
	REQUEST_CROSSED = 1 << 5,   /* CASCADED, and its turn was already cancelled when it arrived */
	REQUEST_CANCELLED = 1 << 6, /* it was cancelled before its answer came */
	REQUEST_CONFIRMED = 1 << 7, /* ... and its receiver confirmed it */
	REQUEST_UNOWED = 1 << 8,    /* PASSING, and its first cancel waived the answer ... */
	REQUEST_AT_ONCE = 1 << 9,   /* ... or was a $/canceld/cancel, for which it is answered at once */
	REQUEST_TOLD = 1 << 10,     /* it was CANCELLING, or PASSING when the session/cancel of its turn was sent */
	REQUEST_SWEPT = 1 << 11,    /* CASCADED, and so are all that are older in its session */
	REQUEST_CUT = 1 << 12,      /* PASSING, and the server closed its stdin before all of the request was written */
	REQUEST_OPERATED = 1 << 13, /* CANCELLING because a person gave it up */
};

/* request->start of a request that is in no lane and that canceld itself still has to send: it is QUEUED. */
#define REQUEST_UNSENT UINT64_MAX

struct method; /* core/dialect.h */
struct turns;  /* core/turns.h */

struct request_name {                  /* private: an id or token of a request */
	struct map_entry exact, loose; /* in pending->exact; in ->loose if it is a number */
	struct request *request;
	struct span text;
	unsigned kinds; /* the ids and tokens of the request that it is */
};

enum { REQUEST_NAMES = 4 };

struct request {
	struct span id, wire_id;                  /* as the requester spelled it; as the receiver sees it */
	struct span token, wire_token;            /* progress token; both empty if there is none */
	struct span method, name;                 /* unescaped; name: tool, prompt or resource, or empty */
	struct span meta;                         /* raw members of params._meta for its cancel; or empty */
	const struct method *row;                 /* the dialect's row of the method; NULL: none. Borrowed, static */
	unsigned flags;                           /* enum request_flag */
	unsigned marks;                           /* enum request_mark; requests.c sets them */
	enum request_state state;                 /* set with pending_move */
	uint64_t start, end;                      /* the frame's positions in its lane; set with pending_place */
	bool urgent;                              /* ... was sent again: end is one of lane_urgent_to */
	msec_t received;                          /* when the frame's last byte arrived */
	msec_t cancelled;                         /* when it was cancelled while PASSING; requests.c sets it */
	struct turns *turns;                      /* of its ACP session, if it is one; else NULL; set likewise */
	msec_t idle_after, cap_after;             /* the durations of its deadlines; MSEC_NEVER: none */
	struct alarm idle;                        /* in pending->idle, or not armed */
	struct alarm hard;                        /* in ->hard (cap), ->grace or ->linger, or not armed */
	struct alarm seen;                        /* in ->seen: "due" when its receiver last gave a sign of life */
	struct buf progress;                      /* its latest progress, if that is kept: a message; may be empty */
	struct request *older, *newer;            /* by age, within its table; read only */
	uint64_t serial;                          /* private: a newer request has a larger one */
	size_t name_count;                        /* private */
	struct request_name names[REQUEST_NAMES]; /* private */
};

struct pending {
	struct timeline idle;  /* on the caller's idle clock, which may stand still */
	struct timeline hard;  /* absolute deadlines */
	struct timeline grace; /* graces, and what is left of deadlines that were interrupted */
	struct timeline seen; /* the requests by their last sign of life, on the idle clock; nothing is ever due here */
	struct timeline linger; /* until when tombstones stay */
	size_t count;           /* all entries */
	struct request *oldest, *newest;
	size_t in_state[REQUEST_STATES];
	size_t persons;          /* WAITING with REQUEST_PERSON */
	size_t aliased;          /* entries whose wire_id differs from id */
	struct map exact, loose; /* private: names by id_hash; by the double that id_number gives */
	uint64_t serial;         /* private: of the next request */
	bool finds_numbers;      /* private: loose is in use */
	uint64_t seed;           /* private */
};

void pending_init(struct pending *pending, uint64_t seed);
void pending_free(struct pending *pending); /* removes every entry */

struct pending_names { /* the names of a new request; the bytes are copied; wire_id is empty if it is the id */
	struct span id, wire_id, token, wire_token, method, name, meta;
	const struct method *row;
	unsigned flags;
};

/* Adds an entry, WAITING. It does not move in memory until pending_remove. */
struct request *pending_add(struct pending *pending, const struct pending_names *names);

/* Sets the positions of its frame in its lane, or REQUEST_UNSENT. 0, 0 after pending_add. */
void pending_place(struct request *request, uint64_t start, uint64_t end);

/* It was sent again as an urgent message, which ends at this position of lane_urgent_to. */
void pending_place_urgent(struct request *request, uint64_t end);

/*
 * The request arrived at `now`. Arms its deadlines: idle_after ms after idle_now, cap_after ms after now; MSEC_NEVER:
 * none.
 */
void pending_set_deadlines(struct pending *pending, struct request *request, msec_t idle_after, msec_t cap_after,
    msec_t idle_now, msec_t now);

/* Starts the idle deadline: at idle_now the request begins to wait. */
void pending_start_idle(struct pending *pending, struct request *request, msec_t idle_now);

/* A sign of life at idle_now: the idle deadline, if it is armed, starts again. */
void pending_extend(struct pending *pending, struct request *request, msec_t idle_now);

/* When the last sign of life was, or the idle deadline started, on the idle clock. */
msec_t pending_seen(const struct request *request);

/* The requests by that time, the earliest first: the first one (after NULL) or the next one; or NULL. */
struct request *pending_next_seen(const struct pending *pending, const struct request *after);

/* Other durations. The alarms are left to the caller. */
void pending_change_deadlines(struct request *request, msec_t idle_after, msec_t cap_after);

/* Keeps the latest progress message; one that is too long is forgotten. */
void pending_keep_progress(struct request *request, struct span message);

/* Changes the state and the counts that depend on it. Not to NONE or QUEUED. */
void pending_move(struct pending *pending, struct request *request, enum request_state state);

/* Disarms the request's alarms, removes and frees it. */
void pending_remove(struct pending *pending, struct request *request);

/* By the requester's id: the newest that is WAITING or CANCELLING, else one that is PASSING, else a tombstone. */
struct request *pending_by_id(const struct pending *pending, struct span id);

/*
 * By wire id: the request that a response with this id would answer. As above, except that a PASSING one is never
 * found, since its answer has come. NULL if there is none.
 */
struct request *pending_by_wire(const struct pending *pending, struct span wire_id);

/*
 * By wire token, or by the other token of a request that has two. An exact match first, chosen as by pending_by_id.
 * Otherwise the one whose wire token is the same number (id_number), if there is exactly one.
 */
struct request *pending_by_token(struct pending *pending, struct span wire_token);

/*
 * The requests with exactly this wire token: the first one (after NULL), or the next one behind `after`; or NULL.
 * Tombstones come last; else the newest first, if the token is a string.
 */
struct request *pending_next_by_token(const struct pending *pending, struct span wire_token,
    const struct request *after);

/*
 * The WAITING or CANCELLING request whose wire id is the same number as this id (id_number) but not equal to it; NULL if
 * there is none, or more than one.
 */
struct request *pending_loosely(struct pending *pending, struct span wire_id);

/* The same of tombstones. */
struct request *pending_loosely_late(struct pending *pending, struct span wire_id);

/* Whether any entry has this id, as the requester's or on the wire: a minted id must not. */
bool pending_holds(const struct pending *pending, struct span id);

/* The receiver sees a different id than the requester sent. */
static inline bool
request_is_aliased(const struct request *request)
{
	return request->wire_id.ptr != request->id.ptr;
}

/* Its requester waits for an answer, and none has begun to arrive. */
static inline bool
request_is_awaited(const struct request *request)
{
	return request->state == REQUEST_WAITING || request->state == REQUEST_CANCELLING;
}

/* The request that contains this alarm; NULL for NULL. */
struct request *request_of_idle(struct alarm *alarm);
struct request *request_of_hard(struct alarm *alarm);

#endif
