/* --heartbeat: whose requester must be told, when, and with which values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_inside.h"

/* Whether the client waits for it under a token of its own, which the server may report under. */
static bool
beats(const struct oracle *oracle, const struct ask *ask)
{
	bool reports = oracle->protocol == &protocols[MCP] ||
	    (oracle->protocol == &protocols[LSP] && ask->beat.begun);

	return oracle->heartbeat > 0 && reports && ask->by == CLIENT && ask->target == NO_TARGET &&
	    ask->token[0] != '\0' && !oracle->client_left && oracle_lives(oracle, ask) &&
	    ask->cancelled == 0 && ask->expired == 0;
}

void
oracle_beat_put_off(struct oracle *oracle, struct ask *ask)
{
	ask->beat.at = oracle->now;
	ask->beat.step = ++oracle->step;
}

void
oracle_beat_heard_progress(struct oracle *oracle, const struct sent *sent, struct ask *ask)
{
	const char *value = strstr(sent->arrives, "\"progress\":");
	char token[48];

	jsontext_raw_member(sent->bytes, sent->len, oracle->protocol->progress_key, token,
	    sizeof(token));
	oracle_beat_put_off(oracle, ask);
	if (value != NULL) {
		ask->beat.begun = true;
		ask->beat.value = strtod(strchr(value, ':') + 1, NULL);
		ask->beat.count = 0;
	} else if (oracle->protocol == &protocols[LSP] && jsontext_same_id(token, ask->token)) {
		ask->beat.begun |= strstr(sent->arrives, "\"begin\"") != NULL;
		ask->beat.begun &= strstr(sent->arrives, "\"end\"") == NULL;
	}
}

void
oracle_beat_heard_late(struct oracle *oracle, const struct ask *late)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == CLIENT && ask->token[0] != '\0' &&
		    (jsontext_same_text(ask->token, late->token) ||
			jsontext_same_text(ask->token, late->wire_token))) {
			ask->beat.unsure = true;
			ask->perhaps = oracle->now;
		}
}

void
oracle_beats(struct oracle *oracle, const char *id)
{
	struct ask *ask, *due = NULL;
	struct beating *beating;
	double count;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (beats(oracle, ask) && strcmp(ask->id, id) == 0 &&
		    (due == NULL || ask->beat.step < due->beat.step))
			due = ask;
	if (due == NULL || (!due->beat.unsure && oracle->now - due->beat.at < oracle->heartbeat)) {
		oracle_blame(oracle, "7: a heartbeat of %s, of which none is due", id);
		return;
	}
	oracle->beatings =
	    realloc(oracle->beatings, (size_t)++oracle->beating_count * sizeof(*beating));
	if (oracle->beatings == NULL)
		abort();
	count = ++due->beat.count;
	beating = &oracle->beatings[oracle->beating_count - 1];
	beating->ask = (int)(due - oracle->asks);
	beating->value = !due->beat.begun ? -1 / count :
	    due->beat.value == 0          ? ldexp(count, -40) :
				   due->beat.value + ldexp(count, -40) * fabs(due->beat.value);
	oracle_beat_put_off(oracle, due);
}

void
oracle_look_for_beats(struct oracle *oracle, bool reads)
{
	struct ask *ask;

	/*
	 * None may be due, as long as a probe is not answered; or all was answered as the server
	 * has gone.
	 */
	if (oracle->kill_stuck > 0 || oracle->server_died)
		return;
	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (!beats(oracle, ask) || ask->beat.unsure ||
		    oracle->now - ask->beat.at < oracle->heartbeat)
			continue;
		if (oracle->stuck || oracle->pinged || !reads)
			ask->beat.idle = oracle->now;
		else if (oracle->now - oracle->slept >= oracle->heartbeat &&
		    oracle->now - ask->beat.idle >= oracle->heartbeat)
			oracle_blame(oracle, "7: no heartbeat of %s for %lld ms", ask->id,
			    (long long)(oracle->now - ask->beat.at));
	}
}

void
oracle_beat_check_value(struct oracle *oracle, struct ask *ask, double value)
{
	if (ask->beat.seen != 0 && !ask->beat.unsure && value <= ask->beat.seen)
		oracle_blame(oracle, "7: progress of %s goes back from %.17g to %.17g", ask->id,
		    ask->beat.seen, value);
	ask->beat.seen = value;
}

void
oracle_got_beat(struct oracle *oracle, json_t *message, const char *text, size_t len)
{
	json_t *params = json_object_get(message, "params"),
	       *value = json_object_get(params, "progress");
	struct beating *beating = &oracle->beatings[oracle->beaten];
	struct ask *ask;
	char token[48];

	if (oracle->beaten == oracle->beating_count) {
		oracle_blame(oracle, "5: canceld reports progress and does not say so: %.*s",
		    (int)len, text);
		return;
	}
	oracle->beaten++;
	ask = &oracle->asks[beating->ask];
	jsontext_raw_member(text, len, oracle->protocol->progress_key, token, sizeof(token));
	if (strcmp(token, ask->token) != 0)
		oracle_blame(oracle, "7: a heartbeat of %s under the token %s", ask->id, token);
	if (ask->answered)
		oracle_blame(oracle, "7: a heartbeat of %s, which was answered", ask->id);
	if (oracle->protocol == &protocols[LSP] || ask->beat.unsure)
		return;
	if (json_number_value(value) != beating->value) /* NOLINT: exactly */
		oracle_blame(oracle, "7: a heartbeat of %s says %.*s and not %.17g", ask->id,
		    (int)len, text, beating->value);
	oracle_beat_check_value(oracle, ask, json_number_value(value));
}
