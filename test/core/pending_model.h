#ifndef TEST_PENDING_MODEL_H
#define TEST_PENDING_MODEL_H

#include <check.h>

/* Random calls, each answer compared with that of an array that is searched from end to end. */
TCase *pending_model_case(void);

#endif
