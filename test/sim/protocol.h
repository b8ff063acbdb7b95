#ifndef SIM_PROTOCOL_H
#define SIM_PROTOCOL_H

/* What the specifications say of each protocol, written down a second time: nothing here comes from src/core. */

#include <stdbool.h>

enum spelling { SPELLED_MCP, SPELLED_ACP, SPELLED_LSP, SPELLINGS };

extern const char *const protocol_cancels[SPELLINGS]; /* methods */
extern const char *const protocol_keys[SPELLINGS];    /* the member of params that holds the id */

enum trait {
	HANDSHAKE = 1 << 0,
	FINAL = 1 << 1,  /* canceld never cancels it on the wire */
	EXEMPT = 1 << 2, /* no deadline unless one is given for it */
	TURN = 1 << 3,   /* cancelled with session/cancel as well */
	IN_SESSION = 1 << 4,
	PERSON = 1 << 5,
	PROBE = 1 << 6,
	STREAM = 1 << 7, /* its receiver may end it with a cancel */
	SETTING = 1 << 8,
	UNSETTING = 1 << 9,
	NAMED = 1 << 10, /* ... of one uri */
};

struct deed {
	const char *method;
	unsigned traits;       /* enum trait */
	const char *cancelled; /* the result that says so; NULL: an error does */
};

enum { DEEDS = 9 };

struct protocol {
	const char *name; /* as canceld's --dialect has it */
	bool header;      /* its usual framing */
	bool cancels;     /* it knows a cancel ... */
	enum spelling spelling;
	bool owes;    /* ... and the cancelled request is answered all the same */
	bool aliases; /* an id that is in use may be used again: canceld tells them apart */
	bool waits;   /* after a deadline the receiver has the grace to answer */
	bool strict_tokens;
	int timeout_code, failure_code, closed_code;
	const char *progress, *progress_key; /* NULL: none that names a request */
	const char *notice;
	const char *opened;                       /* notice of the client's behind the handshake; NULL: there is none */
	bool replayable;                          /* canceld can tell another server all that this one knew */
	struct deed client[DEEDS], server[DEEDS]; /* what each side asks; the client's first one opens the session */
};

enum { MCP, ACP, LSP, BSP, NONE, PROTOCOLS };

extern const struct protocol protocols[PROTOCOLS];

#endif
