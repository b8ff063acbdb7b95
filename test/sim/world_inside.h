#ifndef SIM_WORLD_INSIDE_H
#define SIM_WORLD_INSIDE_H

/* What the parts of a world share: its state, the peers, the wire between them and canceld, the clock. */

#include "core/restart.h"
#include "core/session.h"
#include "oracle.h"
#include "random.h"
#include "world.h"

enum { PEER_LARGE = 200000, QUEUE_MAX = 4096, PEER_SESSIONS = 3, STARTS_MAX = 64 };

struct peer {
	int queue[QUEUE_MAX]; /* messages written and not fed yet */
	int first, count;
	size_t fed; /* bytes of the first one */
	char *text; /* what it has read of a message, or of its header */
	size_t len, capacity;
	size_t left;  /* bytes of the message to come ... */
	bool in_body; /* ... whose header was read */
	bool stalled; /* reads nothing at present */
	bool hung;    /* writes nothing any more */
};

enum mood { MOOD_ANSWERS, MOOD_LATE, MOOD_NEVER }; /* how a server takes what canceld itself asks */

struct world {
	struct chance chance;
	struct oracle oracle;
	struct session *session;
	struct policy policy;
	struct peer peer[2];
	int64_t now;
	uint64_t seed;
	int ids;        /* of the client's numbers */
	int turn_limit; /* a prompt's deadline; 0: none */
	int late_limit; /* that of some requests of the server's; 0: none */
	bool given;     /* canceld was told the protocol */
	bool text_ids;  /* the server's ids are strings */
	bool verbose;
	bool restarts, stateless;
	bool over;        /* no other server comes */
	unsigned crashes; /* of a hundred steps */
	struct restart restart;
	int64_t starts[STARTS_MAX]; /* when servers were started again */
	int start_count;
	int64_t back_at; /* when the next one is started */
	enum mood mood;
	int64_t mood_delay;
	int server_ids; /* of its numbers, which begin anew with each server */
};

void world_tell(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* peer.c */
void peers_act(struct world *world);
/* Some request, if the side asked any; -1: none. */
int peer_some_ask(struct world *world, int by);
/* The request that its asker means by this one's id: the last that bore it. */
int peer_last_of_id(const struct world *world, int number);
/*
 * Another answer to it could be taken for nothing but that: not one to 1, which would be that to "1" if just that is
 * awaited; nor one to an old 1, which would be that to a new 1. Who writes one marks the request as doubled, so that
 * its id is not used again while the answer is on its way.
 */
bool peer_may_answer_again(const struct world *world, int number);
/* It has read this message (without framing). */
void peer_reads(struct world *world, int to, const char *text, size_t len);

/* peer_speech.c: the message's number. */
int peer_says(struct world *world, int from, enum kind kind, int ask, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The number that the next message will have. */
int peer_next(const struct world *world);
/* Padding that makes some messages large, and some hard to read. */
const char *peer_payload(struct world *world);
const char *peer_large(void);
void peer_writes_junk(struct world *world, int from);
/* Text with a whole answer in it. */
void peer_writes_among_text(struct world *world, int ask, const char *answer);
void peer_writes_notice(struct world *world, int from);
/* The other side has heard a message of the client's, so both know how messages are framed. */
bool peer_is_open(const struct world *world);

/* peer_asks.c */
void peer_begins(struct world *world);
/* What follows the answer to that; false: not now. */
bool peer_opens(struct world *world);
void peer_client_asks(struct world *world);
void peer_server_asks(struct world *world);

/* peer_cancels.c */
void peer_cancels(struct world *world, int from);
void peer_cancels_turn(struct world *world);
void peer_asks_canceld(struct world *world);
/* The client, what opens the session, while it is not answered. */
void peer_cancels_opening(struct world *world);
/* The server, of what the client asked. */
void peer_cancels_foreign(struct world *world);

/* peer_answers.c */
void peer_answers(struct world *world, int from);
void peer_answers_badly(struct world *world);
void peer_reports(struct world *world);
/* What the handshake's answer has in the result, with a comma before it; differs: another server's. */
const char *peer_opening(const struct world *world, bool differs);

/* peer_owns.c */
/* The server, what canceld asked; all: whatever its mood lets it. */
void peer_answers_canceld(struct world *world, bool all);
/* ... under an id that the former server knew. */
void peer_answers_of_old(struct world *world);
/* The first notice of a stream. */
void peer_begins_stream(struct world *world);

/* servers.c: the servers, one after the other. */
/* Perhaps it crashes, or the next one comes. */
void servers_step(struct world *world);
/* What has to be done is done at once: true if that was something. */
bool servers_settle(struct world *world);
/* When something has to be done; MSEC_NEVER: nothing. */
int64_t servers_wake(const struct world *world);
/* It has gone for good. */
void servers_end(struct world *world);
/* Canceld wants it to be ended? */
void servers_obey(struct world *world);
/* It is there. */
bool servers_is_there(const struct world *world);

/* wire.c */
/* Canceld reads at most n bytes of what that side wrote. */
void wire_feed(struct world *world, int from, size_t n);
/* Canceld writes at most n bytes to that side. */
void wire_drain(struct world *world, int to, size_t n);
/* A number of bytes of its choice. */
void wire_reads_some(struct world *world, int from);
size_t wire_some_bytes(struct world *world);
bool wire_backed_up(const struct world *world, int from);
/* A message of the server's passes in parts, and others wait for its end. */
bool wire_is_passing(const struct world *world);

/* clock.c */
void clock_expire(struct world *world);
/*
 * The session hears that nothing happens until its next wake, which is returned. stalled: the server is not read
 * meanwhile.
 */
int64_t clock_sleep(struct world *world, bool stalled);

void clock_passes(struct world *world, int64_t ms);
/* All that was written is read. */
void clock_settle(struct world *world);
/* ... and whatever is due until nothing is. */
void clock_runs_out(struct world *world);

#endif
