/* The checks at the end of a world: every message that should have arrived has arrived. */
#include "oracle_inside.h"

#include <string.h>

/* Whether its answer is no longer awaited, for another reason than its receiver. */
static bool
is_given_up(const struct oracle *oracle, const struct ask *ask)
{
	return ask->cancelled != 0 || ask->expired != 0 || ask->lost != 0 ||
	    (ask->answered && !ask->answered_by_peer) || (ask->by == CLIENT && oracle->client_left);
}

/* Whether its receiver works on it although it should know that it is cancelled. */
static void
check_told(struct oracle *oracle, const struct ask *ask)
{
	bool turn = ask->deed->traits & TURN;
	bool at_once = ask->by == SERVER && ask->lost != 0;

	if (ask->wire[0] == '\0' ||
	    (ask->reply_begun != 0 && !(at_once && ask->reply_begun > ask->lost)) ||
	    ask->answered_by_peer || !is_given_up(oracle, ask) || !oracle->protocol->cancels)
		return;
	if (ask->by == CLIENT ? oracle->server_died || oracle->no_cancel || ask->lost != 0 :
				oracle->draining || oracle->client_left)
		return;
	if (ask->task || ask->deed->traits & FINAL)
		return;
	if (ask->by == CLIENT && oracle->handshake && !oracle->initialized &&
	    !oracle->start_answered)
		return;
	if (ask->cancels == 0 && !ask->told_in_vain && (!turn || ask->turn_cancels == 0))
		oracle_blame(oracle, "2: the %s never heard that nobody waits for %s",
		    ask->by == CLIENT ? "server" : "client", ask->id);
}

/* Whether an error says that its receiver was told, which it was not. */
static void
check_said(struct oracle *oracle, const struct ask *ask)
{
	bool told = ask->cancels > 0 || ask->turn_cancels > 0 || ask->told_in_vain;

	if (ask->called_cancelled && ask->wire[0] != '\0' && !told && ask->lost == 0 &&
	    !(ask->by == CLIENT ? oracle->server_died || oracle->shut :
				  oracle->draining || oracle->client_left))
		oracle_blame(oracle,
		    "2: the error of %s says that its receiver was told, and it was not", ask->id);
}

/* ACP v2: whether the server works on a turn although it should know that the client has left. */
static void
check_turn(struct oracle *oracle, const struct ask *ask)
{
	if (ask->accepted && ask->life < oracle->life && !oracle->client_left)
		oracle_blame(oracle, "1: the client never heard that the turn of %s was lost",
		    ask->id);
	if (ask->accepted && !ask->told && oracle->client_left && !oracle->no_cancel &&
	    !oracle->server_died && ask->life == oracle->life)
		oracle_blame(oracle,
		    "2: the server never heard that nobody waits for the turn of %s", ask->id);
}

/* Whether the server works on a task that it should know to be cancelled. */
static void
check_task(struct oracle *oracle, const struct ask *ask)
{
	if (ask->made_task && oracle->cancels_tasks && !oracle->no_cancel &&
	    ask->task_cancels == 0 && !oracle->server_died && !oracle->client_left)
		oracle_blame(oracle,
		    "2: the server never heard that nobody waits for the task of %s", ask->id);
}

/*
 * Whether a person was asked something and may still answer: until then the client's requests are
 * not idle.
 */
static bool
person_is_asked(const struct oracle *oracle)
{
	const struct ask *ask;

	if (oracle->protocol == &protocols[MCP] &&
	    (oracle->modern || !oracle->handshake || !oracle->declares[CLIENT]))
		return false;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == SERVER && ask->deed->traits & PERSON &&
		    oracle->sent[ask->sent].heard != 0 && ask->replied == 0 && !ask->answered &&
		    ask->lost == 0)
			return true;
	return false;
}

/* Whether it waits for the answer that opens the session, of which a person has taken the cap. */
static bool
waits_for_ever(const struct oracle *oracle, const struct ask *ask)
{
	const struct ask *opening;

	for (opening = oracle->asks; opening < oracle->asks + oracle->ask_count; opening++)
		if (ask->waits && opening->by == CLIENT && opening->deed != NULL &&
		    opening->deed->traits & (HANDSHAKE | DISCOVERY) &&
		    oracle_lives(oracle, opening) && opening->cap == INT64_MAX)
			return true;
	return false;
}

/*
 * Whether it has a deadline, which has passed. At the end of a world all have, unless it was cut
 * short.
 */
static bool
has_expired(const struct oracle *oracle, const struct ask *ask)
{
	bool capped = oracle->now - ask->since < ask->cap && oracle->cut_short;

	if (waits_for_ever(oracle, ask))
		return false;
	if (ask->by == CLIENT && person_is_asked(oracle))
		return ask->cap != INT64_MAX && !capped;
	if (ask->idle == INT64_MAX)
		return ask->cap != INT64_MAX && !capped;
	return !(capped && oracle->now - ask->active < ask->idle);
}

/* Whether an answer is still due. */
static bool
is_due(const struct oracle *oracle, const struct ask *ask)
{
	if (ask->answered || ask->untracked || oracle->client_left)
		return false;
	if (ask->by == SERVER && (oracle->server_died || ask->lost != 0))
		return false;
	if (ask->ours)
		return true;
	if (oracle_may_wait(oracle, ask) && (ask->cap == INT64_MAX || oracle->cut_short))
		return false;
	if (ask->cancelled != 0)
		return ask->owed && (oracle->protocol->cancels);
	return has_expired(oracle, ask) || ask->cascaded || ask->replied != 0 ||
	    (ask->by == CLIENT && (oracle->server_died || ask->lost != 0));
}

static void
check_ask(struct oracle *oracle, const struct ask *ask)
{
	if (oracle->sent[ask->sent].heard == 0)
		return;
	if (is_due(oracle, ask))
		oracle_blame(oracle, "1: %s of the %s was never answered", ask->id,
		    ask->by == CLIENT ? "client" : "server");
	if (!ask->ours)
		check_told(oracle, ask);
	check_said(oracle, ask);
	check_task(oracle, ask);
	check_turn(oracle, ask);
	if (!ask->ours && !oracle_may_wait(oracle, ask) && ask->wire[0] == '\0' && ask->lost == 0 &&
	    !is_given_up(oracle, ask) && !oracle->server_died && !oracle->client_left)
		oracle_blame(oracle, "3: the request %s was lost", ask->id);
}

/*
 * Whether no server reads the client's messages: it has gone, or rests, or was not told all when
 * the client left.
 */
static bool
is_unheard(const struct oracle *oracle)
{
	return oracle->resting || oracle->server_died ||
	    (oracle->client_left && (oracle->replaying || oracle->stuck));
}

void
oracle_end(struct oracle *oracle)
{
	int i, lost = 0;

	for (i = 0; i < oracle->ask_count; i++)
		check_ask(oracle, &oracle->asks[i]);
	for (i = 0; i < oracle->sent_count; i++) {
		const struct sent *sent = &oracle->sent[i];

		/* it is lost with its batch */
		if (sent->batch >= 0 && oracle->sent[sent->batch].due &&
		    !oracle->sent[sent->batch].arrived)
			continue;
		if (sent->due && !sent->arrived && !(sent->from == CLIENT && is_unheard(oracle)) &&
		    ++lost > oracle->halves)
			oracle_blame(oracle, "3: message %d was lost", i);
	}
	oracle_end_restarts(oracle);
	if (oracle->error_lines != oracle->junk_lines && !oracle->client_left)
		oracle_blame(oracle, "1: %d unreadable messages, %d errors", oracle->junk_lines,
		    oracle->error_lines);
}
