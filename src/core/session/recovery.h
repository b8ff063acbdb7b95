#pragma once

#include "state.h"

/*
 * What probe.c and replay.c do about a server that is stuck or has gone.
 *
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
 * The client has said that the session is open: with --kill-stuck, canceld asks once, as soon as
 * nothing else is open, whether this server answers probes. One that does not (PROBE_UNANSWERED) is
 * not probed.
 */
void recovery_open(struct probe *probe);

/* Whether the time for that has come. recovery_try asks. */
bool recovery_may_try(const struct probe *probe);
void recovery_try(struct probe *probe);

/* The client's request was cancelled: with --kill-stuck, probes the server. */
void recovery_probe(struct probe *probe, const struct request *request);

/*
 * Asks what a probe asks, and lets no message wait for the answer, which counts for so long at
 * most.
 */
void recovery_ask(struct party *client, msec_t time);

/* For how long a question whether the server is alive is unanswered; MSEC_NEVER: none is. */
msec_t recovery_unanswered(const struct party *client);

/* Decides that the server has to end, for a reason that the errors to its requests quote. */
void recovery_condemn(struct probe *probe, struct span reason);

/* Probes now if that was put off until the last probe was answered, or until the era is settled. */
void recovery_ask_again(struct probe *probe);

/*
 * The client has left, or the server's stdin is closed: answers to the questions may come, and are
 * not waited for.
 */
void recovery_wait_no_more(struct probe *probe);

/* The server has gone: gives up the questions that it was asked. */
void recovery_drop_questions(struct probe *probe);

/*
 * The message at hand answers a question, or is discarded as too long: drops it, and removes the
 * question.
 */
void recovery_answered(struct probe *probe, struct message *message, enum why why);

/* Passes the request at hand. With -r, one of the client's is copied, for another server. */
void recovery_pass(struct message *message);

/*
 * ACP: whether the message is an update of a session that is being opened again, which the client
 * has had already. Whether an agent of version 2 is at work (state_update) is news, and no history.
 */
bool recovery_is_history(const struct message *message);

/*
 * Whether the server is STUCK, or has left a probe unanswered for TIME_PROBE and answered nothing
 * since.
 */
bool recovery_sees_stuck(const struct party *client);

/*
 * --kill-ignoring: the server goes on with a request, or its task, that was cancelled: it is to be
 * ended.
 */
void recovery_ignored(struct probe *probe, const struct request *request);

/*
 * The time to heed the request's cancel is over. Where an answer is owed, its absence shows that
 * the server ignored the cancel; in MCP only what the server still says about the request does.
 */
void recovery_expect_heed(struct probe *probe, struct request *request);

/* Gives up the questions that are due. */
void recovery_expire(struct probe *probe, struct party *asker);
