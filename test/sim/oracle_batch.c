/* Batches: they pass whole, or are refused whole. */
#include <stdio.h>
#include <string.h>

#include "oracle_inside.h"

void
oracle_blocks_batch(struct oracle *oracle, struct sent *batch)
{
	batch->ahead = oracle_is_bound(oracle, batch) &&
	    (oracle->replaying || oracle->probing || oracle->stuck);
	for (struct sent *sent = &oracle->sent[batch->first]; sent < batch; sent++)
		sent->ahead = batch->ahead;
}

void
oracle_heard_batch(struct oracle *oracle, struct sent *batch)
{
	int number = (int)(batch - oracle->sent);

	for (int i = batch->first; i < number; i++)
		oracle_heard(oracle, i);
	oracle_blocks_batch(oracle, batch);
	batch->due = batch->kind == KIND_BATCH;
	oracle->hearing = number;
}

bool
oracle_is_bound(const struct oracle *oracle, const struct sent *sent)
{
	const struct sent *batch = sent->batch < 0 ? sent : &oracle->sent[sent->batch];
	bool answers = false, asks = false;

	for (const struct sent *one = batch->first < 0 ? batch : &oracle->sent[batch->first];
	     one < batch; one++) {
		answers |= one->kind == KIND_RESPONSE || one->kind == KIND_CANCEL ||
		    one->kind == KIND_TURN_CANCEL;
		asks |= one->kind == KIND_REQUEST;
	}
	return batch->from == CLIENT && answers && !asks;
}

/*
 * In a batch it passes although its request has ended, or has no cancel; and any may where canceld
 * does not know all requests.
 */
void
oracle_heard_vain_cancel(const struct oracle *oracle, struct sent *sent, const struct ask *ask)
{
	bool ended = !oracle_lives(oracle, ask);

	if (sent->batch < 0)
		sent->vain =
		    (ended || ask->cancelled != 0 || ask->unsent) && oracle->untracked[ask->by];
	else
		sent->vain = ended || ask->cancelled != 0 || ask->expired != 0 || ask->task ||
		    ask->cascaded || ask->crossed || !oracle_may_cancel(oracle, ask) ||
		    (ask->by == SERVER && oracle->server_died) ||
		    (oracle->no_cancel && sent->from == CLIENT);
}

/* Whether it passes only with its batch, so that it means nothing. */
bool
oracle_is_vain(const struct oracle *oracle, const struct sent *sent, const struct ask *ask)
{
	bool in_batch = sent->batch >= 0;

	if (sent->kind == KIND_CANCEL)
		return sent->vain || (in_batch && ask->unsent);
	if (sent->kind == KIND_PROGRESS)
		return !sent->due && (in_batch || oracle->untracked[ask->by]);
	if (sent->kind == KIND_RESPONSE)
		return (in_batch &&
			   (ask->answered || ask->replied != sent->heard ||
			       (ask->lost != 0 && ask->lost < sent->heard) ||
			       (ask->decided != 0 && ask->decided < sent->heard) ||
			       (ask->cancelled != 0 && ask->cancelled < sent->heard &&
				   !ask->owed))) ||
		    (oracle->untracked[ask->by] && sent->vain);
	return false;
}

/* The next element of the batch behind *at, which is moved behind it; NULL: there is none. */
static const char *
next_element(const char *text, size_t len, size_t *at, size_t *size)
{
	bool quoted = false;
	size_t start;
	int depth = 0;

	while (*at < len && text[*at] != '{')
		++*at;
	for (start = *at; *at < len; ++*at) {
		char byte = text[*at];

		if (quoted && byte == '\\')
			++*at;
		else if (byte == '"')
			quoted = !quoted;
		else if (!quoted && (byte == '{' || byte == '['))
			depth++;
		else if (!quoted && (byte == '}' || byte == ']') && --depth == 0)
			break;
	}
	if (*at >= len)
		return NULL;
	*size = ++*at - start;
	return text + start;
}

void
oracle_got_batch(struct oracle *oracle, int to, int first, json_t *array, const char *text,
    size_t len)
{
	int number = first < 0 || first >= oracle->sent_count ? -1 : oracle->sent[first].batch;
	struct sent *batch = number < 0 ? NULL : &oracle->sent[number];
	size_t at = 0, wrote = 0, size, n;
	const char *read, *written;

	if (batch == NULL || batch->first != first || batch->arrived ||
	    json_array_size(array) != (size_t)(number - first)) {
		oracle_blame(oracle, "1: a batch that nobody wrote, or was read before: %.*s",
		    (int)(len < 100 ? len : 100), text);
		return;
	}
	if (batch->kind == KIND_JUNK)
		oracle_blame(oracle, "1: a batch arrived that had to be refused");
	batch->arrived = true;
	for (int i = first; i < number; i++) {
		size_t between = at, before = wrote;

		read = next_element(text, len, &at, &size);
		written = next_element(batch->arrives, batch->arrives_len, &wrote, &n);
		if (read == NULL || written == NULL || at - size - between != wrote - n - before ||
		    memcmp(text + between, batch->arrives + before, at - size - between) != 0) {
			oracle_blame(oracle, "3: a batch was changed between its elements");
			return;
		}
		oracle_got_message(oracle, to, i, json_array_get(array, (size_t)(i - first)), read,
		    size);
	}
	if (batch->cleaned != batch->unclean)
		oracle_blame(oracle, "5: batch %d is cleaned, and canceld does not say so", number);
}
