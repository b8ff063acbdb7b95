#include "core/latency.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/buf.h"

enum { NAME_MOST = 128 }; /* bytes of a method or name that tell it from others */

void
latency_free(struct latency *latency)
{
	for (size_t i = 0; i < latency->count; i++) {
		free(latency->entries[i]->names);
		free(latency->entries[i]);
	}
	*latency = (struct latency){ 0 };
}

static struct span
beginning(struct span text)
{
	return span_part(text, 0, text.len < NAME_MOST ? text.len : NAME_MOST);
}

static struct latency_entry *
add_entry(struct latency *latency, struct span method, struct span name, uint64_t hash)
{
	struct latency_entry *entry = mem_new(sizeof(*entry));

	entry->hash = hash;
	entry->names = mem_new(method.len + name.len + 1);
	memcpy(entry->names, method.ptr, method.len);
	if (name.len > 0)
		memcpy(entry->names + method.len, name.ptr, name.len);
	entry->method_len = method.len;
	entry->name_len = name.len;
	latency->entries[latency->count++] = entry;
	return entry;
}

static struct latency_entry *
entry_for(struct latency *latency, struct span method, struct span name)
{
	/* The hash decides: a name that collides on purpose is only counted with another one. */
	uint64_t hash = hash_of(name, hash_of(method, 0));

	for (size_t i = 0; i < latency->count; i++)
		if (latency->entries[i]->hash == hash)
			return latency->entries[i];
	if (latency->count == LIMIT_LATENCIES)
		return &latency->others;
	return add_entry(latency, method, name, hash);
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

const struct latency_entry *
latency_at(const struct latency *latency, size_t i)
{
	if (i < latency->count)
		return latency->entries[i];
	return i == latency->count && latency->others.count > 0 ? &latency->others : NULL;
}
