/*
 * What the peers may read. The judge knows the messages that they write, in the order in which
 * canceld hears them, and nothing of the core; the facts of the protocols are those of the
 * simulation (test/sim/protocol.h).
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/session/state.h"
#include "explore.h"

static const struct protocol *
protocol_of(const struct play *play)
{
	return &protocols[play->world->protocol];
}

/* The value behind the key, as spelled, if it is an id; false: there is none. */
static bool
find_value(const char *text, const char *key, char *out, size_t size)
{
	char quoted[40];
	const char *at;
	size_t len;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(text, quoted);
	if (at == NULL)
		return false;
	at += strlen(quoted);
	len = strcspn(at, ",}");
	if (len >= size)
		return false;
	memset(out, 0, size);
	memcpy(out, at, len);
	return true;
}

static bool
is_open(const struct known *known)
{
	return known->asked && known->answers == 0 && !known->replied &&
	    (!known->cancelled || known->owed);
}

/*
 * The other request with the same id, if it is not answered: canceld's answer to one may be for the
 * other.
 */
static struct known *
twin_of(struct play *play, const struct known *known)
{
	const struct ask *asks = play->world->asks, *ask = &asks[known - play->model.known];

	for (int i = 0; i < WORLD_ASKS; i++) {
		struct known *other = &play->model.known[i];

		if (other != known && asks[i].id != NULL && asks[i].by == ask->by &&
		    strcmp(asks[i].id, ask->id) == 0 && other->asked && other->answers == 0)
			return other;
	}
	return NULL;
}

/* --- what canceld hears */

/* Of those with the same id, a cancel means the newest one that is open. */
static int
newest_of(const struct play *play, int number)
{
	const struct ask *asks = play->world->asks;

	for (int i = WORLD_ASKS; i-- > 0;)
		if (asks[i].id != NULL && asks[i].by == asks[number].by &&
		    strcmp(asks[i].id, asks[number].id) == 0 && is_open(&play->model.known[i]))
			return i;
	return number;
}

static void
hears_answer(struct play *play, struct known *known, const struct ask *ask, struct told *told)
{
	bool late = known->replied || known->answers > 0 || known->gone ||
	    (known->cancelled && !known->owed);
	/* What the requester has not read yet may be canceld's answer. */
	bool unsure = play->model.stalled[ask->by] || known->unsure || play->model.left > 0 ||
	    play->model.shut || (ask->by == SIDE_SERVER && play->model.deaf);

	told->dead = late && !(known->own && twin_of(play, known) != NULL);
	told->due = !late && !unsure;
	known->replied = true;
	if (play->model.stalled[SIDE_CLIENT] || play->model.stalled[SIDE_SERVER])
		/* a cancel may be on its way to who has answered, or a heartbeat to who is */
		known->unsure = true;
}

static void
hears_cancel(struct play *play, struct known *known, const struct ask *ask, struct told *told,
    enum act act)
{
	bool final = ask->flags & ASK_FINAL;
	bool strict = act == ACT_CANCEL && !(ask->flags & ASK_TURN);

	if (!is_open(known) || known->cancelled || final) {
		/*
		 * A turn that is told twice is harmless; and a prompt of the same session may go
		 * on.
		 */
		told->dead =
		    strict && !play->model.stalled[ask->by] && (!final || !protocol_of(play)->owes);
		return;
	}
	known->cancelled = true;
	known->owed = protocol_of(play)->owes || play->config.answer_cancelled;
	known->unsure |= play->model.stalled[ask->by];
}

/*
 * An answer or progress means the newest one that its writer knows by this name, and has not
 * answered.
 */
static int
named_by(const struct play *play, const struct event *event)
{
	const struct known *known = play->model.known, *meant = &known[event->of];

	for (int i = WORLD_ASKS; i-- > 0;)
		if (known[i].arrived && !known[i].replied && play->world->asks[i].by != event->by &&
		    (event->act == ACT_PROGRESS ? strcmp(known[i].token, meant->token) == 0 :
						  strcmp(known[i].wire, meant->wire) == 0))
			return i;
	return event->of;
}

void
judge_hears(struct play *play, int number)
{
	const struct event *event = &play->world->events[number];
	bool names = event->act == ACT_ANSWER || event->act == ACT_PROGRESS;
	int of = names ? named_by(play, event) : event->of;
	const struct ask *ask = &play->world->asks[of];
	struct known *known = &play->model.known[of];
	struct told *told = &play->model.told[number];
	bool strict = protocol_of(play)->strict_tokens;

	told->heard = true;
	told->of = (uint8_t)of;
	if (event->act == ACT_ASK) {
		known->asked = true;
	} else if (event->act == ACT_ANSWER) {
		hears_answer(play, known, ask, told);
	} else if (event->act == ACT_CANCEL || event->act == ACT_TURN) {
		told->of = (uint8_t)newest_of(play, event->of);
		hears_cancel(play, &play->model.known[told->of], ask, told, event->act);
		if (ask->flags & ASK_TURN) /* the server's requests in the turn end with it */
			for (size_t i = 0; i < WORLD_ASKS; i++)
				play->model.known[i].unsure |=
				    play->world->asks[i].by == SIDE_SERVER;
	} else if (event->act == ACT_PROGRESS) {
		told->dead = strict && (!is_open(known) || known->cancelled);
		told->due = is_open(known) && !known->cancelled && !known->unsure &&
		    !play->model.stalled[ask->by] && play->model.left == 0;
	} else {
		told->due =
		    event->by == SIDE_SERVER ? play->model.left == 0 : world_server_is_there(play);
	}
}

/* --- what a side reads: a message of the other side's */

static void
reads_request(struct play *play, const struct event *event, const char *text)
{
	const struct ask *asks = play->world->asks, *ask = &asks[event->of];
	struct known *known = &play->model.known[event->of];
	char id[24] = "", token[24] = "";

	if (!find_value(text, "id", id, sizeof(id)))
		world_blame(play, "3: a request arrives without its id: %s", text);
	if (ask->token != NULL && !find_value(text, "progressToken", token, sizeof(token)))
		(void)find_value(text, "workDoneToken", token, sizeof(token));
	for (int i = 0; i < WORLD_ASKS; i++) {
		const struct known *other = &play->model.known[i];

		if (other != known && asks[i].by == ask->by && other->arrived && !other->gone &&
		    !other->replied && !other->unsure && strcmp(other->wire, id) == 0 &&
		    protocol_of(play)->strict_tokens)
			world_blame(play, "1: two requests arrive under the id %s", id);
	}
	if (ask->flags & ASK_CANCELD)
		world_blame(play, "2: what only canceld is asked arrives: %s", text);
	if (known->cancelled && !known->unsure && !play->model.stalled[side_other(ask->by)] &&
	    known->answers > 0)
		world_blame(play, "2: a request arrives that has ended: %s", text);
	known->arrived = (uint8_t)(1 + (event->by == SIDE_CLIENT ? play->model.life : 0));
	if (ask->by == SIDE_CLIENT)
		known->gone = false;
	memcpy(known->wire, id, sizeof(id));
	memcpy(known->token, token, sizeof(token));
}

static void
reads_answer(struct play *play, struct known *known, const char *text)
{
	struct known *twin = known->own ? twin_of(play, known) : NULL;

	if (twin != NULL) {
		twin->answers = twin->own = true;
		known->answers = known->own = false;
	}
	if (known->answers > 0)
		world_blame(play, "1: a request is answered twice, %s: %s",
		    known->own ? "and by canceld" : "by its receiver", text);
	known->answers++;
}

static void
is_told(struct play *play, struct known *known, const char *text)
{
	if (known->cancels > 0)
		world_blame(play, "2: a cancel arrives twice: %s", text);
	if (known->replied && !known->unsure)
		world_blame(play, "2: a cancel arrives for what was answered: %s", text);
	known->cancels = 1;
}

static void
turn_is_told(struct play *play, const char *text)
{
	for (int i = 0; i < WORLD_ASKS; i++)
		if (play->world->asks[i].flags & ASK_TURN && play->model.known[i].arrived)
			play->model.known[i].turns = 1;
	if (!strstr(text, "\"sessionId\""))
		world_blame(play, "2: no session is cancelled: %s", text);
}

static void
reads_labelled(struct play *play, enum side side, int number, const char *text)
{
	const struct event *event = &play->world->events[number];
	struct told *told = &play->model.told[number];
	const struct ask *ask = &play->world->asks[told->of];
	struct known *known = &play->model.known[told->of];
	bool to_requester = ask->by == side;
	const char *token = ask->token == NULL ? "" : to_requester ? ask->token : known->token;

	if (event->by == side)
		world_blame(play, "3: a message comes back: %s", text);
	if (told->arrived && !(event->act == ACT_ASK && known->gone))
		world_blame(play, "1: a message arrives twice: %s", text);
	if (told->dead)
		world_blame(play, "%s",
		    event->act == ACT_CANCEL ? "2: a cancel arrives of what has ended" :
					       "1: a late message arrives");
	told->arrived = true;
	if (event->act == ACT_ASK)
		reads_request(play, event, text);
	else if (event->act == ACT_ANSWER)
		reads_answer(play, known, text);
	else if (event->act == ACT_CANCEL)
		is_told(play, known, text);
	else if (event->act == ACT_TURN)
		turn_is_told(play, text);
	if (event->act == ACT_ASK && ask->token != NULL)
		token = known->token;
	if (strcmp(text, world_text(play, event, to_requester ? ask->id : known->wire, token)) != 0)
		world_blame(play, "3: a message was changed: %s", text);
}

/* --- ... of canceld's own */

/* The request of that side's that its receiver knows by this id, and has not ended. */
static struct known *
find_wire(struct play *play, enum side by, const char *id)
{
	struct known *found = NULL;

	for (int i = 0; i < WORLD_ASKS; i++) {
		struct known *known = &play->model.known[i];

		if (play->world->asks[i].by == by && known->arrived &&
		    (!known->gone || by == SIDE_SERVER) && strcmp(known->wire, id) == 0 &&
		    (found == NULL || found->replied || found->cancels > 0))
			found = known;
	}
	return found;
}

/* Which of several requests with one id canceld answers. */
static int
likeliness(const struct known *known)
{
	return 4 * (!known->cancelled || known->owed) + 2 * !known->replied + (known->cancels > 0);
}

static void
reads_own_answer(struct play *play, enum side side, const char *text)
{
	struct known *found = NULL;
	bool named = false;
	char id[24] = "";

	(void)find_value(text, "id", id, sizeof(id));
	for (int i = 0; i < WORLD_ASKS; i++) {
		const struct ask *ask = &play->world->asks[i];
		struct known *known = &play->model.known[i];
		bool awaits = known->asked && known->answers == 0 &&
		    (!known->cancelled || known->owed || known->unsure || play->model.left > 0);

		if (ask->id == NULL || ask->by != side || strcmp(ask->id, id) != 0)
			continue;
		named = true;
		if (awaits && found != NULL && !known->replied && !found->replied)
			found->unsure = known->unsure = true; /* it may be the answer to either */
		if (awaits && (found == NULL || likeliness(known) > likeliness(found)))
			found = known;
		if (awaits && (ask->flags & ASK_CANCELD) &&
		    is_open(&play->model.known[ask->after - 1]) &&
		    play->model.known[ask->after - 1].own == 0 &&
		    !play->model.known[ask->after - 1].replied &&
		    play->model.known[ask->after - 1].cancelled &&
		    play->model.known[ask->after - 1].owed)
			world_blame(play,
			    "1: a cancel is acknowledged before its request has ended: %s", text);
	}
	if (found == NULL) {
		world_blame(play, "1: canceld answers %s: %s",
		    named ? "what has ended or is answered" : "nobody", text);
		return;
	}
	found->answers++;
	found->own = true;
}

static void
reads_own_cancel(struct play *play, enum side side, const char *text, const char *key)
{
	struct known *known;
	char id[24] = "";

	if (!find_value(strstr(text, "\"params\""), key, id, sizeof(id)))
		world_blame(play, "2: a cancel has no %s: %s", key, text);
	known = find_wire(play, side_other(side), id);
	if (known == NULL)
		world_blame(play, "2: a cancel arrives for an unknown request: %s", text);
	else
		is_told(play, known, text);
	for (int i = 0; i < WORLD_ASKS; i++)
		if (known == &play->model.known[i] && (play->world->asks[i].flags & ASK_FINAL))
			world_blame(play, "2: a cancel arrives that the protocol forbids: %s",
			    text);
}

static void
reads_own_progress(struct play *play, const char *text)
{
	char token[24] = "";
	bool open = false;

	if (!find_value(text, protocol_of(play)->progress_key, token, sizeof(token)))
		world_blame(play, "3: progress has no token: %s", text);
	for (int i = 0; i < WORLD_ASKS; i++) {
		const struct ask *ask = &play->world->asks[i];
		const struct known *known = &play->model.known[i];

		open |= ask->by == SIDE_CLIENT && ask->token != NULL &&
		    strcmp(ask->token, token) == 0 && known->answers == 0 &&
		    (known->unsure || (is_open(known) && !known->cancelled));
	}
	if (!open)
		world_blame(play, "1: the client is told of a request that has ended: %s", text);
}

/* A question of canceld's own, or a message that it repeats to a new server. */
static void
reads_own_question(struct play *play, const char *text, const char *id)
{
	struct model *model = &play->model;

	if (find_wire(play, SIDE_CLIENT, id) != NULL && !find_wire(play, SIDE_CLIENT, id)->replied)
		world_blame(play, "1: canceld asks under an id that is in use: %s", text);
	if (model->own_count == WORLD_OWN) {
		world_blame(play, "2: canceld asks too much: %s", text);
		return;
	}
	model->own_opens[model->own_count] = strstr(text, "initialize\"") != NULL;
	memcpy(model->own[model->own_count++], id, sizeof(model->own[0]));
}

/* ACP v2: the agent has gone, and its turn runs no more. */
static void
reads_end_of_turn(struct play *play, const char *text)
{
	bool begun = false;

	for (int i = 0; i < WORLD_ASKS; i++)
		begun |= play->world->asks[i].flags & ASK_TURN && play->model.known[i].replied;
	if (!begun)
		world_blame(play, "1: a turn has ended that never began: %s", text);
}

static void
reads_own(struct play *play, enum side side, const char *text)
{
	const struct protocol *protocol = protocol_of(play);
	char method[64] = "", id[24] = "";

	if (side == SIDE_CLIENT && strstr(text, "\"state_update\"")) {
		reads_end_of_turn(play, text);
		return;
	}
	/* An error names a method too. */
	if (strstr(text, "\"result\":") || strstr(text, "\"error\":") ||
	    !find_value(text, "method", method, sizeof(method))) {
		reads_own_answer(play, side, text);
		return;
	}
	method[strlen(method) - 1] = '\0';
	if (strcmp(method + 1, protocol_cancels[protocol->spelling]) == 0)
		reads_own_cancel(play, side, text, protocol_keys[protocol->spelling]);
	else if (strcmp(method + 1, "session/cancel") == 0)
		turn_is_told(play, text);
	else if (side == SIDE_CLIENT && protocol->progress != NULL &&
	    strcmp(method + 1, protocol->progress) == 0)
		reads_own_progress(play, text);
	else if (side == SIDE_SERVER && find_value(text, "id", id, sizeof(id)))
		reads_own_question(play, text, id);
}

void
judge_reads(struct play *play, enum side side, const char *text)
{
	int number = world_label(text);
	json_t *json = NULL;

	if (!play->opened)
		return;
	if (play->strict && (json = json_loads(text, 0, NULL)) == NULL)
		world_blame(play, "3: what arrives is no JSON: %s", text);
	json_decref(json);
	if (number >= 0)
		reads_labelled(play, side, number, text);
	else
		reads_own(play, side, text);
}

/* --- ends */

void
judge_lost(struct play *play)
{
	for (int i = 0; i < WORLD_ASKS; i++) {
		struct known *known = &play->model.known[i];

		if (play->world->asks[i].by == SIDE_SERVER || known->arrived)
			known->gone = known->asked;
	}
}

/* While the client asks a person for the server, its own requests do not idle. */
static bool
asks_person(const struct play *play)
{
	bool asks = false;

	for (int i = 0; i < WORLD_ASKS; i++) {
		const struct known *known = &play->model.known[i];

		asks |= (play->world->asks[i].flags & ASK_PERSON) && known->asked &&
		    !known->replied && !known->cancelled;
	}
	return asks;
}

/* canceld may send no cancel before the session is open. */
static bool
is_opening(const struct play *play)
{
	bool opening = false;

	for (int i = 0; i < WORLD_ASKS; i++)
		opening |= (play->world->asks[i].flags & ASK_FINAL) && play->model.known[i].asked &&
		    !play->model.known[i].replied;
	return opening;
}

static bool
is_awaited(const struct play *play, const struct ask *ask, const struct known *known)
{
	return ask->by == SIDE_CLIENT && known->asked && known->answers == 0 &&
	    (!known->cancelled || known->owed) &&
	    (play->model.left == 0 || play->model.left == 1 + LEAVE_DRAIN);
}

/* The server has to be ended, and with one that never answered the handshake the session. */
static bool
is_doomed(const struct play *play)
{
	return play->session->server.life == SERVER_STUCK || play->session->server.hung;
}

/* The receiver works on what nobody waits for, and could have been told. */
static bool
is_untold(const struct play *play, const struct ask *ask, const struct known *known)
{
	bool moot =
	    known->cancelled || known->own || (ask->by == SIDE_CLIENT && play->model.left > 0);
	bool able = ask->by == SIDE_SERVER ? play->model.left == 0 :
					     world_server_is_there(play) && !play->model.deaf &&
		!play->model.shut && !is_doomed(play) && !is_opening(play);

	return known->arrived && !known->gone && !known->replied && moot && able &&
	    !known->unsure && !(ask->flags & (ASK_FINAL | ASK_CANCELD)) &&
	    protocol_of(play)->cancels && known->cancels + known->turns == 0;
}

/* The server has asked a client that has left. */
static bool
is_unanswerable(const struct play *play, const struct ask *ask, const struct known *known)
{
	return ask->by == SIDE_SERVER && known->asked && known->answers == 0 && !known->replied &&
	    (!known->cancelled || known->owed) && !known->gone && !known->unsure &&
	    play->model.left > 0 && world_server_is_there(play) && !play->model.deaf &&
	    !play->model.shut && !is_doomed(play);
}

void
judge_awaited(struct play *play)
{
	for (int i = 0; i < WORLD_ASKS; i++) {
		const struct ask *ask = &play->world->asks[i];

		if (is_awaited(play, ask, &play->model.known[i]) &&
		    !(ask->flags & (ASK_EXEMPT | ASK_CANCELD)) && !is_doomed(play) &&
		    !play->model.away && !(asks_person(play) && !(ask->flags & ASK_CAPPED)))
			world_blame(play, "1: the request %s is never answered", ask->id);
	}
}

void
judge_silence(struct play *play)
{
	const struct model *model = &play->model;

	judge_awaited(play);
	for (int i = 0; i < WORLD_ASKS; i++) {
		const struct ask *ask = &play->world->asks[i];

		if (is_unanswerable(play, ask, &model->known[i]))
			world_blame(play, "1: the server's request %s is never answered", ask->id);
		if (is_untold(play, ask, &model->known[i]))
			world_blame(play,
			    "2: the receiver of %s is never told that nobody waits for it",
			    ask->id);
	}
	for (int i = 0; i < WORLD_EVENTS; i++) {
		const struct event *event = &play->world->events[i];
		const struct ask *ask = &play->world->asks[event->of];
		bool relevant =
		    model->left == 0 && (event->by == SIDE_SERVER || world_server_is_there(play));

		if (model->told[i].due && !model->told[i].arrived && relevant &&
		    !(event->act != ACT_NOTICE && event->by == SIDE_CLIENT &&
			model->known[event->of].gone))
			world_blame(play, "5: the message %c about %s never arrives",
			    (char)('A' + i), ask->id);
	}
}

void
judge_end(struct play *play)
{
	for (int i = 0; i < WORLD_ASKS; i++)
		if (is_awaited(play, &play->world->asks[i], &play->model.known[i]))
			world_blame(play, "1: the session ends, and the request %s is not answered",
			    play->world->asks[i].id);
}
