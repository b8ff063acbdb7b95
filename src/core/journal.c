#include "core/journal.h"

void
journal_init(struct journal *journal, action_fn *act, void *user, bool traffic_unseen)
{
	*journal = (struct journal){ .act = act, .user = user, .traffic_unseen = traffic_unseen };
}

void
journal_tell(struct journal *journal, const struct action *action)
{
	journal->act(journal->user, action);
}

void
journal_action(struct journal *journal, const struct action *action)
{
	if (journal_count(journal, action->why))
		journal_tell(journal, action);
}

struct action
journal_new(enum verb verb, enum side side, enum why why)
{
	return (struct action){ .verb = verb, .side = side, .why = why, .elapsed = MSEC_NEVER, .timeout = MSEC_NEVER };
}

void
journal_note(struct journal *journal, enum side side, enum why why, struct span method, struct span detail)
{
	struct action action = journal_new(VERB_NOTE, side, why);

	action.method = method;
	action.detail = detail;
	journal_action(journal, &action);
}
