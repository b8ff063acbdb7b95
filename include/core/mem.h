#ifndef CORE_MEM_H
#define CORE_MEM_H

/* The one place of the core that takes memory. Running out of it calls abort(): a handler of SIGABRT may tell. */

#include <stdbool.h>
#include <stddef.h>

/* Like realloc for count elements of size bytes; never returns NULL, never overflows. */
void *mem_resize(void *old, size_t count, size_t size) __attribute__((warn_unused_result));

/* A zeroed object of size bytes; the caller frees it with free(). */
void *mem_new(size_t size) __attribute__((warn_unused_result));

/* Whether abort() was called because there was no memory. */
bool mem_is_exhausted(void);

#endif
