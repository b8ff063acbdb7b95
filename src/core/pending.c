#include "core/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/mem.h"
#include "pending_index.h"

void
pending_init(struct pending *pending, struct text_table *texts, uint64_t seed)
{
	*pending = (struct pending){ .texts = texts };
	timeline_init(&pending->idle);
	timeline_init(&pending->hard);
	timeline_init(&pending->linger);
	pending->index = mem_new(sizeof(*pending->index));
	slab_init(&pending->index->slab);
	pending->index->seed = seed;
	table_init(&pending->index->ids, KEY_ID, seed);
	table_init(&pending->index->aliases, KEY_WIRE_ID, seed);
	table_init(&pending->index->tokens, KEY_WIRE_TOKEN, seed);
	table_init(&pending->index->seconds, KEY_TOKEN, seed);
}

void
pending_free(struct pending *pending)
{
	while (pending->oldest != NULL)
		pending_remove(pending, pending->oldest);
	table_free(&pending->index->ids);
	table_free(&pending->index->aliases);
	table_free(&pending->index->tokens);
	table_free(&pending->index->seconds);
	slab_free(&pending->index->slab);
	free(pending->index);
	timeline_free(&pending->idle);
	timeline_free(&pending->hard);
	timeline_free(&pending->linger);
	*pending = (struct pending){ 0 };
}

/* Puts the bytes behind the text's first *len ones. */
static struct request_part
append(char *text, size_t *len, struct span bytes)
{
	struct request_part part = { (uint32_t)*len, (uint32_t)bytes.len };

	if (bytes.len > 0)
		memcpy(text + *len, bytes.ptr, bytes.len);
	*len += bytes.len;
	return part;
}

/* Clients that number their requests use the id as token too. Bytes that are the same are kept once. */
static void
copy_ids(struct request *request, const struct pending_names *names)
{
	bool aliased = names->wire_id.ptr != names->id.ptr && !span_equal(names->wire_id, names->id);
	bool own_token = !span_equal(names->token, names->id);
	bool own_wire_token = !span_equal(names->wire_token, names->token);
	size_t len = names->id.len;
	char *text = request->bytes.here;
	struct request_part id;

	len += aliased ? names->wire_id.len : 0;
	len += own_token ? names->token.len : 0;
	len += own_wire_token ? names->wire_token.len : 0;
	assert(len <= UINT32_MAX);
	if (len > REQUEST_INLINE)
		request->bytes.block = text = mem_resize(NULL, len, 1);
	len = 0;
	id = append(text, &len, names->id);
	request->id = (struct span){ text, id.len };
	request->wire_id = aliased ? append(text, &len, names->wire_id) : id;
	request->token = own_token ? append(text, &len, names->token) : id;
	request->wire_token = own_wire_token ? append(text, &len, names->wire_token) : request->token;
}

static void
free_ids(struct request *request)
{
	if (request->id.ptr != request->bytes.here)
		free(request->bytes.block);
}

static void
enter_indexes(struct pending_index *index, struct request *request)
{
	table_add(&index->ids, &index->slab, request);
	if (request->wire_token.len > 0)
		table_add(&index->tokens, &index->slab, request);
	if (request->flags & REQUEST_TWO_TOKENS)
		table_add(&index->seconds, &index->slab, request);
	if (request_is_aliased(request))
		table_add(&index->aliases, &index->slab, request);
	if (pending_spelling(request_wire_id(request)) == ODD_NUMBER)
		index->odd++;
}

static void
leave_ids(struct pending_index *index, struct request *request)
{
	table_remove(&index->ids, &index->slab, request);
	if (request_is_aliased(request))
		table_remove(&index->aliases, &index->slab, request);
	if (index->odd > 0 && pending_spelling(request_wire_id(request)) == ODD_NUMBER)
		index->odd--;
}

static void
leave_indexes(struct pending_index *index, struct request *request)
{
	if (!(request->flags & REQUEST_TOKEN_ONLY))
		leave_ids(index, request);
	if (request->wire_token.len > 0)
		table_remove(&index->tokens, &index->slab, request);
	if (request->flags & REQUEST_TWO_TOKENS)
		table_remove(&index->seconds, &index->slab, request);
}

static void
link_newest(struct pending *pending, struct request *request)
{
	request->older = request->newer = 0;
	if (pending->newest != NULL) {
		request->older = pending->newest->handle;
		pending->newest->newer = request->handle;
	} else {
		pending->oldest = request;
	}
	pending->newest = request;
}

static void
unlink_by_age(struct pending *pending, const struct request *request)
{
	struct request *older = slab_at(&pending->index->slab, request->older);
	struct request *newer = newer_than(pending, request);

	if (older != NULL)
		older->newer = request->newer;
	else
		pending->oldest = newer;
	if (newer != NULL)
		newer->older = request->older;
	else
		pending->newest = older;
}

static void
enter_state(struct pending *pending, struct request *request, enum request_state state)
{
	request->state = (uint8_t)state;
	pending->in_state[state]++;
	if (state == REQUEST_WAITING && (request->flags & REQUEST_PERSON))
		pending->persons++;
}

static void
leave_state(struct pending *pending, struct request *request)
{
	if (request->flags & REQUEST_TOKEN_ONLY)
		return;
	pending->in_state[request->state]--;
	if (request->state == REQUEST_WAITING && (request->flags & REQUEST_PERSON))
		pending->persons--;
}

/* Many ask the same as the one before. */
static void
hold_texts(struct text_table *texts, struct request *request, const struct request *last,
    const struct pending_names *names)
{
	request->method = text_hold_like(texts, last != NULL ? last->method : NULL, names->method);
	request->name = request->meta = NULL;
	if (names->name.len > 0)
		request->name = text_hold_like(texts, last != NULL ? last->name : NULL, names->name);
	if (names->meta.len > 0)
		request->meta = text_hold_like(texts, last != NULL ? last->meta : NULL, names->meta);
}

struct request *
pending_add(struct pending *pending, const struct pending_names *names)
{
	struct request *request = slab_take(&pending->index->slab);

	assert(names->id.len > 0 && names->wire_id.len > 0);
	assert((names->token.len > 0) == (names->wire_token.len > 0));
	assert(!(names->flags & REQUEST_TOKEN_ONLY));
	copy_ids(request, names);
	hold_texts(pending->texts, request, pending->newest, names);
	request->start = request->end = 0;
	request->received = 0;
	request->idle = request->hard = (struct alarm){ 0 };
	request->flags = names->flags;
	request->hash = names->hash != 0 ? names->hash : pending_hash(pending, request->id);
	request->idle_after = request->cap_after = MSEC_NEVER;
	enter_indexes(pending->index, request);
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
	assert(!(request->flags & REQUEST_TOKEN_ONLY));
	leave_state(pending, request);
	enter_state(pending, request, state);
}

static void
disarm(struct request *request)
{
	alarm_disarm(&request->idle);
	alarm_disarm(&request->hard);
}

void
pending_remove(struct pending *pending, struct request *request)
{
	for (struct walk *walk = pending->index->walks; walk != NULL; walk = walk->outer)
		if (walk->next == request)
			walk->next = newer_than(pending, request);
	disarm(request);
	leave_state(pending, request);
	leave_indexes(pending->index, request);
	unlink_by_age(pending, request);
	pending->count--;
	pending->aliased -= request_is_aliased(request);
	text_drop(pending->texts, request->method);
	text_drop(pending->texts, request->name);
	text_drop(pending->texts, request->meta);
	free_ids(request);
	slab_give(&pending->index->slab, request);
}

void
pending_keep_token(struct pending *pending, struct request *request, struct span task_id)
{
	struct text *task = text_hold(pending->texts, task_id);

	assert(request->token.len > 0 && !(request->flags & REQUEST_TOKEN_ONLY));
	disarm(request);
	leave_state(pending, request);
	leave_ids(pending->index, request);
	request->state = REQUEST_NONE;
	request->flags |= REQUEST_TOKEN_ONLY;
	text_drop(pending->texts, request->name);
	request->name = task;
}

void
pending_each(struct pending *pending, void (*visit)(void *user, struct request *request), void *user)
{
	struct walk walk = { pending->oldest, pending->index->walks };
	struct request *request;

	pending->index->walks = &walk;
	while ((request = walk.next) != NULL) {
		walk.next = newer_than(pending, request);
		visit(user, request);
	}
	pending->index->walks = walk.outer;
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
