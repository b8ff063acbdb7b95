#include "questions.h"

enum { MINTED_FIRST = 1 << 30 };

struct id
questions_mint(struct session *session, enum side asker, bool string, char storage[MINTED_MAX])
{
	const struct pending *asked = &session->party[asker].pending;
	struct buf *text = &session->words;
	struct id id;

	do {
		buf_clear(text);
		compose_json(text, string ? "\"canceld-%d\"" : "%d",
		    (string ? 1 : MINTED_FIRST) + (int64_t)session->minted++);
		id = id_of(buf_span(text));
	} while (
	    pending_find(asked, id, NAME_ID) != NULL || pending_find(asked, id, NAME_WIRE) != NULL);
	id.text.ptr = memcpy(storage, id.text.ptr, id.text.len);
	return id;
}

bool
questions_has_minted(const struct session *session, struct span number)
{
	double value;

	return id_number(number, &value) && value >= (double)MINTED_FIRST &&
	    value < (double)MINTED_FIRST + session->minted;
}

struct request *
questions_add(struct session *session, enum side asker, const char *method, struct span token,
    bool string, msec_t time)
{
	char storage[MINTED_MAX], plain[ID_MAX];
	struct request like = {
		.method = span_of(method),
		.shown = unescaped(token, plain, sizeof(plain)),
		.token = id_of(token),
		.deadlines = { { .after = MSEC_NEVER }, { .after = time } },
	};
	struct request *question;

	like.id = questions_mint(session, asker, string, storage);
	question = pending_add(&session->party[asker].questions, &like, ID_NONE);
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
