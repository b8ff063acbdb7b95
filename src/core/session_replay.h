#ifndef SESSION_REPLAY_H
#define SESSION_REPLAY_H

/* What session_record.c keeps of a session, and session_replay.c says again to a new server. */

#include "session_inside.h"

enum record_kind { RECORD_HANDSHAKE, RECORD_OPENED, RECORD_SETTING, RECORD_UNSETTING, RECORD_STREAM };

struct record {
	enum record_kind kind;
	const struct method *method; /* NULL: OPENED */
	struct buf text;             /* the message */
	size_t id_at, id_len;
	struct buf name;               /* SETTING, UNSETTING: what it is for; empty: all */
	const struct request *request; /* not answered yet; NULL: it counts */
	bool begins;                   /* STREAM: said again, and its beginning was not heard yet */
	bool known;                    /* STREAM: the client has had its beginning */
};

enum { REPLAY_LISTS = 3 };

enum replay_stage {
	REPLAY_IDLE,
	REPLAY_HANDSHAKE, /* said again, and not answered */
	REPLAY_SETTINGS,  /* the same of what follows */
	REPLAY_FAILED,
};

struct replay {
	struct record *records;
	size_t count, bytes;
	size_t open;                      /* of requests that are not answered yet */
	struct buf version, capabilities; /* of the server, as the client was told */
	bool lists[REPLAY_LISTS];         /* the server says when they change; see session_lists */
	bool overflow;                    /* the handshake was too long */
	enum replay_stage stage;
	size_t waiting; /* answers that are still to come */
};

struct session_list {
	enum scan_field field; /* whether the server says so */
	const char *notification;
};

extern const struct session_list session_lists[REPLAY_LISTS];

/* result.capabilities as spelled; empty if there are none. */
struct span session_capabilities(const struct session *session, const struct message *message);

/* error.message as spelled, with its quotes; empty if there is none. */
struct span session_error_words(const struct session *session, const struct message *message);

#endif
