#include "ctl/found.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "ctl/change.h"
#include "ctl/replace.h"
#include "ctl/table.h"
#include "ctl/term.h"
#include "shell/command.h"
#include "shell/printable.h"

/* cells: the most of the terminal that it takes; SIZE_MAX: any number. */
static void __attribute__((format(printf, 2, 0))) say(size_t cells, const char *format, va_list values)
{
	struct buf words, safe, line;
	va_list again;
	int len;

	va_copy(again, values);
	len = vsnprintf(NULL, 0, format, values);
	buf_init(&words);
	buf_init(&safe);
	buf_init(&line);
	if (len > 0)
		vsnprintf(buf_space(&words, (size_t)len + 1), (size_t)len + 1, format, again);
	buf_added(&words, len > 0 ? (size_t)len : 0);
	va_end(again);
	printable_append(&safe, buf_span(&words), "");
	table_cut(&line, buf_span(&safe), cells);
	buf_append(&line, SPAN("\n"));
	fwrite(line.data, 1, line.len, stdout);
	buf_free(&words);
	buf_free(&safe);
	buf_free(&line);
}

void
found_say(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	say(SIZE_MAX, format, values);
	va_end(values);
}

/* A row of the list, cut to the terminal. */
static void __attribute__((format(printf, 1, 2))) say_row(const char *format, ...)
{
	size_t width = term_width(NULL);
	va_list values;

	va_start(values, format);
	say(width > 0 ? width : SIZE_MAX, format, values);
	va_end(values);
}

void
found_append_words(struct buf *line, const struct doc *doc, const struct entry *entry, const struct doc_node *word,
    const struct doc_node *end)
{
	char **words = mem_new(sizeof(*words));
	size_t count = 0;

	for (; word != NULL && word != end; word = entry_next_word(entry, word)) {
		struct span text = word->kind == DOC_STRING ? doc_text(doc, word) : SPAN("?");

		words = mem_resize(words, count + 2, sizeof(*words));
		words[count] = mem_new(text.len + 1);
		memcpy(words[count++], text.ptr, text.len);
	}
	words[count] = NULL;
	command_append(line, words);
	for (size_t i = 0; i < count; i++)
		free(words[i]);
	free(words);
}

static const char *const states[] = {
	[ENTRY_PLAIN] = "not wrapped",
	[ENTRY_WRAPPED] = "wrapped",
	[ENTRY_BY_HAND] = "by hand",
	[ENTRY_REMOTE] = "remote",
	[ENTRY_ODD] = "odd",
};

/* fault: why the file, or the entry, is left alone; NULL: it is not. */
static void
put_json(const struct client_file *file, const char *server, const char *state, const char *fault, struct span options,
    struct span command)
{
	json_t *object = json_pack("{s:s, s:o, s:s}", "client", file->client->id, "file",
	    printable_json(span_of(file->path), false), "state", state);

	if (server != NULL)
		json_object_set_new(object, "server", printable_json(span_of(server), false));
	if (fault != NULL)
		json_object_set_new(object, "why", printable_json(span_of(fault), false));
	if (options.ptr != NULL)
		json_object_set_new(object, "options", printable_json(options, false));
	if (command.ptr != NULL)
		json_object_set_new(object, "command", printable_json(command, false));
	json_dumpf(object, stdout, JSON_COMPACT);
	fputs("\n", stdout);
	json_decref(object);
}

static void
list_server(const struct client_file *file, const struct doc *doc, const struct doc_node *node, bool json)
{
	struct entry entry = entry_read(doc, node);
	struct span name = doc_name(doc, node);
	struct buf command, options, server;

	buf_init(&command);
	buf_init(&options);
	buf_init(&server);
	if (entry.why == NULL)
		found_append_words(&command, doc, &entry, entry_first_word(&entry, true), NULL);
	if (entry.state == ENTRY_WRAPPED)
		found_append_words(&options, doc, &entry, entry.marker->next, entry.dashes);
	printable_append(&server, name, "");
	buf_append(&server, (struct span){ "", 1 });
	if (json)
		put_json(file, server.data, states[entry.state], entry.why,
		    entry.state == ENTRY_WRAPPED ? buf_span(&options) : SPAN_NONE,
		    entry.why == NULL ? buf_span(&command) : SPAN_NONE);
	else if (entry.why != NULL)
		say_row("  %-12s %s: %s", states[entry.state], server.data, entry.why);
	else
		say_row("  %-12s %s: %.*s%s%.*s", states[entry.state], server.data, (int)options.len,
		    buf_span(&options).ptr, options.len > 0 ? " -- " : "", (int)command.len, buf_span(&command).ptr);
	buf_free(&command);
	buf_free(&options);
	buf_free(&server);
}

/* A file that is left alone as a whole. */
static void
list_fault(const struct client_file *file, const char *fault, bool json)
{
	if (json)
		put_json(file, NULL, "left", fault, SPAN_NONE, SPAN_NONE);
	else
		found_say("  left alone: %s", fault);
}

static size_t
list_file(const struct client_file *file, bool json)
{
	struct client_servers servers = { 0 };
	struct replace contents;
	struct doc doc;

	doc_init(&doc, SPAN_NONE);
	if (!json)
		found_say("%s (%s): %s", file->client->name, file->client->id, file->path);
	if (replace_read(&contents, file->path, file->project ? "." : NULL) == -1)
		list_fault(file, contents.fault, json);
	else if (change_read(file->client, &doc, buf_span(&contents.text)) == -1)
		list_fault(file, doc.fault, json);
	else
		client_servers(file->client, &doc, &servers);
	for (size_t i = 0; i < servers.count; i++)
		list_server(file, &doc, servers.list[i], json);
	free(servers.list);
	doc_free(&doc);
	replace_free(&contents);
	return servers.count;
}

size_t
found_list(const struct client_files *files, bool json)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++)
		count += list_file(&files->list[i], json);
	return count;
}
