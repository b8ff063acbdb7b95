#include "shell/words.h"

void
nearest_offer(struct nearest *nearest, const char *name)
{
	struct span typed = nearest->typed;
	size_t far = span_apart(typed, span_of(name));

	/* A part of a name is as good as all of it. */
	for (const char *at = name; typed.len > 1 && strlen(at) >= typed.len; at++)
		far = memcmp(typed.ptr, at, typed.len) == 0 ? 0 : far;
	if (far >= (nearest->name == NULL ? 2 + typed.len / 3 : nearest->distance))
		return;
	nearest->distance = far;
	nearest->name = name;
	print_into(nearest->told, ": it could be %s%s", nearest->option ? "--" : "", name);
}
