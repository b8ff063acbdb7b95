#pragma once

/*
 * The oracle knows what the two peers write and sees what they read, and nothing of canceld: it
 * shares no code with src/core. It checks promises 1 to 3 of the manual message by message, and the
 * others at the end of a world.
 *
 * Every message of a peer has a number of its own, "q", by which the oracle recognises it.
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
	KIND_STREAM, /* a notice of a stream behind the first one */
	KIND_NOTICE,
	KIND_BATCH, /* its elements have numbers of their own, just before its own */
	KIND_JUNK,  /* must never arrive */
};

struct sent { /* one message that a peer has written */
	int from;
	int life; /* which server was there: how many had gone before */
	enum kind kind;
	int ask;     /* the request that it is, answers, cancels or reports on; -1: none */
	char *bytes; /* as written, with its framing */
	size_t len;
	char *arrives; /* as it must arrive, without framing */
	size_t arrives_len;
	enum spelling spelling; /* of a cancel */
	char reason[32];        /* its reason as spelled, or empty */
	char session[16];       /* the session that it names, as spelled, or empty */
	uint64_t begun;         /* when its first byte reached canceld; 0: not yet */
	uint64_t heard;         /* when its last byte did */
	bool arrived;
	bool due;      /* it must arrive */
	bool bad;      /* a malformed response ... */
	bool too_long; /* ... or one that is longer than --max-message */
	bool salvaged; /* a response among other text */
	bool confirms; /* a response that confirms the cancel */
	bool complain; /* junk that is answered with an error */
	bool dropped;  /* a session/cancel that does not pass, as canceld reported */
	bool grants;   /* a response that is a result */
	bool unknown;  /* a response that wants a login */
	bool idle;     /* ACP v2: a KIND_UPDATE that says that the session's turns have ended */
	bool of_turn;  /* ... that has a meaning only within a turn */
	int mode;      /* ... or that the session has this mode now; 0: not */
	bool begins;   /* the first notice of a stream */
	bool ends;     /* the notice that a task has ended */
	bool differs;  /* ... whose version differs from that of the first server */
	bool again;    /* to be sent to another server too: no order is checked */
	bool ahead;    /* heard during the replay: no order is checked either */
	bool urgent;   /* ... and the server may need it before the replay ends */
	bool
	    /*
	     * a session/cancel that is a request, and has not arrived as the notification that it
	     * should be
	     */
	    repaired;
	int repeat;        /* the server to which canceld must replay it, as in life; 0: none */
	int own;           /* the question of canceld's that it answers; -1: none */
	bool last;         /* an answer whose id comes last */
	bool declines;     /* the client does not know the method */
	int batch;         /* the batch that it is in; -1: it comes alone */
	int first;         /* of a batch: its first element; else -1 */
	int told;          /* how often canceld's log says what became of it ... */
	bool told_dropped; /* ... that it does not pass */
	/*
	 * a cancel that passes, and is dropped elsewhere; an answer to what was forgotten; progress
	 * of a task that may have ended
	 */
	bool vain;
	int unclean; /* what --clean-text has to replace in it ... */
	int cleaned; /* ... and what canceld's log says that it did; 0: nothing */
};

/* What each server writes to its stderr as it ends; errors quote it. */
#define ORACLE_LAST_WORDS "no more disk"

enum { NO_TARGET = -2 };

struct ask { /* one request */
	int by;
	const struct deed *deed;
	char id[48];        /* as spelled by the requester */
	char wire[48];      /* as it arrived; empty: it has not */
	uint64_t arrived;   /* when it did */
	int64_t arrived_at; /* ... in ms */
	char token[48], wire_token[48];
	char second_token[48]; /* LSP: for partial results */
	char session[16];
	char name[16];  /* the name that it sets; empty: all */
	int mode;       /* ACP: the mode that it sets; 0: it names none */
	bool asks_task; /* it asks to become a task ... */
	bool task;      /* ... and may, as its receiver declared that */
	bool made_task; /* ... and did: that was heard after it was given up */
	int task_cancels;
	/* it became a task that its requester waits for: not, it runs, who knows, it has ended */
	enum { TASK_NONE, TASK_RUNS, TASK_UNSURE, TASK_ENDED } task_state;
	int of_task; /* the number of such a one, from 1, whose result it asks for; 0: none ... */
	bool ends_task; /* ... and that ran when canceld heard so */
	/*
	 * of a KIND_ACKNOWLEDGED: the request that it names, -1: one that never was; else NO_TARGET
	 */
	int target;
	char named[64];     /* ... as it spells the id */
	bool open;          /* ... a session was open then */
	bool ours;          /* canceld answers it, and it does not pass ... */
	bool too_long;      /* ... as it is longer than --max-message ... */
	uint64_t discarded; /* ... when canceld's log reported that */
	bool in_batch;      /* its answer was heard in a batch */
	bool untracked;     /* in a batch: nor does canceld answer it; its receiver does */
	bool ours_late;     /* ... or it does, and canceld answers it if the client does not */
	bool declined;      /* ... which it does not know */
	bool our_answer;    /* ... and canceld's log reports that it does */
	int sent;
	int64_t idle, cap;     /* its deadlines; INT64_MAX: none */
	int64_t given[2];      /* ... as the options have them: idle, cap */
	int64_t changed_at;    /* when a person last changed them; 0: nobody has */
	int64_t asked;         /* when canceld heard it */
	int64_t active;        /* the last sign of life that canceld heard */
	int64_t perhaps;       /* ... or that may have been taken for one */
	int64_t since;         /* when its deadlines began */
	bool waits;            /* they have not, as the server may still be starting */
	bool at_work;          /* ... or the server had surely started when canceld heard it */
	bool waited;           /* ... when canceld reported that it answers */
	bool early;            /* ... when nothing had answered the handshake */
	bool called_cancelled; /* its error says that its receiver was told */
	uint64_t cancelled;    /* when the requester's cancel was heard; 0: not */
	bool owed;             /* ... and an answer is still owed */
	bool by_turn;          /* ... which was a session/cancel */
	bool at_once;          /* ... and its receiver has no time to answer */
	bool turn_cancelled;   /* ACP v2: it was answered, and session/cancel was heard since */
	bool ended;            /* the server ended this stream: that is no answer */
	bool accepted;         /* ACP v2: it was answered without a stopReason, and its turn runs */
	/* a session/cancel that tells of it was heard, or canceld reported that it sends one */
	bool told;
	uint64_t expired;     /* when its deadline passed and its receiver was left to answer */
	int64_t ending_at;    /* in ms: when it was cancelled, expired, or its turn was */
	bool crossed;         /* sent in a session with a cancelled turn: it may end with that */
	bool cascaded;        /* its turn was cancelled */
	bool touched;         /* ... or perhaps */
	bool told_in_vain;    /* its receiver has read a cancel that passed only with its batch */
	bool apart;           /* ACP v2: sent in no turn */
	bool written;         /* an answer was written, perhaps not heard yet */
	bool doubled;         /* ... and another one */
	uint64_t replied;     /* when the first answer was heard whole; 0: not */
	uint64_t reply_begun; /* when its first byte was */
	uint64_t decided;     /* when canceld reported that it answers; 0: not */
	int64_t decided_at;   /* ... in ms */
	/* ACP v1: when its agent may have gone on with it after that; 0: it did not */
	int64_t gone_on_at;
	int version;           /* ... the version of ACP, as far as it was known then */
	bool held;             /* ... and held it back then, so that it was not idle */
	bool unsent;           /* canceld reported that it was not sent */
	bool answered;         /* the requester received an answer */
	bool answered_by_peer; /* ... from its receiver */
	bool confirms;         /* the one that was heard does */
	int confirmed;         /* ... which confirmed the cancel */
	int cancels;           /* cancels that arrived */
	int turn_cancels;      /* session/cancel messages that arrived after it */
	/* when canceld sent or heard the last one that tells of it, as far as known; 0: none */
	uint64_t turn_told;
	bool missed;     /* its session/cancel arrived, and the request had not */
	bool refused;    /* canceld answered it and did not send it */
	bool unrecorded; /* canceld reported that it cannot be repeated to another server */
	int life;        /* the server that it arrived at, or that sent it */
	uint64_t lost;   /* when that server had gone before the request ended; 0: not */
	int64_t lost_at; /* ... in ms, if it was the server's */
	bool flying;     /* ... so canceld may report it as SERVER_LOST */
	bool begins;     /* a stream whose first notice this server has written */
	bool begun;      /* ... whose first notice was heard */
	struct {         /* --heartbeat */
		/* when it was heard, or the last progress or message of canceld's for it */
		int64_t at;
		uint64_t step; /* ... in which order */
		int64_t idle;  /* when canceld last had a reason to leave one out that was due */
		bool begun;    /* MCP: a value was heard; LSP: the work has begun, and not ended */
		double value;  /* ... that value */
		int count;     /* messages since then */
		double seen;   /* the last value that arrived */
		/* progress of an older request with its token was heard, which may count for it */
		bool unsure;
	} beat;
	/* --kill-ignoring: when canceld told its receiver that it is cancelled; 0: not */
	int64_t told_at;
	int64_t told_surely_at; /* ... of which it knew then */
	/* ... the last time when the server surely had a reason not to have read that */
	int64_t excused_at;
	bool overdue;   /* ... and its receiver has had its time since, as far as canceld looked */
	bool resumed;   /* ... which was replayed, so that the next first notice is not due */
	int rule;       /* --parallel: the rule that it counts with, from 1; 0: none */
	bool may_wait;  /* ... it may be held: another one is, or all places may be taken */
	bool must_wait; /* ... it has to be */
	bool waiting;   /* ... canceld reported that it is held, and that is all */
	bool unread;    /* ... it was sent, the server read nothing of it and is going now */
	bool doubted;   /* ... of which canceld cannot know that */
	/* it did not wait, was written, and the server, which is going now, read nothing of it */
	bool unseen;
	bool kept; /* canceld keeps its message for the next server */
	/* it is sent to the next one, as canceld reported: ahead of the others, so that it stays */
	bool repeated;
	uint64_t released; /* ... when canceld reported that it is sent after all; 0: not */
	bool withdrawn;    /* it was given up and no byte of it had been read: it never arrives */
	bool person;       /* a person wants it cancelled */
	bool end_told;     /* canceld's log told its end */
	bool dismissed;    /* it was lost with a server that a person had ended */
	bool was_waiting;  /* it was held when canceld gave it up */
	bool by_person;    /* a person cancelled it, and it was answered at once */
};

enum own_kind {
	OWN_PROBE,
	OWN_PING, /* a person's */
	OWN_TRIAL,
	OWN_HANDSHAKE,
	OWN_SETTING,
	OWN_SESSION,
	OWN_LOGIN,
	OWN_FENCE
};

struct own { /* a question of canceld's to the present server */
	enum own_kind kind;
	char wire[48];
	int sent;      /* the message that it repeats; -1: none */
	int64_t at;    /* when it was read */
	bool written;  /* an answer was written ... */
	bool answered; /* ... and was heard */
	bool granted;
};

enum { OWNS = 160, /* a probe after each cancel, too */ SETTINGS = 16, LISTS = 3, SESSIONS = 3 };

struct open_session { /* ACP: a session that the client has open */
	int made;     /* the request that opened it; -1: none */
	int mode;     /* the last session/set_mode; -1: none */
	bool opening; /* the present server is told to open it again */
	bool wanting; /* ... and wants a login first */
	bool lost;    /* no server has opened it again: canceld answers its prompts */
};

/* canceld reported that it cancels a request, or forwards a cancel in another form */
struct telling {
	int ask;
	bool by_id;       /* it may name the request's id */
	char session[16]; /* ... or it cancels this session; empty: it does not */
	enum spelling spelling;
	char reason[64];
	uint64_t step;
};

enum { RULES = 3, WISHES = 32 };

struct wish { /* a deadline that a person has set */
	bool cap;
	const char *method; /* NULL: any */
	int64_t after;      /* INT64_MAX: none */
};

struct places {                    /* a rule of --parallel */
	const char *method, *name; /* NULL: any */
	int most;
};

struct beating { /* canceld reported that it tells the client that this request is waited for */
	int ask;
	double value;
};

struct oracle {
	struct sent *sent;
	int sent_count;
	struct ask *asks;
	int ask_count;
	struct telling *tellings[2];   /* by the side of the requester, in order */
	int telling_count[2], told[2]; /* reported, and arrived */
	int64_t heartbeat, slept;      /* its time, 0: none; when the machine last slept */
	struct beating *beatings;
	int beating_count, beaten; /* reported, and arrived */
	uint64_t requests; /* of the client's that canceld heard, without those to canceld itself */
	int last[2];       /* the last message of each peer that arrived */
	int hearing;       /* the message that canceld reads */
	int listening;     /* the message, or part of one, that it is given now; -1: none */
	int junk_lines, error_lines; /* unreadable messages of the client, and answers to them */
	uint64_t step;
	int64_t now, timeout, cap;
	int64_t grace; /* INT64_MAX: what is built in */
	const struct protocol *protocol;
	bool header; /* the framing */
	size_t max_message;
	bool answer_cancelled, no_cancel, tool_errors, ask_progress, legacy, clean_text;
	/* the capability cancellation.request, and known to canceld */
	bool declares[2], declared[2];
	int version;         /* of ACP, that the server will choose */
	bool handshake;      /* it began with one */
	bool initialized;    /* which was answered: heard by canceld */
	bool start_answered; /* by any response, also a bad one */
	bool there;          /* a message of the server's was heard */
	bool served;         /* ... which answered a request */
	int64_t open_by;     /* when a modern session counts as open in any case */
	bool modern;
	/* what the server declares: tools/call may become tasks; they can be cancelled */
	bool tasks, cancels_tasks;
	bool draining; /* the client has closed its output, and waits for its answers */
	bool client_left, server_died; /* server_died: or closed its stdin */
	uint64_t left;                 /* when the client left */
	bool shut;                     /* canceld has closed its stdin */
	int64_t deaf_at;               /* when it closed its stdin and ran on; 0: it did not */
	int life;                      /* how many servers have gone */
	bool away;                     /* ... and the next one is not there */
	bool resting;                  /* ... and comes when the client asks something */
	bool ended_on_probe;           /* the first one ended on server/discover */
	bool fresh;                    /* ... has read nothing yet */
	uint64_t lost;                 /* when the last one had gone */
	uint64_t came;                 /* when the next one did */
	int64_t back;                  /* ... in ms */
	bool replaying;                /* ... and was not told all, as canceld's log has it */
	bool losing;                   /* it is going now */
	int halves;                    /* how many half-read messages may be lost */
	int may_fly;                   /* how many requests may have been half read when it ended */
	int may_reach;                 /* ... and of its own, half read by the client */
	struct own owns[OWNS];
	int own_count;
	bool probing; /* canceld reported a probe, and heard no answer */
	const char *answered,
	    /* the method of the server's that canceld answers; NULL: none. With this result */
	    *answer;
	/* ... at once, or when the client has not answered after so many ms; 0: at once */
	int64_t answered_after;
	int64_t probe_at, kill_stuck; /* ... then; how long it waits for one, 0: it never asks */
	uint64_t probed, free; /* when it last reported a probe; when it last heard an answer */
	int64_t moved;         /* when a byte last went to or from the server, or none could */
	int64_t owed;          /* when it last waited for the client */
	int64_t spoke;         /* when a byte last came from the server */
	int64_t unread; /* when none could, as the client did not read or the machine slept */
	bool may_pass;  /* a request was half read when it asked */
	/* the id of the question whether the server answers any; empty: not asked */
	char trial[48];
	int64_t tried_at;     /* ... in ms */
	bool tried;           /* ... it was answered, or not in time */
	bool mute, was_mute;  /* ... not in time, as canceld reported */
	int64_t answered_at;  /* when the server last answered a request */
	int64_t responded_at; /* ... or perhaps did */
	int64_t told_last;    /* when it was last told of a cancel */
	int64_t excused_at;   /* the last time when it perhaps had a reason not to have read one */
	/* what was heard before this may pass: it stands before an answer of the client's */
	uint64_t let;
	bool unprobed; /* a cancel arrived after the probe, at this time */
	int64_t unprobed_at;
	bool untracked[2]; /* a batch with requests of that side's was heard */
	bool cut_short;    /* the world ended though canceld had a time to wake at */
	bool stuck;        /* canceld wants the server ended */
	bool dismissed;    /* ... as a person does */
	bool pings;        /* a person asks whether the server is alive */
	char ping[48];     /* ... under this id, in a question that was not read yet */
	bool pinged;       /* ... and has not heard */
	int exit;          /* LSP, BSP: the client tells the server to end; 0: it did not */
	struct places rules[RULES]; /* --parallel */
	int rule_count;
	struct wish wishes[WISHES]; /* no two are for the same */
	int wish_count;
	bool half;             /* the server has read a part of a message */
	int64_t kill_ignoring; /* how long it may ignore a cancel; 0: for ever */
	bool ignored;          /* ... longer than that, as canceld reported */
	bool due_ignored;      /* ... which it must report now */
	bool stalled;          /* canceld was told that the server is not being read ... */
	int64_t stalled_at;    /* ... and was not yet told at this time that it is again */
	bool paused;           /* the time of what idles may not pass ... */
	int64_t paused_at;     /* ... and did not at this time */
	uint64_t last_heard;   /* when the last message was heard */
	int shaken;            /* the message that opened the session; -1: none */
	int opened;            /* ... and the notice behind it; 0: none */
	int shown; /* the request that showed the era of MCP, without a handshake; -1: none */
	int settings[SETTINGS], setting_count; /* requests that last */
	/* ACP: the method with which the server opens a session again; NULL: none */
	const char *reopens;
	struct open_session sessions[SESSIONS]; /* "s0" to "s2" */
	bool unopened, stateless; /* no server opened the last one again; that does not matter */
	int login;                /* the last authenticate; -1: none */
	bool logged_in;           /* ... was repeated to this server */
	int fences;              /* reported questions that end the history, and have not arrived */
	bool lists[LISTS];       /* the server says when they change */
	int list_changes[LISTS]; /* that the client was told */
	int restarted, changed, changes; /* counts in canceld's log; servers that differ */
	int may_break;                   /* how many may have broken off in the middle */
	char verdict[1024];              /* empty while every promise holds */
};

void oracle_init(struct oracle *oracle);
void oracle_free(struct oracle *oracle);

/*
 * A peer writes a message; returns its number. Takes ownership of bytes; arrives is copied: the
 * message that must arrive, if any.
 */
int oracle_say(struct oracle *oracle, int from, enum kind kind, int ask, char *bytes, size_t len,
    const char *arrives);
int oracle_ask(struct oracle *oracle, int by, const struct deed *deed, const char *id);

/* The message's first or last byte has reached canceld. */
void oracle_begun(struct oracle *oracle, int sent);
void oracle_heard(struct oracle *oracle, int sent);

enum decided {
	DECIDED_ANSWER,
	DECIDED_REFUSED,
	DECIDED_UNSENT,
	DECIDED_EXPIRED,
	DECIDED_LOST,
	DECIDED_FOR_CLIENT, /* --answer */
	DECIDED_BY_PERSON,  /* cancelctl: it is answered ... */
	DECIDED_LEFT,       /* ... or its receiver still has the grace to answer */
};

/* canceld's log says what became of the message at hand, by that word. */
void oracle_told(struct oracle *oracle, bool drops, const char *word);
/* Otherwise: it said so once. */
void oracle_told_all(struct oracle *oracle);
/* canceld's log says how a request of the client's has ended, by the word of the totals. */
void oracle_ends(struct oracle *oracle, const char *id, const char *word);

/* Time has passed, or a message was heard: deadlines begin if the session is open now. */
void oracle_look(struct oracle *oracle);

/* What was due was done: no request is open beyond its cap. */
void oracle_look_for_late(struct oracle *oracle);

/*
 * canceld's log reports that it answers the request, or tells its receiver of the cancel. The bytes
 * arrive later, and much may happen in between; the log alone never fulfils a promise.
 */
void oracle_decided(struct oracle *oracle, int by, const char *id, enum decided decision);
void oracle_tells(struct oracle *oracle, int by, const char *id, const char *session,
    bool translated);

/*
 * canceld's log reports that it holds the request, or has too many of them; that it sends it after
 * all.
 */
void oracle_waits_for_place(struct oracle *oracle, const char *id);
void oracle_is_full(struct oracle *oracle);
void oracle_releases(struct oracle *oracle, const char *id);
/* canceld's log reports that it sends the request to the next server, ahead of the others. */
void oracle_repeats(struct oracle *oracle, const char *id);
/*
 * The request, awaited and not read yet, that the *len bytes begin with, and that the next server
 * would be sent; *len: its own. -1: they begin with none.
 */
int oracle_find_unread(const struct oracle *oracle, const char *text, size_t *len);
/* The server has gone: what it had not read is sent to the next one. */
void oracle_look_for_missed(struct oracle *oracle);
/*
 * Otherwise: what was heard now need not be held; and all that is held has to be. queued: not all
 * is written.
 */
void oracle_heard_place(struct oracle *oracle);
void oracle_look_for_places(struct oracle *oracle, bool queued);
/* canceld's log reports that a message of that side's with this id is too long to pass. */
void oracle_discards(struct oracle *oracle, int from, const char *id);
/* canceld's log reports that the session/cancel at hand does not pass. */
void oracle_drops_turn_cancel(struct oracle *oracle);
/* Whether the request may wait for a place, even for ever. */
bool oracle_may_wait(const struct oracle *oracle, const struct ask *ask);

/* canceld's log reports that --clean-text has replaced so much in the message that it reads. */
void oracle_cleans(struct oracle *oracle, int count);

/* canceld's log reports that the client is told that its request is waited for. */
void oracle_beats(struct oracle *oracle, const char *id);
/* What was due by now must have been reported. */
void oracle_look_for_beats(struct oracle *oracle, bool reads);

/*
 * canceld reported that there is no room to keep this request of the client's for another server.
 */
void oracle_unrecorded(struct oracle *oracle, const char *id);

/*
 * The server has gone, and another one will come. half: the sides that have read a part of a
 * message.
 */
void oracle_lost(struct oracle *oracle, const bool half[2]);
/* The next server has started. */
void oracle_back(struct oracle *oracle);
/* canceld's log reports that the next server was told all. */
void oracle_restarted(struct oracle *oracle);

/*
 * canceld does not wait for the answer to this question of its own any more, or has got an error.
 */
void oracle_gives_up(struct oracle *oracle, const char *id);
/* canceld wants the server to be ended. */
void oracle_stuck(struct oracle *oracle);
/*
 * Otherwise: the server must have shown that it is alive in time. at_end: no more time will pass.
 */
void oracle_still(struct oracle *oracle, bool at_end);
/*
 * canceld's log reports that the cancel at hand goes to the server; that the server ignores that of
 * this request.
 */
void oracle_forwards(struct oracle *oracle);
void oracle_ignores(struct oracle *oracle, const char *id);
/* canceld is told whether the server is being read from now on. */
void oracle_ignore_stall(struct oracle *oracle, bool stalled);
/* Otherwise: what canceld has heard now was no reason to end the server; and time has passed. */
void oracle_ignore_heard_all(struct oracle *oracle);
void oracle_look_for_ignored(struct oracle *oracle);

/*
 * Nothing is due now: the prompts of sessions that no server has opened again must have been
 * answered.
 */
void oracle_look_for_unopened(struct oracle *oracle);

/*
 * A person asks canceld to cancel that request, to ask the server whether it is alive, or to have
 * another one started; done: canceld does that.
 */
enum person_cancel { PERSON_CANCELS, PERSON_IS_REFUSED, PERSON_FINDS_NONE };
void oracle_person_cancelled(struct oracle *oracle, int number, enum person_cancel done);
void oracle_person_pinged(struct oracle *oracle, bool done);
void oracle_person_restarted(struct oracle *oracle, bool done, bool force);
/*
 * A person sets a deadline for the requests that come and, in_flight, for those that are there; or
 * takes back what was set, WISH_UNSET. changed: how many of these have another deadline now, as
 * canceld says.
 */
enum { WISH_UNSET = -1 };
void oracle_person_sets(struct oracle *oracle, struct wish wish, bool in_flight, size_t changed);
/* canceld's log reports that this request of the client's, who has left, was never sent. */
void oracle_says_unsent(struct oracle *oracle, const char *id);
/* canceld's log reports the question of such a ping. */
void oracle_person_asks(struct oracle *oracle, const char *id);

/* canceld's log reports a probe; half: the server has read a part of a message. */
void oracle_probes(struct oracle *oracle, bool half);
/* canceld's log reports the question whether the server answers any; and that it does not. */
void oracle_tries(struct oracle *oracle, const char *id);
void oracle_mutes(struct oracle *oracle);
/* Whether another server could continue the session. */
bool oracle_may_restart(const struct oracle *oracle, bool stateless);

/*
 * The first server was asked for server/discover, and has answered nothing; the client waits for an
 * answer. surely: it has written no answer either that came late, or names no request.
 */
bool oracle_ended_on_probe(const struct oracle *oracle, bool surely);
bool oracle_is_asked(const struct oracle *oracle);
/* Whether the id can mean no request of the client's, however it is read. */
bool oracle_is_nobodys(const struct oracle *oracle, const char *id);
/* Whether the server knows the request. */
bool oracle_is_at_work(const struct oracle *oracle, const struct ask *ask);

/* The peer has read this message (without framing). */
void oracle_got(struct oracle *oracle, int to, const char *text, size_t len);

/* Whether the requester waits for the answer, as far as it knows. */
bool oracle_waits(const struct ask *ask);

/* Whether it was cancelled and will still be answered, as far as the requester knows. */
bool oracle_owes(const struct ask *ask);

/* The form of the cancels that the side understands, as far as canceld can know. */
enum spelling oracle_spelling(const struct oracle *oracle, int side);

/* The end of a world: all bytes were written and read, and every deadline has passed. */
void oracle_end(struct oracle *oracle);

void oracle_blame(struct oracle *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
