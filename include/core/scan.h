#ifndef CORE_SCAN_H
#define CORE_SCAN_H

/*
 * A resumable scanner of one JSON text (RFC 8259, UTF-8, strict). It builds no tree: it checks the syntax, finds the
 * end of the text, and keeps the few values that tell which kind of JSON-RPC message this is. Each byte is read once,
 * or twice if its token is split between two pieces.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/fields.h"

enum scan_end {
	SCAN_END_NEWLINE,  /* '\n' ends the frame, wherever it stands (newline-delimited JSON) */
	SCAN_END_EXPLICIT, /* the caller knows the end and calls scan_finish */
};

struct scan; /* opaque; its memory is reused for the next frame */

struct scan *scan_new(enum scan_end end);
void scan_free(struct scan *scan);

/* Starts the next frame; all values of the last one are forgotten. */
void scan_start(struct scan *scan);
void scan_use_vectors(struct scan *scan, bool vectors);

/*
 * Feeds the next len bytes of the frame. Returns how many were consumed: all of them, or, with
 * SCAN_END_NEWLINE, those up to and including the newline that ended the frame.
 */
size_t scan_feed(struct scan *scan, const char *bytes, size_t len);

/* The frame ends here without a newline (end of file, or the length of its header is reached). */
void scan_finish(struct scan *scan);

/* After SCAN_TRAILING: the frame ended behind its value, without a fault; the byte there begins another frame. */
void scan_end_at_value(struct scan *scan);

bool scan_ended(const struct scan *scan);           /* by newline or scan_finish */
enum value_type scan_type(const struct scan *scan); /* of the top-level value; VALUE_ABSENT: a blank line */
bool scan_complete(const struct scan *scan);        /* the top-level value has ended */
enum scan_fault scan_fault(const struct scan *scan);
bool scan_failed(const struct scan *scan); /* there is a hard fault, perhaps behind a soft one */
uint64_t scan_fault_offset(const struct scan *scan);
uint64_t scan_value_start(const struct scan *scan); /* offset of the top-level value's first byte */
uint64_t scan_value_end(const struct scan *scan);   /* offset behind its last byte; if complete */
bool scan_bom(const struct scan *scan);             /* the frame starts with a UTF-8 byte order mark (skipped) */
bool scan_has_cr(const struct scan *scan);          /* a carriage return stands between tokens, or behind the value */

/*
 * The value of a field, as far as it was read: VALUE_ABSENT until the value has ended (for fields marked "its type
 * only": until its first byte was read). An object or array has a type and no text. Of repeated members the last one
 * counts: from its key on, the former value and all beneath it are absent; but of methods the first one counts.
 * SCAN_PARAMS_META is an object from its first complete member on, and has no end.
 */
const struct scan_value *scan_value(const struct scan *scan, enum scan_field field);

/* The value's bytes as spelled on the wire (a string with its quotes); valid until the next scan_start. */
struct span scan_text(const struct scan *scan, enum scan_field field);

#endif
