#include "core/hash.h"

#include <check.h>

Suite *hash_suite(void);

enum { BYTES = 5 * HASH_BLOCK };

static const char zeros[BYTES];

static uint64_t
in_parts(struct span bytes, uint64_t seed)
{
	struct hash hash;

	hash_init(&hash, seed);
	for (; bytes.len >= HASH_BLOCK; bytes = span_part(bytes, HASH_BLOCK, bytes.len - HASH_BLOCK))
		hash_block(&hash, bytes.ptr);
	return hash_end(&hash, bytes);
}

START_TEST(parts_make_no_difference)
{
	struct span bytes = { "whoever chooses the bytes must not be able to choose the buckets, be they as many", 0 };

	for (; bytes.len < BYTES; bytes.len++)
		ck_assert_uint_eq(in_parts(bytes, 7), hash_of(bytes, 7));
}
END_TEST

/* Bytes that stand in both words of the last piece, and none at all, are told apart by the length. */
START_TEST(every_bit_and_the_length_count)
{
	char text[BYTES] = { 0 };
	size_t len, i;
	int bit;

	for (len = 1; len < BYTES; len++) {
		struct span bytes = { text, len };
		uint64_t plain = hash_of(bytes, 7);

		for (i = 0; i < len; i++)
			ck_assert(hash_of((struct span){ zeros, i }, 7) != plain);
		for (i = 0; i < len; i++)
			for (bit = 1; bit < 256; bit *= 2) {
				text[i] = (char)bit;
				ck_assert_msg(hash_of(bytes, 7) != plain, "bit %d of byte %zu of %zu", bit, i, len);
				text[i] = 0;
			}
	}
}
END_TEST

/* Neither the halves nor the pieces can be exchanged, whatever is added to both. */
START_TEST(the_order_counts)
{
	char text[2][2 * HASH_BLOCK];
	int i;

	for (i = 0; i < 2 * HASH_BLOCK; i++) {
		text[0][i] = (char)('a' + i / 8);
		text[1][i ^ 8] = text[0][i];
	}
	ck_assert(hash_of((struct span){ text[0], HASH_BLOCK }, 7) != hash_of((struct span){ text[1], HASH_BLOCK }, 7));
	ck_assert(hash_of((struct span){ text[0], sizeof(text[0]) }, 7) !=
	    hash_of((struct span){ text[1], sizeof(text[1]) }, 7));
}
END_TEST

START_TEST(a_seed_changes_all)
{
	size_t len;

	for (len = 0; len < BYTES; len++)
		ck_assert(hash_of((struct span){ zeros, len }, 7) != hash_of((struct span){ zeros, len }, 8));
}
END_TEST

Suite *
hash_suite(void)
{
	Suite *suite = suite_create("hash");
	TCase *cases = tcase_create("cases");

	tcase_add_test(cases, parts_make_no_difference);
	tcase_add_test(cases, every_bit_and_the_length_count);
	tcase_add_test(cases, the_order_counts);
	tcase_add_test(cases, a_seed_changes_all);
	suite_add_tcase(suite, cases);
	return suite;
}
