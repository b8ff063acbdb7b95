#include "ctl/witness.h"

#include <stdio.h>
#include <string.h>

void
witness_init(struct witness *witness)
{
	*witness = (struct witness){
		.last_progress = MSEC_NEVER,
		.closed = MSEC_NEVER,
		.ended = MSEC_NEVER,
		.status = -1,
		.signal = -1,
	};
}

static const char *
text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text == NULL ? "" : text;
}

static msec_t
elapsed(const json_t *event)
{
	return json_integer_value(json_object_get(event, "elapsed"));
}

static void
on_started(struct witness *witness, const json_t *event, msec_t now)
{
	(void)now;
	witness->server = (pid_t)json_integer_value(json_object_get(event, "process"));
}

/* What a client sent is not the server's fault. */
static void
on_dirt(struct witness *witness, const json_t *event, msec_t now)
{
	const char *shown = text_of(event, "text");

	(void)now;
	if (strcmp(text_of(event, "to"), "server") == 0)
		return;
	if (witness->dirty++ == 0)
		snprintf(witness->dirt, sizeof(witness->dirt), "%s%s%.80s", text_of(event, "why"),
		    shown[0] != '\0' ? ": " : "", shown);
}

static void
on_stray(struct witness *witness, const json_t *event, msec_t now)
{
	(void)now;
	witness->strays += strcmp(text_of(event, "to"), "server") != 0;
}

static void
on_late(struct witness *witness, const json_t *event, msec_t now)
{
	const json_t *id = json_object_get(event, "id");

	(void)now;
	if (json_is_integer(id) && witness->late_count < WITNESS_LATE)
		witness->late[witness->late_count++] = (struct late){ json_integer_value(id), elapsed(event) };
}

static void
on_cancel(struct witness *witness, const json_t *event, msec_t now)
{
	(void)now;
	witness->cancelled = elapsed(event);
}

static void
on_unsent(struct witness *witness, const json_t *event, msec_t now)
{
	(void)event;
	(void)now;
	witness->unsent = true;
}

static void
on_late_progress(struct witness *witness, const json_t *event, msec_t now)
{
	(void)now;
	witness->late_progress++;
	witness->last_progress = elapsed(event);
}

static void
on_timed_out(struct witness *witness, const json_t *event, msec_t now)
{
	(void)event;
	(void)now;
	witness->timed_out = true;
}

static void
on_ending(struct witness *witness, const json_t *event, msec_t now)
{
	const char *step = text_of(event, "step");

	if (strcmp(step, "SIGTERM") == 0)
		witness->terminated = true;
	else if (strcmp(step, "SIGKILL") == 0)
		witness->killed = true;
	else if (witness->closed == MSEC_NEVER)
		witness->closed = now;
}

static void
on_end(struct witness *witness, const json_t *event, msec_t now)
{
	const json_t *status = json_object_get(event, "status"), *signal = json_object_get(event, "signal");

	if (witness->ended != MSEC_NEVER)
		return;
	witness->ended = now;
	witness->early = witness->closed == MSEC_NEVER;
	witness->status = json_is_integer(status) ? (int)json_integer_value(status) : -1;
	witness->signal = json_is_integer(signal) ? (int)json_integer_value(signal) : -1;
}

static void
on_swept(struct witness *witness, const json_t *event, msec_t now)
{
	size_t len = strlen(witness->left);

	(void)now;
	witness->swept++;
	snprintf(witness->left + len, sizeof(witness->left) - len, "%s%s", len > 0 ? ", " : "", text_of(event, "name"));
}

static void
on_lost(struct witness *witness, const json_t *event, msec_t now)
{
	(void)now;
	witness->lost += (uint64_t)json_integer_value(json_object_get(event, "lines"));
}

static void
on_failed(struct witness *witness, const json_t *event, msec_t now)
{
	(void)now;
	if (witness->failed[0] == '\0')
		snprintf(witness->failed, sizeof(witness->failed), "%s: %s", text_of(event, "doing"),
		    text_of(event, "reason"));
}

static const struct {
	const char *why;
	void (*hear)(struct witness *witness, const json_t *event, msec_t now);
} words[] = {
	{ "STARTED", on_started },
	{ "NOISE", on_dirt },
	{ "RECOVERED", on_dirt },
	{ "BOM_STRIPPED", on_dirt },
	{ "CR_REPLACED", on_dirt },
	{ "MALFORMED", on_dirt },
	{ "OVERSIZED", on_dirt },
	{ "TOO_DEEP", on_dirt },
	{ "REPEATED_ID", on_dirt },
	{ "REPEATED_METHOD", on_dirt },
	{ "TRUNCATED", on_dirt },
	{ "LATE_FAULT", on_dirt },
	{ "STRAY", on_stray },
	{ "CANCEL_FORWARDED", on_cancel },
	{ "CANCEL_UNSENT", on_unsent },
	{ "LATE", on_late },
	{ "LATE_PROGRESS", on_late_progress },
	{ "TIMED_OUT", on_timed_out },
	{ "ENDING", on_ending },
	{ "SERVER_ENDED", on_end },
	{ "SERVER_EXITED", on_end },
	{ "SWEPT", on_swept },
	{ "LINES_LOST", on_lost },
	{ "FAILED", on_failed },
};

void
witness_hear(struct witness *witness, const json_t *event, msec_t now)
{
	const char *why = text_of(event, "why");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].why, why) == 0)
			words[i].hear(witness, event, now);
}

msec_t
witness_late(const struct witness *witness, int64_t id)
{
	for (size_t i = 0; i < witness->late_count; i++)
		if (witness->late[i].id == id)
			return witness->late[i].after;
	return MSEC_NEVER;
}
