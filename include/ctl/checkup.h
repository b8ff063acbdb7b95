#ifndef CTL_CHECKUP_H
#define CTL_CHECKUP_H

/* Examines a server: handshake, tools, one call, a cancel, a timeout, the end; fills the verdicts. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "ctl/dialogue.h"
#include "ctl/verdict.h"

struct checkup {
	char *const *command;     /* ended by NULL */
	char *const *environment; /* NULL: ours */
	const char *directory;    /* NULL: ours */
	enum dialogue_kind kind;
	const char *call;        /* the tool, or in ACP and LSP the method, that may be called; NULL: none */
	const json_t *arguments; /* an object */
	msec_t timeout;          /* the longest wait for one answer */
	msec_t start;            /* the same for the first one */
	size_t max_memory;       /* bytes; 0: not tested */
	bool loud;               /* the server's stderr is ours */
};

enum checkup_end {
	CHECKUP_DONE,
	CHECKUP_FAILED,      /* the command or canceld could not be started: failure tells */
	CHECKUP_INTERRUPTED, /* by a signal */
};

enum { CHECKUP_FAILURE = 512 };

/* signal: set if interrupted. No process is left in any case. */
enum checkup_end checkup_run(const struct checkup *checkup, struct verdicts *verdicts, char failure[CHECKUP_FAILURE],
    int *signal);

#endif
