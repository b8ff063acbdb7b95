#pragma once

/*
 * The clients that start servers on stdin and stdout: where their files are, where in a file the
 * servers are, and whether a client is running.
 */

#include "core/timeline.h"
#include "ctl/doc.h"

struct client {
	const char *id;   /* for the command line */
	const char *name; /* for people */
	/*
	 * These are lists, with ':' between their parts. Files: patterns as for glob(3), whose
	 * first part is ~ (the home directory), ^ (that of configurations), @ (the one where
	 * desktop applications have theirs), % (those of the users of editors made from Visual
	 * Studio Code), $NAME (a variable), or . (the project here). Servers: the objects whose
	 * members they are, as keys with "/" between them, '*' for any, and "/" alone for the whole
	 * file; NULL: mcpServers. Languages: the same of language servers. Timeouts: in a server,
	 * paths to its own limit for a call; NULL: timeout.
	 */
	const char *files, *servers, *languages, *timeouts;
	const char *alias; /* another id, or NULL */
	enum doc_grammar grammar;
	const char *everywhere; /* in the file: the limit of all servers; or NULL */
	/* of the limit, ms; 0: there is none; below least it is ignored */
	msec_t unit, least, built_in;
	/* the client rewrites this file while a process of its name runs: the name */
	const char *in_use;
	const char *in_use_file;
};

struct client_servers { /* zeroed: none */
	struct doc doc;
	struct doc_node **list; /* in their order in the file, or of the table's paths */
	size_t count;
};

struct client_file {
	const struct client *client;
	char *path; /* owned */
	/* in the current directory, which is not the home: may be someone else's work */
	bool project;
	struct client_servers servers; /* none until they are read */
	char fault[512];               /* why they could not be; empty: they could */
};

struct client_files { /* zeroed: none */
	struct client_file *list;
	size_t count;
};

/* The table, ended by a row without id. */
extern const struct client clients[];

/* The row of an id or alias, or NULL. */
const struct client *client_named(const char *id);

/* Adds the files that exist here, each once; client: NULL: of all. */
void clients_find(struct client_files *files, const struct client *client);

/*
 * Adds a file by its name. If it is no known client's file, it gets a row that looks for servers
 * wherever any client has them.
 */
void clients_add_named(struct client_files *files, const char *path);

/*
 * Adds the files of the client of this name, or the file of this name; NULL: the files of all
 * clients. Returns CTL_YES; or, if there are none, writes that to stderr and returns CTL_NO.
 */
int clients_look_up(struct client_files *files, const char *where);
void client_files_free(struct client_files *files);

/*
 * Reads a file of the client's. 0, or -1 with servers->doc.fault. Call client_servers_free in any
 * case.
 */
int client_read(const struct client *client, struct span text,
    struct client_servers *servers) MUST_USE;
void client_servers_free(struct client_servers *servers);

/*
 * The group of a server. Servers of the same name in one file are told apart as GROUP:NAME: by the
 * project in ~/.claude.json, agent_servers in Zed's file, lsp for language servers. Empty: it has
 * none.
 */
struct span client_group(const struct doc_node *server);

/* Whether it is a language server. */
bool client_is_language(const struct doc_node *server);

/* GROUP:NAME, or NAME without a group. The caller owns it. */
char *client_title(const struct doc_node *server);

/* Whether the word is the server's NAME, its GROUP:NAME or its GROUP. */
bool client_names(const char *word, const struct doc_node *server);

/*
 * How long the client itself waits for an answer of this server, in ms; MSEC_NEVER: it is not known
 * to give up.
 */
msec_t client_timeout(const struct client *client, const struct doc *doc,
    const struct doc_node *server);

/*
 * Whether this user runs the program `name`, or node with a script of that name, which would
 * overwrite its configuration file. Only a process counts whose HOME is `home` or unknown. False
 * where processes cannot be listed.
 */
bool client_running(const char *name, const char *home);

/*
 * The home directory: $HOME if it is absolute and ours, else that of the user database; "" if there
 * is none.
 */
const char *client_home(void);
