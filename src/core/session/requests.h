#pragma once

#include "state.h"

/* Gives the request the deadline of this kind that the policy has for it. */
void requests_set_deadline(const struct session *session, struct request *request,
    enum policy_kind kind);

/*
 * EVENT_DEADLINE or EVENT_PERSON; or, if the protocol has it so, the same with an answer owed, as
 * its receiver may give it.
 */
void requests_give_up(struct session *session, struct request *request, enum decide_event event);

/*
 * What is due of that side: its requests, their tombstones and tasks, and the questions in its
 * place.
 */
void requests_expire(struct session *session, enum side side);

/* Forgets the oldest tombstones beyond LIMIT_TOMBSTONES. */
void requests_trim(struct session *session);

/*
 * Once the session is open, deadlines begin that waited for that; once the era is settled, withheld
 * cancels are sent.
 */
void requests_settle(struct session *session);

/* A whole message of the server's: what opens the session is being worked on. */
void requests_note_life(struct session *session);

/*
 * A message that could have answered any of these requests was thrown away: those without a
 * deadline get TIME_IDLE. Returns the one that waits, if it is the only one; or NULL.
 */
struct request *requests_bound_waits(struct session *session, enum side requester);
