#ifndef CTL_FOOTPRINT_H
#define CTL_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The memory of a process and of all those below it, from proc(5). */
struct footprint {
	uint64_t peak; /* bytes: the sum of the most that each process had in memory so far */
	int processes;
};

/* false: /proc does not tell. */
bool footprint_measure(struct footprint *footprint, pid_t process) __attribute__((warn_unused_result));

#endif
