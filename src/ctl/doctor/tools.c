#include <ctype.h>

#include "doctor.h"
#include "ctl/show.h"
#include "shell/words.h"

enum { PAGES = 100 };

#define SEE "; see cancelctl call --list"

const struct asked *
tools_ask(struct visit *visit, const char *check, msec_t limit, json_t *tools)
{
	const struct asked *asked;
	const char *cursor = "", *last;
	int pages = 0;

	do {
		last = cursor;
		asked = visit_ask(visit, "tools/list",
		    cursor[0] == '\0' ? json_object() : json_pack("{s:s}", "cursor", cursor));
		visit_begin(visit, check, limit);
		visit_wait(visit, asked, limit);
		cursor = show_chars(asked->result, "nextCursor");
	} while (json_array_extend(tools, json_object_get(asked->result, "tools")) == 0 &&
	    cursor[0] != '\0' && !text_is(cursor, last) && ++pages < PAGES);
	return asked;
}

const json_t *
tools_find(const json_t *tools, const char *name, bool cut)
{
	struct nearest nearest = { .typed = span_of(name) };
	const json_t *tool;

	show_each (tool, tools) {
		nearest_offer(&nearest, show_chars(tool, "name"));
		if (span_equal(show_string(tool, "name"), nearest.typed))
			return tool;
	}
	if (!cut)
		ctl_usage("the server has no tool '%.200s'%s" SEE, name, nearest.told);
	return NULL;
}

json_t *
tools_read(const char *what, const char *word)
{
	bool input = text_is(word, "-");
	json_error_t error;
	json_t *object = input ? json_loadf(stdin, 0, &error) : json_loads(word, 0, &error);

	what = input ? "standard input" : what;
	if (object == NULL)
		exit(ctl_usage("%s: line %d, column %d: %s%s", what, error.line, error.column,
		    error.text,
		    input || !isalpha((unsigned char)word[strspn(word, "[{")]) ||
			    strchr("[{", word[0]) == NULL ?
			"" :
			"; a shell takes the quotes, unless all stands in '...'"));
	if (!json_is_object(object))
		exit(ctl_usage("%s: must be a JSON object", what));
	return object;
}

bool
tools_require(const json_t *tool, const char *argument)
{
	const json_t *name;

	show_each_in (name, json_object_get(tool, "inputSchema"), "required")
		if (span_is(show_text(name), argument))
			return true;
	return false;
}

/*
 * Says on stderr that the schema does not name the parameter. false: the schema allows no other
 * name.
 */
static bool
allows_other(const json_t *tool, const char *name)
{
	struct nearest nearest = { .typed = span_of(name) };
	const json_t *input = json_object_get(tool, "inputSchema");
	bool closed = json_is_false(json_object_get(input, "additionalProperties")) &&
	    json_object_size(json_object_get(input, "patternProperties")) == 0;
	json_t *schema;
	const char *key;

	json_object_foreach (json_object_get(input, "properties"), key, schema)
		nearest_offer(&nearest, key);
	if (closed || nearest.name != NULL)
		ctl_usage("the tool %.100s has no parameter '%.100s'%s" SEE,
		    show_chars(tool, "name"), name, nearest.told);
	return !closed;
}

#define TYPE(type) (1u << (type))

/*
 * The types that a schema allows a value to have, as bits; 0: any. The schema is an object, the
 * word of a type, or an array of such, of which one must fit.
 */
static unsigned
types_of(const json_t *schema)
{
	/* In the order of json_type. */
	static const char *const words[] = { "object", "array", "string", "integer", "number",
		"boolean", "boolean", "null" };
	static const char *const members[] = { "type", "anyOf", "oneOf" };
	const unsigned numbers = TYPE(JSON_INTEGER) | TYPE(JSON_REAL);
	unsigned types = 0, more;
	const json_t *item;

	for (int i = 0; i < 8; i++)
		types |= span_is(show_text(schema), words[i]) ? TYPE(i) : 0;
	for (int i = 0; i < 3; i++)
		if (show_has(schema, members[i]))
			return types_of(json_object_get(schema, members[i]));
	show_each (item, schema) {
		more = types_of(item);
		if (more == 0)
			return 0;
		types |= more;
	}
	return types & numbers ? types | numbers : types;
}

/*
 * Reads the text as the type that the schema wants. The caller owns the value. NULL: it does not
 * fit, which is said on stderr.
 */
static json_t *
read_value(const json_t *schema, const char *name, json_t *text)
{
	json_t *value = show_parse(show_text(text), false);
	unsigned types = types_of(schema), string = types & TYPE(JSON_STRING);
	struct span type = show_string(schema, "type");

	if (value == NULL || (string != 0 && (types & ~string & TYPE(json_typeof(value))) == 0)) {
		json_decref(value);
		value = json_incref(text);
	}
	/* Null is always allowed: it may stand for a value that is left out. */
	if (types == 0 || (types & TYPE(json_typeof(value))) != 0 || json_is_null(value))
		return value;
	json_decref(value);
	if (types & TYPE(JSON_ARRAY))
		ctl_usage("%.100s is an array: %.100s='[\"one\", \"two\"]'" SEE, name, name);
	else
		ctl_usage("%.100s: '%.100s' is no %s" SEE, name, json_string_value(text),
		    type.len > 0 ? type.ptr : "value that its schema allows");
	return NULL;
}

bool
tools_fill(const json_t *tool, const json_t *said, json_t *arguments)
{
	const json_t *schemas = json_object_get(json_object_get(tool, "inputSchema"), "properties"),
		     *schema;
	json_t *item, *value;
	const char *name;

	show_each (item, said) {
		if (json_is_object(item)) {
			json_object_update(arguments, item);
			continue;
		}
		name = json_string_value(json_array_get(item, 0));
		schema = json_object_get(schemas, name);
		if (schema == NULL && !allows_other(tool, name))
			return false;
		value = read_value(schema, name, json_array_get(item, 1));
		if (json_object_set_new(arguments, name, value) != 0)
			return false;
	}
	return true;
}

bool
tools_suffice(const json_t *tool, const json_t *arguments)
{
	const json_t *key;

	show_each_in (key, json_object_get(tool, "inputSchema"), "required") {
		if (!json_is_string(key) || show_has(arguments, json_string_value(key)))
			continue;
		ctl_usage("the tool %.200s needs the argument '%.200s'" SEE,
		    show_chars(tool, "name"), json_string_value(key));
		return false;
	}
	return true;
}
