#include "questions.h"

enum { MINTED_FIRST = 1 << 30 };

struct id
questions_mint(struct party *asker, bool string, char storage[MINTED_MAX])
{
	struct buf *text = &asker->outlet->words;
	struct id id;

	do {
		buf_clear(text);
		compose_json(text, string ? "\"canceld-%d\"" : "%d",
		    (string ? 1 : MINTED_FIRST) + (int64_t)asker->outlet->minted++);
		id = id_of(buf_span(text));
	} while (pending_find(&asker->pending, id, NAME_ID) != NULL);
	id.text.ptr = memcpy(storage, id.text.ptr, id.text.len);
	return id;
}

bool
questions_has_minted(const struct outlet *outlet, struct span number)
{
	double value;

	return id_number(number, &value) && value >= (double)MINTED_FIRST &&
	    value < (double)MINTED_FIRST + outlet->minted;
}

struct request *
questions_add(struct party *asker, const char *method, struct span token, bool string, msec_t time)
{
	char storage[MINTED_MAX], plain[ID_MAX];
	struct request like = {
		.method = span_of(method),
		.shown = unescaped(token, plain, sizeof(plain)),
		.token = id_of(token),
		.deadlines = { { .after = MSEC_NEVER }, { .after = time } },
	};
	struct request *question;

	like.id = questions_mint(asker, string, storage);
	question = pending_add(&asker->questions, &like, ID_NONE);
	pending_begin(question);
	return question;
}

struct request *
questions_find(const struct party *party, struct id id)
{
	const struct pending *asked = &party->questions;
	struct request *question;

	if (asked->count == 0)
		return NULL;
	question = pending_find(asked, id, NAME_WIRE);
	return question != NULL ? question : pending_alike(asked, id, NAME_WIRE);
}
