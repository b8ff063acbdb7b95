#include "core/table.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	return pending_alike(&pending, span_of(wire_id), NAME_WIRE_ID, false);
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

static struct request *
next_by_token(const char *wire_token, const struct request *after)
{
	return pending_next_by_token(&pending, span_of(wire_token), after);
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

/* A look-up that steps over the others takes minutes. */
TESTS(ids_with_one_nearest_double_are_as_fast_as_others, 0, 3)
{
	enum { MANY = 50000 };
	static const char *const quotes[] = { "", "-", "\"" };
	char id[64];

	for (int i = 0; i < 2 * MANY; i++) {
		snprintf(id, sizeof(id), "%s10000000000000000000000%06d%s", quotes[_i], i % MANY, _i == 2 ? "\"" : "");
		if (i < MANY)
			pending_move(add(id), i % 2 == 0 ? REQUEST_ABANDONED : REQUEST_WAITING);
		else
			ck_assert_ptr_nonnull(by_wire(id));
		ck_assert_uint_eq(pending_count(&pending, span_of(id), NAME_WIRE_ID, MANY), (unsigned)i % 2);
		ck_assert_ptr_null(by_wire("10000000000000000000000999999"));
		ck_assert_ptr_null(by_wire("\"10000000000000000000000999999\""));
	}
	ck_assert_ptr_null(loosely("10000000000000000000000999999"));
	ck_assert_ptr_eq(by_wire("1e28"), _i == 0 ? pending.newest : NULL);
}

/* Ids that are equal, however they are spelled. */
TEST(equal_ids_are_counted)
{
	add("9007199254740993");
	add("9007199254740993");
	add("9007199254740992");
	add("9007199254740993.0");
	add("\"9007199254740993\"");
	pending_move(add("9007199254740993"), REQUEST_ABANDONED);
	ck_assert_uint_eq(pending_count(&pending, SPAN("9007199254740993"), NAME_WIRE_ID, 9), 3);
	ck_assert_uint_eq(pending_count(&pending, SPAN("9007199254740992"), NAME_WIRE_ID, 9), 2);
	ck_assert_uint_eq(pending_count(&pending, SPAN("90071992547409920e-1"), NAME_WIRE_ID, 9), 4);
	ck_assert_uint_eq(pending_count(&pending, SPAN("\"9007199254740993\""), NAME_WIRE_ID, 9), 1);
	ck_assert_uint_eq(pending_count(&pending, SPAN("9007199254740993"), NAME_WIRE_ID, 2), 2);
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
