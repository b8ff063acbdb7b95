#include "core/limits.h"
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

static const struct unit no_units[] = { { "", 1 }, { NULL, 0 } };
static const struct unit size_units[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 },
	{ "G", 1 << 30 }, { NULL, 0 } };
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
	while (
	    units->name != NULL && !span_equal(span_part(*text, i, end - i), span_of(units->name)))
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
units_read_duration(struct span text, msec_t *duration)
{
	uint64_t time = 0;

	if (!span_is(text, "none") && !span_is(text, "0") && !units_read_time(text, &time))
		return false;
	*duration = time == 0 ? MSEC_NEVER : (msec_t)time;
	return true;
}

bool
units_read_number(struct span text, bool bytes, size_t least, size_t most, size_t *number)
{
	uint64_t value;

	if (take_number(&text, bytes ? size_units : no_units, &value) == 0 || text.len > 0 ||
	    value < least || value > most)
		return false;
	*number = (size_t)value;
	return true;
}

/* No control byte stands within a string: without line breaks it is the same JSON, in one line. */
static bool
read_result(const char *text, struct buf *line)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	bool fine = value != NULL;

	json_decref(value);
	buf_append(line, span_of(text + strspn(text, " \t\r\n")));
	for (size_t i = 0; i < line->len; i++)
		if (strchr("\r\n", line->data[i]) != NULL)
			line->data[i] = ' ';
	return fine;
}

/* Into the number, or, of POLICY_ANSWER, the line. */
static bool
read_value(const char *text, enum policy_kind kind, msec_t *number, struct buf *line)
{
	size_t count = 0;
	bool fine;

	if (kind == POLICY_ANSWER)
		return read_result(text, line);
	if (kind != POLICY_PARALLEL)
		return units_read_duration(span_of(text), number);
	fine = units_read_number(span_of(text), false, 1, LIMIT_INFLIGHT, &count);
	*number = (msec_t)count;
	return fine;
}

/*
 * Split at the first ':' and the last '=', as a NAME may be a URI; but a result of a METHOD may
 * have both in it.
 */
bool
units_read_rule(const char *text, enum policy_source source, enum policy_kind kind,
    struct policy *policy)
{
	bool answer = kind == POLICY_ANSWER, fine;
	const char *equals = answer ? strchr(text, '=') : strrchr(text, '='),
		   *value = equals != NULL ? equals + 1 : text;
	struct span method = { text, equals != NULL ? (size_t)(equals - text) : 0 },
		    name = SPAN_NONE;
	const char *colon = answer ? NULL : memchr(text, ':', method.len);
	struct buf line = { 0 };
	msec_t number = 0;

	if (colon != NULL) {
		name = span_at(colon + 1, (size_t)(equals - colon) - 1);
		method.len = (size_t)(colon - text);
	}
	fine = (method.len > 0 || (equals == NULL && !answer)) && (colon == NULL || name.len > 0) &&
	    policy_allows(method) && policy_allows(name) && read_value(value, kind, &number, &line);
	if (fine)
		policy_add(policy, source, kind, method, name, number, buf_span(&line));
	buf_free(&line);
	return fine;
}
