#include "scenario/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/mem.h"
#include "scenario/option.h"
#include "scenario/vocabulary.h"

struct parser {
	struct script *script;
	const char *file;
	unsigned number;
	struct steps *steps;  /* being defined, or NULL */
	unsigned depth;       /* of steps within steps */
	struct span last[2];  /* what each side sent last; owned by a line */
};

struct phrase {
	const char *word;
	bool (*parse)(struct parser *parser, enum side side, struct span rest);
};

enum { STEPS_DEPTH_MAX = 4 };

void
script_init(struct script *script)
{
	memset(script, 0, sizeof(*script));
	script->vocabulary = vocabulary_new();
}

static void
scenario_free(struct scenario *scenario)
{
	size_t i;

	for (i = 0; i < scenario->line_count; i++)
		buf_free(&scenario->lines[i].text);
	for (i = 0; i < scenario->seed_count; i++)
		free(scenario->seeds[i]);
	for (i = 0; i < scenario->option_count; i++) {
		free(scenario->options[i].method);
		free(scenario->options[i].name);
	}
	free(scenario->lines);
	free(scenario->seeds);
	free(scenario->options);
	free(scenario->title);
}

void
script_free(struct script *script)
{
	size_t i;

	for (i = 0; i < script->count; i++)
		scenario_free(&script->scenarios[i]);
	for (i = 0; i < script->file_count; i++)
		free(script->files[i]);
	free(script->scenarios);
	free(script->files);
	vocabulary_free(script->vocabulary);
}

static bool
is_word(struct span span, const char *word)
{
	return span_equal(span, (struct span){ word, strlen(word) });
}

static struct scenario *
current(const struct parser *parser)
{
	struct script *script = parser->script;

	return script->count == 0 ? NULL : &script->scenarios[script->count - 1];
}

static struct line *
add_line(struct parser *parser, enum line_kind kind, enum side side)
{
	struct scenario *scenario = current(parser);
	struct line *line;

	scenario->lines =
	    mem_resize(scenario->lines, scenario->line_count + 1, sizeof(*scenario->lines));
	line = &scenario->lines[scenario->line_count++];
	memset(line, 0, sizeof(*line));
	line->kind = kind;
	line->side = side;
	line->file = parser->file;
	line->number = parser->number;
	return line;
}

static bool
add_plain(struct parser *parser, enum line_kind kind, enum side side, struct span rest)
{
	add_line(parser, kind, side);
	return rest.len == 0;
}

static bool
parse_number(struct span text, msec_t *number)
{
	char digits[24];
	char *end;

	if (text.len == 0 || text.len >= sizeof(digits))
		return false;
	memcpy(digits, text.ptr, text.len);
	digits[text.len] = '\0';
	*number = strtoll(digits, &end, 10);
	return *end == '\0';
}

static void
remember(struct parser *parser, enum side side)
{
	struct scenario *scenario = current(parser);

	parser->last[side] = buf_span(&scenario->lines[scenario->line_count - 1].text);
}

static bool
on_send(struct parser *parser, enum side side, struct span rest)
{
	struct line *line = add_line(parser, LINE_SEND, side);

	if (!vocabulary_expand(parser->script->vocabulary, rest, &line->text))
		return false;
	buf_append(&line->text, SPAN("\n"));
	remember(parser, side);
	return true;
}

static bool
on_send_raw(struct parser *parser, enum side side, struct span rest)
{
	bool sound = vocabulary_unquote(rest, &add_line(parser, LINE_SEND, side)->text);

	remember(parser, side);
	return sound;
}

static bool
on_see_same(struct parser *parser, enum side side, struct span rest)
{
	struct span same = parser->last[side == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT];
	struct line *line = add_line(parser, LINE_SEE, side);

	line->exact = true;
	buf_append(&line->text, same);
	return same.len > 0 && rest.len == 0;
}

static bool
on_pass(struct parser *parser, enum side side, struct span rest)
{
	enum side other = side == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT;

	return on_send(parser, side, rest) && on_see_same(parser, other, (struct span){ NULL, 0 });
}

static bool
on_see(struct parser *parser, enum side side, struct span rest)
{
	if (is_word(rest, "nothing"))
		return add_plain(parser, LINE_NOTHING, side, (struct span){ NULL, 0 });
	if (is_word(rest, "same"))
		return on_see_same(parser, side, (struct span){ NULL, 0 });
	return vocabulary_expand(
	    parser->script->vocabulary, rest, &add_line(parser, LINE_SEE, side)->text);
}

static bool
on_see_raw(struct parser *parser, enum side side, struct span rest)
{
	struct line *line = add_line(parser, LINE_SEE, side);

	line->exact = true;
	return vocabulary_unquote(rest, &line->text);
}

static bool
on_stalls(struct parser *parser, enum side side, struct span rest)
{
	return add_plain(parser, LINE_STALL, side, rest);
}

static bool
on_resumes(struct parser *parser, enum side side, struct span rest)
{
	return add_plain(parser, LINE_RESUME, side, rest);
}

static bool
on_unread(struct parser *parser, enum side side, struct span rest)
{
	return add_plain(parser, LINE_UNREAD, side, rest);
}

static bool
on_read(struct parser *parser, enum side side, struct span rest)
{
	return add_plain(parser, LINE_READ, side, rest);
}

static bool
on_ends(struct parser *parser, enum side side, struct span rest)
{
	return add_plain(parser, LINE_END, side, rest);
}

static bool
on_takes(struct parser *parser, enum side side, struct span rest)
{
	return parse_number(rest, &add_line(parser, LINE_TAKE, side)->value);
}

static bool
on_outstanding(struct parser *parser, enum side side, struct span rest)
{
	return parse_number(rest, &add_line(parser, LINE_OUTSTANDING, side)->value);
}

static bool
on_leaves(struct parser *parser, enum side side, struct span rest)
{
	static const char *const words[] = { "cancel", "drain", "terminated" };
	struct line *line = add_line(parser, LINE_LEAVE, side);
	int i;

	for (i = 0; i < 3; i++)
		if (is_word(rest, words[i]))
			line->value = i;
	return side == SIDE_CLIENT && (line->value > 0 || is_word(rest, words[0]));
}

static bool
on_gone(struct parser *parser, enum side side, struct span rest)
{
	struct line *line = add_line(parser, LINE_GONE, side);
	struct span word = vocabulary_word(&rest);

	line->exact = is_word(word, "signal");
	line->value = -1;
	if (word.len == 0)
		return side == SIDE_SERVER;
	return side == SIDE_SERVER && (line->exact || is_word(word, "status")) &&
	    parse_number(rest, &line->value);
}

static bool
on_deaf(struct parser *parser, enum side side, struct span rest)
{
	return add_plain(parser, LINE_DEAF, side, rest) && side == SIDE_SERVER;
}

static const struct phrase side_phrases[] = {
	{ ">", on_send },
	{ ">>", on_send_raw },
	{ "=>", on_pass },
	{ "<", on_see },
	{ "<<", on_see_raw },
	{ "stalls", on_stalls },
	{ "resumes", on_resumes },
	{ "takes", on_takes },
	{ "unread", on_unread },
	{ "read", on_read },
	{ "ends", on_ends },
	{ "leaves", on_leaves },
	{ "gone", on_gone },
	{ "deaf", on_deaf },
	{ "outstanding", on_outstanding },
	{ NULL, NULL },
};

static bool
parse_phrase(const struct phrase *phrases, struct parser *parser, enum side side, struct span rest)
{
	struct span word = vocabulary_word(&rest);

	for (; phrases->word != NULL; phrases++)
		if (is_word(word, phrases->word))
			return phrases->parse(parser, side, rest);
	return false;
}

static bool
on_client(struct parser *parser, enum side side, struct span rest)
{
	(void)side;
	return current(parser) != NULL && parse_phrase(side_phrases, parser, SIDE_CLIENT, rest);
}

static bool
on_server(struct parser *parser, enum side side, struct span rest)
{
	(void)side;
	return current(parser) != NULL && parse_phrase(side_phrases, parser, SIDE_SERVER, rest);
}

static bool
on_scenario(struct parser *parser, enum side side, struct span rest)
{
	struct script *script = parser->script;
	struct scenario *scenario;

	(void)side;
	script->scenarios =
	    mem_resize(script->scenarios, script->count + 1, sizeof(*script->scenarios));
	scenario = &script->scenarios[script->count++];
	memset(scenario, 0, sizeof(*scenario));
	scenario->title = vocabulary_copy(rest);
	scenario->file = parser->file;
	scenario->number = parser->number;
	scenario->config.grace = TIME_GRACE;
	scenario->config.max_message = LIMIT_MESSAGE;
	scenario->config.max_inflight = LIMIT_INFLIGHT;
	memset(parser->last, 0, sizeof(parser->last));
	return rest.len > 0;
}

static bool
on_seed(struct parser *parser, enum side side, struct span rest)
{
	struct scenario *scenario = current(parser);

	(void)side;
	while (scenario != NULL && rest.len > 0) {
		scenario->seeds =
		    mem_resize(scenario->seeds, scenario->seed_count + 1, sizeof(*scenario->seeds));
		scenario->seeds[scenario->seed_count++] = vocabulary_copy(vocabulary_word(&rest));
	}
	return scenario != NULL;
}

static bool
on_options(struct parser *parser, enum side side, struct span rest)
{
	struct scenario *scenario = current(parser);
	bool sound = scenario != NULL && rest.len > 0;

	(void)side;
	while (sound && rest.len > 0)
		sound = option_read(scenario, vocabulary_word(&rest));
	return sound;
}

static bool
on_at(struct parser *parser, enum side side, struct span rest)
{
	return current(parser) != NULL &&
	    option_duration(rest, &add_line(parser, LINE_AT, side)->value);
}

static bool
on_asleep(struct parser *parser, enum side side, struct span rest)
{
	return current(parser) != NULL && is_word(vocabulary_word(&rest), "until") &&
	    option_duration(rest, &add_line(parser, LINE_ASLEEP, side)->value);
}

static bool
on_why(struct parser *parser, enum side side, struct span rest)
{
	if (current(parser) == NULL)
		return false;
	buf_append(&add_line(parser, LINE_WHY, side)->text, rest);
	return rest.len > 0;
}

static bool
on_says(struct parser *parser, enum side side, struct span rest)
{
	if (current(parser) == NULL)
		return false;
	buf_append(&add_line(parser, LINE_SAYS, side)->text, rest);
	return rest.len > 0;
}

static bool
on_wants_end(struct parser *parser, enum side side, struct span rest)
{
	return current(parser) != NULL && add_plain(parser, LINE_WANTS_END, side, rest);
}

static bool
on_message(struct parser *parser, enum side side, struct span rest)
{
	(void)side;
	return vocabulary_message(parser->script->vocabulary, rest);
}

static bool
on_steps(struct parser *parser, enum side side, struct span rest)
{
	(void)side;
	parser->steps = vocabulary_steps(parser->script->vocabulary, rest);
	if (parser->steps == NULL)
		return false;
	parser->steps->file = parser->file;
	parser->steps->number = parser->number + 1;
	return true;
}

static const struct phrase phrases[] = {
	{ "scenario", on_scenario },
	{ "seed", on_seed },
	{ "options", on_options },
	{ "at", on_at },
	{ "asleep", on_asleep },
	{ "client", on_client },
	{ "server", on_server },
	{ "why", on_why },
	{ "says", on_says },
	{ "wants-end", on_wants_end },
	{ "message", on_message },
	{ "steps", on_steps },
	{ NULL, NULL },
};

static void parse_lines(struct parser *parser, struct span text);

static bool
parse_steps(struct parser *parser, struct span name)
{
	const struct steps *steps = vocabulary_find_steps(parser->script->vocabulary, name);
	const char *file = parser->file;
	unsigned number = parser->number;

	if (steps == NULL || parser->depth == STEPS_DEPTH_MAX)
		return false;
	parser->depth++;
	parser->file = steps->file;
	parser->number = steps->number;
	parse_lines(parser, buf_span(&steps->text));
	parser->depth--;
	parser->file = file;
	parser->number = number;
	return true;
}

static void
parse_line(struct parser *parser, struct span text)
{
	if (parser->steps != NULL) {
		if (is_word(text, "end")) {
			parser->steps = NULL;
			return;
		}
		buf_append(&parser->steps->text, text);
		buf_append(&parser->steps->text, SPAN("\n"));
		return;
	}
	if (text.len == 0 || *text.ptr == '#')
		return;
	if (parse_steps(parser, text) || parse_phrase(phrases, parser, SIDE_CLIENT, text))
		return;
	parser->script->faults++;
	printf("%s:%u: not understood: %.*s\n", parser->file, parser->number, (int)text.len, text.ptr);
}

static void
parse_lines(struct parser *parser, struct span text)
{
	while (text.len > 0) {
		const char *newline = memchr(text.ptr, '\n', text.len);
		size_t len = newline == NULL ? text.len : (size_t)(newline - text.ptr);

		parse_line(parser, span_part(text, 0, len));
		parser->number++;
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
	struct parser parser = { .script = script, .number = 1 };
	struct buf text;

	buf_init(&text);
	script->files = mem_resize(script->files, script->file_count + 1, sizeof(*script->files));
	parser.file = script->files[script->file_count++] = strdup(path);
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
	buf_free(&text);
}
