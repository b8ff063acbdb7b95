#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
oracle_init(struct oracle *oracle)
{
	*oracle = (struct oracle){ .last = { -1, -1 } };
}

void
oracle_free(struct oracle *oracle)
{
	int i;

	for (i = 0; i < oracle->said_count; i++) {
		free(oracle->said[i].bytes);
		free(oracle->said[i].arrives);
	}
	free(oracle->said);
	free(oracle->asks);
	free(oracle->tellings[CLIENT]);
	free(oracle->tellings[SERVER]);
}

void
oracle_blame(struct oracle *oracle, const char *format, ...)
{
	va_list arguments;

	if (oracle->verdict[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(oracle->verdict, sizeof(oracle->verdict), format, arguments);
	va_end(arguments);
}

static void *
grow(void *array, int count, size_t size)
{
	if ((count & (count - 1)) == 0)
		array = realloc(array, (count == 0 ? 1 : 2 * (size_t)count) * size);
	if (array == NULL)
		abort();
	memset((char *)array + (size_t)count * size, 0, size);
	return array;
}

int
oracle_say(struct oracle *oracle, int from, enum kind kind, int ask, char *bytes, size_t len)
{
	struct said *said;

	oracle->said = grow(oracle->said, oracle->said_count, sizeof(*oracle->said));
	said = &oracle->said[oracle->said_count];
	said->from = from;
	said->kind = kind;
	said->ask = ask;
	said->bytes = bytes;
	said->len = len;
	return oracle->said_count++;
}

int
oracle_ask(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask;

	oracle->asks = grow(oracle->asks, oracle->ask_count, sizeof(*oracle->asks));
	ask = &oracle->asks[oracle->ask_count];
	ask->by = by;
	snprintf(ask->id, sizeof(ask->id), "%s", id);
	return oracle->ask_count++;
}

bool
oracle_waits(const struct ask *ask)
{
	return !ask->answered && ask->cancelled == 0;
}

void
oracle_begun(struct oracle *oracle, int number)
{
	struct said *said = &oracle->said[number];

	said->begun = ++oracle->step;
	if (said->kind == KIND_RESPONSE && oracle->asks[said->ask].reply_begun == 0)
		oracle->asks[said->ask].reply_begun = said->begun;
}

void
oracle_heard(struct oracle *oracle, int number)
{
	struct said *said = &oracle->said[number];
	struct ask *ask = said->ask < 0 ? NULL : &oracle->asks[said->ask];

	said->heard = ++oracle->step;
	if (ask == NULL)
		return;
	if (said->kind == KIND_REQUEST)
		ask->asked = oracle->now;
	if (said->kind == KIND_REQUEST || (said->kind == KIND_PROGRESS && said->from != ask->by && ask->decided == 0))
		ask->active = oracle->now;
	if (said->kind == KIND_CANCEL && ask->cancelled == 0 && said->from == ask->by && ask->replied == 0 &&
	    !ask->handshake)
		ask->cancelled = said->heard;
	/* What is malformed, or shares its line with text, is taken for an answer only while one is awaited. */
	if ((said->arrives != NULL || said->bad) &&
	    ((ask->cancelled != 0 && !oracle->answer_cancelled) || ask->decided != 0))
		return;
	if (said->kind == KIND_RESPONSE && ask->replied == 0) {
		ask->replied = said->heard;
		oracle->initialized |= ask->handshake && !said->bad;
	}
}

void
oracle_decided(struct oracle *oracle, int by, const char *id)
{
	struct ask *ask, *found = NULL;

	for (ask = oracle->asks; ask < oracle->asks + oracle->ask_count; ask++)
		if (ask->by == by && ask->decided == 0 && oracle->said[ask->said].begun != 0 &&
		    strcmp(ask->id, id) == 0)
			found = ask;
	if (found == NULL)
		return;
	found->decided_at = oracle->now;
	found->decided = ++oracle->step;
}

void
oracle_tells(struct oracle *oracle, int by, const char *id)
{
	struct telling *telling;

	oracle->tellings[by] = grow(oracle->tellings[by], oracle->telling_count[by], sizeof(*telling));
	telling = &oracle->tellings[by][oracle->telling_count[by]++];
	telling->step = ++oracle->step;
	snprintf(telling->id, sizeof(telling->id), "%s", id);
}

static void
end_of_ask(struct oracle *oracle, const struct ask *ask)
{
	const struct said *said = &oracle->said[ask->said];
	bool heard = said->heard != 0, owed = ask->cancelled == 0 || oracle->answer_cancelled;

	if (ask->by != CLIENT || !heard)
		return;
	if (!oracle->client_left && owed && !ask->answered)
		oracle_blame(oracle, "1: %s was never answered", ask->id);
	if (ask->wire[0] == '\0' || ask->reply_begun != 0 || ask->cancels > 0 || oracle->server_died)
		return;
	if (!oracle->no_cancel && !ask->handshake && !ask->probe && !ask->task &&
	    (!oracle->legacy || oracle->initialized))
		oracle_blame(oracle, "2: the server never heard that nobody waits for %s", ask->id);
}

void
oracle_end(struct oracle *oracle)
{
	int i, lost = 0;

	for (i = 0; i < oracle->ask_count; i++)
		end_of_ask(oracle, &oracle->asks[i]);
	for (i = 0; i < oracle->said_count; i++) {
		const struct said *said = &oracle->said[i];

		if (said->kind == KIND_NOTICE && said->heard != 0 && !said->arrived &&
		    !(said->from == CLIENT && oracle->server_died) && ++lost > oracle->broken)
			oracle_blame(oracle, "3: message %d was lost", i);
	}
	if (oracle->error_lines != oracle->junk_lines && !oracle->client_left)
		oracle_blame(oracle, "1: %d unreadable lines, %d errors", oracle->junk_lines, oracle->error_lines);
}
