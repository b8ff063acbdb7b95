#include "scenario/subject.h"

#include <stdlib.h>

#include "core/mem.h"

struct relay {
	struct buf to[2];
};

static void *
open_relay(const struct session_config *config, action_fn *act, void *user, msec_t now)
{
	struct relay *relay = mem_new(sizeof(*relay));

	(void)config;
	(void)act;
	(void)user;
	(void)now;
	buf_init(&relay->to[SIDE_CLIENT]);
	buf_init(&relay->to[SIDE_SERVER]);
	return relay;
}

static void
close_relay(void *self)
{
	struct relay *relay = self;

	buf_free(&relay->to[SIDE_CLIENT]);
	buf_free(&relay->to[SIDE_SERVER]);
	free(relay);
}

static void
hear_relay(void *self, enum side from, struct span bytes, msec_t now)
{
	struct relay *relay = self;

	(void)now;
	buf_append(&relay->to[from == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT], bytes);
}

static int
output_relay(void *self, enum side to, struct span *spans, int max)
{
	struct relay *relay = self;

	(void)max;
	spans[0] = buf_span(&relay->to[to]);
	return spans[0].len > 0;
}

static void
sent_relay(void *self, enum side to, size_t n)
{
	struct relay *relay = self;

	buf_consume(&relay->to[to], n);
}

static void
end_relay(void *self, enum side from, msec_t now)
{
	(void)self;
	(void)from;
	(void)now;
}

static void
leave_relay(void *self, enum leaving leaving, msec_t now)
{
	(void)self;
	(void)leaving;
	(void)now;
}

static void
gone_relay(void *self, int status, int signal, msec_t now)
{
	(void)self;
	(void)status;
	(void)signal;
	(void)now;
}

static void
back_relay(void *self, msec_t now)
{
	(void)self;
	(void)now;
}

static void
quote_relay(void *self, struct span words)
{
	(void)self;
	(void)words;
}

static void
give_up_relay(void *self)
{
	(void)self;
}

static void
deaf_relay(void *self, bool retired, msec_t now)
{
	(void)self;
	(void)retired;
	(void)now;
}

static void
shut_relay(void *self, msec_t now)
{
	(void)self;
	(void)now;
}

static void
expire_relay(void *self, bool heard, msec_t now)
{
	(void)self;
	(void)heard;
	(void)now;
}

static msec_t
wake_relay(void *self, bool stalled, msec_t now)
{
	(void)self;
	(void)stalled;
	(void)now;
	return MSEC_NEVER;
}

static struct session *
session_relay(void *self)
{
	(void)self;
	return NULL;
}

const struct subject_kind subject_relay = {
	.open = open_relay,
	.close = close_relay,
	.hear = hear_relay,
	.end = end_relay,
	.output = output_relay,
	.sent = sent_relay,
	.leave = leave_relay,
	.gone = gone_relay,
	.lost = gone_relay,
	.back = back_relay,
	.quote = quote_relay,
	.deaf = deaf_relay,
	.shut = shut_relay,
	.give_up = give_up_relay,
	.expire = expire_relay,
	.wake = wake_relay,
	.session = session_relay,
};
