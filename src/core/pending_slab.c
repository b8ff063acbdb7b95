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
		free(slab->pages[i]);
	}
	free(slab->pages);
	slab_init(slab);
}

static struct slab_page *
page_of(struct request *request)
{
	char *entries = (char *)(request - request->slot);

	return (struct slab_page *)(void *)(entries - offsetof(struct slab_page, entries));
}

uint32_t
slab_handle(struct request *request)
{
	return page_of(request)->number * SLAB_PAGE + request->slot + 1;
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
	assert(slab->count < UINT32_MAX / SLAB_PAGE && "more requests than there can be");
	if ((slab->count & (slab->count - 1)) == 0)
		slab->pages = mem_resize(slab->pages, 2 * (size_t)slab->count + 1, sizeof(struct slab_page *));
	return slab->count++;
}

static void
page_new(struct slab *slab)
{
	struct slab_page *page = mem_resize(NULL, 1, sizeof(*page));

	page->number = number_take(slab);
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
	free(page);
	while (slab->count > 0 && slab->pages[slab->count - 1] == NULL) {
		slab->count--;
		slab->holes--;
	}
}

static struct request *
page_take(const struct slab *slab, struct slab_page *page)
{
	struct request *request = slab_at(slab, page->given);
	uint8_t slot;

	if (request != NULL) {
		slot = request->slot;
		page->given = request->newer;
	} else {
		slot = (uint8_t)page->fresh;
		request = &page->entries[page->fresh++];
	}
	page->used++;
	*request = (struct request){ .slot = slot };
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
	if (page->used == SLAB_PAGE - 1)
		roomy_remove(slab, page);
	return page_take(slab, page);
}

void
slab_give(struct slab *slab, struct request *request)
{
	struct slab_page *page = page_of(request);

	request->newer = page->given;
	page->given = slab_handle(request);
	if (page->used-- == SLAB_PAGE)
		roomy_add(slab, page);
	if (page->used > 0)
		return;
	slab->empty++;
	if (slab->empty > 1)
		page_free(slab, page);
}
