#include "core/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

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

/* Only advice: a system that has no huge pages gives small ones, and one where a child gets all wastes them on it. */
static void
advise(void *at, size_t size, bool huge)
{
#ifdef __linux__
	(void)madvise(at, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	(void)madvise(at, size, MADV_DONTFORK);
#else
	(void)at;
	(void)size;
	(void)huge;
#endif
}

void *
mem_map(size_t size, bool huge)
{
	char *fresh = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t past = (uintptr_t)fresh % size, before = past > 0 ? size - past : 0;

	assert(fresh != MAP_FAILED && "out of memory");
	if (before > 0)
		munmap(fresh, before);
	munmap(fresh + before + size, size - before);
	advise(fresh + before, size, huge);
	return fresh + before;
}

void
mem_unmap(void *at, size_t size)
{
	munmap(at, size);
}
