#ifndef CORE_SERVER_H
#define CORE_SERVER_H

/* The server as the session sees it: what can be sent to it now, and how the last process ended. */

#include <stdbool.h>

#include "core/buf.h"

enum server_life {
	SERVER_OPEN,      /* it takes messages */
	SERVER_STUCK,     /* it does not answer, or refused the replay: the shell has to end it */
	SERVER_DEAF,      /* it closed its stdin and runs on; it may still answer what it has */
	SERVER_RETIRED,   /* ... and a new one will follow */
	SERVER_AWAY,      /* it has gone; a new one will be started */
	SERVER_HANDSHAKE, /* a new one was sent the handshake, and has not answered */
	SERVER_SETTINGS,  /* ... it has answered, and was sent the settings */
	SERVER_GONE,      /* it has gone for good */
};

struct server {
	enum server_life life;
	bool served;    /* this one has answered a request of the client's */
	bool restarted; /* it is not the first server */
	bool given_up;  /* no further server will be started: they have failed too often */
	bool closed;    /* the client has told it to end */
	bool shut;      /* canceld has closed its stdin, to end it */
	bool unstarted; /* there never was one, and there will be none */
	int status;     /* exit status of the last server that ended; -1: unknown, as for signal */
	int signal;
	struct buf said;    /* the last lines of text on its stdout */
	struct buf quote;   /* the last bytes of said and of its stderr, as valid UTF-8 */
	struct buf refusal; /* why the last server could not continue the session; empty: it could */
};

void server_init(struct server *server);
void server_free(struct server *server);

/* Sets the life. SERVER_AWAY also resets what was true of the former server only. */
void server_enter(struct server *server, enum server_life life);

/* The server has ended; life is AWAY or GONE. status, signal: -1: unknown. */
void server_end(struct server *server, enum server_life life, int status, int signal);

void server_note_served(struct server *server);
void server_note_closed(struct server *server);
void server_note_shut(struct server *server);
void server_give_up(struct server *server);
void server_note_unstarted(struct server *server);

/* A line of text on the server's stdout, without its newline. */
void server_note_said(struct server *server, struct span text);

/*
 * Keeps the end of what the server said on its stdout, followed by these bytes, with `?` for what is not UTF-8. If both
 * are too long together, these bytes have precedence.
 */
void server_quote(struct server *server, struct span words);

/* Keeps the reason why this server does not continue the session, likewise with `?`; empty: it does. */
void server_refuse(struct server *server, struct span words);

/* No server will read what is sent from now on. */
static inline bool
server_is_gone(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_GONE;
}

/* The server has closed its stdin and runs on. */
static inline bool
server_is_deaf(const struct server *server)
{
	return server->life == SERVER_DEAF || server->life == SERVER_RETIRED;
}

/* The server may write, and nothing more can be written to it: it or canceld has closed its stdin. */
static inline bool
server_is_unreachable(const struct server *server)
{
	return server_is_deaf(server) || server->shut;
}

/* The server is new and the replay to it has not ended. */
static inline bool
server_is_replaying(const struct server *server)
{
	return server->life == SERVER_HANDSHAKE || server->life == SERVER_SETTINGS;
}

#endif
