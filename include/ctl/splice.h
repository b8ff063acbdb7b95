#ifndef CTL_SPLICE_H
#define CTL_SPLICE_H

/* Replacements of a few bytes of a text. */

#include "core/buf.h"

struct splice {
	size_t at, len;          /* what is taken out */
	size_t words, words_len; /* what is put there instead, in the list's words */
};

struct splices { /* zeroed: none */
	struct splice *list;
	size_t count;
	struct buf words;
};

void splices_free(struct splices *splices);

/* Takes len bytes out at a place and puts words, which are copied, there. In any order; none may overlap. */
void splices_add(struct splices *splices, size_t at, size_t len, struct span words);

/* Appends the text with all of them done to out. */
void splices_apply(struct splices *splices, struct span text, struct buf *out);

#endif
