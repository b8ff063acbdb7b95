#ifndef CORE_FRAMING_H
#define CORE_FRAMING_H

/*
 * Where one message ends and the next begins on the wire. FRAMING_NEWLINE: one message a line (MCP basic/transports
 * "stdio", ACP transports). FRAMING_HEADER: a header "Content-Length: N" before each message (LSP base protocol "Header
 * Part").
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

enum framing { FRAMING_NEWLINE, FRAMING_HEADER };

/* Writing */

enum { FRAMING_HEAD_MAX = 48 };

/* The header of a message of len bytes, in storage; empty with FRAMING_NEWLINE. */
struct span framing_head(enum framing framing, uint64_t len, char storage[FRAMING_HEAD_MAX]);

/* Appends the message, framed. */
void framing_append(struct buf *out, enum framing framing, struct span message);

/* Guessing */

enum framing_guess {
	GUESS_MORE, /* too few bytes to tell */
	GUESS_NEWLINE,
	GUESS_HEADER,
	GUESS_FOREIGN, /* no JSON-RPC peer on stdio begins with these bytes */
};

/* Guesses the framing from the first bytes of a stream, or of a line. */
enum framing_guess framing_guess(struct span bytes);

/* Reading */

enum {
	FRAME_HEAD_MAX = 4096, /* bytes of one header, or of one piece of text before it */
};

/* A header that announces a longer body is text. */
#define FRAME_LENGTH_MAX ((uint64_t)1 << 32)

enum frame_result {
	FRAME_MORE,    /* the frame has not ended */
	FRAME_MESSAGE, /* it has, and its text is at [body, end) */
	FRAME_TEXT,    /* FRAMING_HEADER: it has, and is text where a header should be */
};

/*
 * One message of a lane, whose end is looked for as its bytes arrive. Headers are accepted as real peers write them:
 * field names in any case, blanks around the colon, other fields, lines that end with "\n" alone, and text between two
 * messages.
 */
struct frame {
	enum framing framing;
	uint64_t start;     /* position in the lane of the frame's first byte, header included */
	uint64_t body, end; /* positions of the text, without its newline; end: once the frame has ended */
	uint64_t read;     /* position behind the last byte that was read; of a frame that has ended: of the next one */
	uint64_t line_end; /* FRAMING_NEWLINE: where the line's newline was found already; else 0 */
	bool in_body;      /* the header has ended; always true with FRAMING_NEWLINE */
	uint64_t length;   /* FRAMING_HEADER, in_body: bytes of the whole body */
	struct head {      /* private, FRAMING_HEADER */
		bool has_length, fields; /* a Content-Length was read; any field was read */
		bool bare;               /* the line with the length ended with "\n" alone */
		size_t len;
		char line[FRAME_HEAD_MAX]; /* the current line, as far as it was read */
	} head;
};

void frame_init(struct frame *frame, enum framing framing);

/* The current frame will be read again from frame->start, in this framing. */
void frame_set_framing(struct frame *frame, enum framing framing);

/*
 * Reads bytes, which start at position frame->read. It may go back before these bytes if text turns out to end where a
 * header begins.
 */
enum frame_result frame_read(struct frame *frame, struct span bytes) __attribute__((warn_unused_result));

/* No more bytes will come, so the frame ends here. FRAME_MORE: the frame has no bytes. */
enum frame_result frame_finish(struct frame *frame) __attribute__((warn_unused_result));

/* Begins the next frame, behind this one. */
void frame_next(struct frame *frame);

/* Drops the current frame, as far as it was read; the next one starts at this position. */
void frame_skip(struct frame *frame, uint64_t position);

/* FRAMING_NEWLINE, FRAME_MESSAGE: the frame ends at this position already, and the rest of its line is the next frame. */
void frame_split(struct frame *frame, uint64_t position);

#endif
