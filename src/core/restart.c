#include "core/restart.h"

#include <stdlib.h>

#include "core/limits.h"
#include "core/mem.h"

void
restart_init(struct restart *restart, size_t most, msec_t within)
{
	*restart = (struct restart){ .most = most, .within = within };
}

void
restart_free(struct restart *restart)
{
	free(restart->times);
	*restart = (struct restart){ 0 };
}

/* As many as are allowed were started within the time that ends now. */
static bool
is_exhausted(const struct restart *restart, msec_t now)
{
	if (restart->count < restart->most)
		return false;
	return restart->within == MSEC_NEVER || restart->most == 0 ||
	    now - restart->times[restart->count % restart->most] < restart->within;
}

/* The first one in a row comes at once. */
static msec_t
wait_of(unsigned idle)
{
	msec_t wait = TIME_RESTART_WAIT;

	if (idle == 0)
		return 0;
	while (--idle > 0 && wait < TIME_RESTART_MOST)
		wait *= 2;
	return wait < TIME_RESTART_MOST ? wait : TIME_RESTART_MOST;
}

msec_t
restart_after(struct restart *restart, bool served, msec_t now)
{
	if (is_exhausted(restart, now))
		return MSEC_NEVER;
	if (restart->times == NULL)
		restart->times = mem_resize(NULL, restart->most, sizeof(*restart->times));
	restart->times[restart->count++ % restart->most] = now;
	restart->idle = served ? 0 : restart->idle + 1;
	return wait_of(restart->idle == 0 ? 0 : restart->idle - 1);
}
