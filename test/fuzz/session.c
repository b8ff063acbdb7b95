/*
 * A session between two peers that write whatever the fuzzer likes, in any dialect and either
 * framing. Whatever they do, each side reads whole messages of valid JSON only, and what canceld
 * keeps stays within bounds.
 *
 * The input is a program: a byte of options, a byte for the dialect; then steps: a byte says what
 * happens, the next one how much, or how many bytes of the program are written.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/session.h"
#include "golden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum option {
	OPTION_ANSWER = 1,
	OPTION_TOOLS = 2,
	OPTION_NO_CANCEL = 4,
	OPTION_LARGE = 16,         /* a --max-message that long fillers do not reach */
	OPTION_CLIENT_HEADER = 32, /* step 0 puts a header before what the client writes */
	OPTION_SERVER_HEADER = 64, /* ... and step 2 before what the server does */
	OPTION_ASK = 128,

	DIALECT_RESTARTS = 64, /* in the byte for the dialect */
	DIALECT_LEGACY = 128,
};

enum { FILLER = 1 << 10, FILLERS_MAX = 16, FILLERS_LARGE_MAX = 300, HEAD_MAX = 48 };

struct reader {
	char body[1 << 16]; /* what fits of the message, or the header */
	size_t len;
	uint64_t left; /* FRAMING_HEADER: bytes of the body still to come */
	bool in_body, misframed;
};

struct world {
	struct session *session;
	struct reader reader[2];
	enum framing framing[2]; /* of what each one reads */
	unsigned options;
	size_t given, fillers;
	msec_t now;
	bool broken; /* a message may have been closed in the middle, or everything passes */
	bool plain;
	bool deaf; /* the server reads nothing any more */
	bool away; /* ... as it has gone, and the next one is not there */
	bool left;
};

static const struct dialect *
dialect_at(unsigned number)
{
	static const struct dialect *const dialects[] = { NULL, &dialect_mcp, &dialect_acp,
		&dialect_lsp, &dialect_bsp, &dialect_none };

	return dialects[number % (sizeof(dialects) / sizeof(dialects[0]))];
}

/*
 * What starts a message has to end as one: jansson says so of all but what it cannot hold (numbers,
 * nesting, NUL).
 */
static void
check_message(const struct world *world, const struct reader *reader)
{
	json_error_t error;
	json_t *message;

	if (reader->len == sizeof(reader->body) || world->broken)
		return;
	message =
	    json_loadb(reader->body, reader->len, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
	assert(message != NULL || json_error_code(&error) == json_error_numeric_overflow ||
	    json_error_code(&error) == json_error_null_byte_in_key ||
	    strncmp(error.text, "invalid Unicode '\\u", 19) == 0);
	json_decref(message);
}

static void
keep(struct reader *reader, struct span bytes)
{
	size_t room = sizeof(reader->body) - reader->len;

	bytes.len = bytes.len < room ? bytes.len : room;
	memcpy(reader->body + reader->len, bytes.ptr, bytes.len);
	reader->len += bytes.len;
}

static void
end_message(const struct world *world, struct reader *reader)
{
	check_message(world, reader);
	reader->len = 0;
	reader->in_body = false;
}

/* Exactly "Content-Length: N\r\n\r\n", and nothing else. */
static void
end_header(struct reader *reader)
{
	struct span head = { reader->body, reader->len };
	struct buf want = { 0 };
	size_t i;

	reader->left = 0;
	for (i = strlen("Content-Length: "); i + 4 < reader->len; i++)
		reader->left = reader->left * 10 + (uint64_t)(reader->body[i] - '0');
	framing_head(&want, reader->left);
	assert(span_equal(head, buf_span(&want)));
	buf_free(&want);
	reader->in_body = true;
	reader->len = 0;
}

/* Returns how many of the bytes belong to the message. */
static size_t
read_with_header(const struct world *world, struct reader *reader, struct span bytes)
{
	if (!reader->in_body) {
		keep(reader, span_part(bytes, 0, 1));
		assert(reader->len < HEAD_MAX);
		if (reader->len >= 4 && memcmp(reader->body + reader->len - 4, "\r\n\r\n", 4) == 0)
			end_header(reader);
		bytes.len = 1;
	} else {
		bytes.len = reader->left < bytes.len ? (size_t)reader->left : bytes.len;
		keep(reader, bytes);
		reader->left -= bytes.len;
	}
	if (reader->in_body && reader->left == 0)
		end_message(world, reader);
	return bytes.len;
}

static size_t
read_line(const struct world *world, struct reader *reader, struct span bytes)
{
	const char *newline = memchr(bytes.ptr, '\n', bytes.len);

	keep(reader,
	    span_part(bytes, 0, newline == NULL ? bytes.len : (size_t)(newline - bytes.ptr)));
	if (newline == NULL)
		return bytes.len;
	end_message(world, reader);
	return (size_t)(newline - bytes.ptr) + 1;
}

static void
read_bytes(struct world *world, enum side to, struct span bytes)
{
	struct reader *reader = &world->reader[to];
	size_t len;

	while (bytes.len > 0 && !world->plain && !reader->misframed) {
		if (world->framing[to] == FRAMING_HEADER)
			len = read_with_header(world, reader, bytes);
		else
			len = read_line(world, reader, bytes);
		bytes = span_part(bytes, len, bytes.len - len);
	}
}

static struct lane *
lane_to(const struct world *world, enum side to)
{
	return session_lane(world->session, to == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT);
}

/*
 * A server that speaks lines before its client speaks headers is not understood by it, whatever
 * canceld does.
 */
static void
note_framing(struct world *world)
{
	for (int to = SIDE_CLIENT; to <= SIDE_SERVER; to++) {
		const struct lane *lane = lane_to(world, (enum side)to);

		if (lane->framing == world->framing[to])
			continue;
		world->framing[to] = lane->framing;
		world->reader[to].misframed |= lane_backlog(lane) > 0 || world->reader[to].len > 0;
	}
}

static void
take(struct world *world, enum side to, size_t n)
{
	struct lane *lane = lane_to(world, to);
	struct span spans[4];

	while (n > 0 && !(to == SIDE_SERVER && (world->deaf || world->away)) &&
	    lane_output(lane, spans, 4) > 0) {
		size_t len = spans[0].len < n ? spans[0].len : n;

		assert(len > 0);
		golden_wrote(to, span_part(spans[0], 0, len));
		read_bytes(world, to, span_part(spans[0], 0, len));
		lane_sent(lane, len);
		n -= len;
	}
}

static void
give(struct world *world, enum side from, struct span bytes)
{
	buf_append(&session_lane(world->session, from)->bytes, bytes);
	world->given += bytes.len;
	session_hear(world->session, from);
	note_framing(world);
}

/* As it is, or as a message in the framing that this side was given. */
static void
give_message(struct world *world, enum side from, struct span bytes)
{
	unsigned header = from == SIDE_CLIENT ? OPTION_CLIENT_HEADER : OPTION_SERVER_HEADER;
	struct buf head = { 0 };

	if (world->options & header) {
		framing_head(&head, bytes.len);
		give(world, from, buf_span(&head));
	}
	give(world, from, bytes);
	buf_free(&head);
}

static void
give_filler(struct world *world, enum side from, size_t count)
{
	size_t most = world->options & OPTION_LARGE ? FILLERS_LARGE_MAX : FILLERS_MAX;
	static char filler[FILLER];

	memset(filler, 'x', sizeof(filler));
	for (; count > 0 && world->fillers < most; count--, world->fillers++)
		give(world, from, (struct span){ filler, sizeof(filler) });
}

static void
on_action(void *user, const struct action *action)
{
	struct world *world = user;

	golden_decided(action);
	world->broken |= action->why == WHY_TRUNCATED;
	world->plain |= action->why == WHY_PLAIN;
}

static void
pass_time(struct world *world, unsigned what, size_t len)
{
	world->now += (msec_t)len * 10;
	session_set_time(world->session, world->now);
	session_expire(world->session, what < 128);
	session_sleep(world->session, what < 64, MSEC_NEVER);
}

static bool
may_lose_server(const struct world *world)
{
	return !world->away && !world->deaf && !world->left &&
	    session_cannot_restart(world->session) == NULL;
}

static void
lose_server(struct world *world)
{
	session_end_of_input(world->session, SIDE_SERVER);
	note_framing(world);
	session_server_gone(world->session, 1, -1, false);
	world->away = true;
	world->reader[SIDE_SERVER].len = 0;
	world->reader[SIDE_SERVER].in_body = false;
}

/* What happens once, if at all, is not to be hit by chance at once: it needs its own length. */
static void
end_something(struct world *world, unsigned what, size_t len)
{
	if (what % 12 == 7 && len == 7) {
		session_client_leaves(world->session, (enum leaving)(what / 12 % 3));
		world->left = true;
	} else if (what % 12 == 8 && len == 8) {
		session_server_gone(world->session, 1, -1, true);
		world->deaf = true;
	} else if (what % 12 == 8 && len == 10 && may_lose_server(world)) {
		lose_server(world);
	} else if (what % 12 == 8 && len == 11 && world->away && !world->deaf) {
		session_server_back(world->session);
		world->away = false;
	} else if (what % 12 == 9 && len == 9 && !world->away) {
		session_server_deaf(world->session, false);
		world->deaf = true;
	}
}

static void
step(struct world *world, unsigned what, struct span bytes)
{
	switch (what % 12) {
	case 0:
		give_message(world, SIDE_CLIENT, bytes);
		break;
	case 1:
		give(world, SIDE_CLIENT, bytes);
		break;
	case 2:
		give_message(world, SIDE_SERVER, bytes);
		break;
	case 3:
		give(world, SIDE_SERVER, bytes);
		break;
	case 4:
		take(world, SIDE_CLIENT, bytes.len);
		break;
	case 5:
		take(world, SIDE_SERVER, bytes.len);
		break;
	case 6:
		pass_time(world, what, bytes.len);
		break;
	case 10:
		give_filler(world, SIDE_CLIENT, bytes.len);
		break;
	case 11:
		give_filler(world, SIDE_SERVER, bytes.len);
		break;
	default:
		end_something(world, what, bytes.len);
		break;
	}
}

static void
check_memory(const struct world *world, size_t size)
{
	size_t most = 64 * size + world->given + (1 << 20);

	assert(lane_size(session_lane(world->session, SIDE_CLIENT)) < most);
	assert(lane_size(session_lane(world->session, SIDE_SERVER)) < most);
}

/*
 * Both have nothing more to say: every request of the client's is answered, and no message is left
 * half.
 */
static void
finish(struct world *world)
{
	const struct reader *reader = &world->reader[SIDE_CLIENT];

	session_end_of_input(world->session, SIDE_CLIENT);
	session_end_of_input(world->session, SIDE_SERVER);
	note_framing(world);
	session_server_gone(world->session, 0, -1, true);
	world->deaf = true;
	take(world, SIDE_CLIENT, SIZE_MAX);
	assert(session_outstanding(world->session, SIDE_CLIENT) == 0);
	assert(world->plain || reader->misframed || (reader->len == 0 && !reader->in_body));
}

static void
run(struct world *world, struct session_config *config, struct span program)
{
	size_t at, len, size = program.len;

	config->dialect = dialect_at((unsigned char)program.ptr[1] % DIALECT_RESTARTS);
	config->legacy = (unsigned char)program.ptr[1] & DIALECT_LEGACY;
	config->restarts = config->stateless = (unsigned char)program.ptr[1] & DIALECT_RESTARTS;
	config->kill_stuck = config->restarts ? 500 : 0;
	world->session = session_new(config, on_action, world, world->now);
	for (at = 2; at + 2 < size; at += 2 + len) {
		unsigned what = (unsigned char)program.ptr[at];

		len = (unsigned char)program.ptr[at + 1];
		if (what % 12 < 4 && len > size - at - 2)
			len = size - at - 2;
		if (what % 12 >= 4) {
			step(world, what, (struct span){ NULL, len });
			len = 0;
		} else {
			step(world, what, span_part(program, at + 2, len));
		}
		check_memory(world, size);
	}
	finish(world);
	session_free(world->session);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *world = calloc(1, sizeof(*world));
	struct session_config config = { .grace = 50, .max_message = 4096, .max_inflight = 8 };
	struct policy policy = { 0 };

	if (world == NULL)
		abort();
	policy_add(&policy, POLICY_OPTION, POLICY_IDLE, (struct span){ NULL, 0 },
	    (struct span){ NULL, 0 }, 1000, SPAN_NONE);
	config.policy = &policy;
	world->options = size > 0 ? data[0] : 0;
	config.answer_cancelled = world->options & OPTION_ANSWER;
	config.tool_errors = world->options & OPTION_TOOLS;
	config.no_cancel = world->options & OPTION_NO_CANCEL;
	config.ask_progress = world->options & OPTION_ASK;
	config.heartbeat = world->options & OPTION_ASK ? 0 : 100; /* canceld's own token has none */
	if (world->options & OPTION_LARGE)
		config.max_message = 1 << 20;
	if (size > 1)
		run(world, &config, (struct span){ (const char *)data, size });
	policy_free(&policy);
	free(world);
	return 0;
}
