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
	if (text.len > 0)
		memcpy(storage, text.ptr, text.len);
	return (struct span){ storage, text.len };
}

static struct method_totals *
totals_of(struct journal *journal, struct span method, struct span name)
{
	struct method_totals *totals = journal->methods, *last = totals + LIMIT_METHODS;

	for (; totals < journal->methods + journal->method_count; totals++)
		if (totals == last || (span_equal(totals->method, method) && span_equal(totals->name, name)))
			return totals;
	journal->method_count++;
	totals->method = keep(totals->storage[0], totals == last ? SPAN("other") : method);
	totals->name = keep(totals->storage[1], totals == last ? SPAN_NONE : name);
	return totals;
}

static struct span
beginning(struct span text)
{
	return span_head(text, JOURNAL_NAME);
}

void
journal_end(struct journal *journal, enum tally tally, struct span method, struct span name, msec_t elapsed)
{
	struct method_totals *totals;

	journal->tallies[tally]++;
	if (!journal->by_name)
		return;
	totals = totals_of(journal, beginning(method), beginning(name));
	totals->tallies[tally]++;
	totals->count++;
	totals->sum += (uint64_t)elapsed;
	if (elapsed > totals->longest)
		totals->longest = elapsed;
}

struct ended *
journal_keep(struct journal *journal, struct span id, struct span method, struct span name)
{
	struct ended *ended = &journal->ended[journal->ended_count++ % LIMIT_ENDED];

	ended->id = keep(ended->storage[0], beginning(id));
	ended->method = keep(ended->storage[1], beginning(method));
	ended->name = keep(ended->storage[2], beginning(name));
	return ended;
}
