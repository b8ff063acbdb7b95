#ifndef CORE_HANDSHAKE_H
#define CORE_HANDSHAKE_H

/*
 * The protocol of the session, as far as the traffic has shown it: framing, dialect, era, capabilities. It reads
 * messages and writes nothing.
 */

#include <stdbool.h>

#include "core/journal.h"
#include "core/dialect.h"
#include "core/message.h"
#include "core/pending.h"

enum era { ERA_NONE, ERA_LEGACY, ERA_MODERN };

struct handshake {
	const struct dialect *dialect; /* never NULL: a guess until dialect_known */
	bool dialect_known, framing_known;
	bool begun;                /* the client has asked for a handshake */
	bool plain;                /* the client does not speak JSON-RPC: everything passes */
	bool initialized;          /* answered with a result, or the client did without a handshake */
	bool omits_id;             /* errors without an id leave the member out */
	bool declared[2];          /* by enum side: that side declared the capability cancellation.request (ACP RFD) */
	bool has_tasks;            /* MCP: the version has tasks, other than as an extension */
	bool discovered, extended; /* MCP: server/discover was answered; with the extension for tasks */
	unsigned tasks[2];         /* MCP, by enum side: what it declared about tasks; private */
	int version;               /* result.protocolVersion, if it is a number (ACP) */
	enum era era;
	uint64_t era_end; /* position in the client's lane behind the request that showed the era */
};

/* dialect: the one that a person has named; NULL: none. */
void handshake_init(struct handshake *handshake, const struct dialect *dialect);

/*
 * Reads the first bytes of a side, to find how both sides frame their messages, or that the session is plain. The
 * client's bytes decide; a server that writes before its client is read with the framing that its own bytes suggest.
 * ended: no more bytes will come. *framing: the framing for now. false: more bytes are needed.
 */
bool handshake_read_framing(struct handshake *handshake, enum side from, struct span bytes, bool ended,
    enum framing *framing);

enum news { /* what a request has shown; a set */
	NEWS_DIALECT = 1 << 0,
	NEWS_ERA = 1 << 1,
};

/* Reads a request of the client's: the first one shows the dialect, and the first ones of MCP show the era. */
unsigned handshake_read_request(struct handshake *handshake, enum framing framing, const struct message *message);

/* Reads the handshake's response, if it has a result. */
void handshake_read_answer(struct handshake *handshake, const struct message *message);

/* Reads from it what a server, also one that was started again, has declared about tasks. */
void handshake_read_tasks(struct handshake *handshake, const struct message *message);

/* Reads the response to a METHOD_DISCOVERY, if it has a result. */
void handshake_read_discovery(struct handshake *handshake, const struct message *message);

/*
 * MCP 2025-11-25 basic/utilities/tasks: whether the request may become a task of its receiver. The receiver must have
 * declared that for the method.
 */
bool handshake_may_make_task(const struct handshake *handshake, enum side receiver, const struct request *request);

/*
 * The id of the task that the response to this request created, as spelled; or empty. In the modern era (SEP-2663) any
 * request may become one.
 */
struct span handshake_created_task(const struct handshake *handshake, enum side receiver, const struct request *request,
    const struct scan *response);

/* Whether the receiver has declared that tasks may be cancelled, or, in the modern era, that it has tasks. */
bool handshake_may_cancel_task(const struct handshake *handshake, enum side receiver, const struct request *request);

/* Messages of canceld's own may be written to the server. written_to: how far the client's lane was written. */
bool handshake_is_settled(const struct handshake *handshake, uint64_t written_to);

/* The session is open: the handshake was answered, or the protocol needs none. */
bool handshake_is_done(const struct handshake *handshake);

/* The form of a cancel for that receiver; NULL: its protocol has none. */
static inline const struct cancel *
handshake_cancel(const struct handshake *handshake, enum side receiver)
{
	return handshake->declared[receiver] ? handshake->dialect->declared_cancel : handshake->dialect->cancel;
}

#endif
