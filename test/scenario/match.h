#pragma once

/*
 * Matches a line against a pattern: JSON, byte for byte, in which * stands for any value, and
 * within a string for any characters.
 */

#include <stdbool.h>

#include "core/buf.h"

bool match_line(struct span pattern, struct span line);

/*
 * Appends bytes in a form that a person can read on one line: escaped, and cut in the middle when
 * long.
 */
void match_show(struct buf *out, struct span bytes);
