#include "core/json.h"

#include <stdlib.h>

#include "core/scan.h"

#define STRING 0x9E3779B97F4A7C15 /* xored into the hash of a string's text */

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

/* Most ids: so few digits fit into a double. */
static bool
is_short(struct span text)
{
	if (text.len == 0 || text.len > 15 || text.ptr[0] == '0')
		return false;
	for (const char *at = text.ptr; at < text.ptr + text.len; at++)
		if (!is_digit(*at))
			return false;
	return true;
}

/* INTEGER: in plain digits, without fraction and exponent. */
enum number { NO_NUMBER, INTEGER, REAL };

/* The number as JSON spells it (RFC 8259 section 6), and its nearest double. */
static enum number
read_number(struct span text, double *value)
{
	struct scan scan;
	char copy[ID_MAX + 1];

	if (text.len == 0 || text.len > ID_MAX)
		return NO_NUMBER;
	scan_read(&scan, text);
	if (scan.fault != SCAN_FINE || !span_equal(scan_text(&scan, SCAN_TEXT), text) ||
	    scan_type(&scan, SCAN_TEXT) != VALUE_NUMBER)
		return NO_NUMBER;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*value = strtod(copy, NULL);
	return copy[strcspn(copy, ".eE")] == '\0' ? INTEGER : REAL;
}

bool
id_equal(struct span a, struct span b)
{
	char storage_a[ID_MAX], storage_b[ID_MAX];
	double value_a, value_b;
	enum number number_a, number_b;

	if (span_equal(a, b))
		return true;
	if (is_string(a) && is_string(b))
		return span_equal(text_of(a, storage_a), text_of(b, storage_b));
	number_a = read_number(a, &value_a);
	number_b = read_number(b, &value_b);
	if (number_a == NO_NUMBER || number_b == NO_NUMBER || (number_a == INTEGER && number_b == INTEGER))
		return false;
	return value_a == value_b;
}

bool
id_number(struct span id, double *value)
{
	char storage[ID_MAX];

	return read_number(text_of(id, storage), value) != NO_NUMBER;
}

/* A short integer has the hash of its digits. */
static uint64_t
hash_value(double value, uint64_t seed)
{
	char digits[SPAN_NUMBER_MAX];
	struct span text = { (const char *)&value, sizeof(value) };

	if (value == 0)
		value = -0.0; /* one spelling of it, which is not all zeros: a hash of 0 means none */
	if (value >= 1 && value < 1e15 && value == (double)(int64_t)value)
		text = span_number((int64_t)value, digits);
	return hash_of(text, seed);
}

uint64_t
id_hash_number(struct span id, uint64_t seed)
{
	double value;

	return id_number(id, &value) ? hash_value(value, seed) : 0;
}

uint64_t
id_hash_twin(struct span id, uint64_t seed)
{
	uint64_t number = is_short(id) ? 0 : id_hash_number(id, seed);
	double value;

	if (number == 0 || is_string(id))
		return number == 0 ? 0 : number ^ ID_TWIN_STRING;
	return read_number(id, &value) == INTEGER ? number ^ ID_TWIN_INTEGER : 0;
}

/* Of what is no short integer. */
static struct id_hashes
hash_other(struct span id, uint64_t seed)
{
	char storage[ID_MAX];
	double value;
	enum number number = read_number(id, &value);

	if (number == INTEGER)
		return (struct id_hashes){ hash_of(id, seed), hash_value(value, seed) };
	if (number == REAL)
		return (struct id_hashes){ hash_value(value, seed), hash_value(value, seed) ^ ID_TWIN_INTEGER };
	return (struct id_hashes){ hash_of(text_of(id, storage), seed) ^ (is_string(id) ? STRING : 0), 0 };
}

struct id_hashes
id_hash(struct span id, uint64_t seed)
{
	return is_short(id) ? (struct id_hashes){ hash_of(id, seed), 0 } : hash_other(id, seed);
}
