#include "ctl/visit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void
on_answer(struct visit *visit, json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	json_int_t number = json_integer_value(id);

	if (!json_is_integer(id) || number < 1 || number > visit->count || visit->asked[number - 1].answer != NULL)
		return;
	visit->asked[number - 1].answer = json_incref(message);
	visit->asked[number - 1].order = ++visit->answers;
	visit->asked[number - 1].answered = peer_now(&visit->peer);
}

static void
on_message(void *user, json_t *message)
{
	struct visit *visit = user;

	if (json_object_get(message, "method") == NULL) {
		on_answer(visit, message);
	} else if (json_object_get(message, "id") != NULL) {
		/* Of a flood of requests only those are answered that canceld takes at once. */
		if (json_is_string(json_object_get(message, "method")) && visit->peer.out.len < PEER_MESSAGE_MAX)
			peer_send(&visit->peer, dialogue_answer(message));
	} else {
		for (int i = 0; i < visit->count; i++)
			if (visit->asked[i].answer == NULL)
				visit->asked[i].progress +=
				    dialogue_is_progress(visit->dialogue, message, visit->asked[i].id);
	}
}

static void
on_event(void *user, json_t *event)
{
	struct visit *visit = user;

	witness_hear(&visit->witness, event, peer_now(&visit->peer));
}

int
visit_start(struct visit *visit, const struct visit_setup *setup)
{
	char grace[48], term[48], dialect[48], cap[VISIT_TEXT * 2];
	char *options[] = { dialect, (char[]){ "--no-control" }, (char[]){ "--timeout=*=none" }, grace, term,
		(char[]){ "--kill-after=1s" }, cap, NULL };

	*visit = (struct visit){ .dialogue = setup->dialogue };
	witness_init(&visit->witness);
	snprintf(dialect, sizeof(dialect), "--dialect=%s", setup->plain ? "none" : dialogue_name(setup->dialogue.kind));
	snprintf(grace, sizeof(grace), "--grace=%lldms", (long long)setup->grace);
	snprintf(term, sizeof(term), "--term-after=%dms", VISIT_TERM_AFTER);
	snprintf(cap, sizeof(cap), "--max-time=%s", setup->cap != NULL ? setup->cap : "*=none");
	return peer_start(&visit->peer,
	    &(struct peer_setup){
		.options = options,
		.command = setup->command,
		.environment = setup->environment,
		.directory = setup->directory,
		.headers = setup->dialogue.kind == DIALOGUE_LSP,
		.loud = setup->loud,
		.on_message = on_message,
		.on_event = on_event,
		.user = visit,
	    });
}

bool
visit_set_session(struct visit *visit, const char *id)
{
	snprintf(visit->session, sizeof(visit->session), "%s", id);
	return strlen(id) < sizeof(visit->session);
}

int64_t
visit_next_id(const struct visit *visit)
{
	return visit->count + 1;
}

struct asked *
visit_ask(struct visit *visit, const char *method, json_t *params)
{
	struct asked *asked = &visit->asked[visit->count];

	assert(visit->count < VISIT_REQUESTS);
	*asked = (struct asked){ .id = ++visit->count, .method = method, .sent = peer_now(&visit->peer) };
	peer_send(&visit->peer,
	    json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", (json_int_t)asked->id, "method", method, "params",
		dialogue_params(visit->dialogue, params)));
	return asked;
}

void
visit_wait_start(struct visit *visit, struct asked *first)
{
	msec_t until = peer_now(&visit->peer) + VISIT_START;

	while (visit->witness.server == 0 && peer_turn(&visit->peer, until))
		;
	first->sent = peer_now(&visit->peer);
}

void
visit_notify(struct visit *visit, const char *method)
{
	peer_send(&visit->peer, json_pack("{s:s, s:s, s:{}}", "jsonrpc", "2.0", "method", method, "params"));
}

void
visit_cancel(struct visit *visit, const struct asked *asked)
{
	const char *session = visit->session[0] == '\0' ? NULL : visit->session;

	peer_send(&visit->peer, dialogue_cancel(visit->dialogue, asked->method, session, asked->id));
}

bool
visit_wait_until(struct visit *visit, const struct asked *asked, msec_t until)
{
	while (asked->answer == NULL && peer_turn(&visit->peer, until))
		;
	return asked->answer != NULL;
}

bool
visit_wait(struct visit *visit, const struct asked *asked, msec_t limit)
{
	return visit_wait_until(visit, asked, peer_now(&visit->peer) + limit);
}

bool
visit_is_own(const struct asked *asked)
{
	const json_t *error = json_object_get(asked->answer, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	return message != NULL && strncmp(message, "canceld: ", strlen("canceld: ")) == 0 &&
	    json_is_string(json_object_get(json_object_get(error, "data"), "cause"));
}

const char *
visit_error(const struct asked *asked)
{
	const json_t *error = json_object_get(asked->answer, "error");
	const json_t *result = json_object_get(asked->answer, "result");
	const char *text = json_string_value(json_object_get(error, "message"));

	if (error != NULL)
		return text == NULL ? "an error without a text" : text;
	if (!json_is_true(json_object_get(result, "isError")))
		return NULL;
	text = json_string_value(json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
	return text == NULL ? "a result with isError" : text;
}

void
visit_close(struct visit *visit)
{
	peer_close_input(&visit->peer);
	peer_finish(&visit->peer, peer_now(&visit->peer) + VISIT_END);
}

void
visit_free(struct visit *visit)
{
	for (int i = 0; i < visit->count; i++)
		json_decref(visit->asked[i].answer);
	peer_free(&visit->peer);
}
