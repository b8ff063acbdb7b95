#pragma once

/*
 * --parallel: of the client's requests at most so many are at the server, and the others are held.
 * -r: the messages of those that are sent are kept, for another server if this one reads nothing of
 * them.
 */

#include "state.h"

void parallel_begin(struct session *session);
void parallel_end(struct session *session); /* after its requests */

/* The place in which a new request of the client's counts; NULL: it counts in none. */
struct place *parallel_place(const struct session *session, const struct request *request);

/* The request takes a place; if none is free, parallel_pass holds it. place may be NULL. */
void parallel_enter(struct request *request, struct place *place);

/* Passes the request at hand, or holds it; in both cases it may be kept for a new server. */
void parallel_pass(struct message *message);

/* The held request that can be sent now; or NULL. Sends it. */
struct request *parallel_next(const struct session *session);
void parallel_send(struct party *client, struct request *request);

/*
 * The request's answer is awaited no more. If none is owed, the request keeps its place for the
 * grace.
 */
void parallel_abandon(const struct outlet *outlet, struct request *request);
