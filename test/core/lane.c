#include "core/lane.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

Suite *lane_suite(void);

static struct lane *lane;
static char got[4096];
static size_t got_len;

static void
setup(void)
{
	lane = lane_new();
	got_len = 0;
}

static void
teardown(void)
{
	lane_free(lane);
}

static void
receive(const char *text)
{
	size_t room, len = strlen(text);

	memcpy(lane_space(lane, len, &room), text, len);
	lane_received(lane, len);
}

/* Writes at most n bytes, one span at a time. */
static void
write_out(size_t n)
{
	struct span span;

	while (n > 0 && lane_output(lane, &span, 1) == 1) {
		span.len = span.len < n ? span.len : n;
		memcpy(got + got_len, span.ptr, span.len);
		got_len += span.len;
		n -= span.len;
		lane_sent(lane, span.len);
	}
}

static void
expect(const char *text)
{
	write_out(SIZE_MAX);
	ck_assert_msg(got_len == strlen(text) && memcmp(got, text, got_len) == 0, "got %.*s", (int)got_len, got);
	ck_assert_uint_eq(lane_backlog(lane), 0);
}

static void
pass(const char *message)
{
	receive(message);
	lane_pass(lane, strlen(message));
}

START_TEST(passes_and_drops)
{
	receive("one\ntwo\nthree\n");
	lane_pass(lane, 4);
	lane_drop(lane, 4);
	lane_pass(lane, 6);
	ck_assert_uint_eq(lane_backlog(lane), 10);
	ck_assert_uint_eq(lane_queued(lane), 14);
	expect("one\nthree\n");
	ck_assert_uint_eq(lane_written_to(lane), 14);
	ck_assert_uint_eq(lane_size(lane), 0);
}
END_TEST

START_TEST(replaces_a_part)
{
	receive("id=5 x\n");
	lane_pass(lane, 3);
	lane_insert(lane, SPAN("99"));
	lane_drop(lane, 1);
	lane_pass(lane, 3);
	expect("id=99 x\n");
}
END_TEST

START_TEST(overtakes_between_messages)
{
	size_t n;

	for (n = 0; n <= 8; n++) {
		pass("one\ntwo\n");
		write_out(n);
		lane_overtake(lane, SPAN("now"));
		expect(n == 0 ? "now\none\ntwo\n" : n <= 4 ? "one\nnow\ntwo\n" : "one\ntwo\nnow\n");
		got_len = 0;
	}
}
END_TEST

START_TEST(an_urgent_message_is_not_torn)
{
	pass("one\n");
	lane_overtake(lane, SPAN("first"));
	write_out(2);
	lane_overtake(lane, SPAN("second"));
	expect("first\nsecond\none\n");
}
END_TEST

START_TEST(answers_wait_for_an_open_message)
{
	pass("one\n");
	lane_set_open(lane, true);
	pass("lo");
	lane_answer(lane, SPAN("answer"));
	lane_overtake(lane, SPAN("now"));
	write_out(SIZE_MAX);
	pass("ng\n");
	lane_set_open(lane, false);
	expect("now\none\nlong\nanswer\n");
}
END_TEST

START_TEST(nothing_overtakes_into_an_open_message)
{
	lane_set_open(lane, true);
	pass("lo");
	write_out(SIZE_MAX);
	lane_overtake(lane, SPAN("now"));
	write_out(SIZE_MAX);
	ck_assert_uint_eq(got_len, 2);
	pass("ng\n");
	lane_set_open(lane, false);
	expect("long\nnow\n");
}
END_TEST

START_TEST(withdraws_with_its_edits_and_nothing_else)
{
	pass("one\n");
	lane_answer(lane, SPAN("before"));
	receive("two\n");
	lane_pass(lane, 1);
	lane_insert(lane, SPAN("-edit-"));
	lane_drop(lane, 1);
	lane_pass(lane, 2);
	lane_answer(lane, SPAN("after"));
	pass("three\n");
	write_out(2);
	lane_withdraw(lane, 4, 8);
	expect("one\nbefore\nafter\nthree\n");
}
END_TEST

START_TEST(abandons_what_is_queued_and_goes_on)
{
	pass("one\n");
	lane_overtake(lane, SPAN("now"));
	receive("tw");
	write_out(2);
	lane_abandon(lane);
	ck_assert_uint_eq(lane_backlog(lane), 0);
	ck_assert_uint_eq(lane_from(lane, lane_decided_to(lane)).len, 2);
	got_len = 0;
	receive("o\n");
	lane_pass(lane, 4);
	expect("two\n");
}
END_TEST

START_TEST(memory_is_given_back)
{
	size_t room, n = 4 << 20;

	memset(lane_space(lane, n, &room), 'x', n);
	lane_received(lane, n);
	ck_assert_uint_eq(lane_size(lane), n);
	lane_drop(lane, n);
	ck_assert_uint_eq(lane_size(lane), 0);
	ck_assert_uint_eq(lane_received_to(lane), n);
}
END_TEST

/* Seeded: messages pass, are dropped or withdrawn, while pieces of any size are written. */
START_TEST(order_is_kept_whatever_is_written_when)
{
	char expected[4096], message[16];
	size_t len = 0;
	unsigned seed = (unsigned)_i, i;

	for (i = 0; i < 200; i++) {
		uint64_t start = lane_received_to(lane), end;
		int n = snprintf(message, sizeof(message), "m%u\n", i);

		seed = seed * 1103515245u + 12345u;
		receive(message);
		end = lane_received_to(lane);
		if (seed >> 16 & 1)
			lane_drop(lane, (size_t)n);
		else
			lane_pass(lane, (size_t)n);
		if ((seed >> 16 & 7) == 2 && start >= lane_written_to(lane)) {
			lane_withdraw(lane, start, end);
		} else if (!(seed >> 16 & 1)) {
			memcpy(expected + len, message, (size_t)n);
			len += (size_t)n;
		}
		write_out(seed >> 20 & 7);
	}
	write_out(SIZE_MAX);
	ck_assert_uint_eq(got_len, len);
	ck_assert_mem_eq(got, expected, len);
	ck_assert_uint_eq(lane_size(lane), 0);
}
END_TEST

Suite *
lane_suite(void)
{
	Suite *suite = suite_create("lane");
	TCase *bytes = tcase_create("bytes");

	tcase_add_checked_fixture(bytes, setup, teardown);
	tcase_add_test(bytes, passes_and_drops);
	tcase_add_test(bytes, replaces_a_part);
	tcase_add_test(bytes, overtakes_between_messages);
	tcase_add_test(bytes, an_urgent_message_is_not_torn);
	tcase_add_test(bytes, answers_wait_for_an_open_message);
	tcase_add_test(bytes, nothing_overtakes_into_an_open_message);
	tcase_add_test(bytes, withdraws_with_its_edits_and_nothing_else);
	tcase_add_test(bytes, abandons_what_is_queued_and_goes_on);
	tcase_add_test(bytes, memory_is_given_back);
	tcase_add_loop_test(bytes, order_is_kept_whatever_is_written_when, 0, 200);
	suite_add_tcase(suite, bytes);
	return suite;
}
