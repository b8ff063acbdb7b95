#ifndef CORE_HANDSHAKE_H
#define CORE_HANDSHAKE_H

/*
 * What the session speaks, as far as the traffic has shown it: framing, dialect, era, capabilities. It reads messages and writes
 * nothing.
 */

#include <stdbool.h>

#include "core/journal.h"
#include "core/dialect.h"
#include "core/message.h"

enum era { ERA_NONE, ERA_LEGACY, ERA_MODERN };

struct handshake {
	const struct dialect *dialect; /* never NULL: a guess until dialect_known */
	bool dialect_known, framing_known;
	bool plain;       /* the client speaks no JSON-RPC: everything passes */
	bool initialized; /* the answer to the handshake was a result, or the client has asked without one */
	bool omits_id;    /* errors without an id leave the member out */
	bool declared[2]; /* by enum side: it has the capability cancellation.request (ACP RFD) */
	int version;      /* result.protocolVersion, if it is a number (ACP) */
	enum era era;
	uint64_t era_end; /* the request that showed the era ends here, in the client's lane */
};

/* dialect: the one that a person has named; NULL: none. */
void handshake_init(struct handshake *handshake, const struct dialect *dialect);

/*
 * Looks at the first bytes of a side, to find how both sides frame their messages, or that the session is plain. The client's
 * decide; a server that speaks before its client is read as what it looks like until then. ended: no more bytes will come.
 * *framing: the present one. false: more bytes are needed before anything can be read.
 */
bool handshake_read_framing(struct handshake *handshake, enum side from, struct span bytes, bool ended,
    enum framing *framing);

enum news { /* what a request has shown: a set */
	NEWS_DIALECT = 1 << 0,
	NEWS_ERA = 1 << 1,
};

/* Reads a request of the client's: the first one shows the dialect, and in MCP the first ones show the era. */
unsigned handshake_read_request(struct handshake *handshake, enum framing framing, const struct message *message);

/* Reads a response with a result to the handshake. */
void handshake_read_answer(struct handshake *handshake, const struct message *message);

/* Messages of canceld's own may be written to the server, which has taken its input up to this position. */
bool handshake_is_settled(const struct handshake *handshake, uint64_t written_to);

/* The session is open: the handshake was answered, or the protocol needs none. */
bool handshake_is_done(const struct handshake *handshake);

/* How that side spells a cancel; NULL: its protocol has none. */
static inline const struct cancel *
handshake_cancel(const struct handshake *handshake, enum side receiver)
{
	return handshake->declared[receiver] ? handshake->dialect->declared_cancel : handshake->dialect->cancel;
}

#endif
