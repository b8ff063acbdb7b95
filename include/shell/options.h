#ifndef SHELL_OPTIONS_H
#define SHELL_OPTIONS_H

/* The command line. */

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/dialect.h"
#include "core/policy.h"
#include "shell/log.h"

enum {
	OPTIONS_RUN = -1,       /* there is a command to run */
	STATUS_TIMED_OUT = 124, /* --fail-on-timeout */
	STATUS_FAILED = 125,    /* canceld itself */
};

struct options {
	struct policy policy;
	const struct dialect *dialect; /* NULL: the traffic shows it */
	msec_t grace;                  /* MSEC_NEVER: the built-in time */
	bool drain;
	msec_t drain_for;              /* MSEC_NEVER: as long as the deadlines allow */
	msec_t term_after, kill_after; /* MSEC_NEVER: the built-in times */
	bool sweep_group;              /* the sweep spares processes that have left the server's process group */
	size_t restarts;               /* 0: the server is not started again */
	msec_t restarts_within;        /* MSEC_NEVER: no window, `restarts` counts them all */
	bool stateless;                /* restart it even if the session cannot be replayed */
	msec_t kill_stuck;             /* 0: a server that does not answer is not ended */
	bool no_cancel, answer_cancelled, tool_errors, ask_progress, legacy, fail_on_timeout, strict;
	size_t max_message, max_inflight;
	struct log_config log;
	char **command; /* within argv, ended by NULL; never empty */
};

/*
 * Parses the command line. Returns OPTIONS_RUN, or the status to exit with: 0 after --help and --version (written to
 * stdout), STATUS_FAILED after one line on stderr that tells what is wrong and what would be right. Call options_free
 * in any case; log.file and command point into argv.
 */
int options_parse(struct options *options, int argc, char *argv[]) __attribute__((warn_unused_result));
void options_free(struct options *options);

/* For the test that compares them with the manual: the table, ended by a NULL name, and the text of --help. */
const struct option *options_table(void);
const char *options_help(void);

#endif
