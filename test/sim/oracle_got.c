/* Checks a message of one peer that the other has read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_inside.h"

struct ask *
oracle_find_wire(struct oracle *oracle, int by, const char *id)
{
	int i;

	for (i = oracle->ask_count - 1; i >= 0; i--)
		if (oracle->asks[i].by == by && jsontext_same_id(oracle->asks[i].wire, id))
			return &oracle->asks[i];
	return NULL;
}

/* canceld may have replaced its id or token on the way. */
static bool
renamed(const struct oracle *oracle, const struct ask *ask)
{
	bool asked = oracle->ask_progress && ask->token[0] == '\0' && ask->wire_token[0] != '\0';

	if (asked)
		return true;
	return strcmp(ask->id, ask->wire) != 0 || strcmp(ask->token, ask->wire_token) != 0;
}

/* What a peer must read for what the other one wrote. */
static void
expect_bytes(struct oracle *oracle, const struct sent *sent, const char *text, size_t len)
{
	const char *bytes = sent->arrives;
	size_t n = sent->arrives_len;

	if (n == len && memcmp(bytes, text, len) == 0)
		return;
	if (sent->ask >= 0 && renamed(oracle, &oracle->asks[sent->ask]) &&
	    jsontext_same_but_names(bytes, n, text, len))
		return;
	oracle_blame(oracle, "3: changed on the way: wrote %.*s, read %.*s",
	    (int)(n < 300 ? n : 300), bytes, (int)(len < 300 ? len : 300), text);
}

void
oracle_cleans(struct oracle *oracle, int count)
{
	struct sent *sent = &oracle->sent[oracle->hearing];

	if (count != sent->unclean || sent->cleaned > 0)
		oracle_blame(oracle, "5: message %d is said to be cleaned in %d places, not %d",
		    oracle->hearing, count, sent->unclean);
	sent->cleaned = count;
}

static void
read_token(const struct oracle *oracle, struct ask *ask, json_t *params)
{
	json_t *token = json_object_get(params, "workDoneToken");

	if (oracle->protocol == &protocols[MCP])
		token = json_object_get(json_object_get(params, "_meta"), "progressToken");
	/* A peer may spell 1 as 1.0 sometimes. */
	if (json_is_number(token) && (ask->token[0] == '\0' || ask->sent % 2 == 0))
		snprintf(ask->wire_token, sizeof(ask->wire_token), "%.0f",
		    json_number_value(token));
	else if (token != NULL)
		jsontext_spell(token, ask->wire_token, sizeof(ask->wire_token));
}

/*
 * Whether canceld may have forgotten that it had been given up; what its receiver still knows of it
 * then, nobody can see.
 */
bool
oracle_may_be_forgotten(const struct oracle *oracle, const struct ask *ask)
{
	return (ask->decided != 0 && oracle->now - ask->decided_at >= LINGER) ||
	    (ask->lost != 0 && oracle->now - ask->lost_at >= LINGER) ||
	    (ask->by == SERVER && oracle->deaf_at > 0 && oracle->now - oracle->deaf_at >= LINGER) ||
	    (ask->cancelled != 0 && oracle->now - ask->ending_at >= LINGER);
}

/* Whether it may still be answered. */
static bool
is_awaited(const struct oracle *oracle, const struct ask *ask)
{
	return ask->wire[0] != '\0' && ask->replied == 0 &&
	    !(ask->by == CLIENT && ask->lost != 0) && !oracle_may_be_forgotten(oracle, ask);
}

/*
 * Whether a session/cancel of that session has been reported and not arrived, and so arrives behind
 * what arrives now.
 */
static bool
is_cancel_under_way(const struct oracle *oracle, const char *session)
{
	int i;

	for (i = oracle->told[CLIENT]; session[0] != '\0' && i < oracle->telling_count[CLIENT]; i++)
		if (strcmp(oracle->tellings[CLIENT][i].session, session) == 0)
			return true;
	return false;
}

static void
got_request(struct oracle *oracle, struct ask *ask, json_t *message, const char *text, size_t len)
{
	int i;

	jsontext_raw_id(text, len, ask->wire, sizeof(ask->wire));
	ask->arrived = ++oracle->step;
	ask->arrived_at = oracle->now;
	if (ask->by == CLIENT && !ask->untracked) {
		ask->told |= ask->deed->traits & TURN && is_cancel_under_way(oracle, ask->session);
		ask->life = oracle->life;
		oracle_check_own_ids(oracle, ask->wire);
		oracle_takes_place(oracle, ask);
	}
	read_token(oracle, ask, json_object_get(message, "params"));
	if (oracle->legacy && ask->deed->traits & DISCOVERY)
		oracle_blame(oracle, "2: %s arrived in spite of --legacy", ask->deed->method);
	if (ask->ours && !ask->untracked)
		oracle_blame(oracle, "2: %s arrived, which canceld has to answer", ask->id);
	if (ask->unsent)
		oracle_blame(oracle, "2: %s arrived, which canceld said was never sent", ask->id);
	if (ask->missed)
		oracle_blame(oracle, "2: %s arrived behind its own session/cancel", ask->id);
	if (ask->cancelled != 0 && oracle->sent[ask->sent].begun > ask->cancelled)
		oracle_blame(oracle, "2: a request that was cancelled before arrived: %s", ask->id);
	for (i = 0; i < oracle->ask_count; i++) {
		const struct ask *before = &oracle->asks[i];

		if (before != ask && before->by == ask->by && is_awaited(oracle, before) &&
		    jsontext_same_id(before->wire, ask->wire))
			oracle_blame(oracle, "1: two requests that may be answered bear the id %s",
			    ask->wire);
	}
}

static void
got_response(struct oracle *oracle, struct sent *sent, struct ask *ask, const char *text,
    size_t len)
{
	char id[48];

	if (oracle_is_vain(oracle, sent, ask))
		return;
	jsontext_raw_id(text, len, id, sizeof(id));
	if (!jsontext_same_id(id, ask->id))
		oracle_blame(oracle, "1: %s is answered under the id %s", ask->id, id);
	if (ask->answered)
		oracle_blame(oracle, "1: %s is answered twice", ask->id);
	if (sent->bad)
		oracle_blame(oracle, "1: a malformed response arrived");
	if (sent->declines && is_ours_late(oracle, ask))
		oracle_blame(oracle, "1: %s is declined, and canceld has an answer to it", ask->id);
	if (ask->cancelled != 0 && ask->cancelled < sent->begun && !ask->owed)
		oracle_blame(oracle, "1: a late answer to %s, which was cancelled: %.*s", ask->id,
		    (int)(len < 100 ? len : 100), text);
	ask->answered = ask->answered_by_peer = true;
	ask->confirmed = sent->confirms;
}

void
oracle_got_cancel(struct oracle *oracle, struct ask *ask, const char *id)
{
	if (ask == NULL || ask->wire[0] == '\0') {
		oracle_blame(oracle, "2: a cancel of %s, which never arrived", id);
		return;
	}
	if (ask->by == CLIENT && ask->lost != 0)
		oracle_blame(oracle, "2: a cancel of %s, which this server has not read", id);
	if (!oracle->unprobed)
		oracle->unprobed_at = oracle->now;
	oracle->unprobed |=
	    oracle->initialized && ask->by == CLIENT && !(ask->deed->traits & FINAL);
	if (++ask->cancels > 1)
		oracle_blame(oracle, "2: a second cancel of %s", id);
	if (ask->task || (ask->deed->traits & FINAL && ask->cancelled == 0))
		oracle_blame(oracle, "2: a forbidden cancel of %s", id);
	if (oracle->no_cancel && ask->by == CLIENT)
		oracle_blame(oracle, "2: a cancel in spite of --no-cancel");
}

void
oracle_got_turn_cancel(struct oracle *oracle, const char *session, uint64_t step)
{
	struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != CLIENT || ask->ours || !(ask->deed->traits & TURN) ||
		    strcmp(ask->session, session) != 0)
			continue;
		ask->turn_cancels += ask->wire[0] != '\0';
		if (oracle->sent[ask->sent].begun < step && ask->turn_told < step)
			ask->turn_told = step;
		ask->missed |= ask->wire[0] == '\0' && ask->cancelled != 0 &&
		    ask->cancelled <= step && !ask->unsent;
	}
}

/*
 * Whether another request has the same token, at least as text, so that they cannot be told apart.
 */
static bool
token_in_use(const struct oracle *oracle, const struct ask *old)
{
	const struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask != old && ask->by == old->by && ask->token[0] != '\0' &&
		    (!ask->answered || ask->task_state != TASK_NONE) &&
		    jsontext_same_text(ask->token, old->token))
			return true;
	return false;
}

/* MCP: the end of a subscription, under the id that the client gave it. */
static void
got_end(struct oracle *oracle, struct ask *ask, const struct sent *sent, const char *text,
    size_t len)
{
	char id[48];

	jsontext_raw_member(text, len, "requestId", id, sizeof(id));
	if (!jsontext_same_id(id, ask->id) || ask->answered ||
	    (ask->cancelled != 0 && ask->cancelled < sent->begun))
		oracle_blame(oracle, "2: the end of %s, which is none", id);
	ask->answered = ask->answered_by_peer = true;
}

/* A cancel that arrives as its sender wrote it, so in the receiver's form. */
static void
got_peer_cancel(struct oracle *oracle, int to, const struct sent *sent, struct ask *ask,
    const char *text, size_t len)
{
	bool unprobed = oracle->unprobed;
	char id[48];

	if (ask != NULL && oracle_is_vain(oracle, sent, ask)) {
		ask->told_in_vain = true;
		return;
	}
	jsontext_raw_member(text, len, protocol_keys[sent->spelling], id, sizeof(id));
	if (ask == NULL || !jsontext_same_id(id, ask->wire))
		oracle_blame(oracle, "2: a cancel of %s, which is not outstanding", id);
	else if (ask->replied != 0 && ask->replied < sent->begun)
		oracle_blame(oracle, "2: a cancel of %s, which was answered before", id);
	if (sent->spelling != oracle_spelling(oracle, to) && oracle->protocol != &protocols[ACP])
		oracle_blame(oracle, "2: a cancel of %s in words that its receiver does not know",
		    id);
	oracle_got_cancel(oracle, ask, id);
	/* the probe for one in a batch goes ahead of that */
	if (sent->batch >= 0 && oracle->probed > sent->heard)
		oracle->unprobed = unprobed;
}

/* Whether the request was no longer awaited when this progress was written. */
static bool
is_late(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	bool answered = ask->answered && !ask->answered_by_peer && sent->begun > ask->decided;

	if (!oracle->protocol->strict_tokens)
		return answered && ask->reply_begun == 0 && !oracle_may_be_forgotten(oracle, ask);
	if (sent->due || sent->vain)
		return false;
	return (ask->answered || (ask->cancelled != 0 && ask->cancelled < sent->begun)) &&
	    !token_in_use(oracle, ask);
}

static void
got_progress(struct oracle *oracle, const struct sent *sent, struct ask *ask, const char *text,
    size_t len)
{
	const char *value = strstr(sent->arrives, "\"progress\":");
	char token[48];

	if (oracle_is_vain(oracle, sent, ask))
		return;
	jsontext_raw_member(text, len, oracle->protocol->progress_key, token, sizeof(token));
	if (!jsontext_same_id(token, ask->token) && !jsontext_same_id(token, ask->second_token))
		oracle_blame(oracle, "1: progress of %s under the token %s", ask->token, token);
	if (is_late(oracle, sent, ask))
		oracle_blame(oracle, "1: late progress of %s", ask->id);
	if (value != NULL)
		oracle_beat_check_value(oracle, ask, strtod(strchr(value, ':') + 1, NULL));
}

/* MCP: the server's notices of a stream name it as the client does. */
static void
got_stream(struct oracle *oracle, const struct ask *ask, const char *text, size_t len)
{
	char id[48];

	jsontext_raw_member(text, len, "io.modelcontextprotocol/subscriptionId", id, sizeof(id));
	if (!jsontext_same_id(id, ask->id))
		oracle_blame(oracle, "1: a notice of the stream %s under the id %s", ask->id, id);
}

static void
check_order(struct oracle *oracle, const struct sent *sent, int number)
{
	if (sent->kind == KIND_CANCEL || sent->kind == KIND_TURN_CANCEL || sent->again ||
	    sent->ahead || number == oracle->opened ||
	    (sent->kind == KIND_REQUEST && oracle->asks[sent->ask].released != 0))
		return;
	if (number < oracle->last[sent->from])
		oracle_blame(oracle, "3: message %d arrived behind message %d", number,
		    oracle->last[sent->from]);
	oracle->last[sent->from] = number;
}

/* Those that are sent to the next server come in their order, and ahead of what came later. */
static void
check_repeated(struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	const struct ask *other;

	for (other = oracle->asks; other < oracle->asks + oracle->ask_count; other++)
		if (ask->repeated && other->by == CLIENT && other->wire[0] != '\0' &&
		    other->life == oracle->life && other->released == 0 &&
		    oracle->sent[other->sent].heard > sent->heard)
			oracle_blame(oracle, "8: %s is repeated behind %s", ask->id, other->id);
}

/*
 * No request that was held overtakes what opens the session, or a session/cancel of its own
 * session.
 */
static void
check_front(struct oracle *oracle, const struct sent *sent, int number)
{
	bool opens = oracle_opens(oracle, number);
	const struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->released != 0 && ask->wire[0] != '\0' && ask->life == oracle->life &&
		    oracle->sent[ask->sent].heard > sent->heard &&
		    (opens ||
			(sent->kind == KIND_TURN_CANCEL &&
			    strcmp(sent->session, ask->session) == 0)))
			oracle_blame(oracle, "8: %s was held, and arrived ahead of message %d",
			    ask->id, number);
}

/* A message of the other peer. */
void
oracle_got_message(struct oracle *oracle, int to, int number, json_t *message, const char *text,
    size_t len)
{
	struct sent *sent = &oracle->sent[number];
	struct ask *ask = sent->ask < 0 ? NULL : &oracle->asks[sent->ask];

	if (to == SERVER && oracle_got_again(oracle, number, text, len))
		return;
	if (sent->from == to || sent->arrived || sent->kind == KIND_JUNK ||
	    sent->kind == KIND_ACKNOWLEDGED || sent->kind == KIND_BATCH || sent->begun == 0 ||
	    (sent->batch >= 0 && !oracle->sent[sent->batch].arrived)) {
		oracle_blame(oracle, "1: message %d arrived twice, or should not: %.*s", number,
		    (int)(len < 100 ? len : 100), text);
		return;
	}
	sent->arrived = true;
	if (sent->told_dropped)
		oracle_blame(oracle, "5: message %d arrived, and is said to be dropped", number);
	oracle_check_life(oracle, to, sent, ask);
	check_order(oracle, sent, number);
	check_front(oracle, sent, number);
	if (sent->kind == KIND_REQUEST)
		check_repeated(oracle, sent, ask);
	if (sent->kind == KIND_REQUEST)
		got_request(oracle, ask, message, text, len);
	else if (sent->kind == KIND_RESPONSE)
		got_response(oracle, sent, ask, text, len);
	else if (sent->kind == KIND_CANCEL && ask != NULL && ask->by == to)
		got_end(oracle, ask, sent, text, len);
	else if (sent->kind == KIND_CANCEL)
		got_peer_cancel(oracle, to, sent, ask, text, len);
	else if (sent->kind == KIND_TURN_CANCEL && ask != NULL)
		oracle_blame(oracle, "2: a session/cancel arrived as the request that it was");
	else if (sent->kind == KIND_TURN_CANCEL)
		oracle_got_turn_cancel(oracle, sent->session, sent->heard);
	else if (sent->kind == KIND_PROGRESS)
		got_progress(oracle, sent, ask, text, len);
	else if (sent->kind == KIND_STREAM || sent->begins)
		got_stream(oracle, ask, text, len);
	expect_bytes(oracle, sent, text, len);
	if (sent->cleaned != sent->unclean)
		oracle_blame(oracle, "5: message %d is cleaned, and canceld does not say so",
		    number);
}

static json_t *
number_of(json_t *message)
{
	json_t *error = json_object_get(message, "error");
	json_t *places[] = { json_object_get(message, "params"), json_object_get(message, "result"),
		json_object_get(error, "data") };
	json_t *number = NULL;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]) && number == NULL; i++)
		number = json_object_get(places[i], "q");
	return number;
}

int
oracle_find_unread(const struct oracle *oracle, const char *text, size_t *len)
{
	const char *end = memchr(text, '\n', *len);
	json_t *message =
	    end == NULL || oracle->header ? NULL : jsontext_load(text, (size_t)(end - text));
	json_t *number = number_of(message);
	int sent = number == NULL ? -1 : (int)json_number_value(number), ask = -1;

	if (sent >= 0 && sent < oracle->sent_count && oracle->sent[sent].from == CLIENT &&
	    oracle->sent[sent].kind == KIND_REQUEST &&
	    oracle_may_repeat(oracle, &oracle->asks[oracle->sent[sent].ask])) {
		ask = oracle->sent[sent].ask;
		*len = (size_t)(end + 1 - text);
	}
	json_decref(message);
	return ask;
}

/* The number of the batch's first element; -1: it has none. */
static int
first_of(json_t *batch)
{
	json_t *number = number_of(json_array_get(batch, 0));

	return number == NULL ? -1 : (int)json_number_value(number);
}

void
oracle_got(struct oracle *oracle, int to, const char *text, size_t len)
{
	json_t *message = jsontext_load(text, len);
	json_t *number = number_of(message);

	/* white space, as some peers end their lines with it */
	if (len > 0 && text[len - 1] == '\r')
		len--;

	if (message == NULL)
		oracle_blame(oracle, "3: what is no message: %.*s ... %.*s",
		    (int)(len < 100 ? len : 100), text, (int)(len < 60 ? len : 60),
		    text + len - (len < 60 ? len : 60));
	else if (json_is_array(message))
		oracle_got_batch(oracle, to, first_of(message), message, text, len);
	else if (number == NULL)
		oracle_got_own(oracle, to, message, text, len);
	else if (json_number_value(number) < 0 || json_number_value(number) >= oracle->sent_count)
		oracle_blame(oracle, "3: a message that nobody wrote");
	else
		oracle_got_message(oracle, to, (int)json_number_value(number), message, text, len);
	json_decref(message);
}
