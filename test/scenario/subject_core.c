#include "scenario/subject.h"

#include <string.h>

static void *
open_core(const struct session_config *config, action_fn *act, void *user, msec_t now)
{
	return session_new(config, act, user, now);
}

static void
close_core(void *self)
{
	session_free(self);
}

static void
hear_core(void *self, enum side from, struct span bytes, msec_t now)
{
	struct lane *lane = session_lane(self, from);
	size_t room;
	char *space = lane_space(lane, bytes.len, &room);

	memcpy(space, bytes.ptr, bytes.len);
	lane_received(lane, bytes.len);
	session_hear(self, from, now);
}

static void
end_core(void *self, enum side from, msec_t now)
{
	session_end_of_input(self, from, now);
}

static struct lane *
lane_to(void *self, enum side to)
{
	return session_lane(self, to == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT);
}

static int
output_core(void *self, enum side to, struct span *spans, int max)
{
	return lane_output(lane_to(self, to), spans, max);
}

static void
sent_core(void *self, enum side to, size_t n)
{
	lane_sent(lane_to(self, to), n);
}

static void
leave_core(void *self, enum leaving leaving, msec_t now)
{
	session_client_leaves(self, leaving, now);
}

static void
gone_core(void *self, int status, int signal, msec_t now)
{
	session_server_gone(self, status, signal, now);
}

static void
lost_core(void *self, int status, int signal, msec_t now)
{
	session_server_lost(self, status, signal, now);
}

static void
back_core(void *self, msec_t now)
{
	session_server_back(self, now);
}

static void
quote_core(void *self, struct span words)
{
	session_quote(self, words);
}

static void
give_up_core(void *self)
{
	session_give_up(self);
}

static void
deaf_core(void *self, bool retired, msec_t now)
{
	session_server_deaf(self, retired, now);
}

static void
shut_core(void *self, msec_t now)
{
	session_server_shut(self, now);
}

static void
expire_core(void *self, bool heard, msec_t now)
{
	session_expire(self, heard, now);
}

static msec_t
wake_core(void *self, bool stalled, msec_t now)
{
	session_sleep(self, stalled, now);
	return session_wake(self, stalled);
}

static struct session *
session_core(void *self)
{
	return self;
}

const struct subject_kind subject_core = {
	.open = open_core,
	.close = close_core,
	.hear = hear_core,
	.end = end_core,
	.output = output_core,
	.sent = sent_core,
	.leave = leave_core,
	.gone = gone_core,
	.lost = lost_core,
	.back = back_core,
	.quote = quote_core,
	.deaf = deaf_core,
	.shut = shut_core,
	.give_up = give_up_core,
	.expire = expire_core,
	.wake = wake_core,
	.session = session_core,
};
