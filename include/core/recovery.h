#ifndef CORE_RECOVERY_H
#define CORE_RECOVERY_H

/*
 * Finds out whether the server is alive, and tells a new server what it must know.
 *
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

#include "core/message.h"
#include "core/state.h"

void recovery_free(struct session *session);

/* The client's request was cancelled: with --kill-stuck, asks the server whether it is alive. */
void recovery_probe(struct session *session, const struct request *request);

/* Asks now if a question was put off until the last one was answered, or until the era is settled. */
void recovery_ask_again(struct session *session);

/* Releases the messages that wait for the answer to the probe: the server may need them to answer it. */
void recovery_free_queue(struct session *session);

/* The client has gone: gives the probe up. */
void recovery_end_probe(struct session *session);

/* canceld has closed the server's stdin: its answers to canceld's questions may come, and are not waited for. */
void recovery_wait_no_more(struct session *session);

/* The server has gone: gives up the questions that canceld asked it in the client's place. */
void recovery_drop_questions(struct session *session);

/* The response to a question has come, or was discarded as too long. It does not pass. Removes the question. */
void recovery_answered(struct session *session, enum side asker, struct request *question,
    const struct message *message);

/* Gives up the questions that are due. */
void recovery_expire(struct session *session, enum side asker);

/* Why a new server could not continue this session; NULL: it could. */
const char *recovery_obstacle(const struct session *session);

/* A new server has started: begins the replay. */
void recovery_replay(struct session *session);

#endif
