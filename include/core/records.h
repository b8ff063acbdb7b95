#ifndef CORE_RECORDS_H
#define CORE_RECORDS_H

/*
 * The messages that a new server must be told to continue the session, kept as they pass: the handshake, the
 * notification after it, settings, streams. At most LIMIT_RECORDS of them, and LIMIT_RECORD_BYTES.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/message.h"
#include "core/pending.h"

enum record_kind {
	RECORD_NONE, /* the message is not kept */
	RECORD_HANDSHAKE,
	RECORD_OPENED,    /* the notification after the handshake */
	RECORD_SETTING,   /* stays in force, and replaces an earlier one of the same name */
	RECORD_UNSETTING, /* ends the setting of the same name */
	RECORD_STREAM,    /* a request that stays open */
};

struct record {
	enum record_kind kind;
	const struct method *row; /* the method's row; NULL: OPENED */
	struct buf text;          /* the message */
	size_t id_at, id_len;     /* where the request's id is in text */
	struct buf name;          /* SETTING, UNSETTING: the name that it sets; empty: all */
	struct request *request;  /* while it is not answered; NULL: it was granted. The record ends with it */
	bool begins;              /* STREAM: it was replayed, and its first message has not arrived yet */
	bool known;               /* STREAM: the client has received its first message */
};

struct records {
	bool wanted;         /* the server may be started again */
	struct record *list; /* owned, in the order in which they passed */
	size_t count, bytes;

	bool overflow;             /* the handshake was too long */
	struct buf version;        /* the server's version, as spelled in its answer to the handshake */
	uint64_t capabilities;     /* the digest of its capabilities */
	bool lists[DIALECT_LISTS]; /* the server announces changes of this list; see struct dialect */
};

void records_init(struct records *records, bool wanted);
void records_free(struct records *records);

/*
 * Keeps a request of the client's that passes and is held whole, if its method needs it. false: it should be kept, but
 * there is no room.
 */
bool records_add_request(struct records *records, const struct message *message, struct request *request)
    __attribute__((warn_unused_result));

/* Keeps the client's notification after its handshake, likewise. */
bool records_add_opened(struct records *records, const struct message *message) __attribute__((warn_unused_result));

/* The request was answered. granted: with a result. */
void records_answer(struct records *records, const struct request *request, bool granted);

/* The request has ended, in any way. */
void records_end(struct records *records, const struct request *request);

/* The record of a request that is not answered yet; NULL if there is none. */
struct record *records_find(const struct records *records, const struct request *request);

/* Keeps the first server's answer to the handshake; message is whole. */
void records_note_server(struct records *records, const struct dialect *dialect, const struct message *message);

/* How the server that sent this answer differs from what the client was told; NULL: it does not. */
const char *records_compare(const struct records *records, const struct message *message);

/* Whether a handshake waits for its answer. */
bool records_has_handshake(const struct records *records);

/* The stream was replayed to a new server. */
void records_replayed_stream(struct record *record);

/* The first message of the stream with this id has arrived; true: the client has received it before. */
bool records_begin_stream(struct records *records, struct span wire_id);

/* Whether a new server must be told of requests with this method. */
bool records_keeps(const struct records *records, const struct method *row);

#endif
