#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "shell/child.h"
#include "shell/descriptor.h"
#include "shell/log.h"
#include "shell/options.h"
#include "shell/loop.h"

enum { MAPPED = 256 << 10 }; /* a larger allocation goes back to the system when it is freed */

/* By default glibc raises this threshold with each large allocation that is freed, and keeps memory below it. */
static void
bound_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, MAPPED);
#endif
}

int
main(int argc, char *argv[])
{
	struct saved_signals signals;
	struct options options;
	struct log log;
	bool opened = false;
	int status;

	if (descriptor_sanitize() < 0) {
		perror("canceld: /dev/null");
		return STATUS_FAILED;
	}
	bound_memory();
	signals_save(&signals);
	status = options_parse(&options, argc, argv);
	if (status == OPTIONS_RUN && !(opened = log_open(&log, &options.log) == 0))
		status = options_refuse(&options, "--log '%s': %s",
		    options.log.file != NULL ? options.log.file : "stderr", strerror(errno));
	/* A program seldom shows its user what canceld writes to stderr: it is told in the answer to its first request. */
	if (options.fault[0] != '\0' && !isatty(STDIN_FILENO))
		opened = log_open(&log, &options.log) == 0;
	if (opened) {
		status = loop_run(&options, &log, &signals);
		log_close(&log);
	}
	options_free(&options);
	return status;
}
