#include "shell/io.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/limits.h"
#include "shell/system.h"

/* Each test runs in a process of its own. */
static struct policy policy;
static struct session *session;
static struct port client, server;
static int to_client_port, from_server_port; /* the other ends */

static void
start_as(bool dry_run)
{
	struct session_config config = { .dialect = &dialect_mcp,
		.policy = &policy,
		.grace = MSEC_NEVER };
	struct lane *wires[2];
	int in[2], out[2];

	config.max_message = 64 << 20;
	config.max_inflight = 10;
	descriptor_loop = ev_loop_new(EVFLAG_AUTO);
	session = session_new(&config, NULL, NULL, 0);
	ck_assert_int_eq(system_pipe(in), 0);
	ck_assert_int_eq(system_pipe(out), 0);
	ck_assert_int_eq(fcntl(out[0], F_SETFL, O_NONBLOCK), 0);
	to_client_port = in[1];
	from_server_port = out[0];
	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++)
		wires[side] = dry_run ? lane_new() : session_lane(session, side);
	port_init(&client, SIDE_CLIENT, session, wires);
	port_init(&server, SIDE_SERVER, session, wires);
	port_open(&client, in[0], open("/dev/null", O_WRONLY), true);
	port_open(&server, open("/dev/null", O_RDONLY), out[1], true);
}

static void
start(void)
{
	start_as(false);
}

static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n";

static void
client_writes(const char *text)
{
	ck_assert_int_eq(write(to_client_port, text, strlen(text)), (ssize_t)strlen(text));
}

SUITE("port", .alone = true);

/* A message of LIMIT_READ bytes. */
static const char *
long_message(void)
{
	static const char head[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"x\":\"",
			  tail[] = "\"}}\n";
	static char line[LIMIT_READ];

	memset(line, 'x', sizeof(line));
	memcpy(line, head, strlen(head));
	memcpy(line + sizeof(line) - strlen(tail), tail, strlen(tail));
	return line;
}

/* The client writes, and all of it is read. */
static void
pass(const char *bytes, size_t len)
{
	ck_assert_int_eq(write(to_client_port, bytes, len), (ssize_t)len);
	while (port_read(&client) > 0)
		;
	port_watch(&client, false);
}

TEST(a_side_is_not_read_while_the_other_takes_nothing)
{
	const char *line = long_message();
	size_t queued = 0;

	start();
	while (port_may_read(&client)) {
		ck_assert_uint_lt(queued, 2 * LIMIT_HIGH);
		pass(line, LIMIT_READ);
		queued += LIMIT_READ;
	}
	ck_assert_uint_eq(queued, LIMIT_HIGH);
	port_abandon(&server);
	port_watch(&client, false);
	ck_assert(port_may_read(&client));
}

/*
 * Only whole messages count in the mark; while they fill it, the next message waits for its rest,
 * too.
 */
TEST(a_full_side_is_not_read_in_the_middle_of_a_message)
{
	enum { HALF = LIMIT_READ / 2 };
	const char *line = long_message();
	char turned[LIMIT_READ]; /* the rest of a message, and the beginning of the next one */
	size_t queued = 0;

	start();
	memcpy(turned, line + HALF, HALF);
	memcpy(turned + HALF, line, HALF);
	pass(line, HALF);
	while (port_may_read(&client)) {
		ck_assert_uint_lt(queued, 2 * LIMIT_HIGH);
		ck_assert_uint_eq(port_queued(&client), queued);
		pass(turned, sizeof(turned));
		queued += LIMIT_READ;
	}
	ck_assert_uint_eq(queued, LIMIT_HIGH);
	ck_assert_uint_eq(port_size(&client), queued + HALF);
	port_abandon(&server);
	port_watch(&client, false);
	ck_assert(port_may_read(&client));
	pass(line + HALF, HALF);
	ck_assert_uint_eq(port_backlog(&server), LIMIT_READ);
}

TEST(an_unfinished_message_does_not_count_in_the_mark)
{
	const char *line = long_message();

	start();
	pass(line, LIMIT_READ / 2);
	for (size_t came = 0; came < 2 * LIMIT_HIGH; came += LIMIT_READ / 4)
		pass(line + LIMIT_READ / 2, LIMIT_READ / 4);
	ck_assert(port_may_read(&client));
	ck_assert_uint_eq(port_queued(&client), 0);
}

TEST(in_a_dry_run_every_byte_passes)
{
	static const char *const sent[] = { "no JSON at all", "\n", note,
		"{\"jsonrpc\":\"2.0\",\"id\":1," };
	char text[1024] = "", whole[1024] = "";

	start_as(true);
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		client_writes(sent[i]);
		strcat(whole, sent[i]);
		ck_assert_uint_eq(port_read(&client), strlen(sent[i]));
		ck_assert_uint_eq(port_backlog(&server), strlen(sent[i]));
		port_write(&server);
	}
	session_end_of_input(session, SIDE_CLIENT);
	ck_assert_uint_eq(port_backlog(&server), 0);
	ck_assert_int_eq(read(from_server_port, text, sizeof(text) - 1), (ssize_t)strlen(whole));
	ck_assert_str_eq(text, whole);
	ck_assert_uint_gt(port_size(&server), 0); /* the answers to what is refused */
	port_write(&client);
	ck_assert_uint_eq(port_size(&server), 0);
	ck_assert_uint_gt(session_view(session).journal->refusals, 0);
}

/* A disk that was full may have room again: half a message must not be followed by others. */
TEST(after_a_write_that_failed_nothing_is_written)
{
	int full = open("/dev/full", O_WRONLY), kept;
	char byte;

	start();
	kept = dup(server.out.fd);
	ck_assert_int_ge(dup2(full, server.out.fd), 0);
	pass(note, strlen(note));
	port_write(&server);
	ck_assert(port_is_closed(&server));
	ck_assert_int_ge(dup2(kept, server.out.fd), 0);
	server.out.ready = true;
	pass(note, strlen(note));
	ck_assert_uint_gt(port_backlog(&server), 0);
	port_write(&server);
	ck_assert_int_eq(read(from_server_port, &byte, 1), -1);
}
