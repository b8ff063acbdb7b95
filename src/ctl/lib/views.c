#include "ctl/show.h"

#include <stdlib.h>

#include "core/compose.h"

/* The words of the command; in their place, that it does not answer. */
static void
write_command(struct buf *text, const json_t *row, const char *key)
{
	json_t *word;
	size_t i;

	json_array_foreach(json_object_get(row, key), i, word) compose(text, i > 0 ? " %b" : "%b", show_text(word));
	if (json_is_false(json_object_get(row, "answering")))
		compose(text, "not answering");
}

/* Marked if its configuration file, or a key of it, does not count. */
static void
write_name(struct buf *text, const json_t *row, const char *key)
{
	column_text(text, row, key);
	compose(text, json_array_size(json_object_get(row, "config")) > 0 ? "!" : "");
}

static void
write_client(struct buf *text, const json_t *row, const char *key)
{
	column_text(text, json_object_get(row, key), "name");
}

/* What is left until the nearer one of both deadlines. */
static void
write_left(struct buf *text, const json_t *row, const char *key)
{
	static const char cap_key[] = "max_time_left_ms";
	bool idle = json_is_number(json_object_get(row, key)), cap = json_is_number(json_object_get(row, cap_key));

	column_time(text, row, cap && (!idle || show_number(row, cap_key) < show_number(row, key)) ? cap_key : key);
	if (!idle && !cap)
		compose(text, "none");
}

static void
append_number(struct buf *text, const char *before, const json_t *number)
{
	char *dumped = json_is_number(number) ? json_dumps(number, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;

	if (dumped != NULL)
		compose(text, "%s%s", before, dumped);
	free(dumped);
}

/* "3/10 message" */
static void
write_progress(struct buf *text, const json_t *row, const char *key)
{
	const json_t *progress = json_object_get(row, key);
	struct span message = show_string(progress, "message");

	append_number(text, "", json_object_get(progress, "progress"));
	append_number(text, "/", json_object_get(progress, "total"));
	compose(text, text->len > 0 && message.len > 0 ? " %b" : "%b", message);
}

const struct column view_instances[] = {
	{ "PID", "pid", COLUMN_RIGHT, column_text },
	{ "NAME", "name", COLUMN_FLEXIBLE, write_name },
	{ "CLIENT", "client", COLUMN_FLEXIBLE, write_client },
	{ "DIALECT", "dialect", COLUMN_LEFT, column_text },
	{ "AGE", "age_ms", COLUMN_RIGHT, column_time },
	{ "OPEN", "in_flight", COLUMN_RIGHT, column_text },
	{ "OLDEST", "oldest_ms", COLUMN_RIGHT, column_time },
	{ "TIMEOUTS", "timeouts", COLUMN_RIGHT, column_text },
	{ "RESTARTS", "restarts", COLUMN_RIGHT, column_text },
	{ "COMMAND", "command", COLUMN_FLEXIBLE, write_command },
	{ 0 },
};

const struct column view_all_requests[] = {
	{ "PID", "pid", COLUMN_RIGHT, column_text },
	{ "SERVER", "server", COLUMN_FLEXIBLE, column_text },
	{ "ID", "id", COLUMN_FLEXIBLE, column_text },
	{ "FROM", "from", COLUMN_LEFT, column_text },
	{ "METHOD", "method", COLUMN_FLEXIBLE, column_text },
	{ "NAME", "name", COLUMN_FLEXIBLE, column_text },
	{ "AGE", "age_ms", COLUMN_RIGHT, column_time },
	{ "IDLE", "idle_ms", COLUMN_RIGHT, column_time },
	{ "LEFT", "timeout_left_ms", COLUMN_RIGHT, write_left },
	{ "STATE", "state", COLUMN_LEFT, column_text },
	{ "PROGRESS", "progress", COLUMN_FLEXIBLE, write_progress },
	{ 0 },
};

const struct column *const view_requests = view_all_requests + 2;

void
view_request(struct buf *line, const json_t *request)
{
	struct span name = show_string(request, "name");
	char age[SHOW_TIME_SIZE];

	compose(line, "%b %b%s%b, %b old, of %b[%d]", show_string(request, "id"), show_string(request, "method"),
	    name.len > 0 ? " " : "", name, show_time(show_number(request, "age_ms"), age),
	    show_string(request, "server"), (int64_t)show_number(request, "pid"));
}

void
view_outcome(struct buf *line, const json_t *request)
{
	struct span why = show_string(request, "why");

	compose(line, why.len == 0 ? "cancelled " : "not cancelled: ");
	view_request(line, request);
	compose(line, why.len == 0 ? "" : ": %b", why);
}
