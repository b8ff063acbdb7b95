#include "pending_slab.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"

void
slab_init(struct slab *slab)
{
	*slab = (struct slab){ 0 };
}

void
slab_free(struct slab *slab)
{
	for (uint32_t i = 0; i < slab->count; i++) {
		assert(slab->pages[i] == NULL || slab->pages[i]->used == 0);
		if (slab->pages[i] != NULL)
			mem_unmap(slab->pages[i], SLAB_BYTES);
	}
	free(slab->pages);
	slab_init(slab);
}

static void
roomy_add(struct slab *slab, struct slab_page *page)
{
	page->previous = NULL;
	page->next = slab->roomy;
	if (page->next != NULL)
		page->next->previous = page;
	slab->roomy = page;
}

static void
roomy_remove(struct slab *slab, struct slab_page *page)
{
	if (page->next != NULL)
		page->next->previous = page->previous;
	if (page->previous != NULL)
		page->previous->next = page->next;
	else
		slab->roomy = page->next;
}

/* A number that no page has. */
static uint32_t
number_take(struct slab *slab)
{
	uint32_t number = 0;

	if (slab->holes > 0) {
		while (slab->pages[number] != NULL)
			number++;
		slab->holes--;
		return number;
	}
	assert(slab->count < ((uint32_t)1 << HANDLE_BITS) / SLAB_ENTRIES - 1 && "more requests than there can be");
	if ((slab->count & (slab->count - 1)) == 0)
		slab->pages = mem_resize(slab->pages, 2 * (size_t)slab->count + 1, sizeof(struct slab_page *));
	return slab->count++;
}

static void
page_new(struct slab *slab)
{
	uint32_t number = number_take(slab);
	struct slab_page *page = mem_map(SLAB_BYTES, number > 0);

	page->number = number;
	page->used = page->fresh = 0;
	page->given = 0;
	slab->pages[page->number] = page;
	slab->empty++;
	roomy_add(slab, page);
}

static void
page_free(struct slab *slab, struct slab_page *page)
{
	roomy_remove(slab, page);
	slab->pages[page->number] = NULL;
	slab->holes++;
	slab->empty--;
	mem_unmap(page, SLAB_BYTES);
	while (slab->count > 0 && slab->pages[slab->count - 1] == NULL) {
		slab->count--;
		slab->holes--;
	}
}

static struct request *
page_take(const struct slab *slab, struct slab_page *page)
{
	struct request *request = slab_at(slab, page->given);
	uint32_t handle = page->given;

	if (request != NULL) {
		page->given = request->newer;
	} else {
		handle = page->number * SLAB_ENTRIES + page->fresh + 1;
		request = &page->entries[page->fresh++];
	}
	page->used++;
	request->handle = handle;
	return request;
}

struct request *
slab_take(struct slab *slab)
{
	struct slab_page *page;

	if (slab->roomy == NULL)
		page_new(slab);
	page = slab->roomy;
	if (page->used == 0)
		slab->empty--;
	if (page->used == SLAB_ENTRIES - 1)
		roomy_remove(slab, page);
	return page_take(slab, page);
}

void
slab_give(struct slab *slab, struct request *request)
{
	struct slab_page *page = slab->pages[(request->handle - 1) / SLAB_ENTRIES];

	request->newer = page->given;
	page->given = request->handle;
	if (page->used-- == SLAB_ENTRIES)
		roomy_add(slab, page);
	if (page->used > 0)
		return;
	slab->empty++;
	if (slab->empty > 1)
		page_free(slab, page);
}
