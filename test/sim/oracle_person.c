/* What a person asks for with cancelctl: when it must be done, and when refused. */
#include <stdio.h>

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
