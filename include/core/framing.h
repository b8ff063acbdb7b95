#pragma once

/*
 * Where one message ends and the next begins on the wire. FRAMING_NEWLINE: one message a line (MCP
 * basic/transports "stdio", ACP transports). FRAMING_HEADER: a header "Content-Length: N" before
 * each message (LSP base protocol "Header Part").
 */

#include "core/buf.h"

enum framing { FRAMING_NEWLINE, FRAMING_HEADER };

/* Writing */

/* Appends the header of a message of len bytes. */
void framing_head(struct buf *out, uint64_t len);

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

/* Whether the line names the length of a message, as a header does. */
bool framing_names_length(struct span line);

/* Whether this may be a message, behind blanks. */
static inline bool
framing_begins_json(struct span text)
{
	return text.len > 0 && (text.ptr[0] == '{' || text.ptr[0] == '[');
}

/* What follows a byte order mark, if there is one. */
struct span framing_skip_bom(struct span bytes);

enum { FRAME_HEAD_MAX = 4096 }; /* bytes of a header, or before the framing shows; more is text */

/* A header that announces a longer body is text. */
#define FRAME_LENGTH_MAX ((uint64_t)1 << 32)

/*
 * The frame at hand, whose end is looked for as its bytes arrive; zeroed: nothing of it was read.
 * Offsets count from its first byte. Headers are accepted as real peers write them: field names in
 * any case, blanks around the colon, other fields, lines that end with "\n" alone, and text between
 * two messages.
 */
struct frame {
	uint64_t body, end; /* its text, without its newline; once its end is known */
	uint64_t next;      /* where the next frame begins; 0: its end is not known */
	size_t searched;    /* private: no newline is before */
	/* it is text where a header should be; of a line, set by its owner: it began with text */
	bool text;
	bool rest; /* its line, or body, began with something else */
};

/* Reads the frame. bytes: all that has come of it, and what follows. false: it is not whole. */
bool frame_read(struct frame *frame, enum framing framing, struct span bytes) MUST_USE;

/*
 * The header of the frame is text, and ends the frame, if it is followed by something else than
 * JSON: a program has printed the head of an HTTP response, for example. bytes: as for frame_read,
 * which was called. true: so it is.
 */
bool frame_refuse_text(struct frame *frame, struct span bytes);

/* No more bytes will come: the frame ends here, behind len bytes. */
void frame_finish(struct frame *frame, enum framing framing, size_t len);

/*
 * n bytes of the frame are dealt with: what is left of it is the frame at hand, or else the next
 * one is.
 */
void frame_advance(struct frame *frame, uint64_t n);
