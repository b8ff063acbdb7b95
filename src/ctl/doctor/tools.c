#include <stdio.h>
#include <string.h>

#include "ctl/doctor.h"
#include "ctl/show.h"
#include "shell/words.h"

enum { PAGES = 100 };

const struct asked *
tools_ask(struct visit *visit, msec_t limit, json_t *tools)
{
	const struct asked *asked;
	const char *cursor = "";
	int pages = 0;

	do {
		asked = visit_ask(visit, "tools/list",
		    cursor[0] == '\0' ? json_object() : json_pack("{s:s}", "cursor", cursor));
		visit_wait(visit, asked, limit);
		cursor = visit_text(asked->result, "nextCursor");
	} while (json_array_extend(tools, json_object_get(asked->result, "tools")) == 0 && cursor[0] != '\0' &&
	    ++pages < PAGES);
	return asked;
}

const json_t *
tools_find(const json_t *tools, const char *name, char fault[TOOLS_FAULT])
{
	struct nearest nearest = { .typed = span_of(name) };
	const json_t *tool;
	size_t i;

	json_array_foreach(tools, i, tool)
	{
		nearest_offer(&nearest, visit_text(tool, "name"));
		if (strcmp(visit_text(tool, "name"), name) == 0)
			return tool;
	}
	snprintf(fault, TOOLS_FAULT, "the server has no tool '%.200s'%s%.200s", name, nearest_lead(&nearest),
	    nearest_name(&nearest));
	return NULL;
}

bool
tools_require(const json_t *tool, const char *argument)
{
	const json_t *required = json_object_get(json_object_get(tool, "inputSchema"), "required"), *name;
	size_t i;

	json_array_foreach(required, i, name)
	{
		if (json_is_string(name) && strcmp(json_string_value(name), argument) == 0)
			return true;
	}
	return false;
}

/* Whether a parameter that is not in the schema is none. */
static bool
is_closed(const json_t *schema)
{
	const json_t *others = json_object_get(schema, "additionalProperties");

	return json_object_size(json_object_get(schema, "properties")) > 0 && (others == NULL || json_is_false(others));
}

/* name: of a parameter that the tool does not have. */
static void
tell_parameter(const json_t *tool, const char *name, char fault[TOOLS_FAULT])
{
	struct nearest nearest = { .typed = span_of(name) };
	json_t *schema;
	const char *key;

	json_object_foreach(json_object_get(json_object_get(tool, "inputSchema"), "properties"), key, schema)
	    nearest_offer(&nearest, key);
	snprintf(fault, TOOLS_FAULT, "the tool %.100s has no parameter '%.100s'%s%.100s", visit_text(tool, "name"),
	    name, nearest_lead(&nearest), nearest_name(&nearest));
}

bool
tools_fill(const json_t *tool, char *const *words, json_t *arguments, char fault[TOOLS_FAULT])
{
	const json_t *schema = json_object_get(tool, "inputSchema"), *parameter;
	char name[256];

	for (; *words != NULL; words++) {
		size_t len = strcspn(*words, "=");
		const char *text = *words + len + 1;
		json_t *value = NULL;

		if ((*words)[0] == '{' || (*words)[len] == '\0')
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len, *words);
		parameter = json_object_get(json_object_get(schema, "properties"), name);
		if (parameter == NULL && is_closed(schema)) {
			tell_parameter(tool, name, fault);
			return false;
		}
		if (strcmp(visit_text(parameter, "type"), "string") != 0)
			value = json_loads(text, JSON_DECODE_ANY, NULL);
		if (json_object_set_new(arguments, name, value != NULL ? value : json_string(text)) != 0) {
			snprintf(fault, TOOLS_FAULT, "the argument '%.100s' is not UTF-8", name);
			return false;
		}
	}
	return true;
}

bool
tools_suffice(const json_t *tool, const json_t *arguments, char fault[TOOLS_FAULT])
{
	const json_t *key;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(tool, "inputSchema"), "required"), i, key)
	{
		if (!json_is_string(key) || json_object_get(arguments, json_string_value(key)) != NULL)
			continue;
		snprintf(fault, TOOLS_FAULT, "the tool %.200s needs the argument '%.200s'", visit_text(tool, "name"),
		    json_string_value(key));
		return false;
	}
	return true;
}
