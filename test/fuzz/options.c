/*
 * A command line, an argument a line: canceld runs with it, ends well after --help or --version, or
 * tells what is wrong in one line, and the same each time.
 */

#include <assert.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { ARGUMENTS = 64 };

/* Nothing of the help or of the refusals is shown. */
static int
parse(struct options *options, int argc, char *argv[])
{
	int kept[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC), status;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		fflush(fd == STDOUT_FILENO ? stdout : stderr);
		kept[fd - STDOUT_FILENO] = dup(fd);
		dup2(null, fd);
	}
	status = options_parse(options, argc, argv);
	fflush(stdout);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		dup2(kept[fd - STDOUT_FILENO], fd);
		close(kept[fd - STDOUT_FILENO]);
	}
	close(null);
	return status;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct options first, again;
	static char program[] = "canceld";
	char *text = malloc(len + 1), *line = text, *argv[ARGUMENTS + 2] = { program };
	char *copy[ARGUMENTS + 2];
	int argc = 1, status, second;

	memcpy(text, bytes, len);
	text[len] = '\0';
	while (line != NULL && argc <= ARGUMENTS)
		argv[argc++] = strsep(&line, "\n");
	argv[argc] = NULL;
	/* getopt changes their order. */
	memcpy(copy, argv, sizeof(argv));
	status = parse(&first, argc, argv);
	assert(status == OPTIONS_RUN || status == 0 || status == STATUS_FAILED);
	assert((status == STATUS_FAILED) == (first.fault[0] != '\0'));
	assert(strpbrk(first.fault, "\n\r\033") == NULL);
	if (status == OPTIONS_RUN)
		assert(first.command[0] != NULL);
	second = parse(&again, argc, copy);
	assert(second == status && strcmp(first.fault, again.fault) == 0);
	assert(first.policy.count == again.policy.count);
	assert(json_equal(first.origins, again.origins));
	options_free(&first);
	options_free(&again);
	free(text);
	return 0;
}
