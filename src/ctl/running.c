#include "ctl/running.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"

/* A file of a process; empty if it cannot be read. */
static void
read_file(const char *process, const char *name, struct buf *text)
{
	char path[300];
	size_t got;
	FILE *file;

	buf_clear(text);
	snprintf(path, sizeof(path), "/proc/%s/%s", process, name);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	while ((got = fread(buf_space(text, 4096), 1, 4096, file)) > 0)
		buf_added(text, got);
	fclose(file);
}

/* The next string of those that NUL ends. */
static bool
next_string(struct span *strings, struct span *string)
{
	const char *end;

	if (strings->len == 0)
		return false;
	end = memchr(strings->ptr, '\0', strings->len);
	string->ptr = strings->ptr;
	string->len = end != NULL ? (size_t)(end - strings->ptr) : strings->len;
	*strings = span_part(*strings, string->len + (end != NULL), strings->len - string->len - (end != NULL));
	return true;
}

static struct span
last_part(struct span path)
{
	const char *slash = path.len > 0 ? memrchr(path.ptr, '/', path.len) : NULL;
	size_t at = slash != NULL ? (size_t)(slash - path.ptr) + 1 : 0;

	return span_part(path, at, path.len - at);
}

/* The program itself, or the script of an interpreter. */
static bool
is_program(const char *process, const char *name, struct buf *text)
{
	struct span strings, program, script;

	read_file(process, "cmdline", text);
	strings = buf_span(text);
	if (!next_string(&strings, &program))
		return false;
	program = last_part(program);
	if (span_equal(program, span_of(name)))
		return true;
	return (span_equal(program, SPAN("node")) || span_equal(program, SPAN("bun"))) &&
	    next_string(&strings, &script) && span_equal(last_part(script), span_of(name));
}

static bool
has_home(const char *process, const char *home, struct buf *text)
{
	const struct span key = SPAN("HOME=");
	struct span strings, string;

	read_file(process, "environ", text);
	strings = buf_span(text);
	while (next_string(&strings, &string))
		if (string.len >= key.len && span_equal(span_part(string, 0, key.len), key))
			return span_equal(span_part(string, key.len, string.len - key.len), span_of(home));
	return true;
}

bool
running(const char *name, const char *home)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	struct stat status;
	char path[300];
	struct buf text;
	bool found = false;

	if (processes == NULL)
		return false;
	buf_init(&text);
	while (!found && (entry = readdir(processes)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s", entry->d_name);
		found = stat(path, &status) == 0 && status.st_uid == geteuid() &&
		    is_program(entry->d_name, name, &text) && has_home(entry->d_name, home, &text);
	}
	closedir(processes);
	buf_free(&text);
	return found;
}
