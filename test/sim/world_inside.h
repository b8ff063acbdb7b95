#pragma once

/*
 * Shared by the parts of a world: its state, the peers, the wire between them and canceld, the
 * clock.
 */

#include "core/supervisor.h"
#include "core/session.h"
#include "oracle.h"
#include "random.h"
#include "world.h"

/* ACP: in what opens a session; the agent repeats it to canceld, who may tell it to nobody. */
#define PEER_SECRET "key-9f31b7"

enum { PEER_LARGE = 200000, QUEUE_MAX = 4096, PEER_SESSIONS = 3, PEER_MODES = 3, STARTS_MAX = 64 };

struct peer {
	int queue[QUEUE_MAX]; /* messages written and not yet heard by canceld */
	int first, count;
	size_t fed; /* bytes of the first one that canceld has heard */
	char *text; /* the part of a message, or of its header, that it has read */
	size_t len, capacity;
	size_t left;  /* bytes of the message to come ... */
	bool in_body; /* ... whose header was read */
	bool stalled; /* reads nothing at present */
	bool hung;    /* writes nothing any more */
};

enum mood { MOOD_ANSWERS, MOOD_LATE, MOOD_NEVER }; /* how a server answers canceld's own requests */

struct world {
	struct chance chance;
	struct oracle oracle;
	struct session *session, *twin; /* see both.c */
	uint64_t ended;                 /* requests of the client's whose end was told */
	size_t unheard[2]; /* bytes that the twin received and has not heard; by enum side */
	struct policy policy, twins; /* the twin's, which the rules that a person sets change too */
	struct peer peer[2];
	int64_t now, slept; /* when the machine last slept */
	int64_t ahead; /* of now is the session's clock, by the sleeps that count for nothing */
	uint64_t seed;
	size_t max_inflight;
	int ids;        /* the last number of the client's ids */
	int turn_limit; /* a prompt's deadline; 0: none */
	int late_limit; /* the deadline of some requests of the server's; 0: none */
	unsigned large; /* messages of a hundred that are large */
	bool given;     /* canceld was told the protocol */
	bool text_ids;  /* the server's ids are strings */
	bool verbose;
	bool restarts, stateless;
	bool errs;            /* the peers write errors without an id */
	bool goes_on;         /* the server's streams have more notices than the first one */
	bool batches;         /* the peers write batches, ... */
	bool asks_in_batches; /* ... with requests in them */
	bool persons;         /* a person uses cancelctl */
	bool sets;            /* ... and sets deadlines */
	bool respells;        /* ids and tokens are spelled otherwise in what names a request */
	bool ends_tasks;      /* the server tells how tasks go on and end, also twice */
	int about_task;       /* ... the one whose result is asked for now */
	bool strays;    /* what answers nothing yet, cancels again, and modes that agents choose */
	bool insists;   /* ACP: the client goes on with its sessions while none is opened again */
	bool insisting; /* ... now */
	bool in_batch;  /* what is written now is an element of one */
	bool over;      /* no other server comes */
	bool deaf;      /* the server reads nothing any more */
	unsigned crashes; /* steps of a hundred in which the server crashes */
	struct restart restart;
	int64_t starts[STARTS_MAX]; /* when servers were started again */
	int start_count, in_row;    /* in_row: since a server was of use */
	int64_t back_at;            /* when the next one is started */
	enum mood mood;
	int64_t mood_delay;
	int quiet; /* acts of the peers in which they ask nothing but to open the session */
	/* the last number of the server's ids, which start again with each server */
	int server_ids;
	/* a request of the server's, named as one that opens or closes the client's session */
	struct deed mirrored;
};

void world_tell(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* peer.c */
void peers_act(struct world *world);
/*
 * Whether the peers ask nothing, so that canceld has the time for its question whether the server
 * answers any.
 */
bool peer_is_quiet(const struct world *world);
/* A random request of that side; -1: none. */
int peer_some_ask(struct world *world, int by);
/* The last request with the same id as this one. */
int peer_last_of_id(const struct world *world, int number);
/*
 * Whether a second answer to it can be taken for nothing else: an answer to 1 could be taken for
 * one to "1" if only that is awaited, and an answer to an old 1 for one to a new 1. The caller that
 * writes a second answer marks the request as doubled, so that its id is not used again while the
 * answer is on its way.
 */
bool peer_may_answer_again(const struct world *world, int number);
/* The peer has read this message (without framing). */
void peer_reads(struct world *world, int to, const char *text, size_t len);

/* peer_speech.c: returns the message's number. */
int peer_says(struct world *world, int from, enum kind kind, int ask, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* An id or token of the other side's, in some worlds spelled otherwise: 1.0, "\u0061". */
const char *peer_spells(struct world *world, const char *id, char spelled[64]);
/* The number that the next message will have. */
int peer_next(const struct world *world);
/* Padding that makes some messages large, and some hard to read. */
const char *peer_payload(struct world *world);
const char *peer_large(void);
void peer_writes_junk(struct world *world, int from);
/* Text with a whole answer in it. */
void peer_writes_among_text(struct world *world, int ask, const char *answer);
void peer_writes_notice(struct world *world, int from);
/* ACP: what an agent tells of the sessions that it opens again. */
void peer_repeats_history(struct world *world);
/* ACP: the agent chooses another mode than the client has set. */
void peer_changes_mode(struct world *world);
/* MCP: a request becomes a task; progress of a task, its status or its end, also once more. */
void peer_makes_task(struct world *world);
void peer_goes_on_with_task(struct world *world);
/* Whether the other side has heard a message of the client's, so that both know the framing. */
bool peer_is_open(const struct world *world);

/* All messages from that number on, which were written in_batch, are the elements of one. */
void peer_says_batch(struct world *world, int from, int first);

/* peer_batch.c */
void peer_writes_batch(struct world *world, int from);

/* peer_asks.c */
void peer_begins(struct world *world);
/* Sends the notification after the handshake; false: not now. */
bool peer_opens(struct world *world);
void peer_client_asks(struct world *world);
/* MCP: the client asks for the result of a task, which may have ended. */
void peer_asks_for_result(struct world *world);
/* A task of the client's that runs, or has run; -1: none. */
int peer_some_task(struct world *world);
/* LSP, BSP: it tells the server to end. */
void peer_exits(struct world *world);
/* ACP: a prompt in a session that is open, as far as the client knows; or it opens one. */
void peer_insists(struct world *world);
/* The client asks for more than --parallel may hold. */
void peer_floods(struct world *world);
void peer_server_asks(struct world *world);

/* peer_cancels.c */
void peer_cancels(struct world *world, int from);
void peer_cancels_turn(struct world *world);
/* Cancels this request, or asks canceld to. */
void peer_asks_canceld(struct world *world);
/* ... once more, of one that has been acknowledged. */
void peer_asks_canceld_again(struct world *world);
/* The client cancels the handshake while it is not answered. */
void peer_cancels_opening(struct world *world);
/* The server cancels a request of the client's. */
void peer_cancels_foreign(struct world *world);

/* peer_person.c: a person with cancelctl. by: whose request is cancelled. */
void person_cancels(struct world *world, int by);
void person_sets(struct world *world);
void person_pings(struct world *world);
void person_restarts(struct world *world, bool force);
/* ... one of these. */
void person_acts(struct world *world);

/* peer_answers.c */
void peer_answers(struct world *world, int from);
void peer_answers_badly(struct world *world);
/* The server answers what is on its way to it, and must not be believed. */
void peer_answers_early(struct world *world);
/* A long answer under an id that nobody used. */
void peer_answers_nobody(struct world *world, int from);
void peer_reports(struct world *world);
/*
 * An error without an id: it answers a notification, or says that a message could not be read.
 */
void peer_errs(struct world *world, int from);
/*
 * The members of the handshake's result, with a comma before them; differs: those of another
 * server.
 */
const char *peer_opening(const struct world *world, bool differs);

/* peer_owns.c */
/* The server answers canceld's own requests; all: as far as its mood lets it. */
void peer_answers_canceld(struct world *world, bool all);
/* The server answers under an id that the former server knew. */
void peer_answers_of_old(struct world *world);
/* The first notice of a stream. */
void peer_begins_stream(struct world *world);
/* ... and another one. */
void peer_goes_on_with_stream(struct world *world);

/* servers.c: the servers, one after the other. */
/* The server may crash, or the next one may start. */
void servers_step(struct world *world);
/* Does at once what is due: true if that was something. */
bool servers_settle(struct world *world);
/* When something is due; MSEC_NEVER: nothing. */
int64_t servers_wake(const struct world *world);
/* That side's last message may lack the end of its line, and is heard all the same. */
void servers_end_input(struct world *world, int from);
/* The server ends for good. */
void servers_end(struct world *world);
/* Notes what the server could read and write, and whether canceld wants it ended. */
void servers_note(struct world *world);
/* Whether a server runs. */
bool servers_is_there(const struct world *world);

/* both.c: calls the session and its twin, and compares what comes out. */
void both_init(struct world *world, const struct session_config *config, action_fn *act);
void both_free(struct world *world);
void both_hush(struct world *world);
/*
 * The session hears the bytes; the twin hears them with the next ones, unless they are of a large
 * message.
 */
void both_hear(struct world *world, enum side from, struct span bytes, bool large);
/* No other bytes were read at this time. */
void both_heard(struct world *world, enum side from);
void both_end_of_input(struct world *world, enum side from);
void both_client_leaves(struct world *world, enum leaving leaving);
void both_server_gone(struct world *world);
void both_server_lost(struct world *world);
void both_server_back(struct world *world);
void both_server_deaf(struct world *world);
void both_server_shut(struct world *world);
enum person_cancel both_person_cancels(struct world *world, enum side from, const char *id);
/* How many requests in flight have another deadline now. */
size_t both_person_sets(struct world *world, struct wish wish, bool in_flight);
/* Whether it was done. */
bool both_person_pings(struct world *world);
bool both_person_restarts(struct world *world, bool force);
/* The last words of the server that goes. */
void both_quote(struct world *world);
void both_expire(struct world *world, bool heard);
int64_t both_sleep(struct world *world, bool stalled);
/* At most n of the next bytes to be written in the lane of side `from`; false: there are none. */
bool both_write(struct world *world, enum side from, size_t n, struct span *bytes);
/* Compares what both have counted. */
void both_compare(struct world *world);

/* wire.c */
/* Canceld reads at most n bytes of what that side wrote. */
void wire_feed(struct world *world, int from, size_t n);
/* Canceld writes at most n bytes to that side. */
void wire_drain(struct world *world, int to, size_t n);
/* Of what canceld writes to the server, the server reads nothing any more, as it goes. */
void wire_misses(struct world *world);
/* canceld reads a random number of bytes. */
void wire_reads_some(struct world *world, int from);
size_t wire_some_bytes(struct world *world);
bool wire_backed_up(const struct world *world, int from);

/* clock.c */
void clock_expire(struct world *world);
/*
 * The session is told that nothing happens until its next wake, which is returned. stalled: the
 * server is not read meanwhile.
 */
int64_t clock_sleep(struct world *world, bool stalled);

void clock_passes(struct world *world, int64_t ms);
/* Lets all written bytes be read. */
void clock_settle(struct world *world);
/* ... and lets time pass until nothing is due. */
void clock_runs_out(struct world *world);
