#include "core/json.h"

#include <stdlib.h>

#include "core/scan.h"

#define STRING 0x9E3779B97F4A7C15 /* xored into the hash of a string's text */
#define TWO_TO_64 18446744073709551616.0
#define TWIN 0x8CB92BA72F3D8DD7 /* ... of the number near an id that is kept under another hash of its own */

enum {
	SHORT_MAX = 15, /* so few digits fit into a double */
	KEY_MAX = ID_MAX + SPAN_NUMBER_MAX,
};

static bool
is_string(struct span id)
{
	return id.len >= 2 && id.ptr[0] == '"' && id.ptr[id.len - 1] == '"';
}

/* The characters of a string that is no longer than ID_MAX, or the id itself. */
static struct span
text_of(struct span id, char storage[ID_MAX])
{
	struct span inside;

	if (!is_string(id) || id.len > ID_MAX)
		return id;
	inside = span_part(id, 1, id.len - 2);
	if (memchr(inside.ptr, '\\', inside.len) == NULL)
		return inside;
	return (struct span){ storage, unescape(inside, storage, ID_MAX) };
}

/* Most ids. */
static bool
is_short(struct span text)
{
	if (text.len == 0 || text.len > SHORT_MAX || text.ptr[0] == '0')
		return false;
	for (const char *at = text.ptr; at < text.ptr + text.len; at++)
		if (!is_digit(*at))
			return false;
	return true;
}

/* As JSON spells it (RFC 8259 section 6). */
static bool
is_number(struct span text)
{
	struct scan scan;

	if (text.len == 0 || text.len > ID_MAX || !(text.ptr[0] == '-' || is_digit(text.ptr[0])))
		return false;
	scan_read(&scan, text);
	return scan.fault == SCAN_FINE && scan_end(&scan) == text.len;
}

/* The one spelling of a number's value: its digits without zeros at their ends, and a power of ten. Short ones are plain. */
static struct span
write_number(struct span text, char key[KEY_MAX])
{
	size_t sign = text.ptr[0] == '-', len = sign;
	int64_t power = 0, exponent = 0;
	char part = 0, digits[SPAN_NUMBER_MAX]; /* part: what stands before the digits at hand */
	struct span end;

	key[0] = '-';
	for (const char *at = text.ptr + sign; at < text.ptr + text.len; at++) {
		if (!is_digit(*at)) {
			part = *at;
		} else if (part != 0 && part != '.') {
			exponent = exponent > INT32_MAX ? exponent : 10 * exponent + *at - '0';
		} else {
			if (len > sign || *at != '0')
				key[len++] = *at;
			power -= part == '.';
		}
	}
	power += part == '-' ? -exponent : exponent;
	for (; len > sign && key[len - 1] == '0'; len--)
		power++;
	if (len == sign)
		return SPAN("0");
	for (; power > 0 && power <= SHORT_MAX - (int64_t)len; power--)
		key[len++] = '0';
	if (power == 0)
		return (struct span){ key, len };
	end = span_number(power, digits);
	key[len++] = 'e';
	memcpy(key + len, end.ptr, end.len);
	return (struct span){ key, len + end.len };
}

/* The same bytes for ids of one type that are equal. */
static struct span
canonical(struct span id, char storage[KEY_MAX])
{
	if (is_string(id))
		return text_of(id, storage);
	return is_number(id) ? write_number(id, storage) : id;
}

bool
id_equal(struct span a, struct span b)
{
	char storage_a[KEY_MAX], storage_b[KEY_MAX];

	if (span_equal(a, b))
		return true;
	return is_string(a) == is_string(b) && span_equal(canonical(a, storage_a), canonical(b, storage_b));
}

uint64_t
id_hash(struct span id, uint64_t seed)
{
	char storage[KEY_MAX];

	if (is_short(id))
		return hash_of(id, seed);
	return hash_of(canonical(id, storage), seed) ^ (is_string(id) ? STRING : 0);
}

bool
id_number(struct span id, double *value)
{
	char storage[ID_MAX], copy[ID_MAX + 1];
	struct span text = text_of(id, storage);

	if (!is_number(text))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*value = strtod(copy, NULL);
	return true;
}

/* A short number has the hash of its digits; 0: the value is too large for any that is kept. */
static uint64_t
hash_value(double value, uint64_t seed)
{
	char digits[SPAN_NUMBER_MAX];
	struct span text = { (const char *)&value, sizeof(value) };

	if (value >= TWO_TO_64 || value <= -TWO_TO_64)
		return 0;
	if (value < 1e15 && value > -1e15 && value == (double)(int64_t)value)
		text = span_number((int64_t)value, digits);
	return hash_of(text, seed);
}

uint64_t
id_hash_twin(struct span id, uint64_t seed)
{
	uint64_t hash;
	double value;

	if (is_short(id) || !id_number(id, &value))
		return 0;
	hash = hash_value(value, seed);
	return hash == 0 || hash == id_hash(id, seed) ? 0 : hash ^ TWIN;
}

/*
 * Whether the number is what its nearest double prints as: it has no more digits than any double keeps, or is the
 * integer that the double is, rounded at its last digit.
 */
static bool
is_printed(struct span number, double value)
{
	char storage[KEY_MAX];
	struct span key = write_number(number, storage);
	size_t sign = key.ptr[0] == '-', at = sign;
	uint64_t read = 0, unit = 1;

	for (; at < key.len && is_digit(key.ptr[at]); at++)
		read = 10 * read + (uint64_t)(key.ptr[at] - '0');
	if (at - sign <= SHORT_MAX)
		return true;
	for (int power = at < key.len ? key.ptr[at + 1] - '0' : 0; power > 0; power--)
		unit *= 10;
	return read * unit - (uint64_t)(value < 0 ? -value : value) + unit / 2 <= unit / 2 * 2;
}

void
id_hash_alike(struct span id, uint64_t seed, uint64_t hashes[ID_ALIKE])
{
	char storage[ID_MAX];
	struct span text = text_of(id, storage);
	uint64_t hash = 0;
	double value;
	bool number = id_number(id, &value);

	if (number)
		hash = hash_value(value, seed);
	hashes[0] = hashes[1] = 0;
	if (hash != 0 && is_printed(text, value)) {
		hashes[0] = hash;
		hashes[1] = hash ^ TWIN;
	} else if (number) {
		hashes[0] = is_string(id) ? id_hash(text, seed) : hash_of(text, seed) ^ STRING;
	}
}
