#include "shell/port.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/limits.h"

Suite *port_suite(void);

/* Each test runs in a process of its own. */
static struct policy policy;
static struct session *session;
static struct feed feed;
static struct port client, server;
static int to_client_port, from_server_port; /* the other ends */

static void
start_as(bool dry_run)
{
	struct session_config config = { .dialect = &dialect_mcp, .policy = &policy, .grace = MSEC_NEVER };
	int in[2], out[2];

	policy_init(&policy);
	config.max_message = 64 << 20;
	config.max_inflight = 10;
	session = session_new(&config, NULL, NULL, 0);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
	to_client_port = in[1];
	from_server_port = out[0];
	feed_init(&feed, session, NULL, dry_run);
	port_init(&client, SIDE_CLIENT, &feed);
	port_init(&server, SIDE_SERVER, &feed);
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

START_TEST(bytes_read_by_one_port_are_written_by_the_other)
{
	char text[1024] = "";

	start();
	ck_assert(port_is_ready(&client));
	client_writes(note);
	ck_assert_uint_eq(port_read(&client, 0), strlen(note));
	ck_assert_uint_eq(port_read(&client, 0), 0);
	ck_assert(!port_is_ready(&client));
	ck_assert_uint_eq(port_backlog(&server), strlen(note));
	port_write(&server, 0);
	ck_assert_uint_eq(port_backlog(&server), 0);
	ck_assert_int_eq(read(from_server_port, text, sizeof(text) - 1), (ssize_t)strlen(note));
	ck_assert_str_eq(text, note);
}
END_TEST

START_TEST(the_end_of_input_decides_the_last_line)
{
	start();
	client_writes("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
	ck_assert_uint_gt(port_read(&client, 0), 0);
	ck_assert_uint_eq(port_backlog(&server), 0);
	port_end_input(&client, 0);
	ck_assert_uint_eq(port_backlog(&server), strlen(note));
	port_end_input(&client, 0);
	ck_assert_uint_eq(port_backlog(&server), strlen(note));
}
END_TEST

START_TEST(a_broken_port_is_closed)
{
	start();
	signal(SIGPIPE, SIG_IGN);
	client_writes(note);
	ck_assert_uint_gt(port_read(&client, 0), 0);
	close(from_server_port);
	ck_assert(!port_is_closed(&server));
	port_write(&server, 0);
	ck_assert(port_is_closed(&server));
	ck_assert_uint_eq(port_backlog(&server), strlen(note));
	port_abandon(&server, 0);
	ck_assert_uint_eq(port_backlog(&server), 0);
}
END_TEST

START_TEST(a_side_is_not_read_while_the_other_takes_nothing)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"x\":\"",
			  tail[] = "\"}}\n";
	static char line[LIMIT_READ];
	size_t queued = 0;

	start();
	memset(line, 'x', sizeof(line));
	memcpy(line, head, strlen(head));
	memcpy(line + sizeof(line) - strlen(tail), tail, strlen(tail));
	while (port_may_read(&client)) {
		ck_assert_uint_lt(queued, 2 * LIMIT_SERVER_HIGH);
		ck_assert_int_eq(write(to_client_port, line, sizeof(line)), (ssize_t)sizeof(line));
		while (port_read(&client, 0) > 0)
			;
		queued += sizeof(line);
		port_throttle(&client);
	}
	ck_assert_uint_eq(queued, LIMIT_SERVER_HIGH);
	port_abandon(&server, 0);
	port_throttle(&client);
	ck_assert(port_may_read(&client));
}
END_TEST

START_TEST(in_a_dry_run_every_byte_passes)
{
	static const char *const sent[] = { "no JSON at all", "\n", note, "{\"jsonrpc\":\"2.0\",\"id\":1," };
	char text[1024] = "", whole[1024] = "";

	start_as(true);
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		client_writes(sent[i]);
		strcat(whole, sent[i]);
		ck_assert_uint_eq(port_read(&client, 0), strlen(sent[i]));
		ck_assert_uint_eq(port_backlog(&server), strlen(sent[i]));
		port_write(&server, 0);
	}
	port_end_input(&client, 0);
	ck_assert_uint_eq(port_backlog(&server), 0);
	ck_assert_int_eq(read(from_server_port, text, sizeof(text) - 1), (ssize_t)strlen(whole));
	ck_assert_str_eq(text, whole);
	feed_sleep(&feed, false, 0);
	ck_assert_uint_eq(lane_size(session_lane(session, SIDE_SERVER)), 0); /* the answers to what is refused */
	ck_assert_uint_gt(session_journal(session)->refusals, 0);
	feed_free(&feed);
}
END_TEST

Suite *
port_suite(void)
{
	Suite *suite = suite_create("port");
	TCase *tests = tcase_create("port");

	tcase_add_test(tests, bytes_read_by_one_port_are_written_by_the_other);
	tcase_add_test(tests, the_end_of_input_decides_the_last_line);
	tcase_add_test(tests, a_broken_port_is_closed);
	tcase_add_test(tests, a_side_is_not_read_while_the_other_takes_nothing);
	tcase_add_test(tests, in_a_dry_run_every_byte_passes);
	suite_add_tcase(suite, tests);
	return suite;
}
