#pragma once

/*
 * The facts of each protocol in the specifications, written a second time: nothing here comes from
 * src/core.
 */

#include <stdbool.h>

enum spelling { SPELLED_MCP, SPELLED_ACP, SPELLED_LSP, SPELLINGS };

extern const char *const protocol_cancels[SPELLINGS]; /* methods */
extern const char *const protocol_keys[SPELLINGS];    /* the member of params with the id */

enum trait {
	HANDSHAKE = 1 << 0,
	FINAL = 1 << 1,  /* canceld never cancels it on the wire */
	EXEMPT = 1 << 2, /* no deadline unless one is given for it */
	TURN = 1 << 3,   /* cancelled with session/cancel as well */
	IN_SESSION = 1 << 4,
	PERSON = 1 << 5,
	DISCOVERY = 1 << 6,
	STREAM = 1 << 7, /* its receiver may end it with a cancel */
	SETTING = 1 << 8,
	UNSETTING = 1 << 9,
	NAMED = 1 << 10, /* ... of one uri */
	OPENS = 1 << 11, /* ... a session: a deadline for all does not shorten its own */
	CLOSES = 1 << 12,
	LOGIN = 1 << 13,
};

struct deed {
	const char *method;
	unsigned traits;       /* enum trait */
	const char *cancelled; /* the result that tells it was cancelled; NULL: an error does */
};

enum { DEEDS = 9 };

struct protocol {
	const char *name; /* as in canceld's --dialect */
	bool header;      /* its usual framing */
	bool cancels;     /* it has a cancel ... */
	enum spelling spelling;
	bool owes;  /* ... and a cancelled request must still be answered */
	bool waits; /* after a deadline the receiver has the grace to answer */
	bool strict_tokens;
	int timeout_code, failure_code, closed_code;
	const char *progress, *progress_key; /* NULL: none that names a request */
	const char *notice;
	const char *opened; /* notice of the client after the handshake; NULL: there is none */
	bool replayable;    /* canceld can replay a session to another server */
	bool slow;          /* its servers may take long to start */
	struct deed client[DEEDS],
	    server[DEEDS]; /* the requests of each side; the client's first one opens the session */
};

enum { MCP, ACP, LSP, BSP, NONE, PROTOCOLS };

extern const struct protocol protocols[PROTOCOLS];
