#ifndef CTL_CLIENTS_H
#define CTL_CLIENTS_H

/* The clients that start servers on stdin and stdout: where their files are, and what stands where in them. */

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "ctl/doc.h"

enum { CLIENT_FILES = 8, CLIENT_PATHS = 8 };

enum client_syntax {
	CLIENT_JSONC,
	CLIENT_TOML,
	CLIENT_YAML, /* is found, and not read */
};

struct client {
	const char *id, *alias; /* for the command line; alias may be NULL */
	const char *name;       /* for people */
	enum client_syntax syntax;
	/*
	 * Patterns as for glob(3). The first part is ~ (the home directory), ^ (that of configurations), % (those of the
	 * users of editors made from Visual Studio Code), $NAME (a variable), or . (the project here).
	 */
	const char *files[CLIENT_FILES];
	const char *servers[CLIENT_PATHS]; /* objects whose members are servers; "/" between keys, '*' is any key */
	const char *timeout;               /* in a server: the path to its own limit for a call; or NULL */
	const char *everywhere;            /* in the file: the same for all servers, in the same unit; or NULL */
	msec_t unit, least, built_in;      /* of the limit, ms; below least it is ignored; 0: there is none */
	const char *in_use; /* the client rewrites this file while a process of its name runs: the name */
	const char *in_use_file;
};

struct client_file {
	const struct client *client;
	char *path;   /* owned */
	bool project; /* in the current directory: may be someone else's work */
};

struct client_files { /* zeroed: none */
	struct client_file *list;
	size_t count;
};

struct client_servers { /* zeroed: none */
	struct doc_node **list;
	size_t count;
};

/* The table, ended by a row without id. */
extern const struct client clients[];

/* The row of an id or alias, or NULL. */
const struct client *client_named(const char *id);

/* Adds the files that exist here; client: NULL: of all. */
void clients_find(struct client_files *files, const struct client *client);

/* Adds one file, unless it is there already. path is copied. */
void clients_add(struct client_files *files, const struct client *client, const char *path, bool project);
void client_files_free(struct client_files *files);

/* What client a file belongs to: of unknown ones a row that looks for servers wherever any client has them. */
const struct client *client_of_file(const char *path);

/* Adds the servers of a file in their order; free(servers->list). */
void client_servers(const struct client *client, const struct doc *doc, struct client_servers *servers);

/* How long the client itself waits for an answer of this server, in ms; MSEC_NEVER: it is not known to give up. */
msec_t client_timeout(const struct client *client, const struct doc *doc, const struct doc_node *server);

/* The home directory: $HOME if it is absolute and ours, else that of the user database; "" if there is none. */
const char *client_home(void);

#endif
