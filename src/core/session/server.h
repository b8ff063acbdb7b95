#pragma once

/* What the session knows of the server: struct server is in core/session.h. */

#include "core/session.h"

/* Sets the life. SERVER_AWAY also resets what was true of the former server only. */
void server_enter(struct server *server, enum server_life life);

/* A line of text on the server's stdout, without its newline. */
void server_note_said(struct server *server, struct span text);

/*
 * Adds a line to the text that explains why no session was open: the server's first text in a
 * message's place, or the last words of a server before it. It stays at the beginning of what is
 * quoted, until this server has served.
 */
void server_keep_said(struct server *server, struct span text);

/*
 * What text on the stdout of a server that has not served looks like, as part of a sentence; NULL:
 * like text. whole: it was a whole frame.
 */
const char *server_looks_like(const struct server *server, enum framing framing, struct span text,
    bool whole);

/* The server has answered a request: what was said before explains nothing any more. */
void server_serves(struct server *server);

/*
 * No server will read what is sent from now on: it has gone for good, or is deaf and the last one.
 */
static inline bool
server_takes_nothing(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_GONE;
}

/* The server has closed its stdin and runs on. */
static inline bool
server_is_deaf(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_RETIRED;
}

/* The server is new and the replay to it has not ended. */
static inline bool
server_is_replaying(const struct server *server)
{
	return server->life >= SERVER_HANDSHAKE && server->life <= SERVER_SETTINGS;
}

/*
 * Whether new messages of the client's are kept from the server, except those that it may need to
 * go on.
 */
static inline bool
server_is_blocked(const struct server *server)
{
	return server->probe != NULL || server->life == SERVER_STUCK || server_is_replaying(server);
}

/*
 * The newest question of the server's to the client, from this one back, for whose answer the
 * server may wait; NULL: there is none. See excuse in struct server.
 */
static inline const struct request *
server_excuse(const struct server *server, const struct request *question)
{
	for (; question != NULL && question->serial >= server->next; question = question->older)
		if (request_is_awaited(question))
			return question;
	return NULL;
}
