/* A peer has read something. */
#include <string.h>

#include "oracle_inside.h"

/* The newest request of `by` that arrived under this id. */
struct ask *
oracle_find_wire(struct oracle *oracle, int by, const char *id)
{
	int i;

	for (i = oracle->ask_count - 1; i >= 0; i--)
		if (oracle->asks[i].by == by && look_same_id(oracle->asks[i].wire, id))
			return &oracle->asks[i];
	return NULL;
}

/* What a peer must read where the other one wrote this. */
static void
expect_bytes(struct oracle *oracle, const struct said *said, const char *line, size_t len)
{
	const char *bytes = said->arrives != NULL ? said->arrives : said->bytes;
	size_t n = said->arrives != NULL ? strlen(bytes) : said->len;
	const struct ask *ask = said->ask < 0 ? NULL : &oracle->asks[said->ask];
	bool aliased = ask != NULL &&
	    (said->kind == KIND_REQUEST || strcmp(ask->id, ask->wire) != 0 || strcmp(ask->token, ask->wire_token) != 0);

	while (said->arrives == NULL && n > 0 && (bytes[n - 1] == '\n' || bytes[n - 1] == '\r'))
		n--;
	if (n == len && memcmp(bytes, line, len) == 0)
		return;
	if (aliased && look_same_but_names(bytes, n, line, len))
		return;
	oracle_blame(oracle, "3: changed on the way: wrote %.*s, read %.*s", (int)(n < 300 ? n : 300), bytes,
	    (int)(len < 300 ? len : 300), line);
}

static void
got_request(struct oracle *oracle, struct ask *ask, json_t *message, const char *line, size_t len)
{
	json_t *meta = json_object_get(json_object_get(message, "params"), "_meta");
	int i;

	look_raw_id(line, len, ask->wire, sizeof(ask->wire));
	if (json_object_get(meta, "progressToken") != NULL)
		look_spell(json_object_get(meta, "progressToken"), ask->wire_token, sizeof(ask->wire_token));
	if (ask->cancelled != 0 && oracle->said[ask->said].begun > ask->cancelled)
		oracle_blame(oracle, "2: a request that was cancelled before arrived: %s", ask->id);
	for (i = 0; i < oracle->ask_count; i++) {
		const struct ask *before = &oracle->asks[i];

		if (before != ask && before->by == ask->by && before->wire[0] != '\0' && before->replied == 0 &&
		    look_same_id(before->wire, ask->wire))
			oracle_blame(oracle, "1: two requests that may be answered bear the id %s", ask->wire);
	}
}

static void
got_response(struct oracle *oracle, struct said *said, struct ask *ask, const char *line, size_t len)
{
	char id[48];

	look_raw_id(line, len, id, sizeof(id));
	if (!look_same_id(id, ask->id))
		oracle_blame(oracle, "1: %s is answered under the id %s", ask->id, id);
	if (ask->answered)
		oracle_blame(oracle, "1: %s is answered twice", ask->id);
	if (said->bad)
		oracle_blame(oracle, "1: a malformed response arrived");
	if (ask->cancelled != 0 && ask->cancelled < said->begun && !(oracle->answer_cancelled && ask->by == CLIENT))
		oracle_blame(oracle, "1: a late answer to %s, which was cancelled: %.*s", ask->id,
		    (int)(len < 100 ? len : 100), line);
	ask->answered = true;
}

void
oracle_got_cancel(struct oracle *oracle, struct ask *ask, const char *id)
{
	if (ask == NULL || ask->wire[0] == '\0') {
		oracle_blame(oracle, "2: a cancel of %s, which never arrived", id);
		return;
	}
	if (++ask->cancels > 1)
		oracle_blame(oracle, "2: a second cancel of %s", id);
	if (ask->handshake || ask->probe || ask->task)
		oracle_blame(oracle, "2: a forbidden cancel of %s", id);
	if (oracle->no_cancel && ask->by == CLIENT)
		oracle_blame(oracle, "2: a cancel in spite of --no-cancel");
}

/* Another request bears the same token, if only as text: nobody on the way can know better. */
static bool
token_in_use(const struct oracle *oracle, const struct ask *old)
{
	const struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask != old && ask->by == old->by && !ask->answered && ask->token[0] != '\0' &&
		    look_same_text(ask->token, old->token))
			return true;
	return false;
}

/* A message of the other peer. */
static void
got_said(struct oracle *oracle, int to, int number, json_t *message, const char *line, size_t len)
{
	struct said *said = &oracle->said[number];
	struct ask *ask = said->ask < 0 ? NULL : &oracle->asks[said->ask];
	char id[48];

	if (said->from == to || said->arrived || said->kind == KIND_JUNK || said->begun == 0) {
		oracle_blame(oracle, "1: message %d arrived twice, or never was one", number);
		return;
	}
	said->arrived = true;
	if (said->kind != KIND_CANCEL) {
		if (number < oracle->last[said->from])
			oracle_blame(oracle, "3: message %d arrived behind message %d", number,
			    oracle->last[said->from]);
		oracle->last[said->from] = number;
	}
	if (said->kind == KIND_REQUEST)
		got_request(oracle, ask, message, line, len);
	else if (said->kind == KIND_RESPONSE)
		got_response(oracle, said, ask, line, len);
	if (said->kind == KIND_CANCEL) {
		look_spell(json_object_get(json_object_get(message, "params"), "requestId"), id, sizeof(id));
		if (ask == NULL || !look_same_id(id, ask->wire))
			oracle_blame(oracle, "2: a cancel of %s, which is not outstanding", id);
		else if (ask->replied != 0 && ask->replied < said->begun)
			oracle_blame(oracle, "2: a cancel of %s, which was answered before", id);
		oracle_got_cancel(oracle, ask, id);
	}
	if (said->kind == KIND_PROGRESS && ask != NULL) {
		look_spell(json_object_get(json_object_get(message, "params"), "progressToken"), id, sizeof(id));
		if (!look_same_id(id, ask->token))
			oracle_blame(oracle, "1: progress of %s under the token %s", ask->token, id);
		if ((ask->answered || (ask->cancelled != 0 && ask->cancelled < said->begun)) &&
		    !token_in_use(oracle, ask))
			oracle_blame(oracle, "1: late progress of %s", ask->id);
	}
	expect_bytes(oracle, said, line, len);
}

void
oracle_got(struct oracle *oracle, int to, const char *line, size_t len)
{
	json_t *message = json_loadb(line, len, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
	json_t *params = json_object_get(message, "params"), *result = json_object_get(message, "result");
	json_t *number = json_object_get(params, "q");

	if (number == NULL)
		number = json_object_get(result, "q");
	if (message == NULL && oracle->may_break > oracle->broken)
		oracle->broken++;
	else if (message == NULL)
		oracle_blame(oracle, "3: a line that is no message: %.*s ... %.*s", (int)(len < 100 ? len : 100), line,
		    (int)(len < 60 ? len : 60), line + len - (len < 60 ? len : 60));
	else if (number == NULL)
		oracle_got_own(oracle, to, message, line, len);
	else if (json_number_value(number) < 0 || json_number_value(number) >= oracle->said_count)
		oracle_blame(oracle, "3: a message that nobody wrote");
	else
		got_said(oracle, to, (int)json_number_value(number), message, line, len);
	json_decref(message);
}
