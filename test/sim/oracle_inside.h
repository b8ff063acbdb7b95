#ifndef SIM_ORACLE_INSIDE_H
#define SIM_ORACLE_INSIDE_H

/* What the parts of the oracle share. */

#include <jansson.h>

#include "oracle.h"

enum { HELD = 64 << 10 }; /* the manual: what is read whole */

/* jsontext.c */
/* The raw text of the id, which our peers put first or last. */
void jsontext_raw_id(const char *text, size_t len, char *out, size_t size);
/* The raw text of the first member of that name. */
void jsontext_raw_member(const char *text, size_t len, const char *key, char *out, size_t size);
const char *jsontext_text(json_t *object, const char *key);
/* The id, as text that tells types apart. */
void jsontext_spell(json_t *value, char *out, size_t size);
bool jsontext_same_id(const char *a, const char *b);
bool jsontext_same_text(const char *a, const char *b);
/* Compares all but what may be replaced under a fresh id. */
/* ... all but the id, to the byte. */
bool jsontext_same_but_id(const char *a, size_t alen, const char *b, size_t blen);
bool jsontext_same_but_names(const char *a, size_t alen, const char *b, size_t blen);

/* oracle.c */
/* It is on its way, or works, and nothing is known of an end. */
bool oracle_lives(const struct oracle *oracle, const struct ask *ask);
/* How long its receiver may take to answer it once it was cancelled. */
int64_t oracle_grace(const struct oracle *oracle, const struct ask *ask);

/* oracle_restart.c: what one server leaves to the next. */
/* The answer to a request that lasts was heard. */
void oracle_granted(struct oracle *oracle, const struct ask *ask);
/* ... to a question of canceld's own. */
void oracle_own_answered(struct oracle *oracle, const struct sent *sent);
/* The first notice of a stream was heard. */
void oracle_heard_beginning(struct oracle *oracle, struct sent *sent, struct ask *ask);
/* The server reads what canceld has to repeat: true, and it is dealt with. */
bool oracle_got_again(struct oracle *oracle, int number, const char *text, size_t len);
/* Someone reads a message of the other peer: does it come from, or go to, a server that has gone? */
void oracle_check_life(struct oracle *oracle, int to, const struct sent *sent, const struct ask *ask);
/* An id that the server reads: does it know another request by it? */
void oracle_check_own_ids(struct oracle *oracle, const char *wire);
void oracle_got_probe(struct oracle *oracle, const char *text, size_t len);
bool oracle_is_probe(const char *method);
/* true if it is the name of such a notification. */
bool oracle_got_list_change(struct oracle *oracle, const char *method);
void oracle_end_restarts(struct oracle *oracle);

/* oracle_got.c */
/* The newest request of `by` that arrived under this id. */
struct ask *oracle_find_wire(struct oracle *oracle, int by, const char *id);
void oracle_got_cancel(struct oracle *oracle, struct ask *ask, const char *id);
/* A session/cancel has arrived, which canceld heard or wrote then. */
void oracle_got_turn_cancel(struct oracle *oracle, const char *session, uint64_t step);

/* oracle_ack.c: canceld's answer to $/canceld/cancel, an error or a result. */
void oracle_got_refusal(struct oracle *oracle, struct ask *ack, json_t *error, json_t *data);
void oracle_got_acknowledgement(struct oracle *oracle, struct ask *ack, const char *text, size_t len);

/* oracle_own.c: a message of canceld's own. */
void oracle_got_own(struct oracle *oracle, int to, json_t *message, const char *text, size_t len);

#endif
