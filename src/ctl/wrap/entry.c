#include "change.h"

#include "core/compose.h"
#include "shell/words.h"

static bool
is_string(const struct doc_node *node)
{
	return node != NULL && node->kind == DOC_STRING;
}

/*
 * Whether the program's name is canceld. A packager may have added a version: canceld-1.0,
 * canceld@1.0.
 */
static bool
is_canceld(const char *path)
{
	const size_t len = strlen("canceld");

	for (size_t part; path[part = strcspn(path, "/\\")] != '\0';)
		path += part + 1;
	if (!text_begins(path, "canceld"))
		return false;
	path += len + strspn(path + len, "-.0123456789");
	return *path == '\0' || *path == '@';
}

/* The word behind this one; NULL: it is the last. */
static const struct doc_node *
next_word(const struct entry *entry, const struct doc_node *word)
{
	if (word == entry->command)
		return entry->array != NULL ? entry->array->first : NULL;
	return word->next;
}

static struct entry
refuse(struct entry entry, enum entry_state state, const char *why)
{
	entry.state = state;
	entry.why = why;
	return entry;
}

/*
 * Whether npx or another launcher starts canceld: it names canceld as what it runs, and the word is
 * not only a folder of that name.
 */
static bool
launches_canceld(const struct entry *entry)
{
	char **words = entry_words(entry, entry->first, NULL), name[NAME_SIZE];
	bool has = false;

	name_of_command(words, name);
	for (char **word = words; *word != NULL; word++)
		has |= is_canceld(*word);
	entry_words_free(words);
	return has && is_canceld(name);
}

/* Reads the words of an entry, and sets its state and the members that depend on it. */
static struct entry
read_words(struct entry entry)
{
	const struct doc_node *word = next_word(&entry, entry.first);
	bool direct = is_canceld(entry.first->text.ptr);

	entry.program = entry.first;
	if (!direct && command_is_line(entry.first->text.ptr)) {
		entry.program = NULL;
		return refuse(entry, ENTRY_ODD, COMMAND_IS_LINE);
	}
	if (!direct && !launches_canceld(&entry))
		return entry;
	if (!direct || !is_string(word) ||
	    (!span_equal(word->text, SPAN(ENTRY_MARK)) &&
		!span_equal(word->text, SPAN(ENTRY_MARK_ALONE))))
		return refuse(entry, ENTRY_BY_HAND,
		    "canceld stands before its command already, put there by hand");
	entry.marker = word;
	while (is_string(word) && !span_is(word->text, "--"))
		word = word->next;
	if (!is_string(word) || !is_string(word->next))
		return refuse(entry, ENTRY_ODD,
		    "its words do not end with -- and the server's command");
	entry.dashes = word;
	entry.program = word->next;
	entry.state = ENTRY_WRAPPED;
	return entry;
}

/* Refuses a PLAIN entry if its client does something with the command that wrapping would break. */
static struct entry
read_use(struct entry entry, const struct doc_node *server)
{
	const struct doc_node *transport = entry.language ? doc_at(server, "transport") : NULL;
	const char *why = NULL;

	if (doc_at(server, "dev/debug") != NULL)
		why = "VS Code debugs it (dev.debug) only if its command is node or python itself";
	else if (transport != NULL && !span_is(transport->text, "stdio"))
		why = "its transport is not stdio";
	if (why == NULL)
		return entry;
	entry.program = NULL;
	return refuse(entry, ENTRY_ODD, why);
}

struct entry
entry_read(const struct doc_node *server)
{
	static const char *const addresses[] = { "url", "serverUrl", "httpUrl", "uri" };
	struct entry entry = { .state = ENTRY_PLAIN,
		.args = "args",
		.language = client_is_language(server),
		.name = server->key.name.ptr };
	const struct doc_node *node = server, *args;

	if (node->kind != DOC_OBJECT)
		return refuse(entry, ENTRY_ODD, "it is no object");
	each_of (address, addresses)
		if (doc_at(node, *address) != NULL)
			return refuse(entry, ENTRY_REMOTE, "it is a remote server");
	entry.command = doc_at(node, "command");
	/* Zed, a language server: "binary": {"path": ..., "arguments": [...]}. */
	if (entry.command == NULL && (entry.command = doc_at(node, "binary")) != NULL)
		entry.args = "arguments";
	if (entry.command == NULL)
		return refuse(entry, ENTRY_REMOTE, "it has no command");
	/* Zed, a server before 2025: "command": {"path": ..., "args": [...]}. */
	if (entry.command->kind == DOC_OBJECT) {
		node = entry.command;
		entry.command = doc_at(node, "path");
	}
	if (entry.command == NULL || entry.command->table != TABLE_NONE ||
	    (entry.command->kind != DOC_STRING && entry.command->kind != DOC_ARRAY))
		return refuse(entry, ENTRY_ODD, "its command is no string");
	args = doc_at(node, entry.args);
	entry.array = entry.command->kind == DOC_ARRAY ? entry.command : args;
	entry.first = entry.command->kind == DOC_ARRAY ? entry.command->first : entry.command;
	if (!is_string(entry.first))
		return refuse(entry, ENTRY_ODD, "its command has no words");
	if (args != NULL && entry.array == entry.command)
		return refuse(entry, ENTRY_ODD, "its command is an array, and there is args too");
	if (args != NULL && (args->kind != DOC_ARRAY || args->table != TABLE_NONE))
		return refuse(entry, ENTRY_ODD, "its args are no array");
	entry = read_words(entry);
	return entry.state == ENTRY_PLAIN ? read_use(entry, server) : entry;
}

char **
entry_words(const struct entry *entry, const struct doc_node *word, const struct doc_node *end)
{
	char **words = mem_new(sizeof(*words));

	for (size_t count = 0; word != end; word = next_word(entry, word)) {
		mem_room(words, count + 2);
		words[count++] = doc_copy(is_string(word) ? word->text : SPAN("?"));
		words[count] = NULL;
	}
	return words;
}

void
entry_words_free(char **words)
{
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}

void
entry_append_options(const struct entry *entry, const struct doc_node *word,
    const struct doc_node *end, struct buf *line)
{
	const struct span begin = SPAN("--answer=");
	bool value = false; /* the word before was --answer */

	for (; word != end; word = next_word(entry, word)) {
		struct span text = word->text;
		bool joined = span_equal(span_head(text, begin.len), begin);
		size_t known = joined ? begin.len : 0;

		if (joined || value)
			text = span_head(text, known + span_until(span_from(text, known), "=").len);
		compose_text(line, line->len > 0 ? " %b%s" : "%b%s", text,
		    joined || value ? "=*" : "");
		value = span_is(word->text, "--answer");
	}
}

char *
entry_text(const struct entry *entry, const struct doc_node *word)
{
	char **words = entry_words(entry, entry->program, NULL);
	struct buf line = { 0 };

	entry_append_options(entry, word, entry->program, &line);
	if (line.len > 0)
		compose_text(&line, " ");
	command_append(&line, words);
	buf_append(&line, span_at("", 1));
	entry_words_free(words);
	return line.data;
}
