#include "shell/words.h"

#include <ctype.h>

#include "core/json.h"

enum {
	HOURS_MAX = 100000, /* of a duration */
	DIGITS_MOST = 18,   /* of a number, its point included */
};

static const uint64_t time_most = (uint64_t)HOURS_MAX * 60 * 60 * 1000;

struct unit {
	const char *name;
	uint64_t factor;
};

/* What is not counted in bytes has the last unit alone. */
static const struct unit size_units[] = { { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
	{ "", 1 }, { NULL, 0 } };
static const struct unit time_units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 },
	{ "h", 60 * 60 * 1000 }, { "d", 24 * 60 * 60 * 1000 }, { NULL, 0 } };

/*
 * Takes a number, such as 1.5, and its unit from text; *number: how many of the smallest unit. 0:
 * there is none.
 */
static uint64_t
take_number(struct span *text, const struct unit *units, uint64_t *number)
{
	uint64_t value = 0, scale = 0;
	size_t i, end;

	for (i = 0; i < text->len; i++)
		if (is_digit(text->ptr[i])) {
			value = value * 10 + (uint64_t)(text->ptr[i] - '0');
			scale *= 10;
		} else if (text->ptr[i] == '.' && i > 0 && scale == 0) {
			scale = 1;
		} else {
			break;
		}
	if (i == 0 || i > DIGITS_MOST || text->ptr[i - 1] == '.')
		return 0;
	scale += scale == 0;
	for (end = i; end < text->len && isalpha((unsigned char)text->ptr[end]);)
		end++;
	while (units->name != NULL && !span_is(span_part(*text, i, end - i), units->name))
		units++;
	if (units->factor == 0 || value > UINT64_MAX / units->factor ||
	    value * units->factor % scale != 0)
		return 0;
	*number = value * units->factor / scale;
	*text = span_from(*text, end);
	return units->factor;
}

bool
units_read_time(struct span text, uint64_t *time)
{
	uint64_t former = UINT64_MAX, unit, number;

	for (*time = 0; text.len > 0 || former == UINT64_MAX; former = unit) {
		unit = take_number(&text, time_units, &number);
		if (unit == 0 || unit >= former || number > time_most - *time)
			return false;
		*time += number;
	}
	return true;
}

bool
units_read_duration(const char *text, msec_t *duration)
{
	uint64_t time = 0;

	if (!span_is_any(span_of(text), "none 0") && !units_read_time(span_of(text), &time))
		return false;
	*duration = time == 0 ? MSEC_NEVER : (msec_t)time;
	return true;
}

bool
units_read_number(struct span text, bool bytes, size_t least, size_t most, size_t *number)
{
	uint64_t value;

	if (take_number(&text, &size_units[bytes ? 0 : 3], &value) == 0 || text.len > 0 ||
	    value < least || value > most)
		return false;
	*number = (size_t)value;
	return true;
}
