#pragma once

#include "state.h"

/*
 * Handles a notification: cancels the request that it names, passes progress and what a stream says
 * to the one who waits for it, and notes what it tells of a task or of the session.
 */
void notification_receive(struct session *session, struct message *message);
