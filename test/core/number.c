#include "core/json.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>

SUITE("number");

static const struct {
	double value;
	const char *written;
} numbers[] = {
	{ 0, "0" },
	{ 1, "1" },
	{ -1, "-1" },
	{ 0.5, "5e-1" },
	{ -0.1, "-1e-1" },
	{ 100, "1e2" },
	{ 123456, "123456" },
	{ 1e22, "1e22" },
	{ 1e23, "1e23" },
	{ 9007199254740992, "9007199254740992" },
	{ DBL_MAX, "17976931348623157e292" },
	{ DBL_MIN, "22250738585072012e-324" },
};

TESTS(the_shortest_digits_are_written, 0, sizeof(numbers) / sizeof(numbers[0]))
{
	struct buf text = { 0 };

	number_write(numbers[_i].value, &text);
	buf_append(&text, (struct span){ "", 1 });
	ck_assert_str_eq(text.data, numbers[_i].written);
	buf_free(&text);
}

/* Of all sizes, and with the neighbours of powers of two, where doubles are spaced differently. */
TEST(what_is_written_is_read_as_the_same_double)
{
	struct buf text = { 0 };
	uint64_t bits = 1;
	double value;

	for (int i = 0; i < 4000; i++) {
		bits = bits * 6364136223846793005u + 1442695040888963407u;
		if (i % 3 == 0)
			bits = (bits & ~(((uint64_t)1 << 52) - 1)) + (uint64_t)(i % 2);
		memcpy(&value, &bits, sizeof(value));
		if (!(value <= DBL_MAX && value >= -DBL_MAX))
			continue;
		buf_clear(&text);
		number_write(value, &text);
		buf_append(&text, (struct span){ "", 1 });
		ck_assert_msg(strtod(text.data, NULL) == value, "%a is written as %s", value,
		    text.data);
	}
	buf_free(&text);
}
