#ifndef CORE_LATENCY_H
#define CORE_LATENCY_H

/*
 * How long the server took for its answers, for each method and name. The first LIMIT_LATENCIES pairs have an entry of
 * their own; all others share one, whose method is empty. Names are hostile input.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/timeline.h"
#include "core/limits.h"

struct latency_entry {
	uint64_t hash;
	char *names; /* owned: the method, then the name; NULL: the entry for all others */
	size_t method_len, name_len;
	uint64_t count, sum; /* answers; ms in all */
	msec_t longest;
};

struct latency { /* zeroed: nothing was counted */
	struct latency_entry *entries[LIMIT_LATENCIES];
	size_t count;
	struct latency_entry others;
};

void latency_free(struct latency *latency);

/* Counts an answer. method and name: the beginning of a long one counts for it. */
void latency_note(struct latency *latency, struct span method, struct span name, msec_t elapsed);

/* The entry with this number; those of the others come last, if there are any. NULL: there is none. */
const struct latency_entry *latency_at(const struct latency *latency, size_t i);

#endif
