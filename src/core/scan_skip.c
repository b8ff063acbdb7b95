#include "core/utf8.h"
#include "scan_internal.h"

static const char *
skip_plain_scalar(const char *at, const char *end)
{
	while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
		at++;
	return at;
}

static const char *
skip_escapes_scalar(const char *at, const char *end)
{
	while (end - at >= 2 && *at == '\\' && is_short_escape(at[1]))
		at += 2;
	return at;
}

#ifdef HAVE_BLOCKS

/* Long strings: four blocks at a time. */
static const char *
skip_plain_vector(const char *at, const char *end)
{
	uint64_t special;

	for (; end - at >= 4 * BLOCK; at += 4 * BLOCK) {
		struct block a = block_special(block_load(at));
		struct block b = block_special(block_load(at + BLOCK));
		struct block c = block_special(block_load(at + 2 * BLOCK));
		struct block d = block_special(block_load(at + 3 * BLOCK));

		if (block_mask((struct block){ a.bytes | b.bytes | c.bytes | d.bytes }) != 0) {
			special = (uint64_t)block_mask(c) | (uint64_t)block_mask(d) << BLOCK;
			special = special << 2 * BLOCK | block_mask(a) | block_mask(b) << BLOCK;
			return at + __builtin_ctzll(special);
		}
	}
	for (; end - at >= BLOCK; at += BLOCK)
		if ((special = block_mask(block_special(block_load(at)))) != 0)
			return at + __builtin_ctzll(special);
	return skip_plain_scalar(at, end);
}

static inline uint32_t
short_escape_mask(struct block block)
{
	static const signed char names[] = "\"\\/bfnrt";
	struct block found = { block.bytes == names[0] };

	for (size_t i = 1; i < sizeof(names) - 1; i++)
		found.bytes |= block.bytes == names[i];
	return block_mask(found);
}

/*
 * Mask of escaped bytes (odd-backslash method of simdjson). carry: the first byte is escaped. Bit BLOCK carries into
 * the next block.
 */
static inline uint32_t
escaped_mask(uint32_t backslashes, uint32_t carry)
{
	const uint32_t even = 0x55555555;
	uint32_t starts = backslashes & ~carry, behind = starts << 1 | carry;
	uint32_t odd_starts = starts & ~even & ~behind;

	return (even ^ (odd_starts + starts) << 1) & behind;
}

/* Escapes cost no more than other bytes here, as text that quotes JSON is full of them. */
static const char *
skip_escapes_vector(const char *at, const char *end)
{
	uint32_t carry = 0, backslashes = 1;

	for (; end - at >= BLOCK && backslashes != 0; at += BLOCK) {
		struct block block = block_load(at);
		uint32_t escaped, special, stops;

		backslashes = block_equal(block, '\\');
		escaped = escaped_mask(backslashes, carry);
		special = block_mask(block_special(block)) & ~backslashes;
		stops = (special & ~(escaped & block_equal(block, '"'))) |
		    (escaped & BLOCK_ALL & ~short_escape_mask(block));
		if (stops != 0) {
			unsigned passed = (unsigned)__builtin_ctz(stops);

			return at + passed - (escaped >> passed & 1);
		}
		carry = escaped >> BLOCK;
	}
	return skip_escapes_scalar(at - carry, end);
}

/* Five characters of three bytes at a time: most text that is not ASCII consists of them. */
static const char *
skip_triples(const char *at, const char *end)
{
	const uint32_t all = 0x7FFF, want_leads = 0x1249, want_tails = 0x6DB6;

	for (; end - at >= BLOCK; at += 15) {
		struct block block = block_load(at);
		uint32_t leads = block_below(block, 0xF0) & ~block_below(block, 0xE1);

		/* The bytes after 0xE0 and 0xED have limits of their own. */
		leads &= ~block_equal(block, 0xED);
		if ((leads & all) != want_leads || (block_below(block, 0xC0) & all) != want_tails)
			break;
	}
	return at;
}

#endif

const char *
skip_plain(const char *at, const char *end, bool vectors)
{
#ifdef HAVE_BLOCKS
	if (vectors)
		return skip_plain_vector(at, end);
#else
	(void)vectors;
#endif
	return skip_plain_scalar(at, end);
}

/* Escapes \uXXXX that lie whole in the piece. */
static const char *
skip_hex_escapes(const char *at, const char *end)
{
	while (end - at >= 6 && at[0] == '\\' && at[1] == 'u' && is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]) &&
	    is_hex(at[5]))
		at += 6;
	return at;
}

const char *
skip_text(const char *at, const char *end, bool vectors)
{
	const char *start;

	do {
		start = at = skip_plain(at, end, vectors);
		if (at == end)
			return at;
#ifdef HAVE_BLOCKS
		if (vectors)
			at = *at == '\\' ? skip_escapes_vector(at, end) : skip_triples(at, end);
#endif
		at = utf8_skip(at, end);
		at = skip_hex_escapes(skip_escapes_scalar(at, end), end);
	} while (at > start);
	return at;
}
