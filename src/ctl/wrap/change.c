#include "ctl/change.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"

/* Edits of one text. */
struct splices { /* zeroed: none */
	struct splice {
		size_t at, len;          /* what is taken out */
		size_t words, words_len; /* what is put there instead, in the list's words */
	} * list;
	size_t count;
	struct buf words;
};

/* Takes what stands between two places out, and puts words, which are copied, there. No two may overlap. */
static void
add(struct splices *edits, size_t from, size_t to, struct span words)
{
	edits->list = mem_resize(edits->list, edits->count + 1, sizeof(*edits->list));
	edits->list[edits->count++] = (struct splice){ from, to - from, edits->words.len, words.len };
	buf_append(&edits->words, words);
}

static bool
is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Whether only blanks, and commas if there may be some, stand between two places. */
static bool
only_blanks(const struct doc *doc, size_t from, size_t to, bool commas)
{
	for (; from < to; from++)
		if (!is_blank(doc->text.ptr[from]) && !(commas && doc->text.ptr[from] == ','))
			return false;
	return true;
}

static void
put_word(struct buf *words, const char *word)
{
	doc_quote(words, span_of(word));
	buf_append(words, SPAN(", "));
}

/* The new member goes to a line of its own if the command has one, with what that line begins with. */
static void
put_member(struct buf *words, const struct doc *doc, const struct doc_node *command)
{
	const char *newline = memchr(doc->text.ptr, '\n', doc->text.len);
	bool returns = newline != NULL && newline > doc->text.ptr && newline[-1] == '\r';
	size_t start = command->member;

	while (start > 0 && strchr(" \t", doc->text.ptr[start - 1]) != NULL)
		start--;
	buf_append(words, command->line ? SPAN_NONE : SPAN(","));
	if (command->line || (start > 0 && doc->text.ptr[start - 1] == '\n')) {
		buf_append(words, returns ? SPAN("\r\n") : SPAN("\n"));
		buf_append(words, span_part(doc->text, start, command->member - start));
	} else {
		buf_append(words, SPAN(" "));
	}
	/* The same table, if the key has dots, and the same quotes. */
	buf_append(words, span_part(doc->text, command->member, command->key - command->member));
	buf_append(words, doc->text.ptr[command->key] == '"' ? SPAN("\"args\"") : SPAN("args"));
	buf_append(words, span_part(doc->text, command->key_end, command->start - command->key_end));
}

/* Whether someone has put a comment between these words, or before the first one, from a place on. */
static bool
has_comment(const struct doc *doc, size_t from, const struct doc_node *word, const struct doc_node *end)
{
	for (;; from = word->end, word = word->next) {
		if (!only_blanks(doc, from, word->start, true))
			return true;
		if (word == end)
			return false;
	}
}

static const char comment[] = "a comment stands between the words of canceld: move it first";

/*
 * This and what follows return NULL, or a clause that says why the edit would lose something. Other options, ended by
 * NULL, and another canceld, in a WRAPPED entry.
 */
static const char *
rewrap(const struct doc *doc, const struct entry *entry, const char *canceld, char *const options[],
    struct splices *edits)
{
	const struct doc_node *first = entry_first_word(entry, false), *marker = entry->marker;
	struct buf words;

	if (has_comment(doc, marker->end, marker->next, entry->dashes))
		return comment;
	buf_init(&words);
	doc_quote(&words, span_of(canceld));
	add(edits, first->start, first->end, buf_span(&words));
	buf_clear(&words);
	buf_append(&words, SPAN(", "));
	for (; *options != NULL; options++)
		put_word(&words, *options);
	add(edits, marker->end, entry->dashes->start, buf_span(&words));
	buf_free(&words);
	return NULL;
}

/* Adds the edits that wrap a PLAIN entry, or give a WRAPPED one another canceld and other options. */
static const char *
wrap_words(const struct doc *doc, const struct entry *entry, const char *canceld, char *const options[],
    struct splices *edits)
{
	const struct doc_node *command = entry->command, *array = command->kind == DOC_ARRAY ? command : entry->args;
	/* Whether a space has to follow what is put before the words of the array. */
	bool space = array != NULL && array->first != NULL && !is_blank(doc->text.ptr[array->start + 1]);
	struct buf words;

	if (entry->state == ENTRY_WRAPPED)
		return rewrap(doc, entry, canceld, options, edits);
	buf_init(&words);
	if (command->kind == DOC_ARRAY) {
		put_word(&words, canceld);
	} else {
		doc_quote(&words, span_of(canceld));
		add(edits, command->start, command->end, buf_span(&words));
		buf_clear(&words);
	}
	if (array == NULL) {
		put_member(&words, doc, command);
		buf_append(&words, SPAN("["));
	}
	put_word(&words, array == NULL ? "--wrapped=a" : space ? "--wrapped=s" : "--wrapped");
	for (; *options != NULL; options++)
		put_word(&words, *options);
	put_word(&words, "--");
	/* The command itself as it was written; an array has it there already. */
	if (array != command)
		buf_append(&words, span_part(doc->text, command->start, command->end - command->start));
	else
		words.len -= strlen(", ");
	if (array == NULL)
		buf_append(&words, SPAN("]"));
	else if (array->first != NULL)
		buf_append(&words, space ? SPAN(", ") : SPAN(","));
	if (array == NULL)
		add(edits, command->end, command->end, buf_span(&words));
	else
		add(edits, array->start + 1, array->start + 1, buf_span(&words));
	buf_free(&words);
	return NULL;
}

/* args, which only wrapping has made; if something came between it and its neighbours, an empty one stays. */
static void
remove_args(const struct doc *doc, const struct doc_node *args, struct splices *edits)
{
	const struct doc_node *before = args->parent->first;

	while (before != args && before->next != args)
		before = before->next;
	if (before != args && before->end <= args->member && only_blanks(doc, before->end, args->member, !args->line))
		add(edits, before->end, args->end, SPAN_NONE);
	else if (!args->line && args->next != NULL && only_blanks(doc, args->end, args->next->member, true))
		add(edits, args->member, args->next->member, SPAN_NONE);
	else
		add(edits, args->start + 1, args->end - 1, SPAN_NONE);
}

/* Adds the edits that unwrap a WRAPPED entry. */
static const char *
unwrap_words(const struct doc *doc, const struct entry *entry, struct splices *edits)
{
	const struct doc_node *command = entry->command, *program = entry->program;
	const struct doc_node *array = command->kind == DOC_ARRAY ? command : entry->args;
	const struct doc_node *last = array == command ? entry->dashes : program;
	struct span form = doc_text(doc, entry->marker);
	size_t from = array->start + 1, to = last->comma != 0 ? last->comma + 1 : last->end;
	bool made, space;

	form = span_part(form, strlen("--wrapped"), form.len - strlen("--wrapped"));
	made = memchr(form.ptr, 'a', form.len) != NULL;
	space = memchr(form.ptr, 's', form.len) != NULL;
	if (has_comment(doc, from, array->first, last) || !only_blanks(doc, last->end, to, true))
		return comment;
	if (space && last->next != NULL && doc->text.ptr[to] == ' ')
		to++;
	if (array != command)
		add(edits, command->start, command->end,
		    span_part(doc->text, program->start, program->end - program->start));
	if (array != command && made && program->next == NULL && only_blanks(doc, to, array->end - 1, false))
		remove_args(doc, array, edits);
	else
		add(edits, from, to, SPAN_NONE);
	return NULL;
}

static bool
is_chosen(const struct change *change, struct span name)
{
	for (size_t i = 0; i < change->name_count; i++)
		if (span_equal(span_of(change->names[i]), name))
			return true;
	return change->name_count == 0;
}

/* Whether a WRAPPED server is wrapped by this canceld with these options. */
static bool
is_same(const struct change *change, const struct doc *doc, const struct entry *entry, char *const *options)
{
	const struct doc_node *word = entry->marker->next;

	if (!span_equal(doc_text(doc, entry_first_word(entry, false)), span_of(change->canceld)))
		return false;
	for (; *options != NULL && word != entry->dashes; options++, word = word->next)
		if (!span_equal(doc_text(doc, word), span_of(*options)))
			return false;
	return *options == NULL && word == entry->dashes;
}

static void
wrap(const struct change *change, const struct doc *doc, const struct entry *entry, struct outcome *outcome,
    struct splices *edits)
{
	bool wrapped = entry->state == ENTRY_WRAPPED, keeps = wrapped && !change->given;
	char **kept = keeps ? entry_words(doc, entry, entry->marker->next, entry->dashes) : NULL;
	char *const *options = keeps ? kept : change->options;

	outcome->why = entry->why;
	if (entry->why != NULL)
		return;
	outcome->deadline = change->deadline(options);
	outcome->kind = wrapped ? OUTCOME_REWRAPPED : OUTCOME_WRAPPED;
	if (wrapped && is_same(change, doc, entry, options))
		outcome->kind = OUTCOME_ALREADY;
	else if ((outcome->why = wrap_words(doc, entry, change->canceld, options, edits)) != NULL)
		outcome->kind = OUTCOME_LEFT;
	entry_words_free(kept);
}

static void
unwrap(const struct doc *doc, const struct entry *entry, struct outcome *outcome, struct splices *edits)
{
	bool wrapped = entry->state == ENTRY_WRAPPED;

	outcome->why = wrapped ? unwrap_words(doc, entry, edits) : entry->state != ENTRY_REMOTE ? entry->why : NULL;
	if (!wrapped)
		outcome->kind = OUTCOME_NOT_WRAPPED;
	else if (outcome->why == NULL)
		outcome->kind = OUTCOME_UNWRAPPED;
}

/* Decides about each server and adds the edits; without edits, adds what stands in the new text. */
static void
visit(const struct change *change, const struct doc *doc, struct splices *edits, struct outcomes *outcomes)
{
	struct client_servers servers = { 0 };
	size_t count = 0;

	client_servers(change->client, doc, &servers);
	if (edits != NULL)
		outcomes->list = mem_resize(NULL, servers.count + 1, sizeof(*outcomes->list));
	for (size_t i = 0; i < servers.count; i++) {
		const struct doc_node *server = servers.list[i];
		struct outcome *outcome = &outcomes->list[count];
		struct entry entry = entry_read(doc, server);

		if (!is_chosen(change, doc_name(doc, server)))
			continue;
		count++;
		if (edits != NULL) {
			*outcome = (struct outcome){ .kind = OUTCOME_LEFT,
				.name = doc_copy(doc_name(doc, server)),
				.line = span_count(span_part(doc->text, 0, server->start), '\n') + 1,
				.limit = client_timeout(change->client, doc, server) };
			if (change->unwrap)
				unwrap(doc, &entry, outcome, edits);
			else
				wrap(change, doc, &entry, outcome, edits);
		}
		if (outcome->kind <= OUTCOME_UNWRAPPED)
			entry_show(edits != NULL ? &outcome->before : &outcome->after, doc, &entry, false);
	}
	outcomes->count = count;
	free(servers.list);
}

static int
compare(const void *a, const void *b)
{
	const struct splice *first = a, *second = b;

	return (first->at > second->at) - (first->at < second->at);
}

static void
apply(struct splices *edits, struct span text, struct buf *out)
{
	size_t done = 0;

	if (edits->count > 0)
		qsort(edits->list, edits->count, sizeof(*edits->list), compare);
	for (size_t i = 0; i < edits->count; i++) {
		const struct splice *edit = &edits->list[i];

		assert(edit->at >= done);
		buf_append(out, span_part(text, done, edit->at - done));
		buf_append(out, span_part(buf_span(&edits->words), edit->words, edit->words_len));
		done = edit->at + edit->len;
	}
	buf_append(out, span_part(text, done, text.len - done));
}

int
change_text(const struct change *change, struct span text, struct buf *out, struct outcomes *outcomes)
{
	struct splices edits = { 0 };
	const char *what = "";
	size_t start = out->len;
	struct doc doc;
	int result;

	*outcomes = (struct outcomes){ 0 };
	result = client_read(change->client, &doc, text);
	if (result == 0) {
		visit(change, &doc, &edits, outcomes);
		apply(&edits, text, out);
		doc_free(&doc);
		what = "changed, it could not be read again: ";
		result = client_read(change->client, &doc, span_part(buf_span(out), start, out->len - start));
	}
	if (result == 0)
		visit(change, &doc, NULL, outcomes);
	snprintf(outcomes->fault, sizeof(outcomes->fault), "%s%s", what, doc.fault);
	doc_free(&doc);
	free(edits.list);
	buf_free(&edits.words);
	return result;
}

void
outcomes_free(struct outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++) {
		free(outcomes->list[i].name);
		buf_free(&outcomes->list[i].before);
		buf_free(&outcomes->list[i].after);
	}
	free(outcomes->list);
	*outcomes = (struct outcomes){ 0 };
}
