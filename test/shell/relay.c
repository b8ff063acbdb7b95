#include "shell/log.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIPE_SIZE = 64 << 10 };

static struct relay relay;
static int reader; /* of what goes to stderr */
static char taken[1 << 20];
static size_t taken_len;

/* Each test runs in a process of its own, whose stderr it may replace. */
static void
setup(void)
{
	int pair[2];

	ck_assert_int_eq(pipe(pair), 0);
	ck_assert_int_eq(dup2(pair[1], STDERR_FILENO), STDERR_FILENO);
	close(pair[1]);
	reader = pair[0];
	fcntl(reader, F_SETFL, O_NONBLOCK);
	taken_len = 0;
	ck_assert_int_eq(relay_open(&relay, false, NULL), 0);
	ck_assert_int_ge(relay.write_end, 0);
	ck_assert(fcntl(relay.write_end, F_GETFD) & FD_CLOEXEC);
}

static void
server_writes(const char *text)
{
	size_t len = strlen(text);

	ck_assert_int_eq(write(relay.write_end, text, len), (ssize_t)len);
}

/* Simulates a readable descriptor. */
static void
round_once(void)
{
	relay.in.ready = true;
	relay_round(&relay);
}

static void
take(void)
{
	ssize_t got;

	while ((got = read(reader, taken + taken_len, sizeof(taken) - taken_len - 1)) > 0)
		taken_len += (size_t)got;
	taken[taken_len] = '\0';
}

SUITE("relay", .alone = true, .before = setup);

TEST(what_the_server_writes_comes_out_as_it_is)
{
	server_writes("one\ntwo ");
	round_once();
	take();
	ck_assert_str_eq(taken, "one\ntwo ");
	server_writes("\xff\n");
	relay_close(&relay);
	take();
	ck_assert_str_eq(taken, "one\ntwo \xff\n");
}

/* stderr is not read: the server is never blocked, memory is bounded, and whole lines are lost. */
TEST(a_reader_that_does_not_read_blocks_nothing)
{
	uint64_t lost;
	char line[64];
	int lines = 20000, i;

	for (i = 0; i < lines; i++) {
		snprintf(line, sizeof(line), "line %05d of the server's\n", i);
		server_writes(line);
		round_once();
		ck_assert_uint_le(relay.out->queue.len, RELAY_QUEUE_MAX);
	}
	ck_assert(relay.out->queue.len > 0);
	ck_assert_uint_eq(relay_lost(&relay), 0);
	for (i = 0; relay.out->queue.len > 0 && i < 100; i++) {
		take();
		round_once();
	}
	take();
	lost = relay_lost(&relay);
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_eq(relay_lost(&relay), 0);
	ck_assert_uint_eq(taken_len, strlen(line) * ((size_t)lines - (size_t)lost));
	server_writes("again\n");
	round_once();
	take();
	ck_assert_str_eq(taken + taken_len - 6, "again\n");
	ck_assert_int_eq(memcmp(taken, "line 00000", 10), 0);
}

/* The rest of a line whose beginning was written is replaced by a newline. */
TEST(the_rest_of_a_line_is_lost)
{
	static char long_line[PIPE_SIZE / 2];
	const char *end;
	int i;

	memset(long_line, 'x', sizeof(long_line) - 1);
	for (i = 0; i < 8; i++) {
		server_writes(long_line);
		round_once();
	}
	server_writes("the rest of it\n");
	round_once();
	for (i = 0; i < 20; i++) {
		take();
		round_once();
	}
	server_writes("next\n");
	round_once();
	take();
	ck_assert_ptr_null(strstr(taken, "the rest"));
	end = strstr(taken, "x\nnext\n");
	ck_assert_ptr_nonnull(end);
	ck_assert_uint_eq(relay_lost(&relay), 1);
}

TEST(the_last_lines_are_kept)
{
	struct span last;
	char line[64];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "line %05d\n", i);
		server_writes(line);
		round_once();
	}
	server_writes("no newline");
	last = relay_last_lines(&relay);
	ck_assert_uint_le(last.len, RELAY_TAIL_MAX);
	ck_assert_uint_gt(last.len, RELAY_TAIL_MAX / 2);
	ck_assert_int_eq(memcmp(last.ptr, "line ", 5), 0);
	ck_assert_int_eq(memcmp(last.ptr + last.len - 21, "line 00999\nno newline", 21), 0);
	relay_forget(&relay);
	ck_assert_uint_eq(relay_last_lines(&relay).len, 0);
	server_writes("next server\n");
	last = relay_last_lines(&relay);
	ck_assert(span_equal(last, SPAN("next server\n")));
}

/* In the order in which they came, also while stderr is not read. */
TESTS(a_line_of_the_log_begins_a_line, 0, 2)
{
	const struct log_config config = { .level = LEVEL_NOTICE };
	char full[PIPE_SIZE], wanted[128];
	struct log log;
	ssize_t len;

	relay_close(&relay);
	ck_assert_ptr_null(log_open(&log, &config));
	ck_assert_int_eq(relay_open(&relay, false, &log), 0);
	memset(full, 'x', sizeof(full));
	if (_i == 1)
		ck_assert_int_eq(write(STDERR_FILENO, full, sizeof(full)), (ssize_t)sizeof(full));
	server_writes("a part");
	round_once();
	log_fields(&log, WHY_STRAY, (struct log_field[]){ { 0 } }, 0);
	server_writes(" and the rest\n");
	round_once();
	for (len = _i == 1 ? (ssize_t)sizeof(full) : 0; len > 0;
	     len -= read(reader, full, (size_t)len))
		continue;
	relay_close(&relay);
	log_close(&log);
	take();
	snprintf(wanted, sizeof(wanted), "a part\ncanceld[%ld]: STRAY\n and the rest\n",
	    (long)getpid());
	ck_assert_str_eq(taken, wanted);
}
