#pragma once

#include "state.h"

/*
 * Carries out the cell of this event for this request alone, which is freed if it has ended.
 * message: the response, progress or cancel at hand, or NULL. No other file changes the state of a
 * request. true: the whole turn was cancelled (ACP session/cancel): the caller ends its requests.
 */
bool apply(struct session *session, struct request *request, enum decide_event event,
    struct message *message);

/*
 * Replaces the request's deadlines by the grace. A request that waits has one if the server is
 * deaf, or if the agent sent it in a turn that was cancelled.
 */
void apply_grace(const struct outlet *outlet, struct request *request);
