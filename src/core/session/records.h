#pragma once

#include "message.h"

/*
 * The messages that a new server must be told to continue the session: the handshake, the
 * notification after it, settings, streams; in ACP what opens each session again, and the login;
 * LIMIT_RECORD_BYTES in all. They are the client's. A request's message is in request->record
 * until it is granted.
 */

struct record {                   /* granted */
	const struct method *row; /* of its method */
	bool string;              /* its id was one */
	struct buf text;          /* the message */
	struct buf name;          /* of a setting: what it sets; empty: all */
	struct buf session; /* ACP: the id of the session that it is about, as spelled; or empty */
	bool open;          /* the present server has opened that session again */
};

struct records {
	struct record *list; /* owned, in their order */
	size_t count;
	struct buf opened;   /* the notification after the handshake; or empty */
	size_t bytes;        /* of all, with those in requests */
	bool overflow;       /* the handshake was too long */
	bool unkept;         /* a message was not kept */
	struct pending lost; /* ACP: by id, sessions that no agent has opened again; shown: why */
	bool unopened;       /* the last ACP session was given up: a new server did not open it */
};

/* In their order. None may be removed meanwhile. */
#define each_record(record, records) \
	for ((record) = (records)->list; \
	     (record) != NULL && (record) < (records)->list + (records)->count; (record)++)

void records_free(struct records *records);

/*
 * Keeps a request of the client's that passes, if its method needs it; or the notification after
 * its handshake. false: it should be kept, but there is no room.
 */
bool records_keep(const struct message *message, struct request *request) MUST_USE;
bool records_keep_opened(const struct message *message) MUST_USE;

/* The request was answered with a result, the message; it has ended, in any way. */
void records_grant(const struct message *message, struct request *request);
void records_end(struct records *records, struct request *request);

/* The first record with this trait, about this ACP session if that is not empty; or NULL. */
struct record *records_find(const struct records *records, unsigned trait, struct span session_id);

/*
 * ACP: whether the update at hand tells that in its session something is in force which the client
 * had set otherwise. forget: that setting ends.
 */
bool records_update(const struct message *message, bool forget);

/* Forgets what is about this ACP session. */
void records_close(struct records *records, struct span session_id);

/*
 * Whether to keep the messages that a new server must be told: for --restart, or because a person
 * may restart the server.
 */
static inline bool
records_are_kept(const struct session_config *config)
{
	return config->restarts || config->observed;
}
