#include <stdlib.h>

#include "core/buf.h"
#include "ctl/change.h"
#include "shell/words.h"

static bool
is_string(const struct doc_node *node)
{
	return node != NULL && node->kind == DOC_STRING;
}

static bool
is_mark(const struct doc *doc, const struct doc_node *node)
{
	struct span text = is_string(node) ? doc_text(doc, node) : SPAN_NONE;
	const struct span mark = SPAN("--wrapped");

	return text.len >= mark.len && span_equal(span_part(text, 0, mark.len), mark) &&
	    (text.len == mark.len || text.ptr[mark.len] == '=');
}

/* The program's name is canceld, which a packager may have given a version. */
static bool
is_canceld(struct span path)
{
	const struct span name = SPAN("canceld");
	size_t start = path.len;

	while (start > 0 && path.ptr[start - 1] != '/' && path.ptr[start - 1] != '\\')
		start--;
	path = span_part(path, start, path.len - start);
	if (path.len < name.len || !span_equal(span_part(path, 0, name.len), name))
		return false;
	for (size_t i = name.len; i < path.len; i++)
		if (strchr("-.0123456789", path.ptr[i]) == NULL)
			return false;
	return true;
}

const struct doc_node *
entry_first_word(const struct entry *entry, bool own)
{
	if (own)
		return entry->program;
	return entry->command->kind == DOC_ARRAY ? entry->command->first : entry->command;
}

const struct doc_node *
entry_next_word(const struct entry *entry, const struct doc_node *word)
{
	if (word == entry->command)
		return entry->args != NULL ? entry->args->first : NULL;
	return word->next;
}

static struct entry
refuse(struct entry entry, enum entry_state state, const char *why)
{
	entry.state = state;
	entry.why = why;
	return entry;
}

static struct entry
read_words(const struct doc *doc, struct entry entry)
{
	struct doc_node *word;

	if (entry.command->kind == DOC_ARRAY && !is_string(entry.command->first))
		return refuse(entry, ENTRY_ODD, "its command has no words");
	if (entry.command->kind == DOC_ARRAY && entry.args != NULL)
		return refuse(entry, ENTRY_ODD, "its command is an array, and there is args too");
	if (entry.args != NULL && (entry.args->kind != DOC_ARRAY || entry.args->table != TABLE_NONE))
		return refuse(entry, ENTRY_ODD, "its args are no array");
	entry.program = entry.command->kind == DOC_ARRAY ? entry.command->first : entry.command;
	if (!is_canceld(doc_text(doc, entry.program)))
		return entry;
	word = entry.command->kind == DOC_ARRAY ? entry.program->next : entry.args != NULL ? entry.args->first : NULL;
	if (!is_mark(doc, word))
		return refuse(entry, ENTRY_BY_HAND, "canceld stands before its command already, put there by hand");
	entry.marker = word;
	while (is_string(word) && !span_equal(doc_text(doc, word), SPAN("--")))
		word = word->next;
	if (!is_string(word) || !is_string(word->next))
		return refuse(entry, ENTRY_ODD, "its words do not end with -- and the server's command");
	entry.dashes = word;
	entry.program = word->next;
	entry.state = ENTRY_WRAPPED;
	return entry;
}

struct entry
entry_read(const struct doc *doc, const struct doc_node *node)
{
	static const char *const addresses[] = { "url", "serverUrl", "httpUrl", "uri" };
	struct entry entry = { .state = ENTRY_PLAIN };
	const struct doc_node *holder = node;

	if (node->kind != DOC_OBJECT)
		return refuse(entry, ENTRY_ODD, "it is no object");
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (doc_member(doc, node, span_of(addresses[i])) != NULL)
			return refuse(entry, ENTRY_REMOTE, "it is a remote server");
	entry.command = doc_member(doc, node, SPAN("command"));
	if (entry.command == NULL)
		return refuse(entry, ENTRY_REMOTE, "it has no command");
	/* Zed, before 2025: "command": {"path": ..., "args": [...]}. */
	if (entry.command->kind == DOC_OBJECT) {
		holder = entry.command;
		entry.command = doc_member(doc, holder, SPAN("path"));
	}
	if (entry.command == NULL || entry.command->table != TABLE_NONE ||
	    (entry.command->kind != DOC_STRING && entry.command->kind != DOC_ARRAY))
		return refuse(entry, ENTRY_ODD, "its command is no string");
	entry.args = doc_member(doc, holder, SPAN("args"));
	return read_words(doc, entry);
}

char **
entry_words(const struct doc *doc, const struct entry *entry, const struct doc_node *word, const struct doc_node *end)
{
	char **words = mem_new(sizeof(*words));

	for (size_t count = 0; word != end; word = entry_next_word(entry, word)) {
		words = mem_resize(words, count + 2, sizeof(*words));
		words[count++] = doc_copy(is_string(word) ? doc_text(doc, word) : SPAN("?"));
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
entry_show(struct buf *line, const struct doc *doc, const struct entry *entry, bool own)
{
	const struct doc_node *word = entry_first_word(entry, own);
	char **words = entry_words(doc, entry, entry->program, NULL);

	for (; word != entry->program; word = entry_next_word(entry, word)) {
		buf_append(line, doc_text(doc, word));
		buf_append(line, SPAN(" "));
	}
	command_append(line, words);
	entry_words_free(words);
}
