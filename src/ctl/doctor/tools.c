#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor.h"
#include "ctl/show.h"
#include "shell/words.h"

enum { PAGES = 100 };

#define SEE "; see cancelctl call --list"

const struct asked *
tools_ask(struct visit *visit, msec_t limit, json_t *tools)
{
	const struct asked *asked;
	const char *cursor = "", *last;
	int pages = 0;

	do {
		last = cursor;
		asked = visit_ask(visit, "tools/list",
		    cursor[0] == '\0' ? json_object() : json_pack("{s:s}", "cursor", cursor));
		visit_wait(visit, asked, limit);
		cursor = visit_text(asked->result, "nextCursor");
	} while (json_array_extend(tools, json_object_get(asked->result, "tools")) == 0 && cursor[0] != '\0' &&
	    strcmp(cursor, last) != 0 && ++pages < PAGES);
	return asked;
}

const json_t *
tools_find(const json_t *tools, const char *name, bool cut)
{
	struct nearest nearest = { .typed = span_of(name) };
	const json_t *tool;

	show_each (tool, tools) {
		nearest_offer(&nearest, visit_text(tool, "name"));
		if (strcmp(visit_text(tool, "name"), name) == 0)
			return tool;
	}
	if (!cut)
		ctl_usage("the server has no tool '%.200s'%s%.200s" SEE, name, nearest_lead(&nearest),
		    nearest_name(&nearest));
	return NULL;
}

/* Whether it is this text, an array that has it, or a schema that has it as a type. */
static bool
names(const json_t *value, const char *text)
{
	const json_t *item;

	if (json_is_string(value))
		return strcmp(json_string_value(value), text) == 0;
	show_each (item, value) {
		if (names(item, text))
			return true;
	}
	return json_is_object(value) &&
	    (names(json_object_get(value, "type"), text) || names(json_object_get(value, "anyOf"), text) ||
		names(json_object_get(value, "oneOf"), text));
}

json_t *
tools_read(const char *what, const char *word)
{
	bool input = strcmp(word, "-") == 0;
	json_error_t error;
	json_t *object = input ? json_loadf(stdin, 0, &error) : json_loads(word, 0, &error);

	what = input ? "standard input" : what;
	if (object == NULL)
		exit(ctl_usage("%s: line %d, column %d: %s", what, error.line, error.column, error.text));
	if (!json_is_object(object))
		exit(ctl_usage("%s: must be a JSON object", what));
	return object;
}

bool
tools_require(const json_t *tool, const char *argument)
{
	return names(json_object_get(json_object_get(tool, "inputSchema"), "required"), argument);
}

/* Tells of a parameter that the schema does not name. false: no other name is allowed. */
static bool
allows_other(const json_t *tool, const char *name)
{
	struct nearest nearest = { .typed = span_of(name) };
	const json_t *input = json_object_get(tool, "inputSchema");
	bool closed = json_is_false(json_object_get(input, "additionalProperties")) &&
	    json_object_size(json_object_get(input, "patternProperties")) == 0;
	json_t *schema;
	const char *key;

	json_object_foreach(json_object_get(input, "properties"), key, schema) nearest_offer(&nearest, key);
	if (closed || nearest.name != NULL)
		ctl_usage("the tool %.100s has no parameter '%.100s'%s%.100s" SEE, visit_text(tool, "name"), name,
		    nearest_lead(&nearest), nearest_name(&nearest));
	return !closed;
}

/* Whether the text is meant, and not the JSON that it also is. */
static bool
is_text(const json_t *schema, const json_t *value)
{
	/* In the order of json_type. */
	static const char *const types[] = { "object", "array", "string", "integer", "number", "boolean", "boolean",
		"null" };

	return names(schema, "string") &&
	    (json_is_string(value) ||
		!(names(schema, types[json_typeof(value)]) || (json_is_integer(value) && names(schema, "number"))));
}

bool
tools_fill(const json_t *tool, const json_t *said, json_t *arguments)
{
	const json_t *schemas = json_object_get(json_object_get(tool, "inputSchema"), "properties"), *schema;
	json_t *item, *text, *value;
	const char *name;

	show_each (item, said) {
		if (json_is_object(item)) {
			json_object_update(arguments, item);
			continue;
		}
		name = json_string_value(json_array_get(item, 0));
		text = json_array_get(item, 1);
		schema = json_object_get(schemas, name);
		if (schema == NULL && !allows_other(tool, name))
			return false;
		value = json_loads(json_string_value(text), JSON_DECODE_ANY, NULL);
		if (value == NULL && names(schema, "array") && !names(schema, "string")) {
			ctl_usage("%.100s is an array: %.100s='[\"one\", \"two\"]'" SEE, name, name);
			return false;
		}
		json_object_set(arguments, name, value == NULL || is_text(schema, value) ? text : value);
		json_decref(value);
	}
	return true;
}

bool
tools_suffice(const json_t *tool, const json_t *arguments)
{
	const json_t *key;

	show_each (key, json_object_get(json_object_get(tool, "inputSchema"), "required")) {
		if (!json_is_string(key) || json_object_get(arguments, json_string_value(key)) != NULL)
			continue;
		ctl_usage("the tool %.200s needs the argument '%.200s'" SEE, visit_text(tool, "name"),
		    json_string_value(key));
		return false;
	}
	return true;
}
