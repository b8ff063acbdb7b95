#include "core/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/dialect.h"
#include "core/id.h"

/* Makes the hash of an open request's name that of a tombstone's, and back. */
#define TOMBSTONE 0xA0761D6478BD642F

enum { SPARE_ROOM = 192, SPARES = 1024 }; /* most requests fit into entries of this size, which are used again */

void
pending_init(struct pending *pending, enum side from, uint64_t seed)
{
	*pending = (struct pending){ .from = from, .seed = seed };
}

void
pending_clear(struct pending *pending)
{
	for (struct request *request = pending->oldest, *next; request != NULL; request = next) {
		next = request->newer;
		pending_remove(request);
	}
}

void
pending_free(struct pending *pending)
{
	struct request *request, *next;

	pending_clear(pending);
	for (request = pending->spare; request != NULL; request = next) {
		next = request->newer;
		free(request);
	}
	map_free(&pending->names);
	timeline_free(&pending->idle);
	timeline_free(&pending->hard);
	*pending = (struct pending){ 0 };
}

static void
enter_state(struct request *request, enum request_state state)
{
	request->state = state;
	request->in->in_state[state]++;
	if (state == REQUEST_WAITING && (request->traits & METHOD_PERSON))
		request->in->persons++;
}

static void
leave_state(const struct request *request)
{
	request->in->in_state[request->state]--;
	if (request->state == REQUEST_WAITING && (request->traits & METHOD_PERSON))
		request->in->persons--;
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

/*
 * The hash under which a name is kept. Names that no look-up wants together have different ones, so that it steps over
 * none of thousands of them; those of tombstones are apart.
 */
static uint64_t
key_of(uint64_t hash, enum name_kind kind, bool tombstone)
{
	return hash ^ ((uint64_t)kind + 1) * 0xD1B54A32D192ED03 ^ (tombstone ? TOMBSTONE : 0);
}

static void
add_name(struct request *request, struct span text, uint64_t hash, enum name_kind kind)
{
	struct request_name *name = &request->names[request->name_count++];

	*name = (struct request_name){ .request = request, .text = text };
	name->hash = hash != 0 ? hash : id_hash(text, request->in->seed);
	map_add(&request->in->names, &name->entry, key_of(name->hash, kind, false));
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

static struct request *
take_entry(struct pending *pending, size_t room)
{
	struct request *request = pending->spare;

	if (room > SPARE_ROOM || request == NULL) {
		room = room > SPARE_ROOM ? room : SPARE_ROOM;
		request = mem_resize(NULL, sizeof(*request) + room, 1);
	} else {
		pending->spare = request->newer;
		pending->spares--;
		room = SPARE_ROOM;
	}
	memset(request, 0, offsetof(struct request, names));
	request->room = room;
	request->in = pending;
	request->from = pending->from;
	return request;
}

static void
give_entry(struct pending *pending, struct request *request)
{
	if (request->room > SPARE_ROOM || pending->spares == SPARES) {
		free(request);
		return;
	}
	request->newer = pending->spare;
	pending->spare = request;
	pending->spares++;
}

struct request *
pending_add(struct pending *pending, const struct pending_names *names)
{
	size_t len = names->id.len + names->wire_id.len + names->token.len + names->wire_token.len + names->method.len +
	    names->name.len + names->meta.len + names->second_token.len;
	struct request *request = take_entry(pending, len);
	char *at = (char *)(request + 1);

	assert(names->id.len > 0);
	assert((names->token.len > 0) == (names->wire_token.len > 0));
	request->id = request->wire_id = copy(&at, names->id);
	if (names->wire_id.len > 0 && !span_equal(names->wire_id, names->id)) {
		request->wire_id = copy(&at, names->wire_id);
		add_name(request, request->id, names->hash, NAME_ID);
		add_name(request, request->wire_id, 0, NAME_WIRE_ID);
	} else {
		add_name(request, request->id, names->hash, NAME_BOTH);
	}
	request->token = copy(&at, names->token);
	request->wire_token = copy(&at, names->wire_token);
	if (names->wire_token.len > 0)
		add_name(request, request->wire_token, 0, NAME_WIRE_TOKEN);
	if (names->second_token.len > 0)
		add_name(request, copy(&at, names->second_token), 0, NAME_WIRE_TOKEN);
	request->method = copy(&at, names->method);
	request->name = copy(&at, names->name);
	request->meta = copy(&at, names->meta);
	request->row = names->row;
	request->traits = names->row == NULL ? 0 : names->row->traits;
	request->flags = names->flags;
	request->idle_after = request->cap_after = MSEC_NEVER;
	request->serial = pending->serial++;
	link_newest(pending, request);
	enter_state(request, REQUEST_WAITING);
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
pending_set_deadlines(struct request *request, msec_t idle_after, msec_t cap_after, msec_t idle_now, msec_t now)
{
	request->received = now;
	request->idle_after = idle_after;
	request->cap_after = cap_after;
	pending_start_idle(request, idle_now);
	alarm_arm(&request->in->hard, &request->hard, cap_after, now);
}

void
pending_start_idle(struct request *request, msec_t idle_now)
{
	alarm_arm(&request->in->idle, &request->idle, request->idle_after, idle_now);
	request->seen = idle_now;
}

void
pending_extend(struct request *request, msec_t idle_now)
{
	if (alarm_armed(&request->idle))
		alarm_arm(&request->in->idle, &request->idle, request->idle_after, idle_now);
	request->seen = idle_now;
}

void
pending_move(struct request *request, enum request_state state)
{
	bool was_tombstone = request->state == REQUEST_ABANDONED, tombstone = state == REQUEST_ABANDONED;

	assert(state != REQUEST_NONE && state != REQUEST_QUEUED && state < REQUEST_STATES);
	leave_state(request);
	enter_state(request, state);
	for (size_t i = 0; i < request->name_count && tombstone != was_tombstone; i++) {
		struct map_entry *entry = &request->names[i].entry;
		uint64_t hash = entry->hash ^ TOMBSTONE;

		map_remove(&request->in->names, entry);
		map_add(&request->in->names, entry, hash);
	}
}

void
pending_remove(struct request *request)
{
	struct pending *pending = request->in;

	alarm_disarm(&request->idle);
	alarm_disarm(&request->hard);
	buf_free(&request->progress);
	leave_state(request);
	for (size_t i = 0; i < request->name_count; i++)
		map_remove(&pending->names, &request->names[i].entry);
	unlink_by_age(pending, request);
	pending->count--;
	pending->aliased -= request_is_aliased(request);
	give_entry(pending, request);
}

static struct request_name *
name_of(struct map_entry *entry)
{
	return (struct request_name *)(void *)((char *)entry - offsetof(struct request_name, entry));
}

/* The newest name with this text, from this entry on; NULL if there is none. */
static struct request_name *
with_text(struct map_entry *entry, struct span text)
{
	while (entry != NULL && !id_equal(name_of(entry)->text, text))
		entry = map_next(entry);
	return entry == NULL ? NULL : name_of(entry);
}

static struct request *
first_of(const struct pending *pending, struct span text, uint64_t hash, enum name_kind kind, bool tombstone)
{
	struct request_name *name = with_text(map_first(&pending->names, key_of(hash, kind, tombstone)), text);

	return name == NULL ? NULL : name->request;
}

/* The newest open request that has this name, of either kind, which may be one; else the newest such tombstone. */
static struct request *
find_hashed(const struct pending *pending, struct span text, uint64_t hash, enum name_kind a, enum name_kind b)
{
	int kinds = pending->in_state[REQUEST_ABANDONED] > 0 ? 2 : 1;

	for (int tombstone = 0; tombstone < kinds; tombstone++) {
		struct request *one = first_of(pending, text, hash, a, tombstone);
		struct request *other = b == a ? NULL : first_of(pending, text, hash, b, tombstone);

		if (one != NULL && other != NULL)
			return one->serial > other->serial ? one : other;
		if (one != NULL || other != NULL)
			return one != NULL ? one : other;
	}
	return NULL;
}

static struct request *
find(const struct pending *pending, struct span text, enum name_kind a, enum name_kind b)
{
	return text.len == 0 ? NULL : find_hashed(pending, text, id_hash(text, pending->seed), a, b);
}

/* The request with a name, of either kind, that is the same number as the text but not equal; NULL: none, or several. */
static struct request *
find_alike(const struct pending *pending, struct span text, enum name_kind a, enum name_kind b, bool tombstone)
{
	struct request *found = NULL;
	double number, other;
	uint64_t hash;
	int count = 0;

	if (!id_number(text, &number))
		return NULL;
	hash = id_hash(text, pending->seed);
	for (int i = 0; i < (a == b ? 2 : 4); i++) {
		uint64_t key = key_of(i % 2 == 0 ? hash : hash ^ ID_STRING, i < 2 ? a : b, tombstone);
		struct map_entry *entry = map_first(&pending->names, key);

		for (; entry != NULL && count < 2; entry = map_next(entry)) {
			const struct request_name *name = name_of(entry);

			if (!id_number(name->text, &other) || other != number || id_equal(name->text, text))
				continue;
			found = name->request;
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

size_t
pending_count(const struct pending *pending, struct span text, enum name_kind kind, size_t most)
{
	uint64_t key = key_of(id_hash(text, pending->seed), kind, false);
	const struct map_entry *entry;
	size_t count = 0;

	for (entry = map_first(&pending->names, key); entry != NULL && count < most; entry = map_next(entry))
		count++;
	return count;
}

struct request *
pending_by_id(const struct pending *pending, struct span id)
{
	return find(pending, id, NAME_BOTH, pending->aliased > 0 ? NAME_ID : NAME_BOTH);
}

bool
pending_is_taken(const struct pending *pending, struct span wire_id, uint64_t *hash)
{
	*hash = id_hash(wire_id, pending->seed);
	return find_hashed(pending, wire_id, *hash, NAME_BOTH, pending->aliased > 0 ? NAME_WIRE_ID : NAME_BOTH) != NULL;
}

struct request *
pending_by_wire(const struct pending *pending, struct span wire_id)
{
	return find(pending, wire_id, NAME_BOTH, pending->aliased > 0 ? NAME_WIRE_ID : NAME_BOTH);
}

struct request *
pending_by_token(const struct pending *pending, struct span wire_token)
{
	struct request *found = find(pending, wire_token, NAME_WIRE_TOKEN, NAME_WIRE_TOKEN);

	return found != NULL ? found : find_alike(pending, wire_token, NAME_WIRE_TOKEN, NAME_WIRE_TOKEN, false);
}

struct request *
pending_next_by_token(const struct pending *pending, struct span wire_token, const struct request *after)
{
	const struct request_name *name = NULL;

	if (after == NULL)
		return find(pending, wire_token, NAME_WIRE_TOKEN, NAME_WIRE_TOKEN);
	for (name = after->names; name->text.ptr != after->wire_token.ptr;)
		name++;
	name = with_text(map_next(&name->entry), wire_token);
	if (name != NULL || after->state == REQUEST_ABANDONED)
		return name == NULL ? NULL : name->request;
	return first_of(pending, wire_token, id_hash(wire_token, pending->seed), NAME_WIRE_TOKEN, true);
}

struct request *
pending_loosely(const struct pending *pending, struct span wire_id, bool tombstone)
{
	return find_alike(pending, wire_id, NAME_BOTH, NAME_WIRE_ID, tombstone);
}

bool
pending_holds(const struct pending *pending, struct span id)
{
	return pending_by_id(pending, id) != NULL || pending_by_wire(pending, id) != NULL;
}

struct request *
pending_idle_due(const struct pending *pending, msec_t now)
{
	struct alarm *first = timeline_first(&pending->idle);

	if (first == NULL || first->due > now)
		return NULL;
	return (struct request *)(void *)((char *)first - offsetof(struct request, idle));
}

struct request *
pending_hard_due(const struct pending *pending, msec_t now)
{
	struct alarm *first = timeline_first(&pending->hard);

	if (first == NULL || first->due > now)
		return NULL;
	return (struct request *)(void *)((char *)first - offsetof(struct request, hard));
}
