#ifndef CORE_REPLY_H
#define CORE_REPLY_H

/* What canceld answers in a receiver's stead: an error that names canceld and the option that would change it, or a result. */

#include "core/compose.h"
#include "core/decide.h"
#include "core/message.h"
#include "core/state.h"

/*
 * The answer to a request that ends, or is given up, at this event. timeout: the duration of the deadline that has passed, or
 * MSEC_NEVER.
 */
void reply_to(struct session *session, enum side requester, const struct request *request, enum decide_event event,
    msec_t timeout);

/* The error to the request at hand, which does not go on: the side has gone that would answer it. */
void reply_gone(struct session *session, const struct message *message);

/*
 * An error to the request at hand, to be completed, for reply_error: with the dialect's code for failures. cause: error.data.cause,
 * or NULL; text: for a person; both outlive the answer.
 */
struct answer reply_answer(const struct session *session, const struct message *message, const char *cause,
    const char *text);

/* Answers a request that was not entered, if it has an id: it counts as ended. answer->omit_id is filled in. */
void reply_error(struct session *session, enum side to, const struct answer *answer);

/* The result, a JSON text, of a request with this id. */
void reply_result(struct session *session, enum side to, struct span id, const char *result);

#endif
