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
	PATH_SLOT_BITS = 8, /* so many slots that most keys that are no path point to a free one */
	PATH_SLOTS = 1 << PATH_SLOT_BITS,
};

struct path {
	char key[PATH_KEY_MAX + 1];
	unsigned char len;
	unsigned char parent; /* enum container: what has the key */
	unsigned char field;  /* enum scan_field; SCAN_FIELDS: none */
	unsigned char opens;  /* enum container: what an object is read as; 0: not at all, a text is kept */
};

/* Each path's number in the list, plus one, at or behind where its hash points to; 0: free. */
struct path_index {
	unsigned char slots[PATH_SLOTS];
};

void path_index_init(struct path_index *index);

/* What the key is in this container, or NULL. Up to end, which may be the key's own, bytes may be read. */
const struct path *path_find(const struct path_index *index, enum container parent, struct span key, const char *end);

/* A bit of its own for each path. */
uint64_t path_bit(const struct path *path);

#endif
