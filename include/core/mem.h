#ifndef CORE_MEM_H
#define CORE_MEM_H

/* The one place of the core that takes memory. Running out of it ends the program with a message. */

#include <stdbool.h>
#include <stddef.h>

/* Like realloc for count elements of size bytes; never returns NULL, never overflows. */
void *mem_resize(void *old, size_t count, size_t size) __attribute__((warn_unused_result));

/* A zeroed object of size bytes; the caller frees it with free(). */
void *mem_new(size_t size) __attribute__((warn_unused_result));

/*
 * size bytes, a power of two and a multiple of the system's pages, at a multiple of size; zeroed. mem_unmap gives them back
 * to the system. On Linux: huge: in huge pages, if there are any, so that the processor has far fewer addresses to
 * translate; otherwise no part is resident before it is touched. A child of fork does not have them.
 */
void *mem_map(size_t size, bool huge) __attribute__((warn_unused_result));
void mem_unmap(void *at, size_t size);

#endif
