#include "core/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/id.h"
#include "core/mem.h"

/* The ids and tokens of its request that a name is: those with the same spelling are one name. */
enum name_kind {
	NAME_ID = 1 << 0,
	NAME_WIRE_ID = 1 << 1,
	NAME_WIRE_TOKEN = 1 << 2,
	NAME_TOKEN = 1 << 3, /* with REQUEST_TWO_TOKENS */
};

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
	*pending = (struct pending){ 0 };
}

uint64_t
pending_hash(const struct pending *pending, struct span id)
{
	return id_hash(id, pending->seed);
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
	double number;

	if (id_number(name->text, &number))
		map_add(&pending->loose, &name->loose, hash_of_number(pending, number));
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
 * of the text.
 */
static struct span
add_name(struct pending *pending, struct request *request, struct span text, unsigned kinds, uint64_t hash, char **at)
{
	struct request_name *name = request->names, *end = name + request->name_count;

	while (name < end && !span_equal(name->text, text))
		name++;
	if (name < end) {
		name->kinds |= kinds;
		return name->text;
	}
	*name = (struct request_name){ .request = request, .text = copy(at, text), .kinds = kinds };
	request->name_count++;
	map_add(&pending->exact, &name->exact, hash != 0 ? hash : pending_hash(pending, text));
	if (pending->finds_numbers)
		add_number(pending, name);
	return name->text;
}

static void
add_tokens(struct pending *pending, struct request *request, const struct pending_names *names, char **at)
{
	request->wire_token = add_name(pending, request, names->wire_token, NAME_WIRE_TOKEN, 0, at);
	request->token = names->flags & REQUEST_TWO_TOKENS ?
	    add_name(pending, request, names->token, NAME_TOKEN, 0, at) :
	    copy(at, names->token);
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
	request->id = request->wire_id = add_name(pending, request, names->id, id_kinds, names->hash, &at);
	if (names->wire_id.len > 0)
		request->wire_id = add_name(pending, request, names->wire_id, NAME_WIRE_ID, 0, &at);
	if (names->token.len > 0)
		add_tokens(pending, request, names, &at);
	request->method = copy(&at, names->method);
	request->name = copy(&at, names->name);
	request->meta = copy(&at, names->meta);
	request->row = names->row;
	request->flags = names->flags;
	request->idle_after = request->cap_after = MSEC_NEVER;
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
}

void
pending_set_deadlines(struct pending *pending, struct request *request, msec_t idle_after, msec_t cap_after,
    msec_t idle_now, msec_t now)
{
	request->received = now;
	request->idle_after = idle_after;
	request->cap_after = cap_after;
	alarm_arm(&pending->idle, &request->idle, idle_after, idle_now);
	alarm_arm(&pending->hard, &request->hard, cap_after, now);
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
name_of_exact(struct map_entry *entry)
{
	return (struct request_name *)(void *)((char *)entry - offsetof(struct request_name, exact));
}

static struct request_name *
name_of_loose(struct map_entry *entry)
{
	return (struct request_name *)(void *)((char *)entry - offsetof(struct request_name, loose));
}

/* Of several requests with one id the newest of the highest rank is found; one of rank 0 never is. */
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

static struct request_name *
first_with_text(const struct pending *pending, struct span text, unsigned kinds)
{
	return with_text(map_first(&pending->exact, pending_hash(pending, text)), text, kinds);
}

static struct request *
best(struct request_name *name, struct span text, unsigned kinds, const unsigned char ranks[REQUEST_STATES])
{
	struct request *found = NULL;
	unsigned rank = 0;

	for (; name != NULL && rank < RANK_TOP; name = with_text(map_next(&name->exact), text, kinds)) {
		if (ranks[name->request->state] <= rank)
			continue;
		found = name->request;
		rank = ranks[found->state];
	}
	return found;
}

/* The only request whose id (if it is awaited) or token is the same number as the text but not equal to it. */
static struct request *
only_loosely(struct pending *pending, struct span text, enum name_kind kind)
{
	uint64_t exactly = pending_hash(pending, text);
	struct request *found = NULL;
	struct map_entry *entry;
	double number;

	if (!id_number(text, &number))
		return NULL;
	find_by_number(pending);
	entry = map_first(&pending->loose, hash_of_number(pending, number));
	for (; entry != NULL; entry = map_next(entry)) {
		const struct request_name *name = name_of_loose(entry);

		if (!(name->kinds & kind) || name->exact.hash == exactly)
			continue;
		if (kind == NAME_WIRE_ID && !request_is_awaited(name->request))
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
	return best(first_with_text(pending, id, NAME_ID), id, NAME_ID, ranks_by_id);
}

struct request *
pending_by_wire(const struct pending *pending, struct span wire_id)
{
	return pending_by_wire_hash(pending, wire_id, pending_hash(pending, wire_id));
}

struct request *
pending_by_wire_hash(const struct pending *pending, struct span wire_id, uint64_t hash)
{
	struct request_name *first = with_text(map_first(&pending->exact, hash), wire_id, NAME_WIRE_ID);

	return best(first, wire_id, NAME_WIRE_ID, ranks_by_wire);
}

struct request *
pending_by_token(struct pending *pending, struct span wire_token)
{
	unsigned kinds = NAME_WIRE_TOKEN | NAME_TOKEN;
	struct request *exact = best(first_with_text(pending, wire_token, kinds), wire_token, kinds, ranks_by_token);

	return exact != NULL ? exact : only_loosely(pending, wire_token, NAME_WIRE_TOKEN);
}

struct request *
pending_next_by_token(const struct pending *pending, struct span wire_token, const struct request *after)
{
	struct request_name *name = first_with_text(pending, wire_token, NAME_WIRE_TOKEN);
	size_t i = 0;

	if (after != NULL) {
		while (!(after->names[i].kinds & NAME_WIRE_TOKEN))
			i++;
		name = with_text(map_next(&after->names[i].exact), wire_token, NAME_WIRE_TOKEN);
	}
	return name != NULL ? name->request : NULL;
}

struct request *
pending_loosely(struct pending *pending, struct span wire_id)
{
	return only_loosely(pending, wire_id, NAME_WIRE_ID);
}

bool
pending_holds(const struct pending *pending, struct span id)
{
	return first_with_text(pending, id, NAME_ID | NAME_WIRE_ID) != NULL;
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
