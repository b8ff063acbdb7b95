#ifndef CORE_ENVELOPE_H
#define CORE_ENVELOPE_H

/* The kind of JSON-RPC 2.0 message that a frame contains, judged by its top-level members alone. */

#include <stdbool.h>

#include "core/buf.h"
#include "core/scan.h"

enum envelope_kind {
	ENVELOPE_NONE, /* no message: no JSON, also for its UTF-8; no JSON-RPC; refused for its depth or repeated members */
	ENVELOPE_REQUEST,
	ENVELOPE_NOTIFICATION,
	ENVELOPE_RESPONSE,
	ENVELOPE_BATCH, /* an array, whatever its elements are */
	ENVELOPE_BLANK, /* white space only */
};

enum { METHOD_MAX = 256 };

struct envelope {
	enum envelope_kind kind;
	struct span id;     /* as spelled; empty if absent, null, repeated or not kept: then it cannot be tracked */
	bool malformed;     /* a response that is no sound answer */
	struct span method; /* unescaped; empty if there is none; valid as long as the envelope and the scan's text */
	char storage[METHOD_MAX];
};

/* Reads a frame that has ended. */
void envelope_read(struct envelope *envelope, const struct scan *scan);

/* Not a batch: a single message. */
static inline bool
envelope_is_message(const struct envelope *envelope)
{
	return envelope->kind == ENVELOPE_REQUEST || envelope->kind == ENVELOPE_NOTIFICATION ||
	    envelope->kind == ENVELOPE_RESPONSE;
}

/*
 * What a frame that may not pass was meant to be, as far as it was read: REQUEST, NOTIFICATION, or NONE. A REQUEST
 * may lack a usable id or method.
 */
enum envelope_kind envelope_meant(const struct scan *scan);

/* Whether the text was read to its end: its members are all known, even if it has a fault. */
bool envelope_is_read(const struct scan *scan);

/*
 * Whether a message with an id may be meant as a response, sound or not. A line of a log may have an id, too, but has
 * neither "jsonrpc" nor a result or an error.
 */
bool envelope_may_answer(const struct scan *scan);

#endif
