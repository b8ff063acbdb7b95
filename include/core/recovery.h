#ifndef CORE_RECOVERY_H
#define CORE_RECOVERY_H

/*
 * Is the server alive, and what has a new one to be told?
 *
 * The probe: after a cancel the server is asked what every server answers at once; one that does not, within --kill-stuck, is
 * STUCK. What the client says waits for the answer, so that a stuck server does not get it.
 *
 * The replay: canceld says to a new server what had opened the session, and takes the answers. What the client says waits.
 *
 *   AWAY ──▶ HANDSHAKE ──answered──▶ SETTINGS ──all answered──▶ OPEN: streams, then all that waits
 *                     └──refused, or not in time──▶ STUCK
 */

#include "core/message.h"
#include "core/state.h"

/* The client's request was cancelled on the wire: asks, with --kill-stuck, whether the server is alive. */
void recovery_probe(struct session *session, const struct request *request);

/* The server need not answer the probe before it gets what waits: it may need that. */
void recovery_free_queue(struct session *session);

/* The client has gone: nothing waits for the answer. */
void recovery_end_probe(struct session *session);

/* The server has gone: nobody answers the questions. */
void recovery_drop_questions(struct session *session);

/* A response to a question has come, or was discarded: it is not passed on. The question is forgotten. */
void recovery_answered(struct session *session, enum side asker, struct request *question,
    const struct message *message);

/* Gives up the questions that are due. */
void recovery_expire(struct session *session, enum side asker);

/* Why no new server could go on with this session; NULL: it could. */
const char *recovery_obstacle(const struct session *session);

/* A new server is there. */
void recovery_replay(struct session *session);

#endif
