#ifndef CORE_SCAN_PATH_H
#define CORE_SCAN_PATH_H

/* The closed list of the paths that the scanner keeps something of. A key is found by its first bytes, in one look. */

#include <stdint.h>
#include <string.h>

#include "core/scan.h"

enum container {
	PLAIN_ARRAY,
	PLAIN_OBJECT,
	ROOT, /* the whole text, not a container; from here on they are watched */
	MESSAGE,
	PARAMS,
	PARAMS_META,
	CLIENT_CAPABILITIES,
	CLIENT_CANCELLATION,
	RESULT,
	RESULT_META,
	RESULT_TASK,
	AGENT_CAPABILITIES,
	AGENT_CANCELLATION,
	SERVER_CAPABILITIES,
	SERVER_TOOLS,
	SERVER_PROMPTS,
	SERVER_RESOURCES,
	ERROR,
	CONTAINERS
};

#define PATH_META_PREFIX "io.modelcontextprotocol/"

enum {
	PATH_KEY_MAX = 39,
	PATH_HEAD = 8,      /* bytes of a key that are compared as one word */
	PATH_GUESS = 16,    /* ... of a guess, with both quotes and the colon */
	PATH_SLOT_BITS = 8, /* so many slots that most keys that are no path point to a free one */
	PATH_SLOTS = 1 << PATH_SLOT_BITS,
	PATH_LETTERS = 32,
};

struct path {
	char key[PATH_KEY_MAX + 1];
	char spelled[PATH_KEY_MAX + 4]; /* in quotes, and its colon */
	unsigned char len;
	unsigned char parent; /* enum container: what has the key */
	unsigned char field;  /* enum scan_field; SCAN_FIELDS: none */
	unsigned char opens;  /* enum container: what an object is read as; 0: not at all, a text is kept */
	unsigned char bit;    /* of its own in a word */
};

struct path_index {
	const struct path *slots[PATH_SLOTS];                 /* each path at or behind its hash; NULL: free */
	const struct path *guesses[CONTAINERS][PATH_LETTERS]; /* by the key's first letter; NULL: none */
};

void path_index_init(struct path_index *index);

static inline uint64_t
path_word(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, PATH_HEAD);
	return word;
}

/* PATH_GUESS bytes: so many, at most all, have every bit set, those behind them none. */
static inline const char *
path_mask(size_t len)
{
	static const char masks[2 * PATH_GUESS] = "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377";

	return masks + PATH_GUESS - len;
}

/* The first bytes of the key, with zeros behind a shorter one. */
static inline uint64_t
path_head(struct span key, const char *end)
{
	uint64_t head = 0;

	if (key.len >= PATH_HEAD)
		return path_word(key.ptr);
	if (end - key.ptr >= PATH_HEAD)
		return path_word(key.ptr) & path_word(path_mask(key.len));
	memcpy(&head, key.ptr, key.len);
	return head;
}

static inline unsigned
path_slot(unsigned parent, uint64_t head)
{
	return (unsigned)((head + parent) * 0x9E3779B97F4A7C15 >> (64 - PATH_SLOT_BITS));
}

static inline bool
path_is(const struct path *path, unsigned parent, struct span key, uint64_t head)
{
	return path_word(path->key) == head && path->len == key.len && path->parent == parent &&
	    (key.len <= PATH_HEAD || memcmp(path->key + PATH_HEAD, key.ptr + PATH_HEAD, key.len - PATH_HEAD) == 0);
}

/* What the key is in this container, or NULL. Up to end, which may be the key's own, bytes may be read. */
static inline const struct path *
path_find(const struct path_index *index, enum container parent, struct span key, const char *end)
{
	uint64_t head = path_head(key, end);
	unsigned slot = path_slot(parent, head);
	const struct path *path;

	while ((path = index->slots[slot]) != NULL && !path_is(path, parent, key, head))
		slot = (slot + 1) % PATH_SLOTS;
	return path;
}

static inline size_t
path_spelled_len(const struct path *path)
{
	return (size_t)path->len + sizeof("\"\":") - 1;
}

static inline unsigned
path_letter(char first)
{
	return (unsigned char)first % PATH_LETTERS;
}

/*
 * The path whose key has its quote there, without an escape in it, and its colon behind it; NULL: that cannot be told at
 * once.
 */
static inline const struct path *
path_guess(const struct path_index *index, enum container parent, const char *quote, const char *end)
{
	const struct path *path;
	const char *mask;

	if (end - quote < PATH_GUESS || (path = index->guesses[parent][path_letter(quote[1])]) == NULL)
		return NULL;
	mask = path_mask(path_spelled_len(path));
	if ((((path_word(quote) ^ path_word(path->spelled)) & path_word(mask)) |
		((path_word(quote + PATH_HEAD) ^ path_word(path->spelled + PATH_HEAD)) &
		    path_word(mask + PATH_HEAD))) != 0)
		return NULL;
	return path;
}

static inline uint64_t
path_bit(const struct path *path)
{
	return (uint64_t)1 << path->bit;
}

#endif
