#include "core/json.h"

enum {
	POWER_LEAST = -324,               /* of ten: that of the smallest double */
	SPELLED_MAX = 2 * SPAN_NUMBER_MAX /* bytes of digits, 'e' and a power */
};

/* What the digits times this power of ten are read as. */
static double
read_digits(int64_t digits, int power)
{
	char text[SPELLED_MAX] = { 0 }, storage[SPAN_NUMBER_MAX];
	struct span number = span_number(digits, storage);

	memcpy(text, number.ptr, number.len);
	text[number.len] = 'e';
	memcpy(text + number.len + 1, span_number(power, storage).ptr,
	    span_number(power, storage).len);
	return strtod(text, NULL);
}

/*
 * The first of the numbers with as many digits as `least`, times this power of ten, that is read as
 * no less than size.
 */
static int64_t
find_digits(double size, int64_t least, int power)
{
	int64_t low = least, high = 10 * least, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (read_digits(middle, power) < size)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
number_write(double value, struct buf *out)
{
	double size = value < 0 ? -value : value;
	int64_t least = 1, digits = 0;
	char storage[SPAN_NUMBER_MAX];
	int power = size > 0 ? POWER_LEAST : 0;

	while (size > 0 && read_digits(1, power + 1) <= size)
		power++;
	if (size > 0)
		digits = find_digits(size, least, power);
	/* with 17 digits at last: they tell all doubles apart */
	while (read_digits(digits, power) != size)
		digits = find_digits(size, least *= 10, --power);
	buf_append(out, span_number(value < 0 ? -digits : digits, storage));
	if (power == 0)
		return;
	buf_append(out, SPAN("e"));
	buf_append(out, span_number(power, storage));
}
