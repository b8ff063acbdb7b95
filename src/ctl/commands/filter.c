#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/dialect.h"
#include "core/why.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "shell/words.h"

enum { LESS = 1, SAME = 2, MORE = 4 };

static const struct relation {
	const char *sign;
	int holds; /* which of LESS, SAME and MORE */
	bool text;
} relations[] = { /* the longer ones first */
	{ "!=", LESS | MORE, true }, { ">=", SAME | MORE, false }, { "<=", LESS | SAME, false }, { "=", SAME, true },
	{ ">", MORE, false }, { "<", LESS, false }
};

enum { RELATIONS = sizeof(relations) / sizeof(relations[0]) };

struct condition {
	struct span key; /* borrowed of the word */
	const struct relation *relation;
	char *patterns; /* of text: owned; each ended by NUL, up to the end */
	const char *end;
	json_int_t number;
};

void
filter_free(struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		free(filter->conditions[i].patterns);
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

/* A word for `why` that is no pattern must be known; it may be in lower case. */
static int
check_why(char *word)
{
	struct nearest nearest = { .typed = span_of(word) };
	bool known = strchr(word, '*') != NULL;

	for (char *at = word; *at != '\0'; at++)
		*at = (char)toupper((unsigned char)*at);
	for (int why = 0; why < WHY_COUNT; why++) {
		known |= strcmp(why_word((enum why)why), word) == 0;
		nearest_offer(&nearest, why_word((enum why)why));
	}
	if (known)
		return -1;
	return ctl_usage("unknown word '%.60s'%s%s; canceld(7) lists them", word,
	    nearest.name != NULL ? ": it could be " : "", nearest.name != NULL ? nearest.name : "");
}

/* Splits the value at its commas. */
static int
read_patterns(struct condition *condition, const char *value)
{
	int status = -1;

	condition->patterns = strdup(value);
	condition->end = condition->patterns + strlen(value) + 1;
	for (char *comma = condition->patterns; (comma = strchr(comma, ',')) != NULL;)
		*comma++ = '\0';
	if (span_equal(condition->key, SPAN("why")))
		for (char *word = condition->patterns; word < condition->end && status < 0; word += strlen(word) + 1)
			status = check_why(word);
	return status;
}

static int
read_number(struct condition *condition, const char *value)
{
	uint64_t time;
	size_t count;
	bool counts = units_read_number(span_of(value), false, 0, INT64_MAX, &count);

	if (!counts && !units_read_time(span_of(value), &time))
		return ctl_usage("'%.60s' is neither a number nor a duration such as 5s", value);
	condition->number = counts ? (json_int_t)count : (json_int_t)time;
	return -1;
}

int
filter_add(struct filter *filter, const char *word)
{
	struct span key = { word, key_length(word) };
	const struct relation *relation = relations;
	struct condition *condition;
	const char *value;

	while (relation < relations + RELATIONS && strncmp(word + key.len, relation->sign, strlen(relation->sign)) != 0)
		relation++;
	if (key.len == 0 || relation == relations + RELATIONS)
		return ctl_usage("'%.60s': want KEY=VALUE, KEY>VALUE or KEY<VALUE", word);
	filter->conditions = mem_resize(filter->conditions, filter->count + 1, sizeof(*filter->conditions));
	condition = &filter->conditions[filter->count++];
	*condition = (struct condition){ .relation = relation };
	condition->key = span_equal(key, SPAN("age")) ? SPAN("elapsed") : key;
	value = word + key.len + strlen(relation->sign);
	return relation->text ? read_patterns(condition, value) : read_number(condition, value);
}

/* Strings by what they say, everything else by its JSON text; what is missing only by an empty pattern. */
static bool
is_equal(const struct condition *condition, const json_t *value)
{
	char *dumped = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	struct span text = dumped != NULL ? span_of(dumped) : show_text(value);
	bool fits = value == NULL && condition->patterns[0] == '\0';

	for (const char *pattern = condition->patterns; pattern < condition->end; pattern += strlen(pattern) + 1)
		fits |= value != NULL && policy_fits(pattern, text);
	free(dumped);
	return fits;
}

static int
compare(const struct condition *condition, const json_t *value)
{
	json_int_t number = json_is_integer(value) ? json_integer_value(value) : (json_int_t)json_number_value(value);

	if (condition->relation->text)
		return is_equal(condition, value) ? SAME : MORE;
	if (!json_is_number(value))
		return 0;
	return number < condition->number ? LESS : number > condition->number ? MORE : SAME;
}

bool
filter_fits(const struct filter *filter, const json_t *decision)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct condition *condition = &filter->conditions[i];
		const json_t *value = json_object_getn(decision, condition->key.ptr, condition->key.len);

		if ((compare(condition, value) & condition->relation->holds) == 0)
			return false;
	}
	return true;
}
