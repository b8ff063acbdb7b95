/*
 * The file of options: whatever is in it, canceld runs; each fault is a text of bounded length; and
 * beside the same command line the same file sets the same again.
 */

#include <assert.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "home.h"
#include "shell/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static char path[HOME_PATH];

/* A file that only the home has is never a reason not to run. */
static void
load(struct options *options)
{
	static char name[] = "canceld", dialect[] = "-Dmcp", server[] = "server";
	static char *argv[] = { name, dialect, server, NULL };
	int status = options_parse(options, 3, argv);

	assert(status == OPTIONS_RUN);
	status = configfile_load(options);
	assert(status == OPTIONS_RUN && options->file.in_force != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct options first, again;
	size_t i;
	json_t *fault;
	int fd;

	if (path[0] == '\0') {
		home_enter(path, ".config/canceld/config.json");
		folder_put(path, "");
	}
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	close(fd);
	load(&first);
	load(&again);
	assert(json_equal(first.file.in_force, again.file.in_force) &&
	    first.policy.count == again.policy.count);
	assert(json_equal(first.file.faults, again.file.faults));
	json_array_foreach (first.file.faults, i, fault)
		assert(
		    json_string_length(fault) > 0 && json_string_length(fault) < 4 * OPTIONS_FAULT);
	options_free(&first);
	options_free(&again);
	return 0;
}
