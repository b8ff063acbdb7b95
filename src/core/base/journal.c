#include "core/journal.h"

const char *
tally_word(enum tally tally)
{
	static const char *const words[TALLIES] = {
		[TALLY_ANSWERED] = "answered",
		[TALLY_FAILED] = "failed",
		[TALLY_TIMED_OUT] = "timed_out",
		[TALLY_CANCELLED] = "cancelled",
		[TALLY_OPERATED] = "operated",
		[TALLY_LEFT] = "left",
		[TALLY_LOST] = "lost",
		[TALLY_REFUSED] = "refused",
		[TALLY_STREAMS] = "streams",
		[TALLY_UNTRACKED] = "untracked",
	};

	return words[tally];
}

bool
journal_counts_only(struct journal *journal, enum why why)
{
	if (journal->act != NULL && !(journal->traffic_unseen && why_level(why) == LEVEL_TRAFFIC))
		return false;
	journal->counts[why]++;
	return true;
}

void
journal_tell(struct journal *journal, const struct action *action)
{
	if (journal_counts_only(journal, action->why))
		return;
	journal->counts[action->why]++;
	journal->act(journal->user, action);
}

void
journal_tally(struct journal *journal, enum side requester, enum tally tally)
{
	if (requester == SIDE_CLIENT)
		journal->tallies[tally]++;
}
