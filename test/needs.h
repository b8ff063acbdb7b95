/*
 * Tests of what not every system has: one that is skipped is printed and counted, by its name and
 * the reason.
 */
#pragma once

#include "shell/system.h"

/* Ends the test, as skipped, if the system has no such feature. */
#define NEEDS(feature) \
	do { \
		if (!needs_or_skips(feature, __FILE__, __func__, _i)) \
			return; \
	} while (0)

bool needs_or_skips(enum system_feature feature, const char *file, const char *function, int row);

/* How many were skipped, by their reasons. */
void needs_report(void);
