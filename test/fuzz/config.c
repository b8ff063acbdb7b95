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
#include <sys/stat.h>
#include <unistd.h>

#include "shell/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static char home[] = "/tmp/fuzz-config-XXXXXX";
static char path[sizeof(home) + 32];

static void
leave(void)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(home);
}

static void
enter(void)
{
	if (mkdtemp(home) == NULL)
		abort();
	snprintf(path, sizeof(path), "%s/.config", home);
	mkdir(path, 0700);
	strcat(path, "/canceld");
	mkdir(path, 0700);
	strcat(path, "/config.json");
	setenv("HOME", home, 1);
	unsetenv("XDG_CONFIG_HOME");
	atexit(leave);
}

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

	if (path[0] == '\0')
		enter();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
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
