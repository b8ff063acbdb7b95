#include "peers.h"

#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness.h"
#include "life.h"

static void
write_all(const char *data, size_t len)
{
	while (len > 0) {
		ssize_t done = write(STDOUT_FILENO, data, len);

		if (done <= 0)
			exit(8);
		data += done;
		len -= (size_t)done;
	}
}

static void
answer(const char *line, const char *result)
{
	struct text text = { 0 };
	char *id = member_copy(line, "id");

	if (id != NULL) {
		text_print(&text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result);
		write_all(text.data, text.len);
	}
	free(text.data);
	free(id);
}

/* Reads once into input; false at the end. */
static bool
read_some(struct text *input)
{
	char piece[65536];
	ssize_t done;

	live_on();
	done = read(STDIN_FILENO, piece, sizeof(piece));
	if (done > 0)
		text_append(input, piece, (size_t)done);
	return done > 0;
}

/* The next whole line of input from *start on, or NULL. */
static char *
next_line(struct text *input, size_t *start)
{
	char *line = input->data + *start;
	char *newline = input->len == 0 ? NULL : memchr(line, '\n', input->len - *start);

	if (newline == NULL) {
		if (input->len > 0)
			text_drop(input, *start);
		*start = 0;
		return NULL;
	}
	*newline = '\0';
	*start = (size_t)(newline + 1 - input->data);
	return line;
}

typedef void line_function(const char *line);

static int
each_line(line_function *function)
{
	struct text input = { 0 };
	size_t start = 0;
	char *line;

	while (read_some(&input))
		while ((line = next_line(&input, &start)) != NULL)
			function(line);
	free(input.data);
	return 0;
}

static void
add_descriptors(struct text *text)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	const char *comma = "";

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (!isdigit((unsigned char)*entry->d_name) ||
		    atoi(entry->d_name) == dirfd(directory))
			continue;
		text_print(text, "%s%s", comma, entry->d_name);
		comma = ",";
	}
	if (directory != NULL)
		closedir(directory);
}

static void
add_signals(struct text *text)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	char name[16];
	unsigned long long set;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "%15[A-Za-z]: %llx", name, &set) == 2 &&
		    strncmp(name, "Sig", 3) == 0)
			text_print(text, ",\"%s\":%llu", name, set);
	if (file != NULL)
		fclose(file);
}

static void
answer_facts(const char *line)
{
	struct text text = { 0 };

	text_print(&text, "{\"descriptors\":[");
	add_descriptors(&text);
	text_print(&text, "]");
	add_signals(&text);
	text_print(&text, "}");
	answer(line, text.data);
	free(text.data);
}

static void
answer_inherited(const char *line)
{
	char *facts;

	if (strstr(line, "\"crash\"") != NULL)
		exit(7);
	while (strstr(line, "\"stuck\"") != NULL)
		pause();
	if (strstr(line, "\"facts\"") == NULL) {
		answer(line,
		    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		    "\"serverInfo\":{\"name\":\"inherited\",\"version\":\"1\"}}");
		return;
	}
	facts = inherited_facts();
	answer(line, facts);
	free(facts);
}

static void
on_puppet_signal(int number)
{
	if (number == SIGUSR1)
		_exit(0);
	close(number == SIGUSR2 ? STDOUT_FILENO : STDIN_FILENO);
	for (;;)
		pause();
}

/* 200,000 bytes are more than a pipe holds, so canceld has read some once it is told. */
static void
answer_half(const char *line)
{
	char *id = member_copy(line, "id");
	struct text text = { 0 };

	text_print(&text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"%0200000d", id, 0);
	write_all(text.data, text.len);
	fputs("half an answer is written\n", stderr);
	free(text.data);
	free(id);
}

static void
obey(const char *line)
{
	if (strstr(line, "\"exit\"") != NULL)
		exit(3);
	if (strstr(line, "\"ping\"") != NULL)
		answer(line, "{}");
	else if (strstr(line, "\"half\"") != NULL)
		answer_half(line);
	while (strstr(line, "\"stop-reading\"") != NULL)
		pause();
}

static int
unbound(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
	return each_line(obey);
}

static int
puppet(const char *kind)
{
	static const int numbers[] = { SIGUSR1, SIGUSR2, SIGWINCH };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], on_puppet_signal);
	if (kind != NULL)
		descendant_start(kind);
	return each_line(obey);
}

int
peer_main(int count, char **arguments)
{
	if (strcmp(arguments[0], "facts") == 0)
		return each_line(answer_facts);
	if (strcmp(arguments[0], "inherited") == 0)
		return each_line(answer_inherited);
	if (strcmp(arguments[0], "unbound") == 0)
		return unbound();
	if (strcmp(arguments[0], "puppet") == 0)
		return puppet(count > 1 ? arguments[1] : NULL);
	fprintf(stderr, "there is no peer %s\n", arguments[0]);
	return 2;
}
