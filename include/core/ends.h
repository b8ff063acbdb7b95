#ifndef CORE_ENDS_H
#define CORE_ENDS_H

/*
 * What becomes of the requests when the server ends or reads no more, and when what passed as a response was none.
 */

#include "core/state.h"

/*
 * What has passed as the request's response is not its: it is what it was before. A cancel that came meanwhile goes out
 * now, and deadlines that have passed are due. It stays in the table.
 */
void ends_resume(struct session *session, enum side requester, struct request *request, const struct former *former);

/* The server has gone and a new one will come: open streams wait for the new one, all other requests are decided. */
void ends_lose_server(struct session *session);

/*
 * The server is deaf: gives it the grace to answer the requests that it has, and answers the others, unless they go to
 * the next server.
 */
void ends_deafen(struct session *session);

/* See session_server_owes. */
bool ends_server_owes(const struct session *session);

#endif
