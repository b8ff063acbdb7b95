#pragma once

#include "core/session.h"

struct ack {                           /* a $/canceld/cancel that is not answered yet */
	const struct request *request; /* that has to end first */
	struct span text;              /* the message; behind this struct */
	struct ack *next;
};

struct outlet;
struct party;

/*
 * Acknowledgements of $/canceld/cancel {id, reason?}, a request that a client sends and canceld
 * answers, with the guarantees of ABP "Cancellation": each waits until the request that it names
 * has ended, and is then answered with {id, cancelled, reason?, confirmed?}.
 */
#define ACKS_METHOD SPAN("$/canceld/cancel")

enum outcome {
	OUTCOME_UNKNOWN,
	OUTCOME_COMPLETED,
	OUTCOME_CANCELLED,
	OUTCOME_CONFIRMED,
	OUTCOME_FORBIDDEN
};

/*
 * Keeps a $/canceld/cancel among those that wait until its request has ended. false: LIMIT_ACKS or
 * LIMIT_ACK_BYTES are reached.
 */
bool acks_add(struct ack **waiting, struct span text, const struct request *request);

/*
 * A request has ended. acks_note_end: remembers the outcome in the marks of its requester, under
 * its id. acks_end: also under its token, and sends the client the acknowledgements that waited
 * for it.
 */
void acks_note_end(struct buf *marks, struct id id, enum name_kind kind, enum outcome outcome);
void acks_end(struct party *requester, const struct request *request, enum outcome outcome);

/*
 * How the last request with this id or token ended whose requester has these marks, if it is one
 * of the last LIMIT_FINISHED; or UNKNOWN.
 */
enum outcome acks_outcome(const struct buf *marks, struct id id, enum name_kind kind);

/*
 * Sends the client the acknowledgement of this outcome, and reports it; or only reports how it was
 * answered.
 */
void acks_send(struct outlet *outlet, const struct scan *ack, enum outcome outcome);
void acks_report(const struct outlet *outlet, const struct scan *ack, const char *outcome);
