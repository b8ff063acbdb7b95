#include "shell/splice.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

Suite *splice_suite(void);

enum { PIPE = 64 << 10 };

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
	splice_keep(&kept, in[0], out[1], position, len);
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
	read_in(bytes + PIPE, 10, 1000 + PIPE);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 1000 + PIPE, 100), 10);
	expect_out(bytes + PIPE, 10);
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
	second = splice_pass(&kept, out[1], first, 100);
	ck_assert_uint_eq(second, 100);
	ck_assert_uint_eq(splice_pass(&kept, out[1], first + second, PIPE), PIPE - first - second);
	expect_out(bytes + first, PIPE - first);
}
END_TEST

START_TEST(only_what_stood_there_goes)
{
	read_in(bytes, 1000, 500);
	ck_assert_uint_eq(splice_pass(&kept, out[1], UINT64_MAX, 10), 0); /* own text before it */
	ck_assert_uint_eq(splice_pass(&kept, out[1], 499, 10), 0);        /* what was not kept */
	ck_assert_uint_eq(splice_pass(&kept, out[1], 500, 10), 10);
	expect_out(bytes, 10);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 511, 10), 0); /* a byte was written from memory, or dropped */
	ck_assert_uint_eq(kept.len, 0);
	read_in(bytes + 1000, 10, 1500);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 1500, 10), 10);
	expect_out(bytes + 1000, 10);
}
END_TEST

START_TEST(keeps_one_piece_at_a_time)
{
	read_in(bytes, 100, 0);
	read_in(bytes + 100, 100, 100);
	ck_assert_uint_eq(kept.len, 100);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, 200), 100);
	expect_out(bytes, 100);
}
END_TEST

START_TEST(keeps_nothing_but_between_pipes)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	ck_assert_int_eq(write(in[1], bytes, 100), 100);
	splice_keep(&kept, in[0], pair[1], 0, 100);
	ck_assert_uint_eq(kept.len, 0);
	splice_keep(&kept, in[0], -1, 0, 100);
	ck_assert_uint_eq(kept.len, 0);
	ck_assert_int_eq(write(pair[1], bytes, 100), 100);
	splice_keep(&kept, pair[0], out[1], 0, 100);
	ck_assert_uint_eq(kept.len, 0);
}
END_TEST

START_TEST(nothing_there_and_nobody_there)
{
	splice_keep(&kept, in[0], out[1], 0, 100);
	ck_assert_uint_eq(kept.len, 0);
	read_in(bytes, 100, 0);
	close(out[0]);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, 100), 0);
	splice_drop(&kept);
	ck_assert_uint_eq(kept.len, 0);
	ck_assert_uint_eq(splice_pass(&kept, out[1], 0, 100), 0);
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
	tcase_add_test(tests, keeps_nothing_but_between_pipes);
	tcase_add_test(tests, nothing_there_and_nobody_there);
	suite_add_tcase(suite, tests);
	return suite;
}
