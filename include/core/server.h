#ifndef CORE_SERVER_H
#define CORE_SERVER_H

/* The server as the session sees it: what it can be told now, and how the last one ended. */

#include <stdbool.h>

#include "core/buf.h"

enum server_life {
	SERVER_OPEN,      /* it takes messages */
	SERVER_STUCK,     /* it does not answer at all, or refused the replay: it is to be ended */
	SERVER_DEAF,      /* it closed its stdin; it may still answer what it has */
	SERVER_AWAY,      /* it has gone, and another one will be started */
	SERVER_HANDSHAKE, /* a new one was told what opened the session, and has not answered */
	SERVER_SETTINGS,  /* ... it has, and was told the settings */
	SERVER_GONE,      /* it has gone for good */
};

struct server {
	enum server_life life;
	bool served;    /* this one has answered a request of the client's */
	bool restarted; /* it is not the first one */
	bool given_up;  /* no other one will be started: they have failed too often */
	bool closed;    /* the client has told it to end */
	int status;     /* of the last one that ended; -1: unknown, as signal */
	int signal;
	struct buf quote;   /* its last words, valid UTF-8 */
	struct buf refusal; /* why the last one did not go on with the session; empty: it did */
};

void server_init(struct server *server);
void server_free(struct server *server);

/* It enters this part of its life: SERVER_AWAY forgets what held for the former one only. */
void server_enter(struct server *server, enum server_life life);

/* It has ended, and is AWAY or GONE. status, signal: -1: unknown. */
void server_end(struct server *server, enum server_life life, int status, int signal);

void server_note_served(struct server *server);
void server_note_closed(struct server *server);
void server_give_up(struct server *server);

/* Keeps the end of these words, any bytes, with `?` for what is not UTF-8. */
void server_quote(struct server *server, struct span words);

/* Keeps the reason why this server does not go on with the session; empty: it does. */
void server_refuse(struct server *server, struct span words);

/* It will read nothing any more. */
static inline bool
server_is_gone(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_GONE;
}

/* It is a new one that is being told what it has to know. */
static inline bool
server_is_replaying(const struct server *server)
{
	return server->life == SERVER_HANDSHAKE || server->life == SERVER_SETTINGS;
}

#endif
