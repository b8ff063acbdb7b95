#include <string.h>

#include "core/id.h"
#include "pending_index.h"

typedef bool filter_fn(const struct request *request);

static bool
is_anyone(const struct request *request)
{
	(void)request;
	return true;
}

static bool
is_theirs(const struct request *request)
{
	return !(request->flags & REQUEST_OURS);
}

static bool
is_on_wire(const struct request *request)
{
	return !request_is_aliased(request);
}

static bool
is_awaited(const struct request *request)
{
	return request->state == REQUEST_WAITING || request->state == REQUEST_CANCELLING;
}

static bool
is_abandoned(const struct request *request)
{
	return request->state == REQUEST_ABANDONED;
}

uint64_t
pending_hash(const struct pending *pending, struct span id)
{
	return id_hash(id, pending->index->seed);
}

static APART struct request *
best_of_several(const struct pending *pending, const struct table *table, struct span key, uint64_t hash,
    filter_fn *fits)
{
	const struct slab *slab = &pending->index->slab;
	struct request *found = NULL, *request = NULL;

	while ((request = table_find(table, slab, key, hash, request)) != NULL) {
		if (!fits(request))
			continue;
		if (!is_abandoned(request))
			return request;
		if (found == NULL)
			found = request;
	}
	return found;
}

/* Of those that fit, the newest that is not ABANDONED, else the newest. */
static inline struct request *
best(const struct pending *pending, const struct table *table, struct span key, uint64_t hash, filter_fn *fits)
{
	struct request *newest = table_find(table, &pending->index->slab, key, hash, NULL);

	if (newest == NULL || (fits(newest) && !is_abandoned(newest)))
		return newest;
	return best_of_several(pending, table, key, hash, fits);
}

struct request *
pending_by_id(const struct pending *pending, struct span id)
{
	uint64_t hash = pending_hash(pending, id);

	return best(pending, &pending->index->ids, id, hash, is_theirs);
}

static bool
is_live(const struct request *request)
{
	return request != NULL && !is_abandoned(request);
}

/* plain: that one which is not aliased; or NULL. */
static APART struct request *
aliased_or(const struct pending *pending, struct span wire_id, uint64_t hash, struct request *plain)
{
	struct request *aliased = best(pending, &pending->index->aliases, wire_id, hash, is_anyone);

	return plain == NULL || is_live(aliased) ? aliased : plain;
}

struct request *
pending_by_wire_hash(const struct pending *pending, struct span wire_id, uint64_t hash)
{
	struct request *plain = best(pending, &pending->index->ids, wire_id, hash, is_on_wire);

	if (is_live(plain) || pending->aliased == 0)
		return plain;
	return aliased_or(pending, wire_id, hash, plain);
}

struct request *
pending_by_wire(const struct pending *pending, struct span wire_id)
{
	if (pending->count == 0)
		return NULL;
	return pending_by_wire_hash(pending, wire_id, pending_hash(pending, wire_id));
}

bool
pending_holds(const struct pending *pending, struct span id)
{
	const struct pending_index *index = pending->index;
	uint64_t hash = pending_hash(pending, id);

	return table_find(&index->ids, &index->slab, id, hash, NULL) != NULL ||
	    (pending->aliased > 0 && table_find(&index->aliases, &index->slab, id, hash, NULL) != NULL);
}

struct search { /* for the only one */
	struct request *found;
	bool several;
};

static void
search_note(struct search *search, struct request *request)
{
	search->several = search->found != NULL;
	search->found = request;
}

static void
search_table(struct search *search, const struct pending *pending, const struct table *table, struct span key,
    filter_fn *fits)
{
	uint64_t hash = pending_hash(pending, key);
	struct request *request = NULL;

	while (!search->several && (request = table_find(table, &pending->index->slab, key, hash, request)) != NULL)
		if (fits(request))
			search_note(search, request);
}

static struct request *
search_result(const struct search *search)
{
	return search->several ? NULL : search->found;
}

static struct request *
by_exact_token(const struct pending *pending, struct span wire_token)
{
	uint64_t hash = pending_hash(pending, wire_token);
	struct request *first = best(pending, &pending->index->tokens, wire_token, hash, is_anyone);
	struct request *second;

	if (is_live(first) || pending->index->seconds.count == 0)
		return first;
	second = best(pending, &pending->index->seconds, wire_token, hash, is_anyone);
	return first == NULL || is_live(second) ? second : first;
}

struct request *
pending_by_token(const struct pending *pending, struct span wire_token)
{
	struct request *exact = by_exact_token(pending, wire_token);
	struct search search = { NULL, false };
	char storage[ID_TWIN_MAX];
	struct span twin;

	if (exact != NULL)
		return exact;
	twin = id_twin(wire_token, storage);
	if (twin.len > 0)
		search_table(&search, pending, &pending->index->tokens, twin, is_anyone);
	return search_result(&search);
}

struct request *
pending_next_by_token(const struct pending *pending, struct span wire_token, const struct request *after)
{
	uint64_t hash = pending_hash(pending, wire_token);

	return table_find(&pending->index->tokens, &pending->index->slab, wire_token, hash, after);
}

static APART enum spelling
closer_spelling(struct span id)
{
	static const char alphabet[] = "0123456789+-.eE";
	struct span text = id;
	bool minus;

	if (id.len >= 2 && id.ptr[0] == '"')
		text = span_part(id, 1, id.len - 2);
	minus = text.len > 0 && text.ptr[0] == '-';
	if (id_is_plain(span_part(text, minus, text.len - minus)))
		return minus && text.ptr[1] == '0' ? ODD_NUMBER : PLAIN_NUMBER;
	for (size_t i = 0; i < text.len && text.ptr[i] != '\\'; i++)
		if (memchr(alphabet, text.ptr[i], sizeof(alphabet) - 1) == NULL)
			return NO_NUMBER;
	return text.len > 0 ? ODD_NUMBER : NO_NUMBER;
}

enum spelling
pending_spelling(struct span id)
{
	return id_is_plain(id) ? PLAIN_NUMBER : closer_spelling(id);
}

static bool
is_awaited_on_wire(const struct request *request)
{
	return is_awaited(request) && is_on_wire(request);
}

static void
search_twin(struct search *search, const struct pending *pending, struct span wire_id)
{
	char storage[ID_TWIN_MAX];
	struct span twin = id_twin(wire_id, storage);

	search_table(search, pending, &pending->index->ids, twin, is_awaited_on_wire);
	search_table(search, pending, &pending->index->aliases, twin, is_awaited);
}

static bool
is_like(const struct request *request, struct span wire_id)
{
	return is_awaited(request) && pending_spelling(request_wire_id(request)) != NO_NUMBER &&
	    !id_equal(request_wire_id(request), wire_id) && id_alike(request_wire_id(request), wire_id);
}

static void
search_all(struct search *search, const struct pending *pending, struct span wire_id)
{
	struct request *request;

	for (request = pending->oldest; request != NULL && !search->several; request = newer_than(pending, request))
		if (is_like(request, wire_id))
			search_note(search, request);
}

struct request *
pending_alike(const struct pending *pending, struct span wire_id)
{
	struct search search = { NULL, false };
	enum spelling spelling = pending_spelling(wire_id);

	if (spelling == NO_NUMBER)
		return NULL;
	if (spelling == PLAIN_NUMBER && pending->index->odd == 0)
		search_twin(&search, pending, wire_id);
	else
		search_all(&search, pending, wire_id);
	return search_result(&search);
}
