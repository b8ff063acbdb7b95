#include "core/journal.h"

void
journal_init(struct journal *journal, action_fn *act, void *user, bool traffic_unseen)
{
	*journal = (struct journal){ .act = act, .user = user, .traffic_unseen = traffic_unseen };
}

void
journal_tell(struct journal *journal, const struct action *action)
{
	journal->counts[action->why]++;
	if (journal->act != NULL && !(journal->traffic_unseen && why_level(action->why) == LEVEL_TRAFFIC))
		journal->act(journal->user, action);
}
