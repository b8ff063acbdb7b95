#ifndef CORE_QUESTIONS_H
#define CORE_QUESTIONS_H

/*
 * What canceld itself has asked in one side's place and waits for: a probe, a replayed request, the cancel of a task. The answers
 * are swallowed. And the ids and tokens that canceld makes.
 */

#include <stdbool.h>

#include "core/journal.h"
#include "core/pending.h"

enum question {                         /* beside enum request_flag */
	QUESTION_PROBE = 1 << 16,       /* is the server alive? */
	QUESTION_REPLAY = 1 << 17,      /* what the client had said to the former server */
	QUESTION_TASK_CANCEL = 1 << 18, /* MCP tasks/cancel */
};

enum { MINTED_MAX = 32 }; /* bytes of a minted id, at most */

struct questions {
	/*
	 * By the side in whose place it was asked: WAITING, each with its enum question as flags, its deadline in `hard` and
	 * the duration of that as cap_after.
	 */
	struct pending asked[2];
	uint32_t minted; /* how many ids were made */
};

void questions_init(struct questions *questions, uint64_t seed);
void questions_free(struct questions *questions);

/*
 * An id that no entry of `pending`, the requests of that side, has, and no question in its place: a string, or a number within int32 and far from where clients count.
 * Written to storage.
 */
struct span questions_mint(struct questions *questions, enum side asker, const struct pending *pending, bool string,
    char storage[MINTED_MAX]);

/* The number was given by questions_mint. */
bool questions_has_minted(const struct questions *questions, struct span number);

/* A new question in the place of `asker`, whose requests are `pending`, under a fresh id; due `time` ms after now. */
struct request *questions_add(struct questions *questions, enum side asker, const struct pending *pending,
    enum question kind, const char *method, bool string, msec_t time, msec_t now);

/* The question in that side's place which a response with this id answers; or NULL. */
struct request *questions_find(const struct questions *questions, enum side asker, struct span id);

static inline enum question
question_kind(const struct request *question)
{
	return (enum question)question->flags;
}

#endif
