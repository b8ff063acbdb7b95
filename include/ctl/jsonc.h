#ifndef CTL_JSONC_H
#define CTL_JSONC_H

/*
 * JSON as editors write it: RFC 8259 with line and block comments, a comma before a closing bracket, and a byte order
 * mark. The file is one object. A key that an object has twice is refused: clients disagree on which one counts.
 */

#include "ctl/doc.h"

/* Reads doc->text, of a doc just initialised. 0, or -1 with doc->fault. */
int jsonc_read(struct doc *doc) __attribute__((warn_unused_result));

/* Appends the text as a string that is valid in JSON and in TOML. text: UTF-8. */
void jsonc_quote(struct buf *out, struct span text);

#endif
