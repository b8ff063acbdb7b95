#include <string.h>

#include "core/id.h"
#include "core/limits.h"
#include "session_inside.h"

enum { MINTED_FIRST = 1 << 30, MINTED_DIGITS = 10, MINTED_MAX = 32 }; /* within int32, far from where clients count */

struct span
session_mint(struct session *session, enum side requester, bool string)
{
	struct span minted;

	do {
		buf_clear(&session->scratch);
		if (string)
			buf_append(&session->scratch, SPAN("\"canceld-"));
		compose_number(&session->scratch, (string ? 1 : MINTED_FIRST) + (int64_t)session->minted++);
		if (string)
			buf_append(&session->scratch, SPAN("\""));
		minted = buf_span(&session->scratch);
	} while (pending_holds(&session->party[requester].pending, minted));
	return minted;
}

bool
session_has_minted(const struct session *session, struct span number)
{
	uint32_t value = 0;
	size_t i;

	if (number.len != MINTED_DIGITS || number.ptr[0] != '1')
		return false;
	for (i = 0; i < number.len; i++)
		value = value * 10 + (uint32_t)(number.ptr[i] - '0');
	return value >= MINTED_FIRST && value - MINTED_FIRST < session->minted;
}

/* A fresh id like the given one, copied to storage. */
static struct span
mint_like(struct session *session, enum side requester, struct span like, char storage[MINTED_MAX])
{
	struct span minted = session_mint(session, requester, like.ptr[0] == '"');

	memcpy(storage, minted.ptr, minted.len);
	return (struct span){ storage, minted.len };
}

/* true if the request does not go on, and was answered. */
static bool
refused(struct session *session, struct message *message)
{
	if (session->party[side_other(message->from)].gone) {
		if (message->from == SIDE_CLIENT)
			session_refuse(session, message, "server-exited", "canceld: the server has gone",
			    decisions[REQUEST_NONE][EVENT_RECEIVER_GONE].why);
		else
			session_refuse(session, message, "client-gone", "canceld: the client has gone",
			    WHY_UNANSWERABLE);
		return true;
	}
	if (!message->passed && session_outstanding(session, message->from) >= session->config.max_inflight) {
		session_refuse(session, message, "too-many-requests",
		    "canceld: too many requests are outstanding (--max-inflight)", WHY_TOO_MANY);
		return true;
	}
	return false;
}

static struct span
usable_token(const struct scan *scan, enum scan_field field)
{
	enum value_type type = field == SCAN_FIELDS ? VALUE_ABSENT : scan_value(scan, field)->type;

	if (type != VALUE_STRING && type != VALUE_NUMBER)
		return (struct span){ NULL, 0 };
	return scan_text(scan, field);
}

/* LSP: a request may have a token for progress and one for partial results. */
static void
read_tokens(const struct dialect *dialect, const struct scan *scan, struct pending_names *names)
{
	struct span second = usable_token(scan, dialect->token_fields[1]);

	names->token = usable_token(scan, dialect->token_fields[0]);
	names->wire_token = second.len > 0 ? second : names->token;
	if (names->token.len == 0)
		names->token = second;
	else if (second.len > 0 && !id_equal(names->token, second))
		names->flags |= REQUEST_TWO_TOKENS;
}

static bool
token_held(const struct pending *pending, struct span token)
{
	const struct request *holder = token.len == 0 ? NULL : pending_by_token(pending, token);

	return holder != NULL && id_equal(holder->wire_token, token);
}

/* Gives the request a fresh id or token where the receiver could not tell it from an older one. */
static void
alias(struct session *session, struct message *message, struct pending_names *names, char id_storage[MINTED_MAX],
    char token_storage[MINTED_MAX])
{
	const struct pending *pending = &session->party[message->from].pending;
	struct action action;

	if (pending_by_wire(pending, names->id) != NULL) {
		names->wire_id = mint_like(session, message->from, names->id, id_storage);
		message_edit(message, SCAN_ID, names->wire_id);
		action = action_of(session, VERB_NOTE, side_other(message->from), WHY_ALIASED, NULL);
		action.id = names->id;
		action.method = names->method;
		action.name = names->name;
		action.detail = names->wire_id;
		session_report(session, &action);
	}
	if ((session->dialect->flags & DIALECT_ALIASES_IDS) && token_held(pending, names->token)) {
		names->wire_token = mint_like(session, message->from, names->token, token_storage);
		message_edit(message, session->dialect->token_fields[0], names->wire_token);
	}
}

/* Gives the request a token of canceld's own. */
static void
ask(struct session *session, struct message *message, struct pending_names *names, char token_storage[MINTED_MAX],
    struct buf *asked)
{
	struct span token = mint_like(session, message->from, SPAN("0"), token_storage);
	struct action action = action_of(session, VERB_NOTE, side_other(message->from), WHY_PROGRESS_ASKED, NULL);

	if (!session_ask_progress(session, message, token, asked))
		return;
	names->token = names->wire_token = token;
	names->flags |= REQUEST_ASKED;
	action.id = names->id;
	action.method = names->method;
	action.detail = token;
	session_report(session, &action);
}

static unsigned
flags_of(const struct dialect *dialect, const struct message *message, unsigned traits)
{
	unsigned flags = 0;

	if (traits & METHOD_PERSON)
		flags |= REQUEST_PERSON;
	if (traits & METHOD_NO_CANCEL)
		flags |= REQUEST_NO_CANCEL;
	if (traits & METHOD_STREAM)
		flags |= REQUEST_STREAM;
	if ((dialect->flags & DIALECT_TASKS) && scan_value(message->scan, SCAN_TASK)->type == VALUE_OBJECT)
		flags |= REQUEST_TASK;
	return flags;
}

/* What the request names, unescaped into storage; empty if its method names nothing, or too much. */
static struct span
read_name(const struct scan *scan, const struct method *traits, char storage[SCAN_VALUE_MAX])
{
	if (traits == NULL || traits->name_field == SCAN_FIELDS ||
	    scan_value(scan, traits->name_field)->type != VALUE_STRING)
		return (struct span){ NULL, 0 };
	return id_unescaped(scan_text(scan, traits->name_field), storage, SCAN_VALUE_MAX);
}

/* For the cancels of a request that has a protocol's version in it. */
static struct span
read_meta(const struct scan *scan)
{
	if (scan_value(scan, SCAN_META_VERSION)->type != VALUE_STRING)
		return (struct span){ NULL, 0 };
	return scan_text(scan, SCAN_PARAMS_META);
}

static void
set_deadlines(struct session *session, enum side requester, struct request *request, const struct method *traits)
{
	struct pending *pending = &session->party[requester].pending;
	struct deadlines deadlines =
	    policy_deadlines(session->config.policy, request->method, request->name, traits, requester == SIDE_SERVER);

	request->received = session->steady;
	request->idle_after = deadlines.idle;
	request->cap_after = deadlines.cap;
	alarm_arm(&pending->idle, &request->idle, deadlines.idle, session_idle(session, requester));
	alarm_arm(&pending->hard, &request->hard, deadlines.cap, session->steady);
}

/* Of a server that was started again the ids begin anew, and the client may still answer the former one. */
static bool
aliases(const struct session *session, const struct message *message)
{
	bool renewed = session->restarted && message->from == SIDE_SERVER;

	return !message->passed && (renewed || (session->dialect->flags & DIALECT_ALIASES_IDS));
}

static void
enter(struct session *session, struct message *message, const struct method *traits)
{
	struct party *party = &session->party[message->from];
	const struct dialect *dialect = session->dialect;
	char name[SCAN_VALUE_MAX], id_storage[MINTED_MAX], token_storage[MINTED_MAX];
	unsigned trait_bits = traits == NULL ? 0 : traits->traits;
	struct pending_names names;
	struct request *request;
	struct buf asked;

	names.id = names.wire_id = message->envelope.id;
	names.row = traits;
	names.method = message->envelope.method;
	names.name = read_name(message->scan, traits, name);
	names.meta = read_meta(message->scan);
	names.flags = flags_of(dialect, message, trait_bits);
	read_tokens(dialect, message->scan, &names);
	if (aliases(session, message))
		alias(session, message, &names, id_storage, token_storage);
	buf_init(&asked);
	if (session_may_ask(session, message, &names, trait_bits))
		ask(session, message, &names, token_storage, &asked);
	request = pending_add(&party->pending, &names);
	request->start = message->begin;
	request->end = message->next;
	set_deadlines(session, message->from, request, traits);
	session_record_request(session, message, request, traits);
	if (message->from == SIDE_SERVER)
		session_join_cascade(session, request);
	message_pass(session, message, WHY_RELAYED, request);
	buf_free(&asked);
}

/* The id is in use, and the request cannot be given another: it is left alone. */
static bool
ambiguous(const struct session *session, const struct message *message)
{
	if (aliases(session, message))
		return false;
	return pending_by_wire(&session->party[message->from].pending, message->envelope.id) != NULL;
}

static bool
is_probe(const struct message *message, const struct method *traits)
{
	return message->from == SIDE_CLIENT && !message->passed && traits != NULL && (traits->traits & METHOD_PROBE);
}

void
session_on_request(struct session *session, struct message *message)
{
	struct party *party = &session->party[message->from];
	const struct method *traits;

	party->requests++;
	if (message->from == SIDE_CLIENT && session_is_acknowledged_cancel(message->envelope.method)) {
		session_on_acknowledged_cancel(session, message);
		return;
	}
	session_note_request(session, message);
	traits = dialect_method(session->dialect, message->envelope.method);
	if (message->envelope.untracked || ambiguous(session, message)) {
		party->untracked = true;
		message_pass(session, message, message->envelope.untracked ? WHY_UNTRACKED : WHY_AMBIGUOUS, NULL);
	} else if (session->config.legacy && is_probe(message, traits)) {
		session_answer_probe(session, message);
	} else if (session_is_turn_cancel(session, message)) {
		session_on_turn_cancel(session, message);
	} else if (!refused(session, message)) {
		enter(session, message, traits);
	}
}
