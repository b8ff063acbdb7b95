#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ascii[] = "The quick brown fox jumps over the lazy dog, and 0123456789 is what it counts; ";
static const char cjk[] =
    "\xE5\xA4\xA9\xE5\x9C\xB0\xE7\x8E\x84\xE9\xBB\x83\xE5\xAE\x87\xE5\xAE\x99\xE6\xB4\xAA\xE8\x8D\x92";
static const char escapes[] = "{\\\"path\\\":\\\"a.c\\\",\\\"line\\\":12},\\n";
static const char tool[] =
    "{\"name\":\"read_record_%06u\",\"title\":\"Read a record\",\"description\":\"Reads one record\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000},"
    "\"deep\":{\"type\":\"boolean\",\"default\":false}},\"required\":[\"path\"]},"
    "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}},";

enum { SPARE = 1024 };

static char *
repeat(const char *piece, size_t bytes, size_t *len)
{
	size_t step = strlen(piece), at = 1;
	char *text = malloc(bytes + SPARE);

	if (text == NULL)
		abort();
	text[0] = '"';
	for (; at + step + 1 <= bytes; at += step)
		memcpy(text + at, piece, step);
	text[at++] = '"';
	*len = at;
	return text;
}

static char *
make_tools(size_t bytes, size_t *len)
{
	char *text = malloc(bytes + SPARE);
	unsigned number = 0;
	size_t at = 0;

	if (text == NULL)
		abort();
	text[at++] = '[';
	do
		at += (size_t)snprintf(text + at, SPARE - 1, tool, number++);
	while (at + sizeof(tool) < bytes);
	text[at - 1] = ']';
	*len = at;
	return text;
}

char *
shape_make(const char *name, size_t bytes, size_t *len)
{
	if (strcmp(name, "ascii") == 0)
		return repeat(ascii, bytes, len);
	if (strcmp(name, "cjk") == 0)
		return repeat(cjk, bytes, len);
	if (strcmp(name, "escapes") == 0)
		return repeat(escapes, bytes, len);
	return strcmp(name, "tokens") == 0 ? make_tools(bytes, len) : NULL;
}
