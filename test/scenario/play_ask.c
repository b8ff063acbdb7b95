#include "scenario/play_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/match.h"

#define HEAD_NAME "Content-Length: "

enum { HEAD_NAME_LEN = sizeof(HEAD_NAME) - 1 };

static const char *const side_names[] = { "client", "server" };

struct buf *
play_fail(struct play *play, const struct line *line, const char *format, ...)
{
	static struct buf ignored;
	struct verdict *verdict = play->verdict;
	va_list arguments;
	char *text;
	int len;

	buf_clear(&ignored);
	if (verdict->failed)
		return &ignored;
	verdict->failed = true;
	verdict->file = line == NULL ? play->scenario->file : line->file;
	verdict->number = line == NULL ? play->scenario->number : line->number;
	va_start(arguments, format);
	len = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (len < 0)
		abort();
	buf_append(&verdict->text, (struct span){ text, (size_t)len });
	free(text);
	return &verdict->text;
}

void
play_check_silence(struct play *play)
{
	const struct line *line = play->stimulus == NULL ? play->line : play->stimulus;

	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++) {
		struct buf *seen = &play->readers[side].seen;

		if (seen->len > 0 && !play->readers[side].stalled)
			match_show(play_fail(play, line,
				       "expected nothing more for the %s at %lld, it read ",
				       side_names[side], (long long)play->now),
			    buf_span(seen));
	}
}

void
play_check_words(struct play *play)
{
	if (json_array_size(play->actions) > 0)
		actions_show(play->actions,
		    play_fail(play, play->line, "expected no further decision by %lld, it was ",
			(long long)play->now));
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
	return is_framed(seen, line->framing, &message) &&
	    match_line(buf_span(&line->text), message);
}

static void
on_see(struct play *play, const struct line *line)
{
	struct reader *reader = &play->readers[line->side];
	struct buf *seen = &reader->seen, *unasked = &reader->unasked, *text;
	struct span next = next_frame(seen, line->framing);

	if (line->exact && seen->len >= line->text.len)
		next = span_part(buf_span(seen), 0, line->text.len);
	if (sees(line, next)) {
		buf_consume(seen, next.len);
		buf_consume(unasked,
		    line->exact ? next.len : next_frame(unasked, line->framing).len);
		if (seen->len == 0)
			buf_clear(unasked);
		return;
	}
	text = play_fail(play, line, "expected the %s at %lld to read ", side_names[line->side],
	    (long long)play->now);
	match_show(text, buf_span(&line->text));
	buf_append(text, next.len == 0 ? SPAN(", it read nothing") : SPAN(", it read "));
	match_show(text, next_frame(seen, line->framing));
}

static void
on_nothing(struct play *play, const struct line *line)
{
	struct buf *seen = &play->readers[line->side].seen;

	if (seen->len > 0)
		match_show(play_fail(play, line, "expected nothing for the %s at %lld, it read ",
			       side_names[line->side], (long long)play->now),
		    buf_span(seen));
}

static void
on_why(struct play *play, const struct line *line)
{
	if (!actions_are(play->actions, buf_span(&line->text)))
		actions_show(play->actions,
		    play_fail(play, line, "expected the decisions %.*s, they were ",
			(int)line->text.len, line->text.data));
	json_array_clear(play->actions);
}

static void
on_says(struct play *play, const struct line *line)
{
	if (!actions_next(play->actions, buf_span(&line->text)))
		actions_show(play->actions,
		    play_fail(play, line, "expected %.*s, it was ", (int)line->text.len,
			line->text.data));
}

static void
expect_count(struct play *play, const struct line *line, uint64_t count, const char *what)
{
	if (count != (uint64_t)line->value)
		play_fail(play, line, "expected %lld %s, there are %llu", (long long)line->value,
		    what, (unsigned long long)count);
}

static void
on_outstanding(struct play *play, const struct line *line)
{
	expect_count(play, line, session_outstanding(play->session, line->side),
	    "requests outstanding");
}

static void
on_requested(struct play *play, const struct line *line)
{
	expect_count(play, line, session_view(play->session).journal->requests[line->side],
	    "requests made");
}

static void
on_refusals(struct play *play, const struct line *line)
{
	expect_count(play, line, session_view(play->session).journal->refusals, "messages refused");
}

static void
on_tally(struct play *play, const struct line *line)
{
	enum tally tally = TALLY_ANSWERED;

	while (!span_equal(buf_span(&line->text), span_of(tally_word(tally))))
		tally++;
	expect_count(play, line, session_view(play->session).journal->tallies[tally],
	    tally_word(tally));
}

void
play_check_session(struct play *play)
{
	const struct journal *journal = session_view(play->session).journal;
	uint64_t sum = session_outstanding(play->session, SIDE_CLIENT);

	play_check_words(play);
	for (enum why why = (enum why)0; why < WHY_COUNT; why++)
		if (journal->counts[why] != play->counts[why])
			play_fail(play, play->line, "expected %s to count %lu, it counts %lu",
			    why_word(why), play->counts[why], (unsigned long)journal->counts[why]);
	for (enum tally tally = (enum tally)0; tally < TALLIES; tally++)
		sum += journal->tallies[tally];
	if (sum != journal->requests[SIDE_CLIENT])
		play_fail(play, play->line,
		    "expected the tallies to count %llu requests, they count %llu",
		    (unsigned long long)journal->requests[SIDE_CLIENT], (unsigned long long)sum);
	if (session_view(play->session).server->hung != play->wants_end)
		play_fail(play, play->line, "expected the session %sto want its end",
		    play->wants_end ? "" : "not ");
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
	if (session_view(play->session).server->life != SERVER_STUCK)
		play_fail(play, line, "expected the session to want the server's end");
}

static void
on_restart(struct play *play, const struct line *line)
{
	const char *reason = session_cannot_restart(play->session);

	reason = reason == NULL ? "yes" : reason;
	if (!span_equal(buf_span(&line->text), span_of(reason)))
		play_fail(play, line, "expected restart %.*s, it is %s", (int)line->text.len,
		    line->text.data, reason);
}

static void
on_verdict(struct play *play, const struct line *line)
{
	static const char *const words[] = { "none", "held", "works", "silent", "asks", "stuck" };
	enum session_verdict verdict;

	session_oldest(play->session, &verdict);
	if (!span_equal(buf_span(&line->text), span_of(words[verdict])))
		play_fail(play, line, "expected the verdict %.*s, it is %s", (int)line->text.len,
		    line->text.data, words[verdict]);
}

static void (*const asks[])(struct play *, const struct line *) = {
	[LINE_SEE] = on_see,
	[LINE_NOTHING] = on_nothing,
	[LINE_WHY] = on_why,
	[LINE_SAYS] = on_says,
	[LINE_OUTSTANDING] = on_outstanding,
	[LINE_REQUESTED] = on_requested,
	[LINE_REFUSALS] = on_refusals,
	[LINE_TALLY] = on_tally,
	[LINE_WANTS_END] = on_wants_end,
	[LINE_STUCK] = on_stuck,
	[LINE_RESTART] = on_restart,
	[LINE_VERDICT] = on_verdict,
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
