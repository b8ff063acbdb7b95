#include "shell/history.h"

#include <sys/mman.h>

#include "core/compose.h"
#include "shell/words.h"

enum {
	NAME = 128, /* bytes */
	STEPS = 16, /* requests to look at, from the oldest on, for one that is awaited */
};

/* Shared with the writer, at the same address. */
struct history_page {
	bool over;     /* canceld has ended in order */
	uint64_t open; /* requests of the client's that are outstanding */
	/* of the oldest of them, which the members below describe; 0: there is none */
	uint64_t serial;
	msec_t since; /* when it began */
	struct span id, method, name;
	char storage[3][NAME];
};

/*
 * That of the environment must be this user's or, if it is missing, the nearest one above it: after
 * su it may still name another user's. Of a link that leads nowhere the owner counts.
 */
bool
history_directory(int i, char path[HISTORY_PATH])
{
	const char *state = getenv("XDG_STATE_HOME");
	struct stat status;

	if (i > 0)
		return home_state(home_directory(), path, HISTORY_PATH);
	if (state == NULL || state[0] != '/')
		return false;
	home_leads_nowhere(state, &status);
	return status.st_uid == geteuid() &&
	    snprintf(path, HISTORY_PATH, "%s/canceld", state) < HISTORY_PATH;
}

/*
 * Runs in the writer's process when the pipe is closed: appends KILLED if canceld has not ended in
 * order.
 */
static void
on_end(void *user, struct buf *line)
{
	const struct history *history = user;
	const struct history_page *page = history->page;

	if (!page->over)
		log_append_line(line, &history->log, true, WHY_KILLED,
		    LOG_FIELDS(log_number("open", page->open), log_text("method", page->method),
			log_text("name", page->name), log_id("id", page->id),
			log_time("elapsed",
			    page->serial > 0 ? monotonic_now() - page->since : MSEC_NEVER)));
}

/*
 * Writes the members that each line has. The client's process is found after the history was
 * opened, and the client tells its name later still: then they are written anew.
 */
static void
begin(struct history *history)
{
	struct span told = session_view(history->session).client;
	struct buf *members = &history->members;
	const char *name, *version;
	json_t *info;

	if (members->len > history->of_session && history->told == told.len)
		return;
	history->told = told.len;
	members->len = history->of_session;
	info = json_loadb(told.ptr, told.len, JSON_ALLOW_NUL, NULL);
	name = json_string_value(json_object_get(info, "name"));
	version = json_string_value(json_object_get(info, "version"));
	compose_json(members, ",\"client\":\"");
	printable_append_json(members, span_of(name != NULL ? name : history->client), true);
	if (name != NULL && version != NULL) {
		compose_text(members, " ");
		printable_append_json(members, span_of(version), true);
	}
	compose_json(members, "\"");
	json_decref(info);
}

static void
on_kept(void *keeper, enum why why, const struct log_field *fields, size_t count)
{
	struct history *history = keeper;

	begin(history);
	log_fields(&history->log, why, fields, count);
}

void
history_open(struct history *history, struct log *log, const char *client,
    const struct session *session, struct statistics *statistics)
{
	struct log_config config = {
		.level = LEVEL_TRAFFIC,
		.json = true,
		.by_round = true,
		.name = log->config.name,
		.shared = &history->file,
		.members = &history->members,
	};
	const char *obstacle = "there is no home directory of this user's";
	void *page = mmap(NULL, sizeof(*history->page), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*history = (struct history){ .statistics = statistics,
		.session = session,
		.client = client,
		.wake = MSEC_NEVER };
	if (history_directory(0, history->directory) || history_directory(1, history->directory))
		obstacle = page == MAP_FAILED ? "there is no memory for it" :
						home_make_private(history->directory);
	else
		history->directory[0] = '\0';
	if (obstacle != NULL) {
		log_event(log, WHY_HISTORY_REFUSED, log_string("at", history->directory),
		    log_string("reason", obstacle));
		history->directory[0] = '\0';
		return;
	}
	history->page = page;
	history->file = (struct writer_shared){ history->directory, "history", "history.1",
		HISTORY_MOST, on_end, history };
	log_init(&history->log, &config);
	compose_json(&history->members, ",\"session\":\"%d-%d\"", (int64_t)history->log.pid,
	    real_now());
	history->of_session = history->members.len;
	log->keep = on_kept;
	log->keeper = history;
}

void
history_end(struct history *history, const struct action *action, msec_t now)
{
	if (history->page == NULL)
		return;
	begin(history);
	if (!action->at_once)
		report_end(&history->log, action);
	else if (action->side == SIDE_CLIENT && history->wake == MSEC_NEVER)
		history->wake = now + HISTORY_EACH;
}

void
history_round(struct history *history, msec_t now, bool all)
{
	struct log *log = &history->log;
	bool due = now >= history->wake;

	if (history->page == NULL)
		return;
	if (due && log->writer.back.ended)
		log_reopen(log);
	for (size_t i = 0; (all || due) && i < history->statistics->method_count; i++) {
		struct method_totals *totals = &history->statistics->methods[i];

		if (totals->at_once > 0)
			log_event(log, WHY_COUNTED, log_text("method", totals->method),
			    log_text("name", totals->name), log_number("count", totals->at_once),
			    log_number("sum", totals->at_once_ms));
		totals->at_once = totals->at_once_ms = 0;
	}
	if (due)
		history->wake = MSEC_NEVER;
	log_flush(log);
	writer_failed(&log->writer);
	if (log->writer.back.ended && history->wake == MSEC_NEVER)
		history->wake = now + HISTORY_EACH;
}

void
history_watch(struct history *history, msec_t now)
{
	struct history_page *page = history->page;
	struct session_view view;
	const struct request *oldest;

	if (page == NULL)
		return;
	log_watch(&history->log);
	view = session_view(history->session);
	oldest = view.oldest;
	page->open = session_outstanding(history->session, SIDE_CLIENT);
	for (int i = 0; i < STEPS && oldest != NULL && !request_is_awaited(oldest); i++)
		oldest = oldest->newer;
	if (!request_is_awaited(oldest)) {
		page->serial = 0;
		page->id = page->method = page->name = SPAN_NONE;
	} else if (page->serial != oldest->serial) {
		page->serial = oldest->serial;
		page->since = now - (view.now - oldest->received);
		page->method = span_keep(page->storage[0], NAME, oldest->method);
		page->name = span_keep(page->storage[1], NAME, oldest->shown);
		page->id = span_keep(page->storage[2], NAME, oldest->id.text);
	}
}

void
history_close(struct history *history)
{
	if (history->page == NULL)
		return;
	history->page->over = true;
	log_close(&history->log);
	munmap(history->page, sizeof(*history->page));
	buf_free(&history->members);
}
