#pragma once

/* What is in the queue of a lane, at positions relative to lane->written. */

#include "core/lane.h"

struct queue_view {
	uint64_t start, next;
	size_t size, cuts, own;
	bool bound;
};

struct queue_cut {
	uint64_t from, to;
	size_t own;
};

size_t queue_count(const struct lane *lane);
struct queue_view queue_at(const struct lane *lane, size_t index);
size_t queue_cuts(const struct lane *lane);
struct queue_cut queue_cut_at(const struct lane *lane, size_t index);
