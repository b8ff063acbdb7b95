#ifndef SIM_ORACLE_INSIDE_H
#define SIM_ORACLE_INSIDE_H

/* What the parts of the oracle share. */

#include <jansson.h>

#include "oracle.h"

/* look.c */
/* The raw text of the id, which our peers put first or last. */
void look_raw_id(const char *text, size_t len, char *out, size_t size);
/* The raw text of the first member of that name. */
void look_raw_member(const char *text, size_t len, const char *key, char *out, size_t size);
const char *look_text(json_t *object, const char *key);
/* The id, as text that tells types apart. */
void look_spell(json_t *value, char *out, size_t size);
bool look_same_id(const char *a, const char *b);
bool look_same_text(const char *a, const char *b);
/* Compares all but what may be replaced under a fresh id. */
bool look_same_but_names(const char *a, size_t alen, const char *b, size_t blen);

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
