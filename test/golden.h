#pragma once

/*
 * Golden runs: hashes of all bytes that canceld writes to each side in a case, and of all that it
 * decides. `make golden` compares those of two commits.
 */

#include "core/journal.h"

void golden_wrote(enum side to, struct span bytes);
void golden_decided(const struct action *action);
/* Counts as a decision. */
void golden_found(int64_t number);

/* The case of this name has ended: prints its hashes if that is asked for. The next case begins. */
void golden_end_case(bool print, const char *format, ...) __attribute__((format(printf, 2, 3)));
