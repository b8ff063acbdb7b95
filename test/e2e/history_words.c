/*
 * What the history makes of each word of the log that it may have, and of each way in which a
 * request ends.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/table.h"
#include "shell.h"
#include "shell/log.h"

SUITE("history_words");

/*
 * What the history makes of a word of the log. A new one has a row if the history keeps it, or a
 * request ends under it: it fails until somebody says what it means.
 */
enum meaning {
	NOWHERE, /* it is in no line of the history: the words without a row */
	ENDS,    /* a request ends under it; its tally says how */
	PLAIN,   /* it is in lines of which no row of the table is made */
	TOLD,    /* of the session: in a row ... */
	LOSS,    /* ... with --failed too */
};

static const enum meaning meanings[WHY_COUNT] = {
	[WHY_RELAYED] = ENDS,
	[WHY_UNTRACKED] = ENDS,
	[WHY_CANCEL_FORWARDED] = ENDS,
	[WHY_REPAIRED] = ENDS,
	[WHY_CANCEL_UNSENT] = ENDS,
	[WHY_TIMED_OUT] = ENDS,
	[WHY_OPERATOR_CANCELLED] = ENDS,
	[WHY_ANSWERED_FOR_CLIENT] = ENDS,
	[WHY_PROBE_ANSWERED] = ENDS,
	[WHY_CANCEL_ANSWERED] = ENDS,
	[WHY_CLIENT_GONE] = ENDS,
	[WHY_SERVER_GONE] = ENDS,
	[WHY_SERVER_LOST] = ENDS,
	[WHY_TERMINATED] = ENDS,
	[WHY_TOO_MANY] = ENDS,
	[WHY_MALFORMED] = ENDS,
	[WHY_OVERSIZED] = ENDS,
	[WHY_PARSE_ERROR] = ENDS,
	[WHY_INVALID_REQUEST] = ENDS,
	[WHY_TOO_DEEP] = ENDS,
	[WHY_REPEATED_ID] = ENDS,
	[WHY_REPEATED_METHOD] = ENDS,
	[WHY_UNANSWERABLE] = ENDS,
	[WHY_DIALECT] = PLAIN,
	[WHY_DEAF] = TOLD,
	[WHY_STUCK] = LOSS,
	[WHY_CANCEL_IGNORED] = LOSS,
	[WHY_REPLAY_FAILED] = TOLD,
	[WHY_RESTARTED] = TOLD,
	[WHY_RESTARTING] = PLAIN,
	[WHY_RESTART_REFUSED] = LOSS,
	[WHY_STARTED] = PLAIN,
	[WHY_SIGNALLED] = TOLD,
	[WHY_SERVER_EXITED] = LOSS,
	[WHY_OPERATOR_RESTARTED] = LOSS,
	[WHY_COUNTED] = PLAIN,
	[WHY_KILLED] = LOSS,
	[WHY_SUMMARY] = PLAIN,
};

/* Of a request: whether --failed tells of it, and the table of tools counts it as failed. */
static const enum meaning of_tallies[TALLIES] = {
	[TALLY_ANSWERED] = TOLD,
	[TALLY_FAILED] = LOSS,
	[TALLY_CANCELLED] = TOLD,
	[TALLY_TIMED_OUT] = LOSS,
	[TALLY_BY_PERSON] = LOSS,
	[TALLY_LEFT] = TOLD,
	[TALLY_LOST] = LOSS,
	[TALLY_REFUSED] = LOSS,
	[TALLY_STREAMS] = TOLD,
	[TALLY_UNTRACKED] = LOSS,
};

/* Whether the decision table ends a request under this word. */
static bool
ends_some(enum why why)
{
	bool ends = false;

	for (int state = REQUEST_QUEUED; state < REQUEST_STATES; state++)
		for (int event = 0; event < DECIDE_EVENTS && state != REQUEST_ABANDONED; event++) {
			const struct decision *cell = &decisions[state][event];

			ends |= (cell->next == REQUEST_ENDED || cell->next == REQUEST_ABANDONED) &&
			    (cell->why[SIDE_CLIENT] == why || cell->why[SIDE_SERVER] == why);
		}
	return ends;
}

static void
keep_nothing(void *keeper, enum why why, const struct log_field *fields, size_t count)
{
	(void)keeper, (void)why, (void)fields, (void)count;
}

/* What the program writes there has that meaning, and nothing else has. */
TEST(the_history_has_a_meaning_for_each_word)
{
	const struct log log = { .keep = keep_nothing }; /* shows errors only */

	for (enum why why = 0; why < WHY_COUNT; why++) {
		enum meaning meaning = meanings[why];
		bool kept = why_level(why) != LEVEL_ERROR && log_shows(&log, why);
		/* history.c writes them itself */
		bool own = why == WHY_COUNTED || why == WHY_KILLED;

		ck_assert_msg((kept || own) == (meaning >= PLAIN),
		    "%s is %skept: what does the history make of it?", why_word(why),
		    kept ? "" : "not ");
		ck_assert_msg(!ends_some(why) || meaning == ENDS,
		    "a request may end under %s: what does the history make of it?", why_word(why));
	}
	for (enum tally tally = 0; tally < TALLIES; tally++)
		ck_assert_msg(of_tallies[tally] != NOWHERE, "what does the history make of %s?",
		    tally_word(tally));
}

#define DIRECTORY "/.local/state/canceld"
#define LINE \
	"{\"time\":\"2026-11-25T10:00:01.000Z\",\"pid\":4711,\"server\":\"weather\",\"session\":\"4711-1\"," \
	"\"why\":\"%s\""
#define ENDED \
	",\"ended\":\"%s\",\"requester\":\"client\",\"method\":\"m\",\"name\":\"%s.%s\",\"id\":7,\"elapsed\":1}\n"

static void
write_word(FILE *file, enum why why)
{
	if (meanings[why] >= PLAIN)
		fprintf(file, LINE "%s}\n", why_word(why), why == WHY_KILLED ? ",\"open\":1" : "");
	for (enum tally tally = 0; meanings[why] == ENDS && tally < TALLIES; tally++)
		fprintf(file, LINE ENDED, why_word(why), tally_word(tally), why_word(why),
		    tally_word(tally));
}

/* A line for each word, and for each tally with which it may end a request. */
static void
write_all(void)
{
	char path[512];
	FILE *file;

	shell_expect("true", "rm -rf $HOME/.local; mkdir -p -m 700 $HOME" DIRECTORY, 0, "");
	snprintf(path, sizeof(path), "%s" DIRECTORY "/history", getenv("HOME"));
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	for (enum why why = 0; why < WHY_COUNT; why++)
		write_word(file, why);
	ck_assert_int_eq(fclose(file), 0);
}

static void
expect_row(const char *row, bool wanted)
{
	bool found = strstr(shell_output, row) != NULL;

	/* all that is told is too long */
	ck_assert_msg(found == wanted, "'%s' is %stold", row, found ? "" : "not ");
}

/* least: what is told. */
static void
expect_word(enum why why, enum meaning least)
{
	const char *word = why_word(why);
	char row[128];

	snprintf(row, sizeof(row), " - %s ", word);
	if (meanings[why] >= PLAIN)
		expect_row(row, meanings[why] >= least);
	for (enum tally tally = 0; meanings[why] == ENDS && tally < TALLIES; tally++) {
		const char *ended = tally_word(tally);

		snprintf(row, sizeof(row), " m %s.%s 7 1ms %s ", word, ended, ended);
		expect_row(row, of_tallies[tally] >= least);
		snprintf(row, sizeof(row), "weather m %s.%s 1 %d ", word, ended,
		    of_tallies[tally] == LOSS);
		expect_row(row, of_tallies[tally] >= least); /* it has one request only */
	}
}

TEST(the_history_tells_of_each_word_what_it_means)
{
	static const char script[] = "$CANCELCTL history $HOW | tr -s ' ' | sed 's/$/ /'";

	write_all();
	shell_expect("HOW=", script, 0, "weather[4711]");
	for (enum why why = 0; why < WHY_COUNT; why++)
		expect_word(why, TOLD);
	shell_expect("HOW=--failed", script, 0, "weather[4711]");
	for (enum why why = 0; why < WHY_COUNT; why++)
		expect_word(why, LOSS);
}
