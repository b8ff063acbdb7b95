#include "change.h"

#include <stdio.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "shell/words.h"

/* Edits of one text. */
struct edits {                         /* zeroed: none */
	struct edit {                  /* in the order of the text */
		const char *from, *to; /* what is taken out */
		char *words;           /* what is put there instead; owned */
	} * list;
	size_t count;
};

/* Adds an edit: replaces the text between two places by the words. Edits must not overlap. */
static void
add(struct edits *edits, const char *from, const char *to, struct span words)
{
	size_t at = edits->count++;

	mem_room(edits->list, edits->count);
	for (; at > 0 && edits->list[at - 1].from > from; at--)
		edits->list[at] = edits->list[at - 1];
	edits->list[at] = (struct edit){ from, to, doc_copy(words) };
}

/* Whether only blanks and commas stand between two places. */
static bool
only_blanks(const char *from, const char *to)
{
	return from + strspn(from, " \t\r\n,") >= to;
}

/* Whether a comment stands between `from` and the first word, or between the words up to `end`. */
static bool
has_comment(const char *from, const struct doc_node *word, const struct doc_node *end)
{
	for (; only_blanks(from, word->start); from = word->end, word = word->next)
		if (word == end)
			return false;
	return true;
}

const char outcome_left[] = "left alone";

static const char comment[] = "a comment stands between the words of canceld: move it first";

/*
 * Appends the beginning of a new member args, up to its value. It is laid out behind the command as
 * the command is laid out behind what stands before it.
 */
static void
append_member(struct buf *text, const struct doc *doc, const struct entry *entry)
{
	const struct doc_key *key = &entry->command->key;
	const struct doc_node *around = entry->command->parent;
	const char *start = key->start, *quote = *key->last == '"' ? "\"" : "";

	while (around->start == NULL && around->parent != NULL)
		around = around->parent;
	while (start > doc->bytes && strchr(" \t\r\n", start[-1]) != NULL)
		start--;
	if (around->start != NULL)
		compose_text(text, ",");
	else if (span_count(span_between(start, key->start), '\n') == 0)
		compose_text(text, "\n");
	/* A dotted key keeps its table, and the key gets the same quotes as the command's. */
	compose_text(text, "%b%s%s%s%b", span_between(start, key->last), quote, entry->args, quote,
	    span_between(key->end, entry->command->start));
}

/*
 * Adds the edit that puts canceld's words before a PLAIN entry's own. The entry's first word, whose
 * place canceld takes, is put behind them.
 */
static void
insert_words(const struct doc *doc, const struct entry *entry, struct span words,
    struct edits *edits)
{
	const struct doc_node *first = entry->first, *array = entry->array;
	bool made = array == NULL, same = array == entry->command;
	const struct doc_node *next = made || same ? NULL : array->first;
	const char *at = made || same ? first->end : next != NULL ? next->start : array->start + 1;
	BUF_AUTO text = { 0 };

	if (made)
		append_member(&text, doc, entry);
	compose_text(&text,
	    made             ? "[%b, %b]" :
		same         ? ", %b, %b" :
		next != NULL ? "%b, %b, " :
			       "%b, %b",
	    words, span_between(first->start, first->end));
	add(edits, at, at, buf_span(&text));
}

/* Appends a word, quoted, to a list. */
static void
append_word(struct buf *words, struct span word)
{
	compose_text(words, words->len > 0 ? ", " : "");
	doc_quote(words, word);
}

/*
 * Wraps a PLAIN entry, or gives a WRAPPED one another canceld and other options, ended by NULL.
 * Like unwrap_words it returns NULL, or a clause that says what the edit would lose.
 */
static const char *
wrap_words(const struct doc *doc, const struct entry *entry, const char *canceld,
    char *const *options, struct edits *edits)
{
	const struct doc_node *marker = entry->marker, *dashes = entry->dashes;
	BUF_AUTO words = { 0 };

	if (marker != NULL && has_comment(marker->end, marker->next, dashes))
		return comment;
	append_word(&words, span_of(canceld));
	add(edits, entry->first->start, entry->first->end, buf_span(&words));
	buf_clear(&words);
	append_word(&words,
	    marker != NULL           ? marker->text :
		entry->array == NULL ? SPAN(ENTRY_MARK_ALONE) :
				       SPAN(ENTRY_MARK));
	for (; *options != NULL; options++)
		append_word(&words, span_of(*options));
	append_word(&words, SPAN("--"));
	if (marker != NULL)
		add(edits, marker->start, dashes->end, buf_span(&words));
	else
		insert_words(doc, entry, buf_span(&words), edits);
	return NULL;
}

/*
 * Removes the member args, which wrap had added. If something was put between args and its
 * neighbours since then, args stays, and is emptied.
 */
static void
remove_args(const struct doc_node *args, struct edits *edits)
{
	const struct doc_node *before = args->parent->first;

	while (before != args && before->next != args)
		before = before->next;
	if (before != args && before->end != NULL && before->end <= args->key.start &&
	    only_blanks(before->end, args->key.start))
		add(edits, before->end, args->end, SPAN_NONE);
	else if (args->parent->start != NULL && args->next != NULL &&
	    only_blanks(args->end, args->next->key.start))
		add(edits, args->key.start, args->next->key.start, SPAN_NONE);
	else
		add(edits, args->start + 1, args->end - 1, SPAN_NONE);
}

/* Unwraps a WRAPPED entry. */
static const char *
unwrap_words(const struct entry *entry, struct edits *edits)
{
	const struct doc_node *first = entry->first, *program = entry->program,
			      *array = entry->array;
	bool same = array == entry->command;
	const char *from = same   ? first->end :
	    program->next != NULL ? entry->marker->start :
				    array->start + 1;
	const char *to = program->end;

	if (!same && program->next != NULL)
		to = program->next->start;
	else if (!same && program->comma != NULL)
		to = program->comma + 1;
	if (has_comment(from, entry->marker, program) || !only_blanks(program->end, to))
		return comment;
	add(edits, first->start, first->end, span_between(program->start, program->end));
	if (!same && program->next == NULL &&
	    span_equal(entry->marker->text, SPAN(ENTRY_MARK_ALONE)) &&
	    only_blanks(to, array->end - 1))
		remove_args(array, edits);
	else
		add(edits, from, to, SPAN_NONE);
	return NULL;
}

/*
 * Whether the server is one of those that the command names. Without --lsp a language server must
 * be named in full, as GROUP:NAME.
 */
static bool
is_chosen(const struct change *change, const struct doc_node *server)
{
	bool language = client_is_language(server), asked = language == change->languages;
	bool chosen = change->names[0] == NULL && (asked || (language && change->unwrap));
	char *title = client_title(server);

	for (size_t i = 0; change->names[i] != NULL; i++)
		if (client_names(change->names[i], server) &&
		    (asked || (language && text_is(change->names[i], title))))
			chosen = change->seen[i] = true;
	free(title);
	return chosen;
}

static bool
are_equal(char *const *words, char *const *others)
{
	for (; *words != NULL && *others != NULL; words++, others++)
		if (!text_is(*words, *others))
			return false;
	return *words == *others;
}

static void
wrap(const struct change *change, const struct doc *doc, const struct entry *entry,
    struct outcome *outcome, struct edits *edits)
{
	static char option[] = "-D", lsp[] = "lsp", name[] = "--name";
	bool wrapped = entry->state == ENTRY_WRAPPED;
	char **kept = wrapped ? entry_words(entry, entry->marker->next, entry->dashes) : NULL,
	     **given = NULL, **options, title[NAME_SIZE];

	if (entry->language)
		ctl_add_words(&given, (char *const[]){ option, lsp, NULL });
	/*
	 * Tells canceld the name that people know the server by; but none that begins with '-',
	 * which would look like an option, or has a slash, which cancelctl takes for a path.
	 */
	if (snprintf(title, NAME_SIZE, "%s", entry->name) < NAME_SIZE &&
	    strchr("-", title[0]) == NULL && strchr(title, '/') == NULL)
		ctl_add_words(&given, (char *const[]){ name, title, NULL });
	ctl_add_words(&given, change->options);
	options = wrapped && !change->given ? kept : given;
	outcome->why = entry->why;
	outcome->deadline = change->deadline(options);
	if (wrapped && span_is(entry->first->text, change->canceld) && are_equal(kept, options))
		outcome->result = "already wrapped";
	else if (entry->why == NULL &&
	    (outcome->why = wrap_words(doc, entry, change->canceld, options, edits)) == NULL)
		outcome->result = wrapped ? "wrapped anew" : "wrapped";
	entry_words_free(kept);
	free(given);
}

static void
unwrap(const struct entry *entry, struct outcome *outcome, struct edits *edits)
{
	bool wrapped = entry->state == ENTRY_WRAPPED;

	outcome->why = wrapped           ? unwrap_words(entry, edits) :
	    entry->state != ENTRY_REMOTE ? entry->why :
					   NULL;
	/* An entry with both a reason and a program has a canceld that was put there by hand. */
	if (!wrapped && (entry->why == NULL || entry->program == NULL))
		outcome->result = "not wrapped";
	else if (outcome->why == NULL)
		outcome->result = "unwrapped";
}

/* Decides what becomes of a server, and adds the edits. */
static struct outcome
decide(const struct change *change, const struct client_servers *servers, size_t i,
    struct edits *edits)
{
	struct outcome outcome = { .result = outcome_left, .server = i };
	struct entry entry = entry_read(servers->list[i]);
	size_t before = edits->count;

	if (change->unwrap)
		unwrap(&entry, &outcome, edits);
	else
		wrap(change, &servers->doc, &entry, &outcome, edits);
	outcome.changed = edits->count > before;
	return outcome;
}

static void
apply(struct edits *edits, const struct doc *doc, struct buf *out)
{
	const char *done = doc->bytes;

	each_listed (edit, edits) {
		assert(edit->from >= done);
		buf_append(out, span_between(done, edit->from));
		buf_append(out, span_of(edit->words));
		done = edit->to;
		free(edit->words);
	}
	buf_append(out, span_between(done, doc->end));
	free(edits->list);
}

int
change_text(const struct change *change, struct span text, struct buf *out,
    struct outcomes *outcomes)
{
	struct client_servers *servers = &outcomes->before;
	struct edits edits = { 0 };
	size_t start = out->len;
	int result;

	*outcomes = (struct outcomes){ 0 };
	result = client_read(change->client, text, servers);
	print_into(outcomes->fault, "%s", servers->doc.fault);
	outcomes->list = mem_new((servers->count + 1) * sizeof(*outcomes->list));
	for (size_t i = 0; i < servers->count; i++)
		if (is_chosen(change, servers->list[i]))
			outcomes->list[outcomes->count++] = decide(change, servers, i, &edits);
	apply(&edits, &servers->doc, out);
	if (result == 0 &&
	    (result = client_read(change->client, span_from(buf_span(out), start),
		 &outcomes->after)) == -1)
		print_into(outcomes->fault, "changed, it could not be read again: %s",
		    outcomes->after.doc.fault);
	return result;
}

void
outcomes_free(struct outcomes *outcomes)
{
	client_servers_free(&outcomes->before);
	client_servers_free(&outcomes->after);
	free(outcomes->list);
	*outcomes = (struct outcomes){ 0 };
}
