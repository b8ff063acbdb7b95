#pragma once

/* The outstanding requests, and THE TABLE, which says what happens to them. */

#include "core/dialect.h"
#include "core/json.h"
#include "core/journal.h"
#include "core/lane.h"

/* --- pending.c */

/*
 * The outstanding requests of one direction, found by the requester's id, by the id that the
 * receiver sees, and by progress token; each with an idle deadline and an absolute one. This is a
 * table: it keeps requests and decides nothing. Every call is O(1) on average, however many entries
 * have the same id or token.
 */

/*
 * The session's clocks, all derived from the caller's. The steady clock leaves out the time in
 * which everything stood still; the idle clock also leaves out the time in which the client's
 * requests do not count as idle: while the client asks a person something for the server, or the
 * server is not read.
 */
struct clocks {
	msec_t now;     /* the caller's */
	msec_t planned; /* when the caller meant to wake up; MSEC_NEVER: it did not say */
	msec_t steady, idle;
	/*
	 * the last steady time at which the server's output was not read, or the server may not
	 * have read: see excuse in struct server
	 */
	msec_t unread;
	bool stalled; /* the server's output is not read now */
};

/* The clock of that side's idle deadlines. */
static inline msec_t
clocks_idle(const struct clocks *clocks, enum side requester)
{
	return requester == SIDE_CLIENT ? clocks->idle : clocks->steady;
}

enum request_state {
	REQUEST_ENDED, /* it is in the table no more; never stored */
	/* no byte was written to the receiver: derived from WAITING, never stored */
	REQUEST_QUEUED,
	REQUEST_WAITING,    /* the requester waits for the answer */
	REQUEST_CANCELLING, /* cancelled, and the requester is owed an answer */
	REQUEST_ABANDONED,  /* a tombstone: its late answer will be dropped */
	REQUEST_STATES
};

enum request_flag {              /* properties, known from the start */
	REQUEST_TASK = 1 << 0,   /* params.task: cancelled with tasks/cancel only */
	REQUEST_ASKED = 1 << 1,  /* canceld added its token, for its own use */
	REQUEST_PERSON = 1 << 2, /* the client asks a person for the server */
	/* a question that shows whether the server answers such questions */
	REQUEST_TRIAL = 1 << 3,
	REQUEST_PROBE = 1 << 4, /* a question whether the server is alive; a trial is one, too */
};

/*
 * request->start of a request that is in no lane and that canceld itself still has to send: it is
 * QUEUED.
 */
#define REQUEST_UNSENT UINT64_MAX

enum name_kind { NAME_WIRE, NAME_ID, NAME_TOKEN, NAME_NEAR /* private: with another one */ };

struct request_name {           /* private: an id or token of a request, in pending->names */
	struct map_entry entry; /* first */
	struct request *request;
	struct span text;
};

struct parallel {             /* parallel.c: of one rule of --parallel */
	size_t spare;         /* how many more of its requests may be at the receiver */
	struct timeline held; /* the others, the oldest first */
};

/* Whether a further request has to wait. */
static inline bool
parallel_is_full(const struct parallel *rule)
{
	return rule->spare == 0 || rule->held.count > 0;
}

struct place { /* of a request that has it, or waits for it */
	struct parallel *rule;
	struct alarm wait; /* in rule->held: it waits, in no lane; or not armed */
	msec_t waited;     /* how long it did, once it was sent */
};

struct copy {             /* pass.c: of a request's message, to be sent later or once more */
	uint64_t start;   /* of its first byte in lane->taken, once that is written */
	struct span text; /* its bytes stand behind this struct */
};

/* heartbeat.c: when, and with which value, a requester next hears that its request is waited for */
struct beat {
	struct alarm alarm; /* in pending->beats, or not armed */
	double value;       /* the last one that its receiver has reported */
	int count;          /* messages of canceld's since then */
	bool begun;         /* there is one (MCP), or its receiver works under its token (LSP) */
};

struct request {
	/* What it is made of: see pending_add. */
	struct id id, token;             /* the requester's; progress token, or empty */
	struct span wire_id, wire_token; /* as the receiver sees them: the same bytes, or others */
	struct span method, name;        /* unescaped; name: tool, prompt or resource, or empty */
	struct span shown;               /* what may be shown of the name */
	struct span meta;                /* raw members of params._meta for its cancel; or empty */
	struct span traceparent;         /* as spelled; or empty */
	/* the dialect's row of the method; borrowed, static; NULL: no request of a peer's */
	const struct method *row;
	unsigned flags;               /* enum request_flag */
	int items;                    /* of answer: how often it is repeated, see answers_find */
	struct deadline deadlines[2]; /* set at will: POLICY_IDLE and POLICY_CAP */
	uint64_t task;                /* of a METHOD_RESULT: the serial of its task; 0: none */
	/* what --answer has for it; borrowed; or NULL; receive.c sets it, and items */
	const char *answer;

	/* What becomes of it. */
	struct pending *in;
	enum side from : 8; /* the requester */
	/*
	 * the word under which it was first given up, or has ended; RELAYED: not yet, or by its
	 * answer
	 */
	enum why given_up : 8;
	/* the deadline for which it was given up; POLICY_CAP + 1: none */
	enum policy_kind passed : 8;
	enum request_state state : 8; /* set with pending_move */
	unsigned traits;              /* of the row */
	unsigned size;                /* private: bytes, with what stands behind it */
	unsigned char name_count;     /* private */
	bool withheld : 1;            /* its cancel is still to be sent */
	/* ACP: a newer prompt came, or its session was opened again; turns.c sets it */
	bool superseded : 1;
	bool apart : 1;           /* ACP v2: the agent sent it while no turn ran; turns.c sets it */
	bool needs_no_cancel : 1; /* its receiver was told of a cancel, or never got the request */
	bool turn_told : 1;       /* ACP: a session/cancel of its session was sent: turns.c */
	bool urgent : 1;          /* it overtook others: end is a position in lane->taken */
	bool unread : 1;          /* a message that may have been its answer was thrown away */
	bool again : 1; /* it had been sent to a server that has gone, and is sent again */
	/* of a stream. begun: its first message has arrived; repeats: it will arrive once more */
	bool begun : 1, repeats : 1;
	/*
	 * the time to heed its cancel is over: a further message about it shows that the server did
	 * not
	 */
	bool overdue : 1;
	/* set at will: a grace has replaced its deadlines or its cap, see apply_grace */
	bool graced : 1;
	/* positions in its lane: of its text, and behind its frame; see pending_set_position */
	uint64_t start, end;
	msec_t received;      /* when it was added: the frame's last byte had arrived */
	uint64_t silent_from; /* what its receiver had written when it came, or was sent again */
	msec_t since;         /* when its deadlines began to run; MSEC_NEVER: they do not yet */
	struct alarm idle;    /* in pending->idle, or not armed */
	/* in ->hard: its cap or grace; of a tombstone in ->linger; or not armed */
	struct alarm hard;
	struct alarm
	    heed;    /* in ->heed: the server must have heeded its cancel; see party_note_told */
	msec_t seen; /* when its receiver last gave a sign of life, on the idle clock */
	struct beat beat;    /* --heartbeat */
	struct place *place; /* owned; NULL: it counts in no rule of --parallel */
	struct copy *copy;   /* owned, while it is WAITING; or NULL */
	struct buf progress; /* its latest progress, if that is kept: a message; may be empty */
	/*
	 * its message, if a new server must be told of it, see records_keep; of a question: the
	 * message of the client's that it repeats to a new server; or empty
	 */
	struct buf record;
	struct request *older, *newer; /* by age, within its table; read only */
	uint64_t serial; /* no other request of the session has it; a newer one has a larger one */
};

_Static_assert(sizeof(struct request) <= 560,
    "what not all requests have stands behind a pointer, as its place");

struct pending {
	enum side from; /* the requester */
	const struct clocks *clocks;
	const struct lane *lane; /* set at will: in which they travel; NULL: they are no messages */
	struct timeline idle;   /* of requests; on the caller's idle clock, which may stand still */
	struct timeline hard;   /* caps and graces */
	struct timeline beats;  /* of requests that are WAITING */
	struct timeline linger; /* until when tombstones stay */
	struct timeline heed;   /* of the client's requests and tasks that were cancelled */
	size_t count;           /* all entries */
	size_t held;            /* bytes of the messages that wait for places */
	struct request *oldest, *newest;
	size_t in_state[REQUEST_STATES];
	size_t persons;      /* WAITING for a person: REQUEST_PERSON */
	size_t handshakes;   /* not answered by the receiver: METHOD_HANDSHAKE */
	size_t starting;     /* WAITING for the session to open: METHOD_START */
	struct map names[2]; /* private: by hash of id and kind, of open requests; of tombstones */
	uint64_t serial;     /* of the next request; set here alone */
};

/* The oldest first. The one at hand may not be removed. */
#define each_request(request, pending) \
	for ((request) = (pending)->oldest; (request) != NULL; (request) = (request)->newer)

void pending_init(struct pending *pending, enum side from, const struct clocks *clocks);
void pending_free(struct pending *pending);

/* Removes every entry. */
void pending_clear(struct pending *pending);

/*
 * Adds an entry, WAITING, made of the same as this one; the bytes are copied. There wire_id and
 * wire_token may be empty where the receiver sees the other. It is found by the second token, too;
 * that may be empty. It does not move in memory until pending_remove.
 */
struct request *pending_add(struct pending *pending, const struct request *like,
    struct id second_token);

/*
 * Sets where the request is in its lane, or REQUEST_UNSENT: the members of the same names, which
 * are 0 after pending_add.
 */
void pending_set_position(struct request *request, uint64_t start, uint64_t end, bool urgent);

/* Its deadlines begin to run. An armed alarm in ->hard stays. */
void pending_begin(struct request *request);

/*
 * The request begins to wait for its answer: starts its idle deadline, unless it still waits for a
 * place.
 */
void pending_start_idle(struct request *request);

/* A sign of life: the idle deadline, if it is armed, starts again. */
void pending_extend(struct request *request);

/* Arms ->hard: the cap, the grace, or how long the tombstone stays. */
void pending_arm(struct request *request, msec_t duration);

/*
 * Changes the state and the counts that depend on it. Not to ENDED or QUEUED. The request loses its
 * copy, and a tombstone its progress.
 */
void pending_move(struct request *request, enum request_state state);

/* The request waits for no place any more, or gives back the one that it has, if it has one. */
void pending_vacate(struct request *request);

/* Disarms the request's alarms, removes and frees it. */
void pending_remove(struct request *request);

/*
 * The newest with this name that is WAITING or CANCELLING, else a tombstone; or NULL. An empty id
 * names none. NAME_ID: the requester's; NAME_WIRE: the one that a response with this id would
 * answer; NAME_TOKEN: the wire token, or the second.
 */
struct request *pending_find(const struct pending *pending, struct id id, enum name_kind kind);

/* How many open requests, at most `most`, have this name. */
size_t pending_count(const struct pending *pending, struct id id, enum name_kind kind, size_t most);

/*
 * The requests with exactly this wire token: the first one (after NULL), or the next one behind
 * `after`; or NULL. Tombstones come last; else the newest first, if the token is a string.
 */
struct request *pending_next_by_token(const struct pending *pending, struct id wire_token,
    const struct request *after);

/*
 * The only request, or tombstone, whose name of this kind may be spelled as this id, without being
 * equal to it (see id_alike). NULL: there is none, or more than one.
 */
struct request *pending_alike(const struct pending *pending, struct id id, enum name_kind kind);

/* Private: they stand behind the request, and behind them the bytes of its spans. */
static inline struct request_name *
request_names(const struct request *request)
{
	return (struct request_name *)(uintptr_t)(request + 1);
}

/* The duration of the deadline for which it was given up; or MSEC_NEVER. */
static inline msec_t
request_timeout(const struct request *request)
{
	return request->passed > POLICY_CAP ? MSEC_NEVER :
					      request->deadlines[request->passed].after;
}

/* Where that deadline comes from, for a person. */
static inline struct span
request_origin(const struct request *request)
{
	return request->passed > POLICY_CAP ? SPAN_NONE :
					      span_of(request->deadlines[request->passed].origin);
}

/* The receiver sees a different id than the requester sent. */
static inline bool
request_is_aliased(const struct request *request)
{
	return request->wire_id.ptr != request->id.text.ptr;
}

/* ... and a different token. */
static inline bool
request_has_other_token(const struct request *request)
{
	return request->wire_token.ptr != request->token.text.ptr;
}

/* Its state, QUEUED included. */
static inline enum request_state
request_state(const struct request *request)
{
	if (request->state == REQUEST_WAITING && !request->urgent &&
	    lane_untouched(request->in->lane, request->start))
		return REQUEST_QUEUED;
	return request->state;
}

/*
 * It has to wait for a place, the answer to a probe, or a new server: it does not idle meanwhile.
 */
static inline bool
request_is_held(const struct request *request)
{
	return request_state(request) == REQUEST_QUEUED &&
	    request->start >= request->in->lane->stop;
}

/* It was sent, there is a copy of it, and its receiver has gone and had read nothing of it. */
static inline bool
request_is_untaken(const struct request *request)
{
	return request->copy != NULL && request_state(request) == REQUEST_WAITING &&
	    request->copy->start >= lane_read_to(request->in->lane);
}

/* It waits for a place (--parallel). */
static inline bool
request_awaits_place(const struct request *request)
{
	return request->place != NULL && alarm_armed(&request->place->wait);
}

/* How many requests are WAITING or CANCELLING. */
static inline size_t
pending_outstanding(const struct pending *pending)
{
	return pending->in_state[REQUEST_WAITING] + pending->in_state[REQUEST_CANCELLING];
}

/* The time since it was received. */
static inline msec_t
request_age(const struct request *request)
{
	return request->in->clocks->steady - request->received;
}

/* Its requester waits for an answer. NULL: false. */
static inline bool
request_is_awaited(const struct request *request)
{
	return request != NULL && request->state != REQUEST_ABANDONED;
}

/* --- decide.c */

/*
 * THE TABLE: what happens to a request in each state but ENDED at each event. apply.c carries it
 * out; a QUEUED request that ends is taken out of the queue. The requester is the side that sent
 * the request; the receiver works on it.
 */
enum decide_event {      /* apply.c and requests.c rely on their order: see test/core/decide.c */
	EVENT_RESPONSE,  /* its response has arrived */
	EVENT_FAILURE,   /* the same, and it tells of an error */
	EVENT_CONFIRMED, /* the same in CANCELLING, and it says that the request was cancelled */
	EVENT_MALFORMED, /* its response is malformed */
	EVENT_OVERSIZED, /* its response is longer than --max-message, and is thrown away */
	/* its receiver has gone or does not know its method, and canceld has an answer to it */
	EVENT_DECLINED,
	EVENT_STREAM_ENDED, /* its receiver ends it with a cancel of its own */
	/* its receiver reports progress, which its requester may not see once it was cancelled */
	EVENT_PROGRESS,
	EVENT_PROGRESS_OWED, /* ... which its requester may see until it is answered */
	EVENT_CANCEL,        /* its requester cancels it, and no answer is owed then */
	EVENT_CANCEL_OWED,   /* its requester cancels it, and still waits for an answer */
	/* its requester cancels it with $/canceld/cancel, and wants an answer at once */
	EVENT_CANCEL_ACKNOWLEDGED,
	/* the client's session/cancel cancels the turn that it is or belongs to */
	EVENT_TURN_CANCELLED,
	EVENT_DEADLINE,          /* its deadline, grace or linger has passed */
	EVENT_DEADLINE_OWED,     /* the same, and the receiver may still answer within the grace */
	EVENT_DEADLINE_ANSWERED, /* its deadline has passed, and --answer has an answer to it */
	EVENT_PERSON,            /* a person gives it up */
	EVENT_PERSON_OWED,       /* the same, and the receiver may still answer within the grace */
	EVENT_REQUESTER_GONE,    /* the requester has gone, so nobody takes the answer */
	EVENT_TERMINATED,        /* canceld is ending; the requester may still read */
	EVENT_RECEIVER_GONE,     /* the receiver has gone, so no answer will come */
	/* the receiver has gone, and a new one that does not know the request will come */
	EVENT_RECEIVER_LOST,
	/*
	 * the receiver reads no more: it never got the request, or did not answer within the grace
	 */
	EVENT_RECEIVER_DEAF,
	DECIDE_EVENTS
};

enum decide_step {
	DECIDE_PASS = 1 << 0, /* the message at hand passes; without this it is dropped */
	/* its receiver is told: by the message at hand, else by a message of canceld's own */
	DECIDE_CANCEL = 1 << 1,
	DECIDE_ANSWER = 1 << 2, /* canceld answers its requester */
	DECIDE_EXTEND = 1 << 3, /* its idle deadline starts again */
	DECIDE_REPORT = 1 << 4, /* if no message is at hand, the decision itself is reported */
	/* what a $/canceld/cancel that names it is answered: completed, not cancelled; ... */
	DECIDE_COMPLETED = 1 << 5,
	DECIDE_CONFIRMED = 1 << 6, /* ... or cancelled, as its receiver confirmed */
	/* its tally, not endings[why].tally: an answer; a failure; a stream, if it is one */
	DECIDE_ANSWERED = 1 << 7,
	DECIDE_FAILED = 1 << 8,
	DECIDE_STREAM = 1 << 9,
};

struct decision {
	unsigned short steps;
	unsigned char next; /* enum request_state */
	/* enum why, by requester: reported with the message at hand, or by DECIDE_REPORT */
	unsigned char why[2];
};

extern TABLE_CONST struct decision decisions[REQUEST_STATES][DECIDE_EVENTS];

/* Of a request that ends under this word, or was given up under it. */
struct ending {
	enum tally tally;
	const char *cause; /* error.data.cause; NULL: the side that has gone */
	const char *text;  /* for a person, behind the method; %d: the deadline in ms */
};

extern const struct ending endings[WHY_COUNT];
