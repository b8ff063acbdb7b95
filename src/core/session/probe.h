#pragma once

#include "recovery.h"

/* What replay.c tells probe.c of a question whether the server is alive. */

/* It is answered, and will be removed. */
void probe_answered(struct probe *probe, const struct request *question);

/* The time of the server's probe is over: it is stuck, or gets more time. */
void probe_expire(struct probe *probe, struct request *question);

/*
 * The trial question was not answered in time, although nothing else was open and the server could
 * have answered: it is not probed any more, unless it answers after all.
 */
void probe_expire_trial(struct probe *probe, struct request *question);
