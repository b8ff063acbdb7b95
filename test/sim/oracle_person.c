/* What a person asks for with cancelctl: when it must be done, and when refused. */
#include <stdio.h>
#include <string.h>

#include "oracle_inside.h"

void
oracle_person_cancelled(struct oracle *oracle, int number, enum person_cancel done)
{
	const struct ask *ask = &oracle->asks[number];
	bool opens = ask->by == CLIENT && ask->deed->traits & HANDSHAKE;

	if (done == PERSON_CANCELS && opens)
		oracle_blame(oracle, "2: a person cancels %s, which opens the session", ask->id);
	if (done == PERSON_CANCELS && ask->answered && !ask->by_person)
		oracle_blame(oracle, "1: a person cancels %s, which was answered", ask->id);
	if (done != PERSON_CANCELS && !opens && ask->decided == 0 && ask->cancelled == 0 &&
	    oracle_lives(oracle, ask) && ask->expired == 0 && !oracle->client_left &&
	    !oracle->server_died)
		oracle_blame(oracle, "2: %s is there, and a person cannot cancel it", ask->id);
}

/* Whether no server can be asked, or need be. */
static bool
is_ending(const struct oracle *oracle)
{
	return oracle->client_left || oracle->server_died || oracle->away || oracle->stuck ||
	    oracle->shut || (oracle->exit > 0 && oracle->sent[oracle->exit].heard != 0);
}

static bool
has_begun(const struct oracle *oracle)
{
	for (int i = 0; i < oracle->sent_count; i++)
		if (oracle->sent[i].from == CLIENT && oracle->sent[i].begun != 0)
			return true;
	return false;
}

/* Whether the server has read what shows that the session is open. */
static bool
is_settled(const struct oracle *oracle)
{
	if (oracle->handshake || oracle->protocol != &protocols[MCP])
		return oracle->initialized || oracle->protocol == &protocols[NONE];
	for (const struct ask *ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->arrived != 0 && !(ask->deed->traits & DISCOVERY))
			return true;
	return false;
}

void
oracle_person_pinged(struct oracle *oracle, bool done)
{
	bool closed = is_ending(oracle) || oracle->replaying || !has_begun(oracle) ||
	    (oracle->handshake && !oracle->start_answered);

	if (done && closed)
		oracle_blame(oracle, "2: a server is asked whether it is alive, and may not be");
	if (!done && !closed && oracle->served && is_settled(oracle))
		oracle_blame(oracle, "7: a person cannot ask the server whether it is alive");
}

void
oracle_person_restarted(struct oracle *oracle, bool done, bool force)
{
	bool may = oracle_may_restart(oracle, oracle->stateless) && !oracle->draining;

	if (done &&
	    (is_ending(oracle) || (!force && !may && (oracle->initialized || oracle->draining))))
		oracle_blame(oracle, "7: a person has a server restarted, and none can follow");
	if (!done && !is_ending(oracle) && (force || may))
		oracle_blame(oracle, "7: a person cannot have the server restarted");
	oracle->dismissed |= done;
}

void
oracle_person_asks(struct oracle *oracle, const char *id)
{
	snprintf(oracle->ping, sizeof(oracle->ping), "%s", id);
	oracle->pinged = true;
}

/* What is due with no rule at all is never shortened by one for all methods. */
static bool
is_for_all(const struct ask *ask, const struct wish *wish)
{
	return !(ask->deed->traits & (EXEMPT | HANDSHAKE | DISCOVERY)) &&
	    !(ask->deed->traits & OPENS && wish->after < ask->given[wish->cap]);
}

/* The one that counts: for its method, else for all; NULL: none. */
static const struct wish *
find_wish(const struct oracle *oracle, const struct ask *ask, bool cap)
{
	const struct wish *found = NULL;

	for (const struct wish *wish = oracle->wishes; wish < oracle->wishes + oracle->wish_count;
	     wish++)
		if (wish->cap == cap &&
		    (wish->method == NULL ? found == NULL && is_for_all(ask, wish) :
					    strcmp(wish->method, ask->deed->method) == 0))
			found = wish;
	return found;
}

static int64_t
limit_of(const struct oracle *oracle, const struct ask *ask, bool cap)
{
	const struct wish *wish = find_wish(oracle, ask, cap);

	return wish == NULL ? ask->given[cap] : wish->after;
}

void
oracle_limit(const struct oracle *oracle, struct ask *ask)
{
	ask->idle = limit_of(oracle, ask, false);
	ask->cap = limit_of(oracle, ask, true);
}

bool
oracle_is_singled_out(const struct oracle *oracle, const struct ask *ask)
{
	const struct wish *idle = find_wish(oracle, ask, false);

	return idle != NULL && idle->method != NULL;
}

static bool
is_for_same(const struct wish *a, const struct wish *b)
{
	return a->cap == b->cap &&
	    (a->method == NULL || b->method == NULL ? a->method == b->method :
						      strcmp(a->method, b->method) == 0);
}

/* It takes the place of one for the same. Unset for all methods, all are taken back. */
static void
wish_for(struct oracle *oracle, struct wish wish)
{
	bool unset = wish.after == WISH_UNSET;

	for (int i = oracle->wish_count; i-- > 0;) {
		struct wish *old = &oracle->wishes[i];

		if (is_for_same(old, &wish) ||
		    (unset && wish.method == NULL && old->cap == wish.cap))
			*old = oracle->wishes[--oracle->wish_count];
	}
	if (!unset)
		oracle->wishes[oracle->wish_count++] = wish;
}

/*
 * Of one whose answer arrives, or whose turn may have been cancelled, canceld may know that it has
 * the grace in place of its deadline.
 */
static bool
may_have_grace(const struct ask *ask)
{
	return ask->reply_begun != 0 || ask->touched || ask->crossed;
}

void
oracle_person_sets(struct oracle *oracle, struct wish wish, bool in_flight, size_t changed)
{
	size_t sure = 0, unsure = 0;

	wish_for(oracle, wish);
	for (struct ask *ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		int64_t *limit = wish.cap ? &ask->cap : &ask->idle, former = *limit;

		if (!in_flight || ask->deed == NULL || ask->untracked || ask->too_long ||
		    (wish.method != NULL && strcmp(wish.method, ask->deed->method) != 0) ||
		    !oracle_lives(oracle, ask) || ask->cancelled != 0 || ask->expired != 0 ||
		    ask->ended || ask->cascaded)
			continue;
		*limit = limit_of(oracle, ask, wish.cap);
		if (*limit == former)
			continue;
		ask->changed_at = oracle->now;
		if (may_have_grace(ask)) {
			*limit = *limit < former ? *limit : former;
			unsure++;
		} else {
			sure++;
		}
	}
	if (changed < sure || changed > sure + unsure)
		oracle_blame(oracle,
		    "1: %zu of the requests in flight have another deadline, not %zu", changed,
		    sure);
}
