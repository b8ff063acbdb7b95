#ifndef CORE_RECORDS_H
#define CORE_RECORDS_H

/*
 * What a new server would have to be told of the session, kept as it passes: the handshake, the notification that opened the
 * session, settings, streams. At most LIMIT_RECORDS and LIMIT_RECORD_BYTES.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/message.h"
#include "core/pending.h"

enum record_kind {
	RECORD_NONE, /* the message is not kept */
	RECORD_HANDSHAKE,
	RECORD_OPENED,    /* the notification behind the handshake */
	RECORD_SETTING,   /* lasts, and replaces an earlier one of the same name */
	RECORD_UNSETTING, /* ends the setting of the same name */
	RECORD_STREAM,    /* a request that stays open */
};

struct record {
	enum record_kind kind;
	const struct method *row; /* NULL: OPENED */
	struct buf text;          /* the message */
	size_t id_at, id_len;     /* where its id stands in it */
	struct buf name;          /* SETTING, UNSETTING: what it is for; empty: all */
	struct request *request;  /* not answered yet; NULL: it counts. Valid as the request is removed with it */
	bool begins;              /* STREAM: it was replayed, and its first message has not come yet */
	bool known;               /* STREAM: the client has had its first message */
};

struct records {
	bool wanted;         /* the server may be started again */
	struct record *list; /* owned, in the order in which they were said */
	size_t count, bytes;

	bool overflow;             /* the handshake was too long */
	struct buf version;        /* of the server, as spelled in its answer to the handshake */
	uint64_t capabilities;     /* ... their digest */
	bool lists[DIALECT_LISTS]; /* the server says when they change; see struct dialect */
};

void records_init(struct records *records, bool wanted);
void records_free(struct records *records);

/*
 * A request of the client's that passes, and is held whole. false: a new server would have to be told, and there is no room.
 */
bool records_add_request(struct records *records, const struct message *message, struct request *request)
    __attribute__((warn_unused_result));

/* The notification of the client's behind its handshake, likewise. */
bool records_add_opened(struct records *records, const struct message *message) __attribute__((warn_unused_result));

/* The answer to the request came. granted: it is a result. */
void records_answer(struct records *records, const struct request *request, bool granted);

/* The request has ended, however it did. */
void records_end(struct records *records, const struct request *request);

/* The record of a request that is not answered yet; or NULL. */
struct record *records_find(const struct records *records, const struct request *request);

/* The first server's answer to the handshake; message is whole. */
void records_note_server(struct records *records, const struct dialect *dialect, const struct message *message);

/* How the server of this answer differs from what the client was told; NULL: it does not. */
const char *records_compare(const struct records *records, const struct message *message);

/* A handshake waits for its answer. */
bool records_has_handshake(const struct records *records);

/* The stream was said again to a new server. */
void records_replayed_stream(struct record *record);

/* The first message of the stream with this id has come; true: the client has had it before. */
bool records_begin_stream(struct records *records, struct span wire_id);

/* The method is one of which a new server has to be told. */
bool records_keeps(const struct records *records, const struct method *row);

#endif
