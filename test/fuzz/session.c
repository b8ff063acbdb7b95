/*
 * A session between two peers that write whatever the fuzzer likes. Whatever they do, each side reads whole lines of valid
 * JSON only, and what canceld keeps stays within bounds.
 *
 * The input is a program: a byte says what happens, the next ones how much.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reader {
	char line[1 << 16];
	size_t len;
};

struct world {
	struct session *session;
	struct reader reader[2];
	msec_t now;
	bool broken; /* a message may have been closed in the middle */
	bool deaf;   /* the server reads nothing any more */
};

/* What starts a message has to end as one: jansson says so of all but what it cannot hold (numbers, nesting, NUL). */
static void
check_line(const struct world *world, const struct reader *reader)
{
	json_error_t error;
	json_t *message;

	if (reader->len == sizeof(reader->line) || world->broken)
		return;
	message = json_loadb(reader->line, reader->len, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
	assert(message != NULL || json_error_code(&error) == json_error_numeric_overflow ||
	    json_error_code(&error) == json_error_null_byte_in_key ||
	    strncmp(error.text, "invalid Unicode '\\u", 19) == 0);
	json_decref(message);
}

static void
take(struct world *world, enum side to, size_t n)
{
	struct lane *lane = session_lane(world->session, to == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT);
	struct reader *reader = &world->reader[to];
	struct span spans[4];
	size_t i;

	while (n > 0 && !(to == SIDE_SERVER && world->deaf) && lane_output(lane, spans, 4) > 0) {
		size_t len = spans[0].len < n ? spans[0].len : n;

		for (i = 0; i < len; i++) {
			if (spans[0].ptr[i] == '\n') {
				check_line(world, reader);
				reader->len = 0;
			} else if (reader->len < sizeof(reader->line)) {
				reader->line[reader->len++] = spans[0].ptr[i];
			}
		}
		lane_sent(lane, len);
		n -= len;
	}
}

static void
give(struct world *world, enum side from, const uint8_t *bytes, size_t len)
{
	struct lane *lane = session_lane(world->session, from);
	size_t room;
	char *space = lane_space(lane, len == 0 ? 1 : len, &room);

	memcpy(space, bytes, len);
	lane_received(lane, len);
	session_hear(world->session, from, world->now);
}

static void
on_action(void *user, const struct action *action)
{
	struct world *world = user;

	world->broken |= action->why == WHY_TRUNCATED || action->why == WHY_LATE_FAULT;
}

static void
step(struct world *world, unsigned what, const uint8_t *bytes, size_t len)
{
	switch (what % 10) {
	case 0:
	case 1:
		give(world, SIDE_CLIENT, bytes, len);
		break;
	case 2:
	case 3:
		give(world, SIDE_SERVER, bytes, len);
		break;
	case 4:
		take(world, SIDE_CLIENT, len);
		break;
	case 5:
		take(world, SIDE_SERVER, len);
		break;
	case 6:
		world->now += (msec_t)len * 10;
		session_expire(world->session, what < 128, world->now);
		(void)session_wake(world->session, what < 64);
		break;
	case 7:
		if (len == 7)
			session_client_leaves(world->session, (enum leaving)(what % 3), world->now);
		break;
	case 8:
		if (len == 8)
			session_server_gone(world->session, 1, -1, world->now);
		world->deaf |= len == 8;
		break;
	default:
		if (len == 9)
			session_server_deaf(world->session, world->now);
		world->deaf |= len == 9;
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *world = calloc(1, sizeof(*world));
	struct session_config config = { .dialect = &dialect_mcp, .grace = 50, .max_message = 4096, .max_inflight = 8 };
	struct policy policy;
	size_t at, len;

	if (world == NULL)
		abort();
	policy_init(&policy);
	policy_add(&policy, POLICY_IDLE, (struct span){ NULL, 0 }, (struct span){ NULL, 0 }, 1000);
	config.policy = &policy;
	config.answer_cancelled = size > 0 && data[0] & 1;
	config.tool_errors = size > 0 && data[0] & 2;
	config.no_cancel = size > 0 && data[0] & 4;
	config.strict = size > 0 && data[0] & 8;
	world->session = session_new(&config, on_action, world, world->now);
	for (at = 1; at + 2 < size; at += 2 + len) {
		len = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;
		step(world, data[at], data + at + 2, len);
		assert(lane_size(session_lane(world->session, SIDE_CLIENT)) < 64 * size + (1 << 20));
		assert(lane_size(session_lane(world->session, SIDE_SERVER)) < 64 * size + (1 << 20));
	}
	session_end_of_input(world->session, SIDE_CLIENT, world->now);
	session_end_of_input(world->session, SIDE_SERVER, world->now);
	session_server_gone(world->session, 0, -1, world->now);
	world->deaf = true;
	take(world, SIDE_CLIENT, SIZE_MAX);
	take(world, SIDE_SERVER, SIZE_MAX);
	assert(session_outstanding(world->session, SIDE_CLIENT) == 0);
	session_free(world->session);
	policy_free(&policy);
	free(world);
	return 0;
}
