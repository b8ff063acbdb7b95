#pragma once

/*
 * The sentences of the specifications that the project started from, numbered in seeds.txt. Each
 * has a scenario, or a reason why it cannot apply.
 */

#include <stddef.h>

struct seeds;

/* It lives as long as the process, and borrows the path. */
struct seeds *seeds_read(const char *path);

/* A scenario names the sentence. */
void seeds_cover(struct seeds *seeds, const char *name, const char *file, unsigned number);

/* Prints the faults as `file:line: text`; returns how many. */
unsigned seeds_check(const struct seeds *seeds);

size_t seeds_count(const struct seeds *seeds);
