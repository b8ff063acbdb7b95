#include "core/frame.h"

#include <check.h>
#include <string.h>

Suite *frame_suite(void);

static const char text[] = "{\"id\":1}\n\n[2,\"a\\\"\"]\r\nno json {\n{\"a\":\"\xc3\xa9\"}\n";
static const uint64_t ends[] = { 9, 10, 21, 31, 42 };

/* Every way of cutting the text in three gives the same frames. */
START_TEST(the_ends_do_not_depend_on_the_pieces)
{
	size_t first = (size_t)_i, second, len = sizeof(text) - 1;

	for (second = first; second <= len; second++) {
		size_t cuts[] = { first, second, len }, frames = 0, i;
		struct frame frame;

		frame_init(&frame, FRAMING_NEWLINE);
		for (i = 0; i < 3; i++) {
			while (frame.scanned < cuts[i]) {
				struct span piece = { text + frame.scanned, cuts[i] - (size_t)frame.scanned };

				if (!frame_feed(&frame, piece))
					break;
				ck_assert_uint_eq(frame.scanned, ends[frames]);
				ck_assert_uint_eq(frame.start, frames == 0 ? 0 : ends[frames - 1]);
				frames++;
				frame_next(&frame);
			}
		}
		ck_assert_uint_eq(frames, sizeof(ends) / sizeof(ends[0]));
		frame_free(&frame);
	}
}
END_TEST

Suite *
frame_suite(void)
{
	Suite *suite = suite_create("frame");
	TCase *ends_case = tcase_create("ends");

	tcase_add_loop_test(ends_case, the_ends_do_not_depend_on_the_pieces, 0, sizeof(text) - 1);
	suite_add_tcase(suite, ends_case);
	return suite;
}
