#ifndef SCENARIO_PLAY_INSIDE_H
#define SCENARIO_PLAY_INSIDE_H

/* What the two halves of play share: play.c does what the lines say, play_ask.c looks at what came of it. */

#include "scenario/play.h"
#include "scenario/actions.h"

struct reader {
	struct buf seen;   /* read and not yet asked for */
	struct buf unread; /* written, and canceld does not read */
	bool stalled, holds;
};

struct play {
	const struct scenario *scenario;
	const struct play_setup *setup;
	const struct subject_kind *kind;
	void *subject;
	struct reader readers[2];
	struct action_list actions;
	unsigned long counts[WHY_COUNT];
	msec_t now; /* from the scenario's start */
	const struct line *line, *stimulus;
	bool asked; /* the last line asked for something */
	bool wants_end;
	struct verdict *verdict;
};

/* The verdict's text, to be filled in; NULL if it was spoken before. */
struct buf *play_fail(struct play *play, const struct line *line);

__attribute__((format(printf, 2, 3))) void play_show(struct buf *out, const char *format, ...);

/* The line asks for something that must have happened; false: it does not. */
bool play_asks(const struct line *line);
void play_ask(struct play *play, const struct line *line);

/* Nothing may be left that no line asked for. */
void play_check_silence(struct play *play);
void play_check_words(struct play *play);

/* At the scenario's end: what the session says of itself. */
void play_check_session(struct play *play);

#endif
