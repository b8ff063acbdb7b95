#include "core/table.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *pending_suite(void);

static struct pending pending;

static void
setup(void)
{
	pending_init(&pending, SIDE_CLIENT, 42);
}

/* An assertion is about to fail: do not free anything. */
static void
setup_misuse(void)
{
	setup();
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

static void
teardown(void)
{
	pending_free(&pending);
}

static struct request *
add_names(const char *id, const char *wire_id, const char *token, const char *wire_token)
{
	struct pending_names names = {
		.id = span_of(id),
		.wire_id = span_of(wire_id),
		.token = span_of(token),
		.wire_token = span_of(wire_token),
		.method = SPAN("tools/call"),
	};

	return pending_add(&pending, &names);
}

static struct request *
add(const char *id)
{
	return add_names(id, id, "", "");
}

static struct request *
add_aliased(const char *id, const char *wire_id)
{
	return add_names(id, wire_id, "", "");
}

static struct request *
add_token(const char *id, const char *token)
{
	return add_names(id, id, token, token);
}

static struct request *
add_flagged(const char *id, unsigned flags)
{
	struct pending_names names = {
		.id = span_of(id),
		.wire_id = span_of(id),
		.method = SPAN("elicitation/create"),
		.flags = flags,
	};

	return pending_add(&pending, &names);
}

static struct request *
by_id(const char *id)
{
	return pending_by_id(&pending, span_of(id));
}

static struct request *
by_wire(const char *wire_id)
{
	return pending_by_wire(&pending, span_of(wire_id));
}

static struct request *
by_token(const char *wire_token)
{
	return pending_by_token(&pending, span_of(wire_token));
}

static struct request *
loosely(const char *wire_id)
{
	return pending_loosely(&pending, span_of(wire_id), false);
}

static bool
holds(const char *id)
{
	return pending_holds(&pending, span_of(id));
}

static void
assert_span(struct span span, const char *text)
{
	ck_assert_msg(span_equal(span, span_of(text)), "\"%.*s\" is not \"%s\"", (int)span.len, span.ptr, text);
}

SUITE("pending", .alone = true, .before = setup, .after = teardown);

TEST(empty_finds_nothing)
{
	ck_assert_ptr_null(by_id("1"));
	ck_assert_ptr_null(by_wire("1"));
	ck_assert_ptr_null(by_token("1"));
	ck_assert_ptr_null(loosely("1"));
	ck_assert_ptr_null(loosely("9007199254740993"));
	ck_assert(!holds("1"));
	ck_assert_ptr_null(pending.oldest);
	ck_assert_ptr_null(request_of_idle(NULL));
	ck_assert_ptr_null(request_of_hard(NULL));
}

TEST(names_are_copied_into_the_entry)
{
	char text[] = "12 34 \"a\" \"b\" m n {}";
	struct pending_names names = {
		.id = { text, 2 },
		.wire_id = { text + 3, 2 },
		.token = { text + 6, 3 },
		.wire_token = { text + 10, 3 },
		.method = { text + 14, 1 },
		.name = { text + 16, 1 },
		.meta = { text + 18, 2 },
		.flags = REQUEST_TASK | REQUEST_ASKED,
	};
	struct request *request = pending_add(&pending, &names);

	memset(text, '?', sizeof(text));
	assert_span(request->id, "12");
	assert_span(request->wire_id, "34");
	assert_span(request->token, "\"a\"");
	assert_span(request->wire_token, "\"b\"");
	assert_span(request->method, "m");
	assert_span(request->name, "n");
	assert_span(request->meta, "{}");
	ck_assert_uint_eq(request->flags, REQUEST_TASK | REQUEST_ASKED);
	ck_assert_uint_eq(request->state, REQUEST_WAITING);
	ck_assert_ptr_eq(by_id("12"), request);
	ck_assert_ptr_eq(by_wire("34"), request);
	ck_assert_ptr_eq(by_token("\"b\""), request);
	ck_assert_ptr_null(by_id("34"));
	ck_assert_ptr_null(by_wire("12"));
	ck_assert_ptr_null(by_token("\"a\""));
	ck_assert_uint_eq(pending.aliased, 1);
}

TEST(a_new_entry_is_zeroed)
{
	struct request *request = add("1");

	request->start = request->end = 77;
	alarm_arm(&pending.idle, &request->idle, 10, 0);
	pending_remove(request);
	request = add("2");
	ck_assert_uint_eq(request->start + request->end, 0);
	ck_assert(!alarm_armed(&request->idle) && !alarm_armed(&request->hard));
	ck_assert_int_eq(request->idle_after, MSEC_NEVER);
	ck_assert_int_eq(request->cap_after, MSEC_NEVER);
	ck_assert_uint_eq(request->name.len, 0);
	ck_assert_uint_eq(request->meta.len, 0);
	ck_assert_uint_eq(request->token.len, 0);
	ck_assert_uint_eq(request->flags, 0);
}

TESTS(ids_of_any_length, 0, 20)
{
	size_t len = (size_t)_i + 2;
	char *id = malloc(len + 1), *token = malloc(len + 1);
	struct request *request;

	ck_assert(id != NULL && token != NULL);
	memset(id, 'i', len);
	memset(token, 't', len);
	id[0] = id[len - 1] = token[0] = token[len - 1] = '"';
	id[len] = token[len] = '\0';
	request = add_token(id, token);
	assert_span(request->id, id);
	assert_span(request->wire_id, id);
	assert_span(request->token, token);
	assert_span(request->wire_token, token);
	ck_assert_ptr_eq(by_id(id), request);
	ck_assert_ptr_eq(by_wire(id), request);
	ck_assert_ptr_eq(by_token(token), request);
	free(id);
	free(token);
}

TEST(a_very_long_id)
{
	enum { LEN = 200000 };
	char *id = malloc(LEN + 1);
	struct request *request;

	ck_assert_ptr_nonnull(id);
	memset(id, '1', LEN);
	id[LEN] = '\0';
	request = add_token(id, id);
	ck_assert_ptr_eq(by_id(id), request);
	ck_assert_ptr_eq(by_token(id), request);
	id[LEN - 1] = '2';
	ck_assert_ptr_null(by_id(id));
	free(id);
}

TESTS(ids_are_equal_by_value, 0, 6)
{
	static const struct {
		const char *held, *same, *other;
	} cases[] = {
		{ "1", "1.0", "\"1\"" },
		{ "10e-1", "1", "10" },
		{ "\"\\u0061\"", "\"a\"", "\"b\"" },
		{ "0", "-0.0", "\"\"" },
		{ "\"\"", "\"\"", "0" },
		{ "12345678901234567890", "12345678901234567890", "12345678901234567891" },
	};
	struct request *request = add_token(cases[_i].held, cases[_i].held);

	ck_assert_ptr_eq(by_id(cases[_i].same), request);
	ck_assert_ptr_eq(by_wire(cases[_i].same), request);
	ck_assert_ptr_eq(by_token(cases[_i].same), request);
	ck_assert(holds(cases[_i].same));
	ck_assert_ptr_null(by_id(cases[_i].other));
	ck_assert_ptr_null(by_wire(cases[_i].other));
	ck_assert(!holds(cases[_i].other));
	ck_assert_uint_eq(pending.aliased, 0);
}

TEST(a_newer_request_hides_an_older_one)
{
	struct request *old = add("5"), *middle = add_aliased("5", "100"), *new = add("5.0");

	ck_assert_ptr_eq(by_id("5"), new);
	ck_assert_ptr_eq(by_wire("100"), middle);
	pending_remove(new);
	ck_assert_ptr_eq(by_id("5"), middle);
	ck_assert_ptr_eq(by_wire("5"), old);
	pending_remove(middle);
	ck_assert_ptr_eq(by_id("5"), old);
	ck_assert_ptr_null(by_wire("100"));
}

TEST(a_live_request_hides_tombstones)
{
	struct request *grave = add("5"), *live = add_aliased("5", "100");
	struct request *newest = add_aliased("5", "101");

	pending_move(grave, REQUEST_ABANDONED);
	pending_move(newest, REQUEST_ABANDONED);
	ck_assert_ptr_eq(by_id("5"), live);
	pending_move(live, REQUEST_CANCELLING);
	ck_assert_ptr_eq(by_id("5"), live);
	pending_move(live, REQUEST_ABANDONED);
	ck_assert_ptr_eq(by_id("5"), live);
	ck_assert_ptr_eq(by_wire("5"), grave);
	ck_assert_ptr_eq(by_wire("100"), live);
}

TEST(a_live_request_hides_tombstones_by_wire_id)
{
	struct request *plain = add("7"), *aliased = add_aliased("5", "7");

	pending_move(plain, REQUEST_ABANDONED);
	ck_assert_ptr_eq(by_wire("7"), aliased);
	pending_move(aliased, REQUEST_ABANDONED);
	ck_assert_ptr_eq(by_wire("7"), aliased);
	pending_move(plain, REQUEST_WAITING);
	ck_assert_ptr_eq(by_wire("7"), plain);
	pending_remove(plain);
	ck_assert_ptr_eq(by_wire("7"), aliased);
}

TEST(an_alias_may_differ_in_spelling_only)
{
	struct request *request = add_aliased("1.0", "1");

	ck_assert_uint_eq(pending.aliased, 1);
	ck_assert_ptr_eq(by_id("1"), request);
	ck_assert_ptr_eq(by_wire("1"), request);
	assert_span(request->id, "1.0");
	assert_span(request->wire_id, "1");
	pending_remove(request);
	ck_assert_uint_eq(pending.aliased, 0);
	ck_assert(!holds("1"));
}

TEST(an_id_is_found_in_both_forms)
{
	add_aliased("\"a\"", "\"b\"");
	ck_assert(holds("\"a\""));
	ck_assert(holds("\"b\""));
	ck_assert(!holds("\"c\""));
}

TEST(counts_follow_the_state)
{
	struct request *asked = add_flagged("1", REQUEST_PERSON), *other = add("2");

	ck_assert_uint_eq(pending.count, 2);
	ck_assert_uint_eq(pending.persons, 1);
	ck_assert_uint_eq(pending.in_state[REQUEST_WAITING], 2);
	pending_move(asked, REQUEST_CANCELLING);
	pending_move(other, REQUEST_ABANDONED);
	ck_assert_uint_eq(pending.persons, 0);
	ck_assert_uint_eq(pending.in_state[REQUEST_WAITING], 0);
	ck_assert_uint_eq(pending.in_state[REQUEST_CANCELLING], 1);
	ck_assert_uint_eq(pending.in_state[REQUEST_ABANDONED], 1);
	pending_move(asked, REQUEST_WAITING);
	ck_assert_uint_eq(pending.persons, 1);
	pending_move(asked, REQUEST_WAITING);
	ck_assert_uint_eq(pending.persons, 1);
	pending_remove(asked);
	pending_remove(other);
	ck_assert_uint_eq(pending.persons, 0);
	ck_assert_uint_eq(pending.count, 0);
	for (size_t i = 0; i < REQUEST_STATES; i++)
		ck_assert_uint_eq(pending.in_state[i], 0);
}

TEST(tokens_exactly_first)
{
	struct request *number = add_token("1", "5"), *string = add_token("2", "\"5\"");

	ck_assert_ptr_eq(by_token("5"), number);
	ck_assert_ptr_eq(by_token("\"5\""), string);
	pending_remove(number);
	ck_assert_ptr_eq(by_token("5"), string);
	ck_assert_ptr_eq(by_token("5.0"), string);
	pending_remove(string);
	number = add_token("1", "5");
	ck_assert_ptr_eq(by_token("\"5\""), number);
	ck_assert_ptr_eq(by_token("\"5.0\""), number);
}

TEST(tokens_that_collide)
{
	struct request *old = add_token("1", "\"t\""), *new = add_token("2", "\"t\"");
	struct request *renamed = add_names("3", "3", "\"t\"", "\"canceld-1\"");

	ck_assert_ptr_eq(by_token("\"t\""), new);
	pending_move(new, REQUEST_ABANDONED);
	ck_assert_ptr_eq(by_token("\"t\""), old);
	ck_assert_ptr_eq(by_token("\"canceld-1\""), renamed);
	add_token("4", "8");
	add_token("5", "8");
	ck_assert_ptr_nonnull(by_token("8"));
	ck_assert_ptr_null(by_token("\"8\""));
}

static struct request *
add_two(const char *id, const char *wire_token, const char *other)
{
	struct pending_names names = {
		.id = span_of(id),
		.wire_id = span_of(id),
		.token = span_of(other),
		.wire_token = span_of(wire_token),
		.method = SPAN("textDocument/references"),
		.flags = REQUEST_TWO_TOKENS,
	};

	return pending_add(&pending, &names);
}

TEST(two_tokens_of_one_request)
{
	struct request *request = add_two("1", "\"work\"", "\"part\""), *other = add_two("2", "7", "8");

	ck_assert_ptr_eq(by_token("\"work\""), request);
	ck_assert_ptr_eq(by_token("\"part\""), request);
	ck_assert_ptr_eq(by_token("7.0"), other);
	ck_assert_ptr_eq(by_token("8"), other);
	ck_assert_ptr_null(by_token("\"none\""));
	pending_remove(request);
	ck_assert_ptr_null(by_token("\"work\""));
	ck_assert_ptr_null(by_token("\"part\""));
	ck_assert_ptr_eq(by_token("8"), other);
	pending_remove(other);
	ck_assert_ptr_null(by_token("8"));
}

/* Without the flag the receiver never sees the other token. */
TEST(a_token_under_an_alias_is_no_second_one)
{
	add_names("1", "1", "\"t\"", "\"canceld-1\"");
	add_two("2", "\"w\"", "\"p\"");
	ck_assert_ptr_null(by_token("\"t\""));
}

/* The tokens of one request and those of another, in either place: a tombstone never hides an awaited request. */
TEST(a_live_request_hides_tombstones_by_either_token)
{
	struct request *first = add_two("1", "\"a\"", "\"b\""), *second = add_two("2", "\"b\"", "\"c\"");

	pending_move(second, REQUEST_ABANDONED);
	ck_assert_ptr_eq(by_token("\"b\""), first);
	pending_move(first, REQUEST_ABANDONED);
	pending_move(second, REQUEST_WAITING);
	ck_assert_ptr_eq(by_token("\"b\""), second);
	pending_remove(second);
	ck_assert_ptr_eq(by_token("\"b\""), first);
}

static struct request *
next_by_token(const char *wire_token, const struct request *after)
{
	return pending_next_by_token(&pending, span_of(wire_token), after);
}

/* ACP: every request of a session has its token. */
TEST(requests_that_share_a_token)
{
	struct request *old = add_token("1", "\"s\""), *other = add_token("2", "\"t\"");
	struct request *middle = add_token("3", "\"\\u0073\""), *new = add_token("4", "\"s\"");

	ck_assert_ptr_eq(next_by_token("\"s\"", NULL), new);
	ck_assert_ptr_eq(next_by_token("\"s\"", new), middle);
	ck_assert_ptr_eq(next_by_token("\"s\"", middle), old);
	ck_assert_ptr_null(next_by_token("\"s\"", old));
	ck_assert_ptr_eq(next_by_token("\"t\"", NULL), other);
	ck_assert_ptr_null(next_by_token("\"t\"", other));
	ck_assert_ptr_null(next_by_token("\"u\"", NULL));
	pending_move(new, REQUEST_ABANDONED);
	ck_assert_ptr_eq(next_by_token("\"s\"", NULL), middle);
	ck_assert_ptr_eq(next_by_token("\"s\"", old), new);
	ck_assert_ptr_null(next_by_token("\"s\"", new));
	ck_assert_ptr_eq(by_token("\"s\""), middle);
	pending_remove(middle);
	ck_assert_ptr_eq(next_by_token("\"s\"", NULL), old);
	ck_assert_ptr_eq(by_token("\"s\""), old);
}

/* Neither loosely equal nor by the other token. */
TEST(sharers_of_a_token_have_it_exactly)
{
	struct request *request = add_two("1", "5", "6");

	ck_assert_ptr_eq(next_by_token("5.0", NULL), request);
	ck_assert_ptr_null(next_by_token("\"5\"", NULL));
	ck_assert_ptr_null(next_by_token("6", NULL));
}

/* A request of a session ends during an iteration over the session's requests. */
TEST(many_share_a_token)
{
	enum { SHARERS = 100 };
	struct request *requests[SHARERS], *request = NULL;
	char id[16];
	int i, count = 0;

	for (i = 0; i < SHARERS; i++) {
		snprintf(id, sizeof(id), "%d", i);
		requests[i] = add_token(id, i % 2 == 0 ? "\"even\"" : "\"odd\"");
	}
	for (i = 0; i < SHARERS; i += 4)
		pending_remove(requests[i]);
	while ((request = next_by_token("\"even\"", request)) != NULL)
		ck_assert_ptr_eq(request, requests[SHARERS - 2 - 4 * count++]);
	ck_assert_int_eq(count, SHARERS / 4);
}

/* The entries of the table, the id looked up, and the entry that is found; -1: none. */
static const struct {
	const char *held[4], *asked;
	int found;
} likenesses[] = {
	{ { "5" }, "\"5\"", 0 },
	{ { "\"5\"" }, "5", 0 },
	{ { "5.0" }, "\"5\"", 0 },
	{ { "\"5.0\"" }, "5", 0 },
	{ { "\"5.0\"" }, "\"5\"", 0 },
	{ { "5" }, "\"5.0\"", 0 },
	{ { "\"\\u0035\"" }, "5", 0 },
	{ { "5" }, "\"\\u0035\"", 0 },
	{ { "0" }, "\"-0\"", 0 },
	{ { "\"-0\"" }, "0", 0 },
	{ { "\"0\"" }, "-0", 0 },
	{ { "-7" }, "\"-7\"", 0 },
	{ { "5" }, "5", -1 },
	{ { "5", "\"5.0\"" }, "\"5\"", -1 },
	{ { "5", "4", "6" }, "\"5\"", 0 },
	{ { "5", "\"x\"", "\"5e0\"" }, "5.0", 2 },
	{ { "0" }, "\"\"", -1 },
	{ { "\"\"" }, "0", -1 },
	{ { "7" }, "\"007\"", -1 },
	{ { "\"007\"" }, "7", -1 },
	{ { "\"a\"" }, "\"b\"", -1 },
	{ { "\"1-1\"", "1" }, "\"1\"", 1 },
	{ { "123456789012345" }, "\"123456789012345\"", 0 },
	{ { "9007199254740993" }, "9007199254740992", 0 },
	{ { "9007199254740993", "9007199254740992" }, "9007199254740992", 0 },
	{ { "\"9007199254740993\"" }, "9007199254740992", 0 },
	{ { "9007199254740993" }, "9007199254740995", -1 },
	{ { "\"x\"", "true" }, "true", -1 },
};

TESTS(the_only_loosely_equal_request_is_found, 0, COUNT(likenesses))
{
	struct request *requests[4] = { NULL };
	const char *asked = likenesses[_i].asked;
	int found = likenesses[_i].found;

	for (int i = 0; i < 4 && likenesses[_i].held[i] != NULL; i++)
		requests[i] = add(likenesses[_i].held[i]);
	ck_assert_ptr_eq(loosely(asked), found < 0 ? NULL : requests[found]);
	if (found < 0)
		return;
	pending_move(requests[found], REQUEST_CANCELLING);
	ck_assert_ptr_eq(loosely(asked), requests[found]);
	pending_move(requests[found], REQUEST_ABANDONED);
	ck_assert_ptr_null(loosely(asked));
	add_aliased("\"z\"", likenesses[_i].held[found]);
	ck_assert_ptr_eq(loosely(asked), pending.newest);
	pending_remove(pending.newest);
	pending_remove(requests[found]);
	ck_assert_ptr_null(loosely(asked));
}

TEST(several_loosely_equal_requests_give_none)
{
	add("5");
	add_aliased("6", "5");
	ck_assert_ptr_null(loosely("\"5\""));
	pending_move(pending.oldest, REQUEST_ABANDONED);
	ck_assert_ptr_eq(loosely("\"5\""), pending.newest);
}

SUITE("pending", .alone = true, .before = setup_misuse);

TEST_SIGNAL(only_states_that_are_stored, SIGABRT, 0, 1)
{
	pending_move(add("1"), REQUEST_QUEUED);
}
