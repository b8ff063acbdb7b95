#include "scenario/phrase.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "scenario/option.h"
#include "scenario/vocabulary.h"

struct phrase {
	const char *word;
	enum line_kind kind;
	bool (*read)(struct phrase_context *context, struct line *line, struct span rest);
};

static enum side
other(enum side side)
{
	return side == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT;
}

static struct line *
add_line(struct phrase_context *context, enum line_kind kind, enum side side)
{
	struct scenario *scenario = context->scenario;
	struct line *line;

	scenario->lines =
	    mem_resize(scenario->lines, scenario->line_count + 1, sizeof(*scenario->lines));
	line = &scenario->lines[scenario->line_count++];
	memset(line, 0, sizeof(*line));
	line->kind = kind;
	line->side = side;
	line->file = context->file;
	line->number = context->number;
	line->framing = scenario->framing;
	return line;
}

static bool
read_empty(struct phrase_context *context, struct line *line, struct span rest)
{
	(void)context;
	(void)line;
	return rest.len == 0;
}

static bool
read_deaf(struct phrase_context *context, struct line *line, struct span rest)
{
	return read_empty(context, line, rest) && line->side == SIDE_SERVER;
}

static bool
read_number(struct phrase_context *context, struct line *line, struct span rest)
{
	(void)context;
	return option_number(rest, &line->value);
}

static bool
read_time(struct phrase_context *context, struct line *line, struct span rest)
{
	(void)context;
	return option_duration(rest, &line->value);
}

static bool
read_until(struct phrase_context *context, struct line *line, struct span rest)
{
	return vocabulary_is(vocabulary_word(&rest), "until") && read_time(context, line, rest);
}

static bool
read_text(struct phrase_context *context, struct line *line, struct span rest)
{
	(void)context;
	buf_append(&line->text, rest);
	return rest.len > 0;
}

static bool
read_sent(struct phrase_context *context, struct line *line, struct span rest)
{
	struct buf message;
	bool sound;

	message = (struct buf){ 0 };
	sound = vocabulary_expand(context->vocabulary, rest, &message);
	framing_append(&line->text, line->framing, buf_span(&message));
	buf_free(&message);
	context->last[line->side] = buf_span(&line->text);
	return sound;
}

static bool
read_sent_raw(struct phrase_context *context, struct line *line, struct span rest)
{
	bool sound = vocabulary_unquote(rest, &line->text);

	line->exact = true;
	context->last[line->side] = buf_span(&line->text);
	return sound;
}

static bool
read_same(struct phrase_context *context, struct line *line)
{
	struct span same = context->last[other(line->side)];

	line->exact = true;
	buf_append(&line->text, same);
	return same.len > 0;
}

static bool
read_passed(struct phrase_context *context, struct line *line, struct span rest)
{
	enum side to = other(line->side);

	return read_sent(context, line, rest) &&
	    read_same(context, add_line(context, LINE_SEE, to));
}

static bool
read_seen(struct phrase_context *context, struct line *line, struct span rest)
{
	if (vocabulary_is(rest, "same"))
		return read_same(context, line);
	if (vocabulary_is(rest, "nothing")) {
		line->kind = LINE_NOTHING;
		return true;
	}
	return vocabulary_expand(context->vocabulary, rest, &line->text);
}

static bool
read_seen_raw(struct phrase_context *context, struct line *line, struct span rest)
{
	(void)context;
	line->exact = true;
	return vocabulary_unquote(rest, &line->text);
}

/* timeout=RULE or max-time=RULE, and how many outstanding requests it changes */
static bool
read_rule(struct phrase_context *context, struct line *line, struct span rest)
{
	struct scenario scratch = { 0 };
	bool sound = option_read(&scratch, vocabulary_word(&rest)) && scratch.option_count == 1;

	(void)context;
	if (scratch.option_count > 0)
		line->rule = scratch.options[0];
	free(scratch.options);
	line->value = -1;
	return sound && (rest.len == 0 || option_number(rest, &line->value));
}

/* The word of a tally, and a number. */
static bool
read_tally(struct phrase_context *context, struct line *line, struct span rest)
{
	struct span word = vocabulary_word(&rest);
	enum tally tally = TALLY_ANSWERED;

	(void)context;
	while (tally < TALLIES && !vocabulary_is(word, tally_word(tally)))
		tally++;
	buf_append(&line->text, word);
	return tally < TALLIES && option_number(rest, &line->value);
}

static bool
read_exact(struct phrase_context *context, struct line *line, struct span rest)
{
	line->exact = true;
	return read_text(context, line, rest);
}

static bool
read_leaving(struct phrase_context *context, struct line *line, struct span rest)
{
	static const char *const words[] = {
		[LEAVE_CANCEL] = "cancel",
		[LEAVE_DRAIN] = "drain",
		[LEAVE_TERMINATED] = "terminated",
	};

	(void)context;
	for (line->value = 0; line->value <= LEAVE_TERMINATED; line->value++)
		if (vocabulary_is(rest, words[line->value]))
			return line->side == SIDE_CLIENT;
	return false;
}

static bool
read_gone(struct phrase_context *context, struct line *line, struct span rest)
{
	struct span word = vocabulary_word(&rest);

	(void)context;
	line->exact = vocabulary_is(word, "signal");
	line->value = -1;
	if (line->side != SIDE_SERVER || word.len == 0)
		return line->side == SIDE_SERVER;
	return (line->exact || vocabulary_is(word, "status")) && option_number(rest, &line->value);
}

static const struct phrase side_phrases[] = {
	{ ">", LINE_SEND, read_sent },
	{ ">>", LINE_SEND, read_sent_raw },
	{ "=>", LINE_SEND, read_passed },
	{ "<", LINE_SEE, read_seen },
	{ "<<", LINE_SEE, read_seen_raw },
	{ "stalls", LINE_STALL, read_empty },
	{ "resumes", LINE_RESUME, read_empty },
	{ "takes", LINE_TAKE, read_number },
	{ "misses", LINE_MISS, read_deaf },
	{ "unread", LINE_UNREAD, read_empty },
	{ "read", LINE_READ, read_empty },
	{ "ends", LINE_END, read_empty },
	{ "leaves", LINE_LEAVE, read_leaving },
	{ "gone", LINE_GONE, read_gone },
	{ "lost", LINE_LOST, read_gone },
	{ "back", LINE_BACK, read_deaf },
	{ "quoted", LINE_QUOTE, read_seen_raw },
	{ "stuck", LINE_STUCK, read_deaf },
	{ "deaf", LINE_DEAF, read_deaf },
	{ "shut", LINE_SHUT, read_deaf },
	{ "retires", LINE_RETIRES, read_deaf },
	{ "hopeless", LINE_HOPELESS, read_deaf },
	{ "operated", LINE_OPERATE, read_text },
	{ "unoperated", LINE_OPERATE, read_exact },
	{ "outstanding", LINE_OUTSTANDING, read_number },
	{ "requested", LINE_REQUESTED, read_number },
	{ "refusals", LINE_REFUSALS, read_number },
	{ NULL, LINE_SEND, NULL },
};

static const struct phrase phrases[] = {
	{ "at", LINE_AT, read_time },
	{ "asleep", LINE_ASLEEP, read_until },
	{ "why", LINE_WHY, read_text },
	{ "says", LINE_SAYS, read_text },
	{ "set", LINE_SET, read_rule },
	{ "wants-end", LINE_WANTS_END, read_empty },
	{ "restart", LINE_RESTART, read_text },
	{ "operator-ping", LINE_PING, read_text },
	{ "operator-restart", LINE_DISMISS, read_text },
	{ "operator-restart-force", LINE_DISMISS, read_exact },
	{ "verdict", LINE_VERDICT, read_text },
	{ "tally", LINE_TALLY, read_tally },
	{ NULL, LINE_SEND, NULL },
};

bool
phrase_read(struct phrase_context *context, struct span text)
{
	struct span word = vocabulary_word(&text);
	enum side side = vocabulary_is(word, "server") ? SIDE_SERVER : SIDE_CLIENT;
	const struct phrase *phrase = phrases;

	if (side == SIDE_SERVER || vocabulary_is(word, "client")) {
		phrase = side_phrases;
		word = vocabulary_word(&text);
	}
	for (; phrase->word != NULL; phrase++)
		if (vocabulary_is(word, phrase->word))
			return phrase->read(context, add_line(context, phrase->kind, side), text);
	return false;
}
