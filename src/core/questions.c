#include "core/questions.h"

#include <string.h>

#include "core/compose.h"

enum { MINTED_FIRST = 1 << 30, MINTED_DIGITS = 10 };

void
questions_init(struct questions *questions, uint64_t seed)
{
	pending_init(&questions->asked[SIDE_CLIENT], seed);
	pending_init(&questions->asked[SIDE_SERVER], seed);
	questions->minted = 0;
}

void
questions_free(struct questions *questions)
{
	pending_free(&questions->asked[SIDE_CLIENT]);
	pending_free(&questions->asked[SIDE_SERVER]);
}

static struct span
mint(uint32_t count, bool string, char storage[MINTED_MAX])
{
	struct buf text;
	size_t len;

	buf_init(&text);
	if (string)
		buf_append(&text, SPAN("\"canceld-"));
	compose_number(&text, (string ? 1 : MINTED_FIRST) + (int64_t)count);
	if (string)
		buf_append(&text, SPAN("\""));
	len = text.len;
	memcpy(storage, buf_span(&text).ptr, len);
	buf_free(&text);
	return (struct span){ storage, len };
}

struct span
questions_mint(struct questions *questions, enum side asker, const struct pending *pending, bool string,
    char storage[MINTED_MAX])
{
	struct span minted;

	do
		minted = mint(questions->minted++, string, storage);
	while (pending_holds(pending, minted) || pending_holds(&questions->asked[asker], minted));
	return minted;
}

bool
questions_has_minted(const struct questions *questions, struct span number)
{
	uint32_t value = 0;
	size_t i;

	if (number.len != MINTED_DIGITS || number.ptr[0] != '1')
		return false;
	for (i = 0; i < number.len; i++)
		value = value * 10 + (uint32_t)(number.ptr[i] - '0');
	return value >= MINTED_FIRST && value - MINTED_FIRST < questions->minted;
}

struct request *
questions_add(struct questions *questions, enum side asker, const struct pending *pending, enum question kind,
    const char *method, bool string, msec_t time, msec_t now)
{
	struct pending *asked = &questions->asked[asker];
	char storage[MINTED_MAX];
	struct pending_names names = { .method = span_of(method), .flags = kind };
	struct request *question;

	names.id = names.wire_id = questions_mint(questions, asker, pending, string, storage);
	question = pending_add(asked, &names);
	question->received = now;
	question->cap_after = time;
	alarm_arm(&asked->hard, &question->hard, time, now);
	return question;
}

struct request *
questions_find(const struct questions *questions, enum side asker, struct span id)
{
	const struct pending *asked = &questions->asked[asker];

	return asked->count > 0 ? pending_by_wire(asked, id) : NULL;
}
