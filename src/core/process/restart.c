#include "core/supervisor.h"

#include <stdlib.h>

#include "core/limits.h"
#include "core/buf.h"

void
restart_free(struct restart *restart)
{
	free(restart->times);
	*restart = (struct restart){ 0 };
}

msec_t
restart_after(struct restart *restart, bool served, msec_t now)
{
	if (restart->count >= restart->most &&
	    (restart->within == MSEC_NEVER || restart->most == 0 ||
		now - restart->times[restart->count % restart->most] < restart->within))
		return MSEC_NEVER;
	if (restart->times == NULL)
		restart->times = mem_resize(NULL, restart->most, sizeof(*restart->times));
	restart->times[restart->count++ % restart->most] = now;
	restart->wait = served ? 0 : restart->next_wait;
	restart->next_wait = served ? 0 : restart->wait == 0 ? TIME_RESTART_WAIT : 2 * restart->wait;
	if (restart->next_wait > TIME_RESTART_MOST)
		restart->next_wait = TIME_RESTART_MOST;
	return restart->wait;
}
