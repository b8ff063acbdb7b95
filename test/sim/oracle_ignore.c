/*
 * --kill-ignoring: a server that goes on with what was cancelled is ended, and not before its time.
 */
#include <string.h>

#include "oracle_inside.h"

/* How long the server may take. */
static int64_t
time_of(const struct oracle *oracle, const struct ask *ask)
{
	int64_t grace = oracle_grace(oracle, ask);

	return oracle->kill_ignoring > grace ? oracle->kill_ignoring : grace;
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * The server waits for the client, and has answered nothing since it asked. Then it need not have
 * read a cancel of which it was told later: the time begins when that has ended.
 */
static void
note_excuses(struct oracle *oracle)
{
	struct ask *ask;

	if (oracle_waits_for_client(oracle, false, oracle->told_last, oracle->answered_at))
		oracle->excused_at = oracle->now;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->told_at != 0 &&
		    oracle_waits_for_client(oracle, true, ask->told_at - 1,
			oracle->responded_at + 1))
			ask->excused_at = oracle->now;
}

/* surely: it had arrived, or the cancel is its own. */
static void
tell(struct oracle *oracle, struct ask *ask, bool surely)
{
	if (ask->by != CLIENT || ask->deed == NULL || ask->deed->traits & FINAL)
		return;
	if (ask->told_at != 0 && (!surely || ask->told_surely_at != 0))
		return;
	if (ask->told_at == 0)
		ask->told_at = oracle->now;
	if (surely)
		ask->told_surely_at = oracle->now;
	oracle->told_last = oracle->now;
}

static void
tell_turns(struct oracle *oracle, const char *session)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->deed != NULL && ask->deed->traits & TURN &&
		    strcmp(ask->session, session) == 0 && oracle->sent[ask->sent].begun != 0)
			tell(oracle, ask, ask->wire[0] != '\0');
}

void
oracle_ignore_told(struct oracle *oracle, int ask, const char *session)
{
	if (session[0] != '\0')
		tell_turns(oracle, session);
	if (ask >= 0)
		tell(oracle, &oracle->asks[ask], true);
}

void
oracle_forwards(struct oracle *oracle)
{
	const struct sent *last = &oracle->sent[oracle->hearing],
			  *sent = last->first < 0 ? last : &oracle->sent[last->first];

	for (; sent <= last; sent++)
		if (sent->from == CLIENT && !sent->vain &&
		    (sent->kind == KIND_CANCEL || sent->kind == KIND_TURN_CANCEL))
			oracle_ignore_told(oracle, sent->ask, sent->session);
}

void
oracle_ignore_stall(struct oracle *oracle, bool stalled)
{
	if (oracle->stalled)
		oracle->stalled_at = oracle->now;
	oracle->stalled = stalled;
	note_excuses(oracle);
}

void
oracle_ignore_pause(struct oracle *oracle, bool paused)
{
	if (paused || oracle->paused)
		oracle->paused_at = oracle->now;
	oracle->paused = paused;
}

/*
 * Whether the server works on it, for all that canceld can know, although it was told that it is
 * cancelled. One that ended the stream itself still may.
 */
static bool
goes_on(const struct ask *ask)
{
	return ask->told_at > 0 && ask->by == CLIENT && (ask->replied == 0 || ask->ended) &&
	    ask->lost == 0 && !ask->unsent;
}

/* Where an answer is owed, its absence shows it; else only what the server says of the request. */
static bool
is_shown(const struct oracle *oracle, const struct ask *ask)
{
	const struct sent *last = &oracle->sent[oracle->hearing],
			  *sent = last->first < 0 ? last : &oracle->sent[last->first];

	if (oracle->protocol->owes)
		return oracle->now - oracle->stalled_at >= oracle->kill_ignoring;
	while (sent < last &&
	    !(sent->kind == KIND_PROGRESS &&
		jsontext_same_text(oracle->asks[sent->ask].wire_token, ask->wire_token)))
		sent++;
	return ask->overdue && sent->kind == KIND_PROGRESS && sent->from == SERVER &&
	    (sent->batch >= 0 || sent->heard == oracle->last_heard) &&
	    jsontext_same_text(oracle->asks[sent->ask].wire_token, ask->wire_token);
}

void
oracle_ignores(struct oracle *oracle, const char *id)
{
	const struct ask *ask = oracle->asks;

	while (ask < oracle->asks + oracle->ask_count &&
	    !(strcmp(ask->id, id) == 0 && goes_on(ask) &&
		oracle->now - later(ask->told_at, ask->excused_at) >= time_of(oracle, ask) &&
		is_shown(oracle, ask)))
		ask++;
	if (oracle->kill_ignoring == 0 || ask == oracle->asks + oracle->ask_count)
		oracle_blame(oracle,
		    "7: a server is ended as it ignores the cancel of %s, which it does not", id);
	oracle->ignored = true;
}

/* Whether the time is over, and was also if all that may have stopped it is left out. */
static bool
is_overdue(const struct oracle *oracle, const struct ask *ask, int64_t late)
{
	int64_t since = later(later(ask->told_surely_at, oracle->excused_at),
	    later(later(oracle->unread, oracle->stalled_at), oracle->slept));

	return goes_on(ask) && !ask->ended && ask->told_surely_at > 0 && ask->wire[0] != '\0' &&
	    oracle->now - ask->told_surely_at < LINGER + time_of(oracle, ask) &&
	    ask->life == oracle->life && oracle->now - since >= time_of(oracle, ask) + late;
}

static bool
may_be_ended(const struct oracle *oracle)
{
	return oracle->kill_ignoring > 0 && !oracle->stuck && !oracle->away && !oracle->replaying &&
	    !oracle->client_left && !oracle->server_died && !oracle->shut;
}

/*
 * What the server writes later of such a request is no older message, which had to wait until it
 * was read.
 */
static void
note_overdue(struct oracle *oracle)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		ask->overdue |= goes_on(ask) &&
		    oracle->now - later(ask->told_at, ask->excused_at) >= time_of(oracle, ask) &&
		    oracle->now - oracle->stalled_at >= oracle->kill_ignoring;
}

void
oracle_look_for_ignored(struct oracle *oracle)
{
	const struct ask *ask;

	note_overdue(oracle);
	if (!may_be_ended(oracle) || !oracle->protocol->owes)
		return;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (is_overdue(oracle, ask, 0))
			oracle_blame(oracle,
			    "7: the cancel of %s is ignored, and nobody ends the server", ask->id);
}

/* Whether no other request has its token, for which the progress could be. */
static bool
is_only_one(const struct oracle *oracle, const struct ask *ask)
{
	const struct ask *other;

	for (other = oracle->asks; other < oracle->asks + oracle->ask_count; other++)
		if (other != ask && other->by == CLIENT &&
		    (jsontext_same_text(other->token, ask->wire_token) ||
			jsontext_same_text(other->wire_token, ask->wire_token)))
			return false;
	return true;
}

void
oracle_ignore_heard(struct oracle *oracle, const struct ask *ask)
{
	oracle->due_ignored = may_be_ended(oracle) && !oracle->protocol->owes &&
	    is_overdue(oracle, ask, 1) && is_only_one(oracle, ask);
}

void
oracle_ignore_heard_all(struct oracle *oracle)
{
	if (oracle->due_ignored && !oracle->ignored)
		oracle_blame(oracle,
		    "7: a server reports on what was cancelled long ago, and nobody ends it");
	oracle->due_ignored = false;
}
