#include "core/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/mem.h"

/* The ids and tokens of its request that a name is: those with the same spelling are one name. */
enum name_kind {
	NAME_ID = 1 << 0,
	NAME_WIRE_ID = 1 << 1,
	NAME_WIRE_TOKEN = 1 << 2,
	NAME_TOKEN = 1 << 3, /* with REQUEST_TWO_TOKENS */
	NAME_KINDS = 1 << 4,
};

/* The names with one text in pending->exact are found group by group. A wire id is the name of few requests. */
enum group { GROUP_WIRE_ID, GROUP_ID, GROUP_TOKEN, GROUPS };

void
pending_init(struct pending *pending, uint64_t seed)
{
	*pending = (struct pending){ .seed = seed };
}

void
pending_free(struct pending *pending)
{
	struct request *request, *next;

	for (request = pending->oldest; request != NULL; request = next) {
		next = request->newer;
		pending_remove(pending, request);
	}
	map_free(&pending->exact);
	map_free(&pending->loose);
	timeline_free(&pending->idle);
	timeline_free(&pending->hard);
	timeline_free(&pending->linger);
	timeline_free(&pending->grace);
	timeline_free(&pending->seen);
	*pending = (struct pending){ 0 };
}

static enum group
group_of(unsigned kinds)
{
	if (kinds & NAME_WIRE_ID)
		return GROUP_WIRE_ID;
	return kinds & NAME_ID ? GROUP_ID : GROUP_TOKEN;
}

/*
 * The hash under which a name is kept. Names that no look-up wants together have different ones, so that it steps over
 * none of thousands of them; those of tombstones are apart.
 */
static uint64_t
in_group(uint64_t hash, enum group group, bool tombstone)
{
	return hash ^ (2 * (uint64_t)group + tombstone) * 0x9E3779B97F4A7C15;
}

/* The same for a name in pending->loose. */
static uint64_t
in_kinds(uint64_t hash, unsigned kinds, bool tombstone)
{
	return hash ^ (2 * (uint64_t)kinds + tombstone) * 0x9E3779B97F4A7C15;
}

static uint64_t
hash_of_number(const struct pending *pending, double number)
{
	double no_sign = number == 0 ? 0 : number; /* -0 has other bytes */

	return hash_of((struct span){ (const char *)&no_sign, sizeof(no_sign) }, pending->seed);
}

static void
enter_state(struct pending *pending, struct request *request, enum request_state state)
{
	request->state = state;
	pending->in_state[state]++;
	if (state == REQUEST_WAITING && (request->flags & REQUEST_PERSON))
		pending->persons++;
}

static void
leave_state(struct pending *pending, const struct request *request)
{
	pending->in_state[request->state]--;
	if (request->state == REQUEST_WAITING && (request->flags & REQUEST_PERSON))
		pending->persons--;
}

static struct span
copy(char **at, struct span bytes)
{
	struct span kept = { *at, bytes.len };

	if (bytes.len > 0)
		memcpy(*at, bytes.ptr, bytes.len);
	*at += bytes.len;
	return kept;
}

static void
add_number(struct pending *pending, struct request_name *name)
{
	bool tombstone = name->request->state == REQUEST_ABANDONED;
	double number;

	if (id_number(name->text, &number))
		map_add(&pending->loose, &name->loose,
		    in_kinds(hash_of_number(pending, number), name->kinds, tombstone));
}

/* Most peers repeat ids and tokens as they are: names are found by number only from the first time that one is sought. */
static void
find_by_number(struct pending *pending)
{
	if (pending->finds_numbers)
		return;
	pending->finds_numbers = true;
	for (struct request *request = pending->oldest; request != NULL; request = request->newer)
		for (size_t i = 0; i < request->name_count; i++)
			add_number(pending, &request->names[i]);
}

/*
 * Gives the request this id or token: an existing name with the same text, or a new one. Returns the request's own copy
 * of the text. Many clients give the number of the id as the token too. A string is always a new name, so that the
 * requests of an ACP session are all in one group.
 */
static struct span
add_name(struct request *request, struct span text, unsigned kinds, char **at)
{
	struct request_name *name = request->names, *end = name + request->name_count;
	bool token = group_of(kinds) == GROUP_TOKEN;

	while (name < end &&
	    ((token && (text.ptr[0] == '"' || group_of(name->kinds) == GROUP_ID)) || !span_equal(name->text, text)))
		name++;
	if (name < end) {
		name->kinds |= kinds;
		return name->text;
	}
	*name = (struct request_name){ .request = request, .text = copy(at, text), .kinds = kinds };
	request->name_count++;
	return name->text;
}

static void
add_tokens(struct request *request, const struct pending_names *names, char **at)
{
	request->wire_token = add_name(request, names->wire_token, NAME_WIRE_TOKEN, at);
	request->token = names->flags & REQUEST_TWO_TOKENS ? add_name(request, names->token, NAME_TOKEN, at) :
							     copy(at, names->token);
}

static void
enter_names(struct pending *pending, struct request *request)
{
	for (size_t i = 0; i < request->name_count; i++) {
		struct request_name *name = &request->names[i];

		map_add(&pending->exact, &name->exact,
		    in_group(id_hash(name->text, pending->seed), group_of(name->kinds), false));
		if (pending->finds_numbers)
			add_number(pending, name);
	}
}

/* The request became a tombstone, or is none any more: its names change their groups. */
static void
regroup_names(struct pending *pending, struct request *request, bool tombstone)
{
	for (size_t i = 0; i < request->name_count; i++) {
		struct request_name *name = &request->names[i];
		enum group group = group_of(name->kinds);
		uint64_t hash = in_group(name->exact.hash, group, !tombstone); /* undone: the plain hash */
		bool found_by_number = name->loose.link != NULL;

		map_remove(&pending->exact, &name->exact);
		map_add(&pending->exact, &name->exact, in_group(hash, group, tombstone));
		map_remove(&pending->loose, &name->loose);
		if (found_by_number)
			add_number(pending, name);
	}
}

static void
link_newest(struct pending *pending, struct request *request)
{
	request->older = pending->newest;
	if (pending->newest != NULL)
		pending->newest->newer = request;
	else
		pending->oldest = request;
	pending->newest = request;
}

static void
unlink_by_age(struct pending *pending, struct request *request)
{
	if (request->older != NULL)
		request->older->newer = request->newer;
	else
		pending->oldest = request->newer;
	if (request->newer != NULL)
		request->newer->older = request->older;
	else
		pending->newest = request->older;
}

struct request *
pending_add(struct pending *pending, const struct pending_names *names)
{
	size_t len = names->id.len + names->wire_id.len + names->token.len + names->wire_token.len + names->method.len +
	    names->name.len + names->meta.len;
	unsigned id_kinds = names->wire_id.len > 0 ? NAME_ID : NAME_ID | NAME_WIRE_ID;
	struct request *request = mem_resize(NULL, sizeof(*request) + len, 1);
	char *at = (char *)(request + 1);

	memset(request, 0, offsetof(struct request, names));
	assert(names->id.len > 0);
	assert((names->token.len > 0) == (names->wire_token.len > 0));
	request->id = request->wire_id = add_name(request, names->id, id_kinds, &at);
	if (names->wire_id.len > 0)
		request->wire_id = add_name(request, names->wire_id, NAME_WIRE_ID, &at);
	if (names->token.len > 0)
		add_tokens(request, names, &at);
	enter_names(pending, request);
	request->method = copy(&at, names->method);
	request->name = copy(&at, names->name);
	request->meta = copy(&at, names->meta);
	request->row = names->row;
	request->flags = names->flags;
	request->idle_after = request->cap_after = MSEC_NEVER;
	request->serial = pending->serial++;
	link_newest(pending, request);
	enter_state(pending, request, REQUEST_WAITING);
	pending->count++;
	pending->aliased += request_is_aliased(request);
	return request;
}

void
pending_place(struct request *request, uint64_t start, uint64_t end)
{
	request->start = start;
	request->end = end;
	request->urgent = false;
}

void
pending_place_urgent(struct request *request, uint64_t end)
{
	request->start = 0;
	request->end = end;
	request->urgent = true;
}

void
pending_set_deadlines(struct pending *pending, struct request *request, msec_t idle_after, msec_t cap_after,
    msec_t idle_now, msec_t now)
{
	request->received = now;
	request->idle_after = idle_after;
	request->cap_after = cap_after;
	pending_start_idle(pending, request, idle_now);
	alarm_arm(&pending->hard, &request->hard, cap_after, now);
}

void
pending_start_idle(struct pending *pending, struct request *request, msec_t idle_now)
{
	alarm_arm(&pending->idle, &request->idle, request->idle_after, idle_now);
	alarm_arm(&pending->seen, &request->seen, 0, idle_now);
}

void
pending_extend(struct pending *pending, struct request *request, msec_t idle_now)
{
	if (alarm_armed(&request->idle))
		alarm_arm(&pending->idle, &request->idle, request->idle_after, idle_now);
	alarm_arm(&pending->seen, &request->seen, 0, idle_now);
}

msec_t
pending_seen(const struct request *request)
{
	return alarm_due(&request->seen);
}

struct request *
pending_next_seen(const struct pending *pending, const struct request *after)
{
	struct alarm *next =
	    after == NULL ? timeline_first(&pending->seen) : timeline_next(&pending->seen, &after->seen);

	return next == NULL ? NULL : (struct request *)(void *)((char *)next - offsetof(struct request, seen));
}

void
pending_change_deadlines(struct request *request, msec_t idle_after, msec_t cap_after)
{
	request->idle_after = idle_after;
	request->cap_after = cap_after;
}

void
pending_keep_progress(struct request *request, struct span message)
{
	buf_clear(&request->progress);
	if (message.len <= LIMIT_PROGRESS)
		buf_append(&request->progress, message);
}

void
pending_move(struct pending *pending, struct request *request, enum request_state state)
{
	bool was_tombstone = request->state == REQUEST_ABANDONED, tombstone = state == REQUEST_ABANDONED;

	assert(state != REQUEST_NONE && state != REQUEST_QUEUED && state < REQUEST_STATES);
	leave_state(pending, request);
	enter_state(pending, request, state);
	if (tombstone != was_tombstone)
		regroup_names(pending, request, tombstone);
}

void
pending_remove(struct pending *pending, struct request *request)
{
	alarm_disarm(&request->idle);
	alarm_disarm(&request->hard);
	alarm_disarm(&request->seen);
	buf_free(&request->progress);
	leave_state(pending, request);
	for (size_t i = 0; i < request->name_count; i++) {
		map_remove(&pending->exact, &request->names[i].exact);
		map_remove(&pending->loose, &request->names[i].loose);
	}
	unlink_by_age(pending, request);
	pending->count--;
	pending->aliased -= request_is_aliased(request);
	free(request);
}

static struct request_name *
name_of_exact(struct map_entry *entry)
{
	return (struct request_name *)(void *)((char *)entry - offsetof(struct request_name, exact));
}

static struct request_name *
name_of_loose(struct map_entry *entry)
{
	return (struct request_name *)(void *)((char *)entry - offsetof(struct request_name, loose));
}

/*
 * The name of this entry, or of the next older one, that has this text and is one of these kinds; NULL if there is
 * none.
 */
static struct request_name *
with_text(struct map_entry *entry, struct span text, unsigned kinds)
{
	for (; entry != NULL; entry = map_next(entry)) {
		struct request_name *name = name_of_exact(entry);

		if ((name->kinds & kinds) && id_equal(name->text, text))
			return name;
	}
	return NULL;
}

/* The better one of two requests, either of which may be NULL: one that is awaited, then the newer one. */
static struct request *
better(struct request *a, struct request *b)
{
	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	if (request_is_awaited(a) != request_is_awaited(b))
		return request_is_awaited(a) ? a : b;
	return a->serial > b->serial ? a : b;
}

/* The best request of the group. At most one is PASSING, as an answer passes alone: few steps find one that is awaited. */
static struct request *
best_of(const struct pending *pending, struct span text, uint64_t hash, unsigned kinds)
{
	struct request_name *name = with_text(map_first(&pending->exact, hash), text, kinds);
	struct request *found = NULL;

	for (; name != NULL; name = with_text(map_next(&name->exact), text, kinds)) {
		found = better(found, name->request);
		if (found->state != REQUEST_PASSING)
			break;
	}
	return found;
}

/* The best request that is no tombstone, else a tombstone; or NULL. */
static struct request *
best(const struct pending *pending, struct span text, uint64_t hash, unsigned kinds)
{
	struct request *found = NULL;
	int last = pending->in_state[REQUEST_ABANDONED] > 0 ? 1 : 0;

	for (int tombstone = 0; tombstone <= last && found == NULL; tombstone++) {
		found = best_of(pending, text, in_group(hash, GROUP_WIRE_ID, tombstone), kinds);
		if (kinds & NAME_ID)
			found = better(found, best_of(pending, text, in_group(hash, GROUP_ID, tombstone), kinds));
		if (kinds & NAME_WIRE_TOKEN)
			found = better(found, best_of(pending, text, in_group(hash, GROUP_TOKEN, tombstone), kinds));
	}
	return found;
}

/*
 * The only request whose id (if it is awaited; late: if it is a tombstone) or token is the same number as the text but
 * not equal to it.
 */
static struct request *
only_loosely(struct pending *pending, struct span text, enum name_kind kind, bool late)
{
	struct request *found = NULL;
	double number;

	if (!id_number(text, &number))
		return NULL;
	find_by_number(pending);
	for (unsigned key = 0; key < 2 * NAME_KINDS; key++) {
		unsigned kinds = key / 2;
		bool tombstone = key % 2;
		struct map_entry *entry;

		if (!(kinds & kind) || (tombstone != late && kind == NAME_WIRE_ID))
			continue;
		entry = map_first(&pending->loose, in_kinds(hash_of_number(pending, number), kinds, tombstone));
		for (; entry != NULL; entry = map_next(entry)) {
			const struct request_name *name = name_of_loose(entry);

			if ((kind == NAME_WIRE_ID && !late && !request_is_awaited(name->request)) ||
			    id_equal(name->text, text))
				continue;
			if (found != NULL)
				return NULL;
			found = name->request;
		}
	}
	return found;
}

struct request *
pending_by_id(const struct pending *pending, struct span id)
{
	return best(pending, id, id_hash(id, pending->seed), NAME_ID);
}

struct request *
pending_by_wire(const struct pending *pending, struct span wire_id)
{
	uint64_t hash = id_hash(wire_id, pending->seed);
	struct request *request = best_of(pending, wire_id, hash, NAME_WIRE_ID);

	if (request != NULL && request->state != REQUEST_PASSING)
		return request;
	if (pending->in_state[REQUEST_ABANDONED] == 0)
		return NULL;
	return best_of(pending, wire_id, in_group(hash, GROUP_WIRE_ID, true), NAME_WIRE_ID);
}

struct request *
pending_by_token(struct pending *pending, struct span wire_token)
{
	struct request *exact =
	    best(pending, wire_token, id_hash(wire_token, pending->seed), NAME_WIRE_TOKEN | NAME_TOKEN);

	return exact != NULL ? exact : only_loosely(pending, wire_token, NAME_WIRE_TOKEN, false);
}

/* The first name with this wire token in the groups from `key` on: two kinds, then the same of tombstones. */
static struct request *
first_in_groups(const struct pending *pending, struct span wire_token, int key)
{
	uint64_t hash = id_hash(wire_token, pending->seed);
	struct request_name *name = NULL;

	for (; key < 4 && name == NULL; key++)
		name = with_text(map_first(&pending->exact,
				     in_group(hash, key % 2 == 0 ? GROUP_WIRE_ID : GROUP_TOKEN, key / 2)),
		    wire_token, NAME_WIRE_TOKEN);
	return name != NULL ? name->request : NULL;
}

struct request *
pending_next_by_token(const struct pending *pending, struct span wire_token, const struct request *after)
{
	const struct request_name *last, *name;
	int key;

	if (after == NULL)
		return first_in_groups(pending, wire_token, 0);
	last = after->names;
	while (!(last->kinds & NAME_WIRE_TOKEN))
		last++;
	name = with_text(map_next(&last->exact), wire_token, NAME_WIRE_TOKEN);
	if (name != NULL)
		return name->request;
	key = 2 * (after->state == REQUEST_ABANDONED) + (group_of(last->kinds) == GROUP_TOKEN);
	return first_in_groups(pending, wire_token, key + 1);
}

struct request *
pending_loosely(struct pending *pending, struct span wire_id)
{
	return only_loosely(pending, wire_id, NAME_WIRE_ID, false);
}

struct request *
pending_loosely_late(struct pending *pending, struct span wire_id)
{
	return only_loosely(pending, wire_id, NAME_WIRE_ID, true);
}

bool
pending_holds(const struct pending *pending, struct span id)
{
	return best(pending, id, id_hash(id, pending->seed), NAME_ID | NAME_WIRE_ID) != NULL;
}

struct request *
request_of_idle(struct alarm *alarm)
{
	if (alarm == NULL)
		return NULL;
	return (struct request *)(void *)((char *)alarm - offsetof(struct request, idle));
}

struct request *
request_of_hard(struct alarm *alarm)
{
	if (alarm == NULL)
		return NULL;
	return (struct request *)(void *)((char *)alarm - offsetof(struct request, hard));
}
