#ifndef SESSION_INSIDE_H
#define SESSION_INSIDE_H

/* What the parts of the session share with each other and with nobody else. */

#include "core/compose.h"
#include "core/decide.h"
#include "core/envelope.h"
#include "core/finished.h"
#include "core/framing.h"
#include "core/pending.h"
#include "core/session.h"

enum reading {          /* what becomes of the frame that is being read */
	READ_HOLD,      /* undecided: its bytes are kept */
	READ_PASS,      /* it passes in parts, and is accounted for at its end */
	READ_PASSED,    /* it passes in parts, and is accounted for already */
	READ_DISCARD,   /* too large to keep: dropped in parts, accounted for at its end */
	READ_DISCARDED, /* dropped in parts, and accounted for already */
	READ_LOST,      /* dropped in parts, as its reader has gone; a request is accounted for at its end */
};

struct replay;

struct passing {                     /* READ_PASS, READ_PASSED */
	msec_t patience;             /* how long it may stand still ... */
	msec_t grace;                /* ... once its requester has cancelled it */
	bool cancelled;              /* READ_PASSED: it has ... */
	bool abandoned;              /* ... and no answer is owed any more */
	struct buf id, method, name; /* READ_PASSED: of the request that is being answered */
	struct buf turn;             /* ... the session whose turn it is, if it is one */
	msec_t received;             /* ... and its time, steady */
};

struct party { /* one side: what it writes, and what it asked */
	struct lane *lane;
	struct frame frame;
	struct pending pending;
	enum reading reading;
	struct passing passing;
	msec_t heard; /* steady time of the last bytes */
	uint64_t requests;
	bool spoke;         /* it has sent a message ... */
	bool needs_jsonrpc; /* ... and the first one had the member "jsonrpc" */
	bool untracked;     /* it asked what cannot be tracked: unknown answers may be for that */
	bool ended;         /* no more bytes come from it */
	bool gone;          /* it will answer nothing any more */
};

enum era { ERA_NONE, ERA_LEGACY, ERA_MODERN };

struct session {
	struct session_config config;
	const struct dialect *dialect; /* as far as the traffic has shown it */
	bool dialect_known, framing_known;
	bool plain; /* the client speaks no JSON-RPC: everything passes */
	action_fn *act;
	void *user;
	struct text_table texts;
	struct party party[2]; /* by enum side */
	struct scan *salvage;
	struct buf scratch; /* of a message being composed */
	uint64_t counts[WHY_COUNT];
	msec_t now, planned;   /* the caller's clock; when we asked to be woken */
	bool stalled, resumed; /* the server is not read; it was not until a moment ago */
	msec_t skew;           /* how long everything stood still, in all */
	msec_t steady;         /* the caller's clock without that */
	msec_t idle;           /* ... and without the time that a person was waited for, or the server was not read */
	msec_t asking;         /* steady time when the server last waited for an answer of the client's */
	enum era era;
	bool initialized;    /* initialize was answered */
	bool declared[2];    /* by enum side: who has the capability cancellation.request (ACP RFD) */
	int version;         /* result.protocolVersion, if it is a number (ACP) */
	uint64_t modern_end; /* where the first modern request ends in the client's lane */
	bool omits_id;       /* errors without an id leave it out (MCP 2025-11-25 and later) */
	bool withheld;       /* some cancel waits for the era */
	bool batch_said, wants_end, timed_out;
	struct finished finished; /* requests of the client's */
	struct ack *acks;         /* session_ack.c */
	size_t ack_count;
	struct replay *replay; /* NULL: the server is never started again */
	struct request *probe; /* not answered yet; or NULL */
	uint64_t probe_taken;  /* how much of the client's lane the server had taken when it was looked at last */
	uint64_t probe_free;   /* how far its queue has waited for an answer already */
	struct buf probe_meta; /* of the request that was cancelled */
	struct buf quote;      /* of the server's last words */
	struct buf refusal;    /* why the last server did not go on with the session; empty: it did */
	bool probe_again;      /* a cancel went out since the probe */
	bool closed;           /* the client has told the server to end */
	bool away;             /* the server has gone, and another one will come */
	bool restarted;        /* another one has */
	bool given_up;         /* no other one will: they have failed too often */
	bool stuck, served;    /* see session_server_stuck, session_server_served */
	uint32_t minted;
	int server_status, server_signal;
};

struct edit {            /* bytes of the message that are replaced */
	uint64_t offset; /* from the frame's first byte */
	size_t len;
	struct span with; /* lives until the message is passed */
};

enum { MESSAGE_EDITS = 3 };

struct message { /* the one at hand */
	enum side from;
	const struct scan *scan;
	struct span text;            /* without byte order mark and line end */
	uint64_t begin;              /* of what goes when it is withdrawn: of its header, else of text */
	uint64_t start, end;         /* of text, as positions in the lane of `from` */
	uint64_t next;               /* position behind its line end */
	const struct cancel *cancel; /* how it is spelled, if it is one */
	bool passed;                 /* it went out in parts: nothing can be changed any more */
	bool bound;                  /* it says nothing to any server but this one, which may need it now */
	enum why word;               /* what it passes as: RELAYED, RECOVERED or ID_COERCED */
	int edit_count;
	/* What stands behind this is large, and is not cleared for each message. */
	struct envelope envelope;
	struct edit edits[MESSAGE_EDITS]; /* by offset */
};

/* session.c */
void session_report(struct session *session, const struct action *action);
/* Somebody is told of such decisions; else they are counted only. */
bool session_tells(const struct session *session, enum why why);
void session_note(struct session *session, enum side to, enum why why);
void session_on_message(struct session *session, struct message *message);
/* An action about a request; request may be NULL. */
struct action action_of(struct session *session, enum verb verb, enum side side, enum why why,
    const struct request *request);

/* session_message.c: a message passes, as it is or changed, or does not. */
/* The header of a message of len bytes, whose text begins at start; what lies before start is dropped, or is that. */
void session_pass_head(struct party *party, uint64_t start, uint64_t len);
void message_pass(struct session *session, struct message *message, enum why why, const struct request *request);
void message_drop(struct session *session, struct message *message, enum why why, const struct request *request);
/* Its bytes leave the lane here, as they go out elsewhere. */
void message_take(struct session *session, struct message *message, enum why why, const struct request *request);
void message_edit(struct message *message, enum scan_field field, struct span with);
/* Leaves the lane without a word. */
void message_discard(struct session *session, const struct message *message);
/* Bytes at that offset from the frame's first byte. */
void message_insert(struct message *message, uint64_t offset, struct span with);

/* session_open.c: what the session speaks. */
/* Looks at the first bytes; false: they do not show yet how to read on. ended: no more will come. */
bool session_settle_framing(struct session *session, enum side from, bool ended);
/* Looks at a request of the client's: the first one shows the dialect, and, in MCP, the era. */
void session_note_request(struct session *session, const struct message *message);
/* true if messages of canceld's own may be written to the server. */
bool session_settled(const struct session *session);

/* session_request.c */
void session_on_request(struct session *session, struct message *message);
struct span session_mint(struct session *session, enum side requester, bool string);
/* A number that session_mint has given. */
bool session_has_minted(const struct session *session, struct span number);

/* session_answer.c */
/* The request that a response of `from` names, even if the response is malformed; or NULL. */
struct request *session_named_request(struct session *session, enum side from, const struct scan *scan);
/* Requests of that side that were answered with a task, whose progress is still relayed. */
size_t session_tasks(const struct session *session, enum side requester);
void session_on_response(struct session *session, struct message *message);

/* session_notice.c */
void session_on_notification(struct session *session, struct message *message);
/* It has to be read whole, as it may be dropped or change a request. */
bool session_reads_whole(const struct session *session, struct span method);

/* session_ack.c */
bool session_is_acknowledged_cancel(struct span method);
void session_on_acknowledged_cancel(struct session *session, struct message *message);
/* The request is answered, or nobody waits for it any more: whoever wanted to know that is told, and it is remembered. */
void session_note_end(struct session *session, enum side requester, const struct request *request);
/* The same of one whose answer was passing to the client in parts, to its end or not. */
void session_note_passed(struct session *session, bool whole);
/* The same of one that was answered at once. */
void session_note_refused(struct session *session, const struct message *message);
void session_free_acks(struct session *session);
/* A handshake has been answered, or the protocol needs none. */
bool session_is_initialized(const struct session *session);

/* session_ask.c */
bool session_may_ask(const struct session *session, const struct message *message, const struct pending_names *names,
    unsigned traits);
/* Puts the token into the request; false: there is no place for one. storage: kept until the message has passed. */
bool session_ask_progress(struct session *session, struct message *message, struct span token, struct buf *storage);

/* session_turn.c */
bool session_is_turn_cancel(const struct session *session, const struct message *message);
void session_on_turn_cancel(struct session *session, struct message *message);
/* A session/cancel goes out: what the agent asked in that turn ends too, after the grace. known: it is the client's own. */
void session_cascade(struct session *session, struct span session_id, bool known);
/* What the agent asked in a cancelled turn is answered only now: it has the whole grace from here on. */
void session_regrace(struct session *session, struct span session_id);
/* A request of the server's has come: it ends with its turn if that was cancelled before. */
void session_join_cascade(struct session *session, struct request *request);

/* session_record.c: what a new server would have to be told */
struct replay *session_new_replay(void);
void session_free_replay(struct replay *replay);
void session_record_request(struct session *session, const struct message *message, struct request *request,
    const struct method *method);
/* Whether it is the notification that opens the session, and a new server would have to be told. */
bool session_is_opening(const struct session *session, enum side from, struct span method);
/* true: it is kept. */
bool session_record_notification(struct session *session, const struct message *message);
/* Where it stands, if it is kept and not answered yet. */
bool session_find_record(const struct session *session, const struct request *request, size_t *i);
/* granted: with a result. */
void session_record_answer(struct session *session, const struct request *request, bool granted);
void session_record_end(struct session *session, const struct request *request);
/* What the server says of itself in its answer to the handshake. */
void session_record_server(struct session *session, const struct message *message);

/* session_replay.c: is told it */
void session_replay(struct session *session);
/* Past what waits: the new server may need it before it answers. */
void session_pass_ahead(struct session *session, const struct message *message);
void session_stop_replay(struct session *session);
bool session_replays(const struct session *session);
/* What opens the session, if it comes now, is said in its place. */
bool session_is_said_again(const struct session *session);
void session_replay_answered(struct session *session, const struct request *request, const struct message *message);
void session_replay_expired(struct session *session, const struct request *request);
/* The first message of a stream that the client has had before. */
bool session_is_replayed_beginning(struct session *session, const struct message *message);

/* session_probe.c */
/* The client's request was cancelled: is its server alive? */
void session_probe(struct session *session, const struct request *request);
/* A request of canceld's own to the server; it does not wait, nor count, as one of the client's. */
struct request *session_ask(struct session *session, const char *method, bool string, msec_t time);
void session_own_answered(struct session *session, struct request *request, const struct message *message);
void session_own_expired(struct session *session, struct request *request);
bool session_is_own_question(const struct request *request);
/* What the client says waits, but what the server may need to answer. */
bool session_holds(const struct session *session);
/* What waits for the answer waits no longer. */
void session_free_probe(struct session *session);
/* The client will not wait for the answer. */
void session_end_probe(struct session *session);
/* Nobody is there to answer them. */
void session_drop_questions(struct session *session);

/* session_decide.c: looks the cell up and carries it out. message: the response or cancel at hand, or NULL. */
void session_decide(struct session *session, enum side requester, struct request *request, enum decide_event event,
    struct message *message);
enum request_state session_state(const struct session *session, enum side requester, const struct request *request);
void session_move(struct session *session, enum side requester, struct request *request, enum request_state next);
/* The request has ended: it is remembered as that, and freed. */
void session_forget(struct session *session, enum side requester, struct request *request);
/* Whoever cancels so waits for an answer all the same. */
bool session_owes_answer(const struct session *session, enum side requester);
/* How long the receiver may still answer what was cancelled, or what it has begun to answer. */
msec_t session_grace(const struct session *session, const struct request *request); /* NULL: of some request */

/* session_cancel.c */
/* What the receiver calls it; NULL: its protocol has none. */
const struct cancel *session_native_cancel(const struct session *session, enum side receiver);
bool session_is_turn(const struct session *session, const struct request *request);
/* Tells the receiver in canceld's own words. */
void session_send_cancel(struct session *session, enum side requester, struct request *request);
/* Hands the requester's own cancel on, ahead of what is queued, in the receiver's words. */
void session_forward_cancel(struct session *session, struct message *message, struct request *request, enum why why);
/* The same for a cancel by the receiver itself, which its requester hears. */
void session_end_stream(struct session *session, struct message *message, const struct request *request);
/* A cancel of what cannot be tracked goes on in its place, in the receiver's words. */
void session_pass_cancel(struct session *session, struct message *message, struct span id);
void session_cancel_task(struct session *session, enum side requester, const struct request *request,
    struct span task_id);
void session_release_withheld(struct session *session);

/* session_quote.c: the words of session_quote, where they say why there is no session or server; else empty. */
struct span session_quoted(const struct session *session, struct span method);
/* Why this server does not go on with the session: for those who hear in the end that no other one comes. */
void session_keep_refusal(struct session *session, struct span words);

/* session_reply.c */
/* Answers in the receiver's stead. timeout: the deadline that has passed, or MSEC_NEVER. */
void session_reply(struct session *session, enum side requester, const struct request *request, enum decide_event event,
    msec_t timeout);
/* An error to the requester; the request is forgotten, whatever its state. */
void session_fail(struct session *session, enum side requester, struct request *request, const char *cause,
    const char *text, enum why why);
/* Answers a request that does not go on; the message at hand is dropped. */
void session_refuse(struct session *session, struct message *message, const char *cause, const char *text,
    enum why why);
/* --legacy: server/discover is unknown. */
void session_answer_probe(struct session *session, struct message *message);
void session_send_error(struct session *session, enum side to, const struct answer *answer);

/* session_time.c */
void session_set_clock(struct session *session, msec_t now);
/* The clock that the idle deadlines of that side's requests go by. */
msec_t session_idle(const struct session *session, enum side requester);
/* A response of unknown id to one of that side's requests is passing: it may be anybody's. */
bool session_answer_is_passing(const struct session *session, enum side requester);

/* session_noise.c */
void session_on_bad(struct session *session, struct message *message);

/* session_cut.c */
void session_cut(struct session *session, enum side from);
void session_cut_end(struct session *session, enum side from);
/* The rest of a message that passes in parts will not come, or is not waited for any more: closes it. true if there was one. */
bool session_truncate(struct session *session, enum side from, bool stalled);

/* A cancel by `requester`: if the answer to this id is passing in parts, it may stand still for the grace only; else false. */
bool session_cut_cancelled(struct session *session, enum side requester, struct span id, bool owed);
/* The same by session/cancel. */
void session_cut_turn_cancelled(struct session *session, struct span session_id);

#endif
