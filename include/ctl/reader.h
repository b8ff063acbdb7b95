#ifndef CTL_READER_H
#define CTL_READER_H

/* A place in the text of a doc, for those who read one. */

#include "ctl/doc.h"

struct reader {
	struct doc *doc;
	struct span text;
	size_t at;
	size_t depth;
};

/* The next byte, or -1 at the end. */
static inline int
peek(const struct reader *reader)
{
	return reader->at < reader->text.len ? (unsigned char)reader->text.ptr[reader->at] : -1;
}

/* Sets the doc's fault. Returns -1. */
static inline int
fail(struct reader *reader, const char *what)
{
	return doc_fail(reader->doc, reader->at, "%s", what);
}

/* Whether the text goes on with this; then it is skipped. */
static inline bool
skip(struct reader *reader, struct span word)
{
	if (reader->text.len - reader->at < word.len ||
	    !span_equal(span_part(reader->text, reader->at, word.len), word))
		return false;
	reader->at += word.len;
	return true;
}

#endif
