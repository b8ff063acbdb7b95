#include "shell/words.h"

#include <string.h>

enum {
	HOURS_MAX = 100000, /* of a duration */
	FRACTION_MOST = 7,  /* digits behind the point of a duration: so nothing overflows below */
};

static const uint64_t time_most = (uint64_t)HOURS_MAX * 60 * 60 * 1000;

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
	{ NULL, 0 } };
static const struct unit time_units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 60 * 60 * 1000 },
	{ NULL, 0 } };

/* Takes digits from text, appends them to the number *value, at most UINT64_MAX, and returns how many they are. */
static size_t
take_digits(struct span *text, uint64_t *value)
{
	size_t count = 0;

	for (; text->len > 0 && text->ptr[0] >= '0' && text->ptr[0] <= '9'; count++) {
		uint64_t digit = (uint64_t)(text->ptr[0] - '0');

		*value = *value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *value * 10 + digit;
		*text = span_part(*text, 1, text->len - 1);
	}
	return count;
}

/* Takes the letters of a unit from text; 0: they are none. */
static uint64_t
take_unit(struct span *text, const struct unit *units)
{
	size_t len = 0;

	while (len < text->len && text->ptr[len] != '.' && (text->ptr[len] < '0' || text->ptr[len] > '9'))
		len++;
	while (units->name != NULL && !span_equal(span_part(*text, 0, len), span_of(units->name)))
		units++;
	*text = span_part(*text, len, text->len - len);
	return units->factor;
}

bool
units_read_time(struct span text, uint64_t *time)
{
	uint64_t former = UINT64_MAX, unit;

	*time = 0;
	do {
		uint64_t value = 0, scale = 1;
		size_t digits = take_digits(&text, &value);

		if (digits > 0 && text.len > 0 && text.ptr[0] == '.') {
			text = span_from(text, 1);
			digits = take_digits(&text, &value);
			if (digits > FRACTION_MOST)
				return false;
			for (size_t i = 0; i < digits; i++)
				scale *= 10;
		}
		unit = take_unit(&text, time_units);
		if (digits == 0 || unit == 0 || unit >= former)
			return false;
		if (value / scale > time_most / unit || value * unit % scale != 0)
			return false;
		*time += value * unit / scale;
		former = unit;
	} while (text.len > 0);
	return *time <= time_most;
}

bool
units_read_duration(struct span text, msec_t *duration)
{
	uint64_t time = 0;

	if (!span_equal(text, SPAN("none")) && !span_equal(text, SPAN("0")) && !units_read_time(text, &time))
		return false;
	*duration = time == 0 ? MSEC_NEVER : (msec_t)time;
	return true;
}

bool
units_read_size(struct span text, size_t least, size_t most, size_t *size)
{
	uint64_t value = 0, unit;

	if (take_digits(&text, &value) == 0 || (unit = take_unit(&text, size_units)) == 0 || text.len > 0 ||
	    value > most / unit || value * unit < least)
		return false;
	*size = (size_t)(value * unit);
	return true;
}

bool
units_read_count(struct span text, size_t least, size_t most, size_t *count)
{
	uint64_t value = 0;

	if (take_digits(&text, &value) == 0 || text.len > 0 || value < least || value > most)
		return false;
	*count = (size_t)value;
	return true;
}

/* Split at the first ':' and the last '=': a NAME may be a URI. */
bool
units_read_rule(struct span text, enum policy_source source, enum policy_clock clock, struct policy *policy)
{
	const char *equals = text.len == 0 ? NULL : memrchr(text.ptr, '=', text.len);
	size_t target = equals == NULL ? 0 : (size_t)(equals - text.ptr);
	struct span method = span_part(text, 0, target), name = SPAN_NONE;
	const char *colon = target == 0 ? NULL : memchr(text.ptr, ':', target);
	msec_t duration;

	if (equals != NULL)
		text = span_from(text, target + 1);
	if (colon != NULL) {
		method.len = (size_t)(colon - method.ptr);
		name = (struct span){ colon + 1, target - method.len - 1 };
	}
	if ((equals != NULL && method.len == 0) || (colon != NULL && name.len == 0) ||
	    !units_read_duration(text, &duration))
		return false;
	policy_add(policy, source, clock, method, name, duration);
	return true;
}
