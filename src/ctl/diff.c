#include "ctl/diff.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"

enum {
	CONTEXT = 3, /* equal lines shown around a change */
	LOOK = 64,   /* a change is at most so many lines long, or the rest of the text is one */
	AGREE = 2,   /* so many equal lines end a change */
};

struct lines {
	struct span *line; /* each with its newline */
	size_t count;
};

/* A part of both texts that differs. */
struct change {
	size_t from[2], to[2];
};

static struct lines
split(struct span text)
{
	struct lines lines = { 0 };
	size_t room = 0;

	while (text.len > 0) {
		const char *newline = memchr(text.ptr, '\n', text.len);
		size_t len = newline != NULL ? (size_t)(newline - text.ptr) + 1 : text.len;

		if (lines.count == room) {
			room = room * 2 + 16;
			lines.line = mem_resize(lines.line, room, sizeof(*lines.line));
		}
		lines.line[lines.count++] = span_part(text, 0, len);
		text = span_part(text, len, text.len - len);
	}
	return lines;
}

/* Whether both texts go on with AGREE equal lines, or end, here. */
static bool
agree(const struct lines text[2], size_t a, size_t b)
{
	for (size_t i = 0; i < AGREE; i++, a++, b++) {
		if (a == text[0].count || b == text[1].count)
			return a == text[0].count && b == text[1].count;
		if (!span_equal(text[0].line[a], text[1].line[b]))
			return false;
	}
	return true;
}

/* The end of the change that begins at change->from: the nearest place where both agree again. */
static void
find_end(const struct lines text[2], struct change *change)
{
	for (size_t sum = 1; sum <= LOOK; sum++)
		for (size_t i = 0; i <= sum; i++) {
			size_t a = change->from[0] + i, b = change->from[1] + sum - i;

			if (a <= text[0].count && b <= text[1].count && agree(text, a, b)) {
				change->to[0] = a;
				change->to[1] = b;
				return;
			}
		}
	change->to[0] = text[0].count;
	change->to[1] = text[1].count;
}

static void
put(struct buf *out, char sign, const struct lines *text, size_t from, size_t to)
{
	assert(text->line != NULL || from == to);
	for (; from < to; from++) {
		struct span line = text->line[from];

		buf_append(out, (struct span){ &sign, 1 });
		buf_append(out, line);
		if (line.ptr[line.len - 1] != '\n')
			buf_append(out, SPAN("\n\\ No newline at end of file\n"));
	}
}

/* A hunk of changes which the context of one another reaches. */
static void
put_hunk(struct buf *out, const struct lines text[2], const struct change *changes, size_t count)
{
	const struct change *last = &changes[count - 1];
	size_t lead = changes[0].from[0] < CONTEXT ? changes[0].from[0] : CONTEXT;
	size_t rest = text[0].count - last->to[0], trail = rest < CONTEXT ? rest : CONTEXT;
	size_t from[2] = { changes[0].from[0] - lead, changes[0].from[1] - lead };
	size_t len[2] = { last->to[0] + trail - from[0], last->to[1] + trail - from[1] };
	char head[128];

	snprintf(head, sizeof(head), "@@ -%zu,%zu +%zu,%zu @@\n", from[0] + (len[0] > 0), len[0],
	    from[1] + (len[1] > 0), len[1]);
	buf_append(out, span_of(head));
	for (size_t i = 0; i < count; i++) {
		put(out, ' ', &text[0], from[0], changes[i].from[0]);
		put(out, '-', &text[0], changes[i].from[0], changes[i].to[0]);
		put(out, '+', &text[1], changes[i].from[1], changes[i].to[1]);
		from[0] = changes[i].to[0];
	}
	put(out, ' ', &text[0], from[0], last->to[0] + trail);
}

void
diff_append(struct buf *out, const char *name, struct span before, struct span after)
{
	struct lines text[2] = { split(before), split(after) };
	struct change *changes = NULL;
	size_t count = 0, a = 0, b = 0, first = 0;

	while (a < text[0].count || b < text[1].count) {
		if (a < text[0].count && b < text[1].count && span_equal(text[0].line[a], text[1].line[b])) {
			a++;
			b++;
			continue;
		}
		changes = mem_resize(changes, count + 1, sizeof(*changes));
		changes[count] = (struct change){ .from = { a, b } };
		find_end(text, &changes[count]);
		a = changes[count].to[0];
		b = changes[count++].to[1];
	}
	for (size_t i = 1; i <= count; i++) {
		if (i < count && changes[i].from[0] - changes[i - 1].to[0] <= 2 * CONTEXT)
			continue;
		if (first == 0) {
			buf_append(out, SPAN("--- "));
			buf_append(out, span_of(name));
			buf_append(out, SPAN("\n+++ "));
			buf_append(out, span_of(name));
			buf_append(out, SPAN("\n"));
		}
		put_hunk(out, text, changes + first, i - first);
		first = i;
	}
	free(changes);
	free(text[0].line);
	free(text[1].line);
}
