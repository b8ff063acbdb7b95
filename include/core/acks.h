#ifndef CORE_ACKS_H
#define CORE_ACKS_H

/*
 * Acknowledgements of canceld's own request $/canceld/cancel {id, reason?}, with the guarantees of ABP "Cancellation": each waits
 * until the request that it names has ended, and then says {id, cancelled, reason?, confirmed?}. And a memory of how the last
 * LIMIT_FINISHED requests of the client's have ended, by the hashes of their ids.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/lane.h"
#include "core/pending.h"

#define ACKS_METHOD SPAN("$/canceld/cancel")

enum outcome { OUTCOME_UNKNOWN, OUTCOME_COMPLETED, OUTCOME_FORBIDDEN, OUTCOME_CANCELLED, OUTCOME_CONFIRMED };

struct ack {
	const struct request *request; /* the one that it waits for */
	struct buf id, target;         /* its own id, and the named one, as spelled */
};

struct acks {
	struct ack *list; /* owned, oldest first */
	size_t count;
	uint64_t *marks; /* owned: a ring of what is remembered; NULL: nothing */
	size_t marked;   /* how many marks were ever made */
	uint64_t seed;   /* of the hashes */
};

void acks_init(struct acks *acks, uint64_t seed);
void acks_free(struct acks *acks);

/* Waits for the end of the request. false: there are LIMIT_ACKS already. */
bool acks_add(struct acks *acks, struct span id, struct span target, const struct request *request);

/* The client's request with this pending_hash has ended. If the same id is noted again, the last end counts. */
void acks_note_end(struct acks *acks, uint64_t hash, bool cancelled);

/*
 * The client's request has ended: this is remembered, and the acknowledgements that wait for it are written to the lane of the
 * server's messages.
 */
void acks_end(struct acks *acks, const struct request *request, struct lane *lane);

/* How the client's last request with this id ended: OUTCOME_COMPLETED, _CANCELLED or _UNKNOWN. */
enum outcome acks_outcome(const struct acks *acks, struct span id);

/* Writes the acknowledgement of this outcome to the lane of the server's messages; id and target as spelled. */
void acks_send(struct lane *lane, struct span id, struct span target, enum outcome outcome);

#endif
