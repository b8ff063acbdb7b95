#pragma once

/* A server of a client's file, as the client starts it. */

#include "ctl/change.h"

struct configured {     /* zeroed: none */
	char **options; /* of the canceld before its command that wrap has put there; owned */
	char **command; /* the server's own; owned */
	bool language;  /* it is a language server */
};

enum { FAULT_SIZE = 512 };

/* Reads a file, which is within that directory (NULL: anywhere). 0, or -1 with the fault. Call client_servers_free. */
int configured_load(const struct client_file *file, const char *within, struct client_servers *servers,
    char fault[FAULT_SIZE]) __attribute__((warn_unused_result));

/* Tells that no server of these files has the name, and which is nearest. CTL_NO. */
int configured_unknown(const struct client_files *files, const char *name);

/*
 * Looks up CLIENT:SERVER or FILE:SERVER, and takes over what its client sets for the server: variables, and the directory. What
 * the client fills in is filled in from the environment.
 * by_hand: a canceld that stands there by hand is part of the command; else that is refused. Where it cannot be started,
 * that is told, and the program ends. Call configured_free.
 */
void configured_read(struct configured *server, const char *word, bool by_hand);
void configured_free(struct configured *server);
