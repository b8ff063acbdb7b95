#include "ctl/show.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/json.h"
#include "shell/words.h"

enum { GAP = 2, NARROWEST = 8 };

struct range {
	uint32_t first, last;
};

static bool
lies_in(uint32_t code, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* The blocks of Unicode that terminals show in no cell or in two; a locale that knows them may not be there. */
static size_t
cells_of(uint32_t code)
{
	static const struct range none[] = { { 0x300, 0x36f }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff },
		{ 0xfe00, 0xfe0f }, { 0xe0100, 0xe01ef } };
	static const struct range two[] = { { 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf },
		{ 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd } };

	if (code < none[0].first)
		return 1;
	if (lies_in(code, none, sizeof(none) / sizeof(none[0])))
		return 0;
	return lies_in(code, two, sizeof(two) / sizeof(two[0])) ? 2 : 1;
}

/* The length of as much as fits into so many cells; *taken: the cells of that. */
static size_t
fitting(struct span text, size_t cells, size_t *taken)
{
	size_t at = 0;

	*taken = 0;
	while (at < text.len) {
		size_t len = utf8_length(text, at);
		size_t more = len > 0 ? cells_of(utf8_code(text.ptr + at, len)) : 1;

		if (*taken + more > cells)
			break;
		*taken += more;
		at += len > 0 ? len : 1;
	}
	return at;
}

size_t
table_cells(struct span text)
{
	size_t taken;

	fitting(text, SIZE_MAX, &taken);
	return taken;
}

void
table_cut(struct buf *out, struct span text, size_t cells)
{
	size_t taken, len = fitting(text, cells, &taken);

	if (len == text.len) {
		buf_append(out, text);
		return;
	}
	len = fitting(text, cells > 0 ? cells - 1 : 0, &taken);
	buf_append(out, span_part(text, 0, len));
	buf_append(out, cells > 0 ? SPAN("~") : SPAN(""));
}

void
table_init(struct table *table, const struct column *columns, size_t width)
{
	*table = (struct table){ .columns = columns, .width = width };
	for (size_t i = 0; i < width; i++)
		table_add(table, span_of(columns[i].title));
}

void
table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		buf_free(&table->cells[i]);
	free(table->cells);
	*table = (struct table){ 0 };
}

void
table_add(struct table *table, struct span text)
{
	/* The room doubles whenever the count reaches a power of two. */
	if ((table->count & (table->count - 1)) == 0)
		table->cells = mem_resize(table->cells, table->count > 0 ? table->count * 2 : 1, sizeof(*table->cells));
	buf_init(&table->cells[table->count]);
	printable_append(&table->cells[table->count++], text, "");
}

void
table_add_number(struct table *table, json_int_t number)
{
	char digits[SPAN_NUMBER_MAX];

	table_add(table, span_number(number, digits));
}

/* The flexible column that is the widest; SIZE_MAX: none can become narrower. */
static size_t
widest(const struct table *table, const size_t *widths)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < table->width; i++)
		if (table->columns[i].flexible && widths[i] > NARROWEST &&
		    (found == SIZE_MAX || widths[i] > widths[found]))
			found = i;
	return found;
}

static void
choose_widths(const struct table *table, size_t cells, size_t *widths)
{
	size_t sum = (table->width - 1) * GAP, column;

	for (size_t i = 0; i < table->count; i++) {
		size_t need = table_cells(buf_span(&table->cells[i]));

		if (need > widths[i % table->width])
			widths[i % table->width] = need;
	}
	for (size_t i = 0; i < table->width; i++)
		sum += widths[i];
	while (cells > 0 && sum > cells && (column = widest(table, widths)) != SIZE_MAX) {
		widths[column]--;
		sum--;
	}
}

static void
pad(struct buf *line, size_t cells)
{
	while (cells-- > 0)
		buf_append(line, SPAN(" "));
}

static void
write_row(const struct table *table, const size_t *widths, size_t first, struct buf *line)
{
	for (size_t i = 0; i < table->width; i++) {
		struct span text = buf_span(&table->cells[first + i]);
		size_t need = table_cells(text), room = need < widths[i] ? widths[i] - need : 0;
		bool last = i + 1 == table->width;

		pad(line, table->columns[i].right ? room : 0);
		table_cut(line, text, widths[i]);
		pad(line, last ? 0 : (table->columns[i].right ? 0 : room) + GAP);
	}
}

void
table_write(const struct table *table, size_t cells, struct buf *out)
{
	size_t *widths = mem_new(table->width * sizeof(*widths));
	struct buf line;

	buf_init(&line);
	choose_widths(table, cells, widths);
	for (size_t first = 0; first + table->width <= table->count; first += table->width) {
		buf_clear(&line);
		write_row(table, widths, first, &line);
		table_cut(out, buf_span(&line), cells > 0 ? cells : SIZE_MAX);
		buf_append(out, SPAN("\n"));
	}
	buf_free(&line);
	free(widths);
}
