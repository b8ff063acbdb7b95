#ifndef CORE_DIALECT_H
#define CORE_DIALECT_H

/*
 * What a protocol calls cancel, what it owes, forbids and exempts: one const row each. Nothing else in
 * the core knows a method's name.
 */

#include <stdbool.h>

#include "core/buf.h"
#include "core/framing.h"
#include "core/scan.h"

enum { /* JSON-RPC 2.0 section 5.1; LSP 3.17 "ErrorCodes" */
	CODE_PARSE_ERROR = -32700,
	CODE_INVALID_REQUEST = -32600,
	CODE_METHOD_NOT_FOUND = -32601,
	CODE_INVALID_PARAMS = -32602,
	CODE_INTERNAL_ERROR = -32603,
	CODE_SERVER_NOT_INITIALIZED = -32002,
	CODE_REQUEST_CANCELLED = -32800,
	CODE_REQUEST_FAILED = -32803,
};

enum method_trait {
	METHOD_START = 1 << 0,      /* opens the session: its deadline is built in, a bare -t leaves it */
	METHOD_NO_CANCEL = 1 << 1,  /* canceld never cancels it on the wire; see DIALECT_CANCELS_START */
	METHOD_EXEMPT = 1 << 2,     /* lives long by nature: no deadline unless a rule names it */
	METHOD_PERSON = 1 << 3,     /* waits for a person: exempt, and stops the other side's idle clock */
	METHOD_CODE = 1 << 4,       /* runs a user's code: the longer built-in deadline */
	METHOD_DISCOVERY = 1 << 5,  /* asks which era it is: expiry is answered as an unknown method */
	METHOD_TOOL = 1 << 6,       /* --tool-errors applies */
	METHOD_HANDSHAKE = 1 << 7,  /* its answer opens the session; its expiry ends the server */
	METHOD_STREAM = 1 << 8,     /* the receiver may end it with a cancel of its own */
	METHOD_TURN = 1 << 9,       /* a turn of a session: cancelled with the dialect's turn_cancel; a longer grace */
	METHOD_SETTING = 1 << 10,   /* lasts, and replaces an earlier one for the same name: replayed to a new server */
	METHOD_UNSETTING = 1 << 11, /* ends the setting of the same name */
};

struct method {
	const char *name;
	size_t len;                 /* of the name */
	unsigned traits;            /* enum method_trait */
	enum scan_field name_field; /* where it names a tool, prompt or resource; SCAN_FIELDS: nowhere */
	const char *cancelled;      /* the result that says that it was cancelled; NULL: an error does */
};

/* A notification that cancels the request whose id stands in a member of its params. */
struct cancel {
	const char *method, *key;
	enum scan_field field;
	bool owes; /* the sender of such a cancel still waits for an answer */
};

#ifdef DECISIONS_MUTABLE /* the mutation test changes one fact at a time */
#define DIALECT_CONST
#else
#define DIALECT_CONST const
#endif

/* Every way to spell it, ended by a NULL method. */
extern DIALECT_CONST struct cancel dialect_cancels[];

enum dialect_flag {
	DIALECT_OWES_ANSWER = 1 << 0,          /* a cancelled request must still be answered */
	DIALECT_ALIASES_IDS = 1 << 1,          /* an id that is still in use travels under a fresh one */
	DIALECT_DROPS_UNKNOWN_TOKENS = 1 << 2, /* progress that names no request is dropped */
	DIALECT_HAS_ERAS = 1 << 3,             /* nothing is injected before the era is settled */
	DIALECT_CANCELS_META = 1 << 4,         /* cancels copy the request's _meta in the modern era */
	DIALECT_TASKS = 1 << 5,                /* tasks are cancelled with tasks/cancel */
	DIALECT_REASONS = 1 << 6,              /* a cancel may say why */
	DIALECT_CANCELS_START = 1 << 7,        /* the requester may cancel what METHOD_NO_CANCEL says */
	DIALECT_DEADLINE_WAITS = 1 << 8,       /* after a deadline the receiver has the grace to answer */
	DIALECT_SESSIONS = 1 << 9,             /* the token is that of an ACP session, which several requests share */
	DIALECT_REPLAYS = 1 << 10,             /* a new server can be told all that the session needs */
};

enum { DIALECT_TOKENS = 2, DIALECT_LISTS = 3 };

struct list_change {              /* a list of the server's that may change, as it does with a new server */
	enum scan_field declared; /* true in the answer to the handshake: the server may send ... */
	const char *notification; /* NULL: there is no such list */
};

struct dialect {
	const char *name;
	unsigned flags;                               /* enum dialect_flag */
	enum framing framing;                         /* its usual one */
	enum value_type version;                      /* of params.protocolVersion in the handshake */
	const struct cancel *cancel;                  /* NULL: there is none */
	const struct cancel *declared_cancel;         /* for a peer that declared the capability cancellation.request */
	const char *turn_cancel;                      /* notification with params.sessionId */
	const char *progress;                         /* notification */
	enum scan_field progress_field;               /* its token */
	enum scan_field token_fields[DIALECT_TOKENS]; /* a request's own tokens; SCAN_FIELDS: none */
	const char *task_cancel, *task_status;
	const char *opened;             /* notification of the client's behind its handshake */
	const char *closed;             /* notification of the client's that ends the server */
	const char *stream_opened;      /* notification of the server's that begins a METHOD_STREAM */
	const char *ping, *modern_ping; /* what every server answers; NULL: a method that none has */
	enum scan_field asked_object;   /* where --ask-progress puts a token: SCAN_REQUEST_META or SCAN_PARAMS */
	const char *asked_member;       /* ... under this name; NULL: nowhere */
	int timeout_code, failure_code; /* of errors: a deadline passed; the server is gone, and what else fails */
	int closed_code;                /* ... no session is open yet */
	const char
	    *omits_id_since; /* from this protocolVersion on errors without an id leave the member out; NULL: never */
	struct list_change lists[DIALECT_LISTS];
	const struct method *methods; /* ended by a NULL name */
};

extern DIALECT_CONST struct dialect dialect_mcp, dialect_acp, dialect_lsp, dialect_bsp, dialect_none;

/* By name; NULL if there is none. */
const struct dialect *dialect_named(struct span name);

/*
 * The dialect of a client whose first request this is: method is unescaped, version the type of its
 * params.protocolVersion.
 */
const struct dialect *dialect_of_request(enum framing framing, struct span method, enum value_type version);

/* The dialect of a client of which only the framing is known. */
const struct dialect *dialect_of_framing(enum framing framing);

/* What the row says of a method; NULL if nothing. method is unescaped. */
const struct method *dialect_method(const struct dialect *dialect, struct span method);

/* The method has this name, which may be NULL: of none. */
bool dialect_is(struct span method, const char *name);

/* How a notification with this method spells a cancel; NULL if it is none, or the dialect has none. */
const struct cancel *dialect_cancel(const struct dialect *dialect, struct span method);

/* The response says that its request was cancelled (LSP "ErrorCodes", ACP "Stop Reasons"). */
bool dialect_says_cancelled(const struct scan *response);

/* The id of the task that the response created, as spelled (MCP basic/utilities/tasks, SEP-2663); or empty. */
struct span dialect_created_task(const struct dialect *dialect, const struct scan *response);

/* A task with this status, as spelled, has ended (MCP basic/utilities/tasks). */
bool dialect_ends_task(struct span status);

#endif
