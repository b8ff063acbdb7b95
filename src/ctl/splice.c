#include "ctl/splice.h"

#include <stdlib.h>

#include "core/mem.h"

void
splices_free(struct splices *splices)
{
	free(splices->list);
	buf_free(&splices->words);
	*splices = (struct splices){ 0 };
}

void
splices_add(struct splices *splices, size_t at, size_t len, struct span words)
{
	splices->list = mem_resize(splices->list, splices->count + 1, sizeof(*splices->list));
	splices->list[splices->count++] = (struct splice){ at, len, splices->words.len, words.len };
	buf_append(&splices->words, words);
}

static int
compare(const void *a, const void *b)
{
	const struct splice *first = a, *second = b;

	return (first->at > second->at) - (first->at < second->at);
}

void
splices_apply(struct splices *splices, struct span text, struct buf *out)
{
	size_t done = 0;

	if (splices->count > 0)
		qsort(splices->list, splices->count, sizeof(*splices->list), compare);
	for (size_t i = 0; i < splices->count; i++) {
		const struct splice *splice = &splices->list[i];

		assert(splice->at >= done);
		buf_append(out, span_part(text, done, splice->at - done));
		buf_append(out, span_part(buf_span(&splices->words), splice->words, splice->words_len));
		done = splice->at + splice->len;
	}
	buf_append(out, span_part(text, done, text.len - done));
}
