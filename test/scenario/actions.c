#include "scenario/actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "scenario/match.h"
#include "scenario/vocabulary.h"

enum field {
	FIELD_VERB,
	FIELD_SIDE,
	FIELD_ID,
	FIELD_METHOD,
	FIELD_NAME,
	FIELD_MESSAGE,
	FIELD_DETAIL,
	FIELD_HINT,
	FIELD_OUTCOME,
	FIELD_ELAPSED,
	FIELD_TIMEOUT,
	FIELDS
};

static const char *const field_names[FIELDS] = {
	[FIELD_VERB] = "verb",
	[FIELD_SIDE] = "side",
	[FIELD_ID] = "id",
	[FIELD_METHOD] = "method",
	[FIELD_NAME] = "name",
	[FIELD_MESSAGE] = "message",
	[FIELD_DETAIL] = "detail",
	[FIELD_HINT] = "hint",
	[FIELD_OUTCOME] = "outcome",
	[FIELD_ELAPSED] = "elapsed",
	[FIELD_TIMEOUT] = "timeout",
};

struct action_copy {
	enum why why;
	char *fields[FIELDS];
};

static char *
number_text(msec_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	return strdup(number == MSEC_NEVER ? "" : text);
}

void
actions_add(struct action_list *list, const struct action *action)
{
	static const char *const verbs[] = { "send", "drop", "note" };
	static const char *const sides[] = { "client", "server" };
	struct action_copy *copy;

	if (list->count == list->capacity) {
		list->capacity = list->capacity * 2 + 8;
		list->first = mem_resize(list->first, list->capacity, sizeof(*list->first));
	}
	copy = &list->first[list->count++];
	copy->why = action->why;
	copy->fields[FIELD_VERB] = strdup(verbs[action->verb]);
	copy->fields[FIELD_SIDE] = strdup(sides[action->side]);
	copy->fields[FIELD_ID] = vocabulary_copy(action->id);
	copy->fields[FIELD_METHOD] = vocabulary_copy(action->method);
	copy->fields[FIELD_NAME] = vocabulary_copy(action->name);
	copy->fields[FIELD_MESSAGE] = vocabulary_copy(action->message);
	copy->fields[FIELD_DETAIL] = vocabulary_copy(action->detail);
	copy->fields[FIELD_HINT] = vocabulary_copy(action->hint);
	copy->fields[FIELD_OUTCOME] = vocabulary_copy(action->outcome);
	copy->fields[FIELD_ELAPSED] = number_text(action->elapsed);
	copy->fields[FIELD_TIMEOUT] = number_text(action->timeout);
}

static void
free_copy(struct action_copy *copy)
{
	int i;

	for (i = 0; i < FIELDS; i++)
		free(copy->fields[i]);
}

void
actions_clear(struct action_list *list)
{
	while (list->count > 0)
		free_copy(&list->first[--list->count]);
}

void
actions_free(struct action_list *list)
{
	actions_clear(list);
	free(list->first);
}

static bool
is_word(const struct action_copy *copy, struct span word)
{
	const char *expected = why_word(copy->why);

	return span_equal(word, (struct span){ expected, strlen(expected) });
}

bool
actions_are(const struct action_list *list, struct span words)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!is_word(&list->first[i], vocabulary_word(&words)))
			return false;
	return words.len == 0;
}

static bool
is_equal(const char *value, struct span expected, bool quoted)
{
	struct buf plain;
	bool equal;

	buf_init(&plain);
	if (!quoted)
		buf_append(&plain, expected);
	else if (!vocabulary_unquote(expected, &plain))
		return false;
	equal = span_equal(buf_span(&plain), (struct span){ value, strlen(value) });
	buf_free(&plain);
	return equal;
}

/* field: NAME=VALUE. */
static bool
has_field(const struct action_copy *copy, struct span field)
{
	const char *equal = memchr(field.ptr, '=', field.len);
	struct span name, value;
	int i;

	if (equal == NULL)
		return false;
	name = span_part(field, 0, (size_t)(equal - field.ptr));
	value = span_part(field, name.len + 1, field.len - name.len - 1);
	if (span_equal(name, SPAN("text")))
		return is_equal(copy->fields[FIELD_MESSAGE], value, true);
	for (i = 0; i < FIELDS; i++)
		if (span_equal(name, (struct span){ field_names[i], strlen(field_names[i]) }))
			return is_equal(copy->fields[i], value, i >= FIELD_DETAIL && i <= FIELD_OUTCOME);
	return false;
}

bool
actions_next(struct action_list *list, struct span text)
{
	struct action_copy *copy = list->first;
	bool sound;

	if (list->count == 0)
		return false;
	sound = is_word(copy, vocabulary_word(&text));
	while (sound && text.len > 0)
		sound = has_field(copy, vocabulary_word(&text));
	if (!sound)
		return false;
	free_copy(copy);
	memmove(copy, copy + 1, --list->count * sizeof(*copy));
	return true;
}

static void
show_copy(const struct action_copy *copy, struct buf *out)
{
	const char *word = why_word(copy->why);
	int i;

	buf_append(out, (struct span){ word, strlen(word) });
	buf_append(out, SPAN("("));
	for (i = 0; i < FIELDS; i++) {
		if (*copy->fields[i] == '\0')
			continue;
		buf_append(out, (struct span){ field_names[i], strlen(field_names[i]) });
		buf_append(out, SPAN("="));
		match_show(out, (struct span){ copy->fields[i], strlen(copy->fields[i]) });
		buf_append(out, SPAN(" "));
	}
	out->len--;
	buf_append(out, SPAN(")"));
}

void
actions_show(const struct action_list *list, struct buf *out)
{
	size_t i;

	if (list->count == 0)
		buf_append(out, SPAN("none"));
	for (i = 0; i < list->count; i++) {
		if (i > 0)
			buf_append(out, SPAN(" "));
		show_copy(&list->first[i], out);
	}
}
