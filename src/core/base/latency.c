#include "core/latency.h"

#include <string.h>

static struct span
beginning(struct span text)
{
	return span_part(text, 0, text.len < LATENCY_NAME ? text.len : LATENCY_NAME);
}

static struct latency_entry *
entry_for(struct latency *latency, struct span method, struct span name)
{
	struct latency_entry *entry = latency->entries;

	for (size_t i = 0; i < latency->count; i++, entry++)
		if (i == LIMIT_LATENCIES ||
		    (span_equal((struct span){ entry->method, entry->method_len }, method) &&
			span_equal((struct span){ entry->name, entry->name_len }, name)))
			return entry;
	if (latency->count++ == LIMIT_LATENCIES) {
		method = SPAN("other");
		name = SPAN_NONE;
	}
	entry->method_len = method.len;
	entry->name_len = name.len;
	memcpy(entry->method, method.ptr, method.len);
	if (name.len > 0)
		memcpy(entry->name, name.ptr, name.len);
	return entry;
}

void
latency_note(struct latency *latency, struct span method, struct span name, msec_t elapsed)
{
	struct latency_entry *entry = entry_for(latency, beginning(method), beginning(name));

	entry->count++;
	entry->sum += (uint64_t)elapsed;
	if (elapsed > entry->longest)
		entry->longest = elapsed;
}
