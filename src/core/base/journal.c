#include "core/journal.h"

#include <string.h>

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
journal_tell(struct journal *journal, const struct action *action)
{
	if (journal_count_unseen(journal, action->why))
		return;
	journal->counts[action->why]++;
	journal->act(journal->user, action);
}

static struct span
keep(char storage[JOURNAL_NAME], struct span text)
{
	text = span_head(text, JOURNAL_NAME);
	if (text.len > 0)
		memcpy(storage, text.ptr, text.len);
	return (struct span){ storage, text.len };
}

static struct method_totals *
totals_of(struct journal *journal, struct span method, struct span name)
{
	struct method_totals *totals = journal->methods, *last = totals + LIMIT_METHODS;

	for (; totals < journal->methods + journal->method_count; totals++)
		if (totals == last ||
		    (span_equal(totals->method, span_head(method, JOURNAL_NAME)) &&
			span_equal(totals->name, span_head(name, JOURNAL_NAME))))
			return totals;
	journal->method_count++;
	totals->method = keep(totals->storage[0], totals == last ? SPAN("other") : method);
	totals->name = keep(totals->storage[1], totals == last ? SPAN_NONE : name);
	return totals;
}

static void
count(struct journal *journal, const struct ended *end)
{
	struct method_totals *totals = totals_of(journal, end->method, end->name);

	totals->tallies[end->tally]++;
	totals->count++;
	totals->sum += (uint64_t)end->elapsed;
	if (end->elapsed > totals->longest)
		totals->longest = end->elapsed;
}

void
journal_end(struct journal *journal, const struct ended *end)
{
	struct ended *kept = &journal->ended[journal->ended_count % LIMIT_ENDED];

	journal->tallies[end->tally] += end->from == SIDE_CLIENT;
	if (journal->by_name && end->from == SIDE_CLIENT)
		count(journal, end);
	/* What was answered at once would push all others out. */
	if (!journal->by_name || end->serial == 0 || (end->tally == TALLY_ANSWERED && end->elapsed < TIME_AT_ONCE))
		return;
	*kept = *end;
	kept->id = keep(kept->storage[0], end->id);
	kept->method = keep(kept->storage[1], end->method);
	kept->name = keep(kept->storage[2], end->name);
	journal->ended_count++;
}
