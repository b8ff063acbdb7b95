#include "core/journal.h"

const char *
tally_word(enum tally tally)
{
	static const char *const words[] = {
#define TALLY_WORD(name, word) word,
		TALLY_LIST(TALLY_WORD)
#undef TALLY_WORD
	};

	return words[tally];
}

bool
journal_count_unseen(struct journal *journal, enum why why)
{
	if (journal->act != NULL && !(journal->traffic_unseen && why_level(why) == LEVEL_TRAFFIC))
		return false;
	journal->counts[why]++;
	return true;
}

void
journal_report(struct journal *journal, const struct action *action)
{
	if (journal_count_unseen(journal, action->why))
		return;
	journal->counts[action->why]++;
	journal->act(journal->user, action);
}

void
journal_end(struct journal *journal, const struct action *action)
{
	journal->tallies[action->tally] += action->side == SIDE_CLIENT;
	if (journal->act != NULL)
		journal->act(journal->user, action);
}
