/* Long answers: one passes before it has ended only as the answer to the one request that it can answer. */
#include <string.h>
#include <strings.h>

#include "oracle_inside.h"

/*
 * The text right before the message that is a part of its header, and of what is held: LSP "Header Part", a field ends
 * with "\r\n", and its name begins its line. Behind such a field, text without a newline may stand before the length.
 */
static size_t
header_before(const struct oracle *oracle, int number)
{
	const struct sent *sent = &oracle->sent[number], *text;
	bool begun = false, field; /* begun: a line is */
	size_t len = 0;

	for (text = oracle->sent; text < sent && oracle->header; text++) {
		if (text->from != sent->from || text->life != sent->life)
			continue;
		if (memchr(text->bytes, '\n', text->len) == NULL) {
			len += len > 0 ? text->len : 0;
			begun = true;
		} else {
			field = !begun && text->len > 2 && memcmp(text->bytes + text->len - 2, "\r\n", 2) == 0;
			len = field ? len + text->len : 0;
			begun = false;
		}
	}
	return begun && strncasecmp(sent->bytes, "Content-Length", 14) != 0 ? 0 : len;
}

void
oracle_hears_part(struct oracle *oracle, int number, size_t len)
{
	struct sent *sent = &oracle->sent[number];

	oracle->partial[sent->from] = len < sent->len ? number + 1 : 0;
	sent->part_at = oracle->now;
	sent->part = len;
	if (len < sent->len && sent->judged == 0 && header_before(oracle, number) + len >= HELD)
		sent->judged = ++oracle->step;
}

struct sent *
oracle_partial(const struct oracle *oracle, int from)
{
	return oracle->partial[from] == 0 ? NULL : &oracle->sent[oracle->partial[from] - 1];
}

/* The request of `by` under this id whose answer may be passing. */
static struct ask *
find_passing(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask, *found = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == by && !ask->ours && ask->replied == 0 && ask->lost == 0 &&
		    oracle->sent[ask->sent].begun != 0 && strcmp(ask->id, id) == 0)
			found = ask;
	return found;
}

/* Whether its receiver had it when this answer was judged, and may answer it still. */
static bool
may_be_meant(const struct oracle *oracle, const struct ask *ask, const struct sent *sent)
{
	return ask->by != sent->from && !ask->ours && ask->arrived != 0 && ask->arrived < sent->judged &&
	    oracle_is_at_work(oracle, ask) && ask->reply_begun == 0 && ask->replied == 0 && !ask->forgotten;
}

/* The side that reads the answer asks nothing that canceld asked in its place. */
static void
check_candidates(struct oracle *oracle, const struct sent *sent, const struct ask *passing)
{
	const struct ask *ask;
	int i;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask != passing && may_be_meant(oracle, ask, sent))
			oracle_blame(oracle, "1: an answer passes as that of %s, and %s may be meant", passing->id,
			    ask->id);
	for (i = 0; i < oracle->own_count && sent->from == SERVER && !oracle->stuck && !oracle->client_left; i++)
		if (!oracle->owns[i].answered)
			oracle_blame(oracle, "1: an answer passes as that of %s, and canceld's %s may be meant",
			    passing->id, oracle->owns[i].wire);
}

void
oracle_passes(struct oracle *oracle, int from, const char *id, const char *text, size_t len)
{
	struct sent *sent = oracle_partial(oracle, from);
	struct ask *own, *ask;

	if (sent == NULL || (sent->kind != KIND_RESPONSE && sent->kind != KIND_JUNK) || len < 64 ||
	    len >= sent->arrives_len || memcmp(text, sent->arrives, 64) != 0)
		return;
	own = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];
	ask = own != NULL && strcmp(own->id, id) == 0 ? own : find_passing(oracle, !from, id);
	if (ask == NULL || sent->judged == 0 || oracle->strict || (ask != own && !sent->last)) {
		oracle_blame(oracle, "1: an answer of %zu bytes passes in parts as that of %s", sent->len, id);
		return;
	}
	if (ask->replied != 0 || (ask->cancelled != 0 && ask->cancelled < sent->judged && !ask->owed))
		oracle_blame(oracle, "1: a late answer passes in parts as that of %s", id);
	if (sent->last)
		check_candidates(oracle, sent, ask);
	sent->passing = (int)(ask - oracle->asks) + 1;
	sent->former_begun = ask == own ? 0 : ask->reply_begun;
	if (ask != own) {
		ask->reply_begun = sent->begun;
		ask->reply_large = true;
	}
}

void
oracle_is_another(struct oracle *oracle, int from, const char *id)
{
	struct sent *sent = &oracle->sent[oracle->hearing];
	struct ask *ask;

	if (sent->from != from || sent->passing == 0) {
		oracle_blame(oracle, "5: what did not pass in parts is said not to be the answer to %s", id);
		return;
	}
	ask = &oracle->asks[sent->passing - 1];
	if (strcmp(ask->id, id) != 0 || sent->passing - 1 == sent->ask)
		oracle_blame(oracle, "1: the answer of %s is taken for another's", id);
	ask->reply_begun = sent->former_begun;
	ask->reply_large = false;
	ask->mistaken_at = oracle->now;
	sent->astray = true;
}

void
oracle_forgot(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == by && strcmp(ask->id, id) == 0 && !oracle_waits(ask) && !oracle_owes(ask))
			ask->forgotten = true;
}

/* Whether the id, which comes last, was heard, and only the end of the message was not. */
static bool
id_is_heard(const struct sent *sent)
{
	size_t end = sent->len;

	while (end > 0 && sent->bytes[end - 1] != '}')
		end--;
	return end > 0 && sent->part >= end - 1;
}

void
oracle_times_out(struct oracle *oracle, int by, const char *id)
{
	const struct sent *sent = oracle_partial(oracle, !by);
	const struct ask *ask = find_passing(oracle, by, id);

	if (sent == NULL || ask == NULL || oracle->now - ask->asked >= ask->cap)
		return;
	if (sent->judged != 0 && sent->last && sent->passing == 0 && !id_is_heard(sent) &&
	    may_be_meant(oracle, ask, sent) && oracle->now - sent->part_at < ask->idle)
		oracle_blame(oracle, "1: %s timed out, and an answer that may be its arrived", id);
}
