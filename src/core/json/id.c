#include "core/json.h"

#include "core/scan.h"

#define TWO_TO_64 18446744073709551616.0

enum {
	SHORT_MAX = 15, /* a number of at most so many digits fits into a double */
	KEY_MAX = ID_MAX + SPAN_NUMBER_MAX,
};

uint64_t id_secret;

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

/*
 * The number, if it has the form that most have: only digits, and few enough to fit into a double;
 * -1: it has not.
 */
static int64_t
read_plain(struct span text)
{
	int64_t number = 0;
	unsigned digit;

	if (text.len == 0 || text.len > SHORT_MAX || (text.ptr[0] == '0' && text.len > 1))
		return -1;
	for (size_t i = 0; i < text.len; i++) {
		digit = (unsigned)text.ptr[i] - '0';
		if (digit > 9)
			return -1;
		number = 10 * number + digit;
	}
	return number;
}

/* Whether the text is a number of JSON (RFC 8259 section 6). */
static bool
is_number(struct span text)
{
	struct scan scan;

	if (text.len == 0 || text.len > ID_MAX || !(text.ptr[0] == '-' || is_digit(text.ptr[0])))
		return false;
	scan_read(&scan, text);
	return scan.fault == SCAN_FINE && scan_end(&scan) == text.len;
}

/*
 * Writes the canonical spelling of a number: its digits without zeros at either end, and a power of
 * ten. Equal numbers have the same one.
 */
static struct span
write_number(struct span text, char key[KEY_MAX])
{
	size_t sign = text.ptr[0] == '-', len = sign;
	int64_t power = 0, exponent = 0;
	/* part: the '.', 'e' or sign before the present digits */
	char part = 0, digits[SPAN_NUMBER_MAX];
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
		return span_at(key, len);
	end = span_number(power, digits);
	key[len++] = 'e';
	memcpy(key + len, end.ptr, end.len);
	return span_at(key, len + end.len);
}

/* The key of an id: equal ids of one type have the same key. */
static struct span
key_of(struct span id, char storage[KEY_MAX])
{
	return is_number(id) ? write_number(id, storage) : text_of(id, storage);
}

bool
id_equal(struct span a, struct span b)
{
	char storage_a[KEY_MAX], storage_b[KEY_MAX];

	return span_equal(a, b) ||
	    (is_string(a) == is_string(b) &&
		span_equal(key_of(a, storage_a), key_of(b, storage_b)));
}

bool
id_number(struct span id, double *value)
{
	char storage[ID_MAX], copy[ID_MAX + 1];
	struct span text = text_of(id, storage);
	int64_t plain = read_plain(text);

	*value = (double)plain;
	if (plain >= 0)
		return true;
	if (!is_number(text))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*value = strtod(copy, NULL);
	return true;
}

static uint64_t
hash_double(double value)
{
	uint64_t word;

	value += 0.0; /* -0 becomes 0 */
	memcpy(&word, &value, sizeof(word));
	return hash_word(word, id_secret);
}

/*
 * Whether the number is what its nearest double prints as: that integer, rounded at the number's
 * last digit.
 */
static bool
is_rounded(struct span key, double value)
{
	size_t at = key.ptr[0] == '-';
	uint64_t read = 0, unit = 1;

	for (; at < key.len && is_digit(key.ptr[at]); at++)
		read = 10 * read + (uint64_t)(key.ptr[at] - '0');
	for (int power = at < key.len ? key.ptr[at + 1] - '0' : 0; power > 0; power--)
		unit *= 10;
	return read * unit - (uint64_t)(value < 0 ? -value : value) + unit / 2 <= unit / 2 * 2;
}

/*
 * Reads any id but a plain number; returns what id_alike does. Strings have hashes of their own;
 * numbers of few digits are hashed as the doubles that they are.
 */
static __attribute__((noinline)) uint64_t
read_other(struct id *id)
{
	char storage[ID_MAX], digits[KEY_MAX];
	struct span chars = text_of(id->text, storage), key;
	uint64_t as_string = hash_of(chars, id_secret + 1), as_number, near = 0;
	bool string = is_string(id->text), few;
	double value;

	id->hash = as_string;
	if (!id_number(id->text, &value))
		return 0;
	if (value < TWO_TO_64 && value > -TWO_TO_64)
		near = hash_double(value);
	key = write_number(chars, digits);
	few = near != 0 && span_until(key, "e").len <= (size_t)SHORT_MAX + (key.ptr[0] == '-');
	as_number = few ? near : hash_of(key, id_secret);
	id->hash = string ? as_string : as_number;
	id->near = near == id->hash ? 0 : near;
	return few || (near != 0 && is_rounded(key, value)) ? near : string ? as_number : as_string;
}

static uint64_t
read_id(struct id *id)
{
	int64_t plain = read_plain(id->text);

	if (plain >= 0)
		return id->hash = hash_double((double)plain);
	return id->text.len > 0 ? read_other(id) : 0;
}

struct id
id_of(struct span text)
{
	struct id id = { .text = text };

	read_id(&id);
	return id;
}

uint64_t
id_alike(struct span text)
{
	return read_id(&(struct id){ .text = text });
}
