#include "core/scan.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "core/json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define HAVE_BLOCKS
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define HAVE_BLOCKS
#endif

enum {
	KEY_MAX = 40,    /* every key that is looked for is shorter */
	NO_FIELD = 0x7F, /* the value is at no path */
	AN_ARRAY = 0x80, /* with a field in one byte */
};

/* The members that are looked for: their keys, padded with 0, and the objects whose members they are. */
static const char keys[SCAN_FIELDS][KEY_MAX] = {
#define KEY(name, parent, key) [SCAN_##name] = key, /* NOLINT(bugprone-macro-parentheses): a literal */
	SCAN_LIST(KEY)                              /* NOLINT(bugprone-suspicious-missing-comma) */
#undef KEY
};

static const unsigned char parents[SCAN_FIELDS] = {
#define PARENT(name, parent, key) [SCAN_##name] = SCAN_##parent,
	SCAN_LIST(PARENT)
#undef PARENT
};

/* The first member whose key has at least this length. */
static const unsigned char by_length[KEY_MAX + 1] = { SCAN_ID, SCAN_ID, SCAN_ID, SCAN_URI, SCAN_NAME, SCAN_ERROR,
	SCAN_METHOD, SCAN_JSONRPC, SCAN_REQUEST_ID, SCAN_REQUEST_ID, SCAN_RESULT_TYPE, SCAN_TOOLS_CHANGE,
	SCAN_CAPABILITIES, SCAN_WORK_TOKEN, SCAN_PARAMS_VERSION, SCAN_PARAMS_VERSION, SCAN_AGENT_ABILITIES,
	SCAN_AGENT_ABILITIES, SCAN_PARTIAL_TOKEN, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION,
	SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION,
	SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION,
	SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION,
	SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION,
	SCAN_META_SUBSCRIPTION, SCAN_META_SUBSCRIPTION, SCAN_META_VERSION, SCAN_FIELDS };

/* With a byte for each of the first n bytes of a word. */
static const unsigned char mask_bytes[2 * sizeof(uint64_t)] = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };

static_assert(SCAN_FIELDS <= 64, "present has a bit for each field");

/* What is read. */
struct reader {
	struct scan *scan;
	const char *start, *end;
};

/* Where in it the scan is. Only inline functions know it, so that its members are registers. */
struct nest {
	unsigned depth;
	unsigned open;        /* the innermost container: its field, and whether it is AN_ARRAY */
	unsigned field;       /* of the value that comes next */
	unsigned char *stack; /* for each depth: `open` outside of it */
};

#define INLINE static inline __attribute__((always_inline))

/* Faults. A function that finds a hard one returns NULL, and the scan ends. */

static void
note_fault(struct scan *scan, enum scan_fault fault, const char *at)
{
	if (scan->fault != SCAN_FINE)
		return;
	scan->fault = fault;
	scan->fault_offset = (uint64_t)(at - scan->text.ptr);
}

static const char *
fail(const struct reader *reader, const char *at, enum scan_fault fault)
{
	reader->scan->failed = at < reader->end;
	note_fault(reader->scan, at < reader->end ? fault : SCAN_CUT, at);
	return NULL;
}

/* Skipping inside strings */

const char *
scan_skip_bytes(const char *at, const char *end)
{
	while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
		at++;
	return at;
}

#ifdef HAVE_BLOCKS

enum { BLOCK = 16 };

/* The bytes are signed: those from 0x80 on are below ASCII. A comparison gives 0 or -1 for each. */
struct block {
	signed char bytes __attribute__((vector_size(BLOCK)));
};

/* A bit for each byte that is a quote, a backslash, a control character, or not ASCII. */
INLINE uint32_t
special_bytes(const char *at)
{
	struct block block;

	memcpy(&block, at, BLOCK);
	block.bytes = (block.bytes < 0x20) | (block.bytes == '"') | (block.bytes == '\\');
#if defined(__SSE2__)
	return (uint32_t)_mm_movemask_epi8((__m128i)block.bytes);
#else
	static const uint8_t bits[BLOCK] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t set = vandq_u8((uint8x16_t)block.bytes, vld1q_u8(bits));

	return vaddv_u8(vget_low_u8(set)) | (uint32_t)vaddv_u8(vget_high_u8(set)) << 8;
#endif
}

const char *
scan_skip(const char *start, const char *at, const char *end)
{
	uint32_t special;

	for (; end - at >= BLOCK; at += BLOCK)
		if ((special = special_bytes(at)) != 0)
			return at + __builtin_ctz(special);
	if (end - start < BLOCK)
		return scan_skip_bytes(at, end);
	/* The last block has bytes before `at`, which do not count. */
	special = special_bytes(end - BLOCK) >> (BLOCK - (end - at));
	return special != 0 ? at + __builtin_ctz(special) : end;
}

#else

const char *
scan_skip(const char *start, const char *at, const char *end)
{
	(void)start;
	return scan_skip_bytes(at, end);
}

#endif

/* Most strings end within a block. */
INLINE const char *
skip(const struct reader *reader, const char *at)
{
#ifdef HAVE_BLOCKS
	uint32_t special = reader->end - at >= BLOCK ? special_bytes(at) : 0;

	if (special != 0)
		return at + __builtin_ctz(special);
#endif
	return scan_skip(reader->start, at, reader->end);
}

/* Tokens */

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *
skip_spaces(const struct reader *reader, const char *at)
{
	while (at < reader->end && is_space(*at))
		at++;
	return at;
}

/* There is seldom any. */
static inline const char *
skip_space(const struct reader *reader, const char *at)
{
	return at < reader->end && (unsigned char)*at <= ' ' ? skip_spaces(reader, at) : at;
}

/* The byte there; behind the end 0, which begins no token. */
INLINE char
byte_at(const struct reader *reader, const char *at)
{
	if (at < reader->end)
		return *at;
	return '\0';
}

/* at: behind a backslash (RFC 8259 section 7). */
static inline const char *
read_escape(const struct reader *reader, const char *at)
{
	switch (byte_at(reader, at)) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return at + 1;
	case 'u':
		at++;
		for (int i = 0; i < 4; i++, at++)
			if (!is_hex(byte_at(reader, at)))
				return fail(reader, at, SCAN_SYNTAX);
		return at;
	default:
		return fail(reader, at, SCAN_SYNTAX);
	}
}

/* at: the first byte of a string that is special. Returns its end behind the quote. sound: there is no soft fault. */
static const char *
read_special(const struct reader *reader, const char *at, bool *sound)
{
	while (at < reader->end && *at != '"') {
		const char *from = at;

		if (*at == '\\') {
			if ((at = read_escape(reader, at + 1)) == NULL)
				return NULL;
		} else if ((unsigned char)*at < 0x20) {
			note_fault(reader->scan, SCAN_CONTROL, at++);
			*sound = false;
		} else if ((at = utf8_skip(at, reader->end)) == from) {
			note_fault(reader->scan, SCAN_UTF8, at++);
			*sound = false;
		}
		at = skip(reader, at);
	}
	return at < reader->end ? at + 1 : fail(reader, at, SCAN_SYNTAX);
}

/* at: the opening quote. */
INLINE const char *
read_string(const struct reader *reader, const char *at, bool *sound)
{
	const char *special = skip(reader, at + 1);

	return byte_at(reader, special) == '"' ? special + 1 : read_special(reader, special, sound);
}

/* RFC 8259 section 6. */
static const char *
skip_digits(const struct reader *reader, const char *at)
{
	if (!is_digit(byte_at(reader, at)))
		return fail(reader, at, SCAN_SYNTAX);
	do
		at++;
	while (is_digit(byte_at(reader, at)));
	return at;
}

static const char *
read_fraction(const struct reader *reader, const char *at)
{
	if (*at == '.') {
		if ((at = skip_digits(reader, at + 1)) == NULL)
			return NULL;
	}
	if (byte_at(reader, at) == 'e' || byte_at(reader, at) == 'E') {
		at++;
		if (byte_at(reader, at) == '+' || byte_at(reader, at) == '-')
			at++;
		at = skip_digits(reader, at);
	}
	return at;
}

/* alone: it is the whole value; else it may have had more digits where the text ends. */
INLINE const char *
read_number(const struct reader *reader, const char *at, bool alone)
{
	at += byte_at(reader, at) == '-';
	if (byte_at(reader, at) == '0')
		at++;
	else if ((at = skip_digits(reader, at)) == NULL)
		return NULL;
	if (at < reader->end && (*at == '.' || *at == 'e' || *at == 'E') && (at = read_fraction(reader, at)) == NULL)
		return NULL;
	if (at == reader->end ? alone : *at == ',' || *at == '}' || *at == ']' || is_space(*at))
		return at;
	return fail(reader, at, SCAN_SYNTAX);
}

static const char *
read_literal(const struct reader *reader, const char *at, const char *literal)
{
	for (; *literal != '\0'; at++, literal++)
		if (byte_at(reader, at) != *literal)
			return fail(reader, at, SCAN_SYNTAX);
	return at;
}

/* Counts brackets until the value that is nested too deep has ended. */
static const char *
skip_deep(const struct reader *reader, const char *at)
{
	size_t depth = 0;
	bool sound;

	note_fault(reader->scan, SCAN_DEPTH, at);
	while (at < reader->end) {
		char c = *at;

		if (c == '"') {
			if ((at = read_string(reader, at, &sound)) == NULL)
				return NULL;
			continue;
		}
		at++;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		if (depth == 0)
			return at;
	}
	return fail(reader, at, SCAN_SYNTAX);
}

/* Members */

/* Forgets the field's value, and all beneath it. */
static void
forget(struct scan *scan, unsigned field)
{
	scan->present &= ~((uint64_t)1 << field);
	for (unsigned i = SCAN_TEXT + 1; i < SCAN_FIELDS; i++)
		if (parents[i] == field && (scan->present >> i & 1))
			forget(scan, i);
}

/* The key names this field. Of repeated members parsers keep the last one. */
INLINE unsigned
take_field(struct scan *scan, unsigned field, const char *quote)
{
	if ((scan->present >> field & 1) == 0)
		return field;
	if (field == SCAN_METHOD) {
		note_fault(scan, SCAN_REPEATED_METHOD, quote);
		return NO_FIELD;
	}
	/* Nobody can tell which message has a repeated id: this is told rather than any other fault. */
	if (field == SCAN_ID && scan->fault != SCAN_REPEATED_ID) {
		scan->fault = SCAN_FINE;
		note_fault(scan, SCAN_REPEATED_ID, quote);
	}
	forget(scan, field);
	return field;
}

/* The first bytes of the key, as many as a word has; the others are 0. */
static inline uint64_t
first_word(struct span key)
{
	uint64_t word = 0;

	memcpy(&word, key.ptr, key.len < sizeof(word) ? key.len : sizeof(word));
	return word;
}

/* A key is told by its length and its object first. word: its first_word. */
INLINE unsigned
find_field(unsigned parent, struct span key, uint64_t word)
{
	unsigned field, end;

	if (key.len >= KEY_MAX)
		return NO_FIELD;
	end = by_length[key.len + 1];
	for (field = by_length[key.len]; field < end; field++)
		if (parents[field] == parent && memcmp(keys[field], &word, sizeof(word)) == 0 &&
		    (key.len <= sizeof(word) || memcmp(keys[field], key.ptr, key.len) == 0))
			return field;
	return NO_FIELD;
}

/* A key with an escape, or that is wrong. special: its first such byte. *field: as which it is found. */
static const char *
read_special_key(const struct reader *reader, unsigned parent, const char *quote, const char *special, unsigned *field)
{
	char text[KEY_MAX];
	bool sound = true;
	const char *behind = read_special(reader, special, &sound);
	struct span key = { text, 0 };

	if (behind == NULL)
		return NULL;
	key.len = unescape((struct span){ quote + 1, (size_t)(behind - quote - 2) }, text, sizeof(text));
	*field = key.len < KEY_MAX ? find_field(parent, key, first_word(key)) : NO_FIELD;
	return behind;
}

/* A key without an escape. */
INLINE unsigned
find_plain(const struct reader *reader, unsigned parent, struct span key)
{
	uint64_t word, mask;

	if (parent == NO_FIELD)
		return NO_FIELD;
	if (reader->end - key.ptr < (ptrdiff_t)sizeof(word))
		return find_field(parent, key, first_word(key));
	memcpy(&word, key.ptr, sizeof(word));
	memcpy(&mask, mask_bytes + sizeof(word) - (key.len < sizeof(word) ? key.len : sizeof(word)), sizeof(mask));
	return find_field(parent, key, word & mask);
}

INLINE const char *
read_key(const struct reader *reader, struct nest *nest, const char *quote)
{
	const char *at = quote + 1, *behind = skip(reader, at);
	unsigned found = NO_FIELD;

	if (byte_at(reader, behind) == '"')
		nest->field = find_plain(reader, nest->open, (struct span){ at, (size_t)(behind++ - at) });
	else if ((behind = read_special_key(reader, nest->open, quote, behind, &found)) != NULL)
		nest->field = found;
	if (behind != NULL && nest->field != NO_FIELD)
		nest->field = take_field(reader->scan, nest->field, quote);
	return behind;
}

/* Values */

INLINE void
note_value(const struct reader *reader, struct nest *nest, enum value_type type, const char *at, const char *end,
    bool sound)
{
	struct scan *scan = reader->scan;
	struct scan_value *value;

	if (nest->field == NO_FIELD)
		return;
	value = &scan->values[nest->field];
	scan->present |= (uint64_t)1 << nest->field;
	value->type = type;
	value->offset = (uint64_t)(at - reader->start);
	value->end = (uint64_t)(end - reader->start);
	value->unkept = !sound || end - at > SCAN_VALUE_MAX;
	value->empty = false;
}

INLINE const char *
leave(const struct reader *reader, struct nest *nest, const char *at, bool empty)
{
	unsigned field = nest->open & NO_FIELD;

	if ((*at == ']') != (nest->open >= AN_ARRAY))
		return fail(reader, at, SCAN_SYNTAX);
	nest->open = nest->stack[nest->depth--];
	if (field != NO_FIELD) {
		reader->scan->values[field].end = (uint64_t)(at + 1 - reader->start);
		reader->scan->values[field].empty = empty;
	}
	return at + 1;
}

/* Behind a value: leaves the containers that end here, and returns the place of the next member. */
INLINE const char *
read_comma(const struct reader *reader, struct nest *nest, const char *at)
{
	while (nest->depth > 0) {
		char c = byte_at(reader, at);

		if (c == ',')
			return at + 1;
		if (c == '}' || c == ']')
			at = leave(reader, nest, at, false);
		else if (is_space(c))
			at = skip_spaces(reader, at);
		else
			at = fail(reader, at, SCAN_SYNTAX);
		if (at == NULL)
			break;
	}
	return at;
}

/* Reads the bracket, and, if the container is empty, its end and what follows. */
INLINE const char *
enter(const struct reader *reader, struct nest *nest, const char *at)
{
	unsigned kind = *at == '[' ? AN_ARRAY : 0;

	if (nest->depth == SCAN_DEPTH_MAX)
		return (at = skip_deep(reader, at)) == NULL ? NULL : read_comma(reader, nest, at);
	note_value(reader, nest, kind == AN_ARRAY ? VALUE_ARRAY : VALUE_OBJECT, at, reader->start, true);
	nest->stack[++nest->depth] = (unsigned char)nest->open;
	nest->open = nest->field | kind;
	at = skip_space(reader, at + 1);
	if (byte_at(reader, at) != '}' && byte_at(reader, at) != ']')
		return at;
	return (at = leave(reader, nest, at, true)) == NULL ? NULL : read_comma(reader, nest, at);
}

/* Reads a scalar and what follows, or enters an array or object. */
INLINE const char *
read_value(const struct reader *reader, struct nest *nest, const char *at)
{
	enum value_type type = VALUE_BOOL;
	const char *end;
	bool sound = true;

	if (byte_at(reader, at) <= ' ')
		at = skip_spaces(reader, at);
	switch (byte_at(reader, at)) {
	case '"':
		type = VALUE_STRING;
		end = read_string(reader, at, &sound);
		break;
	case '{':
	case '[':
		return enter(reader, nest, at);
	case 't':
		end = read_literal(reader, at, "true");
		break;
	case 'f':
		end = read_literal(reader, at, "false");
		break;
	case 'n':
		type = VALUE_NULL;
		end = read_literal(reader, at, "null");
		break;
	default:
		type = VALUE_NUMBER;
		end = read_number(reader, at, nest->depth == 0);
	}
	if (end == NULL)
		return NULL;
	note_value(reader, nest, type, at, end, sound);
	return read_comma(reader, nest, end);
}

/* Reads a key and its colon. */
INLINE const char *
read_name(const struct reader *reader, struct nest *nest, const char *at)
{
	if (byte_at(reader, at) != '"')
		at = skip_spaces(reader, at);
	if (byte_at(reader, at) != '"')
		return fail(reader, at, SCAN_SYNTAX);
	if ((at = read_key(reader, nest, at)) == NULL)
		return NULL;
	if (byte_at(reader, at) != ':')
		at = skip_spaces(reader, at);
	return byte_at(reader, at) == ':' ? at + 1 : fail(reader, at, SCAN_SYNTAX);
}

/* Returns the end of the outermost value. */
INLINE const char *
read_all(const struct reader *reader, struct nest *nest, const char *at)
{
	do {
		at = read_value(reader, nest, at);
		if (at == NULL || nest->depth == 0)
			break;
		if (nest->open < AN_ARRAY)
			at = read_name(reader, nest, at);
		else
			nest->field = NO_FIELD;
	} while (at != NULL);
	return at;
}

void
scan_read(struct scan *scan, struct span text)
{
	struct reader reader = { scan, text.ptr, text.ptr + text.len };
	unsigned char stack[SCAN_DEPTH_MAX + 1];
	struct nest nest = { .depth = 0, .open = NO_FIELD, .field = SCAN_TEXT, .stack = stack };
	const char *at;

	memset(scan, 0, offsetof(struct scan, values));
	scan->text = text;
	at = skip_space(&reader, text.ptr);
	if (at == reader.end || (at = read_all(&reader, &nest, at)) == NULL)
		return;
	at = skip_space(&reader, at);
	if (at < reader.end)
		fail(&reader, at, SCAN_TRAILING);
}
