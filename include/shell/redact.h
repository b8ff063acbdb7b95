#ifndef SHELL_REDACT_H
#define SHELL_REDACT_H

/*
 * Hides secrets in the bytes of one direction, which come in pieces: the strings and numbers under a key that names a
 * secret (command_names_secret), however deep they are nested. Each byte stays one byte, and what is JSON or is not
 * stays so; only invalid UTF-8 in a secret becomes valid. The tokens of progress are no secrets, nor are numbers under a
 * key with "token", which count something or name a progress.
 */

#include <stdbool.h>
#include <stddef.h>

enum { REDACT_KEY_MAX = 256 }; /* bytes of a key that are looked at */

enum redact_place {
	REDACT_BETWEEN, /* outside of strings */
	REDACT_STRING,
	REDACT_ESCAPE, /* behind a backslash */
	REDACT_CODE,   /* within \uXXXX */
	REDACT_BEHIND, /* behind a string: a colon makes it a key */
};

struct redact {
	enum redact_place place;
	bool begun;       /* some byte was seen */
	bool framed;      /* ... and messages have headers: a newline does not end them */
	bool hidden;      /* the current string is a secret */
	bool named;       /* the key of the next value names a secret */
	bool counts;      /* ... and it may be a number that is none */
	bool params;      /* within the params of a message */
	size_t depth;     /* of the arrays and objects around */
	size_t secret_at; /* the depth of the one that is a secret; 0: none is */
	int digits;       /* REDACT_CODE: still to come */
	char before;      /* the byte before this one, as it was */
	size_t len;       /* of the string, as far as it is kept */
	char string[REDACT_KEY_MAX];
};

void redact_init(struct redact *redact);
void redact_bytes(struct redact *redact, char *bytes, size_t len);

#endif
