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
#include "shell/proxy.h"

enum { BORROWED = 256 << 10 }; /* a buffer above this size goes back to the system when it is freed or moved */

/* glibc forgets to: each large buffer that was freed makes it keep larger ones. */
static void
bound_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, BORROWED);
#endif
}

/* Whoever called canceld looks at stderr for this, wherever the log goes. */
static void
report_start(const struct options *options, struct log *log, int error)
{
	char doing[256];

	snprintf(doing, sizeof(doing), "start %s", options->command[0]);
	log_failure(log, doing, error);
	if (options->log.file != NULL)
		fprintf(stderr, "canceld: cannot %s: %s\n", doing, strerror(error));
}

static int
run(const struct options *options, struct log *log, const struct saved_signals *signals)
{
	struct child child;
	struct log_field fields[2];
	int status = child_start(&child, options->command, signals, options->sweep_group);

	if (status != 0) {
		report_start(options, log, errno);
		return status;
	}
	fields[0] = log_string("command", options->command[0]);
	fields[1] = log_number("server", child.pid);
	log_event(log, WHY_STARTED, fields, 2);
	return proxy_run(options, log, &child, signals);
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
		fprintf(stderr, "canceld: --log: %s: ", options.log.file);
		perror(NULL);
		status = STATUS_FAILED;
	}
	if (status == OPTIONS_RUN) {
		status = run(&options, &log, &signals);
		log_close(&log);
	}
	options_free(&options);
	return status;
}
