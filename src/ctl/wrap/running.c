#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "ctl/clients.h"

/* A file of a process, whose strings NUL ends; empty if it cannot be read. */
static void
read_file(const char *process, const char *name, struct buf *text)
{
	char path[300];
	size_t got;
	FILE *file;

	buf_clear(text);
	snprintf(path, sizeof(path), "/proc/%s/%s", process, name);
	file = fopen(path, "re");
	while (file != NULL && (got = fread(buf_space(text, 4096), 1, 4096, file)) > 0)
		buf_added(text, got);
	if (file != NULL)
		fclose(file);
	buf_append(text, (struct span){ "", 1 });
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The program itself, or the script of an interpreter. */
static bool
is_program(const char *process, const char *name, struct buf *text)
{
	const char *program, *script;

	read_file(process, "cmdline", text);
	program = buf_span(text).ptr;
	if (strcmp(last_part(program), name) == 0)
		return true;
	if (strlen(program) + 1 >= text->len)
		return false;
	script = program + strlen(program) + 1;
	return (strcmp(last_part(program), "node") == 0 || strcmp(last_part(program), "bun") == 0) &&
	    strcmp(last_part(script), name) == 0;
}

static bool
has_home(const char *process, const char *home, struct buf *text)
{
	const char *at, *end;

	read_file(process, "environ", text);
	at = buf_span(text).ptr;
	for (end = at + text->len; at < end; at += strlen(at) + 1)
		if (strncmp(at, "HOME=", strlen("HOME=")) == 0)
			return strcmp(at + strlen("HOME="), home) == 0;
	return true;
}

bool
client_running(const char *name, const char *home)
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
