/*
 * server SIZE first|last SHAPE: answers each line at once, a small answer in one write, with a
 * result of about SIZE bytes; its id comes before or after the result. SHAPE decides how much work
 * a scanner has: short and ascii are one string of ASCII, cjk one of Chinese, quoted one that
 * quotes JSON, tokens a list of tools. It reads no JSON, but looks for "id": and a number.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "e2e/life.h"

enum { INPUT = 256 << 10, SPARE = 1024, COPIED = 32 << 10 };

static const struct {
	const char *name, *piece;
} shapes[] = {
	{ "short", "The quick brown fox jumps over the lazy dog, and 01" },
	{ "ascii",
	    "The quick brown fox jumps over the lazy dog, and 0123456789 is what it counts; " },
	{ "cjk",
	    "\xE5\xA4\xA9\xE5\x9C\xB0\xE7\x8E\x84\xE9\xBB\x83\xE5\xAE\x87\xE5\xAE\x99\xE6\xB4\xAA\xE8\x8D\x92" },
	{ "quoted", "{\\\"path\\\":\\\"a.c\\\",\\\"line\\\":12},\\n" },
	{ "tokens",
	    "{\"name\":\"read_record\",\"title\":\"Read a record\",\"description\":\"Reads one record\","
	    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
	    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000},"
	    "\"deep\":{\"type\":\"boolean\",\"default\":false}},\"required\":[\"path\"]},"
	    "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}," },
};

static char *result; /* "result":... */
static size_t result_len;
static bool id_last;

static const char *
shape_piece(const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].name, name) == 0)
			return shapes[i].piece;
	exit(2);
}

static void
make_result(size_t size, const char *shape)
{
	const char *piece = shape_piece(shape);
	bool list = *piece == '{' && piece[1] == '"';
	size_t step = strlen(piece), len;
	char *text = malloc(size + 2 * SPARE);

	if (text == NULL)
		exit(1);
	len = (size_t)sprintf(text, "\"result\":{\"x\":%c", list ? '[' : '"');
	do {
		memcpy(text + len, piece, step);
		len += step;
	} while (len + step <= size);
	len -= list; /* the last comma */
	len += (size_t)sprintf(text + len, "%c}", list ? ']' : '"');
	result = text;
	result_len = len;
}

static void
write_all(const char *bytes, size_t len)
{
	ssize_t n;

	for (; len > 0; bytes += n, len -= (size_t)n)
		if ((n = write(STDOUT_FILENO, bytes, len)) < 0)
			exit(1);
}

static void
answer(long id)
{
	static char output[COPIED + SPARE];
	size_t len = (size_t)sprintf(output, "{\"jsonrpc\":\"2.0\",");

	if (!id_last)
		len += (size_t)sprintf(output + len, "\"id\":%ld,", id);
	if (result_len <= COPIED) {
		memcpy(output + len, result, result_len);
		len += result_len;
	} else {
		write_all(output, len);
		write_all(result, result_len);
		len = 0;
	}
	if (id_last)
		len += (size_t)sprintf(output + len, ",\"id\":%ld", id);
	len += (size_t)sprintf(output + len, "}\n");
	write_all(output, len);
}

static void
on_line(const char *line, size_t len)
{
	static const char initialized[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
	    "\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
	const char *found = memmem(line, len, "\"id\":", 5);
	long id = found == NULL ? -1 : strtol(found + 5, NULL, 10);

	if (id == 0)
		write_all(initialized, strlen(initialized));
	else if (id > 0)
		answer(id);
}

/* Answers the whole lines; returns how many bytes are left over. */
static size_t
on_bytes(char *bytes, size_t len)
{
	char *line = bytes, *end = bytes + len, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(end - line))) != NULL; line = newline + 1)
		on_line(line, (size_t)(newline - line));
	memmove(bytes, line, (size_t)(end - line));
	return (size_t)(end - line);
}

int
main(int argc, char **argv)
{
	static char input[INPUT];
	size_t left = 0;
	ssize_t got;

	if (argc != 4)
		return 2;
	live_on();
	id_last = strcmp(argv[2], "last") == 0;
	make_result(strtoul(argv[1], NULL, 10), argv[3]);
	while ((got = read(STDIN_FILENO, input + left, INPUT - left)) > 0)
		left = on_bytes(input, left + (size_t)got);
	return 0;
}
