#ifndef SCENARIO_MUTATE_H
#define SCENARIO_MUTATE_H

/* One change to what is data: a cell of the decision table, a fact of a dialect. */

#include <stddef.h>

#include "core/dialect.h"

enum mutant_kind {
	MUTANT_STEP,      /* value: the step that is toggled */
	MUTANT_NEXT,      /* value: the state that follows */
	MUTANT_WHY,       /* the word */
	MUTANT_FLAG,      /* value: the flag that is toggled */
	MUTANT_TEXT,      /* value: which string of the dialect */
	MUTANT_FIELD,     /* value: which field of the dialect */
	MUTANT_CODE,      /* value: which error code of the dialect */
	MUTANT_CANCEL,    /* the dialect's cancel */
	MUTANT_DECLARED,  /* ... and that of peers with the capability */
	MUTANT_FRAMING,   /* its framing */
	MUTANT_VERSION,   /* what tells its handshake */
	MUTANT_TRAIT,     /* value: the trait of method `row` that is toggled */
	MUTANT_NAME,      /* the name of method `row` */
	MUTANT_NAMED,     /* what method `row` names */
	MUTANT_CANCELLED, /* the result of method `row` that says that it was cancelled */
	MUTANT_SPELLING,  /* value: which fact of cancel `row` */
};

struct mutant {
	enum mutant_kind kind;
	struct dialect *dialect; /* or NULL */
	int row, event;          /* of the table; of the dialect's methods; of the cancels */
	unsigned value;
	char name[96];
};

struct mutant_list {
	struct mutant *first;
	size_t count;
};

/* Every change that there is. */
void mutate_list(struct mutant_list *list);

/* Carries it out, for good. */
void mutate_apply(const struct mutant *mutant);

#endif
