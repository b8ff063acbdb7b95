#ifndef CORE_ENDS_H
#define CORE_ENDS_H

/*
 * What becomes of the requests when the server ends or reads no more, and when a response has passed as that of the
 * wrong request.
 */

#include "core/state.h"

/*
 * The response that has passed belongs to another request: this one is again what it was before, with its deadlines. A
 * cancel that came meanwhile goes out now, and the end of a side that came meanwhile is decided now. It stays in the
 * table.
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
