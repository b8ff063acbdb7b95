#include "core/id.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/map.h"
#include "core/scan.h"

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
	if (text.len == 0 || text.len > 15 || (text.ptr[0] == '0' && text.len > 1))
		return false;
	for (const char *at = text.ptr; at < text.ptr + text.len; at++)
		if ((unsigned)*at - '0' > 9)
			return false;
	return true;
}

/* As JSON spells it (RFC 8259 section 6). */
static bool
is_number(struct span text)
{
	struct scan scan;

	if (text.len == 0 || text.len > ID_MAX)
		return false;
	scan_read(&scan, text);
	return scan_type(&scan) == VALUE_NUMBER && scan.fault == SCAN_FINE &&
	    scan_value_end(&scan) - scan_value_start(&scan) == text.len;
}

/* An integer without fraction and exponent. */
static bool
is_plain(struct span text)
{
	return is_number(text) && span_count(text, '.') + span_count(text, 'e') + span_count(text, 'E') == 0;
}

static bool
read_number(struct span text, double *value)
{
	char copy[ID_MAX + 1];

	if (!is_number(text))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*value = strtod(copy, NULL);
	if (*value == 0)
		*value = 0; /* -0 has other bytes */
	return true;
}

bool
id_equal(struct span a, struct span b)
{
	char storage_a[ID_MAX], storage_b[ID_MAX];
	double value_a, value_b;

	if (span_equal(a, b))
		return true;
	if (is_string(a) && is_string(b))
		return span_equal(text_of(a, storage_a), text_of(b, storage_b));
	if (is_plain(a) && is_plain(b))
		return false;
	return read_number(a, &value_a) && read_number(b, &value_b) && value_a == value_b;
}

/* Of what may be another spelling of something. A short integer stands for all numbers that are equal to it. */
static uint64_t
hash_unescaped(struct span id, uint64_t seed)
{
	static const double least = 1e15; /* that is no short integer */
	char storage[ID_MAX], digits[SPAN_NUMBER_MAX];
	struct span text = text_of(id, storage);
	double value;

	if (!is_short(text) && read_number(text, &value)) {
		if (value > -least && value < least && value == (double)(int64_t)value)
			text = span_number((int64_t)value, digits);
		else
			text = (struct span){ (const char *)&value, sizeof(value) };
	}
	return hash_of(text, seed) ^ (is_string(id) ? ID_STRING : 0);
}

uint64_t
id_hash(struct span id, uint64_t seed)
{
	return is_short(id) ? hash_of(id, seed) : hash_unescaped(id, seed);
}

bool
id_number(struct span id, double *value)
{
	char storage[ID_MAX];

	return read_number(text_of(id, storage), value);
}

size_t
id_unescape(struct span id, char *out, size_t size)
{
	if (is_string(id))
		return unescape(span_part(id, 1, id.len - 2), out, size);
	if (id.len > 0 && size > 0)
		memcpy(out, id.ptr, id.len < size ? id.len : size);
	return id.len;
}
