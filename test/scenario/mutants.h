#pragma once

/*
 * Changes each decision and each fact of the dialects, one at a time: a scenario must fail each
 * time.
 */

#include <stdbool.h>

#include "scenario/script.h"

/* Prints mutant -> the first scenario that found it. true: every survivor is excused. */
bool mutants_run(const struct script *script);
