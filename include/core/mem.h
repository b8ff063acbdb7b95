#ifndef CORE_MEM_H
#define CORE_MEM_H

/* The one place of the core that takes memory. Running out of it ends the program with a message. */

#include <stddef.h>

/* Like realloc for count elements of size bytes; never returns NULL, never overflows. */
void *mem_resize(void *old, size_t count, size_t size) __attribute__((warn_unused_result));

/* A zeroed object of size bytes; the caller frees it with free(). */
void *mem_new(size_t size) __attribute__((warn_unused_result));

/*
 * size bytes, a power of two and a multiple of the system's pages, at a multiple of size; zeroed, and not resident before
 * they are touched. mem_unmap gives them back to the system.
 */
void *mem_map(size_t size) __attribute__((warn_unused_result));
void mem_unmap(void *at, size_t size);

/* Asks for huge pages behind them, if the system has any: far fewer addresses for the processor to translate. */
void mem_want_huge(void *at, size_t size);

#endif
