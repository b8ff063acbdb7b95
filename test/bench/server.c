/*
 * server SIZE first|last SHAPE HELD each|bulk: answers each line at once with a result of about SIZE bytes, its id before the result
 * or behind it. It holds back so many requests: each further one makes it answer one of those, at random; a line with
 * "flush" makes it answer all. It writes each answer by itself, or in bulk what it has read in bulk. It reads no JSON, but looks for "id": and knows that ids are numbers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shapes.h"

enum { INPUT = 256 << 10, OUTPUT = 256 << 10, TOGETHER = 32 << 10 };

struct server {
	char *value;
	size_t value_len;
	bool id_last, bulk;
	unsigned *held;
	size_t hold, holding;
	uint32_t random;
	char output[OUTPUT];
	size_t output_len;
};

static void
write_all(const char *bytes, size_t len)
{
	ssize_t n;

	for (; len > 0; bytes += n, len -= (size_t)n)
		if ((n = write(STDOUT_FILENO, bytes, len)) < 0)
			exit(1);
}

static void
flush(struct server *server)
{
	write_all(server->output, server->output_len);
	server->output_len = 0;
}

static void
put(struct server *server, const char *bytes, size_t len)
{
	if (len > TOGETHER) {
		flush(server);
		write_all(bytes, len);
		return;
	}
	if (server->output_len + len > OUTPUT)
		flush(server);
	memcpy(server->output + server->output_len, bytes, len);
	server->output_len += len;
}

static void
put_text(struct server *server, const char *text)
{
	put(server, text, strlen(text));
}

static void
put_number(struct server *server, unsigned number)
{
	char digits[16];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	put(server, digits + at, sizeof(digits) - at);
}

static void
answer(struct server *server, unsigned id)
{
	put_text(server, "{\"jsonrpc\":\"2.0\",");
	if (!server->id_last) {
		put_text(server, "\"id\":");
		put_number(server, id);
		put_text(server, ",");
	}
	put_text(server, "\"result\":{\"x\":");
	put(server, server->value, server->value_len);
	if (server->id_last) {
		put_text(server, "},\"id\":");
		put_number(server, id);
	} else {
		put_text(server, "}");
	}
	put_text(server, "}\n");
	if (!server->bulk)
		flush(server);
}

static void
answer_start(struct server *server)
{
	put_text(server,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
	    "\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n");
}

static void
hold(struct server *server, unsigned id)
{
	size_t which;

	if (server->holding < server->hold) {
		server->held[server->holding++] = id;
		return;
	}
	server->random = server->random * 1664525 + 1013904223;
	which = (size_t)((uint64_t)server->random * server->hold >> 32);
	answer(server, server->held[which]);
	server->held[which] = id;
}

static void
on_line(struct server *server, const char *line, size_t len)
{
	const char *id = memmem(line, len, "\"id\":", 5);

	if (id == NULL) {
		while (memmem(line, len, "flush", 5) != NULL && server->holding > 0)
			answer(server, server->held[--server->holding]);
		return;
	}
	if (strncmp(id + 5, "0,", 2) == 0)
		answer_start(server);
	else if (server->hold > 0)
		hold(server, (unsigned)strtoul(id + 5, NULL, 10));
	else
		answer(server, (unsigned)strtoul(id + 5, NULL, 10));
}

/* Answers the whole lines; returns how many bytes are left over. */
static size_t
on_bytes(struct server *server, char *bytes, size_t len)
{
	char *line = bytes, *end = bytes + len, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(end - line))) != NULL; line = newline + 1)
		on_line(server, line, (size_t)(newline - line));
	memmove(bytes, line, (size_t)(end - line));
	return (size_t)(end - line);
}

int
main(int argc, char **argv)
{
	static struct server server;
	static char input[INPUT];
	size_t left = 0;
	ssize_t got;

	if (argc != 6)
		return 2;
	server.value = shape_make(argv[3], strtoul(argv[1], NULL, 10), &server.value_len);
	server.id_last = strcmp(argv[2], "last") == 0;
	server.bulk = strcmp(argv[5], "bulk") == 0;
	server.hold = strtoul(argv[4], NULL, 10);
	server.held = calloc(server.hold + 1, sizeof(*server.held));
	if (server.value == NULL || server.held == NULL)
		return 2;
	while ((got = read(STDIN_FILENO, input + left, INPUT - left)) > 0) {
		left = on_bytes(&server, input, left + (size_t)got);
		flush(&server);
	}
	return 0;
}
