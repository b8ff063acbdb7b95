#include "ctl/change.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"

static bool
is_chosen(const struct change *change, struct span name)
{
	for (size_t i = 0; i < change->name_count; i++)
		if (span_equal(span_of(change->names[i]), name))
			return true;
	return change->name_count == 0;
}

static struct outcome *
add_outcome(struct outcomes *outcomes, const struct change *change, const struct doc *doc, const struct doc_node *node)
{
	struct outcome *outcome;

	outcomes->list = mem_resize(outcomes->list, outcomes->count + 1, sizeof(*outcomes->list));
	outcome = &outcomes->list[outcomes->count++];
	*outcome = (struct outcome){ .name = doc_copy(doc_name(doc, node)),
		.line = span_count(span_part(doc->text, 0, node->start), '\n') + 1,
		.limit = client_timeout(change->client, doc, node) };
	return outcome;
}

/* The options that a server is to have: those given, or those it has. */
static char **
choose_options(const struct change *change, const struct doc *doc, const struct entry *entry)
{
	const struct doc_node *word = entry->state == ENTRY_WRAPPED ? entry->marker->next : entry->dashes;
	char **options = mem_new(sizeof(*options));
	size_t count = 0;

	while (change->given ? count < change->option_count : word != entry->dashes) {
		options = mem_resize(options, count + 2, sizeof(*options));
		options[count] = doc_copy(change->given ? span_of(change->options[count]) : doc_text(doc, word));
		options[++count] = NULL;
		word = change->given ? NULL : word->next;
	}
	return options;
}

/* Whether a wrapped server is wrapped by this canceld with these options. */
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
	outcome->kind = OUTCOME_LEFT;
	outcome->why = entry->why;
	if (entry->why != NULL)
		return;
	outcome->options = choose_options(change, doc, entry);
	if (entry->state == ENTRY_WRAPPED && is_same(change, doc, entry, outcome->options)) {
		outcome->kind = OUTCOME_ALREADY;
		return;
	}
	outcome->why = entry_wrap(doc, entry, change->canceld, outcome->options, edits);
	if (outcome->why == NULL)
		outcome->kind = entry->state == ENTRY_WRAPPED ? OUTCOME_REWRAPPED : OUTCOME_WRAPPED;
}

static void
unwrap(const struct doc *doc, const struct entry *entry, struct outcome *outcome, struct splices *edits)
{
	outcome->kind = OUTCOME_NOT_WRAPPED;
	outcome->why = entry->state != ENTRY_REMOTE ? entry->why : NULL;
	if (entry->state == ENTRY_WRAPPED) {
		outcome->why = entry_unwrap(doc, entry, edits);
		outcome->kind = outcome->why == NULL ? OUTCOME_UNWRAPPED : OUTCOME_LEFT;
	}
}

/* Decides about each server and adds the edits; without edits, adds what stands in the new text. */
static void
visit(const struct change *change, const struct doc *doc, struct splices *edits, struct outcomes *outcomes)
{
	struct client_servers servers = { 0 };
	struct outcome *outcome = outcomes->list;

	client_servers(change->client, doc, &servers);
	for (size_t i = 0; i < servers.count; i++) {
		struct entry entry = entry_read(doc, servers.list[i]);

		if (!is_chosen(change, doc_name(doc, servers.list[i])))
			continue;
		if (edits != NULL) {
			outcome = add_outcome(outcomes, change, doc, servers.list[i]);
			if (change->unwrap)
				unwrap(doc, &entry, outcome, edits);
			else
				wrap(change, doc, &entry, outcome, edits);
		}
		if (outcome->kind <= OUTCOME_UNWRAPPED)
			entry_show(edits != NULL ? &outcome->before : &outcome->after, doc, &entry, false);
		outcome++;
	}
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
		struct outcome *outcome = &outcomes->list[i];

		entry_words_free(outcome->options);
		free(outcome->name);
		buf_free(&outcome->before);
		buf_free(&outcome->after);
	}
	free(outcomes->list);
	*outcomes = (struct outcomes){ 0 };
}
