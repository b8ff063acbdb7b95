#include "shell/spin.h"

#include <assert.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

enum { DESCRIPTORS = 2 };

static bool
is_alone(void)
{
#ifdef __linux__
	cpu_set_t usable;

	if (sched_getaffinity(0, sizeof(usable), &usable) == 0)
		return CPU_COUNT(&usable) == 1;
#endif
	return sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

void
spin_init(struct spin *spin)
{
	*spin = (struct spin){ .alone = is_alone(), .last = INT64_MIN / 2 };
}

void
spin_heard(struct spin *spin)
{
	spin->heard = true;
}

static int64_t
clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

bool
spin_wait(struct spin *spin, const int *fds, int count, int64_t now)
{
	struct pollfd ready[DESCRIPTORS];
	int64_t before = spin->last;

	assert(count <= DESCRIPTORS);
	if (!spin->heard)
		return false;
	spin->heard = false;
	spin->last = now;
	if (spin->alone || count == 0 || now - before >= SPIN_TIME)
		return false;
	for (int i = 0; i < count; i++)
		ready[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	do
		if (poll(ready, (nfds_t)count, 0) != 0)
			return true;
	while (clock_now() - now < SPIN_TIME);
	return false;
}
