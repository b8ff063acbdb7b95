#include "shell/splice.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

Suite *splice_suite(void);

enum { PIPE = 64 << 10, LEAST = SPLICE_KEPT_LEAST };

static struct splice kept;
static int in[2], out[2]; /* pipes */
static char bytes[4 * PIPE], got[4 * PIPE];

static void
setup(void)
{
	ck_assert_int_eq(pipe2(in, O_NONBLOCK), 0);
	ck_assert_int_eq(pipe2(out, O_NONBLOCK), 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 251);
	signal(SIGPIPE, SIG_IGN);
	splice_init(&kept);
}

static void
teardown(void)
{
	splice_drop(&kept);
}

/* A peer writes; we keep what there is, and read it. */
static void
read_in(const char *from, size_t len, uint64_t position)
{
	ck_assert_int_eq(write(in[1], from, len), (ssize_t)len);
	splice_keep(&kept, in[0], out[1], position, sizeof(got));
	ck_assert_int_eq(read(in[0], got, sizeof(got)), (ssize_t)len);
	ck_assert_mem_eq(got, from, len);
}

static void
expect_out(const char *text, size_t len)
{
	ck_assert_int_eq(read(out[0], got, len), (ssize_t)len);
	ck_assert_mem_eq(got, text, len);
}

START_TEST(what_was_read_goes_on_without_a_copy)
{
	read_in(bytes, PIPE, 1000);
	ck_assert_uint_eq(kept.len, PIPE);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 1000, PIPE), PIPE);
	expect_out(bytes, PIPE);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 1000 + PIPE, PIPE), 0);
	read_in(bytes + PIPE, LEAST, 1000 + PIPE);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 1000 + PIPE, PIPE), LEAST);
	expect_out(bytes + PIPE, LEAST);
}
END_TEST

START_TEST(goes_on_in_parts)
{
	size_t first, second;

	read_in(bytes, PIPE, 0);
	ck_assert_int_eq(write(out[1], bytes + PIPE, PIPE / 2), PIPE / 2);
	first = splice_pass(&kept, out[1], 0, PIPE);
	ck_assert_uint_eq(first, PIPE / 2);
	ck_assert_uint_eq(splice_pass(&kept, out[1], first, PIPE - first), 0);
	ck_assert_uint_eq(kept.len, PIPE - first);
	expect_out(bytes + PIPE, PIPE / 2);
	expect_out(bytes, first);
	second = splice_pass(&kept, out[1], first, 5000);
	ck_assert_uint_eq(second, 5000);
	ck_assert_uint_eq(splice_pass(&kept, out[1], first + second, PIPE), PIPE - first - second);
	expect_out(bytes + first, PIPE - first);
}
END_TEST

START_TEST(only_what_stood_there_goes)
{
	read_in(bytes, LEAST, 500);
	ck_assert_uint_eq(splice_pass(&kept, out[1], UINT64_MAX, 5000), 0); /* own text before it */
	ck_assert_uint_eq(splice_pass(&kept, out[1], 499, 5000), 0);        /* what was not kept */
	ck_assert_uint_eq(splice_pass(&kept, out[1], 500, 5000), 5000);
	expect_out(bytes, 5000);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 5501, 5000), 0); /* a byte was written from memory, or dropped */
	ck_assert_uint_eq(kept.len, 0);
	read_in(bytes + LEAST, LEAST, 500 + LEAST);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 500 + LEAST, 5000), 5000);
	expect_out(bytes + LEAST, 5000);
}
END_TEST

START_TEST(keeps_one_piece_at_a_time)
{
	read_in(bytes, LEAST, 0);
	ck_assert_int_eq(write(in[1], bytes, PIPE), PIPE);
	ck_assert_uint_eq(splice_keep(&kept, in[0], out[1], LEAST, PIPE), 0);
	ck_assert_uint_eq(kept.len, LEAST);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, PIPE), LEAST);
	expect_out(bytes, LEAST);
}
END_TEST

/* Each piece takes a slot of the reader's pipe. */
START_TEST(short_pieces_are_not_for_it)
{
	read_in(bytes, LEAST - 1, 0);
	ck_assert_uint_eq(kept.len, 0);
	ck_assert_int_eq(write(in[1], bytes, PIPE), PIPE);
	ck_assert_uint_eq(splice_keep(&kept, in[0], out[1], 0, LEAST - 1), 0);
	ck_assert_uint_eq(splice_keep(&kept, in[0], out[1], 0, PIPE), PIPE);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, SPLICE_PASSED_LEAST - 1), 0);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, SPLICE_PASSED_LEAST), SPLICE_PASSED_LEAST);
}
END_TEST

/* In packets, of which a read takes one: as many slots as pages, and hardly a byte in each. */
START_TEST(many_slots_with_little_in_each_are_not_for_it)
{
	ck_assert_int_ge(fcntl(in[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
	ck_assert_int_eq(fcntl(in[1], F_SETFL, O_DIRECT | O_NONBLOCK), 0);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(write(in[1], bytes, 1000), 1000);
	ck_assert_uint_eq(splice_keep(&kept, in[0], out[1], 0, 4 * PIPE), 0);
	ck_assert_uint_eq(kept.len, 0);
}
END_TEST

START_TEST(keeps_nothing_but_between_pipes)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	ck_assert_int_eq(write(in[1], bytes, PIPE), PIPE);
	ck_assert_uint_eq(splice_keep(&kept, in[0], pair[1], 0, PIPE), 0);
	ck_assert_uint_eq(splice_keep(&kept, in[0], -1, 0, PIPE), 0);
	ck_assert_int_eq(write(pair[1], bytes, PIPE), PIPE);
	ck_assert_uint_eq(splice_keep(&kept, pair[0], out[1], 0, PIPE), 0);
	ck_assert_uint_eq(kept.len, 0);
}
END_TEST

START_TEST(nothing_there_and_nobody_there)
{
	ck_assert_uint_eq(splice_keep(&kept, in[0], out[1], 0, PIPE), 0);
	read_in(bytes, PIPE, 0);
	close(out[0]);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, PIPE), 0);
	splice_drop(&kept);
	ck_assert_uint_eq(kept.len, 0);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, PIPE), 0);
}
END_TEST

Suite *
splice_suite(void)
{
	Suite *suite = suite_create("splice");
	TCase *tests = tcase_create("splice");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, what_was_read_goes_on_without_a_copy);
	tcase_add_test(tests, goes_on_in_parts);
	tcase_add_test(tests, only_what_stood_there_goes);
	tcase_add_test(tests, keeps_one_piece_at_a_time);
	tcase_add_test(tests, short_pieces_are_not_for_it);
	tcase_add_test(tests, many_slots_with_little_in_each_are_not_for_it);
	tcase_add_test(tests, keeps_nothing_but_between_pipes);
	tcase_add_test(tests, nothing_there_and_nobody_there);
	suite_add_tcase(suite, tests);
	return suite;
}
