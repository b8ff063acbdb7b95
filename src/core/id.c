#include "core/id.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/unescape.h"
#include "scan_internal.h"

enum { PLAIN_DIGITS = 15 }; /* a short integer has at most this many */

static const int64_t exponent_max = 10000000000000000;

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

/* Reads the value of a short integer in its usual spelling, as most ids are: it is canonical. */
static bool
read_plain(struct span id, int64_t *value)
{
	size_t sign = id.len > 0 && id.ptr[0] == '-', digits = id.len - sign;

	*value = 0;
	if (digits == 0 || digits > PLAIN_DIGITS || (id.ptr[sign] == '0' && id.len > 1))
		return false;
	for (size_t i = sign; i < id.len; i++) {
		if (!is_digit(id.ptr[i]))
			return false;
		*value = *value * 10 + (id.ptr[i] - '0');
	}
	if (sign > 0)
		*value = -*value;
	return true;
}

/*
 * at: behind the e. Reading stops far beyond exponent_max, so that the digits of the number cannot bring the sum back
 * below it.
 */
static int64_t
read_exponent(const char *at, const char *end)
{
	bool negative = at < end && *at == '-';
	int64_t exponent = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	for (; at < end && is_digit(*at) && exponent < 10 * exponent_max; at++)
		exponent = exponent * 10 + (*at - '0');
	return negative ? -exponent : exponent;
}

/*
 * Writes the digits from the first to the last that is not 0, as an integer. *exponent: the power of ten to multiply it
 * with.
 */
static size_t
write_digits(char *out, struct span number, int64_t *exponent)
{
	const char *at = number.ptr, *end = at + number.len;
	bool point = false;
	size_t count = 0;

	*exponent = 0;
	for (; at < end && (is_digit(*at) || *at == '.'); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		*exponent -= point;
		if (count > 0 || *at != '0')
			out[count++] = *at;
	}
	for (; count > 0 && out[count - 1] == '0'; count--)
		++*exponent;
	if (at < end)
		*exponent += read_exponent(at + 1, end);
	/* The limits apply to the number written as 0.DIGITS, so that they do not depend on the number of digits. */
	*exponent += (int64_t)count;
	if (*exponent > exponent_max)
		*exponent = exponent_max;
	if (*exponent < -exponent_max)
		*exponent = -exponent_max;
	*exponent -= (int64_t)count;
	return count;
}

/* A short integer in its usual spelling needs no writing; other numbers are written like 15e-1. */
static struct span
canonical_number(struct span number, char *storage)
{
	size_t sign = number.ptr[0] == '-', len = sign;
	char exponent_text[SPAN_NUMBER_MAX];
	struct span text;
	int64_t exponent;

	storage[0] = '-';
	len += write_digits(storage + sign, span_part(number, sign, number.len - sign), &exponent);
	if (len == sign)
		return SPAN("0");
	if (exponent < 0 || (int64_t)(len - sign) + exponent > PLAIN_DIGITS) {
		text = span_number(exponent, exponent_text);
		storage[len++] = 'e';
		memcpy(storage + len, text.ptr, text.len);
		return (struct span){ storage, len + text.len };
	}
	memset(storage + len, '0', (size_t)exponent);
	return (struct span){ storage, len + (size_t)exponent };
}

struct span
id_canonical(struct span id, char storage[ID_CANONICAL_MAX])
{
	int64_t value;
	size_t len;

	if (read_plain(id, &value) || id.len > ID_MAX)
		return id;
	if (is_number(id))
		return canonical_number(id, storage);
	if (!is_string(id) || !has_escape(id))
		return id;
	len = id_unescape(id, storage + 1, ID_MAX);
	storage[0] = storage[len + 1] = '"';
	return (struct span){ storage, len + 2 };
}

bool
id_equal(struct span a, struct span b)
{
	char storage_a[ID_CANONICAL_MAX], storage_b[ID_CANONICAL_MAX];

	return span_equal(a, b) || span_equal(id_canonical(a, storage_a), id_canonical(b, storage_b));
}

uint64_t
id_hash(struct span id, uint64_t seed)
{
	char storage[ID_CANONICAL_MAX];

	return hash_of(id_canonical(id, storage), seed);
}

static bool
is_json_number(struct span text)
{
	enum number_state state = NUMBER_START;

	for (size_t i = 0; i < text.len; i++)
		state = number_next(state, text.ptr[i]);
	return number_is_whole(state);
}

bool
id_number(struct span id, double *value)
{
	char storage[ID_CANONICAL_MAX], text[ID_CANONICAL_MAX + 1];
	struct span number;
	int64_t integer;

	if (id.len > ID_MAX)
		return false;
	number = id_canonical(id, storage);
	if (is_string(number))
		number = inside(number);
	if (read_plain(number, &integer)) {
		*value = (double)integer;
		return true;
	}
	if (!is_json_number(number))
		return false;
	/* The canonical form has no point: what strtod takes for one depends on the locale. */
	number = canonical_number(number, text);
	memmove(text, number.ptr, number.len);
	text[number.len] = '\0';
	*value = strtod(text, NULL);
	return true;
}

size_t
id_unescape(struct span id, char *out, size_t size)
{
	if (is_string(id))
		return unescape(inside(id), out, size);
	if (id.len > 0 && size > 0)
		memcpy(out, id.ptr, id.len < size ? id.len : size);
	return id.len;
}

struct span
id_unescaped(struct span string, char *storage, size_t size)
{
	struct span text = { storage, 0 };

	if (is_string(string) && !has_escape(string))
		text = inside(string);
	else
		text.len = id_unescape(string, storage, size);
	return text.len <= size ? text : (struct span){ storage, 0 };
}
