#ifndef CORE_FRAMING_H
#define CORE_FRAMING_H

/*
 * How messages are told apart on the wire: a line each (MCP basic/transports "stdio", ACP transports), or a
 * header "Content-Length: N" before each (LSP base protocol "Header Part"). Here stands what is written.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

enum framing { FRAMING_NEWLINE, FRAMING_HEADER };

enum { FRAMING_HEAD_MAX = 48 };

/* What stands before a message of len bytes, in storage; empty for FRAMING_NEWLINE. */
struct span framing_head(enum framing framing, uint64_t len, char storage[FRAMING_HEAD_MAX]);

/* Appends the message, framed. */
void framing_append(struct buf *out, enum framing framing, struct span message);

/*
 * Where between two messages the bytes are that were written so far. Zeroed, with framing set: before the
 * first one. It reads only what framing_append and framing_head make.
 */
struct boundary {
	enum framing framing;
	bool inside;   /* a message has begun and not ended */
	int newlines;  /* FRAMING_HEADER: of its header; two end it */
	uint64_t left; /* FRAMING_HEADER: bytes of the body still to come; within the header, the number so far */
};

/* How many of the bytes come before the end of the message that they are in, or begin: all, if it does not end. */
size_t boundary_within(const struct boundary *boundary, struct span bytes, bool *ends);

/* These bytes were written. */
void boundary_advance(struct boundary *boundary, struct span bytes);

enum framing_guess {
	GUESS_MORE, /* too little to tell */
	GUESS_NEWLINE,
	GUESS_HEADER,
	GUESS_FOREIGN, /* nothing that a JSON-RPC peer on stdio would say first */
};

/* From the first bytes of a stream, or of a line. */
enum framing_guess framing_guess(struct span bytes);

#endif
