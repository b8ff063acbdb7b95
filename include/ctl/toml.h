#ifndef CTL_TOML_H
#define CTL_TOML_H

/*
 * TOML 1.0, and the newlines and trailing commas that 1.1 allows in inline tables. All tables become one tree, wherever
 * their keys stand: [a.b], a.b = 1, {b = 1}. Numbers and dates are not checked, only their ends are found.
 */

#include "ctl/doc.h"

/* Reads doc->text, of a doc just initialised. 0, or -1 with doc->fault. */
int toml_read(struct doc *doc) __attribute__((warn_unused_result));

#endif
