#include "descendants.h"

#include <stdlib.h>

void
descendants_init(struct descendants *descendants, pid_t root, uint64_t id)
{
	descendants->root = root;
	descendants->count = 1;
	descendants->known[0] = (struct descendant){ .id = id, .pid = root };
}

static int
compare_ids(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
compare_known(const void *id, const void *descendant)
{
	return compare_ids(*(const uint64_t *)id, ((const struct descendant *)descendant)->id);
}

static int
compare_seen(const void *a, const void *b)
{
	return compare_ids(((const struct process *)a)->id, ((const struct process *)b)->id);
}

struct descendant *
descendants_find(struct descendants *descendants, uint64_t id)
{
	return bsearch(&id, descendants->known, (size_t)descendants->count,
	    sizeof(descendants->known[0]), compare_known);
}

/*
 * Whether the process descends from a foreign one, as far as the processes in between still exist.
 * A debugger may adopt the process that has started it.
 */
static bool
is_foreign(const struct descendants *descendants, const struct process *seen, int count,
    const struct process *process)
{
	while (process != NULL && !process->foreign && process->origin > descendants->known[0].id &&
	    process->origin < process->id)
		process = bsearch(&(struct process){ .id = process->origin }, seen, (size_t)count,
		    sizeof(*seen), compare_seen);
	return process != NULL && process->foreign;
}

static void
remember(struct descendants *descendants, const struct process *process)
{
	int at = descendants->count++;

	for (; descendants->known[at - 1].id > process->id; at--)
		descendants->known[at] = descendants->known[at - 1];
	descendants->known[at] = (struct descendant){ .id = process->id, .pid = process->pid };
}

/*
 * Remembers new descendants. `seen` is in the order of ids, so that each process comes after its
 * parent. Returns whether there were any.
 */
static bool
learn(struct descendants *descendants, const struct process *seen, int count)
{
	int before = descendants->count;

	for (int i = 0; i < count && descendants->count < DESCENDANTS_MOST; i++)
		if (descendants_find(descendants, seen[i].id) == NULL &&
		    (descendants_find(descendants, seen[i].origin) != NULL ||
			(seen[i].marked && !is_foreign(descendants, seen, count, &seen[i]))))
			remember(descendants, &seen[i]);
	return descendants->count > before;
}

/*
 * Forgets the processes that were not seen; but not one that is the origin of a seen process that
 * could not be remembered.
 */
static void
forget(struct descendants *descendants, const struct process *seen, int count)
{
	struct descendant *known = descendants->known, *descendant;
	int kept = 1;

	for (int i = 0; i < descendants->count; i++)
		known[i].needed = false;
	for (int i = 0; i < count; i++) {
		descendant = descendants_find(descendants, seen[i].id);
		if (descendant == NULL)
			descendant = descendants_find(descendants, seen[i].origin);
		if (descendant != NULL)
			descendant->needed = true;
	}
	for (int i = 1; i < descendants->count; i++)
		if (known[i].needed)
			known[kept++] = known[i];
	descendants->count = kept;
}

bool
descendants_see(struct descendants *descendants, struct process *seen, int count, bool whole)
{
	bool news;

	qsort(seen, (size_t)count, sizeof(*seen), compare_seen);
	news = learn(descendants, seen, count);
	if (!whole)
		return news;
	forget(descendants, seen, count);
	return learn(descendants, seen, count) || news;
}

int
descendants_to_end(struct descendants *descendants, struct process *seen, int count)
{
	struct process process;
	int ending = 0;

	for (int i = 0; i < count; i++) {
		process = seen[i];
		if (process.dead || process.pid == descendants->root ||
		    process.parent == descendants->root ||
		    descendants_find(descendants, process.id) == NULL)
			continue;
		seen[i] = seen[ending];
		seen[ending++] = process;
	}
	return ending;
}
