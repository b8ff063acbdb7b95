#include "oracle.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
oracle_init(struct oracle *oracle)
{
	*oracle = (struct oracle){ .last = { -1, -1 } };
}

void
oracle_free(struct oracle *oracle)
{
	int i;

	for (i = 0; i < oracle->said_count; i++) {
		free(oracle->said[i].bytes);
		free(oracle->said[i].arrives);
	}
	free(oracle->said);
	free(oracle->asks);
	free(oracle->tellings[CLIENT]);
	free(oracle->tellings[SERVER]);
}

void
oracle_blame(struct oracle *oracle, const char *format, ...)
{
	va_list arguments;

	if (oracle->verdict[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(oracle->verdict, sizeof(oracle->verdict), format, arguments);
	va_end(arguments);
}

static void *
grow(void *array, int count, size_t size)
{
	if ((count & (count - 1)) == 0)
		array = realloc(array, (count == 0 ? 1 : 2 * (size_t)count) * size);
	if (array == NULL)
		abort();
	memset((char *)array + (size_t)count * size, 0, size);
	return array;
}

int
oracle_say(struct oracle *oracle, int from, enum kind kind, int ask, char *bytes, size_t len)
{
	struct said *said;

	oracle->said = grow(oracle->said, oracle->said_count, sizeof(*oracle->said));
	said = &oracle->said[oracle->said_count];
	said->from = from;
	said->kind = kind;
	said->ask = ask;
	said->bytes = bytes;
	said->len = len;
	return oracle->said_count++;
}

int
oracle_ask(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask;

	oracle->asks = grow(oracle->asks, oracle->ask_count, sizeof(*oracle->asks));
	ask = &oracle->asks[oracle->ask_count];
	ask->by = by;
	snprintf(ask->id, sizeof(ask->id), "%s", id);
	return oracle->ask_count++;
}

bool
oracle_waits(const struct ask *ask)
{
	return !ask->answered && ask->cancelled == 0;
}

void
oracle_begun(struct oracle *oracle, int number)
{
	struct said *said = &oracle->said[number];

	said->begun = ++oracle->step;
	if (said->kind == KIND_RESPONSE && oracle->asks[said->ask].reply_begun == 0)
		oracle->asks[said->ask].reply_begun = said->begun;
}

void
oracle_heard(struct oracle *oracle, int number)
{
	struct said *said = &oracle->said[number];
	struct ask *ask = said->ask < 0 ? NULL : &oracle->asks[said->ask];

	said->heard = ++oracle->step;
	if (ask == NULL)
		return;
	if (said->kind == KIND_REQUEST)
		ask->asked = oracle->now;
	if (said->kind == KIND_REQUEST || (said->kind == KIND_PROGRESS && said->from != ask->by && ask->decided == 0))
		ask->active = oracle->now;
	if (said->kind == KIND_CANCEL && ask->cancelled == 0 && said->from == ask->by && ask->replied == 0 &&
	    !ask->handshake)
		ask->cancelled = said->heard;
	/* What is malformed, or shares its line with text, is taken for an answer only while one is awaited. */
	if ((said->arrives != NULL || said->bad) &&
	    ((ask->cancelled != 0 && !oracle->answer_cancelled) || ask->decided != 0))
		return;
	if (said->kind == KIND_RESPONSE && ask->replied == 0) {
		ask->replied = said->heard;
		oracle->initialized |= ask->handshake && !said->bad;
	}
}

/* The raw text of the id, which our peers put first or last. */
static void
raw_id(const char *line, size_t len, char *out, size_t size)
{
	static const char *const keys[] = { "\"id\":", "\"\\u0069d\":" };
	const char *found = NULL, *end;
	size_t i, n;

	out[0] = '\0';
	for (i = 0; i < 2 && found == NULL; i++) {
		n = strlen(keys[i]);
		if (len > 17 + n && memcmp(line + 17, keys[i], n) == 0)
			found = line + 17 + n;
	}
	for (end = line + len - 6; found == NULL && end > line && end > line + len - 60; end--)
		if (memcmp(end, ",\"id\":", 6) == 0)
			found = end + 6;
	if (found == NULL)
		return;
	n = strcspn(found, ",}");
	if (n < size) {
		memcpy(out, found, n);
		out[n] = '\0';
	}
}

static const char *
text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* The id, as text that tells types apart. */
static void
spell(json_t *value, char *out, size_t size)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

	snprintf(out, size, "%s", text == NULL ? "" : text);
	free(text);
}

static bool
same_id(const char *a, const char *b)
{
	double x, y;

	if (a[0] == '"' || b[0] == '"' || a[0] == '\0' || b[0] == '\0')
		return strcmp(a, b) == 0;
	x = strtod(a, NULL);
	y = strtod(b, NULL);
	return x >= y && x <= y;
}

/* The request of `by` that canceld answers under this id: the first that it said so of, else the newest. */
static struct ask *
find_answered(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask, *found = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != by || ask->answered || !same_id(ask->id, id))
			continue;
		found = ask;
		if (ask->decided != 0)
			break;
	}
	return found;
}

/* The newest request of `by` that arrived under this id. */
static struct ask *
find_wire(struct oracle *oracle, int by, const char *id)
{
	int i;

	for (i = oracle->ask_count - 1; i >= 0; i--)
		if (oracle->asks[i].by == by && same_id(oracle->asks[i].wire, id))
			return &oracle->asks[i];
	return NULL;
}

/* Compares all but what may be replaced under a fresh id. */
static bool
same_but_names(const char *a, size_t alen, const char *b, size_t blen)
{
	static const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
	json_t *x = json_loadb(a, alen, flags, NULL), *y = json_loadb(b, blen, flags, NULL);
	json_t *both[2] = { x, y };
	bool same;
	int i;

	for (i = 0; i < 2; i++) {
		json_object_del(both[i], "id");
		json_object_del(json_object_get(both[i], "params"), "requestId");
		json_object_del(json_object_get(both[i], "params"), "progressToken");
		json_object_del(json_object_get(json_object_get(both[i], "params"), "_meta"), "progressToken");
	}
	same = x != NULL && y != NULL && json_equal(x, y);
	json_decref(x);
	json_decref(y);
	return same;
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
	if (aliased && same_but_names(bytes, n, line, len))
		return;
	oracle_blame(oracle, "3: changed on the way: wrote %.*s, read %.*s", (int)(n < 300 ? n : 300), bytes,
	    (int)(len < 300 ? len : 300), line);
}

static void
got_request(struct oracle *oracle, struct ask *ask, json_t *message, const char *line, size_t len)
{
	json_t *meta = json_object_get(json_object_get(message, "params"), "_meta");
	int i;

	raw_id(line, len, ask->wire, sizeof(ask->wire));
	if (json_object_get(meta, "progressToken") != NULL)
		spell(json_object_get(meta, "progressToken"), ask->wire_token, sizeof(ask->wire_token));
	if (ask->cancelled != 0 && oracle->said[ask->said].begun > ask->cancelled)
		oracle_blame(oracle, "2: a request that was cancelled before arrived: %s", ask->id);
	for (i = 0; i < oracle->ask_count; i++) {
		const struct ask *before = &oracle->asks[i];

		if (before != ask && before->by == ask->by && before->wire[0] != '\0' && before->replied == 0 &&
		    same_id(before->wire, ask->wire))
			oracle_blame(oracle, "1: two requests that may be answered bear the id %s", ask->wire);
	}
}

static void
got_response(struct oracle *oracle, struct said *said, struct ask *ask, const char *line, size_t len)
{
	char id[48];

	raw_id(line, len, id, sizeof(id));
	if (!same_id(id, ask->id))
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

static void
got_cancel(struct oracle *oracle, struct ask *ask, const char *id)
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

static bool
same_text(const char *a, const char *b)
{
	size_t n;

	a += *a == '"';
	b += *b == '"';
	n = strcspn(a, "\"");
	return n == strcspn(b, "\"") && strncmp(a, b, n) == 0;
}

/* Another request bears the same token, if only as text: nobody on the way can know better. */
static bool
token_in_use(const struct oracle *oracle, const struct ask *old)
{
	const struct ask *ask;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask != old && ask->by == old->by && !ask->answered && ask->token[0] != '\0' &&
		    same_text(ask->token, old->token))
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
		spell(json_object_get(json_object_get(message, "params"), "requestId"), id, sizeof(id));
		if (ask == NULL || !same_id(id, ask->wire))
			oracle_blame(oracle, "2: a cancel of %s, which is not outstanding", id);
		else if (ask->replied != 0 && ask->replied < said->begun)
			oracle_blame(oracle, "2: a cancel of %s, which was answered before", id);
		got_cancel(oracle, ask, id);
	}
	if (said->kind == KIND_PROGRESS && ask != NULL) {
		spell(json_object_get(json_object_get(message, "params"), "progressToken"), id, sizeof(id));
		if (!same_id(id, ask->token))
			oracle_blame(oracle, "1: progress of %s under the token %s", ask->token, id);
		if ((ask->answered || (ask->cancelled != 0 && ask->cancelled < said->begun)) &&
		    !token_in_use(oracle, ask))
			oracle_blame(oracle, "1: late progress of %s", ask->id);
	}
	expect_bytes(oracle, said, line, len);
}

void
oracle_decided(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask, *found = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == by && ask->decided == 0 && oracle->said[ask->said].begun != 0 &&
		    strcmp(ask->id, id) == 0)
			found = ask;
	if (found == NULL)
		return;
	found->decided_at = oracle->now;
	found->decided = ++oracle->step;
}

void
oracle_tells(struct oracle *oracle, int by, const char *id)
{
	struct telling *telling;

	oracle->tellings[by] = grow(oracle->tellings[by], oracle->telling_count[by], sizeof(*telling));
	telling = &oracle->tellings[by][oracle->telling_count[by]++];
	telling->step = ++oracle->step;
	snprintf(telling->id, sizeof(telling->id), "%s", id);
}

/* A cancel of canceld's own has arrived: they do so in the order in which it said so. */
static void
got_own_cancel(struct oracle *oracle, int to, const char *id)
{
	int by = to == SERVER ? CLIENT : SERVER;
	struct ask *ask = find_wire(oracle, by, id);
	const struct telling *telling = &oracle->tellings[by][oracle->told[by]];

	got_cancel(oracle, ask, id);
	if (to == SERVER && oracle->legacy && !oracle->initialized)
		oracle_blame(oracle, "2: a cancel before initialize was answered");
	if (oracle->told[by]++ == oracle->telling_count[by])
		oracle_blame(oracle, "5: canceld cancels %s and does not say so", id);
	else if (ask != NULL && strcmp(ask->id, telling->id) != 0)
		oracle_blame(oracle, "5: canceld cancels %s and says that it is %s", ask->id, telling->id);
	else if (ask != NULL && ask->replied != 0 && ask->replied < telling->step)
		oracle_blame(oracle, "2: a cancel of %s, which was answered", id);
}

static void
got_error(struct oracle *oracle, int to, json_t *message, json_t *data)
{
	const char *cause = text_of(data, "cause");
	struct ask *ask;
	char id[48];

	spell(json_object_get(message, "id"), id, sizeof(id));
	if (json_object_get(message, "id") == NULL || json_is_null(json_object_get(message, "id"))) {
		if (++oracle->error_lines > oracle->junk_lines + oracle->may_break)
			oracle_blame(oracle, "1: an error that nobody asked for");
		return;
	}
	ask = find_answered(oracle, to, id);
	if (ask == NULL) {
		oracle_blame(oracle, "1: canceld answers %s, which is not outstanding", id);
		return;
	}
	ask->answered = true;
	ask->refused = ask->wire[0] == '\0';
	if (ask->decided == 0)
		oracle_blame(oracle, "5: canceld answers %s and does not say so", id);
	if (ask->cancelled != 0 && ask->cancelled < ask->decided && !oracle->answer_cancelled && ask->by == CLIENT)
		oracle_blame(oracle, "1: canceld answers %s, which was cancelled (%s)", id, cause);
	if (strcmp(cause, "timeout") == 0 && ask->decided_at - ask->active < oracle->timeout &&
	    ask->decided_at - ask->asked < oracle->cap)
		oracle_blame(oracle, "1: %s timed out after %lld ms", id, (long long)(ask->decided_at - ask->active));
	if (strcmp(cause, "server-exited") == 0 && !oracle->server_died)
		oracle_blame(oracle, "1: %s is told of an exit that was not", id);
}

/* A message of canceld's own. */
static void
got_own(struct oracle *oracle, int to, json_t *message, const char *line, size_t len)
{
	json_t *params = json_object_get(message, "params");
	json_t *data = json_object_get(json_object_get(message, "error"), "data");
	json_t *tool = json_object_get(json_object_get(json_object_get(message, "result"), "_meta"), "canceld/error");
	const char *method = text_of(message, "method");
	char id[48];

	if (json_object_get(message, "error") != NULL) {
		got_error(oracle, to, message, data);
	} else if (tool != NULL && oracle->tool_errors) {
		got_error(oracle, to, message, tool);
	} else if (strcmp(method, "notifications/cancelled") == 0) {
		spell(json_object_get(params, "requestId"), id, sizeof(id));
		got_own_cancel(oracle, to, id);
	} else if (strcmp(method, "tasks/cancel") != 0) {
		oracle_blame(oracle, "3: canceld says %.*s", (int)(len < 300 ? len : 300), line);
	}
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
		got_own(oracle, to, message, line, len);
	else if (json_number_value(number) < 0 || json_number_value(number) >= oracle->said_count)
		oracle_blame(oracle, "3: a message that nobody wrote");
	else
		got_said(oracle, to, (int)json_number_value(number), message, line, len);
	json_decref(message);
}

static void
end_of_ask(struct oracle *oracle, const struct ask *ask)
{
	const struct said *said = &oracle->said[ask->said];
	bool heard = said->heard != 0, owed = ask->cancelled == 0 || oracle->answer_cancelled;

	if (ask->by != CLIENT || !heard)
		return;
	if (!oracle->client_left && owed && !ask->answered)
		oracle_blame(oracle, "1: %s was never answered", ask->id);
	if (ask->wire[0] == '\0' || ask->reply_begun != 0 || ask->cancels > 0 || oracle->server_died)
		return;
	if (!oracle->no_cancel && !ask->handshake && !ask->probe && !ask->task &&
	    (!oracle->legacy || oracle->initialized))
		oracle_blame(oracle, "2: the server never heard that nobody waits for %s", ask->id);
}

void
oracle_end(struct oracle *oracle)
{
	int i, lost = 0;

	for (i = 0; i < oracle->ask_count; i++)
		end_of_ask(oracle, &oracle->asks[i]);
	for (i = 0; i < oracle->said_count; i++) {
		const struct said *said = &oracle->said[i];

		if (said->kind == KIND_NOTICE && said->heard != 0 && !said->arrived &&
		    !(said->from == CLIENT && oracle->server_died) && ++lost > oracle->broken)
			oracle_blame(oracle, "3: message %d was lost", i);
	}
	if (oracle->error_lines != oracle->junk_lines && !oracle->client_left)
		oracle_blame(oracle, "1: %d unreadable lines, %d errors", oracle->junk_lines, oracle->error_lines);
}
