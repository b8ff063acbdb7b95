#include "shell/monotonic.h"

#include <time.h>

msec_t
monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (msec_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
