#pragma once

/*
 * Every order of the events of a small world: two peers and the time, with the core between them. A
 * world is data (worlds.c); world.c plays events, judge.c says what must be true of what the peers
 * read, search.c goes through all states.
 */

#include "core/session.h"
#include "sim/protocol.h"

enum { WORLD_EVENTS = 26, WORLD_ASKS = 6, WORLD_STEPS = 64, WORLD_OWN = 4 };

enum act {
	ACT_NONE,
	ACT_ASK,      /* ... a request */
	ACT_ANSWER,   /* its receiver answers it */
	ACT_PROGRESS, /* ... reports progress */
	ACT_CANCEL,   /* its requester cancels it */
	ACT_TURN,     /* ACP: ... with session/cancel */
	ACT_NOTICE,
	ACT_OWN, /* the server answers the oldest question of canceld's; as often as there is one */
	ACT_STALLS, /* a side reads nothing from now on ... */
	ACT_TAKES,  /* ... but for a few bytes; once */
	ACT_RESUMES,
	ACT_TICK,   /* time passes until something is due; as often as that is so */
	ACT_EXPIRE, /* ... and that happens, before any message comes */
	ACT_LEAVES, /* the client; value: enum leaving */
	ACT_GONE,   /* the server, for good */
	ACT_LOST,   /* ... and another one will come */
	ACT_BACK,   /* which it does */
	ACT_DEAF,   /* the server closes its stdin, and runs on */
	ACT_SHUT,   /* canceld closes the server's stdin */
};

/*
 * $1 is the id of the request, as the writer knows it, $2 the token, $q the label by which the
 * judge knows the message.
 */
struct event {
	enum act act;
	enum side by;
	int of; /* a request of the world's */
	const char *text;
	enum leaving leaving;
};

enum ask_flag {
	ASK_EXEMPT = 1 << 0,  /* no deadline */
	ASK_FINAL = 1 << 1,   /* its cancel is forbidden */
	ASK_CANCELD = 1 << 2, /* $/canceld/cancel: canceld answers it */
	ASK_TURN = 1 << 3,    /* session/cancel tells of it too */
	/* a person is asked: the client's requests do not idle meanwhile ... */
	ASK_PERSON = 1 << 4,
	ASK_CAPPED = 1 << 5, /* ... but for the cap, which this one has */
};

struct ask {
	enum side by;
	const char *id, *token; /* as spelled; token NULL: none */
	unsigned flags;
	/*
	 * it is not asked before the request of this number, counted from 1; the target of an
	 * ASK_CANCELD
	 */
	int after;
};

struct world {
	const char *name;
	const char *dialect, *options; /* as in a scenario */
	int protocol;                  /* in test/sim/protocol.h */
	const char *const
	    /* messages before all: "c{...}" of the client's, "s{...}" of the server's; NULL ends */
	    *opening;
	const char *handshake; /* the result with which a server answers a repeated handshake */
	struct ask asks[WORLD_ASKS];
	struct event events[WORLD_EVENTS];
	int ticks;  /* at most so many; 0: until nothing is due */
	bool large; /* only with EXPLORE=long */
};

extern const struct world worlds[];
extern const size_t world_count;

/* --- world.c */

struct known { /* of a request; no padding or pointer matters: it is a part of the state */
	uint8_t asked;
	uint8_t arrived;   /* at its receiver; a server: at the how manyth */
	uint8_t replied;   /* canceld heard an answer of the receiver's */
	uint8_t answers;   /* that the requester read ... */
	uint8_t own;       /* ... of these, canceld's */
	uint8_t cancelled; /* canceld heard the requester's cancel, while it was open */
	uint8_t owed;      /* ... and an answer is owed all the same */
	uint8_t cancels;   /* that the receiver read */
	uint8_t turns;     /* the same of session/cancel */
	/* the judge can't tell the order of what happened from that in which it was read */
	uint8_t unsure;
	uint8_t gone;             /* its server has gone since it arrived */
	char wire[24], token[24]; /* as the receiver knows it */
};

struct told { /* of an event's message */
	uint8_t heard, arrived;
	uint8_t of;   /* the request, once it is heard */
	uint8_t dead; /* it must not arrive */
	uint8_t due;  /* it must, once all is read */
};

struct model {         /* what the judge knows: a part of the state, so without padding */
	uint32_t done; /* events, by bits */
	uint8_t due;   /* the time of the last tick is there, and nothing happened yet */
	uint8_t ticks, stalled[2], left, life, away, gone, deaf, shut, took, own_count;
	char own[WORLD_OWN][24]; /* ids of canceld's questions that the server has not answered */
	uint8_t own_opens[WORLD_OWN];
	struct known known[WORLD_ASKS];
	struct told told[WORLD_EVENTS];
};

struct play {
	const struct world *world;
	struct session *session;
	struct session_config config;
	struct policy policy;
	msec_t now;
	struct model model;
	struct buf seen[2]; /* what a side has read of an unfinished message */
	struct buf text;
	char verdict[512]; /* empty while all is well */
	bool opened;       /* the opening is over: the judge looks at all */
	bool strict;       /* also parse what canceld writes */
	bool script;       /* print what happens */
	struct buf words;  /* ... decided */
	struct buf reads[2];
};

void world_begin(struct play *play, const struct world *world, bool script);
void world_end(struct play *play);
bool world_may(const struct play *play, int event);
void world_step(struct play *play, int event);
/*
 * Both peers fall silent, and time passes; then the server goes and the client leaves: what must be
 * true then is judged.
 */
void world_silence(struct play *play);
/* The same with a server that reads nothing: what has a deadline is answered all the same. */
void world_stays_stalled(struct play *play);
void world_digest(const struct play *play, struct buf *out);
void world_blame(struct play *play, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text of an event's message, as `reader` must see it, or its writer writes it. */
const char *world_text(struct play *play, const struct event *event, const char *id,
    const char *token);
/* The event whose label is in the text; -1: it is a message of canceld's own. */
int world_label(const char *text);
bool world_server_is_there(const struct play *play);

/* --- judge.c */

/* canceld has heard this event's message. */
void judge_hears(struct play *play, int event);
/* A side has read a whole message. */
void judge_reads(struct play *play, enum side side, const char *text);
/* The server has gone. */
void judge_lost(struct play *play);
/* All is silent, and nothing is due; then also: the server has gone too. */
void judge_silence(struct play *play);
void judge_awaited(struct play *play); /* only whether what has a deadline was answered */
void judge_end(struct play *play);
