#pragma once

/* What the files of src/core/session offer each other, the lowest first; the caller needs session.h only. */

#include "core/compose.h"
#include "core/state.h"

/* --- state.c: questions */

/*
 * A fresh id: no request and no question of that side has it. A string, or a number that fits into int32 and is far from
 * where clients start to count. Written to storage.
 */
struct span questions_mint(struct session *session, enum side asker, bool string, char storage[MINTED_MAX]);

/* The number was minted by questions_mint. */
bool questions_has_minted(const struct session *session, struct span number);

/* Adds a question in the place of `asker`, under a fresh id, due `time` ms from now. */
struct request *questions_add(struct session *session, enum side asker, const char *method, bool string, msec_t time);

/* The question in that side's place that a response with this id answers, also if it spells the number otherwise; or NULL. */
struct request *questions_find(const struct session *session, enum side asker, struct span id);

/* --- acks.c */

/* Adds an acknowledgement that waits for the end of the request. false: there are LIMIT_ACKS already. */
bool acks_add(struct session *session, struct span id, struct span target, struct span reason,
    const struct request *request);

/* The client's request has ended: notes that by the hash of its id; and sends what waits for it. */
void acks_note_end(struct acks *acks, uint64_t hash, enum outcome outcome);
void acks_end(struct session *session, const struct request *request, enum outcome outcome);

/* How the client's last request with this id ended, as noted; or OUTCOME_UNKNOWN. */
enum outcome acks_outcome(const struct acks *acks, struct span id);

/* Sends the client the acknowledgement of this outcome, and reports it; or only reports how a cancel was answered. */
void acks_send(struct session *session, struct span id, struct span target, struct span reason, enum outcome outcome);
void acks_report(struct session *session, struct span target, struct span reason, const char *outcome);

/* --- pass.c */

/*
 * The message at hand leaves its lane: it passes unchanged except for its edits, or it is dropped. Each is one decision
 * and is reported.
 */

/* The message passes to the other side. request: the one that it is about, or NULL. */
void pass_on(struct session *session, struct message *message, enum why why, const struct request *request);

/* The message is dropped. */
void pass_drop(struct session *session, struct message *message, enum why why, const struct request *request);

/* Drops the message's bytes here and reports it as passed: a copy goes to the other side elsewhere in the queue. */
void pass_take(struct session *session, struct message *message, enum why why, const struct request *request);

/* The message is dropped and nothing is reported. */
void pass_discard(struct session *session, struct message *message);

/* --- reply.c */

/*
 * The answers that canceld writes in place of a receiver: an error that names canceld and the option that would change
 * it, or a result.
 */

/* Answers a request that ends, or is given up, at this event. */
void reply_to(struct session *session, const struct request *request, enum decide_event event);

/* Answers the request at hand with an error, because the side that would answer it has gone. */
void reply_gone(struct session *session, const struct message *message);

/*
 * Answers the request at hand, which does not enter the table, with this error; it counts as ended. cause:
 * error.data.cause, or NULL; text: for a person, behind canceld's name; code 0: no session is open yet.
 */
void reply_error(struct session *session, const struct message *message, int code, const char *cause, struct span text);

/*
 * Refuses a message that is none, because of this fault (SCAN_FINE: it is no JSON-RPC message): counts it, and answers
 * its sender, but not a notification, nor a server whose request cannot be named. goes_on: the client's line does, behind
 * a fault; one answer without an id is for the rest. Returns the log's word for it.
 */
enum why reply_refusal(struct session *session, const struct message *message, enum scan_fault fault, bool goes_on);
void reply_rest(struct session *session, const struct message *message);

/* Answers the request with this id with a result, a JSON text. */
void reply_result(struct session *session, enum side to, struct span id, const char *result);

/* --- cancel.c: the receiver hears in its own protocol's form, or not at all, that nobody waits for the answer any more */

/*
 * Sends the receiver a cancel of canceld's own, ahead of the queued messages; or forwards the requester's own, under the
 * word `why` if it passes unchanged; or reports why not. Before the era is settled it is put off and the request marked.
 * true: the whole turn was cancelled (ACP session/cancel), with the agent's requests in it.
 */
bool cancel_send(struct session *session, struct request *request);
bool cancel_forward(struct session *session, struct message *message, const struct request *request, enum why why);

/*
 * Sends session/cancel for this ACP session although no request of it is outstanding: in v2 the prompts were answered,
 * and the turns run on. false: reports why not.
 */
bool cancel_turns(struct session *session, struct span session_id);

/* Drops the cancel at hand, which names no one request of the table, if no cancel may be sent. true: it was dropped. */
bool cancel_withhold(struct session *session, struct message *message);

/* The cancel at hand passes in its place: it ends the stream `request`, or (NULL) names what cannot be tracked. */
void cancel_pass(struct session *session, struct message *message, const struct request *request);

/* Tells the receiver to cancel the task that the request created, or reports why not; task_id as spelled. */
void cancel_task(struct session *session, const struct request *request, struct span task_id);

/* --- recovery.c */

/*
 * The probe: after a cancel canceld asks the server something that every server answers at once. A server that does not
 * answer within --kill-stuck is STUCK. The client's messages wait for the answer, so that a stuck server does not get
 * them.
 *
 * The replay: canceld repeats to a new server the messages that had opened the session, and consumes the answers. The
 * client's messages wait.
 *
 *   AWAY ──▶ HANDSHAKE ──answered──▶ SETTINGS ──all answered──▶ OPEN: streams, then the queued messages
 *                     └──refused, or not in time──▶ STUCK
 */

/* The client's request was cancelled: with --kill-stuck, probes the server. */
void recovery_probe(struct session *session, const struct request *request);

/* Probes now if that was put off until the last probe was answered, or until the era is settled. */
void recovery_ask_again(struct session *session);

/* The client has left, or the server's stdin is closed: answers to the questions may come, and are not waited for. */
void recovery_wait_no_more(struct session *session);

/* The server has gone: gives up the questions that it was asked. */
void recovery_drop_questions(struct session *session);

/* The response to a question has come, or was discarded as too long. It does not pass. Removes the question. */
void recovery_answered(struct session *session, struct request *question, const struct message *message);

/* Gives up the questions that are due. */
void recovery_expire(struct session *session, enum side asker);

/* --- apply.c */

/*
 * Carries out the cell of this event for this request alone, which is freed if it has ended. message: the response,
 * progress or cancel at hand, or NULL. No other file changes the state of a request. true: see cancel_send.
 */
bool apply(struct session *session, struct request *request, enum decide_event event, struct message *message);

/* Replaces the request's deadlines by the grace. */
void apply_grace(struct session *session, struct request *request);

/* --- turns.c: a turn is a session/prompt of ACP, with the agent's requests during it */

/*
 * A session/cancel was sent: it has told of all turns of this session, and the agent's requests in them end too.
 * by_client: the client has sent it or has left, and needs no cancels from canceld.
 */
void turns_end(struct session *session, struct span session_id, bool by_client);

/* Does what apply does, with all that follows for the turns of the request's ACP session. */
void turns_decide(struct session *session, struct request *request, enum decide_event event, struct message *message);

/* A new request of the server's: if its turn was cancelled before, the request ends with the turn. */
void turns_join(struct session *session, struct request *request);

/*
 * ACP "Prompt Turn", Cancellation: the client's session/cancel cancels all turns of its session, and passes if the agent
 * has one of them. As agents know it as a notification only, a request is answered and passes as one.
 */
void turns_cancelled(struct session *session, struct message *message);

/* ACP v2: the agent tells that it works in this session; idle: that it has ended its turn, or closed the session. */
void turns_note_work(struct session *session, struct span session_id, bool idle);

/*
 * ACP: if the client has left, sends session/cancel for the turns of which none has told: in v2 those whose prompts were
 * answered; and those that were not the only ones of their sessions.
 */
void turns_left(struct session *session);

/* --- requests.c */

/* The request's deadline has passed, or a person gives it up. If the protocol has it so, its receiver may answer still. */
void requests_give_up(struct session *session, struct request *request);

/* What is due of that side: its requests, their tombstones and tasks, and the questions in its place. */
void requests_expire(struct session *session, enum side side);

/* Forgets the oldest tombstones beyond LIMIT_TOMBSTONES. */
void requests_trim(struct session *session);

/* The era is settled: sends the cancels that were withheld until then. */
void requests_release_cancels(struct session *session);

/* A message that could have answered any of these requests was thrown away: those without a deadline get TIME_IDLE. */
void requests_bound(struct session *session, enum side requester);

/* --- receive.c */

/*
 * Handles a message of the kinds up to MESSAGE_BATCH: enters a request in the table, finds the request of a response or
 * progress, or cancels one; then the message leaves its lane.
 */
void receive_message(struct session *session, struct message *message);

/* --- noise.c */

/*
 * Handles input that is not a JSON-RPC message, or too long to be kept. The client gets an error for it. On the server's
 * stdout it is text that some program printed: messages behind text in the same line are recovered; the rest is dropped,
 * and the shell writes it to the log.
 */

/*
 * If the request that the message at hand is meant to answer still waits, it gets an error in the message's place, which
 * is shown as noise if it is the server's. false: nothing was done.
 */
bool noise_replace(struct session *session, struct message *message);

/* The message at hand is none. */
void noise_receive(struct session *session, struct message *message);

/*
 * If the frame at hand is too long to be kept, throws away what has come of it, to its end. false: it is kept, or not too
 * long yet.
 */
bool noise_skip(struct session *session, enum side from);

/* Drops what has come of the frame at hand, whose side has ended: what another server writes starts at a boundary. */
void noise_forget(struct session *session, enum side from);
