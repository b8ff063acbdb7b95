#include "core/inside.h"

#include <string.h>

enum { MINTED_FIRST = 1 << 30, MINTED_DIGITS = 10 };

void
questions_init(struct questions *questions, uint64_t seed)
{
	pending_init(&questions->asked[SIDE_CLIENT], SIDE_CLIENT, seed);
	pending_init(&questions->asked[SIDE_SERVER], SIDE_SERVER, seed);
	questions->minted = 0;
}

void
questions_free(struct questions *questions)
{
	pending_free(&questions->asked[SIDE_CLIENT]);
	pending_free(&questions->asked[SIDE_SERVER]);
}

struct span
questions_mint(struct session *session, enum side asker, bool string, char storage[MINTED_MAX])
{
	struct questions *questions = &session->questions;
	struct span minted = { storage, 0 };
	struct buf text;

	buf_init(&text);
	do {
		buf_clear(&text);
		compose(&text, string ? "'canceld-%d'" : "%d",
		    (string ? 1 : MINTED_FIRST) + (int64_t)questions->minted++);
	} while (pending_holds(&session->party[asker].pending, buf_span(&text)) ||
	    pending_holds(&questions->asked[asker], buf_span(&text)));
	minted.len = text.len;
	memcpy(storage, buf_span(&text).ptr, text.len);
	buf_free(&text);
	return minted;
}

bool
questions_has_minted(const struct session *session, struct span number)
{
	int64_t value = 0;
	size_t i;

	if (number.len == MINTED_DIGITS + 2 && number.ptr[0] == '"') /* its peer spells numbers as strings */
		number = span_part(number, 1, MINTED_DIGITS);
	for (i = 0; i < number.len && number.len == MINTED_DIGITS; i++) {
		if (number.ptr[i] < '0' || number.ptr[i] > '9')
			return false;
		value = value * 10 + (number.ptr[i] - '0');
	}
	return value >= MINTED_FIRST && value - MINTED_FIRST < session->questions.minted;
}

struct request *
questions_add(struct session *session, enum side asker, enum question kind, const char *method, bool string,
    msec_t time)
{
	struct pending *asked = &session->questions.asked[asker];
	msec_t now = session->clocks.steady;
	char storage[MINTED_MAX];
	struct pending_names names = { .method = span_of(method), .flags = kind };
	struct request *question;

	names.id = questions_mint(session, asker, string, storage);
	question = pending_add(asked, &names);
	pending_set_deadlines(question, MSEC_NEVER, time, now, now);
	return question;
}

struct request *
questions_find(const struct session *session, enum side asker, struct span id)
{
	const struct pending *asked = &session->questions.asked[asker];

	return asked->count > 0 ? pending_by_wire(asked, id) : NULL;
}

struct request *
questions_loosely(struct session *session, enum side asker, struct span id)
{
	struct pending *asked = &session->questions.asked[asker];

	return asked->count > 0 ? pending_loosely(asked, id) : NULL;
}
