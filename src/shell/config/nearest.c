#include "shell/words.h"

/* How far: how many characters of both are left over when those of one are looked for in the other, in their order. */
void
nearest_offer(struct nearest *nearest, const char *name)
{
	struct span typed = nearest->typed;
	size_t far = typed.len + strlen(name);
	const char *at = name, *found;

	for (size_t i = 0; i < typed.len; i++)
		if ((found = strchr(at, typed.ptr[i])) != NULL) {
			at = found + 1;
			far -= 2;
		}
	/* A part of a name is as good as all of it. */
	for (at = name; typed.len > 1 && strlen(at) >= typed.len; at++)
		far = memcmp(typed.ptr, at, typed.len) == 0 ? 0 : far;
	if (far >= (nearest->name == NULL ? 2 + typed.len / 3 : nearest->distance))
		return;
	nearest->distance = far;
	nearest->name = name;
}
