#include "core/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/id.h"
#include "core/mem.h"

/* What a name is to its request; an id that is not aliased is two of them. */
enum name_kind {
	NAME_ID = 1 << 0,
	NAME_WIRE_ID = 1 << 1,
	NAME_WIRE_TOKEN = 1 << 2,
	NAME_OTHER_TOKEN = 1 << 3, /* of one that has two */
	NAMES_OF_TOKENS = NAME_WIRE_TOKEN | NAME_OTHER_TOKEN,
};

void
pending_init(struct pending *pending, uint64_t seed)
{
	*pending = (struct pending){ .seed = seed };
	timeline_init(&pending->idle);
	timeline_init(&pending->hard);
	timeline_init(&pending->linger);
	map_init(&pending->exact);
	map_init(&pending->loose);
}

void
pending_free(struct pending *pending)
{
	while (pending->oldest != NULL)
		pending_remove(pending, pending->oldest);
	map_free(&pending->exact);
	map_free(&pending->loose);
	timeline_free(&pending->idle);
	timeline_free(&pending->hard);
	timeline_free(&pending->linger);
	*pending = (struct pending){ 0 };
}

/* Ids and tokens share the maps and never meet: clients use the id as token too. */
static uint64_t
hash_of_name(const struct pending *pending, struct span bytes, unsigned kinds)
{
	return hash_of(bytes, pending->seed + (kinds & NAMES_OF_TOKENS ? 1 : 0));
}

static uint64_t
hash_of_value(const struct pending *pending, double value, unsigned kinds)
{
	double no_sign = value == 0 ? 0 : value; /* -0 has other bytes */

	return hash_of_name(pending, (struct span){ (const char *)&no_sign, sizeof(no_sign) }, kinds);
}

static size_t
index_of(const struct request *request, unsigned kind)
{
	size_t i = 0;

	while (!(request->names[i].kinds & kind))
		i++;
	return i;
}

static bool
is_awaited(enum request_state state)
{
	return state == REQUEST_WAITING || state == REQUEST_CANCELLING;
}

static void
add_loosely(struct pending *pending, struct request_name *name)
{
	if (name->numeric)
		map_add(&pending->loose, &name->loose, hash_of_value(pending, name->value, name->kinds));
}

static void
enter_state(struct pending *pending, struct request *request, enum request_state state)
{
	request->state = state;
	pending->in_state[state]++;
	if (state == REQUEST_WAITING && (request->flags & REQUEST_PERSON))
		pending->persons++;
	if (is_awaited(state))
		add_loosely(pending, &request->names[index_of(request, NAME_WIRE_ID)]);
}

static void
leave_state(struct pending *pending, struct request *request)
{
	pending->in_state[request->state]--;
	if (request->state == REQUEST_WAITING && (request->flags & REQUEST_PERSON))
		pending->persons--;
	map_remove(&pending->loose, &request->names[index_of(request, NAME_WIRE_ID)].loose);
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

/* How many bytes a canonical form takes beside the id. */
static size_t
room_for_key(struct span id)
{
	char storage[ID_CANONICAL_MAX];
	struct span key = id_canonical(id, storage);

	return key.ptr != id.ptr ? key.len : 0;
}

static struct span
key_of(char **at, struct span id)
{
	char storage[ID_CANONICAL_MAX];
	struct span key = id_canonical(id, storage);

	return key.ptr != id.ptr ? copy(at, key) : id;
}

static struct request_name *
add_name(struct pending *pending, struct request *request, struct span id, unsigned kinds, char **at)
{
	struct request_name *name = &request->names[request->name_count++];

	*name = (struct request_name){ .request = request, .key = key_of(at, id), .kinds = kinds };
	name->numeric = id_number(id, &name->value);
	map_add(&pending->exact, &name->exact, hash_of_name(pending, name->key, kinds));
	return name;
}

static void
add_names(struct pending *pending, struct request *request, char **at)
{
	unsigned id_kinds = request_is_aliased(request) ? NAME_ID : NAME_ID | NAME_WIRE_ID;

	add_name(pending, request, request->id, id_kinds, at);
	if (request_is_aliased(request))
		add_name(pending, request, request->wire_id, NAME_WIRE_ID, at);
	if (request->flags & REQUEST_TWO_TOKENS)
		add_name(pending, request, request->token, NAME_OTHER_TOKEN, at);
	if (request->wire_token.len > 0)
		add_loosely(pending, add_name(pending, request, request->wire_token, NAME_WIRE_TOKEN, at));
}

static bool
is_aliased(const struct pending_names *names)
{
	return names->wire_id.ptr != names->id.ptr && !span_equal(names->wire_id, names->id);
}

/* *bytes: where its texts and what is canonical of them are to be written. */
static struct request *
request_new(const struct pending_names *names, char **bytes)
{
	const struct span texts[] = { names->id, names->wire_id, names->token, names->wire_token };
	size_t two = names->flags & REQUEST_TWO_TOKENS ? 1 : 0;
	size_t count = (size_t)1 + is_aliased(names) + (names->wire_token.len > 0) + two;
	size_t size = names->method.len + names->name.len + names->meta.len;
	struct request *request;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		size += texts[i].len + room_for_key(texts[i]);
	size += sizeof(*request) + count * sizeof(request->names[0]);
	request = mem_resize(NULL, size, 1);
	*request = (struct request){ .row = names->row, .flags = names->flags };
	request->idle_after = request->cap_after = MSEC_NEVER;
	*bytes = (char *)&request->names[count];
	return request;
}

static void
copy_texts(struct request *request, const struct pending_names *names, char **at)
{
	bool own_wire_token = !span_equal(names->wire_token, names->token);

	request->id = copy(at, names->id);
	request->wire_id = is_aliased(names) ? copy(at, names->wire_id) : request->id;
	request->token = copy(at, names->token);
	request->wire_token = own_wire_token ? copy(at, names->wire_token) : request->token;
	request->method = copy(at, names->method);
	request->name = copy(at, names->name);
	request->meta = copy(at, names->meta);
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
	char *at;
	struct request *request;

	assert(names->id.len > 0 && names->wire_id.len > 0);
	assert((names->token.len > 0) == (names->wire_token.len > 0));
	request = request_new(names, &at);
	copy_texts(request, names, &at);
	add_names(pending, request, &at);
	link_newest(pending, request);
	enter_state(pending, request, REQUEST_WAITING);
	pending->count++;
	pending->aliased += request_is_aliased(request);
	return request;
}

void
pending_move(struct pending *pending, struct request *request, enum request_state state)
{
	assert(state != REQUEST_NONE && state != REQUEST_QUEUED && state < REQUEST_STATES);
	leave_state(pending, request);
	enter_state(pending, request, state);
}

void
pending_remove(struct pending *pending, struct request *request)
{
	alarm_disarm(&request->idle);
	alarm_disarm(&request->hard);
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
name_by_key(struct map_entry *entry)
{
	return (struct request_name *)(void *)((char *)entry - offsetof(struct request_name, exact));
}

static struct request_name *
name_by_value(struct map_entry *entry)
{
	return (struct request_name *)(void *)((char *)entry - offsetof(struct request_name, loose));
}

/* Of several requests with one id the newest of the highest rank is meant; one of rank 0 is never. */
enum { RANK_TOP = 3 };
static const unsigned char ranks_by_id[REQUEST_STATES] = {
	[REQUEST_WAITING] = RANK_TOP,
	[REQUEST_CANCELLING] = RANK_TOP,
	[REQUEST_PASSING] = 2,
	[REQUEST_ABANDONED] = 1,
};
static const unsigned char ranks_by_wire[REQUEST_STATES] = {
	[REQUEST_WAITING] = RANK_TOP,
	[REQUEST_CANCELLING] = RANK_TOP,
	[REQUEST_ABANDONED] = 1,
};
static const unsigned char ranks_by_token[REQUEST_STATES] = {
	[REQUEST_WAITING] = RANK_TOP,
	[REQUEST_CANCELLING] = RANK_TOP,
	[REQUEST_PASSING] = 1,
	[REQUEST_ABANDONED] = 1,
};

/* This one or the next older one that has such a name with this key. */
static struct map_entry *
with_key(struct map_entry *entry, struct span key, unsigned kinds)
{
	while (entry != NULL && (!(name_by_key(entry)->kinds & kinds) || !span_equal(name_by_key(entry)->key, key)))
		entry = map_next(entry);
	return entry;
}

static struct map_entry *
first_with_key(const struct pending *pending, struct span id, unsigned kinds)
{
	char storage[ID_CANONICAL_MAX];
	struct span key = id_canonical(id, storage);

	return with_key(map_first(&pending->exact, hash_of_name(pending, key, kinds)), key, kinds);
}

static struct map_entry *
next_with_key(const struct request_name *name, unsigned kinds)
{
	return with_key(map_next(&name->exact), name->key, kinds);
}

static struct request *
best(const struct pending *pending, struct span id, unsigned kinds, const unsigned char ranks[REQUEST_STATES])
{
	struct map_entry *entry = first_with_key(pending, id, kinds);
	struct request *found = NULL;
	unsigned rank = 0;

	for (; entry != NULL && rank < RANK_TOP; entry = next_with_key(name_by_key(entry), kinds)) {
		struct request *request = name_by_key(entry)->request;

		if (ranks[request->state] <= rank)
			continue;
		found = request;
		rank = ranks[request->state];
	}
	return found;
}

/* The only one whose name is the same number as the id and not equal to it. */
static struct request *
only_loosely(const struct pending *pending, struct span id, unsigned kinds)
{
	char storage[ID_CANONICAL_MAX];
	struct span key = id_canonical(id, storage);
	struct map_entry *entry;
	struct request *found = NULL;
	double value;

	if (!id_number(id, &value))
		return NULL;
	entry = map_first(&pending->loose, hash_of_value(pending, value, kinds));
	for (; entry != NULL; entry = map_next(entry)) {
		const struct request_name *name = name_by_value(entry);

		if (!(name->kinds & kinds) || name->value != value || span_equal(name->key, key))
			continue;
		if (found != NULL)
			return NULL;
		found = name->request;
	}
	return found;
}

struct request *
pending_by_id(const struct pending *pending, struct span id)
{
	return best(pending, id, NAME_ID, ranks_by_id);
}

struct request *
pending_by_wire(const struct pending *pending, struct span wire_id)
{
	return best(pending, wire_id, NAME_WIRE_ID, ranks_by_wire);
}

struct request *
pending_by_token(const struct pending *pending, struct span wire_token)
{
	struct request *exact = best(pending, wire_token, NAMES_OF_TOKENS, ranks_by_token);

	return exact != NULL ? exact : only_loosely(pending, wire_token, NAME_WIRE_TOKEN);
}

struct request *
pending_next_by_token(const struct pending *pending, struct span wire_token, const struct request *after)
{
	struct map_entry *entry;

	if (after == NULL)
		entry = first_with_key(pending, wire_token, NAME_WIRE_TOKEN);
	else
		entry = next_with_key(&after->names[index_of(after, NAME_WIRE_TOKEN)], NAME_WIRE_TOKEN);
	return entry != NULL ? name_by_key(entry)->request : NULL;
}

struct request *
pending_loosely(const struct pending *pending, struct span wire_id)
{
	return only_loosely(pending, wire_id, NAME_WIRE_ID);
}

bool
pending_holds(const struct pending *pending, struct span id)
{
	return first_with_key(pending, id, NAME_ID | NAME_WIRE_ID) != NULL;
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
