#pragma once

/*
 * Memory: only this module of the core allocates. If there is none left it calls mem_exhausted.
 * span: borrowed bytes, for example of a buf; it dies at the next call that can change their owner.
 * buf: a growable queue of bytes, appended at the tail and consumed at the head. map: a hash map.
 * This header brings the headers of the C library that nearly every file needs, which need not be
 * named again.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* For a function whose result says whether it has worked, or belongs to the caller. */
#define MUST_USE __attribute__((warn_unused_result))

/* Like realloc for count elements of size bytes; never returns NULL, never overflows. */
void *mem_resize(void *old, size_t count, size_t size) MUST_USE;

/* The list, a pointer to what it has, gets room for so many. */
#define mem_room(list, count) \
	((list) = mem_resize(list, count, sizeof(*(list)))) /* NOLINT: they may be pointers */

/* A zeroed object of size bytes; the caller frees it with free(). */
void *mem_new(size_t size) MUST_USE;

/* Is called when there is no memory, and should end the program; else abort() does. */
extern void (*mem_exhausted)(void);

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The loop over all elements of an array; item: a pointer, which it declares. */
#define each_of(item, array) \
	/* NOLINTNEXTLINE: it declares */ \
	for (__typeof__(*(array)) *item = (array); (item) < (array) + COUNT_OF(array); (item)++)

struct span {
	const char *ptr;
	size_t len;
};

#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })
#define SPAN_NONE ((struct span){ "", 0 })

static inline struct span
span_at(const char *ptr, size_t len)
{
	return (struct span){ ptr, len };
}

/* NULL: empty. */
static inline struct span
span_of(const char *string)
{
	return string == NULL ? SPAN_NONE : span_at(string, strlen(string));
}

/* Whether so many bytes are the same; most names are short, and compared without a call. */
static inline bool
bytes_equal(const char *a, const char *b, size_t len)
{
	if (len > 8)
		return memcmp(a, b, len) == 0;
	if (len >= 4)
		return memcmp(a, b, 4) == 0 && memcmp(a + len - 4, b + len - 4, 4) == 0;
	while (len > 0 && a[len - 1] == b[len - 1])
		len--;
	return len == 0;
}

/* A literal should be given as b: the compiler then compares without a call of memcmp. */
static inline bool
span_equal(struct span a, struct span b)
{
	return a.len == b.len && bytes_equal(a.ptr, b.ptr, b.len);
}

/* snprintf into an array, whose size it knows. */
#define print_into(array, ...) snprintf(array, sizeof(array), __VA_ARGS__)

static inline bool
text_is(const char *text, const char *other)
{
	return strcmp(text, other) == 0;
}

static inline bool
text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Whether it is this text. string NULL: false. */
static inline bool
span_is(struct span span, const char *string)
{
	return string != NULL && span_equal(span, span_of(string));
}

static inline size_t
span_count(struct span bytes, char byte)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes.len; i++)
		count += bytes.ptr[i] == byte;
	return count;
}

/* How many bytes there are up to the last such byte, with it; 0: there is none. */
static inline size_t
span_through(struct span bytes, char byte)
{
	while (bytes.len > 0 && bytes.ptr[bytes.len - 1] != byte)
		bytes.len--;
	return bytes.len;
}

/* The part of whole from offset on, len bytes. Both must lie within whole. */
static inline struct span
span_part(struct span whole, size_t offset, size_t len)
{
	assert(offset <= whole.len && len <= whole.len - offset);
	return (struct span){ offset > 0 ? whole.ptr + offset : whole.ptr, len };
}

/* The rest of whole from offset on, which must lie within it. */
static inline struct span
span_from(struct span whole, size_t offset)
{
	return span_part(whole, offset, whole.len - offset);
}

/* What is between two places of the same bytes. */
static inline struct span
span_between(const char *start, const char *end)
{
	return (struct span){ start, (size_t)(end - start) };
}

/* The first or the last bytes of whole, no more than `most`. */
static inline struct span
span_head(struct span whole, size_t most)
{
	return span_part(whole, 0, whole.len < most ? whole.len : most);
}

static inline struct span
span_tail(struct span whole, size_t most)
{
	return span_from(whole, whole.len - span_head(whole, most).len);
}

/* A copy of the first bytes in storage, which has room for so many. */
static inline struct span
span_keep(char *storage, size_t room, struct span text)
{
	text = span_head(text, room);
	if (text.len > 0)
		memcpy(storage, text.ptr, text.len);
	return (struct span){ storage, text.len };
}

/* Whether it is one of these words, which have blanks between them. */
bool span_is_any(struct span text, const char *words);

/* The first bytes, up to one of these, or all. */
struct span span_until(struct span text, const char *ends);

/*
 * The last lines of the text, at most `most` bytes of it; if a line is longer than half of these,
 * it is cut at its beginning.
 */
struct span span_last_lines(struct span text, size_t most);

/*
 * How unlike the two are: each character of `typed`, in any case, is looked for in the name behind
 * the one found before; counts the characters of both that found no partner.
 */
size_t span_apart(struct span typed, struct span name);

/* The bytes without the white space of JSON at their beginning. */
struct span span_skip_space(struct span bytes);

/* The number in decimal, in storage. */
enum { SPAN_NUMBER_MAX = 24 };
struct span span_number(int64_t number, char storage[SPAN_NUMBER_MAX]);

struct buf {         /* zeroed: empty */
	char *data;  /* owned; NULL while nothing was ever added */
	size_t head; /* the first byte not yet consumed */
	size_t len;  /* bytes from head on */
	size_t cap;
};

void buf_free(struct buf *buf);

/* The type of a buf that is freed at the end of its block. */
#define BUF_AUTO struct buf __attribute__((cleanup(buf_free)))

/*
 * Room for at least want more bytes behind the last one; may move the bytes (spans of this buf
 * die).
 */
char *buf_space(struct buf *buf, size_t want) MUST_USE;

/* How many bytes fit behind the last one without moving anything. */
size_t buf_room(const struct buf *buf);

/* n bytes were written where buf_space pointed. n must not exceed what was asked for. */
void buf_added(struct buf *buf, size_t n);

void buf_append(struct buf *buf, struct span bytes);
#define buf_push(buf, object) \
	buf_append(buf, span_at((const char *)&(object), sizeof(object))) /* its bytes */
void buf_set(struct buf *buf, struct span bytes);                         /* replaces the content */
/* like buf_set, with no more memory than needed */
void buf_keep(struct buf *buf, struct span bytes);
void buf_consume(struct buf *buf, size_t n);

/* Forgets all bytes and keeps the memory. */
void buf_clear(struct buf *buf);

/* All bytes of the queue; valid until the next call on this buf. */
static inline struct span
buf_span(const struct buf *buf)
{
	return (struct span){ buf->data != NULL ? buf->data + buf->head : "", buf->len };
}

/*
 * A hash of bytes, or of one word: a word is combined with the seed before each of two
 * multiplications, and each product is folded, as in the finish of MurmurHash3 (Austin Appleby).
 * The seed is a secret: a peer that chooses the bytes and does not know it cannot choose the
 * buckets. Hashes are comparable within one process only.
 */
uint64_t hash_of(struct span bytes, uint64_t seed);
uint64_t hash_word(uint64_t word, uint64_t seed);

/*
 * A hash map of entries that are embedded in the caller's objects. The map knows hashes only: the
 * caller compares the keys. Entries with the same hash are found newest first. Every call is O(1)
 * on average, except among entries with the same hash.
 */
struct map_entry { /* private */
	struct map_entry *next, **link;
	uint64_t hash;
};

struct map { /* zeroed: empty */
	struct map_entry **buckets;
	size_t size; /* number of buckets, a power of two */
	size_t count;
};

void map_free(struct map *map); /* frees the buckets; the entries belong to the caller */

/* The entry must not move in memory until it is removed. */
void map_add(struct map *map, struct map_entry *entry, uint64_t hash);
void map_remove(struct map *map, struct map_entry *entry);

/* The newest entry with this hash, and the next older one with the same hash; or NULL. */
struct map_entry *map_first(const struct map *map, uint64_t hash);
struct map_entry *map_next(const struct map_entry *entry);
