#pragma once

/*
 * What the files of src/core/session offer each other, the lowest first; the caller needs session.h
 * only.
 */

#include "core/compose.h"
#include "core/session.h"

/* --- message.c */

/* Of a JSON-RPC 2.0 message, judged by its top-level members alone. */
enum message_kind {
	/*
	 * no JSON, also for its UTF-8, but see broken_at; no JSON-RPC; refused for its depth or
	 * repeated members
	 */
	MESSAGE_NONE,
	MESSAGE_REQUEST,
	MESSAGE_NOTIFICATION,
	MESSAGE_RESPONSE,
	MESSAGE_BATCH, /* an array, one of whose elements is a message */
	MESSAGE_BLANK, /* white space only */
};

enum { METHOD_MAX = 256 };

/*
 * The message at hand, whole: one frame of a lane with its positions, and the edits to be made
 * before it passes. It borrows the lane's bytes: it is invalid after the next byte is read or
 * decided. It is not copied.
 */
struct message {
	enum side from, to;
	struct party *writer, *reader; /* of these sides */
	const struct scan *scan;
	enum message_kind kind;
	/* as far as it was read; REQUEST, NOTIFICATION, RESPONSE or NONE */
	enum message_kind meant;
	const char *malformed; /* a response that is no sound answer: what is wrong; or NULL */
	struct id id;       /* empty if absent, null, repeated or not kept: it cannot be tracked */
	struct span method; /* unescaped; or empty */
	struct span text;   /* without byte order mark and newline */
	uint64_t start, next; /* positions in the lane of `from`: of text, and behind its newline */
	/* which it names, or whose answer it is, or is meant to be, by its id; or NULL */
	struct request *request;
	struct request *question;    /* ... of canceld's own; or NULL */
	const struct cancel *cancel; /* its form, if it is a cancel; else NULL */
	enum why word;        /* the word that it passes under: RELAYED, RECOVERED or ID_COERCED */
	struct span obstacle; /* why it does not pass, where its word does not say that; or empty */
	/* the server's: a string is no UTF-8, first before this offset; 0: it is sound */
	size_t broken_at;
	size_t cleaned; /* --clean-text: how many characters were replaced */
	bool bound;     /* meaningful to the current server only, which may need it now */
	bool urgent;    /* it overtakes the messages that wait */
	bool swallowed; /* only canceld had asked for it: it is dropped where it would pass */
	/* of an element: the batch, with which it passes in any case; else NULL */
	struct message *batch;
	struct edits *edits;
	struct journal *journal; /* to which its fate is told */
	size_t edits_from;       /* of an element: bytes of the list before its own edits; else 0 */
	char unescaped[METHOD_MAX]; /* private, as the next */
	struct scan storage;
};

/*
 * Reads the text as a message of this writer: scans it, tells its kind, and finds what it answers.
 * needs_jsonrpc: a text without the member "jsonrpc" is MESSAGE_NONE, unless it names a request:
 * some SDKs leave it out of answers.
 */
void message_read(struct message *message, struct session *session, struct party *writer,
    struct span text, bool needs_jsonrpc);

/*
 * Reads the next element of a batch from *at on, which is 0 before the first one and is moved
 * behind it. false: there is none, or it is not complete.
 */
bool message_read_element(struct message *element, struct session *session, struct message *batch,
    size_t *at, bool needs_jsonrpc);

/*
 * How many bytes an unfinished message of the writer's lacks, by its header, though its text has
 * ended; 0: it has not.
 */
uint64_t message_missing(const struct party *writer);

/* Replaces len bytes from this offset of the text on, or the field's value, by `with`. */
void message_edit(struct message *message, uint64_t offset, uint64_t len, struct span with);
void message_replace(struct message *message, enum scan_field field, struct span with);

/* How a sound response answers: "result", "isError" or the code of an error; else empty. */
struct span message_answer(const struct message *message);

/* Not a batch: a single message. */
static inline bool
message_is_single(const struct message *message)
{
	return message->kind >= MESSAGE_REQUEST && message->kind <= MESSAGE_RESPONSE;
}

/* The message is a sound response with a result. */
static inline bool
message_grants(const struct message *message)
{
	return scan_has(message->scan, SCAN_RESULT) && !message->malformed;
}

/* The field's value if it can be an id or a token: a string or a number, and kept; else empty. */
static inline struct id
message_id(const struct message *message, enum scan_field field)
{
	enum value_type type = scan_type(message->scan, field);

	if (type != VALUE_STRING && type != VALUE_NUMBER)
		return (struct id){ .hash = 0 };
	return id_of(scan_text(message->scan, field));
}

/* --- state.c */

/* Sets the life. SERVER_AWAY also resets what was true of the former server only. */
void server_enter(struct server *server, enum server_life life);

/* A line of text on the server's stdout, without its newline. */
void server_note_said(struct server *server, struct span text);

/*
 * Adds a line to the text that explains why no session was open: the server's first text in a
 * message's place, or the last words of a server before it. It stays at the beginning of what is
 * quoted, until this server has served.
 */
void server_keep_said(struct server *server, struct span text);

/*
 * What text on the stdout of a server that has not served looks like, as part of a sentence; NULL:
 * like text. whole: it was a whole frame.
 */
const char *state_looks_like(const struct session *session, struct span text, bool whole);

/* The server has answered a request: what was said before explains nothing any more. */
void server_serves(struct server *server);

/*
 * No server will read what is sent from now on: it has gone for good, or is deaf and the last one.
 */
static inline bool
server_takes_nothing(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_GONE;
}

/* The server has closed its stdin and runs on. */
static inline bool
server_is_deaf(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_RETIRED;
}

/* The server is new and the replay to it has not ended. */
static inline bool
server_is_replaying(const struct server *server)
{
	return server->life >= SERVER_HANDSHAKE && server->life <= SERVER_SETTINGS;
}

/*
 * Questions: requests of canceld's own, asked in one side's place and not answered yet: a probe, a
 * replayed request, the cancel of a task. Their answers do not pass.
 */

enum { MINTED_MAX = 32 }; /* bytes of a minted id, at most */

/*
 * A fresh id: no request and no question of that side has it. A string, or a number that fits into
 * int32 and is far from where clients start to count. Written to storage.
 */
struct id questions_mint(struct session *session, enum side asker, bool string,
    char storage[MINTED_MAX]);

/* The number was minted by questions_mint. */
bool questions_has_minted(const struct session *session, struct span number);

/*
 * Adds a question in the place of `asker`, under a fresh id, due `time` ms from now. token: as
 * spelled; or empty.
 */
struct request *questions_add(struct session *session, enum side asker, const char *method,
    struct span token, bool string, msec_t time);

/*
 * The question in that side's place that a response with this id, or one that may be spelled so,
 * answers; or NULL.
 */
struct request *questions_find(const struct session *session, enum side asker, struct id id);

/* An action about a request or task, which may be NULL. */
static inline struct action
action_of(enum verb verb, enum side side, enum why why, const struct request *request)
{
	struct action action = { .verb = verb,
		.side = side,
		.why = why,
		.elapsed = MSEC_NEVER,
		.timeout = MSEC_NEVER };

	if (request != NULL) {
		action.id = request->id.text;
		action.method = request->method;
		action.name = request->shown;
		action.elapsed = request->in->clocks->steady - request->received;
	}
	return action;
}

/* A note to a side about a request, which may be NULL. */
void state_note(struct journal *journal, enum side side, enum why why,
    const struct request *request, struct span detail);

/* The same about a message that is in no table. */
void state_note_message(enum side side, enum why why, const struct message *message,
    struct span detail);

/*
 * Whether the client asks a person for the server, perhaps by way of a task: its own requests do
 * not idle meanwhile.
 */
bool state_asks_person(const struct session *session);

/*
 * How long the receiver may still take to answer a request that was cancelled. request may be NULL.
 */
msec_t state_grace(const struct session *session, const struct request *request);

/*
 * ACP: the newest prompt of this session in the table (after NULL), or the next one; tombstones
 * come last; or NULL.
 */
struct request *state_next_turn(const struct session *session, struct id session_id,
    const struct request *after);

/* ACP: how many turns of this session run that were not cancelled. */
size_t state_turns_running(const struct session *session, struct id session_id);

/*
 * The server has not opened the session yet, as it may still be starting: the deadlines of what the
 * client has asked do not run. Of a modern session without a handshake its first message shows that
 * it is there. One that has served is not asked to start by another server/discover.
 */
static inline bool
state_is_opening(const struct session *session)
{
	bool open = session->handshake.opened && session->server.served;

	return (session->client.pending.starting > 0 && !open) ||
	    (session->handshake.era == ERA_MODERN && !session->server_party.spoke &&
		session->clocks.steady < session->open_by);
}

/*
 * Ends the wait of the client's messages (lane_stop_at). The idle deadlines of the requests among
 * them start now.
 */
void state_release(struct session *session);

/* --kill-ignoring: how long the server may go on with the request, which is cancelled. */
msec_t state_heed_time(const struct session *session, const struct request *request);

/*
 * Its receiver is told of the cancel. With --kill-ignoring the time in which the server must heed
 * it begins.
 */
void state_tell(struct session *session, struct request *request);

/*
 * The server's question to the client, or an older one, for whose answer it may wait, else NULL:
 * see session->excuse.
 */
static inline const struct request *
state_excuse(const struct session *session, const struct request *question)
{
	while (question != NULL && question->received >= session->server.answered &&
	    !request_is_awaited(question))
		question = question->older;
	return question != NULL && question->received >= session->server.answered ? question : NULL;
}

/*
 * The answer to the request names the task that continues it, in which a person is asked, or
 * progress comes.
 */
void state_keep_task(struct session *session, const struct request *request, struct id id);

/*
 * Counts the request at hand, which does not enter the table, and its end, for this reason; a
 * $/canceld/cancel is none.
 */
void state_count(struct session *session, const struct message *message, enum tally tally,
    enum why why);

/*
 * Whether canceld's own messages to that side are written: to a server until it or canceld has
 * closed its stdin.
 */
static inline bool
state_may_write(const struct session *session, enum side to)
{
	return to == SIDE_CLIENT || !(server_is_deaf(&session->server) || session->server.shut);
}

/*
 * New messages of the client's are not written to the server, except those that it may need to go
 * on.
 */
static inline bool
state_is_blocked(const struct session *session)
{
	return session->probe.question != NULL || session->server.life == SERVER_STUCK ||
	    server_is_replaying(&session->server);
}

/*
 * Messages of canceld's own may be written to the server: the server has answered initialize (LSP
 * 3.17 "Initialize Request", ACP RFD "Request Cancellation"). MCP: not before it is answered, or
 * the first modern request was written whole.
 */
bool state_is_settled(const struct session *session);

/* Whether a requester of that side still waits for an answer after its cancel. */
static inline bool
state_owes_answer(const struct session *session, enum side requester)
{
	return (session->handshake.dialect->flags & DIALECT_OWES_ANSWER) ||
	    (session->config.answer_cancelled && requester == SIDE_CLIENT);
}

/* Emptied, for one message that is being composed; it lasts until the next one is. */
static inline struct buf *
state_scratch(struct session *session)
{
	buf_clear(&session->scratch);
	return &session->scratch;
}

/*
 * Sends what was composed as if `from` had written it: ahead of all messages, or in its place among
 * them.
 */
static inline void
state_overtake(struct session *session, enum side from)
{
	lane_overtake(session->party[from].lane, buf_span(&session->scratch));
}

static inline void
state_answer(struct session *session, enum side from)
{
	lane_answer(session->party[from].lane, buf_span(&session->scratch));
}

/* The same, ahead of all messages, with its note about a request, which may be NULL. */
void state_send(struct session *session, enum side from, enum why why,
    const struct request *request, struct span detail);

/* Whether the request is a turn of an ACP session; its token is the session's id. */
static inline bool
request_is_turn(const struct request *request)
{
	return request->from == SIDE_CLIENT && (request->traits & METHOD_TURN) &&
	    request->token.text.len > 0;
}

/* --- handshake.c */

/* The capabilities or _meta there, as far as they are looked at: they may be cut. */
struct span handshake_look_at(struct handshake *handshake, const struct scan *scan,
    enum scan_field field);

/*
 * Reads a request of the client's: the first one shows the dialect, the first ones of MCP the era.
 * Returns its row.
 */
const struct method *handshake_read_request(struct handshake *handshake, enum framing framing,
    const struct message *message);

/*
 * Reads a response with a result: of the first server to a METHOD_HANDSHAKE, or to a
 * METHOD_DISCOVERY; of a later one to the handshake, for what it declares about tasks.
 */
void handshake_read_response(struct handshake *handshake, unsigned traits,
    const struct message *message);
void handshake_read_tasks(struct handshake *handshake, const struct message *message);

/*
 * ACP: whether the request authenticates by a method of type terminal: a client does that outside
 * of the session.
 */
bool handshake_is_terminal(const struct handshake *handshake, const struct message *message);

/*
 * Whether the client asks a person at a request of this row; in MCP only if it has declared that,
 * in the legacy era.
 */
bool handshake_asks_person(const struct handshake *handshake, const struct method *row);

/*
 * MCP 2025-11-25 basic/utilities/tasks: whether the request may become a task: its receiver has
 * declared that.
 */
bool handshake_may_make_task(const struct handshake *handshake, const struct request *request);

/*
 * The id of the task that the response created, as spelled, or empty. SEP-2663: of any request in
 * the modern era.
 */
struct span handshake_created_task(const struct handshake *handshake, const struct request *request,
    const struct scan *response);

/*
 * Whether the receiver has declared that tasks may be cancelled, or, in the modern era, that it has
 * tasks.
 */
bool handshake_may_cancel_task(const struct handshake *handshake, const struct request *request);

/* The era as in the log; "" if it is not known, or the dialect has none. */
const char *handshake_era(const struct handshake *handshake);

/* The form of a cancel for that receiver; NULL: its protocol has none. */
static inline const struct cancel *
handshake_cancel(const struct handshake *handshake, enum side receiver)
{
	return handshake->cancels[receiver] ? handshake->dialect->declared_cancel :
					      handshake->dialect->cancel;
}

/* --- records.c */

void records_free(struct records *records);

/*
 * Keeps a request of the client's that passes, if its method needs it; or the notification after
 * its handshake. false: it should be kept, but there is no room.
 */
bool records_keep(struct session *session, const struct message *message,
    struct request *request) MUST_USE;
bool records_keep_opened(struct records *records, const struct message *message) MUST_USE;

/* The request was answered with a result, the message; it has ended, in any way. */
void records_grant(struct session *session, const struct message *message, struct request *request);
void records_end(struct records *records, struct request *request);

/* The first record with this trait, about this ACP session if that is not empty; or NULL. */
struct record *records_find(const struct records *records, unsigned trait, struct span session_id);

/*
 * ACP: whether the update at hand tells that in its session something is in force which the client
 * had set otherwise. forget: that setting ends.
 */
bool records_update(struct records *records, const struct message *message, bool forget);

/* ACP: the client opens or closes the session, which does not count as lost any more. */
void records_reopen(struct session *session, struct id session_id);

/* Forgets what is about this ACP session. */
void records_close(struct records *records, struct span session_id);

/* --- acks.c */

/*
 * Acknowledgements of canceld's own request $/canceld/cancel {id, reason?}, with the guarantees of
 * ABP "Cancellation": each waits until the request that it names has ended, and is then answered
 * with {id, cancelled, reason?, confirmed?}.
 */
#define ACKS_METHOD SPAN("$/canceld/cancel")

enum outcome {
	OUTCOME_UNKNOWN,
	OUTCOME_COMPLETED,
	OUTCOME_CANCELLED,
	OUTCOME_CONFIRMED,
	OUTCOME_FORBIDDEN
};

/*
 * The message waits for the end of the request. false: LIMIT_ACKS or LIMIT_ACK_BYTES are reached.
 */
bool acks_add(struct acks *acks, struct span text, const struct request *request);

/*
 * A request has ended: notes that by its id; or also by its token, and sends the client what waits
 * for it.
 */
void acks_note_end(struct acks *acks, enum side requester, struct id id, enum name_kind kind,
    enum outcome outcome);
void acks_end(struct session *session, const struct request *request, enum outcome outcome);

/*
 * How the requester's last request with this id or token ended, if it is one of the last
 * LIMIT_FINISHED; or UNKNOWN.
 */
enum outcome acks_outcome(const struct acks *acks, enum side requester, struct id id,
    enum name_kind kind);

/*
 * Sends the client the acknowledgement of this outcome, and reports it; or only reports how it was
 * answered.
 */
void acks_send(struct session *session, const struct scan *ack, enum outcome outcome);
void acks_report(struct journal *journal, const struct scan *ack, const char *outcome);

/* --- pass.c */

/*
 * The message at hand leaves its lane: it passes unchanged except for its edits, or it is dropped.
 * Each is one decision and is reported.
 */

/* The message passes to the other side. */
void pass_on(struct session *session, struct message *message, enum why why);

/* A copy of what would pass is appended to held, to be sent later. */
void pass_hold(struct message *message, struct buf *held);

/* The message is dropped. */
void pass_drop(struct message *message, enum why why);

/*
 * Drops the message's bytes here and reports it as passed: a copy goes to the other side elsewhere
 * in the queue.
 */
void pass_take(struct message *message, enum why why);

/* The message is dropped and nothing is reported. */
void pass_discard(struct message *message);

/* --- answers.c */

/*
 * The result that --answer has for this request of the server's; NULL: none. *items: how often the
 * one element of that is repeated, in a METHOD_EACH once for each of params.items; or
 * ANSWER_AS_IT_IS. More than LIMIT_ANSWER is none.
 */
enum { ANSWER_AS_IT_IS = -1 };
const char *answers_find(const struct session *session, const struct message *message,
    unsigned traits, int64_t *items);

/* That result as it is sent; valid until session->words is used again. */
struct span answers_result(struct session *session, const char *result, int64_t items);

/* Whether --answer has a result for the request, and the server can still be sent it. */
static inline bool
answers_has(const struct session *session, const struct request *request)
{
	return request->answer != NULL && state_may_write(session, SIDE_SERVER);
}

/*
 * Whether the server waits for an answer of the client's, of no person's, or may hang as it was
 * refused one; appends what would give the oldest, or that.
 */
bool answers_would_help(const struct session *session, struct buf *text);

/*
 * The client's own answer, in the message: whether it says that it does not know the request's
 * method, and --answer has an answer. If it has none, the server is noted to be refused one.
 */
bool answers_refused(struct session *session, const struct message *message,
    const struct request *request);

/* --- reply.c */

/*
 * The answers that canceld writes in place of a receiver: an error that names canceld and the
 * option that would change it, or a result.
 */

/* Answers a request that ends, or is given up, under this word. */
void reply_to(struct session *session, const struct request *request, enum why why);

/*
 * Answers the request at hand with an error, because the side that would answer it has gone.
 * Returns the log's word.
 */
enum why reply_gone(struct session *session, const struct message *message);

/*
 * Refuses the request at hand, which does not enter the table, with this error; it counts as ended
 * under this word. cause: error.data.cause, or NULL; text: for a person, behind canceld's name;
 * code 0: no session is open yet.
 */
void reply_error(struct session *session, const struct message *message, enum why why, int code,
    const char *cause, struct span text);

/* Sets session->fault: what is wrong with the message, and where. */
void reply_describe(struct session *session, const struct message *message);

/*
 * Refuses a message that is none, because of this fault (SCAN_FINE: it is no JSON-RPC message):
 * counts it, and answers its sender, but not a notification, nor a server whose request cannot be
 * named. goes_on: the client's line does, behind a fault; one answer without an id is for the rest.
 * Returns the log's word for it.
 */
enum why reply_refusal(struct session *session, const struct message *message,
    enum scan_fault fault, bool goes_on);
void reply_rest(struct session *session, const struct message *message);

/* Answers the request with this id with a result, a JSON text. */
void reply_result(struct session *session, enum side to, struct span id, struct span result);

/*
 * --- cancel.c: the receiver hears in its own protocol's form, or not at all, that nobody waits for
 * the answer any more
 */

/*
 * Sends the receiver a cancel of canceld's own, ahead of the queued messages; or forwards the
 * requester's own, under the word `why` if it passes unchanged; or reports why not. Before the era
 * is settled it is put off and the request marked. true: the whole turn was cancelled (ACP
 * session/cancel), with the agent's requests in it.
 */
bool cancel_send(struct session *session, struct request *request);
bool cancel_forward(struct session *session, struct message *message, enum why why);

/*
 * Sends session/cancel, which cancels all turns of this ACP session. request: one of them; NULL:
 * none is outstanding: in v2 the prompts were answered, and the turns run on. false: reports why
 * not.
 */
bool cancel_turns(struct session *session, const struct request *request, struct id session_id);

/* Drops the cancel at hand if none may be sent. true: it was dropped. */
bool cancel_withhold(struct session *session, struct message *message);

/*
 * The cancel at hand passes in its place: it ends the stream that it names, or names what cannot be
 * tracked.
 */
void cancel_pass(struct session *session, struct message *message);

/*
 * Tells the receiver to cancel the task that the request created, or reports why not; task_id as
 * spelled.
 */
void cancel_task(struct session *session, const struct request *request, struct span task_id);

/* --- recovery.c */

/*
 * The probe: after a cancel canceld asks the server something that every server answers at once. A
 * server that does not answer within --kill-stuck is STUCK. The client's messages wait for the
 * answer, so that a stuck server does not get them.
 *
 * The replay: canceld repeats to a new server the messages that had opened the session, and
 * consumes the answers. The client's messages wait.
 *
 *   AWAY ──▶ HANDSHAKE ──answered──▶ SESSIONS ──all answered──▶ SETTINGS ──all answered──▶ OPEN
 *                │                   │     ▲ one of them wants a login
 *                │                   │     └──▶ LOGIN: once
 *                └──refused          └──none of the ACP sessions is open, or not in time──▶ STUCK
 *
 * OPEN: the streams are opened again, then the queued messages follow.
 */

/*
 * The client has told that the session is open: with --kill-stuck, canceld asks once whether this
 * server answers probes, as soon as nothing else is open. One that does not (PROBE_UNANSWERED) is
 * not probed.
 */
void recovery_open(struct session *session);

/* Whether the time for that has come; asks. */
bool recovery_may_try(const struct session *session);
void recovery_try(struct session *session);

/* The client's request was cancelled: with --kill-stuck, probes the server. */
void recovery_probe(struct session *session, const struct request *request);

/* Probes now if that was put off until the last probe was answered, or until the era is settled. */
void recovery_ask_again(struct session *session);

/*
 * The client has left, or the server's stdin is closed: answers to the questions may come, and are
 * not waited for.
 */
void recovery_wait_no_more(struct session *session);

/* The server has gone: gives up the questions that it was asked. */
void recovery_drop_questions(struct session *session);

/*
 * The message at hand answers a question, or is discarded as too long: drops it, and removes the
 * question.
 */
void recovery_answered(struct session *session, struct message *message, enum why why);

/*
 * ACP: whether the message is an update of a session that is being opened again, which the client
 * has had already. Whether an agent of version 2 is at work (state_update) is news, and no history.
 */
bool recovery_is_history(struct session *session, const struct message *message);

/*
 * Whether the server is to be ended for that, or has left a probe unanswered for TIME_PROBE and
 * answered nothing since.
 */
bool recovery_sees_stuck(const struct session *session);

/* For how long a question whether the server is alive has been unanswered; MSEC_NEVER: none is. */
msec_t recovery_unanswered(const struct session *session);

/*
 * --kill-ignoring: the server goes on with a request, or its task, that was cancelled: it is to be
 * ended.
 */
void recovery_ignored(struct session *session, const struct request *request);

/*
 * The time for that has come: where an answer is owed, its lack shows it; in MCP only what the
 * server still says of it.
 */
void recovery_expect_heed(struct session *session, struct request *request);

/* Gives up the questions that are due. */
void recovery_expire(struct session *session, enum side asker);

/*
 * --- parallel.c: --parallel: of the client's requests at most so many are at the server, and the
 * others are held
 */

void parallel_begin(struct session *session);
void parallel_end(struct session *session); /* after its requests */

/* The place in which a new request of the client's counts; NULL: it counts in none. */
struct place *parallel_place(const struct session *session, const struct request *request);

/* The request takes a place; if none is free, parallel_hold holds it. place may be NULL. */
void parallel_enter(struct request *request, struct place *place);

/* Holds the message at hand. */
void parallel_hold(struct message *message);

/* The held request that can be sent now; or NULL. Sends it. */
struct request *parallel_next(const struct session *session);
void parallel_send(struct session *session, struct request *request);

/* Its answer is awaited no more: where none is owed, it counts for the grace. */
void parallel_abandon(struct session *session, struct request *request);

/*
 * --- heartbeat.c: --heartbeat tells the client that its request is still waited for, as progress
 * in the server's name
 */

/*
 * A new request of a peer's; progress of a request that has an alarm, or what a stream says, is at
 * hand and passes.
 */
void heartbeat_begin(struct session *session, struct request *request);
void heartbeat_put_off(struct session *session, struct request *request,
    const struct message *message);

/* Sends what is due. */
void heartbeat_expire(struct session *session);

/* --- apply.c */

/*
 * Carries out the cell of this event for this request alone, which is freed if it has ended.
 * message: the response, progress or cancel at hand, or NULL. No other file changes the state of a
 * request. true: see cancel_send.
 */
bool apply(struct session *session, struct request *request, enum decide_event event,
    struct message *message);

/*
 * Replaces the request's deadlines by the grace. A request that waits has one if the server is
 * deaf, or if the agent sent it in a turn that was cancelled.
 */
void apply_grace(struct session *session, struct request *request);

/* --- turns.c: a turn is a session/prompt of ACP, with the agent's requests during it */

/*
 * A session/cancel was sent: it has told of all turns of this session, and the agent's requests in
 * them end too. by_client: the client has sent it or has left, and needs no cancels from canceld.
 */
void turns_end(struct session *session, struct id session_id, bool by_client);

/* Does what apply does, with all that follows for the turns of the request's ACP session. */
void turns_decide(struct session *session, struct request *request, enum decide_event event,
    struct message *message);

/*
 * A new request of the server's: if its turn was cancelled before, the request ends with the turn.
 */
void turns_join(struct session *session, struct request *request);

/*
 * A new prompt of the session's, or it is opened again: what the agent says then belongs to no
 * former turn.
 */
void turns_renew(struct session *session, struct id session_id);

/*
 * The turn that canceld has ended and to which this session/update, which comes too late, belongs;
 * or NULL.
 */
struct request *turns_silenced(const struct session *session, struct id session_id,
    const struct scan *update);

/*
 * ACP "Prompt Turn", Cancellation: the client's session/cancel cancels all turns of its session,
 * and passes if the agent has one of them. As agents know it as a notification only, a request is
 * answered and passes as one.
 */
void turns_cancelled(struct session *session, struct message *message);

/*
 * ACP v2: the agent tells that it works in this session; idle: that it has ended its turn, or
 * closed the session.
 */
void turns_note_work(struct session *session, struct id session_id, bool idle);

/*
 * ACP: if the client has left, sends session/cancel for the turns of which none has told: in v2
 * those whose prompts were answered; and those that were not the only ones of their sessions.
 */
void turns_left(struct session *session);

/*
 * v2: the agent has gone: the client hears that the turns which run have ended, as no agent will
 * say so.
 */
void turns_lost(struct session *session, bool last);

/* --- requests.c */

/* Gives the request the deadline of this kind that the policy has for it. */
void requests_set_deadline(const struct session *session, struct request *request,
    enum policy_kind kind);

/*
 * EVENT_DEADLINE or EVENT_PERSON; or, if the protocol has it so, the same with an answer owed, as
 * its receiver may give it.
 */
void requests_give_up(struct session *session, struct request *request, enum decide_event event);

/*
 * What is due of that side: its requests, their tombstones and tasks, and the questions in its
 * place.
 */
void requests_expire(struct session *session, enum side side);

/* Forgets the oldest tombstones beyond LIMIT_TOMBSTONES. */
void requests_trim(struct session *session);

/*
 * Once the session is open, deadlines begin that waited for that; once the era is settled, withheld
 * cancels are sent.
 */
void requests_settle(struct session *session);

/* A whole message of the server's: what opens the session is being worked on. */
void requests_note_life(struct session *session);

/*
 * A message that could have answered any of these requests was thrown away: those without a
 * deadline get TIME_IDLE. Returns the one that waits, if it is the only one; or NULL.
 */
struct request *requests_bound_waits(struct session *session, enum side requester);

/* --- receive.c */

/*
 * Handles a message of the kinds up to MESSAGE_BATCH: enters a request in the table, finds the
 * request of a response or progress, or cancels one; then the message leaves its lane.
 */
void receive_message(struct session *session, struct message *message);

/* --- noise.c */

/*
 * Handles input that is not a JSON-RPC message, or too long to be kept. The client gets an error
 * for it. On the server's stdout it is text that some program printed: messages behind text in the
 * same line are recovered; the rest is dropped, and the shell writes it to the log.
 */

/*
 * The request that the message at hand is meant to answer, and that still waits, gets an error in
 * the message's place, which is shown as noise if it is the server's.
 */
void noise_replace(struct session *session, struct message *message);

/* The message at hand is none. */
void noise_receive(struct session *session, struct message *message);

/*
 * If the frame at hand is too long to be kept, throws away what has come of it, to its end. false:
 * it is kept, or not too long yet.
 */
bool noise_skip(struct session *session, struct party *party);

/*
 * Drops what has come of the frame at hand, whose writer has ended: what another server writes
 * starts at a boundary.
 */
void noise_forget(struct session *session, struct party *party);
