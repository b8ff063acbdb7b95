#include "core/supervisor.h"

#include "core/limits.h"

msec_t
restart_after(struct restart *restart, bool served, msec_t now)
{
	if (served || now - restart->last >= TIME_START)
		restart->row = 0;
	if (restart->row == LIMIT_UNSERVED ||
	    (restart->count >= restart->most &&
		(restart->most == 0 ||
		    now - restart->times[restart->count % restart->most] < restart->within)))
		return MSEC_NEVER;
	mem_room(restart->times, restart->most);
	restart->wait = earlier(restart->row == 0 ? 0 : TIME_RESTART_WAIT << (restart->row - 1),
	    TIME_RESTART_MOST);
	restart->row++;
	restart->last = restart->times[restart->count++ % restart->most] = now;
	return restart->wait;
}
