#include "ctl/show.h"

#include <wchar.h>

#include "core/buf.h"
#include "core/compose.h"
#include "core/json.h"
#include "shell/words.h"

enum { GAP = 2, NARROWEST = 8, COMFORT = 32 /* of a word */, COMFORT_TEXT = 20 };

/*
 * How many bytes of the text fit into so many cells. *taken: the cells that these fill. Terminals
 * show some characters in no cell or in two; the C locale knows none of them.
 */
static size_t
fitting(struct span text, size_t cells, size_t *taken)
{
	size_t at = 0;

	*taken = 0;
	while (at < text.len) {
		size_t len = utf8_length(span_from(text, at));
		int more = len > 0 ? wcwidth((wchar_t)utf8_code(text.ptr + at, len)) : 1;
		size_t end = *taken + (more < 0 ? 1 : (size_t)more);

		if (end > cells)
			break;
		*taken = end;
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

static void
pad(struct buf *line, size_t cells)
{
	while (cells-- > 0)
		compose_text(line, " ");
}

void
table_cut(struct buf *out, struct span text, size_t cells, size_t end)
{
	size_t all = cells_in(text), taken, skipped;

	if (all <= cells) {
		buf_append(out, text);
	} else if (cells > 0) {
		buf_append(out, span_part(text, 0, fitting(text, cells - 1 - end, &taken)));
		compose_text(out, "\xe2\x80\xa6");
		end = cells - 1 - taken < end ? cells - 1 - taken : end;
		skipped = fitting(text, all - end, &taken);
		/* If the cut is in the middle of a wide character, leaves out all of it. */
		skipped = taken < all - end ? fitting(text, all - end + 1, &taken) : skipped;
		buf_append(out, span_from(text, skipped));
	}
}

/*
 * How many bytes of the text become the next line: up to the last blank that fits, if there is one
 * behind the first `indent` bytes.
 */
static size_t
line_length(struct span text, size_t cells, size_t indent)
{
	size_t taken, len = fitting(text, cells, &taken), blank = len;

	if (len == text.len)
		return len;
	while (blank > indent && text.ptr[blank] != ' ')
		blank--;
	return blank > indent ? blank : len > 0 ? len : 1;
}

void
table_wrap(struct buf *out, struct span text, size_t cells, size_t indent)
{
	while (text.len > 0) {
		struct span line = show_take_line(&text);
		size_t len = line_length(line, cells, indent);

		buf_append(out, span_part(line, 0, len));
		while (len < line.len) {
			line = span_from(line, len + (line.ptr[len] == ' '));
			compose_text(out, "\n");
			pad(out, indent);
			len = line_length(line, cells - indent, 0);
			buf_append(out, span_part(line, 0, len));
		}
		compose_text(out, "\n");
	}
}

void
column_text(struct buf *text, const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);
	char digits[SPAN_NUMBER_MAX];

	buf_append(text,
	    json_is_integer(value) ? span_number(json_integer_value(value), digits) :
				     show_text(value));
}

void
column_time(struct buf *text, const json_t *row, const char *key)
{
	if (json_is_number(json_object_get(row, key)))
		buf_append(text, show_time(show_number(row, key)));
}

void
column_write(struct buf *text, const struct column *column, const json_t *row)
{
	(column->write != NULL ? column->write : column_text)(text, row, column->key);
}

struct table {
	const struct column *columns;
	const json_t *rows;
	size_t width, lines; /* columns; rows, with the titles */
	size_t *widths;      /* cells of each column; 0: it is not shown */
	size_t *apart;  /* the least width of each column that is COLUMN_APART; of the others 0 */
	size_t *shared; /* with how many bytes, whole words, all texts of each column begin */
	struct buf *texts; /* of all columns of each line */
};

#define each_column(i, table) \
	for (size_t i = 0; (i) < (table)->width; (i)++) /* NOLINT: it declares */

static struct span
text_at(const struct table *table, size_t line, size_t column)
{
	return buf_span(&table->texts[line * table->width + column]);
}

static void
widen(struct table *table, size_t line, size_t column)
{
	size_t need = cells_in(text_at(table, line, column));

	table->widths[column] = need > table->widths[column] ? need : table->widths[column];
}

static void
write_texts(struct table *table, size_t line)
{
	const struct column *columns = table->columns;
	BUF_AUTO text = { 0 }, shown = { 0 };

	each_column (i, table) {
		buf_clear(&text);
		buf_clear(&shown);
		if (line == 0)
			buf_append(&text, span_of(columns[i].title));
		else
			column_write(&text, &columns[i], json_array_get(table->rows, line - 1));
		printable_append(&shown, text.len > 0 ? buf_span(&text) : SPAN("-"), "");
		buf_keep(&table->texts[line * table->width + i], buf_span(&shown));
		widen(table, line, i);
	}
}

/* Hides each COLUMN_ANY in which no row has a text. */
static void
leave_out(struct table *table)
{
	each_column (i, table) {
		size_t line = 1;

		while (line < table->lines && span_is(text_at(table, line, i), "-"))
			line++;
		if (table->columns[i].role == COLUMN_ANY && line == table->lines)
			table->widths[i] = 0;
	}
}

static void
cut_text(const struct table *table, size_t column, struct buf *out, struct span text, size_t cells)
{
	size_t shared = table->shared[column];

	if (cells > NARROWEST / 2 && shared > 0 && shared < text.len && cells_in(text) > cells) {
		compose_text(out, "\xe2\x80\xa6");
		text = span_from(text, shared);
		cells--;
	}
	table_cut(out, text, cells,
	    table->columns[column].kind == COLUMN_MIDDLE && cells > 0 ? (cells - 1) / 2 : 0);
}

/* How many different texts the column shows when each is cut to so many cells. */
static size_t
count_kinds(const struct table *table, size_t column, size_t cells)
{
	json_auto_t *kinds = json_object();
	BUF_AUTO text = { 0 };

	for (size_t line = 1; line < table->lines; line++) {
		buf_clear(&text);
		cut_text(table, column, &text, text_at(table, line, column), cells);
		json_object_setn_new(kinds, buf_span(&text).ptr, text.len, json_true());
	}
	return json_object_size(kinds);
}

/*
 * How many bytes, whole words, all texts of the column begin with. cut_text leaves these out first,
 * because the rest is what tells the texts apart.
 */
static size_t
count_shared(const struct table *table, size_t column)
{
	struct span first, text;
	size_t shared;

	if (table->columns[column].kind != COLUMN_MIDDLE ||
	    count_kinds(table, column, SIZE_MAX) < 2)
		return 0;
	first = text_at(table, 1, column);
	shared = first.len;
	for (size_t line = 2; line < table->lines; line++) {
		text = text_at(table, line, column);
		shared = shared < text.len ? shared : text.len;
		while (shared > 0 && memcmp(first.ptr, text.ptr, shared) != 0)
			shared--;
	}
	while (
	    shared > 0 && (shared == first.len || strchr("-_/. ", first.ptr[shared - 1]) == NULL))
		shared--;
	return shared;
}

/* The least width at which different texts still look different; at most half of a line. */
static size_t
width_apart(const struct table *table, size_t column, size_t cells)
{
	size_t width = NARROWEST, count = count_kinds(table, column, SIZE_MAX);

	while (width < table->widths[column] && width < cells / 2 &&
	    count_kinds(table, column, width) < count)
		width++;
	return width;
}

/* The least width of the column while words may be cut to so many cells. */
static size_t
least(const struct table *table, size_t column, size_t cells)
{
	size_t width = table->widths[column];

	if (table->columns[column].kind < COLUMN_FLEXIBLE)
		return width;
	if (table->columns[column].kind == COLUMN_FLEXIBLE && cells == COMFORT)
		cells = COMFORT_TEXT;
	if (table->apart[column] > cells)
		cells = table->apart[column];
	return width < cells ? width : cells;
}

/* How many cells a line needs when words are cut to so many cells. */
static size_t
line_cells(const struct table *table, size_t cells)
{
	size_t sum = 0;

	each_column (i, table)
		sum += table->widths[i] > 0 ? (sum > 0 ? GAP : 0) + least(table, i, cells) : 0;
	return sum;
}

static void
drop_column(struct table *table, size_t column)
{
	table->widths[column] = 0;
	for (size_t line = 1; line < table->lines && table->columns[column].role == COLUMN_YIELDS;
	     line++) {
		struct buf *next = &table->texts[line * table->width + column + 1];

		if (!span_is(buf_span(next), "-"))
			continue;
		buf_clear(next);
		buf_append(next, text_at(table, line, column));
		widen(table, line, column + 1);
	}
}

/* The column to drop next, which has the highest rank; table->width: none may be dropped. */
static size_t
next_to_go(const struct table *table)
{
	size_t next = table->width;
	int rank = 0;

	each_column (i, table)
		if (table->widths[i] > 0 && table->columns[i].rank > rank) {
			rank = table->columns[i].rank;
			next = i;
		}
	return next;
}

/* Whole columns go first; then words are cut, and last the other columns go. */
static void
drop_columns(struct table *table, size_t cells)
{
	size_t words = COMFORT, next = next_to_go(table);

	if (table->columns[next].rank == COLUMN_SPARE && line_cells(table, SIZE_MAX) > cells)
		drop_column(table, next);
	while (line_cells(table, words) > cells) {
		next = next_to_go(table);
		if (words > NARROWEST &&
		    (next == table->width || table->columns[next].rank < COLUMN_FIRST))
			words = NARROWEST;
		else if (next == table->width)
			return;
		else
			drop_column(table, next);
	}
}

/*
 * Takes one cell after the other from the widest column that can be cut, until a line fits. A
 * column's rank counts as so many cells more, so that less important columns are cut first.
 */
static void
fit_widths(struct table *table, size_t cells)
{
	while (line_cells(table, SIZE_MAX) > cells) {
		size_t widest = table->width;

		each_column (i, table)
			if (table->widths[i] > least(table, i, NARROWEST) &&
			    (widest == table->width ||
				table->widths[i] + (size_t)table->columns[i].rank >
				    table->widths[widest] + (size_t)table->columns[widest].rank))
				widest = i;
		if (widest == table->width)
			return;
		table->widths[widest]--;
	}
}

static void
write_line(const struct table *table, size_t line, size_t cells, struct buf *out)
{
	/* in cells: where the next column begins; how far the line is written */
	size_t at = 0, filled = 0;
	BUF_AUTO text = { 0 };

	for (size_t i = 0; i < table->width && at < cells; i++) {
		bool right = table->columns[i].kind == COLUMN_RIGHT;
		const char *style = line > 0 && table->columns[i].style != NULL ?
		    table->columns[i].style(json_array_get(table->rows, line - 1)) :
		    "";
		size_t width = table->widths[i] < cells - at ? table->widths[i] : cells - at, need;

		if (width == 0)
			continue;
		buf_clear(&text);
		cut_text(table, i, &text, text_at(table, line, i), width);
		need = cells_in(buf_span(&text));
		pad(out, at - filled + (right ? width - need : 0));
		compose_text(out, "%s%b%s", term_colour(style), buf_span(&text),
		    style[0] == '\0' ? "" : term_colour(COLOUR_UNCOLOURED));
		filled = at + (right ? width : need);
		at += width + GAP;
	}
	compose_text(out, "\n");
}

void
table_write(const struct column *columns, const json_t *rows, size_t cells, struct buf *out)
{
	struct table table = { .columns = columns,
		.rows = rows,
		.lines = json_array_size(rows) + 1 };

	while (columns[table.width].title != NULL)
		table.width++;
	table.widths = mem_new(3 * table.width * sizeof(*table.widths));
	table.apart = table.widths + table.width;
	table.shared = table.apart + table.width;
	table.texts = mem_new(table.lines * table.width * sizeof(*table.texts));
	for (size_t line = 0; line < table.lines; line++)
		write_texts(&table, line);
	leave_out(&table);
	each_column (i, &table) {
		table.shared[i] = count_shared(&table, i);
		if (columns[i].role == COLUMN_APART)
			table.apart[i] = width_apart(&table, i, cells);
	}
	drop_columns(&table, cells);
	fit_widths(&table, cells);
	for (size_t line = 0; line < table.lines; line++)
		write_line(&table, line, cells, out);
	for (size_t i = 0; i < table.lines * table.width; i++)
		buf_free(&table.texts[i]);
	free(table.texts);
	free(table.widths);
}

void
table_show(const struct column *columns, const json_t *rows)
{
	struct buf out = { 0 };

	table_write(columns, rows, term_width, &out);
	show_buf(&out);
}
