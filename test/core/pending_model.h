#ifndef TEST_PENDING_MODEL_H
#define TEST_PENDING_MODEL_H

#include <check.h>
#include <stdbool.h>

#include "core/buf.h"

/* Random calls, each answer compared with that of an array that is searched from end to end. */
TCase *pending_model_case(void);

/* A peer might confuse the two ids: they are equal, or the same number, as text ("5" and 5) or as an IEEE double. */
bool model_loosely_equal(struct span a, struct span b);

#endif
