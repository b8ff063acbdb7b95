#include "golden.h"
#include "scenario/play_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/session.h"
#include "scenario/match.h"
#include "scenario/vocabulary.h"

enum {
	START = 1000000007, /* no result may depend on a clock that starts at 0 */
	RESTLESS = 1000,    /* wakes at the same time */
};

static void
trace(const struct play *play, const char *what, struct span bytes)
{
	struct buf line;

	if (!play->setup->trace)
		return;
	line = (struct buf){ 0 };
	match_show(&line, bytes);
	printf("%8lld  %-12s %.*s\n", (long long)play->now, what, (int)line.len, line.data);
	buf_free(&line);
}

static void
on_action(void *user, const struct action *action)
{
	struct play *play = user;
	struct span word = { why_word(action->why), strlen(why_word(action->why)) };

	golden_decided(action);
	if (action->verb == VERB_END)
		return;
	play->counts[action->why]++;
	trace(play, "         why", word);
	if (action->why != WHY_RELAYED)
		actions_add(play->actions, action);
}

/* The lane that the side reads from. */
static struct lane *
lane_to(struct play *play, enum side side)
{
	return session_lane(play->session, side == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT);
}

static void
take(struct play *play, enum side side, size_t most)
{
	struct reader *reader = &play->readers[side];
	struct span spans[4];

	while (most > 0) {
		size_t total = 0;
		int i, n = lane_output(lane_to(play, side), spans, 4);

		for (i = 0; i < n && total < most; i++) {
			if (spans[i].len > most - total)
				spans[i].len = most - total;
			golden_wrote(side, spans[i]);
			buf_append(&reader->seen, spans[i]);
			buf_append(&reader->unasked, spans[i]);
			trace(play, side == SIDE_CLIENT ? "client   <" : "  server <", spans[i]);
			total += spans[i].len;
		}
		if (total == 0)
			return;
		lane_sent(lane_to(play, side), total);
		most -= total;
	}
}

static void
drain(struct play *play)
{
	enum side side;

	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		if (!play->readers[side].stalled)
			take(play, side, SIZE_MAX);
		filler_remove(&play->readers[side].seen, play->scenario->framing);
	}
}

static void
tell_time(struct play *play)
{
	session_set_time(play->session, START + play->now);
}

static msec_t
wake(struct play *play)
{
	bool holds = play->readers[SIDE_SERVER].holds;
	msec_t at;

	tell_time(play);
	at = session_sleep(play->session, holds, MSEC_NEVER);
	return at == MSEC_NEVER ? MSEC_NEVER : at - START;
}

static void
expire(struct play *play)
{
	tell_time(play);
	session_expire(play->session, !play->readers[SIDE_SERVER].holds);
	drain(play);
}

/* The end of a round: expires what is due, after all bytes that have arrived were heard. */
static void
end_round(struct play *play)
{
	int rounds;

	for (rounds = 0; wake(play) <= play->now; rounds++) {
		if (rounds == RESTLESS) {
			play_fail(play, play->line,
			    "canceld wants to be woken at %lld again and again",
			    (long long)play->now);
			return;
		}
		expire(play);
	}
}

static void
hear_piece(struct play *play, enum side side, struct span bytes)
{
	buf_append(&session_lane(play->session, side)->bytes, bytes);
	session_hear(play->session, side);
}

static void
hear(struct play *play, enum side side, struct span bytes)
{
	size_t piece = bytes.len, at = 0;

	if (play->setup->split == SPLIT_BYTES)
		piece = 1;
	else if (play->setup->split == SPLIT_MIDDLE && bytes.len > 1)
		piece = bytes.len / 2;
	while (at < bytes.len) {
		size_t len = piece < bytes.len - at ? piece : bytes.len - at;

		hear_piece(play, side, span_part(bytes, at, len));
		drain(play);
		at += len;
	}
}

static void
on_send(struct play *play, const struct line *line)
{
	struct reader *reader = &play->readers[line->side];
	struct buf sent = { 0 };

	if (line->exact)
		buf_append(&sent, buf_span(&line->text));
	else
		filler_add(play->setup->filler, line->framing, buf_span(&line->text), &sent);
	trace(play, line->side == SIDE_CLIENT ? "client >" : "  server >", buf_span(&sent));
	if (reader->holds)
		buf_append(&reader->unread, buf_span(&sent));
	else
		hear(play, line->side, buf_span(&sent));
	buf_free(&sent);
}

static void
on_read(struct play *play, const struct line *line)
{
	struct reader *reader = &play->readers[line->side];

	reader->holds = line->kind == LINE_UNREAD;
	if (reader->holds)
		return;
	hear(play, line->side, buf_span(&reader->unread));
	buf_clear(&reader->unread);
}

/* Lets time pass until `to`; an action on the way is one that no line asked for. */
static void
pass_time(struct play *play, msec_t to)
{
	msec_t at;
	int rounds = 0;

	while ((at = wake(play)) < to && rounds++ < RESTLESS && !play->verdict->failed) {
		if (at > play->now) {
			play->now = at;
			rounds = 0;
		}
		expire(play);
		play_check_silence(play);
		play_check_words(play);
	}
	play->now = to;
}

static void
on_at(struct play *play, const struct line *line)
{
	if (line->value < play->now)
		play_fail(play, line, "expected a time after %lld", (long long)play->now);
	end_round(play);
	play_check_silence(play);
	if (line->kind == LINE_AT)
		pass_time(play, line->value);
	else
		(void)wake(play);
	play->now = line->value;
}

static void
on_gone(struct play *play, const struct line *line)
{
	int number = (int)line->value;
	int status = line->exact ? -1 : number, signal = line->exact ? number : -1;

	session_server_gone(play->session, status, signal, line->kind != LINE_LOST);
}

/* What the shell does as the server ends, or comes back. */
static void
on_server(struct play *play, const struct line *line)
{
	struct session *session = play->session;

	if (line->kind == LINE_BACK)
		session_server_back(session);
	else if (line->kind == LINE_HOPELESS)
		session_explain(session, "it has failed too often (see --restart)");
	else if (line->kind == LINE_QUOTE)
		session_quote(session, buf_span(&line->text));
	else if (line->kind == LINE_SHUT)
		session_server_shut(session);
	else if (line->kind == LINE_DEAF || line->kind == LINE_RETIRES)
		session_server_deaf(session, line->kind == LINE_RETIRES);
	else
		on_gone(play, line);
}

static void
on_operate(struct play *play, const struct line *line)
{
	struct session *session = play->session;
	struct span rest = buf_span(&line->text), id = vocabulary_word(&rest);
	bool done = false;
	struct buf reason;

	reason = (struct buf){ 0 };
	if (rest.len == 0 || vocabulary_unquote(rest, &reason))
		done = session_cancel(session, line->side, id, 0, buf_span(&reason)) ==
		    CANCELLING_DONE;
	buf_free(&reason);
	if (done == line->exact)
		play_fail(play, line, "a person %s cancel that\n",
		    line->exact ? "could" : "could not");
}

static void
on_set(struct play *play, const struct line *line)
{
	struct session *session = play->session;
	struct policy_rule rule = {
		.source = POLICY_SET,
		.kind = line->rule.kind,
		.method = line->rule.method,
		.name = line->rule.name,
		.value = line->rule.duration,
		.origin = "cancelctl set",
	};
	size_t changed;
	bool taken = session_set(session, &rule, line->value >= 0, &changed);

	if (!taken || (line->value >= 0 && changed != (size_t)line->value))
		play_fail(play, line, "%zu requests were changed\n", changed);
}

/* A person asks the server, or has it started again. */
static void
on_wish(struct play *play, const struct line *line)
{
	const char *obstacle = line->kind == LINE_PING ?
	    session_ping(play->session) :
	    session_restart(play->session, line->exact);

	obstacle = obstacle == NULL ? "yes" : obstacle;
	if (!span_equal(buf_span(&line->text), span_of(obstacle)))
		play_fail(play, line, "expected %.*s, it is %s", (int)line->text.len,
		    line->text.data, obstacle);
}

static void
on_person(struct play *play, const struct line *line)
{
	if (line->kind == LINE_OPERATE)
		on_operate(play, line);
	else if (line->kind == LINE_SET)
		on_set(play, line);
	else
		on_wish(play, line);
}

/* What the shell tells the lane of a server that has gone. */
static void
on_miss(struct play *play, const struct line *line)
{
	struct reader *reader = &play->readers[line->side];

	lane_to(play, line->side)->unread = (unsigned)reader->unasked.len;
	buf_clear(&reader->unasked);
	buf_clear(&reader->seen);
}

/* Carries out a line that does something to canceld. */
static void
act(struct play *play, const struct line *line)
{
	tell_time(play);
	switch (line->kind) {
	case LINE_SEND:
		on_send(play, line);
		break;
	case LINE_AT:
	case LINE_ASLEEP:
		on_at(play, line);
		break;
	case LINE_STALL:
	case LINE_RESUME:
		play->readers[line->side].stalled = line->kind == LINE_STALL;
		break;
	case LINE_TAKE:
		take(play, line->side, (size_t)line->value);
		break;
	case LINE_UNREAD:
	case LINE_READ:
		on_read(play, line);
		break;
	case LINE_END:
		session_end_of_input(play->session, line->side);
		break;
	case LINE_LEAVE:
		session_client_leaves(play->session, (enum leaving)line->value);
		break;
	case LINE_LOST:
	case LINE_GONE:
	case LINE_BACK:
	case LINE_HOPELESS:
	case LINE_QUOTE:
	case LINE_DEAF:
	case LINE_RETIRES:
	case LINE_SHUT:
		on_server(play, line);
		break;
	case LINE_OPERATE:
	case LINE_SET:
	case LINE_PING:
	case LINE_DISMISS:
		on_person(play, line);
		break;
	case LINE_MISS:
	case LINE_SEE:
	case LINE_NOTHING:
	case LINE_WHY:
	case LINE_SAYS:
	case LINE_OUTSTANDING:
	case LINE_REQUESTED:
	case LINE_REFUSALS:
	case LINE_TALLY:
	case LINE_WANTS_END:
	case LINE_STUCK:
	case LINE_RESTART:
	case LINE_VERDICT:
		break;
	}
	drain(play);
}

static void
play_line(struct play *play, const struct line *line)
{
	play->line = line;
	if (play_asks(line)) {
		end_round(play);
		play_ask(play, line);
		play->asked = true;
		return;
	}
	if (line->kind == LINE_MISS) {
		on_miss(play, line);
		return;
	}
	if (play->asked)
		play_check_silence(play);
	play->asked = false;
	play->stimulus = line;
	act(play, line);
}

static void
start(struct play *play, struct policy *policy, struct session_config *config)
{
	const struct scenario *scenario = play->scenario;
	size_t i;

	for (i = 0; i < scenario->option_count; i++) {
		const struct option *option = &scenario->options[i];
		struct span method = option->method ? span_of(option->method) : SPAN_NONE;
		struct span name = option->name ? span_of(option->name) : SPAN_NONE;

		policy_add(policy, POLICY_OPTION, option->kind, method, name, option->duration,
		    option->result ? span_of(option->result) : SPAN_NONE);
		policy_name(policy, "options");
	}
	*config = scenario->config;
	config->policy = policy;
	if (play->setup->filler != FILLER_NONE && config->max_message < LIMIT_MESSAGE)
		config->max_message += FILLER_SIZE;
	play->session = session_new(config, on_action, play, START);
}

static void
finish(struct play *play, struct policy *policy)
{
	enum side side;
	int why;

	session_free(play->session);
	policy_free(policy);
	json_decref(play->actions);
	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		buf_free(&play->readers[side].seen);
		buf_free(&play->readers[side].unasked);
		buf_free(&play->readers[side].unread);
	}
	for (why = 0; play->setup->why_counts != NULL && why < WHY_COUNT; why++)
		play->setup->why_counts[why] += play->counts[why];
}

void
play(const struct scenario *scenario, const struct play_setup *setup, struct verdict *verdict)
{
	struct play play = { .scenario = scenario, .setup = setup, .verdict = verdict };
	struct session_config config;
	struct policy policy = { 0 };
	size_t i;

	memset(verdict, 0, sizeof(*verdict));
	play.actions = json_array();
	start(&play, &policy, &config);
	for (i = 0; i < scenario->line_count && !verdict->failed; i++)
		play_line(&play, &scenario->lines[i]);
	if (!verdict->failed) {
		end_round(&play);
		play_check_silence(&play);
		play_check_session(&play);
	}
	finish(&play, &policy);
}
