#include "core/turns.h"

#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/mem.h"

static void
remove_turns(struct turns_table *table, struct turns *turns)
{
	map_remove(&table->by_id, &turns->by_id);
	*turns->link = turns->next;
	if (turns->next != NULL)
		turns->next->link = turns->link;
	free(turns);
}

void
turns_free(struct turns_table *table)
{
	while (table->first != NULL)
		remove_turns(table, table->first);
	map_free(&table->by_id);
}

static struct turns *
of_entry(struct map_entry *entry)
{
	return (struct turns *)(void *)((char *)entry - offsetof(struct turns, by_id));
}

struct turns *
turns_find(const struct turns_table *table, struct span id, uint64_t seed)
{
	struct map_entry *entry;

	for (entry = map_first(&table->by_id, id_hash(id, seed)); entry != NULL; entry = map_next(entry))
		if (id_equal(of_entry(entry)->id, id))
			return of_entry(entry);
	return NULL;
}

struct turns *
turns_add(struct turns_table *table, struct span id, uint64_t seed)
{
	struct turns *turns = turns_find(table, id, seed);

	if (turns != NULL)
		return turns;
	turns = mem_resize(NULL, sizeof(*turns) + id.len, 1);
	*turns = (struct turns){ .id = { (char *)(turns + 1), id.len }, .next = table->first, .link = &table->first };
	memcpy(turns + 1, id.ptr, id.len);
	if (turns->next != NULL)
		turns->next->link = &turns->next;
	table->first = turns;
	map_add(&table->by_id, &turns->by_id, id_hash(id, seed));
	return turns;
}

void
turns_drop(struct turns_table *table, struct turns *turns)
{
	if (turns->requests == 0 && !turns->running)
		remove_turns(table, turns);
}
