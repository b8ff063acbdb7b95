#ifndef CORE_ACKS_H
#define CORE_ACKS_H

/*
 * Acknowledgements of canceld's own request $/canceld/cancel {id, reason?}, with the guarantees of ABP "Cancellation":
 * each waits until the request that it names has ended, and is then answered with {id, cancelled, reason?, confirmed?}.
 * Also a memory of how the last LIMIT_FINISHED requests of the client's ended, by the hashes of their ids.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/journal.h"
#include "core/lane.h"
#include "core/pending.h"

#define ACKS_METHOD SPAN("$/canceld/cancel")

enum outcome { OUTCOME_UNKNOWN, OUTCOME_COMPLETED, OUTCOME_CANCELLED, OUTCOME_CONFIRMED, OUTCOME_FORBIDDEN };

struct ack {
	const struct request *request; /* the request that it waits for */
	struct buf id, target, reason; /* the id of the $/canceld/cancel, and its two params, as spelled */
};

struct acks {
	struct ack *list; /* owned, oldest first */
	size_t count;
	uint64_t *marks; /* owned: a ring of remembered ends; NULL: none yet */
	size_t marked;   /* how many ends were ever noted */
	uint64_t seed;   /* of the hashes */
};

void acks_init(struct acks *acks, uint64_t seed);
void acks_free(struct acks *acks);

/* Adds an acknowledgement that waits for the end of the request. false: there are LIMIT_ACKS already. */
bool acks_add(struct acks *acks, struct span id, struct span target, struct span reason, const struct request *request);

/*
 * The client's request with this id has ended: OUTCOME_COMPLETED, _CANCELLED or _CONFIRMED. If the same id
 * ends again, the last end counts.
 */
void acks_note_end(struct acks *acks, struct span id, enum outcome outcome);

/*
 * The client's request has ended: notes the end, and sends the acknowledgements that wait for it.
 */
void acks_end(struct acks *acks, const struct request *request, struct lane *lane, struct journal *journal);

/* How the client's last request with this id ended, as noted; or OUTCOME_UNKNOWN. */
enum outcome acks_outcome(const struct acks *acks, struct span id);

/* Writes the acknowledgement of this outcome to the lane of the server's messages, and reports it. */
void acks_send(struct lane *lane, struct journal *journal, struct span id, struct span target, struct span reason,
    enum outcome outcome);

/* Reports how a $/canceld/cancel with these params was answered. */
void acks_report(struct journal *journal, struct span target, struct span reason, const char *outcome);

#endif
