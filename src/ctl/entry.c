#include "ctl/entry.h"

#include <stdio.h>

#include "ctl/jsonc.h"

#define MARK "--wrapped"

static bool
is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Whether only blanks, and these characters, stand between two places. */
static bool
only_blanks(const struct doc *doc, size_t from, size_t to, const char *others)
{
	for (; from < to; from++)
		if (!is_blank(doc->text.ptr[from]) && strchr(others, doc->text.ptr[from]) == NULL)
			return false;
	return true;
}

static bool
is_string(const struct doc_node *node)
{
	return node != NULL && node->kind == DOC_STRING;
}

static bool
is_mark(const struct doc *doc, const struct doc_node *node)
{
	const struct span mark = SPAN(MARK);
	struct span text = doc_text(doc, node);

	return is_string(node) && text.len >= mark.len && span_equal(span_part(text, 0, mark.len), mark) &&
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

/* The first word behind the command. */
static struct doc_node *
first_argument(const struct entry *entry)
{
	if (entry->command->kind == DOC_ARRAY)
		return entry->command->first->next;
	return entry->args != NULL ? entry->args->first : NULL;
}

static struct entry
refuse(struct entry entry, enum entry_state state, const char *why)
{
	entry.state = state;
	entry.why = why;
	return entry;
}

/* The words of canceld, from the mark to the server's command. */
static struct entry
read_wrapped(const struct doc *doc, struct entry entry)
{
	struct doc_node *word;

	entry.marker = first_argument(&entry);
	for (word = entry.marker; is_string(word) && !span_equal(doc_text(doc, word), SPAN("--")); word = word->next)
		;
	if (!is_string(word) || !is_string(word->next))
		return refuse(entry, ENTRY_ODD, "its words do not end with -- and the server's command");
	entry.dashes = word;
	entry.program = word->next;
	entry.state = ENTRY_WRAPPED;
	return entry;
}

static struct entry
read_words(const struct doc *doc, struct entry entry)
{
	const struct doc_node *argument;

	if (entry.command->kind == DOC_ARRAY && !is_string(entry.command->first))
		return refuse(entry, ENTRY_ODD, "its command has no words");
	if (entry.command->kind == DOC_ARRAY && entry.args != NULL)
		return refuse(entry, ENTRY_ODD, "its command is an array, and there is args too");
	if (entry.args != NULL && (entry.args->kind != DOC_ARRAY || entry.args->tables))
		return refuse(entry, ENTRY_ODD, "its args are no array");
	entry.program = entry.command->kind == DOC_ARRAY ? entry.command->first : entry.command;
	argument = first_argument(&entry);
	if (!is_canceld(doc_text(doc, entry.program)))
		return entry;
	if (argument != NULL && is_mark(doc, argument))
		return read_wrapped(doc, entry);
	return refuse(entry, ENTRY_BY_HAND, "canceld stands before its command already, put there by hand");
}

struct entry
entry_read(const struct doc *doc, const struct doc_node *node)
{
	static const char *const addresses[] = { "url", "serverUrl", "httpUrl", "uri" };
	struct entry entry = { .state = ENTRY_PLAIN, .node = node };
	const struct doc_node *holder = node;

	if (node->kind != DOC_OBJECT)
		return refuse(entry, ENTRY_ODD, "it is no object");
	entry.command = doc_member(doc, node, SPAN("command"));
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (doc_member(doc, node, span_of(addresses[i])) != NULL)
			return refuse(entry, ENTRY_REMOTE, "it is a remote server");
	if (entry.command == NULL)
		return refuse(entry, ENTRY_REMOTE, "it has no command");
	/* Zed, before 2025: "command": {"path": ..., "args": [...]}. */
	if (entry.command->kind == DOC_OBJECT) {
		holder = entry.command;
		entry.command = doc_member(doc, holder, SPAN("path"));
	}
	if (entry.command == NULL || entry.command->tables ||
	    (entry.command->kind != DOC_STRING && entry.command->kind != DOC_ARRAY))
		return refuse(entry, ENTRY_ODD, "its command is no string");
	entry.args = doc_member(doc, holder, SPAN("args"));
	return read_words(doc, entry);
}

bool
entry_is_nested(const struct doc *doc, const struct entry *entry)
{
	return entry->state == ENTRY_WRAPPED && is_canceld(doc_text(doc, entry->program));
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
	return word == entry->command ? first_argument(entry) : word->next;
}

static void
put_word(struct buf *words, struct span word)
{
	jsonc_quote(words, word);
	buf_append(words, SPAN(", "));
}

/* --wrapped, the options and --, a comma and a blank behind each. */
static void
put_options(struct buf *words, const char *form, char *const options[], size_t count)
{
	char mark[sizeof(MARK "=as")];

	snprintf(mark, sizeof(mark), MARK "%s%s", form[0] != '\0' ? "=" : "", form);
	put_word(words, span_of(mark));
	for (size_t i = 0; i < count; i++)
		put_word(words, span_of(options[i]));
	put_word(words, SPAN("--"));
}

/* Where words are put before the elements of an array: whether a space has to follow them. */
static bool
wants_space(const struct doc *doc, const struct doc_node *array)
{
	return array->first != NULL && !is_blank(doc->text.ptr[array->start + 1]);
}

/* Whether the lines of the file end as on Windows. */
static bool
ends_with_return(const struct doc *doc)
{
	const char *newline = memchr(doc->text.ptr, '\n', doc->text.len);

	return newline != NULL && newline > doc->text.ptr && newline[-1] == '\r';
}

/* The new member goes to a line of its own if the command has one, with what that line begins with. */
static void
put_member(struct buf *words, const struct doc *doc, const struct doc_node *command)
{
	size_t start = command->member;
	struct span key = span_part(doc->text, command->key, command->key_end - command->key);
	bool alone;

	while (start > 0 && (doc->text.ptr[start - 1] == ' ' || doc->text.ptr[start - 1] == '\t'))
		start--;
	alone = start > 0 && doc->text.ptr[start - 1] == '\n';
	buf_append(words, command->line ? SPAN_NONE : SPAN(","));
	if (alone || command->line) {
		buf_append(words, ends_with_return(doc) ? SPAN("\r\n") : SPAN("\n"));
		buf_append(words, span_part(doc->text, start, command->member - start));
	} else {
		buf_append(words, SPAN(" "));
	}
	/* The same table, if the key has dots, and the same quotes. */
	buf_append(words, span_part(doc->text, command->member, command->key - command->member));
	buf_append(words, key.ptr[0] == '"' ? SPAN("\"args\"") : SPAN("args"));
	buf_append(words, span_part(doc->text, command->key_end, command->start - command->key_end));
}

void
entry_wrap(const struct doc *doc, const struct entry *entry, const char *canceld, char *const options[], size_t count,
    struct splices *edits)
{
	const struct doc_node *command = entry->command, *array = command->kind == DOC_ARRAY ? command : entry->args;
	bool space = array != NULL && wants_space(doc, array);
	struct buf words;

	buf_init(&words);
	if (command->kind == DOC_ARRAY) {
		put_word(&words, span_of(canceld));
	} else {
		jsonc_quote(&words, span_of(canceld));
		splices_add(edits, command->start, command->end - command->start, buf_span(&words));
		buf_clear(&words);
	}
	if (array == NULL) {
		put_member(&words, doc, command);
		buf_append(&words, SPAN("["));
	}
	put_options(&words, array == NULL ? "a" : space ? "s" : "", options, count);
	/* The command itself as it was written; an array has it there already. */
	if (array != command)
		buf_append(&words, span_part(doc->text, command->start, command->end - command->start));
	else
		words.len -= strlen(", ");
	if (array == NULL)
		buf_append(&words, SPAN("]"));
	else if (array->first != NULL)
		buf_append(&words, space ? SPAN(", ") : SPAN(","));
	splices_add(edits, array == NULL ? command->end : array->start + 1, 0, buf_span(&words));
	buf_free(&words);
}

/* The blank line that a line of TOML would leave goes with it. */
static void
remove_line(const struct doc *doc, const struct doc_node *node, struct splices *edits)
{
	size_t from = node->member, to = node->end, after = to;

	while (from > 0 && (doc->text.ptr[from - 1] == ' ' || doc->text.ptr[from - 1] == '\t'))
		from--;
	while (after < doc->text.len && is_blank(doc->text.ptr[after]) && doc->text.ptr[after] != '\n')
		after++;
	if (after < doc->text.len && doc->text.ptr[after] == '\n')
		splices_add(edits, from, after + 1 - from, SPAN_NONE);
	else
		splices_add(edits, node->member, to - node->member, SPAN_NONE);
}

/* args, which only wrapping has made. */
static void
remove_member(const struct doc *doc, const struct entry *entry, struct splices *edits)
{
	const struct doc_node *node = entry->args, *before = node->line ? entry->command : node->before;
	size_t to = node->end;

	if (before != NULL && before->end <= node->member &&
	    only_blanks(doc, before->end, node->member, node->line ? "" : ",")) {
		splices_add(edits, before->end, to - before->end, SPAN_NONE);
	} else if (node->line) {
		remove_line(doc, node, edits);
	} else {
		if (before != NULL)
			splices_add(edits, before->comma, 1, SPAN_NONE);
		if (before == NULL && node->comma != 0 && only_blanks(doc, to, node->comma, "")) {
			to = node->comma + 1;
			while (is_blank(doc->text.ptr[to]))
				to++;
		} else if (before == NULL && node->comma != 0) {
			splices_add(edits, node->comma, 1, SPAN_NONE);
		}
		splices_add(edits, node->member, to - node->member, SPAN_NONE);
	}
}

/* Whether someone has put a comment between the words that go. */
static bool
has_comment(const struct doc *doc, size_t from, const struct doc_node *word, const struct doc_node *end)
{
	for (;; from = word->end, word = word->next) {
		if (!only_blanks(doc, from, word->start, ","))
			return true;
		if (word == end)
			return false;
	}
}

const char *
entry_unwrap(const struct doc *doc, const struct entry *entry, struct splices *edits)
{
	const struct doc_node *command = entry->command, *program = entry->program, *dashes = entry->dashes;
	const struct doc_node *array = command->kind == DOC_ARRAY ? command : entry->args;
	const struct doc_node *last = array == command ? dashes : program;
	struct span form = doc_text(doc, entry->marker);
	size_t from = array->start + 1, to = last->comma != 0 ? last->comma + 1 : last->end;

	if (has_comment(doc, from, array->first, last) ||
	    (last->comma != 0 && !only_blanks(doc, last->end, last->comma, "")))
		return "a comment stands between the words of canceld: move it first";
	if (last->next != NULL && memchr(form.ptr + strlen(MARK), 's', form.len - strlen(MARK)) != NULL &&
	    doc->text.ptr[to] == ' ')
		to++;
	if (array != command)
		splices_add(edits, command->start, command->end - command->start,
		    span_part(doc->text, program->start, program->end - program->start));
	if (array != command && program->next == NULL &&
	    memchr(form.ptr + strlen(MARK), 'a', form.len - strlen(MARK)) != NULL &&
	    only_blanks(doc, to, array->end - 1, ""))
		remove_member(doc, entry, edits);
	else
		splices_add(edits, from, to - from, SPAN_NONE);
	return NULL;
}
