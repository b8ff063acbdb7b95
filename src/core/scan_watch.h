#ifndef CORE_SCAN_WATCH_H
#define CORE_SCAN_WATCH_H

/*
 * What the scanner keeps of a message: the values at the paths of enum scan_field. The scanner says where
 * keys and values begin and end inside the few containers that are watched; nothing else is looked at.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/scan.h"
#include "scan_path.h"

enum {
	WATCH_KEY_MAX = 256, /* no key that matters is as long, with every character escaped */
	WATCH_KEPT_MAX = SCAN_FIELDS * SCAN_VALUE_MAX,
	WATCH_SHORT = 32, /* bytes of a value that are copied at once */
};

/* Bytes copied out of the pieces, as many as fit. */
struct capture {
	const char *mark; /* the first byte of the piece that is not copied yet */
	char *to;
	uint32_t len, max;
	bool active, overflow;
};

struct watch {
	const struct path *path; /* of the member that is being read; NULL: none that matters */
	uint64_t present;        /* a bit for each of values; the others say nothing */
	uint64_t seen;           /* ... path */
	const char *piece_end;
	uint32_t kept_len;
	struct capture key, value, member;
	struct scan_value open; /* the value that is being read */
	uint64_t key_start;
	struct scan_value values[SCAN_FIELDS + 1]; /* the last: of paths that are no field */
	char key_text[WATCH_KEY_MAX];
	char kept[WATCH_KEPT_MAX + WATCH_SHORT];
	char members[SCAN_META_MAX];
	struct path_index index;
};

void watch_init(struct watch *watch);
void watch_start(struct watch *watch);

/* A new piece of the frame lies here; it has been read up to at. */
void watch_piece(struct watch *watch, const char *piece, const char *end);
void watch_piece_end(struct watch *watch, const char *at);

/* A key begins with its quote at this place; its closing quote is there. false: it is a duplicate. */
void watch_key(struct watch *watch, enum container container, const char *quote, uint64_t offset);
bool watch_key_end(struct watch *watch, enum container container, const char *quote);

/* A member's value begins, ends before this place. */
void watch_value(struct watch *watch, enum value_type type, const char *at, uint64_t offset);
void watch_kept_value_end(struct watch *watch, const char *at,
    uint64_t end); /* the part of watch_value_end that is seldom needed */

static inline void
watch_value_end(struct watch *watch, const char *at, uint64_t end)
{
	if (watch->path != NULL || watch->member.active)
		watch_kept_value_end(watch, at, end);
}

/* The object or array that the member has ends; if it was watched itself, as this container. */
void watch_container_end(struct watch *watch, enum container container, bool empty, uint64_t end);

/* The same for a key without a backslash and a value that is no container, which lie whole within the piece. */
bool watch_whole_key(struct watch *watch, enum container container, struct span key, uint64_t offset);
void watch_whole_value(struct watch *watch, enum value_type type, struct span text, uint64_t offset);

/* The same for a key of those that are read most: how many bytes it takes with its colon, from its quote on. 0: ask again. */
size_t watch_guess_key(struct watch *watch, enum container container, const char *quote);

/* What was found of it; VALUE_ABSENT: nothing. */
const struct scan_value *watch_found(const struct watch *watch, enum scan_field field);

/* As what container the member's value is read if it is an object. */
enum container watch_object(const struct watch *watch);

#endif
