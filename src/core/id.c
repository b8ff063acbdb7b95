#include "core/id.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/unescape.h"

enum {
	ID_TEXT_MAX = ID_TWIN_MAX - 2,
	EXPONENT_MAX = 1000000000, /* larger ones count as this one: no peer tells them apart */
	DOUBLE_DIGITS_MAX = 800,   /* more than 768 digits cannot change how a double rounds */
	EXACT_DIGITS = 15,         /* every decimal of as many digits survives a double */
	EXACT_EXPONENT_MIN = -307,
};

/* From here on a double skips integers: 2^53. */
static const double exact_integers = 9007199254740992.0;

/* A number as 0.ddd... * 10^exponent, without zeros at either end of the digits. Zero has no digits. */
struct decimal {
	const char *digits; /* the first one; a point may stand between them */
	size_t count;
	int64_t exponent;
	bool negative;
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_string(struct span id)
{
	return id.len >= 2 && id.ptr[0] == '"' && id.ptr[id.len - 1] == '"';
}

static bool
is_number(struct span id)
{
	return id.len > 0 && (id.ptr[0] == '-' || is_digit(id.ptr[0]));
}

static struct span
inside(struct span string)
{
	return span_part(string, 1, string.len - 2);
}

static bool
has_escape(struct span string)
{
	return memchr(string.ptr, '\\', string.len) != NULL;
}

static int64_t
exponent_of(const char *at, const char *end)
{
	bool negative = at < end && *at == '-';
	int64_t exponent = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	for (; at < end && is_digit(*at) && exponent < EXPONENT_MAX; at++)
		exponent = exponent * 10 + (*at - '0');
	if (exponent > EXPONENT_MAX)
		exponent = EXPONENT_MAX;
	return negative ? -exponent : exponent;
}

static int64_t
within_limits(int64_t exponent)
{
	if (exponent > EXPONENT_MAX)
		return EXPONENT_MAX;
	return exponent < -EXPONENT_MAX ? -EXPONENT_MAX : exponent;
}

static struct decimal
decimal_of(struct span number)
{
	const char *at = number.ptr, *end = at + number.len;
	struct decimal decimal = { .negative = *at == '-' };
	int64_t seen = 0, whole = 0; /* digits so far; those before the point */
	int64_t first = 0, last = 0; /* which of them are the outermost that are not 0 */
	bool point = false;

	for (at += decimal.negative; at < end && (is_digit(*at) || *at == '.'); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		seen++;
		whole += !point;
		if (*at == '0')
			continue;
		last = seen;
		if (decimal.digits == NULL) {
			decimal.digits = at;
			first = seen;
		}
	}
	if (decimal.digits == NULL)
		return (struct decimal){ 0 };
	decimal.count = (size_t)(last - first + 1);
	decimal.exponent = whole - first + 1;
	if (at < end)
		decimal.exponent += exponent_of(at + 1, end);
	decimal.exponent = within_limits(decimal.exponent);
	return decimal;
}

/* The digit at this place; moves behind it and the point. */
static char
next_digit(const char **at)
{
	if (**at == '.')
		++*at;
	return *(*at)++;
}

static bool
decimal_equal(struct decimal a, struct decimal b)
{
	if (a.negative != b.negative || a.count != b.count || a.exponent != b.exponent)
		return false;
	for (size_t i = 0; i < a.count; i++)
		if (next_digit(&a.digits) != next_digit(&b.digits))
			return false;
	return true;
}

static bool
string_equal(struct span a, struct span b)
{
	struct unescape walk_a, walk_b;
	int byte;

	if (!has_escape(a) && !has_escape(b))
		return span_equal(a, b);
	unescape_init(&walk_a, inside(a));
	unescape_init(&walk_b, inside(b));
	do {
		byte = unescape_next(&walk_a);
		if (byte != unescape_next(&walk_b))
			return false;
	} while (byte >= 0);
	return true;
}

bool
id_equal(struct span a, struct span b)
{
	if (is_string(a) && is_string(b))
		return string_equal(a, b);
	if (is_number(a) && is_number(b))
		return decimal_equal(decimal_of(a), decimal_of(b));
	return span_equal(a, b);
}

/* A number as nearly all are (id_is_plain). */
static inline bool
read_plain(struct span id, uint64_t *number)
{
	*number = 0;
	if (id.len == 0 || id.len > ID_PLAIN_DIGITS || (id.ptr[0] == '0' && id.len > 1))
		return false;
	for (size_t i = 0; i < id.len; i++) {
		if (!is_digit(id.ptr[i]))
			return false;
		*number = *number * 10 + (uint64_t)(id.ptr[i] - '0');
	}
	return true;
}

bool
id_is_plain(struct span id)
{
	uint64_t number;

	return read_plain(id, &number);
}

enum { NEIGHBOUR_BITS = 4 };

/*
 * Peers number their requests one by one. So the hashes of sixteen numbers in a row differ in their last bits only:
 * their buckets are neighbours in memory, and who uses one will soon use the next. Whoever chooses ids for their last
 * bits fills a sixteenth of the buckets, with sixteen times as many each.
 */
static inline uint64_t
hash_number(uint64_t number, uint64_t seed)
{
	struct hash hash;
	uint64_t row;

	hash_init(&hash, seed);
	row = hash_fold(hash_fold(number >> NEIGHBOUR_BITS ^ hash.first, hash.second) ^ hash.state, hash.first);
	return row << NEIGHBOUR_BITS | (number & ((1 << NEIGHBOUR_BITS) - 1));
}

/* As if it were spelled without escapes, but for the quote at its end. */
static APART uint64_t
hash_escaped(struct span string, uint64_t seed)
{
	char chunk[HASH_BLOCK] = { '"' };
	struct unescape walk;
	struct hash hash;
	size_t len = 1;
	int byte;

	hash_init(&hash, seed);
	unescape_init(&walk, inside(string));
	while ((byte = unescape_next(&walk)) >= 0) {
		chunk[len++] = (char)byte;
		if (len == HASH_BLOCK) {
			hash_block(&hash, chunk);
			len = 0;
		}
	}
	return hash_end(&hash, (struct span){ chunk, len });
}

static uint64_t
number_of_decimal(struct decimal decimal)
{
	uint64_t number = 0;

	for (size_t i = 0; i < (size_t)decimal.exponent; i++)
		number = number * 10 + (uint64_t)(i < decimal.count ? next_digit(&decimal.digits) - '0' : 0);
	return number;
}

/* Of an integer of a few digits that number, of any other one what is left of it without zeros. */
static APART uint64_t
hash_decimal(struct decimal decimal, uint64_t seed)
{
	char chunk[HASH_BLOCK];
	struct hash hash;
	size_t len = 0;

	if (!decimal.negative && decimal.exponent >= (int64_t)decimal.count && decimal.exponent <= ID_PLAIN_DIGITS)
		return hash_number(number_of_decimal(decimal), seed);
	hash_init(&hash, seed);
	chunk[len++] = decimal.negative ? '-' : '+';
	memcpy(&chunk[len], &decimal.exponent, sizeof(decimal.exponent));
	len += sizeof(decimal.exponent);
	for (size_t i = 0; i < decimal.count; i++) {
		if (len == HASH_BLOCK) {
			hash_block(&hash, chunk);
			len = 0;
		}
		chunk[len++] = next_digit(&decimal.digits);
	}
	return hash_end(&hash, (struct span){ chunk, len });
}

static APART uint64_t
hash_of_other(struct span id, uint64_t seed)
{
	if (is_string(id))
		return has_escape(id) ? hash_escaped(id, seed) : hash_of(span_part(id, 0, id.len - 1), seed);
	return is_number(id) ? hash_decimal(decimal_of(id), seed) : hash_of_long(id, seed);
}

uint64_t
id_hash(struct span id, uint64_t seed)
{
	uint64_t number;

	return read_plain(id, &number) ? hash_number(number, seed) : hash_of_other(id, seed);
}

size_t
id_unescape(struct span id, char *out, size_t size)
{
	struct unescape walk;
	size_t len = 0;
	int byte;

	if (!is_string(id)) {
		if (id.len > 0 && size > 0)
			memcpy(out, id.ptr, id.len < size ? id.len : size);
		return id.len;
	}
	unescape_init(&walk, inside(id));
	for (; (byte = unescape_next(&walk)) >= 0; len++)
		if (len < size)
			out[len] = (char)byte;
	return len;
}

static APART struct span
unescaped_into(struct span string, char *storage, size_t size)
{
	struct span text = { storage, 0 };

	if (is_string(string) && !has_escape(string))
		text = inside(string);
	else
		text.len = id_unescape(string, storage, size);
	return text.len <= size ? text : (struct span){ storage, 0 };
}

/* A byte that is a backslash becomes 0, and is the one that borrows. */
static bool
has_backslash(uint64_t bytes)
{
	bytes ^= 0x5C5C5C5C5C5C5C5C;
	return ((bytes - 0x0101010101010101) & ~bytes & 0x8080808080808080) != 0;
}

/* A string of four to sixteen bytes, with its quotes, that has no escapes. */
static bool
is_short_text(struct span string)
{
	const char *at = string.ptr;
	size_t len = string.len;

	if (len - 4 > 12 || !is_string(string))
		return false;
	if (len < 8)
		return !has_backslash(span_half(at) << 32 | span_half(at + len - 4));
	return !has_backslash(span_word(at)) && !has_backslash(span_word(at + len - 8));
}

struct span
id_unescaped(struct span string, char *storage, size_t size)
{
	if (is_short_text(string) && string.len - 2 <= size)
		return inside(string);
	return unescaped_into(string, storage, size);
}

static const char *
skip_digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at;
}

/* RFC 8259 section 6. */
static bool
is_json_number(struct span text)
{
	const char *at = text.ptr, *end = at + text.len, *start;

	at += at < end && *at == '-';
	start = at;
	at = skip_digits(at, end);
	if (at == start || (*start == '0' && at > start + 1))
		return false;
	if (at < end && *at == '.') {
		start = ++at;
		at = skip_digits(at, end);
		if (at == start)
			return false;
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		at += at < end && (*at == '+' || *at == '-');
		start = at;
		at = skip_digits(at, end);
		if (at == start)
			return false;
	}
	return at == end;
}

/* The number that the id is or that its text spells, in out if need be; empty if there is none. */
static struct span
number_in(struct span id, char *out)
{
	struct span none = { out, 0 };

	if (is_number(id))
		return id;
	if (!is_string(id) || id.len > ID_TEXT_MAX)
		return none;

	struct span text = { out, id_unescape(id, out, ID_TEXT_MAX) };

	return is_json_number(text) ? text : none;
}

static void
write_exponent(char *out, int64_t exponent)
{
	int64_t rest = exponent < 0 ? -exponent : exponent;
	char digits[20];
	int count = 0;

	*out++ = 'e';
	if (exponent < 0)
		*out++ = '-';
	do {
		digits[count++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	while (count > 0)
		*out++ = digits[--count];
	*out = '\0';
}

/* strtod gets no point: what it takes for one depends on the locale. */
static double
double_of(struct span number)
{
	struct decimal decimal = decimal_of(number);
	size_t count = decimal.count < DOUBLE_DIGITS_MAX ? decimal.count : DOUBLE_DIGITS_MAX;
	char text[DOUBLE_DIGITS_MAX + 32], *out = text;

	*out++ = decimal.negative ? '-' : '+';
	for (size_t i = 0; i < count; i++)
		*out++ = next_digit(&decimal.digits);
	if (count < decimal.count || count == 0)
		*out++ = count == 0 ? '0' : '1';
	write_exponent(out, decimal.exponent - (out - text - 1));
	return strtod(text, NULL);
}

bool
id_alike(struct span a, struct span b)
{
	char text_a[ID_TEXT_MAX], text_b[ID_TEXT_MAX];

	if (id_equal(a, b))
		return true;

	struct span number_a = number_in(a, text_a), number_b = number_in(b, text_b);

	if (number_a.len == 0 || number_b.len == 0)
		return false;

	return double_of(number_a) == double_of(number_b);
}

struct span
id_twin(struct span id, char *out)
{
	struct span twin = { out, 0 };

	if (is_string(id))
		return number_in(id, out);
	if (!is_number(id) || id.len > ID_TEXT_MAX)
		return twin;
	out[0] = '"';
	memcpy(out + 1, id.ptr, id.len);
	out[id.len + 1] = '"';
	twin.len = id.len + 2;
	return twin;
}

bool
id_is_coarse(struct span id)
{
	if (!is_number(id))
		return false;

	struct decimal decimal = decimal_of(id);
	double value = double_of(id);
	bool whole = (int64_t)decimal.count <= decimal.exponent;

	if (value >= exact_integers || value <= -exact_integers)
		return true;
	if (whole)
		return false;
	return decimal.count > EXACT_DIGITS || decimal.exponent < EXACT_EXPONENT_MIN;
}
