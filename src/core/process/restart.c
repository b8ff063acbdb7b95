#include "core/supervisor.h"

#include "core/limits.h"

void
restart_free(struct restart *restart)
{
	free(restart->times);
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
	restart->wait = served || restart->count == 0 ? 0 :
	    restart->wait > 0 ? earlier(2 * restart->wait, TIME_RESTART_MOST) :
				TIME_RESTART_WAIT;
	restart->times[restart->count++ % restart->most] = now;
	return restart->wait;
}
