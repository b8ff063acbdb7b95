#include "scenario/actions.h"

#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "scenario/match.h"
#include "scenario/vocabulary.h"

/* The fields that scenarios write in quotes. */
static const char *const quoted[] = { "message", "detail", "hint", "outcome", "from" };

static void
set(json_t *copy, const char *name, struct span value)
{
	if (value.len > 0)
		json_object_set_new(copy, name, json_stringn_nocheck(value.ptr, value.len));
}

static void
set_time(json_t *copy, const char *name, msec_t time)
{
	char digits[SPAN_NUMBER_MAX];

	if (time != MSEC_NEVER)
		set(copy, name, span_number(time, digits));
}

void
actions_add(json_t *list, const struct action *action)
{
	static const char *const verbs[] = { "send", "drop", "note" };
	static const char *const sides[] = { "client", "server" };
	json_t *copy = json_object();

	set(copy, "why", span_of(why_word(action->why)));
	set(copy, "verb", span_of(verbs[action->verb]));
	set(copy, "side", span_of(sides[action->side]));
	set(copy, "id", action->id);
	set(copy, "method", action->method);
	set(copy, "name", action->name);
	set(copy, "message", action->message);
	set(copy, "detail", action->detail);
	set(copy, "hint", action->hint);
	set(copy, "from", action->origin);
	set(copy, "outcome", action->outcome);
	set_time(copy, "elapsed", action->elapsed);
	set_time(copy, "timeout", action->timeout);
	json_array_append_new(list, copy);
}

/* A field; "" if there is none. */
static struct span
field_of(const json_t *copy, struct span name)
{
	const json_t *value = json_object_getn(copy, name.ptr, name.len);

	return value == NULL ? SPAN("") :
			       (struct span){ json_string_value(value), json_string_length(value) };
}

bool
actions_are(const json_t *list, struct span words)
{
	json_t *copy;
	size_t i;

	json_array_foreach (list, i, copy) {
		if (!span_equal(vocabulary_word(&words), field_of(copy, SPAN("why"))))
			return false;
	}
	return words.len == 0;
}

static bool
is_quoted(struct span name)
{
	for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++)
		if (span_equal(name, span_of(quoted[i])))
			return true;
	return false;
}

/* field: NAME=VALUE. */
static bool
has_field(const json_t *copy, struct span field)
{
	const char *equal = memchr(field.ptr, '=', field.len);
	struct span name = { field.ptr, equal == NULL ? 0 : (size_t)(equal - field.ptr) }, value;
	struct buf plain;
	bool sound = equal != NULL;

	if (!sound)
		return false;
	value = span_part(field, name.len + 1, field.len - name.len - 1);
	name = span_equal(name, SPAN("text")) ? SPAN("message") : name;
	plain = (struct buf){ 0 };
	if (is_quoted(name))
		sound = vocabulary_unquote(value, &plain);
	else
		buf_append(&plain, value);
	sound = sound && span_equal(buf_span(&plain), field_of(copy, name));
	buf_free(&plain);
	return sound;
}

bool
actions_next(json_t *list, struct span text)
{
	const json_t *copy = json_array_get(list, 0);
	bool sound =
	    copy != NULL && span_equal(vocabulary_word(&text), field_of(copy, SPAN("why")));

	while (sound && text.len > 0)
		sound = has_field(copy, vocabulary_word(&text));
	if (sound)
		json_array_remove(list, 0);
	return sound;
}

void
actions_show(const json_t *list, struct buf *out)
{
	const char *name;
	json_t *copy, *value;
	size_t i;

	if (json_array_size(list) == 0)
		buf_append(out, SPAN("none"));
	json_array_foreach (list, i, copy) {
		json_object_foreach (copy, name, value) {
			buf_append(out, SPAN(" "));
			buf_append(out, span_of(name));
			buf_append(out, SPAN("="));
			match_show(out, field_of(copy, span_of(name)));
		}
		buf_append(out, SPAN(";"));
	}
}
