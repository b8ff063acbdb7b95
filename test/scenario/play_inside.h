#pragma once

/* Shared by the two halves of play: play.c carries out the lines, play_ask.c checks the results. */

#include "scenario/play.h"
#include "scenario/actions.h"

struct reader {
	struct buf seen;    /* bytes that the side has read and no line has asked for */
	struct buf unasked; /* the same with their fillers */
	struct buf unread;  /* bytes that the side has written and canceld has not read */
	bool stalled, holds;
};

struct play {
	const struct scenario *scenario;
	const struct play_setup *setup;
	struct session *session;
	struct reader readers[2];
	json_t *actions; /* owned; see actions.h */
	unsigned long counts[WHY_COUNT];
	msec_t now; /* counted from the start of the scenario */
	const struct line *line, *stimulus;
	bool asked; /* the last line asked for something */
	bool wants_end;
	struct verdict *verdict;
};

/*
 * Fails the scenario with these words, unless it has failed already. Returns the text, for more of
 * them.
 */
__attribute__((format(printf, 3, 4))) struct buf *play_fail(struct play *play,
    const struct line *line, const char *format, ...);

/*
 * Checks a line that asks for something that must have happened; false: the line is of another
 * kind.
 */
bool play_asks(const struct line *line);
void play_ask(struct play *play, const struct line *line);

/* Checks that no action and no bytes are left that no line asked for. */
void play_check_silence(struct play *play);
void play_check_words(struct play *play);

/* Checks the session's own state at the end of the scenario. */
void play_check_session(struct play *play);
