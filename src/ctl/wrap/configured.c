#include "ctl/configured.h"

#include <libgen.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "shell/words.h"
#include "change.h"
#include "replace.h"

/* Ends the program: the word is a mistake, or names what only the client knows. */
_Noreturn static void
refuse(const char *word, const char *why)
{
	exit(ctl_no("%.300s: %s", word, why));
}

/*
 * The length of the opening bracket, such as "${", if the text begins with something that the
 * client fills in; 0: it does not.
 */
static size_t
opening(const char *text)
{
	static const char *const openings[] = { "${env:", "{env:", "${", "{file:" };

	for (size_t i = 0; i < 4 && strchr(text, '}') != NULL; i++)
		if (text_begins(text, openings[i]))
			return strlen(openings[i]) - (i == 3 ? strlen("file:") : 0);
	return 0;
}

/* The folder with the .vscode that has the client's file; empty: the file is in no .vscode. */
static char workspace[PATH_MAX];

/* Only the directory is resolved: the file itself may be a link to one that is kept elsewhere. */
static void
find_workspace(const char *path)
{
	char copy[PATH_MAX];

	print_into(copy, "%s", path);
	if (realpath(dirname(copy), workspace) == NULL || !text_is(basename(workspace), ".vscode"))
		workspace[0] = '\0';
	dirname(workspace); /* which is cut */
}

/*
 * The text with what its client fills in, which the caller owns: ${NAME}, ${NAME:-DEFAULT},
 * ${env:NAME}, {env:NAME} and ${workspaceFolder}. What else is in such braces only the client
 * knows.
 */
static char *
fill_in(const char *word, const char *text)
{
	struct buf filled = { 0 };
	const char *value;
	char *name, *otherwise;

	for (size_t len; *text != '\0'; text += len) {
		len = opening(text);
		if (len == 0) {
			len = 1;
			buf_append(&filled, span_at(text, len));
			continue;
		}
		name = doc_copy(span_until(span_of(text + len), "}"));
		len += strlen(name) + 1;
		otherwise = strstr(name, ":-");
		if (otherwise != NULL)
			*otherwise = '\0';
		value = workspace[0] != '\0' && text_is(name, "workspaceFolder") ? workspace :
										   getenv(name);
		if (value == NULL && otherwise == NULL)
			exit(ctl_no(
			    "%.300s: %.*s is not set here: set it, or give the server's command behind --",
			    word, (int)len, text));
		compose_text(&filled, "%s", value != NULL ? value : otherwise + 2);
		free(name);
	}
	buf_append(&filled, span_at("", 1));
	return filled.data;
}

static void
take_variables(const char *word, const struct doc_node *variables)
{
	const struct doc_node *variable = variables != NULL ? variables->first : NULL;

	for (; variable != NULL; variable = variable->next) {
		char *value =
		    variable->kind == DOC_STRING ? fill_in(word, variable->text.ptr) : NULL;

		if (value == NULL || setenv(variable->key.name.ptr, value, true) != 0)
			refuse(word, "a variable is no text, or has no name");
	}
}

static void
take(struct configured *server, const char *word, const struct doc_node *node, bool by_hand)
{
	struct entry entry = entry_read(node);
	const struct doc_node *directory = doc_at(node, "cwd");
	char *folder;

	if (entry.why != NULL && (entry.state != ENTRY_BY_HAND || !by_hand))
		refuse(word, entry.why);
	if (doc_at(node, "envFile") != NULL)
		refuse(word,
		    "its envFile is read by its client only: set the variables, and give its command behind --");
	if (entry.state == ENTRY_WRAPPED)
		server->options = entry_words(&entry, entry.marker->next, entry.dashes);
	server->command = entry_words(&entry, entry.program, NULL);
	server->language = entry.language;
	for (char **words = server->command; *words != NULL; words++)
		*words = fill_in(word, *words);
	take_variables(word, doc_at(node, "env"));
	take_variables(word, doc_at(node, "environment"));
	if (directory == NULL || directory->kind != DOC_STRING)
		return;
	folder = fill_in(word, directory->text.ptr);
	if (chdir(folder) != 0)
		exit(ctl_no("%.300s: %.300s: %s", word, folder, strerror(errno)));
}

void
configured_load(struct client_file *file, const char *within)
{
	struct replace contents;
	const char *fault = contents.fault;

	client_servers_free(&file->servers);
	if (replace_read(&contents, file->path, within) == 0) {
		fault = file->servers.doc.fault;
		if (client_read(file->client, buf_span(&contents.text), &file->servers) == 0)
			fault = "";
	}
	print_into(file->fault, "%s", fault);
	replace_free(&contents);
}

int
configured_unknown(struct client_files *files, const char *name)
{
	struct nearest nearest = { .typed = span_of(name) };
	const char *where = "";

	each_listed (file, files) {
		configured_load(file, NULL);
		each_listed (server, &file->servers)
			if (client_names(name, *server))
				where =
				    client_is_language(*server) ? " without --lsp" : " with --lsp";
			else
				nearest_offer(&nearest, (*server)->key.name.ptr);
	}
	return ctl_no("no server '%.200s' there%s; see cancelctl wrap --list", name,
	    where[0] != '\0' ? where : nearest.told);
}

/*
 * The servers that a word names. One without a group goes before those with a group, because
 * nothing but its bare name could name it.
 */
struct found {
	const struct doc_node *node;
	const char *path; /* of the file */
	bool grouped;
	size_t count;
};

static void
add_found(struct found *found, const struct doc_node *server, const char *path)
{
	bool grouped = client_group(server).len > 0;

	if (grouped && !found->grouped)
		return;
	found->count = grouped == found->grouped ? found->count + 1 : 1;
	found->grouped = grouped;
	found->node = server;
	found->path = path;
}

void
configured_read(struct configured *server, const char *word, bool by_hand)
{
	const char *colon = strchr(word, ':');
	struct found found = { .grouped = true };
	struct client_files files = { 0 };
	char *where;
	int status;

	*server = (struct configured){ 0 };
	if (colon == NULL)
		exit(ctl_usage(
		    "which server? its command behind --, or CLIENT:SERVER; '%.200s' has no colon",
		    word));
	where = doc_copy(span_between(word, colon));
	status = clients_look_up(&files, where);
	each_listed (file, &files) {
		configured_load(file, NULL);
		if (file->fault[0] != '\0')
			status = ctl_no("%s: %s", file->path, file->fault);
		each_listed (named, &file->servers)
			if (client_names(colon + 1, *named))
				add_found(&found, *named, file->path);
	}
	if (found.count > 1)
		exit(ctl_usage("%.300s: there are several: name its FILE, or GROUP:SERVER", word));
	if (found.count == 0)
		exit(status == CTL_YES ? configured_unknown(&files, colon + 1) : status);
	find_workspace(found.path);
	/* take() enters the server's directory, so it comes after all files have been read. */
	take(server, word, found.node, by_hand);
}
