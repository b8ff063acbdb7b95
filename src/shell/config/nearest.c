#include "shell/words.h"

#include <string.h>

/* How many characters of both are left over when those of one are looked for in the other, in their order. */
static size_t
distance(struct span typed, const char *name)
{
	size_t left = typed.len + strlen(name);
	const char *found;

	for (size_t i = 0; i < typed.len; i++)
		if ((found = strchr(name, typed.ptr[i])) != NULL && *found != '\0') {
			name = found + 1;
			left -= 2;
		}
	return left;
}

void
nearest_offer(struct nearest *nearest, const char *name)
{
	struct span typed = nearest->typed;
	/* The beginning of a name is as good as all of it. */
	bool begins = typed.len > 1 && strncmp(typed.ptr, name, typed.len) == 0;
	size_t far = begins ? 0 : distance(typed, name);

	if (far >= (nearest->name == NULL ? 2 + typed.len / 3 : nearest->distance))
		return;
	nearest->distance = far;
	nearest->name = name;
}
