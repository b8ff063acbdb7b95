#pragma once

/* Words that a script defines: messages with $1 to $9 in them, and runs of lines. */

#include <stdbool.h>

#include "core/buf.h"

struct vocabulary;

struct steps { /* lines that replace a line with their name */
	const char *file;
	unsigned number; /* of the line after the name */
	struct buf text; /* the lines */
};

/* A copy as a string; the caller frees it. */
char *vocabulary_copy(struct span bytes);

/* It lives as long as the process. */
struct vocabulary *vocabulary_new(void);

/* text: NAME, blanks, the message. false: there is no text, or the name is taken. */
bool vocabulary_message(struct vocabulary *vocabulary, struct span text);

/* Adds an entry for the caller to fill in; NULL if the name is taken. */
struct steps *vocabulary_steps(struct vocabulary *vocabulary, struct span name);
const struct steps *vocabulary_find_steps(const struct vocabulary *vocabulary, struct span name);

/*
 * Appends the message that text stands for: JSON stands for itself, NAME ARGUMENT... for the
 * message of that name. A number of equal characters is written %(NUMBER*CHARACTERS). false: no
 * such message.
 */
bool vocabulary_expand(const struct vocabulary *vocabulary, struct span text, struct buf *out);

/* Appends the bytes of a quoted text with \n \r \t \0 \" \\ \xHH in it. false: it is not one. */
bool vocabulary_unquote(struct span text, struct buf *out);

static inline bool
vocabulary_is(struct span word, const char *string)
{
	return span_equal(word, span_of(string));
}

/* Removes and returns the first word of text; blanks inside brackets or quotes do not end it. */
struct span vocabulary_word(struct span *text);
