#ifndef CORE_DIALECT_H
#define CORE_DIALECT_H

/*
 * What a protocol calls cancel, what it owes, forbids and exempts: one const row each. Nothing else in
 * the core knows a method's name.
 */

#include <stdbool.h>

#include "core/buf.h"
#include "core/scan.h"

enum method_trait {
	METHOD_START = 1 << 0,     /* opens the session: its deadline is built in, a bare -t leaves it */
	METHOD_NO_CANCEL = 1 << 1, /* never cancelled on the wire; a peer's cancel of it is dropped */
	METHOD_EXEMPT = 1 << 2,    /* lives long by nature: no deadline unless a rule names it */
	METHOD_PERSON = 1 << 3,    /* waits for a person: exempt, and stops the other side's idle clock */
	METHOD_CODE = 1 << 4,      /* runs a user's code: the longer built-in deadline */
	METHOD_PROBE = 1 << 5,     /* asks which era it is: expiry is answered as an unknown method */
	METHOD_TOOL = 1 << 6,      /* --tool-errors applies */
	METHOD_HANDSHAKE = 1 << 7, /* its answer settles the era; its expiry ends the server */
	METHOD_STREAM = 1 << 8,    /* the receiver may end it with a cancel of its own */
};

struct method {
	const char *name;
	unsigned traits;            /* enum method_trait */
	enum scan_field name_field; /* where it names a tool, prompt or resource; SCAN_FIELDS: nowhere */
};

enum dialect_flag {
	DIALECT_OWES_ANSWER = 1 << 0,          /* a cancelled request must still be answered */
	DIALECT_ALIASES_IDS = 1 << 1,          /* an id that is still in use travels under a fresh one */
	DIALECT_DROPS_UNKNOWN_TOKENS = 1 << 2, /* progress that names no request is dropped */
	DIALECT_HAS_ERAS = 1 << 3,             /* nothing is injected before the era is settled */
	DIALECT_CANCELS_META = 1 << 4,         /* cancels copy the request's _meta in the modern era */
	DIALECT_TASKS = 1 << 5,                /* tasks are cancelled with tasks/cancel */
};

struct dialect {
	const char *name;
	unsigned flags;                  /* enum dialect_flag */
	const char *cancel, *cancel_key; /* notification; the member of params with the id */
	enum scan_field cancel_field;
	const char *progress;                /* notification */
	enum scan_field progress_field;      /* its token */
	enum scan_field request_token_field; /* a request's own token */
	const char *task_cancel, *task_status;
	const struct method *methods; /* ended by a NULL name */
};

extern const struct dialect dialect_mcp;

/* What the row says of a method; NULL if nothing. method is unescaped. */
const struct method *dialect_method(const struct dialect *dialect, struct span method);

#endif
