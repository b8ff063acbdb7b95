/*
 * --parallel: how many requests are at the server, which are held, and in which order they are
 * sent.
 */
#include <string.h>

#include "oracle_inside.h"

enum { HELD = 4 << 20, UNCERTAIN = 256 }; /* bytes that are held at most, as in the manual */

static bool
fits(const struct places *places, const struct ask *ask)
{
	if (places->method != NULL && strcmp(places->method, ask->deed->method) != 0)
		return false;
	return places->name == NULL ||
	    (ask->name[0] != '\0' && strstr(ask->name, places->name) != NULL);
}

/* Whether --parallel may count a request of this method. */
static bool
is_countable(const struct ask *ask)
{
	unsigned traits = ask->deed->traits;

	return traits & TURN ||
	    !(traits &
		(HANDSHAKE | FINAL | EXEMPT | DISCOVERY | STREAM | SETTING | UNSETTING | CLOSES |
		    LOGIN));
}

static bool
is_counted(const struct oracle *oracle, const struct ask *ask)
{
	return (oracle->protocol == &protocols[MCP] || oracle->protocol == &protocols[ACP]) &&
	    is_countable(ask);
}

/* The last rule that fits is the most specific one. */
static int
rule_of(const struct oracle *oracle, const struct ask *ask)
{
	int rule = is_counted(oracle, ask) ? oracle->rule_count : 0;

	while (rule > 0 && !fits(&oracle->rules[rule - 1], ask))
		rule--;
	return rule;
}

/* When its time began to pass: none answers what was cancelled in MCP; INT64_MAX: it has not. */
static int64_t
given_up_at(const struct oracle *oracle, const struct ask *ask)
{
	int64_t at = ask->cancelled != 0 && !oracle->protocol->owes ? ask->ending_at : INT64_MAX;

	return ask->decided != 0 && ask->decided_at < at ? ask->decided_at : at;
}

/*
 * Whether the time is over for which a request that is not awaited counts, had it passed from then
 * on.
 */
static bool
has_left(const struct oracle *oracle, const struct ask *ask, int64_t since)
{
	int64_t given_up = given_up_at(oracle, ask);

	if (given_up == INT64_MAX)
		return false;
	return oracle->now - (given_up > since ? given_up : since) >=
	    (oracle->protocol->owes ? LINGER : oracle_grace(oracle, ask));
}

static bool
was_sent(const struct oracle *oracle, const struct ask *ask)
{
	return oracle->sent[ask->sent].heard != 0 && !ask->waiting && !ask->unsent &&
	    !ask->withdrawn && ask->replied == 0 && ask->lost == 0;
}

/* Whether it may have a place; else, it has one for sure. */
static bool
may_have_place(const struct oracle *oracle, const struct ask *ask)
{
	int64_t paused = oracle->paused_at > oracle->slept ? oracle->paused_at : oracle->slept;
	/* Until its receiver may be told that it was given up it is kept. */
	bool untold = oracle->handshake && !oracle->start_answered;

	return was_sent(oracle, ask) &&
	    (untold || !has_left(oracle, ask, paused > ask->gone_on_at ? paused : ask->gone_on_at));
}

static bool
has_place(const struct oracle *oracle, const struct ask *ask)
{
	bool arrives = ask->wire[0] != '\0' || given_up_at(oracle, ask) == INT64_MAX;

	return was_sent(oracle, ask) && arrives && !has_left(oracle, ask, 0);
}

/* How many others of its rule have a place. surely: not only perhaps. */
static int
count_others(const struct oracle *oracle, const struct ask *ask, bool surely)
{
	const struct ask *other;
	int count = 0;

	for (other = oracle->asks; other < oracle->asks + oracle->ask_count; other++)
		count += other != ask && other->rule == ask->rule &&
		    (surely ? has_place(oracle, other) : may_have_place(oracle, other));
	return count;
}

/* The one of its rule that has waited longest; NULL: none waits. */
static struct ask *
first_waiting(const struct oracle *oracle, int rule)
{
	struct ask *ask, *first = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->rule == rule && ask->waiting &&
		    (first == NULL ||
			oracle->sent[ask->sent].heard < oracle->sent[first->sent].heard))
			first = ask;
	return first;
}

/* Of each so many bytes are uncertain, as its id and token may have been replaced. */
static int64_t
bytes_waiting(const struct oracle *oracle, int uncertain)
{
	const struct ask *ask;
	int64_t bytes = 0;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		bytes +=
		    ask->waiting ? (int64_t)oracle->sent[ask->sent].arrives_len + uncertain : 0;
	return bytes;
}

/*
 * Whether canceld keeps its message for the next server: not what that is told in any case, nor
 * what ends a server, nor what is too long, by the manual's limit for all that are outstanding.
 */
static bool
is_kept(const struct oracle *oracle, const struct ask *ask)
{
	const struct ask *other;
	int64_t outstanding = 0;

	for (other = oracle->asks; other < oracle->asks + oracle->ask_count; other++)
		outstanding += other->by == CLIENT && oracle->sent[other->sent].heard != 0 &&
		    other->replied == 0 && other->decided == 0 && other->lost == 0;
	return !(ask->deed->traits & (HANDSHAKE | DISCOVERY | FINAL | STREAM)) &&
	    ((int64_t)oracle->sent[ask->sent].arrives_len + UNCERTAIN) * outstanding <= HELD;
}

bool
oracle_may_repeat(const struct oracle *oracle, const struct ask *ask)
{
	return (ask->kept || ask->released != 0) && !ask->untracked && ask->wire[0] == '\0' &&
	    oracle_lives(oracle, ask) && ask->cancelled == 0 && ask->expired == 0;
}

bool
oracle_must_repeat(const struct oracle *oracle, const struct ask *ask)
{
	return oracle_may_repeat(oracle, ask) && !ask->doubted &&
	    (ask->unseen || ask->released != 0 || ask->repeated);
}

void
oracle_wants_place(struct oracle *oracle, struct ask *ask)
{
	int most;

	ask->kept = is_kept(oracle, ask);
	ask->rule = rule_of(oracle, ask);
	if (ask->rule == 0)
		return;
	most = oracle->rules[ask->rule - 1].most;
	ask->must_wait =
	    first_waiting(oracle, ask->rule) != NULL || count_others(oracle, ask, true) >= most;
	ask->may_wait = ask->must_wait || count_others(oracle, ask, false) >= most;
}

void
oracle_takes_place(struct oracle *oracle, const struct ask *ask)
{
	const struct ask *other;
	int count = 0;

	if (ask->rule == 0)
		return;
	if (ask->waiting)
		oracle_blame(oracle, "8: %s arrived, and canceld says that it holds it", ask->id);
	for (other = oracle->asks; other < oracle->asks + oracle->ask_count; other++) {
		if (other == ask || other->rule != ask->rule)
			continue;
		count += other->wire[0] != '\0' && has_place(oracle, other);
		/* What waited overtakes what the server has not read yet. */
		if (other->wire[0] != '\0' && other->life == oracle->life &&
		    (ask->released != 0 || other->released == 0) &&
		    oracle->sent[other->sent].heard > oracle->sent[ask->sent].heard)
			oracle_blame(oracle, "8: %s arrived behind %s", ask->id, other->id);
	}
	if (count >= oracle->rules[ask->rule - 1].most)
		oracle_blame(oracle, "8: %s arrived at a server that has %d already", ask->id,
		    count);
}

/* The newest one with this id that canceld has heard. */
static struct ask *
find(struct oracle *oracle, const char *id, bool waiting)
{
	struct ask *ask = oracle->asks + oracle->ask_count;

	while (ask-- > oracle->asks)
		if (ask->by == CLIENT && oracle->sent[ask->sent].heard != 0 &&
		    ask->waiting == waiting && strcmp(ask->id, id) == 0)
			return ask;
	return NULL;
}

void
oracle_waits_for_place(struct oracle *oracle, const char *id)
{
	struct ask *ask = find(oracle, id, false);

	if (ask == NULL || ask->sent != oracle->hearing || !ask->may_wait)
		oracle_blame(oracle, "8: %s is held, and has a place", id);
	else if (bytes_waiting(oracle, -UNCERTAIN) >= HELD)
		oracle_blame(oracle, "4: %s is held beside %lld bytes", id,
		    (long long)bytes_waiting(oracle, 0));
	else
		ask->waiting = true;
}

void
oracle_is_full(struct oracle *oracle)
{
	if (bytes_waiting(oracle, UNCERTAIN) < HELD)
		oracle_blame(oracle, "8: a request is refused as %lld bytes are held",
		    (long long)bytes_waiting(oracle, 0));
}

/* Whether nothing is sent to the server at present, or need not be. */
static bool
is_closed(const struct oracle *oracle)
{
	return oracle->away || oracle->replaying || oracle->probing || oracle->stuck ||
	    oracle->server_died || oracle->client_left || oracle->shut;
}

void
oracle_releases(struct oracle *oracle, const char *id)
{
	struct ask *ask = find(oracle, id, true);

	if (ask == NULL) {
		oracle_blame(oracle, "8: %s is sent, and was not held", id);
		return;
	}
	if (ask != first_waiting(oracle, ask->rule))
		oracle_blame(oracle, "8: %s is sent ahead of %s", id,
		    first_waiting(oracle, ask->rule)->id);
	if (count_others(oracle, ask, true) >= oracle->rules[ask->rule - 1].most)
		oracle_blame(oracle, "8: %s is sent, and no place is free", id);
	if (oracle->away || oracle->replaying || oracle->stuck || oracle->shut ||
	    oracle->client_left)
		oracle_blame(oracle, "8: %s is sent, and no server reads it", id);
	ask->waiting = false;
	ask->released = ++oracle->step;
	ask->active = oracle->now;
}

/* Whether a place is free for the one that has waited longest. */
static bool
is_free(const struct oracle *oracle, const struct ask *first)
{
	return count_others(oracle, first, false) < oracle->rules[first->rule - 1].most;
}

bool
oracle_may_wait(const struct oracle *oracle, const struct ask *ask)
{
	return ask->waiting && !is_free(oracle, first_waiting(oracle, ask->rule));
}

void
oracle_heard_place(struct oracle *oracle)
{
	const struct sent *sent = &oracle->sent[oracle->hearing];
	const struct ask *ask = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];

	if (sent->kind == KIND_REQUEST && ask->must_wait && !ask->waiting && ask->released == 0 &&
	    !ask->unsent && ask->decided == 0 && ask->cancelled == 0 && !oracle->server_died &&
	    !oracle->client_left)
		oracle_blame(oracle, "8: %s is not held, and no place is free", ask->id);
}

bool
oracle_opens(const struct oracle *oracle, int number)
{
	const struct sent *sent = &oracle->sent[number];

	return number == oracle->shown || (oracle->opened > 0 && number == oracle->opened) ||
	    (sent->kind == KIND_REQUEST && oracle->asks[sent->ask].deed->traits & HANDSHAKE);
}

void
oracle_drops_turn_cancel(struct oracle *oracle)
{
	struct sent *sent = &oracle->sent[oracle->hearing];

	sent->dropped |= sent->kind == KIND_TURN_CANCEL;
}

/*
 * Whether what is held waits until this message is written. A session/cancel that is due goes ahead
 * of what waits.
 */
static bool
is_in_front(const struct oracle *oracle, int number)
{
	const struct sent *sent = &oracle->sent[number];

	if (sent->from != CLIENT || sent->heard == 0 || sent->arrived)
		return false;
	return oracle_opens(oracle, number) ||
	    (sent->kind == KIND_TURN_CANCEL && sent->ask < 0 && !sent->due && !sent->dropped);
}

void
oracle_look_for_places(struct oracle *oracle, bool queued)
{
	const struct ask *first;

	if (is_closed(oracle))
		return;
	for (int i = 0; i < oracle->sent_count && queued; i++)
		if (is_in_front(oracle, i))
			return;
	for (int rule = 1; rule <= oracle->rule_count; rule++)
		if ((first = first_waiting(oracle, rule)) != NULL && is_free(oracle, first))
			oracle_blame(oracle, "8: %s is held, and a place is free", first->id);
}
