#include "core/table.h"

/*
 * Freed requests of the size that most fit into: the next ones are made of these. Variants that
 * look for misuse of memory keep none (1), as such a request would hide it.
 */
#ifndef SPARES
#define SPARES 128
#endif
enum {
	NAMES_MOST = 7, /* of a request: its own id; of the wire id and two tokens two each */
	SPARE_SIZE = 1000,
};
static struct request *spares[SPARES];
static size_t spare_count;

void
pending_init(struct pending *pending, enum side from, const struct clocks *clocks)
{
	*pending = (struct pending){ .from = from, .clocks = clocks, .serial = 1 + (uint64_t)from };
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
	pending_clear(pending);
	map_free(&pending->names[false]);
	map_free(&pending->names[true]);
	timeline_free(&pending->idle);
	timeline_free(&pending->hard);
	timeline_free(&pending->beats);
	timeline_free(&pending->linger);
	timeline_free(&pending->heed);
}

/* Adds `by`, 1 or SIZE_MAX for -1, to the counts that depend on the request's state. */
static void
count_state(const struct request *request, size_t by)
{
	request->in->in_state[request->state] += by;
	if (request->state == REQUEST_WAITING && (request->flags & REQUEST_PERSON))
		request->in->persons += by;
	if (request->state == REQUEST_WAITING && (request->traits & METHOD_START))
		request->in->starting += by;
	if (request->traits & METHOD_HANDSHAKE)
		request->in->handshakes += by;
}

/* Copies the bytes to *at, and moves that behind them. */
static inline void
keep(char **at, struct span *bytes)
{
	*bytes = span_keep(*at, bytes->len, *bytes);
	*at += bytes->len;
}

/* Copies a name that the receiver sees likewise; an empty one becomes the requester's own. */
static void
keep_wire(char **at, struct span *name, struct span own)
{
	if (name->len > 0)
		keep(at, name);
	else
		*name = own;
}

static void
add_name(struct request *request, struct span text, uint64_t hash)
{
	struct request_name *name = request_names(request) + request->name_count++;

	*name = (struct request_name){ .request = request, .text = text };
	map_add(&request->in->names[false], &name->entry, hash);
}

/*
 * Kinds have different hashes, so that a look-up steps over none of thousands of names of another
 * one.
 */
static void
add_names(struct request *request, struct id id, enum name_kind kind)
{
	if (id.text.len > 0)
		add_name(request, id.text, id.hash + kind);
	if (id.near != 0)
		add_name(request, id.text, id.near + kind + NAME_NEAR);
}

struct request *
pending_add(struct pending *pending, const struct request *like, struct id second_token)
{
	size_t len = like->id.text.len + like->wire_id.len + like->token.text.len +
	    like->wire_token.len + second_token.text.len + like->method.len + like->name.len +
	    like->shown.len + like->meta.len + like->traceparent.len;
	size_t least = sizeof(struct request) + NAMES_MOST * sizeof(struct request_name) + len;
	size_t size = least < SPARE_SIZE ? SPARE_SIZE : least;
	struct request *request = size == SPARE_SIZE && spare_count > 0 ? spares[--spare_count] :
									  mem_resize(NULL, size, 1);
	char *at = (char *)(request_names(request) + NAMES_MOST);

	assert(like->id.text.len > 0);
	memcpy(request, like, offsetof(struct request, in));
	memset(&request->in, 0, sizeof(*request) - offsetof(struct request, in));
	request->size = (unsigned)size;
	request->in = pending;
	request->from = pending->from;
	request->passed = POLICY_CAP + 1;
	request->idle.owner = request->hard.owner = request->beat.alarm.owner =
	    request->heed.owner = request;
	keep(&at, &request->id.text);
	keep_wire(&at, &request->wire_id, request->id.text);
	keep(&at, &request->token.text);
	keep_wire(&at, &request->wire_token, request->token.text);
	keep(&at, &second_token.text);
	keep(&at, &request->method);
	keep(&at, &request->name);
	keep(&at, &request->shown);
	keep(&at, &request->meta);
	keep(&at, &request->traceparent);
	/* No other spelling of a requester's own id is looked up. */
	add_name(request, request->id.text, request->id.hash + NAME_ID);
	add_names(request, request_is_aliased(request) ? id_of(request->wire_id) : request->id,
	    NAME_WIRE);
	add_names(request,
	    request_has_other_token(request) ? id_of(request->wire_token) : request->token,
	    NAME_TOKEN);
	if (second_token.hash != request->token.hash)
		add_names(request, second_token, NAME_TOKEN);
	request->traits = like->row == NULL ? 0 : like->row->traits;
	if (pending->from == SIDE_SERVER) /* only the client opens and closes the session */
		request->traits &= ~(unsigned)METHOD_NO_CANCEL;
	request->received = pending->clocks->steady;
	request->seen = clocks_idle(pending->clocks, pending->from);
	request->serial = pending->serial;
	pending->serial += 2; /* the serials between are the other direction's */
	request->older = pending->newest;
	*(pending->newest != NULL ? &pending->newest->newer : &pending->oldest) = request;
	pending->newest = request;
	request->state = REQUEST_WAITING;
	count_state(request, 1);
	pending->count++;
	return request;
}

void
pending_set_position(struct request *request, uint64_t start, uint64_t end, bool urgent)
{
	request->start = start;
	request->end = end;
	request->urgent = urgent;
}

void
pending_begin(struct request *request)
{
	request->since = request->in->clocks->steady;
	pending_start_idle(request);
	if (!alarm_armed(&request->hard))
		pending_arm(request, request->deadlines[POLICY_CAP].after);
}

void
pending_start_idle(struct request *request)
{
	request->seen = clocks_idle(request->in->clocks, request->from);
	if (!request_awaits_place(request))
		alarm_arm(&request->in->idle, &request->idle, request->deadlines[POLICY_IDLE].after,
		    request->seen);
}

void
pending_extend(struct request *request)
{
	if (alarm_armed(&request->idle))
		pending_start_idle(request);
	request->seen = clocks_idle(request->in->clocks, request->from);
}

void
pending_arm(struct request *request, msec_t duration)
{
	struct pending *pending = request->in;

	alarm_arm(request_is_awaited(request) ? &pending->hard : &pending->linger, &request->hard,
	    duration, pending->clocks->steady);
}

void
pending_move(struct request *request, enum request_state state)
{
	struct map *names = request->in->names;

	assert(state >= REQUEST_WAITING && request_is_awaited(request));
	alarm_disarm(&request->beat.alarm);
	count_state(request, SIZE_MAX);
	request->state = state;
	count_state(request, 1);
	free(request->copy);
	request->copy = NULL;
	if (request_is_awaited(request))
		return;
	buf_free(&request->progress);
	for (size_t i = 0; i < request->name_count; i++) {
		struct map_entry *entry = &request_names(request)[i].entry;

		map_remove(&names[false], entry);
		map_add(&names[true], entry, entry->hash);
	}
}

void
pending_vacate(struct request *request)
{
	struct place *place = request->place;

	if (place == NULL)
		return;
	if (request_awaits_place(request))
		request->in->held -= request->copy->text.len;
	else
		place->rule->spare++;
	alarm_disarm(&place->wait);
	free(place);
	request->place = NULL;
}

void
pending_remove(struct request *request)
{
	struct pending *pending = request->in;

	alarm_disarm(&request->idle);
	alarm_disarm(&request->hard);
	alarm_disarm(&request->beat.alarm);
	alarm_disarm(&request->heed);
	pending_vacate(request);
	free(request->copy);
	buf_free(&request->progress);
	buf_free(&request->record);
	count_state(request, SIZE_MAX);
	for (size_t i = 0; i < request->name_count; i++)
		map_remove(&pending->names[!request_is_awaited(request)],
		    &request_names(request)[i].entry);
	*(request->older != NULL ? &request->older->newer : &pending->oldest) = request->newer;
	*(request->newer != NULL ? &request->newer->older : &pending->newest) = request->older;
	pending->count--;
	if (request->size == SPARE_SIZE && spare_count + 1 < SPARES)
		spares[spare_count++] = request;
	else
		free(request);
}

static struct request_name *
name_of(struct map_entry *entry)
{
	return (struct request_name *)(void *)entry;
}

/* The request with the newest name that is this text, from this entry on; NULL if there is none. */
static struct request *
with_text(struct map_entry *entry, struct span text)
{
	while (entry != NULL && !id_equal(name_of(entry)->text, text))
		entry = map_next(entry);
	return entry == NULL ? NULL : name_of(entry)->request;
}

struct request *
pending_find(const struct pending *pending, struct id id, enum name_kind kind)
{
	struct request *found =
	    with_text(map_first(&pending->names[false], id.hash + kind), id.text);

	return found != NULL ? found :
			       with_text(map_first(&pending->names[true], id.hash + kind), id.text);
}

struct request *
pending_alike(const struct pending *pending, struct id id, enum name_kind kind)
{
	uint64_t alike = id_alike(id.text);
	struct request *found = NULL;
	int count = 0;

	for (unsigned i = 0; i < 4 && alike != 0; i++) {
		struct map_entry *entry =
		    map_first(&pending->names[i % 2], alike + kind + i / 2 * NAME_NEAR);

		for (; entry != NULL && count < 2; entry = map_next(entry))
			if (!id_equal(name_of(entry)->text, id.text)) {
				found = name_of(entry)->request;
				count++;
			}
	}
	return count == 1 ? found : NULL;
}

size_t
pending_count(const struct pending *pending, struct id id, enum name_kind kind, size_t most)
{
	const struct map_entry *entry = map_first(&pending->names[false], id.hash + kind);
	size_t count = 0;

	for (; entry != NULL && count < most; entry = map_next(entry))
		count++;
	return count;
}

struct request *
pending_next_by_token(const struct pending *pending, struct id wire_token,
    const struct request *after)
{
	const struct request_name *name;
	struct request *next;

	if (after == NULL)
		return pending_find(pending, wire_token, NAME_TOKEN);
	for (name = request_names(after); name->text.ptr != after->wire_token.ptr;)
		name++;
	next = with_text(map_next(&name->entry), wire_token.text);
	if (next != NULL || !request_is_awaited(after))
		return next;
	return with_text(map_first(&pending->names[true], name->entry.hash), wire_token.text);
}
