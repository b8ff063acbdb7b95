#include "ctl/configured.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/replace.h"

/* The search for one. */
struct search {
	const char *word, *name; /* what was typed; the server's part of it */
	bool by_hand;
	struct configured *server;
	const struct client_file *file; /* the first that has it */
	bool taking;                    /* the one that was found */
	int found;                      /* servers of this name */
	int status;                     /* of the last file that cannot be read, then of the server that was taken */
};

/* Only the client knows what it puts in place of ${NAME}, or {env:NAME}. */
static bool
is_filled_in(const char *text)
{
	return strstr(text, "${") != NULL || strstr(text, "{env:") != NULL || strstr(text, "{file:") != NULL;
}

static int
refuse(const struct search *search, const char *why)
{
	return ctl_no("%.300s: %s", search->word, why);
}

static const char unknown[] = "only its client knows the variables it sets: set them, and give its command behind --";

static int
take_variables(const struct search *search, const struct doc_node *variables)
{
	const struct doc_node *variable = variables != NULL ? variables->first : NULL;

	for (; variable != NULL; variable = variable->next) {
		if (variable->kind != DOC_STRING || is_filled_in(variable->text.ptr))
			return refuse(search, unknown);
		if (setenv(variable->key.name.ptr, variable->text.ptr, true) != 0)
			return refuse(search, "a variable has no name");
	}
	return CTL_YES;
}

static int
take(const struct search *search, const struct doc_node *node)
{
	struct configured *server = search->server;
	struct entry entry = entry_read(node);
	const struct doc_node *directory = doc_at(node, "cwd");
	int status;

	if (entry.why != NULL && (entry.state != ENTRY_BY_HAND || !search->by_hand))
		return refuse(search, entry.why);
	if (entry.state == ENTRY_WRAPPED)
		server->options = entry_words(&entry, entry.marker->next, entry.dashes);
	server->command = entry_words(&entry, entry.program, NULL);
	for (char **word = server->command; *word != NULL; word++)
		if (is_filled_in(*word))
			return refuse(search, "only its client knows its whole command: give it behind --");
	if (doc_at(node, "envFile") != NULL)
		return refuse(search, unknown);
	status = take_variables(search, doc_at(node, "env"));
	if (status == CTL_YES)
		status = take_variables(search, doc_at(node, "environment"));
	if (status == CTL_YES && directory != NULL && directory->kind == DOC_STRING && chdir(directory->text.ptr) != 0)
		return ctl_no("%.300s: %.300s: %s", search->word, directory->text.ptr, strerror(errno));
	return status;
}

static void
search_file(struct search *search, const struct client_file *file)
{
	struct client_servers servers = { 0 };
	struct replace contents;

	if (replace_read(&contents, file->path, NULL) == -1)
		search->status = ctl_no("%s: %s", file->path, contents.fault);
	else if (client_read(file->client, buf_span(&contents.text), &servers) == -1)
		search->status = ctl_no("%s: %s", file->path, servers.doc.fault);
	for (size_t i = 0; i < servers.count; i++) {
		if (!client_names(search->name, servers.list[i]))
			continue;
		if (search->taking)
			search->status = take(search, servers.list[i]);
		else if (search->found++ == 0)
			search->file = file;
	}
	client_servers_free(&servers);
	replace_free(&contents);
}

void
configured_read(struct configured *server, const char *word, bool by_hand)
{
	struct search search = { .word = word, .name = strchr(word, ':'), .by_hand = by_hand, .server = server };
	struct client_files files = { 0 };
	char *where;

	*server = (struct configured){ 0 };
	if (search.name == NULL)
		exit(ctl_usage("which server? its command behind --, or CLIENT:SERVER; '%.200s' has no colon", word));
	where = doc_copy(span_between(word, search.name++));
	search.status = clients_look_up(&files, where);
	for (size_t i = 0; i < files.count; i++)
		search_file(&search, &files.list[i]);
	if (search.found > 1)
		search.status = ctl_usage("%.300s: there are several: name its FILE, or GROUP:SERVER", word);
	else if (search.found == 0 && search.status == CTL_YES)
		search.status = refuse(&search, "there is no such server; see cancelctl wrap --list");
	/* Its directory is entered once all files have been read. */
	search.taking = search.found == 1;
	if (search.taking)
		search_file(&search, search.file);
	client_files_free(&files);
	free(where);
	if (search.status != CTL_YES)
		exit(search.status);
}

void
configured_free(struct configured *server)
{
	entry_words_free(server->options);
	entry_words_free(server->command);
}
