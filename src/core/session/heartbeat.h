#pragma once

/*
 * --heartbeat tells the client that its request is still waited for, as progress in the server's
 * name.
 */

#include "party.h"

/*
 * heartbeat_begin: for a new request of a peer's. heartbeat_put_off: progress of a request that has
 * an alarm, or a stream's message, is at hand and passes.
 */
void heartbeat_begin(const struct outlet *outlet, struct request *request);
void heartbeat_put_off(struct request *request, const struct message *message);

/* Sends what is due. */
void heartbeat_expire(struct party *client);
