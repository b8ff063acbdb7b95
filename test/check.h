/*
 * Check, with assertions that are cheap in a loop: Check writes down each one that holds (that is a system call), to tell
 * after a crash where the test was. Here each place does so once.
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#pragma GCC system_header

#include_next <check.h>

#define _mark_point(file, line) \
	__extension__({ \
		static int place_is_marked_; \
		if (!place_is_marked_) { \
			place_is_marked_ = 1; \
			(_mark_point)(file, line); \
		} \
	})

#endif
