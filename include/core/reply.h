#ifndef CORE_REPLY_H
#define CORE_REPLY_H

/*
 * The answers that canceld writes in place of a receiver: an error that names canceld and the option that would change
 * it, or a result.
 */

#include "core/compose.h"
#include "core/decide.h"
#include "core/message.h"
#include "core/state.h"

/*
 * Answers a request that ends, or is given up, at this event. timeout: the duration of the deadline that has passed, or
 * MSEC_NEVER.
 */
void reply_to(struct session *session, enum side requester, const struct request *request, enum decide_event event,
    msec_t timeout);

/* Answers the request at hand with an error, because the side that would answer it has gone. */
void reply_gone(struct session *session, const struct message *message);

/*
 * An error to the request at hand, with the dialect's code for failures, for the caller to complete and give to
 * reply_error. cause: error.data.cause, or NULL; text: for a person. Both must outlive the answer.
 */
struct answer reply_answer(const struct session *session, const struct message *message, const char *cause,
    const char *text);

/* Answers a request that was not entered in the table, if it has an id; it counts as ended. Sets answer->omit_id. */
void reply_error(struct session *session, enum side to, const struct answer *answer);

/*
 * Whether a message that is refused is a notification. One that was not read to its end may be a request whose id comes
 * last, unless its method is that of a cancel.
 */
bool reply_is_notification(const struct session *session, const struct message *message);

/*
 * Refuses a message that is none, because of this fault (SCAN_FINE: it is no JSON-RPC message): counts it, and answers
 * its sender, but not a notification, nor a server whose request cannot be named. Returns the log's word for it.
 */
enum why reply_refusal(struct session *session, const struct message *message, enum scan_fault fault);

/* Answers the request with this id with a result, a JSON text. */
void reply_result(struct session *session, enum side to, struct span id, const char *result);

#endif
