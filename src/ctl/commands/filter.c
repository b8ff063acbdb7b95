#include <ctype.h>

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
} relations[] = {  /* the longer ones first */
	{ "!=", LESS | MORE }, { ">=", SAME | MORE }, { "<=", LESS | SAME }, { "=", SAME },
	{ ">", MORE }, { "<", LESS }
};

/* The members of decisions, and what they are; an id may be either. */
static const struct key {
	const char *name;
	enum { TEXT, NUMBER, TIME, EITHER } kind;
} keys[] = { { "why", TEXT }, { "to", TEXT }, { "method", TEXT }, { "name", TEXT },
	{ "server", TEXT }, { "reason", TEXT }, { "text", TEXT }, { "step", TEXT },
	{ "outcome", TEXT }, { "process", TEXT }, { "id", EITHER }, { "pid", NUMBER },
	{ "age", TIME }, { "elapsed", TIME }, { "timeout", TIME }, { "after", TIME },
	{ "bytes", NUMBER }, { "status", NUMBER }, { "signal", NUMBER } };

enum { RELATIONS = COUNT_OF(relations), KEYS = COUNT_OF(keys) };

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

/*
 * Takes the next pattern of a list with commas; the words of `why` may be in lower case. false:
 * there is none left.
 */
static bool
next_pattern(const char *key, const char **list, char pattern[FILTER_VALUE_MAX])
{
	size_t len = *list == NULL ? 0 : strcspn(*list, ",");

	if (*list == NULL)
		return false;
	snprintf(pattern, FILTER_VALUE_MAX, "%.*s", (int)len, *list);
	for (char *at = pattern; text_is(key, "why") && *at != '\0'; at++)
		*at = (char)toupper((unsigned char)*at);
	*list = (*list)[len] == ',' ? *list + len + 1 : NULL;
	return true;
}

/*
 * A word without '*' must be one of the log's. Returns -1, or the exit status after an error on
 * stderr.
 */
static int
check_why(const char *word)
{
	struct nearest nearest = { .typed = span_of(word) };
	bool known = strchr(word, '*') != NULL;

	for (int why = 0; why < WHY_COUNT; why++) {
		known |= text_is(why_word((enum why)why), word);
		nearest_offer(&nearest, why_word((enum why)why));
	}
	return known ? -1 : ctl_unknown("word", &nearest, "canceld(7) lists them");
}

static int
check_patterns(const struct condition *condition)
{
	const char *list = condition->value;
	char word[FILTER_VALUE_MAX];
	int status = -1;

	if (strlen(list) >= FILTER_VALUE_MAX)
		return ctl_usage("'%.60s...' is too long", list);
	while (status < 0 && next_pattern(condition->key, &list, word))
		if (!policy_allows(span_of(word)))
			status = ctl_usage("'%.60s...': " POLICY_PATTERN, word);
		else if (text_is(condition->key, "why"))
			status = check_why(word);
		else if (text_is(condition->key, "to") && word[0] != '\0' &&
		    !span_is_any(span_of(word), "client server"))
			status = ctl_usage("to='%.60s': want client or server", word);
	return status;
}

static int
read_number(struct condition *condition, bool time)
{
	struct span value = span_of(condition->value);
	uint64_t number;
	size_t count;

	if (time && strspn(value.ptr, "0123456789") == value.len &&
	    strspn(value.ptr, "0") < value.len)
		return ctl_usage("'%.60s': is the unit missing? for seconds: %.60ss", value.ptr,
		    value.ptr);
	if (units_read_number(value, false, 0, INT64_MAX, &count))
		number = count;
	else if (!units_read_time(value, &number))
		return ctl_usage("'%.60s' is neither a number nor a duration such as 5s",
		    value.ptr);
	condition->number = (json_int_t)number;
	condition->value = NULL;
	return -1;
}

int
filter_add(struct filter *filter, const char *word)
{
	struct nearest nearest = { .typed = { word, key_length(word) } };
	const char *sign = word + nearest.typed.len;
	bool order = sign[0] == '<' || sign[0] == '>';
	const struct relation *relation = relations;
	const struct key *key = keys;
	struct condition *condition;

	while (relation < relations + RELATIONS && !text_begins(sign, relation->sign))
		relation++;
	if (relation == relations + RELATIONS)
		return ctl_usage("'%.60s': want KEY=VALUE, KEY>VALUE or KEY<VALUE", word);
	for (; key < keys + KEYS && !span_is(nearest.typed, key->name); key++)
		nearest_offer(&nearest, key->name);
	if (key == keys + KEYS)
		return ctl_unknown("key", &nearest, "cancelctl(1) lists them");
	if (order && key->kind == TEXT)
		return ctl_usage("'%.60s': %s is no number", word, key->name);
	if (filter->count == FILTER_CONDITIONS)
		return ctl_usage("more than %d filters", FILTER_CONDITIONS);
	condition = &filter->conditions[filter->count++];
	condition->key = text_is(key->name, "age") ? "elapsed" : key->name;
	condition->holds = relation->holds;
	condition->value = sign + strlen(relation->sign);
	return order || key->kind == NUMBER || key->kind == TIME ?
	    read_number(condition, key->kind == TIME) :
	    check_patterns(condition);
}

/*
 * Compares a string by its characters and anything else by its JSON text. A member that is missing
 * equals only the empty pattern.
 */
static bool
is_equal(const struct condition *condition, json_t *value)
{
	json_auto_t *text = show_dump(value);
	const char *list = condition->value;
	char pattern[FILTER_VALUE_MAX];
	bool fits = value == NULL && list[0] == '\0';

	while (value != NULL && next_pattern(condition->key, &list, pattern))
		fits |= policy_fits(pattern, show_text(text));
	return fits;
}

static int
compare(const struct condition *condition, const json_t *decision)
{
	json_t *value = json_object_get(decision, condition->key);
	json_int_t number = show_number(decision, condition->key);

	return condition->value != NULL ? is_equal(condition, value) ? SAME : MORE :
	    !json_is_number(value)      ? 0 :
	    number < condition->number  ? LESS :
	    number > condition->number  ? MORE :
					  SAME;
}

bool
filter_fits(const struct filter *filter, const json_t *decision)
{
	for (int i = 0; i < filter->count; i++)
		if ((compare(&filter->conditions[i], decision) & filter->conditions[i].holds) == 0)
			return false;
	return true;
}
