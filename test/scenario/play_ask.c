#include "scenario/play_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/match.h"

#define HEAD_NAME "Content-Length: "

enum { HEAD_NAME_LEN = sizeof(HEAD_NAME) - 1 };

static const char *const side_names[] = { "client", "server" };

void
play_show(struct buf *out, const char *format, ...)
{
	va_list arguments;
	char *text;
	int len;

	va_start(arguments, format);
	len = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (len < 0)
		abort();
	buf_append(out, (struct span){ text, (size_t)len });
	free(text);
}

struct buf *
play_fail(struct play *play, const struct line *line)
{
	struct verdict *verdict = play->verdict;

	if (verdict->failed)
		return NULL;
	verdict->failed = true;
	verdict->file = line == NULL ? play->scenario->file : line->file;
	verdict->number = line == NULL ? play->scenario->number : line->number;
	return &verdict->text;
}

void
play_check_silence(struct play *play)
{
	const struct line *line = play->stimulus == NULL ? play->line : play->stimulus;
	struct buf *text;
	enum side side;

	for (side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		struct buf *seen = &play->readers[side].seen;

		if (seen->len == 0 || play->readers[side].stalled || (text = play_fail(play, line)) == NULL)
			continue;
		play_show(text, "expected nothing more for the %s at %lld, it read ", side_names[side],
		    (long long)play->now);
		match_show(text, buf_span(seen));
	}
}

void
play_check_words(struct play *play)
{
	struct buf *text;

	if (play->actions.count == 0 || (text = play_fail(play, play->line)) == NULL)
		return;
	play_show(text, "expected no further decision by %lld, it was ", (long long)play->now);
	actions_show(&play->actions, text);
}

/* The end of the header that the bytes start with; 0 if it has not ended. */
static size_t
head_length(struct span bytes)
{
	const char *end = bytes.len == 0 ? NULL : memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4);

	return end == NULL ? 0 : (size_t)(end - bytes.ptr) + 4;
}

/* The next message with its framing; all bytes if it has not ended. */
static struct span
next_frame(const struct buf *seen, enum framing framing)
{
	struct span all = buf_span(seen);
	size_t head = head_length(all), body;
	const char *newline;

	if (framing == FRAMING_NEWLINE) {
		newline = all.len == 0 ? NULL : memchr(all.ptr, '\n', all.len);
		return newline == NULL ? all : span_part(all, 0, (size_t)(newline + 1 - all.ptr));
	}
	body = head <= HEAD_NAME_LEN ? 0 : strtoul(all.ptr + HEAD_NAME_LEN, NULL, 10);
	return head > 0 && body <= all.len - head ? span_part(all, 0, head + body) : all;
}

/* Whether the frame is a message framed just as canceld writes it. */
static bool
is_framed(struct span frame, enum framing framing, struct span *message)
{
	size_t head = head_length(frame);
	char expected[64];

	if (framing == FRAMING_NEWLINE) {
		*message = span_part(frame, 0, frame.len > 0 ? frame.len - 1 : 0);
		return frame.len > 0 && frame.ptr[frame.len - 1] == '\n';
	}
	*message = span_part(frame, head, frame.len - head);
	snprintf(expected, sizeof(expected), HEAD_NAME "%zu\r\n\r\n", message->len);
	return span_equal(span_part(frame, 0, head), (struct span){ expected, strlen(expected) });
}

static bool
sees(const struct line *line, struct span seen)
{
	struct span message;

	if (line->exact)
		return span_equal(seen, buf_span(&line->text));
	return is_framed(seen, line->framing, &message) && match_line(buf_span(&line->text), message);
}

static void
on_see(struct play *play, const struct line *line)
{
	struct buf *seen = &play->readers[line->side].seen;
	struct span next = next_frame(seen, line->framing);
	struct buf *text;

	if (line->exact && seen->len >= line->text.len)
		next = span_part(buf_span(seen), 0, line->text.len);
	if (sees(line, next)) {
		buf_consume(seen, next.len);
		return;
	}
	text = play_fail(play, line);
	if (text == NULL)
		return;
	play_show(text, "expected the %s at %lld to read ", side_names[line->side], (long long)play->now);
	match_show(text, buf_span(&line->text));
	play_show(text, "%s", next.len == 0 ? ", it read nothing" : ", it read ");
	match_show(text, next_frame(seen, line->framing));
}

static void
on_nothing(struct play *play, const struct line *line)
{
	struct buf *seen = &play->readers[line->side].seen;
	struct buf *text;

	if (seen->len == 0 || (text = play_fail(play, line)) == NULL)
		return;
	play_show(text, "expected nothing for the %s at %lld, it read ", side_names[line->side], (long long)play->now);
	match_show(text, buf_span(seen));
}

static void
on_why(struct play *play, const struct line *line)
{
	struct buf *text;

	if (!actions_are(&play->actions, buf_span(&line->text)) && (text = play_fail(play, line)) != NULL) {
		play_show(text, "expected the decisions %.*s, they were ", (int)line->text.len, line->text.data);
		actions_show(&play->actions, text);
	}
	actions_clear(&play->actions);
}

static void
on_says(struct play *play, const struct line *line)
{
	struct buf *text;

	if (actions_next(&play->actions, buf_span(&line->text)))
		return;
	text = play_fail(play, line);
	if (text == NULL)
		return;
	play_show(text, "expected %.*s, it was ", (int)line->text.len, line->text.data);
	actions_show(&play->actions, text);
}

static void
on_count(struct play *play, const struct line *line)
{
	struct session *session = play->session;
	const char *what = line->kind == LINE_REQUESTED ? "requests made" :
	    line->kind == LINE_REFUSALS                 ? "messages refused" :
							  "requests outstanding";
	uint64_t count;
	struct buf *text;

	if (line->kind == LINE_REQUESTED)
		count = session_journal(session)->requests[line->side];
	else if (line->kind == LINE_REFUSALS)
		count = session_journal(session)->refusals;
	else
		count = session_outstanding(session, line->side);
	if (count != (uint64_t)line->value && (text = play_fail(play, line)) != NULL)
		play_show(text, "expected %lld %s of the %s, there are %llu", (long long)line->value, what,
		    side_names[line->side], (unsigned long long)count);
}

static void
on_tally(struct play *play, const struct line *line)
{
	struct session *session = play->session;
	enum tally tally = TALLY_ANSWERED;
	struct buf *text;
	uint64_t count;

	while (!span_equal(buf_span(&line->text), span_of(tally_word(tally))))
		tally++;
	count = session_journal(session)->tallies[tally];
	if (count != (uint64_t)line->value && (text = play_fail(play, line)) != NULL)
		play_show(text, "expected %lld requests that are %s, there are %llu", (long long)line->value,
		    tally_word(tally), (unsigned long long)count);
}

void
play_check_session(struct play *play)
{
	struct session *session = play->session;
	enum tally tally;
	struct buf *text;
	uint64_t sum;
	int why;

	play_check_words(play);
	sum = session_outstanding(session, SIDE_CLIENT);
	for (why = 0; why < WHY_COUNT; why++)
		if (session_journal(session)->counts[(enum why)why] != play->counts[why] &&
		    (text = play_fail(play, play->line)) != NULL)
			play_show(text, "expected %s to count %lu, it counts %lu", why_word((enum why)why),
			    play->counts[why], (unsigned long)session_journal(session)->counts[(enum why)why]);
	for (tally = 0; tally < TALLIES; tally++)
		sum += session_journal(session)->tallies[tally];
	if (sum != session_journal(session)->requests[SIDE_CLIENT] && (text = play_fail(play, play->line)) != NULL)
		play_show(text, "expected the tallies to count %llu requests, they count %llu",
		    (unsigned long long)session_journal(session)->requests[SIDE_CLIENT], (unsigned long long)sum);
	if (session_server(session)->hung != play->wants_end && (text = play_fail(play, play->line)) != NULL)
		play_show(text, "expected the session %sto want its end", play->wants_end ? "" : "not ");
}

static void
on_wants_end(struct play *play, const struct line *line)
{
	(void)line;
	play->wants_end = true;
}

static void
on_stuck(struct play *play, const struct line *line)
{
	struct session *session = play->session;
	struct buf *text;

	if (session != NULL && session_server(session)->life != SERVER_STUCK && (text = play_fail(play, line)) != NULL)
		play_show(text, "expected the session to want the server's end");
}

static void
on_restart(struct play *play, const struct line *line)
{
	struct session *session = play->session;
	const char *reason = session_cannot_restart(session);
	struct buf *text;

	reason = reason == NULL ? "yes" : reason;
	if (session != NULL && !span_equal(buf_span(&line->text), (struct span){ reason, strlen(reason) }) &&
	    (text = play_fail(play, line)) != NULL)
		play_show(text, "expected restart %.*s, it is %s", (int)line->text.len, line->text.data, reason);
}

static void (*const asks[])(struct play *, const struct line *) = {
	[LINE_SEE] = on_see,
	[LINE_NOTHING] = on_nothing,
	[LINE_WHY] = on_why,
	[LINE_SAYS] = on_says,
	[LINE_OUTSTANDING] = on_count,
	[LINE_REQUESTED] = on_count,
	[LINE_REFUSALS] = on_count,
	[LINE_TALLY] = on_tally,
	[LINE_WANTS_END] = on_wants_end,
	[LINE_STUCK] = on_stuck,
	[LINE_RESTART] = on_restart,
};

bool
play_asks(const struct line *line)
{
	return line->kind < sizeof(asks) / sizeof(asks[0]) && asks[line->kind] != NULL;
}

void
play_ask(struct play *play, const struct line *line)
{
	asks[line->kind](play, line);
}
