#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "ctl/change.h"
#include "ctl/clients.h"
#include "ctl/doctor.h"
#include "ctl/replace.h"

/* What clients pass on to their servers: the default of the SDK in TypeScript. */
static const char *const inherited[] = { "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER" };

/* Where entries have their variables. */
static const char *const members[] = { "env", "environment", "command/env" };

struct strings {
	char **list;
	size_t count;
};

/* Takes the string. */
static void
add(struct strings *strings, char *string)
{
	strings->list = mem_resize(strings->list, strings->count + 2, sizeof(*strings->list));
	strings->list[strings->count++] = string;
	strings->list[strings->count] = NULL;
}

/* "NAME=VALUE", or one text if there is no name. */
static char *
joined(struct span name, struct span value)
{
	char *string = mem_new(name.len + value.len + 2);
	size_t at = name.len;

	memcpy(string, name.ptr, name.len);
	if (name.len > 0)
		string[at++] = '=';
	memcpy(string + at, value.ptr, value.len);
	return string;
}

/* A later value of the same name takes the place of the former. */
static void
set(struct strings *environment, struct span name, struct span value)
{
	for (size_t i = 0; i < environment->count; i++)
		if (strncmp(environment->list[i], name.ptr, name.len) == 0 && environment->list[i][name.len] == '=') {
			free(environment->list[i]);
			environment->list[i] = joined(name, value);
			return;
		}
	add(environment, joined(name, value));
}

/* What only the client can fill in. */
static bool
has_variable(struct span text)
{
	return text.len > 0 &&
	    (memmem(text.ptr, text.len, "${", 2) != NULL || memmem(text.ptr, text.len, "{env:", 5) != NULL);
}

static const char *
take_command(struct strings *command, const struct doc *doc, const struct entry *entry)
{
	const struct doc_node *word = entry_first_word(entry, true);

	for (; word != NULL; word = entry_next_word(entry, word)) {
		if (word->kind != DOC_STRING)
			return "has a word that is no string";
		if (has_variable(doc_text(doc, word)))
			return "has a variable in its command that only the client can fill in";
		add(command, joined(SPAN(""), doc_text(doc, word)));
	}
	return command->count > 0 ? NULL : "has no command";
}

static const char *
take_environment(struct strings *environment, const struct doc *doc, const struct doc_node *server)
{
	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++) {
		const char *value = getenv(inherited[i]);

		if (value != NULL)
			set(environment, span_of(inherited[i]), span_of(value));
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const struct doc_node *object = doc_at(doc, server, members[i]);
		const struct doc_node *variable = object != NULL && object->kind == DOC_OBJECT ? object->first : NULL;

		for (; variable != NULL; variable = variable->next) {
			if (variable->kind != DOC_STRING)
				return "has a variable that is no string";
			if (has_variable(doc_text(doc, variable)))
				return "has a variable that only the client can fill in";
			set(environment, doc_name(doc, variable), doc_text(doc, variable));
		}
	}
	return NULL;
}

/* NULL, or a clause that says why the entry cannot be started. */
static const char *
take(struct configured *configured, const struct doc *doc, const struct doc_node *server)
{
	struct entry entry = entry_read(doc, server);
	struct strings command = { 0 }, environment = { 0 };
	const struct doc_node *directory = doc_at(doc, server, "cwd");
	const char *why = entry.state == ENTRY_REMOTE || entry.state == ENTRY_ODD ? entry.why : NULL;

	if (why == NULL)
		why = take_command(&command, doc, &entry);
	if (why == NULL)
		why = take_environment(&environment, doc, server);
	configured->command = command.list;
	configured->environment = environment.list;
	if (why == NULL && directory != NULL && directory->kind == DOC_STRING)
		configured->directory = joined(SPAN(""), doc_text(doc, directory));
	return why;
}

/* Whether the file has the server: then it is taken, or the fault is set. */
static bool
look_into(struct configured *configured, const struct client_file *file, const char *name)
{
	struct client_servers servers = { 0 };
	struct replace contents;
	struct doc doc = { 0 };
	const char *why;
	bool found = false;

	if (replace_read(&contents, file->path, file->project ? "." : NULL) == -1)
		snprintf(configured->fault, sizeof(configured->fault), "%.400s", contents.fault);
	else if (client_read(file->client, &doc, buf_span(&contents.text)) == -1)
		snprintf(configured->fault, sizeof(configured->fault), "%.200s: %.250s", file->path, doc.fault);
	else
		client_servers(file->client, &doc, &servers);
	for (size_t i = 0; i < servers.count && !found; i++) {
		/* Only this server counts then, and not what another file had. */
		found = span_equal(doc_name(&doc, servers.list[i]), span_of(name));
		if (found)
			configured->fault[0] = '\0';
		why = found ? take(configured, &doc, servers.list[i]) : NULL;
		if (why != NULL)
			snprintf(configured->fault, sizeof(configured->fault), "'%.100s' in %.200s %s", name,
			    file->path, why);
	}
	free(servers.list);
	doc_free(&doc);
	replace_free(&contents);
	return found;
}

int
configured_find(struct configured *configured, const char *client, const char *server, bool trust)
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
	return found && configured->fault[0] == '\0' ? 0 : -1;
}

static void
free_all(char **list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

void
configured_free(struct configured *configured)
{
	free_all(configured->command);
	free_all(configured->environment);
	free(configured->directory);
}
