#ifndef CORE_SCAN_H
#define CORE_SCAN_H

/*
 * A resumable scanner of one JSON text (RFC 8259, UTF-8, strict). It builds nothing: it checks the
 * syntax, finds the end, and keeps the few values that say what kind of JSON-RPC message this is.
 * A byte is read once, or twice where its token is not whole in one piece, whatever the sizes of the pieces.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/fields.h"

/* What is wrong. The first fault counts. After a soft fault the scan goes on and may find the id. */
enum scan_fault {
	SCAN_FINE,
	SCAN_UTF8,      /* soft: invalid UTF-8 */
	SCAN_CONTROL,   /* soft: a raw control character inside a string */
	SCAN_DUPLICATE, /* soft: one of the paths above occurs twice in its object */
	SCAN_SYNTAX,    /* hard: not JSON from here on; the rest of the frame is only skipped */
	SCAN_DEPTH,     /* hard: nested deeper than SCAN_DEPTH_MAX */
	SCAN_TRAILING,  /* hard: a complete value, then something that is not white space */
	SCAN_CUT,       /* the frame ended inside the value */
};

enum scan_end {
	SCAN_END_NEWLINE,  /* '\n' ends the frame, wherever it stands (newline-delimited JSON) */
	SCAN_END_EXPLICIT, /* the caller knows the end and says so with scan_finish */
};

struct scan; /* opaque: its size is fixed and it keeps its memory between frames */

struct scan *scan_new(enum scan_end end);
void scan_free(struct scan *scan);

/* Forgets the last frame. With vectors false strings are skipped a byte at a time: tests compare the two. */
void scan_start(struct scan *scan);
void scan_use_vectors(struct scan *scan, bool vectors);

/*
 * Feeds the next len bytes of the frame. Returns how many were consumed: all of them, or, with
 * SCAN_END_NEWLINE, those up to and including the newline that ended the frame.
 */
size_t scan_feed(struct scan *scan, const char *bytes, size_t len);

/* The frame ends here without a newline (end of file, or the length of its header is reached). */
void scan_finish(struct scan *scan);

bool scan_ended(const struct scan *scan);           /* by newline or scan_finish */
enum value_type scan_type(const struct scan *scan); /* of the top-level value; VALUE_ABSENT: a blank line */
bool scan_complete(const struct scan *scan);        /* the top-level value has ended */
enum scan_fault scan_fault(const struct scan *scan);
uint64_t scan_fault_offset(const struct scan *scan);
uint64_t scan_value_start(const struct scan *scan); /* offset of the top-level value's first byte */
uint64_t scan_value_end(const struct scan *scan);   /* offset behind its last byte; if complete */
bool scan_bom(const struct scan *scan);             /* the frame starts with a UTF-8 byte order mark (skipped) */

/*
 * What was found of a field so far: VALUE_ABSENT until its value has been read to its end (for the fields
 * of "its type only": until its first byte was read). An object or array gives its type and no text.
 * Of duplicates the first is kept. SCAN_PARAMS_META is an object from its first complete member on, and has no end.
 */
const struct scan_value *scan_value(const struct scan *scan, enum scan_field field);

/* Its bytes as spelled on the wire (a string with its quotes); valid until the next scan_start. */
struct span scan_text(const struct scan *scan, enum scan_field field);

#endif
