#include "ctl/filter.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/dialect.h"
#include "ctl/show.h"
#include "shell/words.h"

enum relation { EQUAL, UNEQUAL, ABOVE, ABOVE_OR_EQUAL, BELOW, BELOW_OR_EQUAL };

struct condition {
	struct span key; /* borrowed of the word */
	enum relation relation;
	char *value; /* owned; of = and !=: patterns, each ended by NUL, an empty one at the end */
	json_int_t number;
};

static const struct {
	const char *sign;
	enum relation relation;
} relations[] = { /* the longer ones first */
	{ "!=", UNEQUAL }, { ">=", ABOVE_OR_EQUAL }, { "<=", BELOW_OR_EQUAL }, { "=", EQUAL }, { ">", ABOVE },
	{ "<", BELOW }
};

enum { RELATIONS = sizeof(relations) / sizeof(relations[0]) };

void
filter_init(struct filter *filter)
{
	*filter = (struct filter){ 0 };
}

void
filter_free(struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		free(filter->conditions[i].value);
	free(filter->conditions);
	*filter = (struct filter){ 0 };
}

static size_t
key_length(const char *word)
{
	return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
}

bool
filter_is_condition(const char *word)
{
	size_t len = key_length(word);

	return len > 0 && word[len] != '\0' && strchr("=!<>", word[len]) != NULL;
}

enum why
filter_why(struct span word)
{
	int why = 0;

	while (why < WHY_COUNT && !span_equal(word, span_of(why_word((enum why)why))))
		why++;
	return (enum why)why;
}

/* In a list of words for `why` each one that is no pattern must be known; they may be in lower case. */
static bool
check_words(char *words, char fault[FILTER_FAULT_SIZE])
{
	for (char *word = words; word[0] != '\0'; word += strlen(word) + 1) {
		struct nearest nearest = { .typed = span_of(word) };

		for (char *at = word; *at != '\0'; at++)
			*at = (char)toupper((unsigned char)*at);
		if (strchr(word, '*') != NULL || filter_why(span_of(word)) != WHY_COUNT)
			continue;
		for (int why = 0; why < WHY_COUNT; why++)
			nearest_offer(&nearest, why_word((enum why)why));
		snprintf(fault, FILTER_FAULT_SIZE, "unknown word '%.60s'%s%s; canceld(7) lists them", word,
		    nearest.name != NULL ? ": it could be " : "", nearest.name != NULL ? nearest.name : "");
		return false;
	}
	return true;
}

/* The text, split at its commas. */
static char *
split(const char *text)
{
	size_t len = strlen(text);
	char *list = mem_new(len + 2);
	char *to = list;

	for (size_t i = 0; i < len; i++)
		if (text[i] != ',' || (to > list && to[-1] != '\0'))
			*to++ = (char)(text[i] == ',' ? '\0' : text[i]);
	return list;
}

static bool
read_value(struct condition *condition, const char *value, char fault[FILTER_FAULT_SIZE])
{
	uint64_t time;
	size_t count;

	if (condition->relation == EQUAL || condition->relation == UNEQUAL) {
		condition->value = split(value);
		return !span_equal(condition->key, SPAN("why")) || check_words(condition->value, fault);
	}
	if (units_read_count(span_of(value), 0, INT64_MAX, &count)) {
		condition->number = (json_int_t)count;
	} else if (units_read_time(span_of(value), &time)) {
		condition->number = (json_int_t)time;
	} else {
		snprintf(fault, FILTER_FAULT_SIZE, "'%.60s' is neither a number nor a duration such as 5s", value);
		return false;
	}
	return true;
}

bool
filter_add(struct filter *filter, const char *word, char fault[FILTER_FAULT_SIZE])
{
	size_t len = key_length(word);
	struct condition *condition;
	int i = 0;

	while (i < RELATIONS && strncmp(word + len, relations[i].sign, strlen(relations[i].sign)) != 0)
		i++;
	if (len == 0 || i == RELATIONS || filter->count == FILTER_MOST) {
		snprintf(fault, FILTER_FAULT_SIZE, "'%.60s': want KEY=VALUE, KEY>VALUE or KEY<VALUE, at most %d", word,
		    FILTER_MOST);
		return false;
	}
	filter->conditions = mem_resize(filter->conditions, filter->count + 1, sizeof(*filter->conditions));
	condition = &filter->conditions[filter->count++];
	*condition = (struct condition){ .relation = relations[i].relation };
	condition->key = strncmp(word, "age", len) == 0 && len == 3 ? SPAN("elapsed") : (struct span){ word, len };
	return read_value(condition, word + len + strlen(relations[i].sign), fault);
}

static bool
fits_one(const char *patterns, struct span text)
{
	for (; patterns[0] != '\0'; patterns += strlen(patterns) + 1)
		if (policy_fits(patterns, text))
			return true;
	return false;
}

/* Strings by what they say, and everything, such as an id, by its JSON text. */
static bool
is_equal(const struct condition *condition, const json_t *value)
{
	char *text;
	bool fits;

	if (value == NULL)
		return condition->value[0] == '\0';
	if (json_is_string(value) &&
	    fits_one(condition->value, (struct span){ json_string_value(value), json_string_length(value) }))
		return true;
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	fits = fits_one(condition->value, span_of(text));
	free(text);
	return fits;
}

static bool
holds(const struct condition *condition, const json_t *decision)
{
	const json_t *value = json_object_getn(decision, condition->key.ptr, condition->key.len);
	json_int_t number = json_is_integer(value) ? json_integer_value(value) : (json_int_t)json_number_value(value);

	switch (condition->relation) {
	case EQUAL:
		return is_equal(condition, value);
	case UNEQUAL:
		return !is_equal(condition, value);
	case ABOVE:
		return json_is_number(value) && number > condition->number;
	case ABOVE_OR_EQUAL:
		return json_is_number(value) && number >= condition->number;
	case BELOW:
		return json_is_number(value) && number < condition->number;
	case BELOW_OR_EQUAL:
		break;
	}
	return json_is_number(value) && number <= condition->number;
}

bool
filter_fits(const struct filter *filter, const json_t *decision)
{
	for (size_t i = 0; i < filter->count; i++)
		if (!holds(&filter->conditions[i], decision))
			return false;
	return true;
}

bool
filter_level(const json_t *decision, enum why_level level)
{
	enum why why = filter_why(show_string(decision, "why"));

	return why == WHY_COUNT || why_level(why) <= level;
}
