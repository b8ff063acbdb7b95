#pragma once

/* Shared by the parts of the oracle. */

#include <jansson.h>

#include "oracle.h"

/* jsontext.c */
/* NULL: it is no JSON. Halves of characters are read as others. */
json_t *jsontext_load(const char *text, size_t len);
/* The raw text of the id, which the peers write first or last. */
void jsontext_raw_id(const char *text, size_t len, char *out, size_t size);
/* The raw text of the first member of that name. */
void jsontext_raw_member(const char *text, size_t len, const char *key, char *out, size_t size);
const char *jsontext_text(json_t *object, const char *key);
/* The id, as text that shows its type. */
void jsontext_spell(json_t *value, char *out, size_t size);
bool jsontext_same_id(const char *a, const char *b);
bool jsontext_same_text(const char *a, const char *b);
/* Compares messages byte for byte except for the id. */
bool jsontext_same_but_id(const char *a, size_t alen, const char *b, size_t blen);
/* Compares messages except for the ids and tokens that may be replaced. */
bool jsontext_same_but_names(const char *a, size_t alen, const char *b, size_t blen);

/* oracle.c */
enum { LINGER = 600000 }; /* how long an abandoned request is kept, as in the manual */
/* Whether the request is on its way or being worked on, and no end is known. */
bool oracle_lives(const struct oracle *oracle, const struct ask *ask);

/* Whether canceld answers it if the client does not: the server can still be written to. */
static inline bool
is_ours_late(const struct oracle *oracle, const struct ask *ask)
{
	return ask->ours_late && oracle->deaf_at == 0 && !oracle->shut;
}

/* The handshake was answered. */
void oracle_opened(struct oracle *oracle);

/*
 * oracle_person.c: the deadlines of a request that is heard, with those that a person has set;
 * whether he has set an idle one for its method.
 */
void oracle_limit(const struct oracle *oracle, struct ask *ask);
bool oracle_is_singled_out(const struct oracle *oracle, const struct ask *ask);

/* An answer to this request was heard. */
void oracle_heard_response(struct oracle *oracle, struct sent *sent, struct ask *ask);

/* How long the receiver may still take to answer after the cancel. */
int64_t oracle_grace(const struct oracle *oracle, const struct ask *ask);

/* oracle_restart.c: what passes from one server to the next. */
/* The answer to a setting was heard, or to what opened this session. */
void oracle_granted(struct oracle *oracle, const struct ask *ask, const char *session);
/* ACP: whether canceld has the session opened again. */
bool oracle_is_opening(const struct oracle *oracle, const char *session);
bool oracle_is_unopened(const struct oracle *oracle, const char *session);
/*
 * The agent says that the session has this mode now. true: the client is not told, as the one that
 * it has set is set again. Otherwise that one is not set again.
 */
bool oracle_mode_changes(struct oracle *oracle, const char *session, int mode);
/* The answer to a question of canceld's was heard. */
void oracle_own_answered(struct oracle *oracle, const struct sent *sent);
/* The first notice of a stream was heard; a later one. */
void oracle_heard_beginning(struct oracle *oracle, struct sent *sent, struct ask *ask);
void oracle_heard_stream(const struct oracle *oracle, struct sent *sent, const struct ask *ask);
/* The server reads a message that canceld has to repeat: true, and it is handled. */
bool oracle_got_again(struct oracle *oracle, int number, const char *text, size_t len);
/*
 * A side reads a message of the other: checks whether it comes from, or goes to, a server that has
 * gone.
 */
void oracle_check_life(struct oracle *oracle, int to, const struct sent *sent,
    const struct ask *ask);
/* The server reads an id: checks that it knows no other request by it. */
void oracle_check_own_ids(struct oracle *oracle, const char *wire);
void oracle_got_probe(struct oracle *oracle, const char *text, size_t len);
bool oracle_is_probe(const char *method);
/* true if the method is such a notification. */
bool oracle_got_list_change(struct oracle *oracle, const char *method);
/*
 * Whether canceld does not write it yet: because of a probe, or until the next server was told all.
 */
bool oracle_is_held(const struct oracle *oracle, const struct ask *ask);
/* canceld answers a request in place of a server that closed its stdin. */
void oracle_check_deaf(struct oracle *oracle, const struct ask *ask);
void oracle_end_restarts(struct oracle *oracle);

/* oracle_got.c */
/* The newest request of `by` that arrived under this id. */
struct ask *oracle_find_wire(struct oracle *oracle, int by, const char *id);
void oracle_got_cancel(struct oracle *oracle, struct ask *ask, const char *id);
/* A session/cancel has arrived, which canceld heard or wrote then. */
void oracle_got_turn_cancel(struct oracle *oracle, const char *session, uint64_t step);

/* oracle_beat.c: --heartbeat. A request is heard, or progress for it; what the client reads. */
void oracle_beat_put_off(struct oracle *oracle, struct ask *ask);
void oracle_beat_heard_progress(struct oracle *oracle, const struct sent *sent, struct ask *ask);
void oracle_beat_heard_late(struct oracle *oracle, const struct ask *ask);
void oracle_beat_check_value(struct oracle *oracle, struct ask *ask, double value);
void oracle_got_beat(struct oracle *oracle, json_t *message, const char *text, size_t len);

/* oracle_got.c: whether canceld may have forgotten that it was given up. */
bool oracle_may_be_forgotten(const struct oracle *oracle, const struct ask *ask);

/*
 * oracle_restart.c: whether the server waits for the client; since: on a request that was heard by
 * then.
 */
bool oracle_waits_for_client(const struct oracle *oracle, bool surely, int64_t since, int64_t from);

/*
 * oracle_ignore.c: canceld tells the server of a cancel; ask: -1: only of the turns of that
 * session.
 */
void oracle_ignore_told(struct oracle *oracle, int ask, const char *session);
/* The time of what idles may not pass at present. */
void oracle_ignore_pause(struct oracle *oracle, bool paused);
/* Progress for this request was heard. */
void oracle_ignore_heard(struct oracle *oracle, const struct ask *ask);

/* oracle_parallel.c: --parallel. A request of the client's was heard; the server reads one. */
void oracle_wants_place(struct oracle *oracle, struct ask *ask);
void oracle_takes_place(struct oracle *oracle, const struct ask *ask);
/* Whether it is awaited, the server has read nothing of it, and the next one would be sent it. */
bool oracle_may_repeat(const struct oracle *oracle, const struct ask *ask);

/*
 * -r: ... and canceld knows that of the server which is going now, so that it must be: it knows
 * where in what it has written each request begins.
 */
bool oracle_must_repeat(const struct oracle *oracle, const struct ask *ask);

/* Whether this message opens the session, so that nothing that was held may overtake it. */
bool oracle_opens(const struct oracle *oracle, int number);

/* oracle.c: whether the protocol lets the requester cancel it. */
bool oracle_may_cancel(const struct oracle *oracle, const struct ask *ask);

/* oracle_batch.c: all elements of a batch are heard; a cancel is heard, perhaps in one. */
void oracle_heard_batch(struct oracle *oracle, struct sent *batch);
/* Whether it goes ahead of what waits, as the server reads nothing else at present. */
void oracle_blocks_batch(struct oracle *oracle, struct sent *batch);
/* Whether it is in a batch that is for the present server alone: it answers, and asks nothing. */
bool oracle_is_bound(const struct oracle *oracle, const struct sent *sent);
void oracle_heard_vain_cancel(const struct oracle *oracle, struct sent *sent,
    const struct ask *ask);
/* Whether it passes only as it is in a batch, or as canceld may not know of what it is. */
bool oracle_is_vain(const struct oracle *oracle, const struct sent *sent, const struct ask *ask);
/* A side reads a batch, whose first element has that number; -1: none. */
void oracle_got_batch(struct oracle *oracle, int to, int first, json_t *array, const char *text,
    size_t len);
/* oracle_got.c: a side reads that message of the other one's. */
void oracle_got_message(struct oracle *oracle, int to, int number, json_t *message,
    const char *text, size_t len);

/* oracle_ack.c: canceld's answer to $/canceld/cancel, an error or a result. */
void oracle_got_refusal(struct oracle *oracle, struct ask *ack, json_t *error, json_t *data);
void oracle_got_acknowledgement(struct oracle *oracle, struct ask *ack, const char *text,
    size_t len);

/* oracle_own.c: a message of canceld's own. */
void oracle_got_own(struct oracle *oracle, int to, json_t *message, const char *text, size_t len);
