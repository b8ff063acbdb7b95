#include "core/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

static bool exhausted;

bool
mem_is_exhausted(void)
{
	return exhausted;
}

static void *
checked(void *fresh)
{
	if (fresh == NULL) {
		exhausted = true;
		abort();
	}
	return fresh;
}

void *
mem_resize(void *old, size_t count, size_t size)
{
	assert((size == 0 || count <= SIZE_MAX / size) && "more memory than there can be");

	size_t bytes = count * size;

	return checked(realloc(old, bytes > 0 ? bytes : 1));
}

void *
mem_new(size_t size)
{
	return checked(calloc(1, size > 0 ? size : 1));
}
