#ifndef CORE_QUESTIONS_H
#define CORE_QUESTIONS_H

/*
 * Questions: requests of canceld's own, asked in one side's place and not answered yet: a probe, a replayed request,
 * the cancel of a task. Their answers do not pass. This module also mints the ids and tokens that canceld makes.
 */

#include <stdbool.h>

#include "core/journal.h"
#include "core/pending.h"

enum question {                         /* beside enum request_flag */
	QUESTION_PROBE = 1 << 16,       /* is the server alive? */
	QUESTION_REPLAY = 1 << 17,      /* a request that the client had sent to the former server */
	QUESTION_TASK_CANCEL = 1 << 18, /* MCP tasks/cancel */
};

enum { MINTED_MAX = 32 }; /* bytes of a minted id, at most */

struct questions {
	/*
	 * By the side in whose place it was asked. Each question is WAITING, with its enum question as flags, its
	 * deadline in `hard` and the duration of that as cap_after.
	 */
	struct pending asked[2];
	uint32_t minted; /* how many ids were minted */
};

void questions_init(struct questions *questions, uint64_t seed);
void questions_free(struct questions *questions);

/*
 * A fresh id: no entry of `pending`, which are the requests of that side, has it, and no question in that side's place.
 * A string, or a number that fits into int32 and is far from where clients start to count. Written to storage.
 */
struct span questions_mint(struct questions *questions, enum side asker, const struct pending *pending, bool string,
    char storage[MINTED_MAX]);

/* The number was minted by questions_mint. */
bool questions_has_minted(const struct questions *questions, struct span number);

/* Adds a question in the place of `asker`, whose requests are `pending`, under a fresh id; due `time` ms after now. */
struct request *questions_add(struct questions *questions, enum side asker, const struct pending *pending,
    enum question kind, const char *method, bool string, msec_t time, msec_t now);

/* The question in that side's place that a response with this id answers; or NULL. */
struct request *questions_find(const struct questions *questions, enum side asker, struct span id);

/* The only question in that side's place whose id is the same number as this id, but spelled differently; or NULL. */
struct request *questions_loosely(struct questions *questions, enum side asker, struct span id);

static inline enum question
question_kind(const struct request *question)
{
	return (enum question)question->flags;
}

#endif
