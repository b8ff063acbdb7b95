#include "core/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

void *
mem_resize(void *old, size_t count, size_t size)
{
	assert((size == 0 || count <= SIZE_MAX / size) && "more memory than there can be");

	size_t bytes = count * size;
	void *fresh = realloc(old, bytes > 0 ? bytes : 1);

	assert(fresh != NULL && "out of memory");
	return fresh;
}

void *
mem_new(size_t size)
{
	void *fresh = calloc(1, size > 0 ? size : 1);

	assert(fresh != NULL && "out of memory");
	return fresh;
}
