#pragma once

/* A server of a client's file, as the client starts it. */

#include "ctl/clients.h"

struct configured {     /* zeroed: none */
	char **options; /* of the canceld before its command that wrap has put there */
	char **command; /* the server's own */
	bool language;  /* it is a language server */
};

/*
 * Reads the servers of a file, which must be within that directory (NULL: anywhere). If it cannot
 * be read, sets the file's fault.
 */
void configured_load(struct client_file *file, const char *within);

/*
 * Writes to stderr that no server in these files has the name; or that --lsp would have to be added
 * or left out; or which name is nearest. Returns CTL_NO.
 */
int configured_unknown(struct client_files *files, const char *name);

/*
 * Looks up CLIENT:SERVER or FILE:SERVER, where a server without a group goes before others of its
 * name, and takes over what the client sets for the server: variables, and the directory. Where the
 * client would fill something in, this does, from the environment; but ${workspaceFolder} of a file
 * in .vscode is the folder with that .vscode. by_hand: if canceld was put before the command by
 * hand, it is taken as a part of the command; otherwise that is refused. If the server cannot be
 * started, says so and ends the program. What it finds stays until the program ends.
 */
void configured_read(struct configured *server, const char *word, bool by_hand);
