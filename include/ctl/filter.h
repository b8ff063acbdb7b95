#ifndef CTL_FILTER_H
#define CTL_FILTER_H

/*
 * Which decisions are shown: KEY=VALUE, KEY!=VALUE, KEY>VALUE, KEY>=VALUE, KEY<VALUE or KEY<=VALUE, of which all must
 * hold. KEY is a member of a decision; age stands for elapsed. For = and != the value may hold '*' and be a list with
 * commas, of which one must fit; the others compare numbers, or durations such as 5s.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/why.h"

enum { FILTER_MOST = 32, FILTER_FAULT_SIZE = 200 };

struct filter {
	struct condition *conditions; /* owned */
	size_t count;
};

void filter_init(struct filter *filter);
void filter_free(struct filter *filter);

/* Whether the word is meant as a condition. */
bool filter_is_condition(const char *word);

/* false: it is none, and fault says why. The word is borrowed. */
bool filter_add(struct filter *filter, const char *word, char fault[FILTER_FAULT_SIZE]);

/* Whether the decision, an object of the JSON log, is to be shown. */
bool filter_fits(const struct filter *filter, const json_t *decision);

/* Whether the word of a decision belongs to this level; words that this version does not know belong to each. */
bool filter_level(const json_t *decision, enum why_level level);

/* The decision's word, WHY_COUNT if it is not known here. */
enum why filter_why(struct span word);

#endif
