#include "core/table.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct clocks clocks;
static struct pending pending;

static void
setup(void)
{
	pending_init(&pending, SIDE_CLIENT, &clocks);
}

static void
teardown(void)
{
	pending_free(&pending);
}

static struct id
read(const char *id)
{
	return id_of(span_of(id));
}

static struct request *
add_names(const char *id, const char *wire_id, const char *token)
{
	struct request like = {
		.id = read(id),
		.wire_id = span_of(wire_id),
		.token = read(token),
		.method = SPAN("tools/call"),
	};

	return pending_add(&pending, &like, ID_NONE);
}

static struct request *
add(const char *id)
{
	return add_names(id, id, "");
}

static struct request *
by_wire(const char *wire_id)
{
	return pending_find(&pending, read(wire_id), NAME_WIRE);
}

static struct request *
loosely(const char *wire_id)
{
	return pending_alike(&pending, read(wire_id), NAME_WIRE);
}

SUITE("pending", .alone = true, .before = setup, .after = teardown);

/* A request of a session ends during an iteration over the session's requests. */
TEST(many_share_a_token)
{
	enum { SHARERS = 100 };
	struct request *requests[SHARERS], *request = NULL;
	char id[16];
	int i, count = 0;

	for (i = 0; i < SHARERS; i++) {
		snprintf(id, sizeof(id), "%d", i);
		requests[i] = add_names(id, id, i % 2 == 0 ? "\"even\"" : "\"odd\"");
	}
	for (i = 0; i < SHARERS; i += 4)
		pending_remove(requests[i]);
	while ((request = pending_next_by_token(&pending, read("\"even\""), request)) != NULL)
		ck_assert_ptr_eq(request, requests[SHARERS - 2 - 4 * count++]);
	ck_assert_int_eq(count, SHARERS / 4);
}

/*
 * What clients mostly write fits into the block of any freed request: a tool's name, and an id and
 * a token that are numbers, or one of both a UUID. Variants that look for misuse of memory keep no
 * block.
 */
TESTS(a_request_is_made_of_a_freed_one, 0, 3)
{
	static const char uuid[] = "\"7d9e1c02-54ab-4f3e-9d10-5f2f0c1b7a66\"";
	struct request *small = add("1"), *usual;
	struct request like = {
		.id = read(_i == 1 ? uuid : "1234567"),
		.token = read(_i == 2 ? uuid : "1234567"),
		.method = SPAN("tools/call"),
		.name = SPAN("list_directory"),
		.shown = SPAN("list_directory"),
	};
	uintptr_t freed = (uintptr_t)small;
	void *other;

	usual = pending_add(&pending, &like, read("8"));
	ck_assert_uint_eq(usual->size, small->size);
	pending_remove(small);
	other = malloc(usual->size); /* what malloc would give */
#ifndef SPARES
	ck_assert_uint_eq((uintptr_t)pending_add(&pending, &like, read("8")), freed);
#else
	ck_assert_uint_ne((uintptr_t)pending_add(&pending, &like, read("8")), freed);
#endif
	free(other);
}

/* The entries of the table, the id looked up, and the entry that is found; -1: none. */
static const struct {
	const char *held[4], *asked;
	int found;
} likenesses[] = {
	{ { "5" }, "\"5\"", 0 },
	{ { "5" }, "\"\\u0035\"", 0 },
	{ { "5" }, "5", -1 },
	{ { "5", "\"5.0\"" }, "\"5\"", -1 },
	{ { "5", "4", "6" }, "\"5\"", 0 },
	{ { "5", "\"x\"", "\"5e0\"" }, "5.0", 2 },
	{ { "5", "5.0", "5e0" }, "\"5\"", -1 },
	{ { "7" }, "\"007\"", -1 },
	{ { "\"1-1\"", "1" }, "\"1\"", 1 },
	{ { "9007199254740993" }, "9007199254740992", 0 },
	{ { "9007199254740993", "9007199254740992" }, "9007199254740992", 0 },
	{ { "9007199254740992" }, "9007199254740993", -1 },
	{ { "9007199254740993" }, "9007199254740995", -1 },
	{ { "1764108000000000001", "1764108000000000002" }, "1764108000000000000", -1 },
	{ { "1764108000000000001", "1764108000000000002" }, "\"1764108000000000002\"", 1 },
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
	ck_assert_ptr_eq(loosely(asked), requests[found]);
	add_names("\"z\"", likenesses[_i].held[found], "");
	ck_assert_ptr_null(loosely(asked));
	pending_remove(requests[found]);
	ck_assert_ptr_eq(loosely(asked), pending.newest);
	pending_remove(pending.newest);
	ck_assert_ptr_null(loosely(asked));
}

/* A look-up that steps over the others takes minutes. */
TESTS(ids_with_one_nearest_double_are_as_fast_as_others, 0, 3)
{
	enum { MANY = 50000 };
	static const char *const quotes[] = { "", "-", "\"" };
	char id[64];

	for (int i = 0; i < 2 * MANY; i++) {
		snprintf(id, sizeof(id), "%s10000000000000000000000%06d%s", quotes[_i], i % MANY,
		    _i == 2 ? "\"" : "");
		if (i < MANY)
			pending_move(add(id), i % 2 == 0 ? REQUEST_ABANDONED : REQUEST_WAITING);
		else
			ck_assert_ptr_nonnull(by_wire(id));
		ck_assert_uint_eq(pending_count(&pending, read(id), NAME_WIRE, MANY),
		    (unsigned)i % 2);
		ck_assert_ptr_null(by_wire("10000000000000000000000999999"));
		ck_assert_ptr_null(by_wire("\"10000000000000000000000999999\""));
	}
	ck_assert_ptr_null(loosely("10000000000000000000000999999"));
	ck_assert_ptr_eq(by_wire("1e28"), _i == 0 ? pending.oldest : NULL);
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
	ck_assert_uint_eq(pending_count(&pending, read("9007199254740993"), NAME_WIRE, 9), 3);
	ck_assert_uint_eq(pending_count(&pending, read("9007199254740992"), NAME_WIRE, 9), 1);
	ck_assert_uint_eq(pending_count(&pending, read("90071992547409930e-1"), NAME_WIRE, 9), 3);
	ck_assert_uint_eq(pending_count(&pending, read("\"9007199254740993\""), NAME_WIRE, 9), 1);
	ck_assert_uint_eq(pending_count(&pending, read("9007199254740993"), NAME_WIRE, 2), 2);
}
