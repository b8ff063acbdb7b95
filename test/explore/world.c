/* Plays the events of a world, one after the other, as a round of the shell each. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/session/state.h"
#include "digest.h"
#include "explore.h"
#include "scenario/option.h"

enum { START = 1000000007, RESTLESS = 1000, FEW = 12, LONG = 60 * 60 * 1000 };

void
world_blame(struct play *play, const char *format, ...)
{
	va_list arguments;

	if (play->verdict[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(play->verdict, sizeof(play->verdict), format, arguments);
	va_end(arguments);
}

bool
world_server_is_there(const struct play *play)
{
	return !play->model.away && !play->model.gone;
}

/* --- texts */

static char *
finish(struct buf *buf)
{
	buf_append(buf, (struct span){ "", 1 });
	return buf->data + buf->head;
}

const char *
world_text(struct play *play, const struct event *event, const char *id, const char *token)
{
	char label[16];

	snprintf(label, sizeof(label), "\"q\":\"%c\"", (char)('A' + (event - play->world->events)));
	buf_clear(&play->text);
	for (const char *at = event->text; *at != '\0'; at++) {
		bool mark = *at == '$' && at[1] != '\0' && strchr("12q", at[1]) != NULL;

		if (!mark)
			buf_append(&play->text, (struct span){ at, 1 });
		else
			buf_append(&play->text,
			    span_of(*++at == '1' ? id :
				    *at == '2'   ? token :
						   label));
	}
	return finish(&play->text);
}

int
world_label(const char *text)
{
	const char *found = strstr(text, "\"q\":\"");

	return found == NULL ? -1 : found[5] - 'A';
}

/* --- what the peers read */

static void say(const struct play *play, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
say(const struct play *play, const char *format, ...)
{
	va_list arguments;

	if (!play->script)
		return;
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}

static void
reads_message(struct play *play, enum side side, const char *text)
{
	if (play->script) {
		buf_append(&play->reads[side], span_of(text));
		buf_append(&play->reads[side], SPAN("\n"));
	}
	judge_reads(play, side, text);
}

/* Takes the next whole message off what the side has read. */
static bool
next_message(struct play *play, enum side side, struct buf *message)
{
	struct span bytes = buf_span(&play->seen[side]);
	const char *end;
	size_t head = 0, len;
	char wanted[64];

	if (!protocols[play->world->protocol].header) {
		end = bytes.len == 0 ? NULL : memchr(bytes.ptr, '\n', bytes.len);
		if (end == NULL)
			return false;
		len = (size_t)(end - bytes.ptr);
	} else {
		end = bytes.len == 0 ? NULL : memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4);
		if (end == NULL)
			return false;
		head = (size_t)(end + 4 - bytes.ptr);
		len = strtoul(bytes.ptr + strlen("Content-Length: "), NULL, 10);
		snprintf(wanted, sizeof(wanted), "Content-Length: %zu\r\n\r\n", len);
		if (!span_equal(span_head(bytes, head), span_of(wanted)))
			world_blame(play, "3: the header is not one");
		if (bytes.len < head + len)
			return false;
	}
	buf_set(message, span_part(bytes, head, len));
	buf_consume(&play->seen[side], head + len + (head == 0));
	return true;
}

static void
take(struct play *play, enum side side, size_t most)
{
	struct lane *lane = session_lane(play->session, side_other(side));
	struct buf message = { 0 };
	struct span spans[4];

	while (most > 0) {
		size_t total = 0;
		int count = lane_output(lane, spans, 4);

		for (int i = 0; i < count && total < most; i++) {
			spans[i] = span_head(spans[i], most - total);
			buf_append(&play->seen[side], spans[i]);
			total += spans[i].len;
		}
		if (total == 0)
			break;
		lane_sent(lane, total);
		most -= total;
	}
	while (next_message(play, side, &message))
		reads_message(play, side, finish(&message));
	buf_free(&message);
}

static bool
reads(const struct play *play, enum side side)
{
	if (side == SIDE_SERVER)
		return !play->model.stalled[side] && !play->model.deaf &&
		    world_server_is_there(play);
	return !play->model.stalled[side];
}

static void
drain(struct play *play)
{
	/* the judge first sees who is told */
	static const enum side order[] = { SIDE_SERVER, SIDE_CLIENT };

	for (int i = 0; i < 2; i++)
		if (reads(play, order[i]))
			take(play, order[i], SIZE_MAX);
}

static msec_t
wake(struct play *play)
{
	session_set_time(play->session, play->now);
	return session_sleep(play->session, false, MSEC_NEVER);
}

/* The end of a round. */
static void
end_round(struct play *play)
{
	drain(play);
	for (int rounds = 0; wake(play) <= play->now; rounds++) {
		if (rounds == RESTLESS) {
			world_blame(play, "4: canceld never rests");
			return;
		}
		session_set_time(play->session, play->now);
		session_expire(play->session, true);
		drain(play);
	}
	play->model.due = false;
}

/* --- events */

static void
hears(struct play *play, enum side side, const char *text)
{
	struct buf *bytes = &session_lane(play->session, side)->bytes;
	char head[64] = "";

	if (protocols[play->world->protocol].header)
		snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", strlen(text));
	buf_append(bytes, span_of(head));
	buf_append(bytes, span_of(text));
	if (head[0] == '\0')
		buf_append(bytes, SPAN("\n"));
	session_hear(play->session, side);
}

static void
message(struct play *play, int number)
{
	const struct event *event = &play->world->events[number];
	const struct ask *ask = &play->world->asks[event->of];
	const struct known *known = &play->model.known[event->of];
	bool own = event->by == ask->by;
	const char *text = world_text(play, event, own ? ask->id : known->wire,
	    own || known->token[0] == '\0' ? ask->token : known->token);

	say(play, "%s > %s\n", side_name(event->by), text);
	hears(play, event->by, text);
	judge_hears(play, number);
}

/* The server answers a question of canceld's own. */
static void
answers_own(struct play *play)
{
	struct model *model = &play->model;
	char text[512];

	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", model->own[0],
	    model->own_opens[0] ? play->world->handshake : "{}");
	model->own_count--;
	memmove(model->own[0], model->own[1], sizeof(model->own) - sizeof(model->own[0]));
	memset(model->own[WORLD_OWN - 1], 0, sizeof(model->own[0]));
	memmove(model->own_opens, model->own_opens + 1, WORLD_OWN - 1);
	model->own_opens[WORLD_OWN - 1] = 0;
	say(play, "server > %s\n", text);
	hears(play, SIDE_SERVER, text);
}

static void
server_goes(struct play *play, bool last)
{
	say(play, "server ends\nserver %s\n", last ? "gone" : "lost");
	session_end_of_input(play->session, SIDE_SERVER);
	session_server_gone(play->session, -1, -1, last);
	buf_clear(&play->seen[SIDE_SERVER]);
	memset(play->model.own, 0, sizeof(play->model.own));
	memset(play->model.own_opens, 0, sizeof(play->model.own_opens));
	play->model.own_count = 0;
	play->model.stalled[SIDE_SERVER] = play->model.deaf = play->model.shut = false;
	*(last ? &play->model.gone : &play->model.away) = true;
	if (last)
		play->model.away = false;
	judge_lost(play);
}

static void
server_comes(struct play *play)
{
	say(play, "server back\n");
	play->model.away = false;
	play->model.life++;
	session_server_back(play->session);
}

static void
client_leaves(struct play *play, enum leaving leaving)
{
	static const char *const ways[] = { "cancel", "drain", "terminated" };

	say(play, "client ends\nclient leaves %s\n", ways[leaving]);
	play->model.left = (uint8_t)(1 + leaving);
	session_end_of_input(play->session, SIDE_CLIENT);
	session_client_leaves(play->session, leaving);
}

static void
passes(struct play *play)
{
	msec_t before = play->now;

	play->now = wake(play);
	play->model.due = true;
	for (int i = 0; i < WORLD_ASKS; i++) {
		struct known *known = &play->model.known[i];
		bool stalls = play->model.stalled[SIDE_CLIENT] || play->model.stalled[SIDE_SERVER];

		/* What nobody waits for, or has read, for so long is forgotten. */
		known->unsure |= play->now - before >= TIME_LINGER / 10 &&
		    (known->cancelled || known->own || stalls || play->model.left > 0);
	}
	play->model.ticks = (uint8_t)(play->model.ticks + (play->world->ticks > 0));
	say(play, "at %lld\n", (long long)(play->now - START));
}

static void
process(struct play *play, const struct event *event)
{
	switch (event->act) {
	case ACT_LEAVES:
		client_leaves(play, event->leaving);
		break;
	case ACT_GONE:
	case ACT_LOST:
		server_goes(play, event->act == ACT_GONE);
		break;
	case ACT_BACK:
		server_comes(play);
		break;
	case ACT_DEAF:
		say(play, "server deaf\n");
		play->model.deaf = true;
		session_server_deaf(play->session, false);
		break;
	case ACT_SHUT:
		say(play, "server shut\n");
		play->model.shut = true;
		session_server_shut(play->session);
		break;
	case ACT_NONE:
	case ACT_ASK:
	case ACT_ANSWER:
	case ACT_PROGRESS:
	case ACT_CANCEL:
	case ACT_TURN:
	case ACT_NOTICE:
	case ACT_OWN:
	case ACT_STALLS:
	case ACT_TAKES:
	case ACT_RESUMES:
	case ACT_TICK:
	case ACT_EXPIRE:
		abort();
	}
}

static void
stall(struct play *play, const struct event *event)
{
	bool stalls = event->act == ACT_STALLS;

	if (event->act == ACT_TAKES) {
		say(play, "%s takes %d\n", side_name(event->by), FEW);
		take(play, event->by, FEW);
		for (int i = 0; i < WORLD_ASKS; i++) /* what is begun is written to its end */
			play->model.known[i].unsure |=
			    play->model.known[i].asked && !play->model.known[i].arrived;
		return;
	}
	say(play, "%s %s\n", side_name(event->by), stalls ? "stalls" : "resumes");
	play->model.stalled[event->by] = stalls;
}

/* The lines of a scenario for what came of the event. */
static void
tell(struct play *play)
{
	bool silent = true;

	if (!play->script)
		return;
	for (int side = SIDE_SERVER; side >= SIDE_CLIENT; side--) {
		char *line = play->reads[side].len == 0 ? NULL : finish(&play->reads[side]);

		for (line = line == NULL ? NULL : strtok(line, "\n"); line != NULL;
		     line = strtok(NULL, "\n"), silent = false)
			printf("%s < %s\n", side_name((enum side)side), line);
		buf_clear(&play->reads[side]);
	}
	if (play->words.len > 0)
		printf("why%.*s\n", (int)play->words.len, buf_span(&play->words).ptr);
	else if (silent)
		printf("server < nothing\n");
	buf_clear(&play->words);
}

static void
on_action(void *user, const struct action *action)
{
	struct play *play = user;

	if (action->verb == VERB_END || action->why == WHY_RELAYED)
		return;
	buf_append(&play->words, SPAN(" "));
	buf_append(&play->words, span_of(why_word(action->why)));
}

void
world_step(struct play *play, int number)
{
	const struct event *event = &play->world->events[number];
	enum act act = event->act;

	session_set_time(play->session, play->now);
	/* which happen as often as they may */
	if (act != ACT_TICK && act != ACT_EXPIRE && act != ACT_OWN)
		play->model.done |= 1u << number;
	if (act == ACT_TICK) {
		passes(play);
		return;
	}
	if (act >= ACT_ASK && act <= ACT_NOTICE)
		message(play, number);
	else if (act == ACT_OWN)
		answers_own(play);
	else if (act >= ACT_STALLS && act <= ACT_RESUMES)
		stall(play, event);
	else if (act != ACT_EXPIRE)
		process(play, event);
	end_round(play);
	tell(play);
}

/* Whether the peer is there, and knows of the request what it needs. */
static bool
may_write(const struct play *play, const struct event *event)
{
	const struct known *known = &play->model.known[event->of];
	const struct ask *ask = &play->world->asks[event->of];
	bool own = ask->by == event->by;

	if (event->by == SIDE_CLIENT ? play->model.left > 0 : !world_server_is_there(play))
		return false;
	if (event->act == ACT_ASK)
		return ask->after == 0 || play->model.known[ask->after - 1].asked;
	if (event->act == ACT_NOTICE)
		return true;
	if (own)
		return known->asked && !(known->gone && event->by == SIDE_SERVER);
	return known->arrived && (!known->gone || ask->by == SIDE_SERVER);
}

static bool
may_happen(const struct play *play, const struct event *event)
{
	const struct model *model = &play->model;
	bool there = world_server_is_there(play),
	     stuck = session_view(play->session).server->life == SERVER_STUCK;
	struct span output;

	switch (event->act) {
	case ACT_OWN:
		return there && model->own_count > 0;
	case ACT_STALLS:
		return !model->stalled[event->by] && (event->by == SIDE_CLIENT || there);
	case ACT_TAKES:
		return model->stalled[event->by] &&
		    lane_output(session_lane(play->session, side_other(event->by)), &output, 1) > 0;
	case ACT_RESUMES:
		return model->stalled[event->by];
	case ACT_LEAVES:
		return model->left == 0;
	case ACT_GONE:
		return !model->gone;
	case ACT_LOST:
		return there && (stuck || session_cannot_restart(play->session) == NULL);
	case ACT_BACK:
		return model->away;
	case ACT_DEAF:
	case ACT_SHUT:
		return there && !model->deaf && !stuck && !model->shut &&
		    session_view(play->session).server->life == SERVER_OPEN;
	case ACT_NONE:
	case ACT_ASK:
	case ACT_ANSWER:
	case ACT_PROGRESS:
	case ACT_CANCEL:
	case ACT_TURN:
	case ACT_NOTICE:
	case ACT_TICK:
	case ACT_EXPIRE:
		break;
	}
	return false;
}

bool
world_may(const struct play *play, int number)
{
	const struct event *event = &play->world->events[number];
	const struct model *model = &play->model;

	if (event->act == ACT_TICK) /* the wake is asked for again, but nothing changes with that */
		return !model->due &&
		    (play->world->ticks == 0 || model->ticks < play->world->ticks) &&
		    session_sleep(play->session, false, MSEC_NEVER) != MSEC_NEVER;
	if (event->act == ACT_EXPIRE)
		return model->due;
	if (event->act != ACT_OWN && (model->done & 1u << number))
		return false;
	if (event->act >= ACT_ASK && event->act <= ACT_NOTICE)
		return may_write(play, event);
	return may_happen(play, event);
}

/* --- the beginning and the end */

static void
read_options(struct play *play, const char *text)
{
	struct scenario scenario = { .config = { .grace = MSEC_NEVER,
					 .max_message = LIMIT_MESSAGE,
					 .max_inflight = LIMIT_INFLIGHT } };
	char copy[256], *word;
	struct policy *policy = &play->policy;

	snprintf(copy, sizeof(copy), "dialect=%s %s", play->world->dialect, text);
	for (word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
		if (!option_read(&scenario, span_of(word)))
			abort();
	for (size_t i = 0; i < scenario.option_count; i++) {
		struct option *option = &scenario.options[i];
		struct span method = option->method ? span_of(option->method) : SPAN_NONE;
		struct span name = option->name ? span_of(option->name) : SPAN_NONE;

		policy_add(policy, POLICY_OPTION, option->kind, method, name, option->duration,
		    SPAN_NONE);
		policy->rules[i].origin = "options";
		free(option->method);
		free(option->name);
	}
	free(scenario.options);
	play->config = scenario.config;
	play->config.policy = policy;
}

void
world_begin(struct play *play, const struct world *world, bool script)
{
	memset(play, 0, sizeof(*play));
	play->world = world;
	play->now = START;
	play->script = script;
	read_options(play, world->options);
	say(play, "scenario %s\noptions dialect=%s %s\n%s", world->name, world->dialect,
	    world->options, protocols[world->protocol].header ? "framing header\n" : "");
	play->session = session_new(&play->config, script ? on_action : NULL, play, START);
	for (const char *const *line = world->opening; *line != NULL; line++) {
		enum side side = **line == 'c' ? SIDE_CLIENT : SIDE_SERVER;

		say(play, "%s > %s\n", side_name(side), *line + 1);
		session_set_time(play->session, play->now);
		hears(play, side, *line + 1);
		end_round(play);
		tell(play);
	}
	play->opened = true;
}

void
world_end(struct play *play)
{
	session_free(play->session);
	policy_free(&play->policy);
	buf_free(&play->text);
	buf_free(&play->words);
	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		buf_free(&play->seen[side]);
		buf_free(&play->reads[side]);
	}
}

/* An hour passes, or less: until nothing is due, or the server has to be ended. */
static void
runs_out(struct play *play)
{
	msec_t at, end = play->now + LONG;

	for (int rounds = 0; rounds < RESTLESS && (at = wake(play)) < end; rounds++) {
		if (session_view(play->session).server->life == SERVER_STUCK)
			break;
		if (at > play->now)
			say(play, "at %lld\n", (long long)(at - START));
		play->now = at > play->now ? at : play->now;
		end_round(play);
		tell(play);
		if (play->config.heartbeat > 0 && rounds > 8)
			/* they go on as long as something is open */
			play->session->config.heartbeat = MSEC_NEVER;
	}
}

void
world_stays_stalled(struct play *play)
{
	play->model.stalled[SIDE_CLIENT] = false;
	end_round(play);
	runs_out(play);
	judge_awaited(play);
}

void
world_silence(struct play *play)
{
	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		if (play->model.stalled[side])
			say(play, "%s resumes\n", side_name(side));
		play->model.stalled[side] = false;
	}
	end_round(play);
	tell(play);
	runs_out(play);
	judge_silence(play);
	if (!play->model.gone)
		server_goes(play, true);
	end_round(play);
	tell(play);
	judge_end(play);
	if (play->model.left == 0 || play->model.left == 1 + LEAVE_DRAIN)
		client_leaves(play, LEAVE_CANCEL);
	end_round(play);
	tell(play);
	runs_out(play);
	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		const struct party *party = &play->session->party[side];

		if (party->pending.count + party->tasks.count + party->questions.count > 0)
			world_blame(play, "4: all have left, and something is in a table");
		if (lane_size(party->lane) > 0)
			world_blame(play, "4: all have left, and a lane has bytes");
	}
	if (play->session->turns.count > 0 || play->session->client.acks != NULL)
		world_blame(play, "4: all have left, and turns or acknowledgements are kept");
}

void
world_digest(const struct play *play, struct buf *out)
{
	buf_clear(out);
	buf_append(out, (struct span){ (const char *)&play->model, sizeof(play->model) });
	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		buf_append(out, buf_span(&play->seen[side]));
		buf_append(out, SPAN("|"));
	}
	digest_session(play->session, out);
}
