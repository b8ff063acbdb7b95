#pragma once

/* A server of a client's file, as the client starts it. */

#include "ctl/change.h"

struct configured {     /* zeroed: none */
	char **options; /* of the canceld before its command that wrap has put there; owned */
	char **command; /* the server's own; owned */
	bool language;  /* it is a language server */
};

/*
 * Reads the servers of a file, which is within that directory (NULL: anywhere); or sets its fault.
 */
void configured_load(struct client_file *file, const char *within);

/*
 * Tells that no server of these files has the name, or has it with the same --lsp, and which is
 * nearest. CTL_NO.
 */
int configured_unknown(struct client_files *files, const char *name);

/*
 * Looks up CLIENT:SERVER or FILE:SERVER, one without a group first of all, and takes over what its
 * client sets for the server: variables, and the directory. What the client fills in is filled in
 * from the environment, but for ${workspaceFolder} of a file in .vscode: that is where it is.
 * by_hand: a canceld that stands there by hand is part of the command; else that is refused. Where
 * it cannot be started, that is told, and the program ends. Call configured_free.
 */
void configured_read(struct configured *server, const char *word, bool by_hand);
void configured_free(struct configured *server);
