#pragma once

#include "party.h"

/*
 * The result that --answer has for this request of the server's; NULL: none. *items: how often the
 * only element of that result is repeated, in a METHOD_EACH once for each of params.items; or
 * ANSWER_AS_IT_IS. A result that becomes longer than LIMIT_ANSWER counts as none.
 */
enum { ANSWER_AS_IT_IS = -1 };
const char *answers_find(const struct message *message, unsigned traits, int *items);

/* The result as it is sent; written to the text if it is repeated. */
struct span answers_result(struct buf *text, const char *result, int items);

/* Whether --answer has a result for the request, and the server can still be sent it. */
static inline bool
answers_has(const struct outlet *outlet, const struct request *request)
{
	return request->answer != NULL && outlet_may_write(outlet, SIDE_SERVER);
}

/*
 * Whether an answer would help the server: it waits for one of the client's (not of a person's), or
 * may hang because it was refused one. Appends the option that would give it the oldest such
 * answer.
 */
bool answers_would_help(const struct party *server, struct buf *text);

/*
 * Whether the client's answer, the message, says that it does not know the request's method, and
 * --answer has a result for it. If it has none, remembers that the server was refused one.
 */
bool answers_refused(const struct message *message, const struct request *request);
