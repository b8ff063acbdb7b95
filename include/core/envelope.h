#ifndef CORE_ENVELOPE_H
#define CORE_ENVELOPE_H

/* What kind of JSON-RPC 2.0 message a frame is, from its top-level members alone. */

#include <stdbool.h>

#include "core/buf.h"
#include "core/scan.h"

enum envelope_kind {
	ENVELOPE_UNKNOWN, /* not to its end yet, and undecided */
	ENVELOPE_REQUEST,
	ENVELOPE_NOTIFICATION,
	ENVELOPE_RESPONSE,
	ENVELOPE_BATCH,
	ENVELOPE_BLANK,
	ENVELOPE_NOT_JSON,
	ENVELOPE_NO_MESSAGE, /* JSON, but no JSON-RPC message */
};

enum { METHOD_MAX = 256 };

struct envelope {
	enum envelope_kind kind;
	struct span id;     /* as spelled; empty if absent, null or not usable */
	bool untracked;     /* a request or response whose id is null, absent or too long to keep */
	struct span method; /* unescaped; lives as long as the envelope and the scan */
	char storage[METHOD_MAX];
};

/*
 * Reads a frame that has ended. needs_jsonrpc: a message without the member "jsonrpc" is none.
 * JSON with duplicate envelope keys or invalid UTF-8 is ENVELOPE_NOT_JSON.
 */
void envelope_read(struct envelope *envelope, const struct scan *scan, bool needs_jsonrpc);

/*
 * Reads a frame that has not ended: REQUEST or NOTIFICATION once the method was read (which of the two is not
 * known without an id), RESPONSE once `result` or `error` was, else UNKNOWN.
 */
void envelope_peek(struct envelope *envelope, const struct scan *scan);

#endif
