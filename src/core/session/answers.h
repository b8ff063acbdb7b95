#pragma once

#include "state.h"

/*
 * The result that --answer has for this request of the server's; NULL: none. *items: how often the
 * one element of that is repeated, in a METHOD_EACH once for each of params.items; or
 * ANSWER_AS_IT_IS. More than LIMIT_ANSWER is none.
 */
enum { ANSWER_AS_IT_IS = -1 };
const char *answers_find(const struct session *session, const struct message *message,
    unsigned traits, int64_t *items);

/* That result as it is sent; valid until session->words is used again. */
struct span answers_result(struct session *session, const char *result, int64_t items);

/* Whether --answer has a result for the request, and the server can still be sent it. */
static inline bool
answers_has(const struct session *session, const struct request *request)
{
	return request->answer != NULL && state_may_write(session, SIDE_SERVER);
}

/*
 * Whether the server waits for an answer of the client's, of no person's, or may hang as it was
 * refused one; appends what would give the oldest, or that.
 */
bool answers_would_help(const struct session *session, struct buf *text);

/*
 * The client's own answer, in the message: whether it says that it does not know the request's
 * method, and --answer has an answer. If it has none, the server is noted to be refused one.
 */
bool answers_refused(struct session *session, const struct message *message,
    const struct request *request);
