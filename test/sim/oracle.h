#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

/*
 * Knows what the two peers put in and sees what they get, and nothing of canceld: it shares no code with src/core. It
 * checks promises 1 to 3 of the manual message by message, and the rest when a world has come to its end.
 *
 * Every message of a peer carries a number of its own, "q", by which it is known again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

enum { CLIENT, SERVER };

enum kind {
	KIND_REQUEST,
	KIND_RESPONSE,
	KIND_CANCEL,
	KIND_TURN_CANCEL,  /* session/cancel */
	KIND_ACKNOWLEDGED, /* a request to canceld itself: $/canceld/cancel */
	KIND_PROGRESS,
	KIND_UPDATE, /* a notice that is a sign of life of a session's requests */
	KIND_NOTICE,
	KIND_JUNK, /* must never arrive */
};

struct sent { /* one message of a peer */
	int from;
	int life; /* of the server that was there then */
	enum kind kind;
	int ask;     /* the request that it is, answers, cancels or reports on; -1: none */
	char *bytes; /* as written, with its framing */
	size_t len;
	char *arrives; /* as it has to arrive, without framing */
	size_t arrives_len;
	enum spelling spelling; /* of a cancel */
	char reason[32];        /* ... as spelled, or empty */
	char session[16];       /* that it names, as spelled, or empty */
	uint64_t begun;         /* when its first byte reached canceld; 0: not yet */
	uint64_t heard;         /* when its last byte did */
	bool arrived;
	bool due;      /* it has to arrive */
	bool bad;      /* a malformed response */
	bool broken;   /* canceld said that it broke off */
	bool salvaged; /* a response among other text */
	bool confirms; /* a response that says that the request was cancelled */
	bool complain; /* junk that is answered with an error */
	bool grants;   /* a response that is a result */
	bool begins;   /* the first notice of a stream */
	bool differs;  /* ... from what the first server said of itself */
	bool torn;     /* the server that read it in parts has gone */
	bool again;    /* to be said to another server too: no order holds for it */
	bool ahead;    /* heard while canceld told a server what it had to know: no order holds for it either */
	bool urgent;   /* ... which may need it before it knows all */
	int repeat;    /* the life of the server that canceld has to say it to; 0: none */
	int own;       /* which question of canceld's it answers; -1: none */
};

enum { NO_TARGET = -2 };

struct ask { /* one request */
	int by;
	const struct deed *deed;
	char id[48];      /* as spelled by who asks */
	char wire[48];    /* as it arrived; empty: not yet */
	uint64_t arrived; /* when it did */
	char token[48], wire_token[48];
	char second_token[48]; /* LSP: for partial results */
	char session[16];
	char name[16]; /* what it sets; empty: all */
	bool task;
	int target; /* of a KIND_ACKNOWLEDGED: the request that it means, -1: one that never was; else NO_TARGET */
	bool open;  /* ... a session was open then */
	bool ours;  /* canceld answers it and nobody else sees it */
	int sent;
	int64_t idle, cap;     /* its deadlines; INT64_MAX: none */
	int64_t asked;         /* when canceld heard it */
	int64_t active;        /* the last sign of life that canceld heard */
	uint64_t cancelled;    /* when the asker's cancel was heard; 0: not */
	bool owed;             /* ... and an answer is due all the same */
	bool by_turn;          /* ... which was a session/cancel */
	bool at_once;          /* ... and its receiver has no time to answer */
	uint64_t expired;      /* when its deadline passed and its receiver was left to answer */
	int64_t ending_at;     /* by the clock: when it was cancelled, expired, or its turn was */
	bool crossed;          /* asked in a session with a cancelled turn: it may end with that */
	bool cascaded;         /* its turn was cancelled */
	bool written;          /* some answer was, perhaps not heard yet */
	bool doubled;          /* ... and another one */
	uint64_t replied;      /* when the first answer was heard whole; 0: not */
	uint64_t reply_begun;  /* when its first byte was */
	bool reply_large;      /* so that not all of it is looked at */
	uint64_t decided;      /* when canceld said that it answers; 0: not */
	int64_t decided_at;    /* ... by the clock */
	int version;           /* ... of ACP, as far as it was known then */
	bool unsent;           /* canceld said that it never went out */
	bool answered;         /* the asker got an answer */
	bool answered_by_peer; /* ... of the one it asked */
	int confirmed;         /* ... which said that it was cancelled */
	int cancels;           /* that arrived */
	int turn_cancels;      /* session/cancel that arrived since it did */
	bool missed;           /* its session/cancel arrived and it had not */
	bool refused;          /* canceld answered before it went on */
	int life;              /* of the server that it arrived at, or that asked it */
	uint64_t lost;         /* when that one had gone before it was over; 0: not */
	bool flying;           /* ... so it may be said that it was at work on it */
	bool begins;           /* a stream whose first notice this server has written */
	bool begun;            /* ... whose first notice was heard */
	bool resumed;          /* ... which was asked for again, so that the next first notice is none */
};

enum own_kind { OWN_PROBE, OWN_HANDSHAKE, OWN_SETTING };

struct own { /* what canceld itself has asked the server that is there */
	enum own_kind kind;
	char wire[48];
	int sent;      /* what it repeats; -1: nothing */
	int64_t at;    /* when it was read */
	bool written;  /* some answer was ... */
	bool answered; /* ... and was heard */
	bool granted;
};

enum { OWNS = 64, SETTINGS = 16, LISTS = 3 };

struct telling { /* canceld said that it cancels a request, or hands such a cancel on in other words */
	int ask;
	bool by_id; /* it may do so by its id */
	bool turn;  /* ... with session/cancel ... */
	int newer;  /* ... which would hit this newer turn too, so not; -1: there is none */
	enum spelling spelling;
	char reason[64];
	uint64_t step;
};

struct oracle {
	struct sent *sent;
	int sent_count;
	struct ask *asks;
	int ask_count;
	struct telling *tellings[2];   /* by whose request it is, in order */
	int telling_count[2], told[2]; /* said, and arrived */
	int repaired;                  /* session/cancel that were requests and have not arrived as notifications */
	int last[2];                   /* the last message of each peer that arrived */
	int hearing;                   /* the message that canceld reads */
	int junk_lines, error_lines;   /* unreadable messages of the client, and answers to them */
	uint64_t step;
	int64_t now, timeout, cap;
	int64_t grace; /* INT64_MAX: what is built in */
	const struct protocol *protocol;
	bool header; /* the framing */
	bool answer_cancelled, no_cancel, tool_errors, ask_progress, legacy_probe;
	bool declares[2], declared[2]; /* the capability cancellation.request, and known to canceld */
	int version;                   /* of ACP, that the server will choose */
	bool handshake;                /* it began with one */
	bool initialized;              /* which was answered: heard by canceld */
	bool modern;
	bool client_left, server_died;
	int life;       /* how many servers have gone */
	bool away;      /* ... and the next one is not there */
	bool fresh;     /* ... has read nothing yet */
	uint64_t lost;  /* when the last one had gone */
	uint64_t came;  /* when the next one did */
	int64_t back;   /* ... by the clock */
	bool replaying; /* ... and was not told all, as canceld's log has it */
	bool losing;    /* it is going now */
	int halves;     /* so many messages may have got lost that were half read */
	int may_fly;    /* so many requests may have been half read when it went */
	int may_reach;  /* ... and of its own, half read by the client */
	struct own owns[OWNS];
	int own_count;
	bool probing;                 /* canceld said that it asks whether the server is alive, and heard no answer */
	int64_t probe_at, kill_stuck; /* ... then; how long it waits for one, 0: it never asks */
	uint64_t probed, free;        /* when it last said so; when it last heard one */
	int64_t moved;                /* when a byte went to or from the server, or none could */
	int64_t spoke;                /* when one came from it */
	int64_t unread;               /* when none could, as the client did not read or the machine slept */
	bool may_pass;                /* a request was half read when it asked */
	bool unheld;                  /* an answer passes in parts, so that what it says does not wait */
	bool unprobed;                /* a cancel arrived since the server was asked that */
	uint64_t opened_at;           /* when the session was open */
	bool cut_short;               /* the world ended though canceld had a time to wake at */
	bool stuck;                   /* canceld wants the server ended */
	int shaken;                   /* the message that opened the session; -1: none */
	int opened;                   /* ... and the notice behind it; 0: none */
	int settings[SETTINGS], setting_count; /* requests that last */
	bool lists[LISTS];                     /* the server says when they change */
	int list_changes[LISTS];               /* that the client was told */
	int restarted, changed, changes;       /* what canceld's log says of that; servers that differ */
	int broken;                            /* so many have */
	int may_break;                         /* so many messages may have broken off in the middle */
	char verdict[1024];                    /* empty while every promise holds */
};

void oracle_init(struct oracle *oracle);
void oracle_free(struct oracle *oracle);

/* The peer says it; the message's number. bytes is taken over; arrives is copied: what has to arrive, if it does. */
int oracle_say(struct oracle *oracle, int from, enum kind kind, int ask, char *bytes, size_t len, const char *arrives);
int oracle_ask(struct oracle *oracle, int by, const struct deed *deed, const char *id);

/* The message's first or last byte has reached canceld. */
void oracle_begun(struct oracle *oracle, int sent);
void oracle_heard(struct oracle *oracle, int sent);

enum decision { DECIDED_ANSWER, DECIDED_TRUNCATED, DECIDED_STALLED, DECIDED_UNSENT, DECIDED_EXPIRED, DECIDED_LOST };

/*
 * Canceld's log says that it answers the request, or tells its receiver that it is cancelled. What is written arrives
 * later, and in between much may happen; the log alone never makes a promise held.
 */
void oracle_decided(struct oracle *oracle, int by, const char *id, enum decision decision);
void oracle_tells(struct oracle *oracle, int by, const char *id, bool translated);

/* The server has gone, and another one is to come. half: who has read a part of a message. */
void oracle_lost(struct oracle *oracle, const bool half[2]);
/* It is there. */
void oracle_back(struct oracle *oracle);
/* Canceld wants it to be ended. */
void oracle_stuck(struct oracle *oracle);
/* ... or not: has nothing shown that it is alive, for as long as it has? at_end: no time will pass any more. */
void oracle_still(struct oracle *oracle, bool at_end);
/* Canceld's log says that it asks whether the server is alive; half: which has read a part of a message. */
void oracle_probes(struct oracle *oracle, bool half);
/* Another server could go on with the session. */
bool oracle_may_restart(const struct oracle *oracle, bool stateless);
/* No request of the client's could be meant by that id, however it is read. */
bool oracle_is_nobodys(const struct oracle *oracle, const char *id);
/* It knows of the request. */
bool oracle_is_at_work(const struct oracle *oracle, const struct ask *ask);

/* Canceld's log says that the message that it reads from that side broke off. */
void oracle_broke(struct oracle *oracle, int from);

/* The peer got this message (without framing). */
void oracle_got(struct oracle *oracle, int to, const char *text, size_t len);

/* The asker waits for it, as far as the asker knows. */
bool oracle_waits(const struct ask *ask);

/* It was cancelled, but will be answered, as far as the asker knows. */
bool oracle_owes(const struct ask *ask);

/* How that side spells a cancel that it wants to hear, as far as canceld can know. */
enum spelling oracle_spelling(const struct oracle *oracle, int side);

/* All has been written and read, and every deadline has passed. */
void oracle_end(struct oracle *oracle);

void oracle_blame(struct oracle *oracle, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
