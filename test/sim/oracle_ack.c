/* canceld's answers to $/canceld/cancel: the rows of ABP "Edge Cases" and "Timing". */
#include <stdio.h>
#include <string.h>

#include "oracle_inside.h"

static struct ask *
target_of(struct oracle *oracle, const struct ask *ack)
{
	return ack->target < 0 ? NULL : &oracle->asks[ack->target];
}

void
oracle_got_refusal(struct oracle *oracle, struct ask *ack, json_t *error, json_t *data)
{
	bool closed = strcmp(jsontext_text(data, "code"), "NOT_INITIALIZED") == 0;
	int code = (int)json_number_value(json_object_get(error, "code"));

	ack->answered = true;
	if (!closed || ack->open)
		oracle_blame(oracle, "6: the cancel %s is refused", ack->id);
	if (code != oracle->protocol->closed_code)
		oracle_blame(oracle, "6: the cancel %s without a session is refused with %d",
		    ack->id, code);
}

/* Whether this outcome may be told. */
static bool
is_true(const struct oracle *oracle, const struct ask *ack, const struct ask *target,
    const char *outcome)
{
	const char *confirmed = "\"cancelled\":true,\"confirmed\":true";
	const char *unknown = "\"cancelled\":false,\"reason\":\"Operation not found\"";
	const char *completed = "\"cancelled\":false,\"reason\":\"Operation already completed\"";

	if (target == NULL || oracle->sent[target->sent].heard == 0 ||
	    oracle->sent[target->sent].heard > oracle->sent[ack->sent].heard)
		return strcmp(outcome, unknown) == 0;
	/* What canceld writes for an element goes ahead of the batch with it. */
	if (target->in_batch && !target->answered && !(target->deed->traits & FINAL))
		return strcmp(outcome, target->confirms ? confirmed : completed) == 0;
	if (strcmp(outcome, confirmed) == 0)
		return target->answered_by_peer && target->confirmed;
	if (strcmp(outcome, "\"cancelled\":true") == 0)
		return !target->answered_by_peer && (target->answered || target->cancelled != 0);
	if (strcmp(outcome, completed) == 0)
		return target->answered &&
		    (!target->answered_by_peer || !target->confirmed || target->cancelled == 0 ||
			target->reply_begun < oracle->sent[ack->sent].heard);
	return target->deed->traits & FINAL &&
	    strcmp(outcome, "\"cancelled\":false,\"reason\":\"Operation cannot be cancelled\"") ==
	    0;
}

void
oracle_got_acknowledgement(struct oracle *oracle, struct ask *ack, const char *text, size_t len)
{
	const struct ask *target = target_of(oracle, ack);
	const char *name = ack->named;
	char head[224], outcome[160];
	size_t n;

	ack->answered = true;
	n = (size_t)snprintf(head, sizeof(head),
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"id\":%s,", ack->id, name);
	if (len < n + 2 || memcmp(text, head, n) != 0 || memcmp(text + len - 2, "}}", 2) != 0) {
		oracle_blame(oracle, "6: the cancel %s is answered with %.*s", ack->id,
		    (int)(len < 300 ? len : 300), text);
		return;
	}
	snprintf(outcome, sizeof(outcome), "%.*s", (int)(len - 2 - n), text + n);
	if (!ack->open)
		oracle_blame(oracle, "6: the cancel %s is acknowledged without a session", ack->id);
	if (!is_true(oracle, ack, target, outcome))
		oracle_blame(oracle, "6: the cancel %s of %s is told %s", ack->id, name, outcome);
	if (target != NULL && target->owed && target->cancelled != 0 && !target->answered &&
	    !target->in_batch && !oracle->client_left && !(target->deed->traits & FINAL))
		oracle_blame(oracle, "6: %s is acknowledged before %s is answered", ack->id, name);
}
