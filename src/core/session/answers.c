/*
 *   request of the server's ──▶ answers_find ──▶ no -t names its method: answered, and not passed
 *                                            ──▶ else it enters the table: EVENT_DEADLINE_ANSWERED,
 *                                                EVENT_DECLINED
 */
#include "answers.h"

/* Of an array that has no other one; else empty. */
static struct span
only_element(struct span json)
{
	size_t at = 1;
	struct span element = json.ptr[0] == '[' ? json_next(json, &at) : SPAN_NONE;

	return json_next(json, &at).len > 0 ? SPAN_NONE : element;
}

/* LSP 3.17 "workspace/configuration": the result has an element for each of params.items. */
static int
count_items(const struct message *message)
{
	struct span items = json_member(scan_bytes(message->scan, SCAN_PARAMS), "items");
	size_t at = 1;
	int count = 0;

	while (count < LIMIT_ANSWER && items.len > 0 && items.ptr[0] == '[' &&
	    json_next(items, &at).len > 0)
		count++;
	return count;
}

const char *
answers_find(const struct message *message, unsigned traits, int *items)
{
	const struct policy_rule *rule = policy_find(message->outlet->config->policy, POLICY_ANSWER,
	    message->method, SPAN_NONE, 0);
	struct span element;

	*items = ANSWER_AS_IT_IS;
	if (rule == NULL)
		return NULL;
	element = (traits & METHOD_EACH) ? only_element(span_of(rule->text)) : SPAN_NONE;
	if (element.len > 0)
		*items = count_items(message);
	return *items > LIMIT_ANSWER / (int)(element.len + 1) ? NULL : rule->text;
}

struct span
answers_result(struct buf *text, const char *result, int items)
{
	struct span whole = span_of(result), element = only_element(whole);

	if (items == ANSWER_AS_IT_IS)
		return whole;
	buf_set(text, SPAN("["));
	for (int i = 0; i < items; i++)
		compose_json(text, i > 0 ? ",%b" : "%b", element);
	compose_json(text, "]");
	return buf_span(text);
}

bool
answers_would_help(const struct party *server, struct buf *text)
{
	const struct request *asked = server->pending.oldest;
	struct span refused = buf_span(&server->outlet->server->refused);

	while (asked != NULL && (!request_is_awaited(asked) || asked->answer != NULL))
		asked = asked->newer;
	if (party_asks_person(server) || (asked == NULL && refused.len == 0))
		return false;
	compose_text(text, "the %s: --answer %b=JSON answers it",
	    asked != NULL ? "server waits for the client" :
			    "client has refused what the server asked",
	    asked != NULL ? asked->method : refused);
	return true;
}

bool
answers_refused(const struct message *message, const struct request *request)
{
	if (message->batch != NULL || !dialect_is_error(message->scan, CODE_METHOD_NOT_FOUND))
		return false;
	if (answers_has(message->outlet, request))
		return true;
	if (request->from == SIDE_SERVER)
		buf_set(&message->outlet->server->refused, request->method);
	return false;
}
