#pragma once

/* What is spoken, as far as the traffic has shown it, and what waits until it has. */

#include "message.h"

enum era { ERA_NONE, ERA_LEGACY, ERA_MODERN };

struct handshake {                     /* what is spoken, as far as the traffic has shown it */
	const struct dialect *dialect; /* never NULL: a guess until dialect_known */
	bool dialect_known, framing_known;
	bool plain;  /* the client does not speak JSON-RPC: everything passes */
	bool opened; /* the handshake was answered with a result, or the session needs none */
	/* by enum side: that side declared the capability cancellation.request (ACP RFD) */
	bool cancels[2];
	bool has_tasks; /* MCP: see tasks_since in struct dialect */
	/* MCP: server/discover was answered; with the extension for tasks */
	bool discovered, extended;
	/* MCP, by enum side: its capabilities, as far as they are looked at; private */
	struct buf declared[2];
	bool unread;       /* capabilities or _meta were too long to be looked at to their end */
	struct buf logins; /* ACP: authMethods of the first server; cut behind LIMIT_LOOKED bytes */
	/* ACP: the method with which a new server opens a session again; NULL: none */
	const char *reopen;
	struct buf version; /* of the first server, as spelled in its answer to the handshake */
	/* clientInfo, an object of JSON; empty if there is none, or it is too long */
	struct buf client;
	/* ... which announces changes of this list; see struct dialect */
	bool lists[DIALECT_LISTS];
	enum era era;
	bool awaited;   /* a cancel or a probe waits until the era is settled: party_is_settled */
	msec_t open_by; /* steady time: then a modern session without a handshake counts as open */
	/*
	 * Position in the client's lane up to which all is written before a request that was held:
	 * in or behind what opens the session, as the request that shows the era, and in ACP a
	 * session/cancel that waits there; not behind one that goes ahead of what waits, nor what
	 * opens nothing, as notifications/initialized in a modern session.
	 */
	uint64_t front;
};

/* The capabilities or _meta there, as far as they are looked at: they may be cut. */
struct span handshake_look_at(const struct message *message, enum scan_field field);

/*
 * Reads a request of the client's: the first one shows the dialect, the first ones of MCP the era.
 * Returns its row.
 */
const struct method *handshake_read_request(const struct message *message);

/*
 * Reads a response with a result: of the first server to a METHOD_HANDSHAKE, or to a
 * METHOD_DISCOVERY; of a later one to the handshake, for what it declares about tasks.
 */
void handshake_read_response(const struct message *message, unsigned traits);
void handshake_read_tasks(const struct message *message);

/*
 * ACP: whether the request authenticates by a method of type terminal: a client does that outside
 * of the session.
 */
bool handshake_is_terminal(const struct message *message);

/*
 * Whether the client asks a person at a request of this row; in MCP only if it has declared that,
 * in the legacy era.
 */
bool handshake_asks_person(const struct handshake *handshake, const struct method *row);

/*
 * MCP 2025-11-25 basic/utilities/tasks: whether the request may become a task: its receiver has
 * declared that.
 */
bool handshake_may_make_task(const struct handshake *handshake, const struct request *request);

/*
 * The id of the task that the response created, as spelled, or empty. SEP-2663: of any request in
 * the modern era.
 */
struct span handshake_created_task(const struct handshake *handshake, const struct request *request,
    const struct scan *response);

/*
 * Whether the receiver has declared that tasks may be cancelled, or, in the modern era, that it has
 * tasks.
 */
bool handshake_may_cancel_task(const struct handshake *handshake, const struct request *request);

/* The era as in the log; "" if it is not known, or the dialect has none. */
static inline const char *
handshake_era(const struct handshake *handshake)
{
	static const char
	    *const eras[] = { [ERA_NONE] = "", [ERA_LEGACY] = "legacy", [ERA_MODERN] = "modern" };

	return eras[handshake->era];
}

/* The form of a cancel for that receiver; NULL: its protocol has none. */
static inline const struct cancel *
handshake_cancel(const struct handshake *handshake, enum side receiver)
{
	return handshake->cancels[receiver] ? handshake->dialect->declared_cancel :
					      handshake->dialect->cancel;
}
