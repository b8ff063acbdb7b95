#include "ctl/show.h"

#include "core/compose.h"
#include "core/why.h"
#include "shell/log.h"
#include "shell/words.h"

/* The words of the command; or, if canceld did not answer, that. */
static void
write_command(struct buf *text, const json_t *row, const char *key)
{
	json_t *word;
	size_t i;

	json_array_foreach (json_object_get(row, key), i, word)
		compose_text(text, i > 0 ? " %b" : "%b", show_text(word));
	if (json_is_false(json_object_get(row, "answering")))
		compose_text(text, "not answering");
}

/* The name, with a mark if something in the configuration file or a rule is wrong. */
static void
write_name(struct buf *text, const json_t *row, const char *key)
{
	size_t wrong = json_array_size(json_object_get(row, "config")) +
	    json_array_size(json_object_get(row, "doubted"));

	column_text(text, row, key);
	compose_text(text, wrong > 0 ? "!" : "");
}

/* The client's title and version; or else its name, which may be that of its process. */
static void
write_client(struct buf *text, const json_t *row, const char *key)
{
	const json_t *client = json_object_get(row, key);
	struct span title = show_string(client, "title"), version = show_string(client, "version");

	column_text(text, client, title.len > 0 ? "title" : "name");
	compose_text(text, title.len > 0 && version.len > 0 ? " %b" : "", version);
}

/* The directory, with ~ in place of the user's home. */
static void
write_directory(struct buf *text, const json_t *row, const char *key)
{
	const char *known = home_directory();
	struct span path = show_string(row, key), home = span_of(known);
	bool inside = home.len > 1 && path.len > home.len && path.ptr[home.len] == '/' &&
	    span_equal(span_head(path, home.len), home);

	compose_text(text, inside ? "~%b" : "%b", span_from(path, inside ? home.len : 0));
}

/* The verdict in a request's row; in a canceld's row, the verdict on its server. */
static struct span
verdict_of(const json_t *row)
{
	const json_t *server = json_object_get(row, "server");

	return show_string(json_is_object(server) ? server : row, "verdict");
}

static void
write_verdict(struct buf *text, const json_t *row, const char *key)
{
	(void)key;
	buf_append(text, verdict_of(row));
}

static const char *
style_verdict(const json_t *row)
{
	struct span verdict = verdict_of(row);

	return verdict.len == 0       ? "" :
	    verdict.ptr[0] == 'w'     ? COLOUR_GREEN :
	    span_is(verdict, "stuck") ? COLOUR_RED :
					COLOUR_YELLOW;
}

msec_t
view_left(const json_t *request)
{
	static const char *const keys[] = { "timeout_left_ms", "max_time_left_ms" };
	msec_t left = MSEC_NEVER;

	for (int i = 0; i < 2; i++)
		if (json_is_number(json_object_get(request, keys[i])) &&
		    show_number(request, keys[i]) < left)
			left = show_number(request, keys[i]);
	return left;
}

static void
write_ago(struct buf *text, const json_t *row, const char *key)
{
	column_time(text, row, key);
	compose_text(text, text->len > 0 ? " ago" : "");
}

/*
 * How long ago a request ended; of a cancelled one, how long its answer is still awaited; of any
 * other, how long until its nearer deadline.
 */
static void
write_left(struct buf *text, const json_t *row, const char *key)
{
	write_ago(text, row, key);
	if (view_left(row) != MSEC_NEVER)
		compose_text(text, show_is(row, "state", "cancelling") ? "%b of grace" : "%b",
		    show_time(view_left(row)));
	else if (show_has(row, "idle_ms")) /* it has not ended */
		compose_text(text, "none");
}

/* Yellow when half of the deadline has passed, red when nine tenths have. */
static const char *
style_idle(const json_t *row)
{
	json_int_t after = show_number(row, "timeout_ms"),
		   left = show_number(row, "timeout_left_ms");

	return !json_is_number(json_object_get(row, "timeout_left_ms")) || left > after / 2 ? "" :
	    left > after / 10 ? COLOUR_YELLOW :
				COLOUR_RED;
}

/* Only the state of an ended request has a colour. */
static const char *
style_state(const json_t *row)
{
	struct span state = show_string(row, "state");

	return !show_has(row, "ended_ms") ? "" :
	    span_is(state, "answered")    ? COLOUR_GREEN :
	    span_is(state, "cancelled")   ? COLOUR_YELLOW :
					    COLOUR_RED;
}

static void
append_number(struct buf *text, const char *before, const json_t *number)
{
	char *dumped = json_is_number(number) ?
	    json_dumps(number, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) :
	    NULL;

	if (dumped != NULL)
		compose_text(text, "%s%s", before, dumped);
	free(dumped);
}

void
view_progress(struct buf *text, const json_t *progress)
{
	struct span message = show_string(progress, "message");

	append_number(text, "", json_object_get(progress, "progress"));
	append_number(text, "/", json_object_get(progress, "total"));
	compose_text(text, text->len > 0 && message.len > 0 ? " %b" : "%b", message);
}

static void
write_progress(struct buf *text, const json_t *row, const char *key)
{
	view_progress(text, json_object_get(row, key));
}

const struct column view_instances[] = {
	{ "PID", "pid", COLUMN_RIGHT, .rank = 1 },
	{ "NAME", "name", COLUMN_MIDDLE, write_name, .role = COLUMN_APART },
	{ "CLIENT", "client", COLUMN_MIDDLE, write_client, .rank = 11 },
	{ "DIRECTORY", "directory", COLUMN_MIDDLE, write_directory, .rank = 12 },
	{ "DIALECT", "dialect", COLUMN_LEFT, .rank = COLUMN_SPARE },
	COLUMN_TIME("AGE", "age_ms", 16),
	{ "OPEN", "in_flight", COLUMN_RIGHT, .rank = 2 },
	COLUMN_TIME("OLDEST", "oldest_ms", 4),
	{ "VERDICT", "", COLUMN_LEFT, write_verdict, .rank = 1, .style = style_verdict },
	{ "LAST MINUTE", "minute", COLUMN_RIGHT, .rank = 10, .role = COLUMN_ANY },
	{ "TIMEOUTS", "timeouts", COLUMN_RIGHT, .rank = 13 },
	{ "RESTARTS", "restarts", COLUMN_RIGHT, .rank = 14 },
	{ "COMMAND", "command", COLUMN_MIDDLE, write_command, .rank = 3 },
	{ 0 },
};

const struct column view_all_requests[] = {
	{ "PID", "pid", COLUMN_RIGHT, .rank = 14 },
	{ "SERVER", "server", COLUMN_MIDDLE, write_name, .rank = 1, .role = COLUMN_APART },
	{ "ID", "id", COLUMN_MIDDLE, .rank = 6, .role = COLUMN_APART },
	{ "FROM", "from", COLUMN_LEFT, .rank = 15 },
	{ "METHOD", "method", COLUMN_MIDDLE, .rank = 13, .role = COLUMN_YIELDS },
	{ "NAME", "name", COLUMN_MIDDLE, .rank = 0 },
	COLUMN_TIME("AGE", "age_ms", 2),
	{ "IDLE", "idle_ms", COLUMN_RIGHT, column_time, .rank = 9, .style = style_idle },
	{ "LEFT", "ended_ms", COLUMN_RIGHT, write_left, .rank = 3 },
	{ "VERDICT", "", COLUMN_LEFT, write_verdict, .rank = 2, .style = style_verdict },
	{ "STATE", "state", COLUMN_LEFT, .rank = 4, .style = style_state },
	{ "PROGRESS", "progress", COLUMN_FLEXIBLE, write_progress, .rank = 5, .role = COLUMN_ANY },
	{ 0 },
};

const struct column *const view_requests = view_all_requests + 2;

/* "30m00s (built in), 29m48s left" */
static void
write_deadline(struct buf *text, const json_t *row, const char *key)
{
	char after_key[32], from_key[32], left_key[32];

	print_into(after_key, "%s_ms", key);
	print_into(from_key, "%s_from", key);
	print_into(left_key, "%s_left_ms", key);
	column_time(text, row, after_key);
	if (text->len > 0)
		compose_text(text, " (%b)", show_string(row, from_key));
	if (json_is_number(json_object_get(row, left_key))) {
		compose_text(text, text->len > 0 ? ", " : "");
		column_time(text, row, left_key);
		compose_text(text, " left");
	}
}

#define LINE(title, key) \
	{ \
		title, key, .write = column_text \
	}

/* What a page says; its members are those of a request and of its canceld. */
static const struct column page[] = {
	LINE("method", "method"),
	LINE("name", "name"),
	LINE("id", "id"),
	LINE("  server's", "alias"),
	LINE("from", "from"),
	LINE("state", "state"),
	{ "ended", "ended_ms", .write = write_ago },
	{ "verdict", "", .write = write_verdict },
	{ "age", "age_ms", .write = column_time },
	{ "idle", "idle_ms", .write = column_time },
	{ "timeout", "timeout", .write = write_deadline },
	{ "max time", "max_time", .write = write_deadline },
	{ "progress", "progress", .write = write_progress },
	LINE("server", "server"),
	LINE("  pid", "pid"),
	{ "  command", "command", .write = write_command },
	LINE("  protocol", "dialect"),
	{ "client", "client", .write = write_client },
	{ "  directory", "directory", .write = write_directory },
	{ 0 },
};

void
view_page(struct buf *lines, json_t *request, json_t *about)
{
	json_auto_t *row = json_object();
	BUF_AUTO text = { 0 };

	json_object_update(row, about);
	json_object_update(row, request);
	for (const struct column *line = page; line->title != NULL; line++) {
		buf_clear(&text);
		column_write(&text, line, row);
		if (text.len == 0)
			continue;
		compose_text(lines, "%s%b", line->title,
		    span_from(SPAN("            "), strlen(line->title)));
		printable_append(lines, buf_span(&text), "");
		compose_text(lines, "\n");
	}
}

struct span
view_name(const json_t *row)
{
	static struct buf name;

	buf_clear(&name);
	compose_text(&name, "%b[%d]", show_string(row, "server"), (int64_t)show_number(row, "pid"));
	return buf_span(&name);
}

void
view_request(struct buf *line, const json_t *request)
{
	struct span name = show_string(request, "name");

	compose_text(line, "%b %b%s%b, %b old, of %b", show_string(request, "id"),
	    show_string(request, "method"), name.len > 0 ? " " : "", name,
	    show_time(show_number(request, "age_ms")), view_name(request));
}

void
view_outcome(struct buf *line, const json_t *request)
{
	struct span why = show_string(request, "why");

	compose_text(line, why.len == 0 ? "cancelled " : "not cancelled: ");
	view_request(line, request);
	compose_text(line, why.len == 0 ? "" : ": %b", why);
}

/*
 * The level of a word of the log. A word that only a newer canceld writes gets LEVEL_TRAFFIC + 1.
 */
static enum why_level
level_of(struct span word)
{
	enum why why = (enum why)0;

	while (why < WHY_COUNT && !span_is(word, why_word(why)))
		why++;
	return why < WHY_COUNT ? why_level(why) : LEVEL_TRAFFIC + 1;
}

/* " key=value", as the log has it. */
static void
append_member(struct buf *line, const char *key, const json_t *value)
{
	struct span text = show_text(value);
	bool plain = text.len > 0 && strcspn(text.ptr, " \"'=\\") == text.len;
	bool time = span_is_any(span_of(key), "elapsed timeout after");

	compose_text(line, " %s=%b%s", key, plain ? text : show_value(value), time ? "ms" : "");
}

/* 12:00:00.000Z everything[4711] notice TIMED_OUT method=tools/call ... */
void
view_decision(struct buf *line, json_t *decision, bool coloured)
{
	struct span why = show_string(decision, "why"), time = show_string(decision, "time");
	size_t day = time.len > strlen("2026-01-01T") ? strlen("2026-01-01T") : 0;
	static const char *const colours[] = { [LEVEL_ERROR] = COLOUR_RED,
		[LEVEL_NOTICE] = COLOUR_YELLOW,
		[LEVEL_DECISION] = COLOUR_DIM,
		[LEVEL_TRAFFIC] = COLOUR_DIM,
		[LEVEL_TRAFFIC + 1] = COLOUR_YELLOW };
	enum why_level level = level_of(why);
	BUF_AUTO rest = { 0 };
	const char *key;
	json_t *value;

	compose_text(&rest, "%b %b %s ", span_part(time, day, time.len - day), view_name(decision),
	    level > LEVEL_TRAFFIC ? "?" : log_levels[level]);
	printable_append(line, buf_span(&rest), "");
	compose_text(line, "%s", coloured ? term_colour(colours[level]) : "");
	printable_append(line, why, "");
	compose_text(line, "%s", coloured ? term_colour(COLOUR_NONE) : "");
	buf_clear(&rest);
	json_object_foreach (decision, key, value) {
		if (!span_is_any(span_of(key), "time pid server why"))
			append_member(&rest, key, value);
	}
	printable_append(line, buf_span(&rest), "");
	compose_text(line, "\n");
}
