#include "core/lane.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

Suite *lane_suite(void);

static struct lane *lane;
static char got[16384];
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

/* Writes at most n bytes, several spans at a time. */
static void
write_out(size_t n)
{
	struct span spans[3];
	int count, i;

	while (n > 0 && (count = lane_output(lane, spans, 3)) > 0) {
		size_t sent = 0;

		for (i = 0; i < count && sent < n; i++) {
			struct span span = spans[i];

			ck_assert_uint_gt(span.len, 0);
			span.len = span.len < n - sent ? span.len : n - sent;
			ck_assert_uint_le(got_len + span.len, sizeof(got));
			memcpy(got + got_len, span.ptr, span.len);
			got_len += span.len;
			sent += span.len;
		}
		lane_sent(lane, sent);
		n -= sent;
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

/* A message with another text in the place of some of its bytes. */
static void
pass_edited(const char *message, size_t offset, size_t len, const char *with)
{
	receive(message);
	lane_set_open(lane, true);
	lane_pass(lane, offset);
	lane_insert(lane, span_of(with));
	lane_drop(lane, len);
	lane_pass(lane, strlen(message) - offset - len);
	lane_set_open(lane, false);
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

START_TEST(replaces_a_byte_in_what_is_not_decided)
{
	pass("a\rb\n");
	receive("\r\rc\r\n");
	ck_assert(lane_replace(lane, 4, 7, '\r', ' '));
	ck_assert(!lane_replace(lane, 4, 7, '\r', ' '));
	ck_assert(!lane_replace(lane, 4, 4, ' ', 'x'));
	lane_pass(lane, 5);
	expect("a\rb\n  c\r\n");
}
END_TEST

START_TEST(replaces_a_part)
{
	pass_edited("id=5 x\n", 3, 1, "99");
	expect("id=99 x\n");
}
END_TEST

START_TEST(overtakes_between_messages)
{
	size_t n;

	for (n = 0; n <= 8; n++) {
		pass("one\n");
		pass("two\n");
		write_out(n);
		lane_overtake(lane, SPAN("now"));
		expect(n == 0 ? "now\none\ntwo\n" : n <= 4 ? "one\nnow\ntwo\n" : "one\ntwo\nnow\n");
		got_len = 0;
	}
}
END_TEST

START_TEST(an_urgent_message_is_not_split)
{
	pass("one\n");
	lane_overtake(lane, SPAN("first"));
	write_out(2);
	lane_overtake(lane, SPAN("second"));
	expect("first\nsecond\none\n");
}
END_TEST

START_TEST(tells_how_far_urgent_messages_were_written)
{
	uint64_t first;

	pass("one\n");
	lane_overtake(lane, SPAN("first"));
	first = lane_urgent_to(lane);
	lane_overtake(lane, SPAN("second"));
	write_out(sizeof("first\n") - 2);
	ck_assert_uint_lt(lane_urgent_gone(lane), first);
	write_out(1);
	ck_assert_uint_eq(lane_urgent_gone(lane), first);
	lane_keep(lane);
	ck_assert_uint_eq(lane_urgent_gone(lane), lane_urgent_to(lane));
	ck_assert_uint_gt(lane_urgent_to(lane), first);
	expect("first\none\n");
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

/* An urgent message goes between the messages that waited, too. */
START_TEST(overtakes_between_messages_that_waited)
{
	lane_set_open(lane, true);
	pass("lo");
	lane_answer(lane, SPAN("one"));
	lane_answer(lane, SPAN("two"));
	ck_assert_uint_eq(lane_own(lane), 8);
	pass("ng\n");
	lane_set_open(lane, false);
	write_out(6);
	lane_overtake(lane, SPAN("now"));
	expect("long\none\nnow\ntwo\n");
	ck_assert_uint_eq(lane_own(lane), 0);
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
	pass_edited("two\n", 1, 1, "-edit-");
	lane_answer(lane, SPAN("after"));
	pass("three\n");
	write_out(2);
	lane_withdraw(lane, 4, 8);
	expect("one\nbefore\nafter\nthree\n");
}
END_TEST

/* Thousands of queued requests are withdrawn in turn when their client goes: each must be found at once. */
START_TEST(many_are_withdrawn_in_turn)
{
	enum { MANY = 100000 };
	uint64_t i;

	pass("one\n");
	for (i = 0; i < MANY; i++)
		pass("two\n");
	write_out(2);
	for (i = 1; i <= MANY; i++)
		lane_withdraw(lane, 4 * i, 4 * i + 4);
	pass("three\n");
	expect("one\nthree\n");
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
START_TEST(order_is_kept_for_every_split_of_writes)
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

/* Header framing */

static const char first[] = "Content-Length: 5\r\n\r\n[one]", second[] = "Content-Length: 5\r\n\r\n[two]";
static const char third[] = "Content-Length: 9\r\n\r\n[\"three\"]";
static const char now[] = "Content-Length: 3\r\n\r\nnow", answer[] = "Content-Length: 6\r\n\r\nanswer";

enum { MESSAGE_LEN = sizeof(first) - 1 };

static void
setup_headers(void)
{
	setup();
	lane_set_framing(lane, FRAMING_HEADER);
}

/* A message whose header is not canonical: its header is dropped, canceld's is put before it. */
static void
pass_reframed(const char *head, const char *body)
{
	if (head[0] != '\0')
		receive(head);
	receive(body);
	lane_set_open(lane, true);
	lane_insert_head(lane, strlen(body));
	lane_drop(lane, strlen(head));
	lane_pass(lane, strlen(body));
	lane_set_open(lane, false);
}

static void
expect_joined(const char *a, const char *b, const char *c)
{
	char all[512];

	snprintf(all, sizeof(all), "%s%s%s", a, b, c);
	expect(all);
}

static void
expect_parts(const char *a, const char *b, const char *c, const char *d)
{
	char all[512];

	snprintf(all, sizeof(all), "%s%s%s%s", a, b, c, d);
	expect(all);
	ck_assert_uint_eq(lane_size(lane), 0);
	ck_assert_uint_eq(lane_queued(lane), 0);
}

START_TEST(the_framing_is_kept)
{
	ck_assert_int_eq(lane_framing(lane), FRAMING_HEADER);
	lane_abandon(lane);
	ck_assert_int_eq(lane_framing(lane), FRAMING_HEADER);
	lane_answer(lane, SPAN("answer"));
	expect(answer);
}
END_TEST

START_TEST(lines_have_no_header)
{
	struct lane *lines = lane_new();

	ck_assert_int_eq(lane_framing(lines), FRAMING_NEWLINE);
	lane_insert_head(lines, 7);
	ck_assert_uint_eq(lane_backlog(lines), 0);
	lane_free(lines);
}
END_TEST

START_TEST(a_header_takes_the_place_of_another)
{
	pass_reframed("content-length:5\n\n", "[one]");
	ck_assert_uint_eq(lane_backlog(lane), MESSAGE_LEN);
	pass(second);
	expect_parts(first, second, "", "");
}
END_TEST

/* After any number of bytes: an urgent message goes between two messages, never within a header or a body. */
START_TEST(overtakes_between_messages_with_headers)
{
	size_t n = (size_t)_i;

	pass_reframed("content-length:5\n\n", "[one]");
	pass(second);
	write_out(n);
	lane_overtake(lane, SPAN("now"));
	if (n == 0)
		expect_parts(now, first, second, "");
	else if (n <= MESSAGE_LEN)
		expect_parts(first, now, second, "");
	else
		expect_parts(first, second, now, "");
}
END_TEST

/* The same while bytes are written one by one, with two urgent messages. */
START_TEST(an_urgent_message_with_a_header_is_not_split)
{
	size_t n;

	pass(first);
	pass(second);
	write_out(1);
	lane_overtake(lane, SPAN("now"));
	for (n = 1; n < MESSAGE_LEN + (size_t)_i; n++)
		write_out(1);
	lane_overtake(lane, SPAN("answer"));
	expect_parts(first, now, answer, second);
}
END_TEST

START_TEST(a_whole_message_overtakes_a_later_one)
{
	pass(first);
	pass(second);
	lane_overtake(lane, SPAN("now"));
	write_out(sizeof(now) - 1 + (size_t)_i);
	lane_overtake(lane, SPAN("answer"));
	if (_i == 0)
		expect_parts(now, answer, first, second);
	else if (_i <= MESSAGE_LEN)
		expect_parts(now, first, answer, second);
	else
		expect_parts(now, first, second, answer);
}
END_TEST

START_TEST(answers_follow_decided_messages)
{
	pass(first);
	write_out((size_t)_i);
	lane_answer(lane, SPAN("answer"));
	pass(second);
	expect_parts(first, answer, second, "");
}
END_TEST

/* A body that passes in parts: its rest may come late, or never. */
START_TEST(no_message_gets_into_an_open_body)
{
	static const char whole[] = "Content-Length: 9\r\n\r\n[1,2,3,4]";
	const char *ours = _i == 0 ? now : "", *late = _i == 0 ? "" : now;
	size_t part = sizeof(whole) - 1 - strlen(",4]");

	receive("Content-length: 9\r\n\r\n");
	lane_set_open(lane, true);
	lane_insert_head(lane, 9);
	lane_drop(lane, (size_t)(lane_received_to(lane) - lane_decided_to(lane)));
	pass("[1,");
	lane_answer(lane, SPAN("answer"));
	write_out((size_t)_i);
	lane_overtake(lane, SPAN("now"));
	pass("2,3");
	write_out(SIZE_MAX);
	ck_assert_uint_eq(got_len, strlen(ours) + part);
	pass(",4]");
	lane_set_open(lane, false);
	expect_parts(ours, whole, late, answer);
}
END_TEST

/* More blanks than are written at once. */
START_TEST(blanks_close_a_body)
{
	const size_t missing = (size_t)_i * 37;
	char all[1024];

	receive("Content-Length: 1\r\n\r\n");
	lane_set_open(lane, true);
	lane_insert_head(lane, 1 + missing);
	lane_drop(lane, lane_received_to(lane) - lane_decided_to(lane));
	pass("[");
	write_out((size_t)_i);
	lane_overtake(lane, SPAN("now"));
	lane_insert_blanks(lane, missing);
	lane_set_open(lane, false);
	lane_answer(lane, SPAN("answer"));
	write_out(30);
	snprintf(all, sizeof(all), "Content-Length: %zu\r\n\r\n[%*s", 1 + missing, (int)missing, "");
	if (_i == 0)
		expect_parts(now, all, answer, "");
	else
		expect_parts(all, now, answer, "");
}
END_TEST

START_TEST(blanks_take_no_memory)
{
	lane_insert_blanks(lane, (uint64_t)1 << 40);
	ck_assert_uint_eq(lane_size(lane), 0);
	ck_assert_uint_eq(lane_backlog(lane), (uint64_t)1 << 40);
	lane_abandon(lane);
	ck_assert_uint_eq(lane_backlog(lane), 0);
	pass(first);
	expect_parts(first, "", "", "");
}
END_TEST

/* An inserted header is withdrawn with its message; an answer before it stays. */
START_TEST(withdraws_the_header_too)
{
	uint64_t start, end;

	pass(first);
	lane_answer(lane, SPAN("answer"));
	start = lane_received_to(lane);
	pass_reframed("content-length:7\n\n", "[three]");
	end = lane_received_to(lane);
	pass_reframed("content-length:5\n\n", "[two]");
	write_out((size_t)_i);
	ck_assert(lane_untouched(lane, start));
	lane_withdraw(lane, start, end);
	expect_parts(first, answer, second, "");
}
END_TEST

START_TEST(withdraws_the_first_one)
{
	uint64_t end;

	pass_reframed("content-length:7\n\n", "[three]");
	end = lane_received_to(lane);
	pass_reframed("content-length:5\n\n", "[two]");
	lane_withdraw(lane, 0, end);
	ck_assert_uint_eq(lane_backlog(lane), MESSAGE_LEN);
	expect_parts(second, "", "", "");
}
END_TEST

/* An edited message: header, part, insertion, part. */
START_TEST(withdraws_its_edits_too)
{
	uint64_t start = sizeof(first) - 1, end;

	pass(first);
	receive("content-length:9\n\n[\"three\"]");
	lane_set_open(lane, true);
	lane_insert_head(lane, 9);
	lane_drop(lane, sizeof("content-length:9\n\n") - 1);
	lane_pass(lane, 1);
	lane_insert(lane, SPAN("\"canceld-1\""));
	lane_drop(lane, 7);
	lane_pass(lane, 1);
	lane_set_open(lane, false);
	end = lane_received_to(lane);
	lane_answer(lane, SPAN("answer"));
	lane_withdraw(lane, start, end);
	expect_parts(first, answer, "", "");
}
END_TEST

/* One written byte of the header is enough. */
START_TEST(a_half_written_header_is_not_withdrawn)
{
	uint64_t start;

	pass(first);
	start = lane_received_to(lane);
	if (_i == 0)
		pass(second);
	else
		pass_reframed(_i == 1 ? "content-length:5\n\n" : "", "[two]");
	write_out(MESSAGE_LEN);
	ck_assert(lane_untouched(lane, start));
	for (size_t n = 1; n <= MESSAGE_LEN; n++) {
		write_out(1);
		ck_assert_msg(!lane_untouched(lane, start), "%zu bytes of it are written", n);
	}
	expect_parts(first, second, "", "");
}
END_TEST

/* The bytes of an answer before the message are not its own. */
START_TEST(an_answer_before_it_does_not_touch_it)
{
	uint64_t start;

	pass(first);
	start = lane_received_to(lane);
	lane_answer(lane, SPAN("answer"));
	pass_reframed("content-length:7\n\n", "[three]");
	write_out(MESSAGE_LEN + 1 + (size_t)_i);
	ck_assert(lane_untouched(lane, start));
	lane_withdraw(lane, start, lane_received_to(lane));
	expect_parts(first, answer, "", "");
}
END_TEST

/*
 * Seeded: whole messages pass unchanged or reframed, are dropped or withdrawn; some of canceld's overtake; pieces are
 * written.
 */
struct mess {
	char expected[16384];
	size_t len, overtaking;
};

static void
expect_message(struct mess *mess, const char *body)
{
	mess->len += (size_t)snprintf(mess->expected + mess->len, sizeof(mess->expected) - mess->len,
	    "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
}

/* Reads one message of the output, and returns its body; the bytes must be exactly one message. */
static size_t
read_message(size_t at, char *body)
{
	int head = 0, len = 0;

	ck_assert_int_eq(sscanf(got + at, "Content-Length: %d\r\n\r\n%n", &len, &head), 1);
	ck_assert_msg(head > 0 && got[at + (size_t)head - 1] == '\n', "no header at %zu", at);
	ck_assert_uint_le(at + (size_t)head + (size_t)len, got_len);
	memcpy(body, got + at + head, (size_t)len);
	body[len] = '\0';
	return (size_t)head + (size_t)len;
}

static void
one_message(struct mess *mess, unsigned i, unsigned random)
{
	uint64_t start = lane_received_to(lane);
	char body[32], framed[64];
	int n;

	snprintf(body, sizeof(body), "m%u%.*s", i, (int)(random >> 4 & 7), "-------");
	n = snprintf(framed, sizeof(framed), "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
	if (random & 1) {
		pass_reframed(random & 2 ? "" : "content-length:\t1\r\n\r\n", body);
	} else if (random & 2) {
		pass(framed);
	} else {
		receive(framed);
		lane_drop(lane, (size_t)n);
		return;
	}
	if ((random >> 2 & 3) == 0 && lane_untouched(lane, start))
		lane_withdraw(lane, start, lane_received_to(lane));
	else
		expect_message(mess, body);
}

START_TEST(messages_stay_whole_for_every_split_of_writes)
{
	static struct mess mess;
	unsigned seed = (unsigned)_i, i;
	char body[64], ordered[sizeof(mess.expected)];
	size_t at, len = 0, overtaken = 0;

	mess = (struct mess){ .len = 0 };
	for (i = 0; i < 60; i++) {
		seed = seed * 1103515245u + 12345u;
		one_message(&mess, i, seed >> 16);
		if ((seed >> 23 & 3) == 0) {
			lane_overtake(lane, SPAN("now"));
			mess.overtaking++;
		} else if ((seed >> 23 & 3) == 1) {
			lane_answer(lane, SPAN("answer"));
			expect_message(&mess, "answer");
		}
		write_out(seed >> 25 & 63);
	}
	write_out(SIZE_MAX);
	for (at = 0; at < got_len; at += i) {
		i = (unsigned)read_message(at, body);
		if (strcmp(body, "now") == 0) {
			overtaken++;
			continue;
		}
		memcpy(ordered + len, got + at, i);
		len += i;
	}
	ck_assert_uint_eq(overtaken, mess.overtaking);
	ck_assert_uint_eq(len, mess.len);
	ck_assert_mem_eq(ordered, mess.expected, len);
	ck_assert_uint_eq(lane_size(lane), 0);
	ck_assert_uint_eq(lane_backlog(lane), 0);
}
END_TEST

/* Kept for another reader: whole messages and insertions in them, but nothing bound to the former reader. */
START_TEST(keeps_unwritten_messages_for_another_reader)
{
	size_t len = (size_t)_i;

	pass("one\n");
	lane_answer(lane, SPAN("answer"));
	pass("two\n");
	lane_bind(lane, true);
	pass("for you\n");
	lane_bind(lane, false);
	pass_edited("id=1 x\n", 3, 1, "99");
	lane_overtake(lane, SPAN("now"));
	write_out(len);
	ck_assert(lane_keep(lane));
	got_len = 0;
	ck_assert(!lane_overtaking(lane));
	pass("next\n");
	lane_overtake(lane, SPAN("first"));
	if (len <= 4) /* of an urgent message */
		expect("first\none\ntwo\nid=99 x\nnext\n");
	else if (len <= 4 + 4 + 7)
		expect("first\ntwo\nid=99 x\nnext\n");
	else if (len <= 4 + 4 + 7 + 4 + 8)
		expect("first\nid=99 x\nnext\n");
	else
		expect("first\nnext\n");
	ck_assert_uint_eq(lane_size(lane), 0);
}
END_TEST

/* A message that passes in parts is kept too, unless a part of it is written or it is bound to the former reader. */
START_TEST(an_open_message_stays_open_if_none_of_it_was_written)
{
	bool bound = _i == 2;

	lane_bind(lane, bound);
	lane_set_open(lane, true);
	pass("half");
	lane_answer(lane, SPAN("answer"));
	write_out(_i == 1 ? 1 : 0);
	ck_assert(lane_keep(lane) == (_i == 0));
	got_len = 0;
	if (_i > 0) {
		pass("one\n");
		lane_answer(lane, SPAN("answer"));
		expect("one\nanswer\n");
		return;
	}
	lane_answer(lane, SPAN("later"));
	pass(" done\n");
	lane_set_open(lane, false);
	expect("half done\nlater\n");
}
END_TEST

START_TEST(blanks_of_a_bound_message_go_with_it)
{
	pass("one\n");
	lane_bind(lane, true);
	lane_set_open(lane, true);
	pass("for you");
	lane_insert_blanks(lane, 5);
	lane_set_open(lane, false);
	lane_bind(lane, false);
	ck_assert(lane_keep(lane));
	expect("one\n");
}
END_TEST

START_TEST(a_kept_message_can_be_withdrawn)
{
	pass("one\n");
	pass("two\n");
	pass("three\n");
	ck_assert(lane_keep(lane));
	lane_withdraw(lane, 4, 8);
	expect("one\nthree\n");
}
END_TEST

START_TEST(an_answer_in_the_place_of_a_dropped_one_is_not_withdrawn)
{
	pass("one\n");
	lane_answer(lane, SPAN("former"));
	ck_assert(lane_keep(lane));
	lane_answer(lane, SPAN("later"));
	pass("two\n");
	lane_withdraw(lane, 4, 8);
	expect("one\nlater\n");
}
END_TEST

START_TEST(after_stop_at_only_urgent_messages_are_written)
{
	pass("one\n");
	lane_stop_at(lane, 0);
	ck_assert_uint_eq(lane_backlog(lane), 0);
	expect("");
	lane_overtake(lane, SPAN("now"));
	ck_assert(lane_overtaking(lane));
	ck_assert_uint_eq(lane_backlog(lane), 4);
	expect("now\n");
	pass("two\n");
	expect("now\n");
	ck_assert_uint_eq(lane_queued(lane), 8);
	lane_stop_at(lane, LANE_FREE);
	expect("now\none\ntwo\n");
}
END_TEST

/* A message that was begun is written to its end, its header too; messages behind the position are not begun. */
START_TEST(after_stop_at_a_message_already_begun_is_written)
{
	size_t len = (size_t)_i;

	pass(first);
	pass_reframed("", "[\"three\"]");
	write_out(len);
	lane_stop_at(lane, lane_written_to(lane));
	lane_overtake(lane, SPAN("now"));
	if (len == 0)
		expect_joined(now, "", "");
	else if (len <= MESSAGE_LEN)
		expect_joined(first, now, "");
	else
		expect_joined(first, third, now);
	got_len = 0;
	lane_stop_at(lane, LANE_FREE);
	expect_joined(len == 0 ? first : "", len <= MESSAGE_LEN ? third : "", "");
}
END_TEST

START_TEST(bytes_before_the_stop_position_are_written)
{
	pass("one\n");
	pass("two\n");
	lane_stop_at(lane, 4 + (uint64_t)_i);
	pass("three\n");
	expect(_i == 0 ? "one\n" : "one\ntwo\n");
	ck_assert_uint_eq(lane_backlog(lane), 0);
	lane_stop_at(lane, LANE_FREE);
	expect("one\ntwo\nthree\n");
}
END_TEST

START_TEST(keeps_the_header_too)
{
	pass(first);
	pass_reframed("content-length:9\n\n", "[\"three\"]");
	write_out((size_t)_i);
	ck_assert(lane_keep(lane));
	got_len = 0;
	expect_joined(_i == 0 ? first : "", third, "");
	ck_assert_uint_eq(lane_size(lane), 0);
}
END_TEST

static TCase *
headers_case(void)
{
	TCase *headers = tcase_create("headers");

	tcase_add_checked_fixture(headers, setup_headers, teardown);
	tcase_add_test(headers, the_framing_is_kept);
	tcase_add_test(headers, lines_have_no_header);
	tcase_add_test(headers, a_header_takes_the_place_of_another);
	tcase_add_loop_test(headers, overtakes_between_messages_with_headers, 0, 2 * MESSAGE_LEN + 1);
	tcase_add_loop_test(headers, an_urgent_message_with_a_header_is_not_split, 0, sizeof(now) - 1);
	tcase_add_loop_test(headers, a_whole_message_overtakes_a_later_one, 0, 2 * MESSAGE_LEN + 1);
	tcase_add_loop_test(headers, answers_follow_decided_messages, 0, MESSAGE_LEN + 1);
	tcase_add_loop_test(headers, no_message_gets_into_an_open_body, 0, 24);
	tcase_add_loop_test(headers, blanks_close_a_body, 0, 12);
	tcase_add_test(headers, blanks_take_no_memory);
	tcase_add_loop_test(headers, withdraws_the_header_too, 0, MESSAGE_LEN + 1);
	tcase_add_test(headers, withdraws_the_first_one);
	tcase_add_test(headers, withdraws_its_edits_too);
	tcase_add_loop_test(headers, a_half_written_header_is_not_withdrawn, 0, 3);
	tcase_add_loop_test(headers, an_answer_before_it_does_not_touch_it, 0, sizeof(answer) - 1);
	tcase_add_loop_test(headers, messages_stay_whole_for_every_split_of_writes, 0, 100);
	tcase_add_loop_test(headers, keeps_the_header_too, 0, sizeof(first));
	tcase_add_loop_test(headers, after_stop_at_a_message_already_begun_is_written, 0, 2 * MESSAGE_LEN);
	return headers;
}

Suite *
lane_suite(void)
{
	Suite *suite = suite_create("lane");
	TCase *bytes = tcase_create("bytes");

	tcase_add_checked_fixture(bytes, setup, teardown);
	tcase_add_test(bytes, passes_and_drops);
	tcase_add_test(bytes, replaces_a_byte_in_what_is_not_decided);
	tcase_add_test(bytes, replaces_a_part);
	tcase_add_test(bytes, overtakes_between_messages);
	tcase_add_test(bytes, an_urgent_message_is_not_split);
	tcase_add_test(bytes, tells_how_far_urgent_messages_were_written);
	tcase_add_test(bytes, answers_wait_for_an_open_message);
	tcase_add_test(bytes, overtakes_between_messages_that_waited);
	tcase_add_test(bytes, nothing_overtakes_into_an_open_message);
	tcase_add_test(bytes, withdraws_with_its_edits_and_nothing_else);
	tcase_add_test(bytes, many_are_withdrawn_in_turn);
	tcase_add_test(bytes, abandons_what_is_queued_and_goes_on);
	tcase_add_test(bytes, memory_is_given_back);
	tcase_add_loop_test(bytes, keeps_unwritten_messages_for_another_reader, 0, 37);
	tcase_add_loop_test(bytes, an_open_message_stays_open_if_none_of_it_was_written, 0, 3);
	tcase_add_loop_test(bytes, bytes_before_the_stop_position_are_written, 0, 2);
	tcase_add_test(bytes, blanks_of_a_bound_message_go_with_it);
	tcase_add_test(bytes, a_kept_message_can_be_withdrawn);
	tcase_add_test(bytes, an_answer_in_the_place_of_a_dropped_one_is_not_withdrawn);
	tcase_add_test(bytes, after_stop_at_only_urgent_messages_are_written);
	tcase_add_loop_test(bytes, order_is_kept_for_every_split_of_writes, 0, 200);
	suite_add_tcase(suite, bytes);
	suite_add_tcase(suite, headers_case());
	return suite;
}
