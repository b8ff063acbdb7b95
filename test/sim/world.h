#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * One world: a client and a server with moods, canceld's core between them, a virtual clock, and
 * the oracle that watches. true if every promise held; else the reason is printed. verbose: prints
 * all events.
 */
bool world_run(uint64_t seed, bool verbose);
