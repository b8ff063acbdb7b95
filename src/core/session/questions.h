#pragma once

#include "party.h"

/*
 * Questions: requests of canceld's own, asked in one side's place and not answered yet: a probe, a
 * replayed request, the cancel of a task. Their answers do not pass.
 */

enum { MINTED_MAX = 32 }; /* bytes of a minted id, at most */

/*
 * Makes a fresh id, which no request and no question of that side has: a string, or a number that
 * fits into int32 and is far from where clients start to count. It is written to storage.
 */
struct id questions_mint(struct party *asker, bool string, char storage[MINTED_MAX]);

/* The number was minted by questions_mint. */
bool questions_has_minted(const struct outlet *outlet, struct span number);

/*
 * Adds a question in the place of `asker`, under a fresh id, due `time` ms from now. token: as
 * spelled; or empty.
 */
struct request *questions_add(struct party *asker, const char *method, struct span token,
    bool string, msec_t time);

/*
 * The question in this side's place that a response with this id, or one that may be spelled so,
 * answers; or NULL.
 */
struct request *questions_find(const struct party *party, struct id id);
