#pragma once

/*
 * --parallel: of the client's requests at most so many are at the server, and the others are held.
 */

#include "state.h"

void parallel_begin(struct session *session);
void parallel_end(struct session *session); /* after its requests */

/* The rule that counts for a new request of the client's; NULL: it needs no place. */
struct parallel *parallel_find(const struct session *session, const struct request *request);

/* The request takes a place of the rule, which may be NULL, or waits for one. */
void parallel_enter(struct request *request, struct parallel *rule);

/* Holds the request at hand, which waits for a place. */
void parallel_hold(struct message *message);

/* The held request that can be sent now; or NULL. Sends it. */
struct request *parallel_next(const struct session *session);
void parallel_send(struct party *client, struct request *request);

/*
 * The request's answer is awaited no more. If none is owed, the request keeps its place for the
 * grace.
 */
void parallel_abandon(const struct outlet *outlet, struct request *request);
