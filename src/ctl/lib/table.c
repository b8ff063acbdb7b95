#include "ctl/show.h"

#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#include "core/buf.h"
#include "core/json.h"
#include "shell/words.h"

enum { GAP = 2, NARROWEST = 8 };

/* Terminals show some characters in no cell or in two; the C locale knows none of them. */
static size_t
cells_of(uint32_t code)
{
	int cells = wcwidth((wchar_t)code);

	return cells < 0 ? 1 : (size_t)cells;
}

/* The length of as much as fits into so many cells; *taken: the cells of that. */
static size_t
fitting(struct span text, size_t cells, size_t *taken)
{
	size_t at = 0;

	*taken = 0;
	while (at < text.len) {
		size_t len = utf8_length(span_from(text, at));
		size_t more = len > 0 ? cells_of(utf8_code(text.ptr + at, len)) : 1;

		if (*taken + more > cells)
			break;
		*taken += more;
		at += len > 0 ? len : 1;
	}
	return at;
}

static size_t
cells_in(struct span text)
{
	size_t taken;

	fitting(text, SIZE_MAX, &taken);
	return taken;
}

void
table_cut(struct buf *out, struct span text, size_t cells)
{
	size_t taken, len = fitting(text, cells, &taken);
	bool whole = len == text.len;

	if (!whole)
		len = fitting(text, cells > 0 ? cells - 1 : 0, &taken);
	buf_append(out, span_part(text, 0, len));
	buf_append(out, whole || cells == 0 ? SPAN("") : SPAN("~"));
}

void
column_text(struct buf *text, const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);
	char digits[SPAN_NUMBER_MAX];

	buf_append(text, json_is_integer(value) ? span_number(json_integer_value(value), digits) : show_text(value));
}

void
column_time(struct buf *text, const json_t *row, const char *key)
{
	char time[SHOW_TIME_SIZE];

	if (json_is_number(json_object_get(row, key)))
		buf_append(text, show_time(show_number(row, key), time));
}

/* row NULL: the titles. */
static void
write_cells(const struct column *columns, const json_t *row, struct buf *cells, size_t *widths)
{
	struct buf text = { 0 };

	for (size_t i = 0; columns[i].title != NULL; i++) {
		size_t need;

		buf_clear(&text);
		if (row == NULL)
			buf_append(&text, span_of(columns[i].title));
		else
			columns[i].write(&text, row, columns[i].key);
		printable_append(&cells[i], text.len > 0 ? buf_span(&text) : SPAN("-"), "");
		need = cells_in(buf_span(&cells[i]));
		widths[i] = need > widths[i] ? need : widths[i];
	}
	buf_free(&text);
}

/* Makes the widest flexible column narrower, as long as a line is too long. */
static void
fit_widths(const struct column *columns, size_t width, size_t cells, size_t *widths)
{
	for (;;) {
		size_t sum = (width - 1) * GAP, widest = width;

		for (size_t i = 0; i < width; i++) {
			sum += widths[i];
			if (columns[i].kind == COLUMN_FLEXIBLE && widths[i] > NARROWEST &&
			    (widest == width || widths[i] > widths[widest]))
				widest = i;
		}
		if (sum <= cells || widest == width)
			return;
		widths[widest]--;
	}
}

static void
pad(struct buf *line, size_t cells)
{
	while (cells-- > 0)
		buf_append(line, SPAN(" "));
}

/* The cells of a row, which it frees, as a line. */
static void
write_line(const struct column *columns, const size_t *widths, struct buf *cells, struct buf *line)
{
	buf_clear(line);
	for (size_t i = 0; columns[i].title != NULL; i++) {
		struct span text = buf_span(&cells[i]);
		size_t need = cells_in(text), room = need < widths[i] ? widths[i] - need : 0;
		bool right = columns[i].kind == COLUMN_RIGHT, last = columns[i + 1].title == NULL;

		pad(line, right ? room : 0);
		table_cut(line, text, widths[i]);
		pad(line, last ? 0 : (right ? 0 : room) + GAP);
		buf_free(&cells[i]);
	}
}

void
table_write(const struct column *columns, const json_t *rows, size_t cells, struct buf *out)
{
	size_t width = 0, lines = json_array_size(rows) + 1, *widths;
	struct buf line = { 0 }, *texts;

	cells = cells > 0 ? cells : SIZE_MAX;
	while (columns[width].title != NULL)
		width++;
	widths = mem_new(width * sizeof(*widths));
	texts = mem_new(lines * width * sizeof(*texts));
	for (size_t i = 0; i < lines; i++)
		write_cells(columns, i == 0 ? NULL : json_array_get(rows, i - 1), texts + i * width, widths);
	fit_widths(columns, width, cells, widths);
	for (size_t i = 0; i < lines; i++) {
		write_line(columns, widths, texts + i * width, &line);
		table_cut(out, buf_span(&line), cells);
		buf_append(out, SPAN("\n"));
	}
	buf_free(&line);
	free(texts);
	free(widths);
}

void
table_show(const struct column *columns, const json_t *rows)
{
	struct buf out = { 0 };

	table_write(columns, rows, term_width(NULL), &out);
	show_buf(&out);
}
