#include "pending_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/pending.h"

enum { ENTRIES_MAX = 300, STEPS = 3000, RUNS = 6, POOL = 64 };

struct entry {
	struct request *request;                    /* compared, never dereferenced */
	struct span id, wire_id, token, wire_token; /* from the pool */
	enum request_state state;
	unsigned flags;
	msec_t idle_due, hard_due; /* MSEC_NEVER if not armed */
	bool lingers;
};

struct model {
	struct pending pending;
	struct entry entries[ENTRIES_MAX]; /* oldest first */
	size_t count;
	msec_t now;
	char pool[POOL][48];
	size_t wanted; /* how many entries there should be about now */
};

/* Spellings that are equal, loosely equal or different. */
static const char *const odd[] = { "1.0", "\"1.0\"", "10e-1", "\"\\u0031\"", "-0", "\"-0\"", "0", "\"\"",
	"9007199254740992", "9007199254740993", "\"9007199254740993\"", "\"\\u0061\"", "\"a\"", "12345678901234567890",
	"12345678901234567891", "\"1-1\"" };

enum { ODD = sizeof(odd) / sizeof(odd[0]) };

static size_t
below(size_t limit)
{
	return (size_t)rand() % limit;
}

static void
fill_pool(struct model *model, bool with_odd)
{
	static const char *const forms[][2] = { { "", "" }, { "\"", "\"" }, { "\"a-", "\"" },
		{ "\"0b1c9a52-7a3e-4c1d-9f10-", "\"" } };

	for (size_t i = 0; i < POOL; i++) {
		const char *const *form = forms[i % 4];

		if (with_odd && i < ODD)
			snprintf(model->pool[i], sizeof(model->pool[i]), "%s", odd[i]);
		else
			snprintf(model->pool[i], sizeof(model->pool[i]), "%s%zu%s", form[0], i / 8, form[1]);
	}
}

static struct span
any_of_pool(const struct model *model)
{
	const char *text = model->pool[below(POOL)];

	return (struct span){ text, strlen(text) };
}

static bool
matches_id(const struct entry *entry, struct span id)
{
	return id_equal(entry->id, id);
}

static bool
matches_wire(const struct entry *entry, struct span id)
{
	return id_equal(entry->wire_id, id);
}

static bool
matches_wire_token(const struct entry *entry, struct span token)
{
	return entry->wire_token.len > 0 && id_equal(entry->wire_token, token);
}

static bool
matches_token(const struct entry *entry, struct span token)
{
	return matches_wire_token(entry, token) ||
	    ((entry->flags & REQUEST_TWO_TOKENS) && id_equal(entry->token, token));
}

static bool
is_awaited(const struct entry *entry)
{
	return entry->state == REQUEST_WAITING || entry->state == REQUEST_CANCELLING;
}

bool
model_loosely_equal(struct span a, struct span b)
{
	double value_a, value_b;

	return id_equal(a, b) || (id_number(a, &value_a) && id_number(b, &value_b) && value_a == value_b);
}

static bool
matches_wire_loosely(const struct entry *entry, struct span id)
{
	return is_awaited(entry) && !id_equal(entry->wire_id, id) && model_loosely_equal(entry->wire_id, id);
}

static bool
matches_token_loosely(const struct entry *entry, struct span token)
{
	return entry->wire_token.len > 0 && model_loosely_equal(entry->wire_token, token);
}

typedef bool match_fn(const struct entry *entry, struct span key);

/* The newest that is awaited, else the newest that is PASSING, else any that is ABANDONED. */
enum passing { PASSING_FIRST, PASSING_NEVER };

static int
rank(const struct entry *entry, enum passing passing)
{
	if (is_awaited(entry))
		return 3;
	if (entry->state == REQUEST_ABANDONED)
		return 1;
	return passing == PASSING_FIRST ? 2 : 0;
}

static const struct entry *
best(const struct model *model, match_fn *matches, struct span key, enum passing passing)
{
	const struct entry *found = NULL;

	for (size_t i = model->count; i-- > 0;) {
		const struct entry *entry = &model->entries[i];

		if (matches(entry, key) && rank(entry, passing) > (found == NULL ? 0 : rank(found, passing)))
			found = entry;
	}
	return found;
}

/* Whether the request is the best entry, or a tombstone as good as that. */
static bool
is_best(const struct model *model, const struct request *request, match_fn *matches, struct span key,
    enum passing passing)
{
	const struct entry *wanted = best(model, matches, key, passing);

	if (wanted == NULL || wanted->state != REQUEST_ABANDONED)
		return request == (wanted == NULL ? NULL : wanted->request);
	for (size_t i = 0; i < model->count; i++)
		if (model->entries[i].request == request)
			return model->entries[i].state == REQUEST_ABANDONED && matches(&model->entries[i], key);
	return false;
}

static struct request *
only(const struct model *model, match_fn *matches, struct span key)
{
	struct request *found = NULL;

	for (size_t i = 0; i < model->count; i++) {
		if (!matches(&model->entries[i], key))
			continue;
		if (found != NULL)
			return NULL;
		found = model->entries[i].request;
	}
	return found;
}

/* Each request with the token is found once, tombstones last. */
static void
check_sharers(const struct model *model, struct span token)
{
	struct request *found = NULL;
	size_t count = 0, wanted = 0;
	bool tombstones = false;

	for (size_t i = 0; i < model->count; i++)
		wanted += matches_wire_token(&model->entries[i], token);
	while ((found = pending_next_by_token(&model->pending, token, found)) != NULL && count++ < wanted) {
		size_t i = 0;

		while (i < model->count && model->entries[i].request != found)
			i++;
		ck_assert(i < model->count && matches_wire_token(&model->entries[i], token));
		ck_assert(!tombstones || model->entries[i].state == REQUEST_ABANDONED);
		tombstones = model->entries[i].state == REQUEST_ABANDONED;
	}
	ck_assert_uint_eq(count, wanted);
	ck_assert_ptr_null(found);
}

static void
check_finds(struct model *model)
{
	struct pending *pending = &model->pending;
	struct span key = any_of_pool(model);

	ck_assert(is_best(model, pending_by_wire(pending, key), matches_wire, key, PASSING_NEVER));
	ck_assert(is_best(model, pending_by_id(pending, key), matches_id, key, PASSING_FIRST));
	if (best(model, matches_token, key, PASSING_FIRST) != NULL)
		ck_assert(is_best(model, pending_by_token(pending, key), matches_token, key, PASSING_FIRST));
	else
		ck_assert_ptr_eq(pending_by_token(pending, key), only(model, matches_token_loosely, key));
	check_sharers(model, key);
	ck_assert_ptr_eq(pending_loosely(pending, key), only(model, matches_wire_loosely, key));
	ck_assert_int_eq(pending_holds(pending, key),
	    best(model, matches_id, key, PASSING_FIRST) != NULL ||
		best(model, matches_wire, key, PASSING_FIRST) != NULL);
}

static void
check_counts(const struct model *model)
{
	size_t in_state[REQUEST_STATES] = { 0 }, persons = 0, aliased = 0;

	for (size_t i = 0; i < model->count; i++) {
		const struct entry *entry = &model->entries[i];

		aliased += !span_equal(entry->id, entry->wire_id);
		in_state[entry->state]++;
		persons += entry->state == REQUEST_WAITING && (entry->flags & REQUEST_PERSON);
	}
	for (size_t i = 0; i < REQUEST_STATES; i++)
		ck_assert_uint_eq(model->pending.in_state[i], in_state[i]);
	ck_assert_uint_eq(model->pending.persons, persons);
	ck_assert_uint_eq(model->pending.aliased, aliased);
	ck_assert_uint_eq(model->pending.count, model->count);
}

static msec_t
due(const struct alarm *alarm)
{
	return alarm == NULL ? MSEC_NEVER : alarm_due(alarm);
}

static msec_t
earlier(msec_t a, msec_t b)
{
	return a < b ? a : b;
}

static void
check_deadlines(const struct model *model)
{
	msec_t idle = MSEC_NEVER, hard = MSEC_NEVER, linger = MSEC_NEVER;

	for (size_t i = 0; i < model->count; i++) {
		const struct entry *entry = &model->entries[i];

		idle = earlier(idle, entry->idle_due);
		if (entry->lingers)
			linger = earlier(linger, entry->hard_due);
		else
			hard = earlier(hard, entry->hard_due);
	}
	ck_assert_int_eq(due(timeline_first(&model->pending.idle)), idle);
	ck_assert_int_eq(due(timeline_first(&model->pending.hard)), hard);
	ck_assert_int_eq(due(timeline_first(&model->pending.linger)), linger);
}

static void
check_entry(const struct entry *entry, const struct request *request)
{
	ck_assert_ptr_eq(request, entry->request);
	ck_assert(span_equal(request->id, entry->id));
	ck_assert(span_equal(request->wire_id, entry->wire_id));
	ck_assert(span_equal(request->token, entry->token));
	ck_assert(span_equal(request->wire_token, entry->wire_token));
	ck_assert_uint_eq(request->state, entry->state);
	ck_assert_uint_eq(request->flags, entry->flags);
}

static void
check_order(const struct model *model)
{
	const struct request *request = model->pending.oldest, *older = NULL;

	for (size_t i = 0; i < model->count; i++) {
		ck_assert_ptr_nonnull(request);
		ck_assert_ptr_eq(request->older, older);
		check_entry(&model->entries[i], request);
		older = request;
		request = request->newer;
	}
	ck_assert_ptr_null(request);
	ck_assert_ptr_eq(model->pending.newest, older);
}

static void
check_all(const struct model *model)
{
	check_counts(model);
	check_deadlines(model);
	check_order(model);
}

static void
add(struct model *model)
{
	static const unsigned flags[] = { 0, 0, 0, REQUEST_PERSON, REQUEST_TASK, REQUEST_ASKED };
	struct entry *entry = &model->entries[model->count++];
	struct pending_names names = { .method = any_of_pool(model) };

	names.id = names.wire_id = any_of_pool(model);
	if (below(4) == 0)
		names.wire_id = any_of_pool(model);
	if (below(2) == 0)
		names.token = names.wire_token = below(2) == 0 ? names.id : any_of_pool(model);
	if (names.token.len > 0 && below(4) == 0)
		names.wire_token = any_of_pool(model);
	if (below(2) == 0)
		names.name = any_of_pool(model);
	names.flags = flags[below(sizeof(flags) / sizeof(flags[0]))];
	if (names.token.len > 0 && below(2) == 0)
		names.flags |= REQUEST_TWO_TOKENS;
	*entry = (struct entry){
		.request = pending_add(&model->pending, &names),
		.id = names.id,
		.wire_id = names.wire_id,
		.token = names.token,
		.wire_token = names.wire_token,
		.state = REQUEST_WAITING,
		.flags = names.flags,
		.idle_due = MSEC_NEVER,
		.hard_due = MSEC_NEVER,
	};
}

static void
remove_one(struct model *model, size_t which)
{
	pending_remove(&model->pending, model->entries[which].request);
	model->count--;
	memmove(&model->entries[which], &model->entries[which + 1], (model->count - which) * sizeof(model->entries[0]));
}

static void
move(struct model *model, struct entry *entry)
{
	static const enum request_state states[] = { REQUEST_WAITING, REQUEST_CANCELLING, REQUEST_PASSING,
		REQUEST_ABANDONED };

	if (entry->state == REQUEST_ABANDONED) /* for good */
		return;
	entry->state = states[below(4)];
	pending_move(&model->pending, entry->request, entry->state);
}

static void
arm(struct model *model, struct entry *entry)
{
	static const msec_t durations[] = { 0, 10, 1000, 300000, MSEC_NEVER };
	msec_t idle = durations[below(5)], hard = durations[below(5)];
	struct pending *pending = &model->pending;

	model->now += (msec_t)below(20);
	entry->lingers = below(2) == 0;
	alarm_arm(&pending->idle, &entry->request->idle, idle, model->now);
	alarm_arm(entry->lingers ? &pending->linger : &pending->hard, &entry->request->hard, hard, model->now);
	entry->idle_due = idle == MSEC_NEVER ? MSEC_NEVER : model->now + idle;
	entry->hard_due = hard == MSEC_NEVER ? MSEC_NEVER : model->now + hard;
}

static void
step(struct model *model)
{
	struct entry *entry = &model->entries[below(model->count + 1)];

	if (model->count < ENTRIES_MAX && below(model->wanted + 1) >= below(model->count + 1))
		add(model);
	else if (model->count > 0)
		remove_one(model, below(4) == 0 ? 0 : below(model->count));
	if (entry >= &model->entries[model->count])
		return;
	move(model, entry);
	arm(model, entry);
}

START_TEST(behaves_like_a_plain_array)
{
	static struct model model;

	srand((unsigned)_i + 1);
	memset(&model, 0, sizeof(model));
	fill_pool(&model, _i % 2 == 1);
	pending_init(&model.pending, (uint64_t)_i);
	for (int i = 0; i < STEPS; i++) {
		if (i % 500 == 0)
			model.wanted = i / 500 % 2 == 0 ? ENTRIES_MAX : 3;
		step(&model);
		check_finds(&model);
		if (i % 64 == 0)
			check_all(&model);
	}
	check_all(&model);
	while (model.count > (size_t)_i % 3)
		remove_one(&model, below(model.count));
	check_all(&model);
	pending_free(&model.pending);
}
END_TEST

enum { MANY = 64000 };

static struct span
numbered(size_t number, char storage[24])
{
	return (struct span){ storage, (size_t)snprintf(storage, 24, "%zu", number) };
}

static void
shuffle(size_t order[MANY])
{
	for (size_t i = 0; i < MANY; i++) {
		size_t other = below(i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

static void
check_many(struct pending *pending, struct request *requests[MANY])
{
	char storage[24];

	for (size_t i = 0; i < MANY; i++) {
		struct span id = numbered(i, storage);

		if (pending_by_id(pending, id) != requests[i] || pending_by_wire(pending, id) != requests[i] ||
		    pending_by_token(pending, id) != requests[i])
			ck_abort_msg("%zu is not found, or found though removed", i);
	}
}

static void
add_many(struct pending *pending, struct request *requests[MANY], size_t from, size_t to)
{
	char storage[24];

	for (size_t i = from; i < to; i++) {
		struct span id = numbered(i, storage);
		struct pending_names names = { id, id, id, id, .method = SPAN("m") };

		requests[i] = pending_add(pending, &names);
	}
}

static void
remove_many(struct pending *pending, struct request *requests[MANY], const size_t order[MANY], size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		pending_remove(pending, requests[order[i]]);
		requests[order[i]] = NULL;
		if (i % (MANY / 4) == 0)
			check_many(pending, requests);
	}
}

/* Many requests are added, removed in any order, and added again. */
START_TEST(many_requests_at_once)
{
	static struct model model;
	static struct request *requests[MANY];
	static size_t order[MANY];
	struct pending *pending = &model.pending;

	srand(7);
	pending_init(pending, 7);
	for (size_t i = 0; i < MANY; i++)
		order[i] = i;
	for (int round = 0; round < 3; round++) {
		add_many(pending, requests, 0, MANY);
		check_many(pending, requests);
		remove_many(pending, requests, order, MANY / 8, MANY / 2);
		if (round == 0)
			add_many(pending, requests, MANY / 8, MANY / 2);
		else
			remove_many(pending, requests, order, 0, MANY / 8);
		check_many(pending, requests);
		remove_many(pending, requests, order, round == 0 ? 0 : MANY / 2, MANY);
		ck_assert_uint_eq(pending->count, 0);
		shuffle(order);
	}
	pending_free(pending);
}
END_TEST

TCase *
pending_model_case(void)
{
	TCase *tcase = tcase_create("model");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, many_requests_at_once);
	tcase_add_loop_test(tcase, behaves_like_a_plain_array, 0, RUNS);
	return tcase;
}
