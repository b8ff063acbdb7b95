/*
 * A client's file, whose first byte chooses the client: what wrap writes can be read by another
 * parser and says the same of all but the servers it wrapped; wrapping again changes nothing; and
 * unwrap gives back every byte.
 */

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "core/buf.h"
#include "ctl/wrap/change.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static msec_t
deadline(char *const options[])
{
	(void)options;
	return 1;
}

/* *wrapped: how many servers the change has wrapped; *before: how many were wrapped already. */
static int
change_to(const struct client *client, struct span text, bool unwrap, struct buf *out,
    size_t *wrapped, size_t *before)
{
	static char option[] = "--log=/tmp/a \"b\" \\c";
	static char *options[] = { option, NULL }, *names[] = { NULL };
	const struct change change = {
		.client = client,
		.unwrap = unwrap,
		.canceld = "/usr/bin/canceld",
		.given = true,
		.options = options,
		.deadline = deadline,
		.names = names,
	};
	struct outcomes outcomes;
	int result = change_text(&change, text, out, &outcomes);

	/* Only what was there can be wrong. */
	assert(result == 0 || outcomes.before.doc.fault[0] != '\0');
	*wrapped = *before = 0;
	for (size_t i = 0; i < outcomes.count; i++)
		*wrapped += strcmp(outcomes.list[i].result, "wrapped") == 0;
	for (size_t i = 0; i < outcomes.before.count; i++)
		*before += entry_read(outcomes.before.list[i]).state == ENTRY_WRAPPED;
	outcomes_free(&outcomes);
	return result;
}

/* Every value of the one is in the other, but those of words: commands and their arguments. */
static bool
says_the_same(const json_t *old, const json_t *result)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_object(old)) {
		json_object_foreach ((json_t *)(uintptr_t)old, key, value)
			if (strcmp(key, "command") != 0 && strcmp(key, "args") != 0 &&
			    !says_the_same(value, json_object_get(result, key)))
				return false;
		return json_is_object(result) && json_object_size(result) >= json_object_size(old);
	}
	if (json_is_array(old)) {
		json_array_foreach (old, i, value)
			if (!says_the_same(value, json_array_get(result, i)))
				return false;
		return json_array_size(result) == json_array_size(old);
	}
	return json_equal(old, result);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct buf wrapped = { 0 }, again = { 0 }, back = { 0 };
	size_t rows = 0, count, before, none;
	const struct client *client;
	struct span text;
	int status;
	json_t *old, *result;

	if (len == 0)
		return 0;
	while (clients[rows].id != NULL)
		rows++;
	client = &clients[bytes[0] % rows];
	text = span_at((const char *)bytes + 1, len - 1);
	if (change_to(client, text, false, &wrapped, &count, &before) != 0) {
		buf_free(&wrapped);
		return 0;
	}
	old = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (old != NULL && client->grammar == DOC_JSONC) {
		struct span all = buf_span(&wrapped);

		result =
		    json_loadb(all.ptr, all.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
		assert(result != NULL && says_the_same(old, result));
		json_decref(result);
	}
	json_decref(old);
	status = change_to(client, buf_span(&wrapped), false, &again, &none, &none);
	assert(status == 0 && span_equal(buf_span(&again), buf_span(&wrapped)));
	status = change_to(client, buf_span(&wrapped), true, &back, &none, &none);
	assert(status == 0);
	assert(before > 0 || span_equal(buf_span(&back), text));
	assert(count > 0 || before > 0 || span_equal(buf_span(&wrapped), text));
	buf_free(&wrapped);
	buf_free(&again);
	buf_free(&back);
	return 0;
}
