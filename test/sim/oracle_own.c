/* ... that canceld itself has written. */
#include <string.h>

#include "oracle_inside.h"

/* The request of `by` that canceld answers under this id: the first that it said so of, else the newest. */
static struct ask *
find_answered(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask, *found = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++) {
		if (ask->by != by || ask->answered || !look_same_id(ask->id, id))
			continue;
		found = ask;
		if (ask->decided != 0)
			break;
	}
	return found;
}

/* A cancel of canceld's own has arrived: they do so in the order in which it said so. */
static void
got_own_cancel(struct oracle *oracle, int to, const char *id)
{
	int by = to == SERVER ? CLIENT : SERVER;
	struct ask *ask = oracle_find_wire(oracle, by, id);
	const struct telling *telling = &oracle->tellings[by][oracle->told[by]];

	oracle_got_cancel(oracle, ask, id);
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
	const char *cause = look_text(data, "cause");
	struct ask *ask;
	char id[48];

	look_spell(json_object_get(message, "id"), id, sizeof(id));
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
void
oracle_got_own(struct oracle *oracle, int to, json_t *message, const char *line, size_t len)
{
	json_t *params = json_object_get(message, "params");
	json_t *data = json_object_get(json_object_get(message, "error"), "data");
	json_t *tool = json_object_get(json_object_get(json_object_get(message, "result"), "_meta"), "canceld/error");
	const char *method = look_text(message, "method");
	char id[48];

	if (json_object_get(message, "error") != NULL) {
		got_error(oracle, to, message, data);
	} else if (tool != NULL && oracle->tool_errors) {
		got_error(oracle, to, message, tool);
	} else if (strcmp(method, "notifications/cancelled") == 0) {
		look_spell(json_object_get(params, "requestId"), id, sizeof(id));
		got_own_cancel(oracle, to, id);
	} else if (strcmp(method, "tasks/cancel") != 0) {
		oracle_blame(oracle, "3: canceld says %.*s", (int)(len < 300 ? len : 300), line);
	}
}
