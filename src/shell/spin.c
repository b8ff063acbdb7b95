#include "shell/spin.h"

#include <assert.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

enum { DESCRIPTORS = 2, SIDES = 2 };

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
	*spin = (struct spin){ .alone = is_alone(), .last = { INT64_MIN / 2, INT64_MIN / 2 } };
}

void
spin_heard(struct spin *spin, unsigned side)
{
	spin->heard |= 1u << side;
}

static int64_t
clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool
is_readable(const int *fds, int count)
{
	struct pollfd ready[DESCRIPTORS];

	assert(count <= DESCRIPTORS);
	for (int i = 0; i < count; i++)
		ready[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	return poll(ready, (nfds_t)count, 0) > 0;
}

/* false: none became readable in time. */
static bool
look(const int *fds, int count, int64_t now)
{
	while (clock_now() - now < SPIN_TIME)
		if (is_readable(fds, count))
			return true;
	return false;
}

/* Bytes have come, and from both sides lately. */
static bool
is_occasion(struct spin *spin, int64_t now)
{
	unsigned heard = spin->heard;
	bool both = true;

	spin->heard = 0;
	for (int side = 0; side < SIDES; side++) {
		if (heard & 1u << side)
			spin->last[side] = now;
		both &= now - spin->last[side] < SPIN_NEAR;
	}
	return heard != 0 && both;
}

bool
spin_wait(struct spin *spin, const int *fds, int count, int64_t now)
{
	if (!is_occasion(spin, now) || spin->alone || count == 0)
		return false;
	if (spin->pause > 0) {
		spin->pause--;
		return false;
	}
	if (is_readable(fds, count))
		return true; /* it was there before */
	if (look(fds, count, now)) {
		spin->in_vain = 0;
		return true;
	}
	if (++spin->in_vain >= SPIN_TRIES)
		spin->pause = SPIN_PAUSE;
	return false;
}
