#ifndef CORE_LATENCY_H
#define CORE_LATENCY_H

/*
 * How long the server took for its answers, for each method and name. The first LIMIT_LATENCIES pairs have an entry of
 * their own; all others share the last one, "other". Names are hostile input.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/timeline.h"
#include "core/limits.h"

enum { LATENCY_NAME = 128 }; /* bytes of a method or name that tell it from others */

struct latency_entry {
	char method[LATENCY_NAME], name[LATENCY_NAME];
	size_t method_len, name_len;
	uint64_t count, sum; /* answers; ms in all */
	msec_t longest;
};

struct latency { /* zeroed: nothing was counted */
	struct latency_entry entries[LIMIT_LATENCIES + 1];
	size_t count; /* of those in use */
};

/* Counts an answer. method and name: the beginning of a long one counts for it. */
void latency_note(struct latency *latency, struct span method, struct span name, msec_t elapsed);

#endif
