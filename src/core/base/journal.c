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

static struct span
keep(char storage[LATENCY_NAME], struct span text)
{
	if (text.len > 0)
		memcpy(storage, text.ptr, text.len);
	return (struct span){ storage, text.len };
}

static struct latency *
latency_of(struct journal *journal, struct span method, struct span name)
{
	struct latency *latency = journal->latencies, *last = latency + LIMIT_LATENCIES;

	for (; latency < journal->latencies + journal->latency_count; latency++)
		if (latency == last || (span_equal(latency->method, method) && span_equal(latency->name, name)))
			return latency;
	journal->latency_count++;
	latency->method = keep(latency->storage[0], latency == last ? SPAN("other") : method);
	latency->name = keep(latency->storage[1], latency == last ? SPAN_NONE : name);
	return latency;
}

static struct span
beginning(struct span text)
{
	return span_part(text, 0, text.len < LATENCY_NAME ? text.len : LATENCY_NAME);
}

void
journal_time(struct journal *journal, struct span method, struct span name, msec_t elapsed)
{
	struct latency *latency = latency_of(journal, beginning(method), beginning(name));

	latency->count++;
	latency->sum += (uint64_t)elapsed;
	if (elapsed > latency->longest)
		latency->longest = elapsed;
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
