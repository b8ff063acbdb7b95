/*
 * A JSON log, or a history, of anybody: whatever its lines are, what is told of it is JSON, in otlp
 * a line for each session, and a page of at most 1 MiB.
 */

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { PAGE_MOST = 1 << 20 };

/* Standard output goes to a file, whose text this is; freed by the caller. */
static char *
written(void (*write_all)(const struct trace *), const struct trace *trace, size_t *len)
{
	int kept = dup(STDOUT_FILENO);
	FILE *file = tmpfile();
	char *text;

	if (file == NULL || fflush(stdout) != 0 || dup2(fileno(file), STDOUT_FILENO) < 0)
		abort();
	write_all(trace);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	*len = (size_t)lseek(fileno(file), 0, SEEK_END);
	text = calloc(*len + 1, 1);
	if (text == NULL || pread(fileno(file), text, *len, 0) != (ssize_t)*len)
		abort();
	fclose(file);
	return text;
}

static void
check_json(const char *text, size_t len)
{
	json_t *json = json_loadb(text, len, JSON_ALLOW_NUL, NULL);

	assert(json != NULL);
	json_decref(json);
}

static void
check_formats(const struct trace *trace)
{
	size_t len;
	char *text = written(trace_perfetto, trace, &len), *next;

	check_json(text, len);
	free(text);
	text = written(trace_otlp, trace, &len);
	for (char *line = text; (next = strchr(line, '\n')) != NULL; line = next + 1)
		check_json(line, (size_t)(next - line));
	free(text);
	free(written(trace_html, trace, &len));
	assert(len <= PAGE_MOST);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct trace trace = { .payload = len % 2 == 1,
		.sessions = json_array(),
		.open = json_object() };
	json_t *tools = json_object(), *session;
	size_t i;

	for (const uint8_t *at = bytes, *end = bytes + len, *next; len > 0 && at < end;
	     at = next + 1) {
		json_t *line;

		next = memchr(at, '\n', (size_t)(end - at));
		next = next == NULL ? end : next;
		line = json_loadb((const char *)at, (size_t)(next - at), JSON_ALLOW_NUL, NULL);
		if (json_is_object(line))
			trace_hear(&trace, line);
		else
			json_decref(line);
	}
	check_formats(&trace);
	json_array_foreach (trace.sessions, i, session)
		trace_count(tools, session);
	json_decref(trace_tools(tools, 0));
	json_decref(tools);
	json_decref(trace.sessions);
	json_decref(trace.open);
	return 0;
}
