#pragma once

/* What top has on its screen, and how it draws that. */

#include "ctl/targets.h"

enum {
	MARGIN = 2, /* cells */
	PAGE_KEYS = '?',
	PAGE_HISTORY = 'h',
	PAGE_REQUEST = '\n',
	SLOT = 5000, /* ms */
	SLOTS = 13,  /* the bounds of the slots of the last minute */
};

struct top {
	const char *which; /* the pid or name of those that are shown; NULL: all */
	const char *path;  /* the socket of the only one that is shown; NULL: none was given */
	struct targets targets;
	/* owned; the requests of which something is known, also those that the filter hides */
	json_t *known;
	/*
	 * owned; of these the open ones, then the last that have ended, in the order of the screen
	 */
	json_t *rows;
	size_t open;  /* how many of them are */
	int64_t more; /* that canceld did not list */
	size_t marked;
	int order;          /* the key that chose it: i, a or l */
	int page;           /* what is shown in the place of the table; 0: nothing */
	struct buf history; /* on PAGE_HISTORY */
	size_t below;  /* how many of its wrapped lines are below the screen; top_draw bounds it */
	json_t *asked; /* the request about which something is asked; owned; NULL: none */
	char asks;     /* the key that asked: c and R want y or n, s and / a line */
	struct buf typed;  /* of that line */
	struct buf filter; /* what is shown has this; empty: all is */
	/* the last lines of the canceld of what is marked; owned; NULL: none are shown */
	json_t *log;
	/* a request of the server that was asked whether it is alive; owned; NULL: none is */
	json_t *pinged;
	/*
	 * owned; by its socket, how many a client had called at the end of each of the last SLOTS
	 */
	json_t *calls;
	/*
	 * owned; by its socket, when each canceld began, as its first answer told it, on our clock
	 */
	json_t *starts;
	msec_t looked; /* when that was looked at; 0: never */
	bool ends;
	/* of what is asked, or what came of it: that goes with the next key, or after a while */
	struct buf notice;
	msec_t told; /* since when it is there, at the latest */
};

/* NULL: it has ended meanwhile. */
struct target *top_target(const struct top *top, const json_t *request);

/* Whether there is room for servers and details beside the requests. */
bool top_has_panels(void);

/* Shows all of it. */
void top_draw(struct top *top);
