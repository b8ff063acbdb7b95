#include "core/buf.h"

#include <check.h>

enum { BYTES = 80 };

static const char zeros[BYTES];

SUITE("hash");

/* Runs of zero bytes differ by their length. */
TEST(every_bit_the_length_and_the_seed_count)
{
	char text[BYTES] = { 0 };
	size_t len, i;
	int bit;

	for (len = 1; len < BYTES; len++) {
		struct span bytes = { text, len };
		uint64_t plain = hash_of(bytes, 7);

		ck_assert(hash_of(bytes, 8) != plain);
		for (i = 0; i < len; i++)
			ck_assert(hash_of((struct span){ zeros, i }, 7) != plain);
		for (i = 0; i < len; i++)
			for (bit = 1; bit < 256; bit *= 2) {
				text[i] = (char)bit;
				ck_assert_msg(hash_of(bytes, 7) != plain,
				    "bit %d of byte %zu of %zu", bit, i, len);
				text[i] = 0;
			}
	}
}

TEST(the_order_counts)
{
	char text[2][32];

	for (int i = 0; i < 32; i++) {
		text[0][i] = (char)('a' + i / 8);
		text[1][i ^ 8] = text[0][i];
	}
	ck_assert(
	    hash_of((struct span){ text[0], 16 }, 7) != hash_of((struct span){ text[1], 16 }, 7));
	ck_assert(
	    hash_of((struct span){ text[0], 32 }, 7) != hash_of((struct span){ text[1], 32 }, 7));
}

/* How many other words of its bucket a word meets on average, with as many words as buckets. */
static double
mean_company(uint64_t stride, uint64_t seed)
{
	enum { WORDS = 1 << 12 };
	static unsigned counts[WORDS];
	double sum = 0;

	memset(counts, 0, sizeof(counts));
	for (uint64_t i = 0; i < WORDS; i++) {
		uint64_t word = i * stride;

		counts[hash_of((struct span){ (const char *)&word, sizeof(word) }, seed) % WORDS]++;
	}
	for (int i = 0; i < WORDS; i++)
		sum += (double)counts[i] * counts[i];
	return sum / (double)WORDS;
}

/* Words with common parts spread too, with any seed. */
TESTS(hashes_of_chosen_bytes_spread, 0, 48)
{
	for (uint64_t seed = 0; seed < 50; seed++)
		ck_assert_double_lt(mean_company((uint64_t)1 << _i, seed), 3);
}
