#include "options_value.h"

#include <stdint.h>
#include <string.h>

/* Takes the digits off the front of text. */
static bool
take_number(struct span *text, uint64_t most, uint64_t *number)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9'; i++) {
		uint64_t digit = (uint64_t)(text->ptr[i] - '0');

		if (value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (i == 0 || value > most)
		return false;
	*text = span_part(*text, i, text->len - i);
	*number = value;
	return true;
}

bool
value_duration(struct span text, msec_t *duration)
{
	static const struct {
		struct span unit;
		uint64_t msec;
	} units[] = { { { "ms", 2 }, 1 }, { { "s", 1 }, 1000 }, { { "m", 1 }, 60 * 1000 },
		{ { "h", 1 }, 60 * 60 * 1000 } };
	const uint64_t most = (uint64_t)VALUE_HOURS_MAX * 60 * 60 * 1000;
	uint64_t number;
	size_t i;

	if (span_equal(text, SPAN("none")) || span_equal(text, SPAN("0"))) {
		*duration = MSEC_NEVER;
		return true;
	}
	if (!take_number(&text, most, &number))
		return false;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!span_equal(text, units[i].unit) || number > most / units[i].msec)
			continue;
		*duration = number == 0 ? MSEC_NEVER : (msec_t)(number * units[i].msec);
		return true;
	}
	return false;
}

bool
value_size(struct span text, size_t least, size_t most, size_t *size)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t number;
	unsigned shift = 0;

	if (!take_number(&text, most, &number))
		return false;
	if (text.len > 0) {
		unit = text.len == 1 ? memchr(units, text.ptr[0], sizeof(units) - 1) : NULL;
		if (unit == NULL)
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (number > most >> shift || number << shift < least)
		return false;
	*size = (size_t)(number << shift);
	return true;
}

bool
value_count(struct span text, size_t least, size_t most, size_t *count)
{
	uint64_t number;

	if (!take_number(&text, most, &number) || text.len > 0 || number < least)
		return false;
	*count = (size_t)number;
	return true;
}

static bool
restart_number(struct span text, struct value_restart *restart)
{
	const char *slash = text.len == 0 ? NULL : memchr(text.ptr, '/', text.len);
	size_t len = slash == NULL ? text.len : (size_t)(slash - text.ptr);

	restart->within = MSEC_NEVER;
	if (!value_count(span_part(text, 0, len), 1, VALUE_RESTARTS_MAX, &restart->most))
		return false;
	return slash == NULL || value_duration(span_part(text, len + 1, text.len - len - 1), &restart->within);
}

bool
value_restart(struct span text, struct value_restart *restart)
{
	struct value_restart read = *restart;
	struct span stateless = SPAN("stateless");

	if (text.len >= stateless.len && span_equal(span_part(text, 0, stateless.len), stateless)) {
		read.stateless = true;
		text = span_part(text, stateless.len, text.len - stateless.len);
		if (text.len > 0 && (text.ptr[0] != ',' || !restart_number(span_part(text, 1, text.len - 1), &read)))
			return false;
	} else if (!restart_number(text, &read)) {
		return false;
	}
	*restart = read;
	return true;
}

bool
value_rule(struct span text, struct value_rule *rule)
{
	const char *equals = text.len == 0 ? NULL : memrchr(text.ptr, '=', text.len);
	size_t target = equals == NULL ? 0 : (size_t)(equals - text.ptr);
	struct value_rule read = { .method = span_part(text, 0, target) };
	const char *colon = target == 0 ? NULL : memchr(text.ptr, ':', target);

	if (equals != NULL)
		text = span_part(text, target + 1, text.len - target - 1);
	if (colon != NULL) {
		size_t len = (size_t)(colon - read.method.ptr);

		read.name = span_part(read.method, len + 1, target - len - 1);
		read.method.len = len;
	}
	if ((equals != NULL && read.method.len == 0) || (colon != NULL && read.name.len == 0))
		return false;
	if (!value_duration(text, &read.duration))
		return false;
	*rule = read;
	return true;
}
