#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H

/* The configuration of a session. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/dialect.h"
#include "core/policy.h"

struct session_config {
	const struct dialect *dialect; /* NULL: the one that the traffic shows */
	struct policy *policy;         /* borrowed as long as the session lives, which marks the rules that match */
	msec_t grace;                  /* MSEC_NEVER: the built-in time */
	size_t max_message, max_inflight;
	bool no_cancel, answer_cancelled, tool_errors;
	bool ask_progress; /* a request without a progress token is given one */
	bool legacy;       /* server/discover is answered as an unknown method */
	bool strict;       /* hold every frame until it is whole */
	bool restarts;     /* the server may be started again: keep the messages that a new one must be told */
	bool stateless;    /* ... even if the protocol cannot tell a new server everything */
	bool
	    dry_run; /* the messages pass elsewhere: it hears what passes, under its own ids and tokens, and adds nothing */
	bool observed;     /* keep what a person may ask for: the latest progress of requests, how long answers took */
	msec_t kill_stuck; /* how long the server may take to show that it is alive, after a cancel; 0: for ever */
	uint64_t seed;     /* of the hash tables: any random number */
};

#endif
