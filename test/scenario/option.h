#pragma once

/*
 * The options of a scenario: the options of the command line that the core knows, with the same
 * names.
 */

#include <stdbool.h>

#include "scenario/script.h"

/* word: NAME or NAME=VALUE. false: no such option, or no such value. */
bool option_read(struct scenario *scenario, struct span word);

bool option_number(struct span text, msec_t *number);

/* 1500, 250ms, 2s, 30m, 24h; none is MSEC_NEVER. */
bool option_duration(struct span text, msec_t *duration);
