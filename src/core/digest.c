#include "core/digest.h"

#include <stdbool.h>

#include "core/hash.h"
#include "core/json.h"

enum { LEVELS = 64 };

struct level {
	bool object;
	uint64_t sum;  /* of an object's members, in any order; of an array's elements, in order */
	uint64_t name; /* of the member whose value is next */
};

static uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t both[] = { a, b };

	return hash_of((struct span){ (const char *)both, sizeof(both) }, 0);
}

static void
add_value(struct level *level, uint64_t value)
{
	if (level->object)
		level->sum += mix(level->name, value);
	else
		level->sum = mix(level->sum, value);
}

uint64_t
digest_of(struct span json, uint64_t seed)
{
	struct level levels[LEVELS + 1] = { { .object = false } }, *level = levels;
	uint64_t value = 0; /* the last value that has ended and was not added */
	size_t at, len;

	for (at = 0; at < json.len; at += len) {
		char c = json.ptr[at];

		len = 1;
		if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
			continue;
		if (c == '{' || c == '[') {
			if (level == levels + LEVELS)
				return hash_of(json, seed);
			*++level = (struct level){ .object = c == '{', .sum = (uint64_t)c };
			value = 0;
		} else if ((c == '}' || c == ']') && level > levels) {
			add_value(level, value);
			value = (level--)->sum;
		} else if (c == ',') {
			add_value(level, value);
		} else if (c == ':') {
			level->name = value;
		} else {
			len = json_token_len(json, at);
			value = hash_of(span_part(json, at, len), seed);
		}
	}
	return value;
}
