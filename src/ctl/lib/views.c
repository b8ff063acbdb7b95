#include "ctl/show.h"

#include <stdlib.h>

#include "core/compose.h"

const struct column view_instance_columns[VIEW_INSTANCE_WIDTH] = {
	{ "PID", true, false },
	{ "NAME", false, true },
	{ "CLIENT", false, true },
	{ "DIALECT", false, false },
	{ "AGE", true, false },
	{ "OPEN", true, false },
	{ "OLDEST", true, false },
	{ "TIMEOUTS", true, false },
	{ "RESTARTS", true, false },
	{ "COMMAND", false, true },
};

const struct column view_request_columns[VIEW_REQUEST_WIDTH] = {
	{ "ID", false, true },
	{ "FROM", false, false },
	{ "METHOD", false, true },
	{ "NAME", false, true },
	{ "AGE", true, false },
	{ "IDLE", true, false },
	{ "LEFT", true, false },
	{ "STATE", false, false },
	{ "PROGRESS", false, true },
};

static void
add_string(struct table *table, const json_t *object, const char *key)
{
	struct span text = show_string(object, key);

	table_add(table, text.len > 0 ? text : SPAN("-"));
}

static void
add_time(struct table *table, const json_t *object, const char *key)
{
	char text[SHOW_TIME_SIZE];

	table_add(table,
	    json_is_number(json_object_get(object, key)) ? show_time(show_number(object, key), text) : SPAN("-"));
}

/* The words of the command; a string is one already. */
static void
add_command(struct table *table, const json_t *command)
{
	struct buf line;

	buf_init(&line);
	if (json_is_string(command))
		buf_append(&line, (struct span){ json_string_value(command), json_string_length(command) });
	for (size_t i = 0; i < json_array_size(command); i++) {
		const json_t *word = json_array_get(command, i);

		buf_append(&line, i > 0 ? SPAN(" ") : SPAN(""));
		if (json_is_string(word))
			buf_append(&line, (struct span){ json_string_value(word), json_string_length(word) });
	}
	table_add(table, buf_span(&line));
	buf_free(&line);
}

void
view_instance(struct table *table, long pid, const json_t *about)
{
	table_add_number(table, pid);
	if (about == NULL) {
		for (int i = 2; i < VIEW_INSTANCE_WIDTH; i++)
			table_add(table, SPAN("-"));
		table_add(table, SPAN("not answering"));
		return;
	}
	add_string(table, about, "name");
	add_string(table, json_object_get(about, "client"), "name");
	add_string(table, about, "dialect");
	add_time(table, about, "age_ms");
	table_add_number(table, show_number(about, "in_flight"));
	add_time(table, about, "oldest_ms");
	table_add_number(table, show_number(about, "timeouts"));
	table_add_number(table, show_number(about, "restarts"));
	add_command(table, json_object_get(about, "command"));
}

/* What is left until the nearer one of both deadlines. */
static void
add_left(struct table *table, const json_t *request)
{
	static const char idle_key[] = "timeout_left_ms", cap_key[] = "max_time_left_ms";
	const json_t *idle = json_object_get(request, idle_key), *cap = json_object_get(request, cap_key);
	json_int_t left = show_number(request, json_is_number(idle) ? idle_key : cap_key);
	char text[SHOW_TIME_SIZE];

	if (json_is_number(cap) && show_number(request, cap_key) < left)
		left = show_number(request, cap_key);
	table_add(table, json_is_number(idle) || json_is_number(cap) ? show_time(left, text) : SPAN("none"));
}

static void
append_number(struct buf *text, const json_t *number)
{
	char *dumped = json_dumps(number, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));

	buf_append(text, span_of(dumped != NULL ? dumped : ""));
	free(dumped);
}

/* "3/10 message" */
static void
add_progress(struct table *table, const json_t *progress)
{
	struct span message = show_string(progress, "message");
	struct buf text;

	buf_init(&text);
	if (json_is_number(json_object_get(progress, "progress")))
		append_number(&text, json_object_get(progress, "progress"));
	if (json_is_number(json_object_get(progress, "total"))) {
		buf_append(&text, SPAN("/"));
		append_number(&text, json_object_get(progress, "total"));
	}
	buf_append(&text, text.len > 0 && message.len > 0 ? SPAN(" ") : SPAN(""));
	buf_append(&text, message);
	table_add(table, text.len > 0 ? buf_span(&text) : SPAN("-"));
	buf_free(&text);
}

void
view_request(struct table *table, const json_t *request)
{
	add_string(table, request, "id");
	add_string(table, request, "from");
	add_string(table, request, "method");
	add_string(table, request, "name");
	add_time(table, request, "age_ms");
	add_time(table, request, "idle_ms");
	add_left(table, request);
	add_string(table, request, "state");
	add_progress(table, json_object_get(request, "progress"));
}

void
table_show(const struct table *table)
{
	struct buf out;

	buf_init(&out);
	table_write(table, term_width(NULL), &out);
	show_bytes(buf_span(&out));
	buf_free(&out);
}

void
show_method(struct buf *text, const json_t *request)
{
	struct span name = show_string(request, "name");

	compose(text, name.len > 0 ? "%b %b" : "%b", show_string(request, "method"), name);
}
