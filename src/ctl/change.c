#include "ctl/change.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "ctl/jsonc.h"
#include "ctl/toml.h"
#include "shell/printable.h"

/* The bytes as a string that the caller owns. */
static char *
copy(struct span bytes)
{
	char *string = mem_new(bytes.len + 1);

	memcpy(string, bytes.len > 0 ? bytes.ptr : "", bytes.len);
	return string;
}

int
change_read(const struct client *client, struct doc *doc, struct span text)
{
	doc_init(doc, text);
	switch (client->syntax) {
	case CLIENT_JSONC:
		return jsonc_read(doc);
	case CLIENT_TOML:
		return toml_read(doc);
	case CLIENT_YAML:
		break;
	}
	snprintf(doc->fault, sizeof(doc->fault), "YAML is not edited");
	return -1;
}

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
	struct span name = doc_name(doc, node);
	struct outcome *outcome;
	struct buf shown;

	buf_init(&shown);
	printable_append(&shown, name, "");
	outcomes->list = mem_resize(outcomes->list, outcomes->count + 1, sizeof(*outcomes->list));
	outcome = &outcomes->list[outcomes->count++];
	*outcome =
	    (struct outcome){ .name = copy(buf_span(&shown)), .limit = client_timeout(change->client, doc, node) };
	buf_free(&shown);
	outcome->named = change->name_count > 0;
	outcome->line = 1;
	for (size_t i = 0; outcome->named && i < node->start; i++)
		outcome->line += doc->text.ptr[i] == '\n';
	return outcome;
}

/* The options that a server is to have: those given, or those it has. */
static char **
choose_options(const struct change *change, const struct doc *doc, const struct entry *entry)
{
	const struct doc_node *word = entry->state == ENTRY_WRAPPED ? entry->marker->next : NULL;
	char **options = mem_new(sizeof(*options));
	size_t count = 0;

	for (; !change->given && word != NULL && word != entry->dashes; word = word->next) {
		options = mem_resize(options, count + 2, sizeof(*options));
		options[count++] = copy(doc_text(doc, word));
	}
	for (size_t i = 0; change->given && i < change->option_count; i++) {
		options = mem_resize(options, count + 2, sizeof(*options));
		options[count++] = copy(span_of(change->options[i]));
	}
	options[count] = NULL;
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
decide_wrap(const struct change *change, const struct doc *doc, const struct entry *entry, struct outcome *outcome,
    struct splices *edits)
{
	outcome->kind = OUTCOME_LEFT;
	outcome->why = entry->why;
	if (entry->state != ENTRY_PLAIN && entry->state != ENTRY_WRAPPED)
		return;
	outcome->options = choose_options(change, doc, entry);
	if (entry->state == ENTRY_PLAIN) {
		outcome->kind = OUTCOME_WRAPPED;
	} else if (is_same(change, doc, entry, outcome->options)) {
		outcome->kind = OUTCOME_ALREADY;
	} else if (entry_is_nested(doc, entry)) {
		outcome->why = "canceld stands before its command twice: unwrap it first";
	} else {
		outcome->why = entry_unwrap(doc, entry, edits);
		if (outcome->why == NULL)
			outcome->kind = OUTCOME_REWRAPPED;
	}
}

static void
decide_unwrap(const struct doc *doc, const struct entry *entry, struct outcome *outcome, struct splices *edits)
{
	outcome->kind = OUTCOME_NOT_WRAPPED;
	if (entry->state == ENTRY_WRAPPED) {
		outcome->why = entry_unwrap(doc, entry, edits);
		outcome->kind = outcome->why == NULL ? OUTCOME_UNWRAPPED : OUTCOME_LEFT;
	} else if (entry->state == ENTRY_BY_HAND || entry->state == ENTRY_ODD) {
		outcome->why = entry->why;
	}
}

/* Takes canceld out where it has to go, also where it comes back with other words. */
static void
take_out(const struct change *change, const struct doc *doc, struct splices *edits, struct outcomes *outcomes)
{
	struct client_servers servers = { 0 };

	client_servers(change->client, doc, &servers);
	for (size_t i = 0; i < servers.count; i++) {
		struct entry entry;
		struct outcome *outcome;

		if (!is_chosen(change, doc_name(doc, servers.list[i])))
			continue;
		entry = entry_read(doc, servers.list[i]);
		outcome = add_outcome(outcomes, change, doc, servers.list[i]);
		if (change->unwrap)
			decide_unwrap(doc, &entry, outcome, edits);
		else
			decide_wrap(change, doc, &entry, outcome, edits);
	}
	free(servers.list);
}

/* doc has none of the words that take_out has taken out; its servers are the same. */
static void
put_in(const struct change *change, const struct doc *doc, const struct outcomes *outcomes, struct splices *edits)
{
	struct client_servers servers = { 0 };
	const struct outcome *outcome = outcomes->list;

	client_servers(change->client, doc, &servers);
	for (size_t i = 0; i < servers.count; i++) {
		struct entry entry;
		size_t count = 0;

		if (!is_chosen(change, doc_name(doc, servers.list[i])))
			continue;
		if (outcome->kind == OUTCOME_WRAPPED || outcome->kind == OUTCOME_REWRAPPED) {
			while (outcome->options[count] != NULL)
				count++;
			entry = entry_read(doc, servers.list[i]);
			assert(entry.state == ENTRY_PLAIN);
			entry_wrap(doc, &entry, change->canceld, outcome->options, count, edits);
		}
		outcome++;
	}
	free(servers.list);
}

int
change_text(const struct change *change, struct span text, struct buf *out, struct outcomes *outcomes)
{
	struct splices edits = { 0 }, second = { 0 };
	const char *what = "";
	size_t start = out->len;
	struct buf bare;
	struct doc doc;
	int result = -1;

	*outcomes = (struct outcomes){ 0 };
	buf_init(&bare);
	if (change_read(change->client, &doc, text) == -1)
		goto out;
	take_out(change, &doc, &edits, outcomes);
	splices_apply(&edits, text, &bare);
	doc_free(&doc);
	what = "changed, it could not be read again: ";
	if (change_read(change->client, &doc, buf_span(&bare)) == -1)
		goto out;
	if (!change->unwrap)
		put_in(change, &doc, outcomes, &second);
	splices_apply(&second, buf_span(&bare), out);
	doc_free(&doc);
	result = change_read(change->client, &doc, span_part(buf_span(out), start, out->len - start));
out:
	snprintf(outcomes->fault, sizeof(outcomes->fault), "%s%s", what, doc.fault);
	doc_free(&doc);
	buf_free(&bare);
	splices_free(&edits);
	splices_free(&second);
	return result;
}

void
outcomes_free(struct outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++) {
		struct outcome *outcome = &outcomes->list[i];

		for (char **option = outcome->options; option != NULL && *option != NULL; option++)
			free(*option);
		free(outcome->options);
		free(outcome->name);
	}
	free(outcomes->list);
	*outcomes = (struct outcomes){ 0 };
}
