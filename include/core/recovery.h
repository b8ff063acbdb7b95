#ifndef CORE_RECOVERY_H
#define CORE_RECOVERY_H

/*
 * Finds out whether the server is alive, and tells a new one what it has to know.
 *
 * The probe: after a cancel the server is asked what every server answers at once; one that does not, within --kill-stuck, is
 * STUCK. What the client says waits for the answer, so that a stuck server does not get it.
 *
 * The replay: canceld repeats to a new server what had opened the session, and takes the answers. What the client says waits.
 *
 *   AWAY ──▶ HANDSHAKE ──answered──▶ SETTINGS ──all answered──▶ OPEN: streams, then all that waits
 *                     └──refused, or not in time──▶ STUCK
 */

#include "core/message.h"
#include "core/state.h"

void recovery_free(struct session *session);

/* The client's request was cancelled: with --kill-stuck the server is asked whether it is alive. */
void recovery_probe(struct session *session, const struct request *request);

/* What waits for the answer to the probe goes to the server now, which may need it. */
void recovery_free_queue(struct session *session);

/* The client has gone: the probe is given up. */
void recovery_end_probe(struct session *session);

/* The server has gone: what canceld asked it in the client's place is given up. */
void recovery_drop_questions(struct session *session);

/* A response to a question has come, or was discarded as too long; it does not pass. The question is forgotten. */
void recovery_answered(struct session *session, enum side asker, struct request *question,
    const struct message *message);

/* Gives up the questions that are due. */
void recovery_expire(struct session *session, enum side asker);

/* Why no new server could go on with this session; NULL: it could. */
const char *recovery_obstacle(const struct session *session);

/* A new server is there. */
void recovery_replay(struct session *session);

#endif
