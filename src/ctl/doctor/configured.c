#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/change.h"
#include "ctl/clients.h"
#include "ctl/doctor.h"
#include "ctl/replace.h"

enum { INHERITED = 6 };

/* What clients pass on to their servers: the default of the SDK in TypeScript. */
static const char *const inherited[INHERITED] = { "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER" };

/* Where entries have their variables. */
static const char *const members[] = { "env", "environment", "command/env" };

/* Why a word or the value of a variable is of no use, or NULL. */
static const char *
fault_of(const struct doc_node *node)
{
	struct span text = node->text;

	if (node->kind != DOC_STRING)
		return "has a word or a variable that is no string";
	if (memmem(text.ptr, text.len, "${", 2) != NULL || memmem(text.ptr, text.len, "{env:", 5) != NULL)
		return "has a variable that only the client can fill in";
	return NULL;
}

static const char *
enter_environment(const struct doc_node *server)
{
	static char *none[] = { NULL };
	const char *kept[INHERITED], *fault = NULL;

	for (size_t i = 0; i < INHERITED; i++)
		kept[i] = getenv(inherited[i]);
	environ = none;
	for (size_t i = 0; i < INHERITED; i++)
		if (kept[i] != NULL)
			setenv(inherited[i], kept[i], 1);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const struct doc_node *object = doc_at(server, members[i]);
		const struct doc_node *variable = object != NULL && object->kind == DOC_OBJECT ? object->first : NULL;

		for (; variable != NULL && (fault = fault_of(variable)) == NULL; variable = variable->next)
			setenv(variable->key.name.ptr, variable->text.ptr, 1);
		if (fault != NULL)
			return fault;
	}
	return NULL;
}

/* NULL, or a clause that says why the entry cannot be started. */
static const char *
take(struct configured *configured, const struct doc_node *server)
{
	struct entry entry = entry_read(server);
	const struct doc_node *directory = doc_at(server, "cwd"), *word = entry.program;
	const char *fault = NULL;

	if (entry.state == ENTRY_REMOTE || entry.state == ENTRY_ODD)
		return entry.why;
	for (; word != NULL && fault == NULL; word = entry_next_word(&entry, word))
		fault = fault_of(word);
	if (fault != NULL)
		return fault;
	configured->command = entry_words(&entry, entry.program, NULL);
	configured->agent = span_equal(server->parent->key.name, SPAN("agent_servers"));
	if (directory != NULL && directory->kind == DOC_STRING && chdir(directory->text.ptr) < 0)
		return "has a cwd that cannot be entered";
	return enter_environment(server);
}

/* Whether the file has the server: then it is taken, or the fault is set. */
static bool
look_into(struct configured *configured, const struct client_file *file, const char *name)
{
	struct client_servers servers = { 0 };
	const char *why = NULL;
	struct replace contents;
	size_t i = 0;
	bool found;

	if (replace_read(&contents, file->path, file->project ? "." : NULL) == -1)
		snprintf(configured->fault, sizeof(configured->fault), "%.400s", contents.fault);
	else if (client_read(file->client, buf_span(&contents.text), &servers) == -1)
		snprintf(configured->fault, sizeof(configured->fault), "%.200s: %.250s", file->path, servers.doc.fault);
	while (i < servers.count && !span_equal(servers.list[i]->key.name, span_of(name)))
		i++;
	found = i < servers.count;
	if (found) {
		/* Only this server counts then, and not what another file had. */
		configured->fault[0] = '\0';
		why = take(configured, servers.list[i]);
	}
	if (why != NULL)
		snprintf(configured->fault, sizeof(configured->fault), "'%.100s' in %.200s %s", name, file->path, why);
	client_servers_free(&servers);
	replace_free(&contents);
	return found;
}

bool
configured_enter(struct configured *configured, const char *client, const char *server, bool trust)
{
	struct client_files files = { 0 };
	bool found = false, skipped = false;

	*configured = (struct configured){ 0 };
	clients_find(&files, client_named(client));
	for (size_t i = 0; i < files.count && !found; i++) {
		skipped |= files.list[i].project && !trust;
		if (!files.list[i].project || trust)
			found = look_into(configured, &files.list[i], server);
	}
	client_files_free(&files);
	if (!found && configured->fault[0] == '\0')
		snprintf(configured->fault, sizeof(configured->fault), "%.50s has no server '%.100s'%s", client, server,
		    skipped ? " outside of this project, whose files need --trust" : "");
	return configured->fault[0] == '\0';
}
