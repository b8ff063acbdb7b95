#pragma once

#include "party.h"

/*
 * The answers that canceld writes in place of a receiver: an error that names canceld and the
 * option that would change it, or a result.
 */

/* Answers a request that ends, or is given up, under this word. */
void reply_to(const struct party *requester, const struct request *request, enum why why);

/*
 * Answers the request at hand with an error, because the side that would answer it has gone.
 * Returns the log's word.
 */
enum why reply_gone(const struct message *message);

/*
 * Refuses the request at hand, which does not enter the table, with this error; it counts as ended
 * under this word. cause: error.data.cause, or NULL; text: for a person, behind canceld's name;
 * code 0: no session is open yet.
 */
void reply_error(const struct message *message, enum why why, int code, const char *cause,
    struct span text);

/* Sets the outlet's fault to what is wrong with the message, and where. */
void reply_describe(const struct message *message);

/*
 * Refuses what is no message, because of this fault (SCAN_FINE: it is JSON, but no JSON-RPC
 * message): counts it, and answers its sender, except for a notification, and a server whose
 * request cannot be named. line_goes_on: the client's line continues behind a fault; one answer
 * without an id is for the rest of it. Returns the log's word for it.
 */
enum why reply_refusal(const struct message *message, enum scan_fault fault, bool line_goes_on);
void reply_rest(const struct message *message);

/* Answers the request with this id with a result, a JSON text. */
void reply_result(struct outlet *outlet, enum side to, struct span id, struct span result);
