#ifndef CORE_SCAN_INTERNAL_H
#define CORE_SCAN_INTERNAL_H

/* The parts below the scanner's state machine: the values that it keeps, the grammar of numbers, and skipping inside strings. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/buf.h"
#include "core/fields.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define HAVE_BLOCKS
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define HAVE_BLOCKS
#endif

/* The kinds of containers. Those behind ROOT are watched: their keys are looked up in the table of paths. */
enum container {
	PLAIN_ARRAY,
	PLAIN_OBJECT,
	ROOT,        /* the whole text, not a container */
	PARAMS_META, /* whose members are kept, so that each key is reported where it starts */
	MESSAGE,
	PARAMS,
	UPDATE,
	CLIENT_CAPABILITIES,
	CLIENT_CANCELLATION,
	RESULT,
	RESULT_META,
	RESULT_TASK,
	AGENT_CAPABILITIES,
	AGENT_CANCELLATION,
	SERVER_CAPABILITIES,
	SERVER_TOOLS,
	SERVER_PROMPTS,
	SERVER_RESOURCES,
	ERROR,
	ERROR_DATA,
	CONTAINERS
};

enum {
	FIELDS_PATHS = 64,
	FIELDS_LETTERS = 32,
	FIELDS_KEY_MAX = 256,              /* no watched key is longer, even with every character escaped */
	FIELDS_SLOT = SCAN_VALUE_MAX + 64, /* no power of two: the slots would share few cache lines */
};

/* The bytes of one token or member, copied only if the piece ends before it does, or if they are kept. */
struct capture {
	const char *mark; /* in the piece at hand: the first byte that is not copied yet */
	char *to;
	uint32_t len, max;
	bool active, unkept;
};

/* The values at the paths of enum scan_field. The machine reports the members of watched containers only. */
struct fields {
	const struct path *path; /* of the member being read; NULL if it is not watched */
	uint64_t present;        /* a bit for each of values that is set */
	uint64_t key_start;
	struct capture key, value, member;
	uint64_t
	    beneath[CONTAINERS]; /* a bit for each of values that is a member of the container, or of one inside it */
	struct scan_value values[SCAN_FIELDS + 1];            /* the last one: of paths without a field */
	unsigned char first_path[CONTAINERS][FIELDS_LETTERS]; /* a path's number from 1 on, or 0 */
	unsigned char next_path[FIELDS_PATHS + 1];            /* likewise */
	unsigned char opened_as[CONTAINERS]; /* enum scan_field: the field that an open container belongs to */
	char key_text[FIELDS_KEY_MAX];
	char kept[SCAN_FIELDS][FIELDS_SLOT];
	char members[SCAN_META_MAX];
};

void fields_init(struct fields *fields); /* on zeroed memory, once */
void fields_start(struct fields *fields);
const struct scan_value *fields_value(const struct fields *fields, enum scan_field field);

/* A piece of the frame begins or ends. The bytes of a token that continues in the next piece are copied. */
void fields_piece(struct fields *fields, const char *piece);
void fields_piece_end(struct fields *fields, const char *at);

/* There is a soft fault here: the value and the member that are being read are not kept. */
void fields_spoil(struct fields *fields);

/*
 * A key in a watched container. One that lies whole in the piece and has no escapes needs fields_key only (in
 * params._meta after fields_key_start); any other key needs fields_key_start and fields_key_end. Both tell whether the
 * key is a fault. A repeated key forgets the former value and all beneath it.
 */
enum scan_fault fields_key(struct fields *fields, enum container container, struct span key);
void fields_key_start(struct fields *fields, enum container container, const char *quote, uint64_t offset);
enum scan_fault fields_key_end(struct fields *fields, enum container container, const char *quote);

/* Whether the value of the last key must be reported. */
static inline bool
fields_watches_value(const struct fields *fields)
{
	return fields->path != NULL || fields->member.active;
}

/* The value begins here. Returns the container as which its members are read, if it is an object. */
enum container fields_value_start(struct fields *fields, enum value_type type, const char *at, uint64_t offset);

/*
 * The value ends before `at`, which is at offset `end`. left: the container as which it was read; for a scalar
 * PLAIN_ARRAY. empty: it has no members.
 */
void fields_value_end(struct fields *fields, enum container left, bool empty, const char *at, uint64_t end);

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Whether c may follow a backslash (RFC 8259 section 7), except u. */
static inline bool
is_short_escape(char c)
{
	return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
}

/* Numbers (RFC 8259 section 6): each state is named after the last byte. */
enum number_state {
	NUMBER_START,
	NUMBER_MINUS,
	NUMBER_ZERO, /* the integer part is 0 */
	NUMBER_WHOLE,
	NUMBER_POINT,
	NUMBER_FRACTION,
	NUMBER_E,
	NUMBER_E_SIGN,
	NUMBER_EXPONENT,
	NUMBER_END, /* the byte does not belong to the number */
};

static inline enum number_state
number_next(enum number_state state, char c)
{
	bool digit = is_digit(c), e = c == 'e' || c == 'E';

	switch (state) {
	case NUMBER_START:
		if (c == '-')
			return NUMBER_MINUS;
		/* fallthrough */
	case NUMBER_MINUS:
		return c == '0' ? NUMBER_ZERO : digit ? NUMBER_WHOLE : NUMBER_END;
	case NUMBER_WHOLE:
		if (digit)
			return NUMBER_WHOLE;
		/* fallthrough */
	case NUMBER_ZERO:
		return c == '.' ? NUMBER_POINT : e ? NUMBER_E : NUMBER_END;
	case NUMBER_FRACTION:
		if (e)
			return NUMBER_E;
		/* fallthrough */
	case NUMBER_POINT:
		return digit ? NUMBER_FRACTION : NUMBER_END;
	case NUMBER_E:
		if (c == '+' || c == '-')
			return NUMBER_E_SIGN;
		/* fallthrough */
	case NUMBER_E_SIGN:
	case NUMBER_EXPONENT:
		return digit ? NUMBER_EXPONENT : NUMBER_END;
	case NUMBER_END:
		break;
	}
	return NUMBER_END;
}

static inline bool
number_is_whole(enum number_state state)
{
	return state == NUMBER_ZERO || state == NUMBER_WHOLE || state == NUMBER_FRACTION || state == NUMBER_EXPONENT;
}

/*
 * Skipping inside a string. With vectors false a scalar twin does the same, a byte at a time; tests compare the two.
 */

/* The first byte that ends the string, is wrong, or begins an escape or a character that is not whole before end. */
const char *skip_text(const char *at, const char *end, bool vectors);

#ifdef HAVE_BLOCKS

enum { BLOCK = 16, BLOCK_ALL = 0xFFFF };

/* The bytes are signed: those from 0x80 on are below ASCII. A comparison gives 0 or -1 for each. */
struct block {
	signed char bytes __attribute__((vector_size(BLOCK)));
};

static inline struct block
block_load(const char *at)
{
	struct block block;

	memcpy(&block, at, BLOCK);
	return block;
}

/* A bit for each byte that is -1. */
static inline uint32_t
block_mask(struct block block)
{
#if defined(__SSE2__)
	return (uint32_t)_mm_movemask_epi8((__m128i)block.bytes);
#else
	static const uint8_t bits[BLOCK] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t set = vandq_u8((uint8x16_t)block.bytes, vld1q_u8(bits));

	return vaddv_u8(vget_low_u8(set)) | (uint32_t)vaddv_u8(vget_high_u8(set)) << 8;
#endif
}

static inline uint32_t
block_equal(struct block block, int byte)
{
	return block_mask((struct block){ block.bytes == (signed char)byte });
}

static inline uint32_t
block_below(struct block block, int limit)
{
	return block_mask((struct block){ block.bytes < (signed char)limit });
}

/* Quotes, backslashes, control characters, and whatever is not ASCII. */
static inline struct block
block_special(struct block block)
{
	return (struct block){ (block.bytes < 0x20) | (block.bytes == '"') | (block.bytes == '\\') };
}

#endif

/* The first byte that is not printable ASCII, or is a quote or a backslash. */
const char *skip_plain(const char *at, const char *end, bool vectors);

/* The same, for the short strings that end within a block. */
static inline const char *
skip_plain_soon(const char *at, const char *end, bool vectors)
{
#ifdef HAVE_BLOCKS
	if (vectors && end - at >= BLOCK) {
		uint32_t special = block_mask(block_special(block_load(at)));

		if (special != 0)
			return at + __builtin_ctz(special);
		at += BLOCK;
	}
#endif
	return skip_plain(at, end, vectors);
}

#endif
