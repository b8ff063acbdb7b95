#include "core/json.h"

#include <stdlib.h>

#include "core/scan.h"

#define TWO_TO_64 18446744073709551616.0

enum {
	SHORT_MAX = 15, /* so few digits fit into a double */
	KEY_MAX = ID_MAX + SPAN_NUMBER_MAX,
};

/* What is hashed; each sort apart. */
enum sort { SORT_NUMBER, SORT_STRING, SORT_DOUBLE };

static bool
is_string(struct span id)
{
	return id.len >= 2 && id.ptr[0] == '"' && id.ptr[id.len - 1] == '"';
}

/* The characters of a string that is no longer than ID_MAX, or the id itself. */
static struct span
text_of(struct span id, char storage[ID_MAX])
{
	return is_string(id) && id.len <= ID_MAX ? unescaped(id, storage, ID_MAX) : id;
}

/* Most numbers: digits that are their own key, and so few that they fit into a double. */
static bool
is_plain(struct span text)
{
	if (text.len == 0 || text.len > SHORT_MAX || text.ptr[0] == '0' || text.ptr[text.len - 1] == '0')
		return false;
	for (const char *at = text.ptr; at < text.ptr + text.len; at++)
		if (!is_digit(*at))
			return false;
	return true;
}

/* As JSON spells it (RFC 8259 section 6). That needs no look where the scanner has found no string. */
static bool
is_number(struct span text, bool string)
{
	struct scan scan;

	if (text.len == 0 || text.len > ID_MAX || !(text.ptr[0] == '-' || is_digit(text.ptr[0])))
		return false;
	if (!string)
		return true;
	scan_read(&scan, text);
	return scan.fault == SCAN_FINE && scan_end(&scan) == text.len;
}

/* The one spelling of a number's value: its digits without zeros at their ends, and a power of ten. */
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
	if (power == 0)
		return (struct span){ key, len };
	end = span_number(power, digits);
	key[len++] = 'e';
	memcpy(key + len, end.ptr, end.len);
	return (struct span){ key, len + end.len };
}

/* The key of an id: the same bytes for ids of one type that are equal. */
static struct span
key_of(struct span id, char storage[KEY_MAX])
{
	if (is_string(id) || is_plain(id) || !is_number(id, false))
		return text_of(id, storage);
	return write_number(id, storage);
}

bool
id_equal(struct span a, struct span b)
{
	char storage_a[KEY_MAX], storage_b[KEY_MAX];

	return is_string(a) == is_string(b) && span_equal(key_of(a, storage_a), key_of(b, storage_b));
}

uint64_t
id_hash(struct span id, uint64_t seed)
{
	char storage[KEY_MAX];

	return hash_of(key_of(id, storage), seed + (is_string(id) ? SORT_STRING : SORT_NUMBER));
}

bool
id_number(struct span id, double *value)
{
	char storage[ID_MAX], copy[ID_MAX + 1];
	struct span text = text_of(id, storage);

	if (is_plain(text)) {
		*value = 0;
		for (size_t i = 0; i < text.len; i++)
			*value = 10 * *value + text.ptr[i] - '0';
		return true;
	}
	if (!is_number(text, is_string(id)))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*value = strtod(copy, NULL);
	return true;
}

uint64_t
id_hash_near(struct span id, uint64_t seed)
{
	double value;

	if (!id_number(id, &value) || value >= TWO_TO_64 || value <= -TWO_TO_64)
		return 0;
	value += 0.0; /* -0 becomes 0 */
	return hash_of((struct span){ (const char *)&value, sizeof(value) }, seed + SORT_DOUBLE);
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

uint64_t
id_hash_alike(struct span id, uint64_t seed)
{
	char storage[ID_MAX];
	struct span text = text_of(id, storage);
	uint64_t near = id_hash_near(id, seed);
	double value;

	if (!id_number(id, &value))
		return 0;
	if (near != 0 && is_printed(text, value))
		return near;
	return is_string(id) ? id_hash(text, seed) : hash_of(text, seed + SORT_STRING);
}
