#ifndef SCENARIO_VOCABULARY_H
#define SCENARIO_VOCABULARY_H

/* Words that a script defines for itself: messages with $1 to $9 in them, and runs of lines. */

#include <stdbool.h>

#include "core/buf.h"

struct vocabulary;

struct steps { /* lines that stand for others wherever their name is a line */
	const char *file;
	unsigned number; /* of the line behind the name */
	struct buf text; /* the lines */
};

/* A string of its own; free() it. */
char *vocabulary_copy(struct span bytes);

struct vocabulary *vocabulary_new(void);
void vocabulary_free(struct vocabulary *vocabulary);

/* text: NAME, blanks, the message. false: there is no text, or the name is taken. */
bool vocabulary_message(struct vocabulary *vocabulary, struct span text);

/* NULL if the name is taken. The caller fills it in. */
struct steps *vocabulary_steps(struct vocabulary *vocabulary, struct span name);
const struct steps *vocabulary_find_steps(const struct vocabulary *vocabulary, struct span name);

/*
 * Appends what text stands for: JSON stands for itself, NAME ARGUMENT... for the message of that name. A number
 * of equal characters is written %(NUMBER*CHARACTERS). false: no such message.
 */
bool vocabulary_expand(const struct vocabulary *vocabulary, struct span text, struct buf *out);

/* Appends the bytes of a text between quotes with \n \r \t \0 \" \\ \xHH in it. false: it is none. */
bool vocabulary_unquote(struct span text, struct buf *out);

/* The first word of text, of which it is taken; blanks between brackets or quotes part nothing. */
struct span vocabulary_word(struct span *text);

#endif
