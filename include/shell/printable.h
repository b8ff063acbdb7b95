#ifndef SHELL_PRINTABLE_H
#define SHELL_PRINTABLE_H

/* Bytes of any kind, such as a hostile tool's name, made safe to show. */

#include <jansson.h>
#include <stdbool.h>

#include "core/buf.h"

/*
 * Appends text that is safe for a terminal: bytes that are not printable UTF-8 become \xNN. escaped: characters that
 * get a backslash; may be "".
 */
void printable_append(struct buf *text, struct span bytes, const char *escaped);

/*
 * The bytes as a JSON string, which the caller owns; jansson accepts valid UTF-8 only, so what is not valid becomes
 * U+FFFD. cut: "..." is appended.
 */
json_t *printable_json(struct span bytes, bool cut);

#endif
