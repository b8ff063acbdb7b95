#pragma once

#include "state.h"

/* Gives the request the deadline of this kind that the policy has for it. */
void requests_set_deadline(struct policy *policy, struct request *request, enum policy_kind kind);

/*
 * Applies EVENT_DEADLINE or EVENT_PERSON to the request; or the event's form with an answer owed,
 * if by the protocol its receiver may still answer.
 */
void requests_give_up(struct session *session, struct request *request, enum decide_event event);

/*
 * Expires what is due of that side: its requests, their tombstones and tasks, and the questions in
 * its place.
 */
void requests_expire(struct session *session, enum side side);

/* Forgets the oldest tombstones beyond LIMIT_TOMBSTONES. */
void requests_trim(struct session *session);

/*
 * Begins the deadlines that waited for the session to open, once it is open; sends the withheld
 * cancels, once the era is settled.
 */
void requests_settle(struct session *session);

/*
 * To be called for each whole message of the server's: it shows that the server works on what opens
 * the session.
 */
void requests_note_life(struct pending *pending);

/*
 * A message was thrown away that could have answered any of this requester's requests: those
 * without a deadline get TIME_IDLE. Returns the request that waits, if there is only one; or NULL.
 */
struct request *requests_bound_waits(struct party *requester);
