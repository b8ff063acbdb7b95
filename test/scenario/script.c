#include "scenario/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/buf.h"
#include "scenario/option.h"
#include "scenario/phrase.h"
#include "scenario/vocabulary.h"

struct parser {
	struct script *script;
	struct phrase_context context;
	struct steps *steps; /* being defined, or NULL */
	unsigned depth;      /* of steps within steps */
	struct buf each;     /* lines that each scenario begins with */
	unsigned each_number;
	bool used;  /* ... and one has: the next `each` begins anew */
	bool fresh; /* the title of a scenario was the last line */
};

struct heading {
	const char *word;
	bool (*read)(struct parser *parser, struct span rest);
};

enum { STEPS_DEPTH_MAX = 4 };

void
script_init(struct script *script)
{
	memset(script, 0, sizeof(*script));
	script->vocabulary = vocabulary_new();
}

static bool
on_scenario(struct parser *parser, struct span rest)
{
	struct script *script = parser->script;
	struct scenario *scenario;

	script->scenarios =
	    mem_resize(script->scenarios, script->count + 1, sizeof(*script->scenarios));
	scenario = &script->scenarios[script->count++];
	memset(scenario, 0, sizeof(*scenario));
	scenario->title = vocabulary_copy(rest);
	scenario->file = parser->context.file;
	scenario->number = parser->context.number;
	scenario->config.dialect = &dialect_mcp;
	scenario->config.grace = MSEC_NEVER;
	scenario->config.max_message = LIMIT_MESSAGE;
	scenario->config.max_inflight = LIMIT_INFLIGHT;
	parser->context.scenario = scenario;
	memset(parser->context.last, 0, sizeof(parser->context.last));
	parser->used = parser->fresh = true;
	return rest.len > 0;
}

static bool
on_each(struct parser *parser, struct span rest)
{
	if (parser->used)
		buf_clear(&parser->each);
	if (parser->each.len == 0)
		parser->each_number = parser->context.number;
	parser->used = false;
	buf_append(&parser->each, rest);
	buf_append(&parser->each, SPAN("\n"));
	return rest.len > 0;
}

static bool
on_seed(struct parser *parser, struct span rest)
{
	struct scenario *scenario = parser->context.scenario;

	while (scenario != NULL && rest.len > 0) {
		scenario->seeds =
		    mem_resize(scenario->seeds, scenario->seed_count + 1, sizeof(*scenario->seeds));
		scenario->seeds[scenario->seed_count++] = vocabulary_copy(vocabulary_word(&rest));
	}
	return scenario != NULL;
}

static bool
on_options(struct parser *parser, struct span rest)
{
	struct scenario *scenario = parser->context.scenario;
	bool sound = scenario != NULL && rest.len > 0;

	while (sound && rest.len > 0)
		sound = option_read(scenario, vocabulary_word(&rest));
	return sound;
}

static bool
on_framing(struct parser *parser, struct span rest)
{
	struct scenario *scenario = parser->context.scenario;

	if (scenario == NULL || !vocabulary_is(rest, "header"))
		return false;
	scenario->framing = FRAMING_HEADER;
	return true;
}

/* A scenario about a limit of size is not played with fillers; the rest of the line tells which. */
static bool
on_short(struct parser *parser, struct span rest)
{
	struct scenario *scenario = parser->context.scenario;

	if (scenario != NULL)
		scenario->is_short = true;
	return scenario != NULL && rest.len > 0;
}

static bool
on_message(struct parser *parser, struct span rest)
{
	return vocabulary_message(parser->script->vocabulary, rest);
}

static bool
on_steps(struct parser *parser, struct span rest)
{
	parser->steps = vocabulary_steps(parser->script->vocabulary, rest);
	if (parser->steps == NULL)
		return false;
	parser->steps->file = parser->context.file;
	parser->steps->number = parser->context.number + 1;
	return true;
}

static const struct heading headings[] = {
	{ "scenario", on_scenario },
	{ "each", on_each },
	{ "seed", on_seed },
	{ "options", on_options },
	{ "framing", on_framing },
	{ "short", on_short },
	{ "message", on_message },
	{ "steps", on_steps },
	{ NULL, NULL },
};

static bool
parse_heading(struct parser *parser, struct span text)
{
	struct span word = vocabulary_word(&text);
	const struct heading *heading;

	for (heading = headings; heading->word != NULL; heading++)
		if (vocabulary_is(word, heading->word))
			return heading->read(parser, text);
	return false;
}

static void parse_lines(struct parser *parser, struct span text);

/* Lines that stand at another place. */
static void
parse_elsewhere(struct parser *parser, const char *file, unsigned number, struct span text)
{
	struct phrase_context *context = &parser->context;
	const char *here = context->file;
	unsigned line = context->number;

	context->file = file;
	context->number = number;
	parse_lines(parser, text);
	context->file = here;
	context->number = line;
}

static bool
parse_steps(struct parser *parser, struct span name)
{
	const struct steps *steps = vocabulary_find_steps(parser->script->vocabulary, name);

	if (steps == NULL || parser->depth == STEPS_DEPTH_MAX)
		return false;
	parser->depth++;
	parse_elsewhere(parser, steps->file, steps->number, buf_span(&steps->text));
	parser->depth--;
	return true;
}

/*
 * The line behind a title: true if it was `bare`, else what each scenario begins with stands before
 * it.
 */
static bool
parse_beginning(struct parser *parser, struct span text)
{
	parser->fresh = false;
	if (vocabulary_is(text, "bare"))
		return true;
	parse_elsewhere(parser, parser->context.file, parser->each_number, buf_span(&parser->each));
	return false;
}

static void
parse_line(struct parser *parser, struct span text)
{
	if (parser->steps != NULL) {
		if (vocabulary_is(text, "end")) {
			parser->steps = NULL;
			return;
		}
		buf_append(&parser->steps->text, text);
		buf_append(&parser->steps->text, SPAN("\n"));
		return;
	}
	if (text.len == 0 || *text.ptr == '#' || (parser->fresh && parse_beginning(parser, text)))
		return;
	if (parse_steps(parser, text) || parse_heading(parser, text))
		return;
	if (parser->context.scenario != NULL && phrase_read(&parser->context, text))
		return;
	parser->script->faults++;
	printf("%s:%u: not understood: %.*s\n", parser->context.file, parser->context.number,
	    (int)text.len, text.ptr);
}

static void
parse_lines(struct parser *parser, struct span text)
{
	while (text.len > 0) {
		const char *newline = memchr(text.ptr, '\n', text.len);
		size_t len = newline == NULL ? text.len : (size_t)(newline - text.ptr);

		parse_line(parser, span_part(text, 0, len));
		parser->context.number++;
		len += newline != NULL;
		text = span_part(text, len, text.len - len);
	}
}

static bool
read_whole(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "r");
	size_t n;

	if (file == NULL)
		return false;
	do {
		n = fread(buf_space(out, 65536), 1, 65536, file);
		buf_added(out, n);
	} while (n > 0);
	fclose(file);
	return true;
}

void
script_read(struct script *script, const char *path)
{
	struct parser parser = { .script = script };
	struct buf text = { 0 };

	script->files = mem_resize(script->files, script->file_count + 1, sizeof(*script->files));
	parser.context.vocabulary = script->vocabulary;
	parser.context.number = 1;
	parser.context.file = script->files[script->file_count++] = strdup(path);
	if (read_whole(path, &text)) {
		parse_lines(&parser, buf_span(&text));
	} else {
		printf("%s: cannot be read\n", path);
		script->faults++;
	}
	if (parser.steps != NULL) {
		printf("%s:%u: steps without an end\n", path, parser.steps->number);
		script->faults++;
	}
	buf_free(&parser.each);
	buf_free(&text);
}
