#include <errno.h>
#include <stdio.h>
#include <string.h>
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
	int status;

	if (descriptor_sanitize() < 0) {
		perror("canceld: /dev/null");
		return STATUS_FAILED;
	}
	bound_memory();
	signals_save(&signals);
	status = options_parse(&options, argc, argv);
	if (status == OPTIONS_RUN && log_open(&log, &options.log) < 0) {
		fprintf(stderr, "canceld: --log: %s: %s\n", options.log.file != NULL ? options.log.file : "stderr",
		    strerror(errno));
		status = STATUS_FAILED;
	}
	if (status == OPTIONS_RUN) {
		status = loop_run(&options, &log, &signals);
		log_close(&log);
	}
	options_free(&options);
	return status;
}
