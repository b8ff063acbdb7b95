#pragma once

/*
 * What has happened, for those who look later: one file for all canceld of this user,
 * ~/.local/state/canceld/history, or in XDG_STATE_HOME. A line is an object of the JSON log, with
 * "session" and "client"; it tells of the session, or how a request ended: then it has "ended", the
 * word of its tally. What was answered at once is only counted, in a line (COUNTED) for each method
 * and name, a minute after the first one and at the end. Nothing depends on whether the file can be
 * written.
 */

#include "shell/log.h"
#include "shell/statistics.h"

enum {
	HISTORY_MOST = 4 << 20, /* bytes of the file; a former one, history.1, has as many */
	HISTORY_PATH = 4096,
	/*
	 * ms after which requests answered at once are counted in a line, and a writer that has
	 * ended is replaced
	 */
	HISTORY_EACH = 60000,
};

struct history_page;

struct history {
	struct log log;
	struct writer_shared file;
	struct statistics *statistics; /* this and the next two are borrowed */
	const struct session *session;
	const char *client; /* the name of its process */
	/* what the writer reads if canceld is killed; NULL: there is no history */
	struct history_page *page;
	struct buf members; /* of each line */
	size_t of_session;  /* the bytes of `members` before those that name the client */
	size_t told;        /* how many bytes of the client's own description are in `members` */
	msec_t wake;        /* when history_round is due; MSEC_NEVER: only after an event */
	char directory[HISTORY_PATH];
};

/*
 * The directory number i, below HISTORY_PLACES, where a history may be; canceld's own is in the
 * first. false: there is none.
 */
enum { HISTORY_PLACES = 2 };
bool history_directory(int i, char path[HISTORY_PATH]) MUST_USE;

/*
 * Opens the history: from now on the log gives it the events to keep. client: the name of the
 * client's process, which may be filled in later. Logs HISTORY_REFUSED if there is no directory for
 * it. history must not move in memory until history_close. All calls do nothing for a zeroed
 * history.
 */
void history_open(struct history *history, struct log *log, const char *client,
    const struct session *session, struct statistics *statistics);

/* Keeps how a request ended. action: a VERB_END. */
void history_end(struct history *history, const struct action *action, msec_t now);

/* Writes the counts that are due, or all of them. */
void history_round(struct history *history, msec_t now, bool all);

/*
 * Sets up the watchers for the next wait, and leaves for the writer what is outstanding now, in
 * case canceld is killed.
 */
void history_watch(struct history *history, msec_t now);

/* Says nothing more, and stops the watchers. */
void history_close(struct history *history);
