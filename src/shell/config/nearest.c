#include "shell/words.h"

#include <assert.h>
#include <string.h>

enum { LONGEST = 63 };

/* How many characters must be put in, taken out or replaced to make name of the first len ones of typed. */
static size_t
distance(const char *typed, size_t len, const char *name)
{
	size_t costs[LONGEST + 1], i, j, width = strlen(name);

	for (j = 0; j <= width; j++)
		costs[j] = j;
	for (i = 0; i < len; i++) {
		size_t diagonal = costs[0]++;

		for (j = 0; j < width; j++) {
			size_t cost = diagonal + (typed[i] != name[j]);

			diagonal = costs[j + 1];
			if (costs[j] + 1 < cost)
				cost = costs[j] + 1;
			costs[j + 1] = diagonal + 1 < cost ? diagonal + 1 : cost;
		}
	}
	return costs[width];
}

void
nearest_offer(struct nearest *nearest, const char *name)
{
	struct span typed = nearest->typed;
	size_t len = typed.len < LONGEST ? typed.len : LONGEST, far;

	assert(strlen(name) <= LONGEST);
	if (nearest->name == NULL)
		nearest->distance = 2 + typed.len / 3;
	/* The beginning of a name is as good as all of it. */
	far = len > 1 && strncmp(typed.ptr, name, len) == 0 ? 0 : distance(typed.ptr, len, name);
	if (far >= nearest->distance)
		return;
	nearest->distance = far;
	nearest->name = name;
}
