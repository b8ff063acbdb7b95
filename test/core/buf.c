#include "core/buf.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SUITE("buf", .alone = true);

static uint32_t
next_random(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

/* The byte at this place of the stream. */
static char
byte_at(size_t place)
{
	return (char)(place * 31 + place / 251);
}

static void
put(struct buf *buf, size_t *written, size_t count)
{
	char *space = buf_space(buf, count);

	ck_assert_uint_ge(buf_room(buf), count);
	for (size_t i = 0; i < count; i++)
		space[i] = byte_at((*written)++);
	buf_added(buf, count);
}

static void
take(struct buf *buf, size_t *taken, size_t count)
{
	struct span bytes = buf_span(buf);
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		wrong += bytes.ptr[i] != byte_at((*taken)++);
	ck_assert_uint_eq(wrong, 0);
	buf_consume(buf, count);
}

/* Bytes stay in order through any appends and consumes, and the memory stays near the number of bytes kept. */
TESTS(is_a_queue, 0, 5)
{
	enum { HELD_MAX = 100000, PIECE_MAX = 9000 };
	struct buf buf;
	size_t written = 0, taken = 0;
	uint32_t random = (uint32_t)_i;

	buf_init(&buf);
	for (int round = 0; round < 3000; round++) {
		size_t count = next_random(&random) % PIECE_MAX;

		if (buf.len + count <= HELD_MAX)
			put(&buf, &written, count);
		ck_assert_uint_eq(buf_span(&buf).len, written - taken);
		count = next_random(&random) % PIECE_MAX;
		take(&buf, &taken, count < buf.len ? count : buf.len);
	}
	ck_assert_uint_le(buf.cap, 3 * (HELD_MAX + PIECE_MAX));
	take(&buf, &taken, buf.len);
	ck_assert_uint_eq(taken, written);
	buf_free(&buf);
}

/* Counts how often the queue moves: no byte may be moved again and again while others pass. */
TEST(bytes_are_moved_rarely)
{
	enum { BACKLOG = 1 << 20, PIECE = 64, ROUNDS = 50000 };
	struct buf buf;
	size_t written = 0, taken = 0, moves = 0, head = 0;

	buf_init(&buf);
	put(&buf, &written, BACKLOG);
	put(&buf, &written, PIECE);
	put(&buf, &written, buf_room(&buf));
	for (int i = 0; i < ROUNDS; i++) {
		take(&buf, &taken, PIECE);
		head = buf.head;
		put(&buf, &written, PIECE);
		moves += buf.head < head;
	}
	ck_assert_uint_le(moves, 1 + 2 * (size_t)ROUNDS * PIECE / BACKLOG);
	buf_free(&buf);
}

TEST_SIGNAL(refuses_misuse, SIGABRT, 0, 6)
{
	struct buf buf;

	buf_init(&buf);
	buf_append(&buf, SPAN("abc"));
	switch (_i) {
	case 0:
		buf_consume(&buf, 4);
		break;
	case 1:
		buf_added(&buf, buf_room(&buf) + 1);
		break;
	case 2:
		span_part(buf_span(&buf), 2, 2);
		break;
	case 3:
		span_part(buf_span(&buf), SIZE_MAX, 2);
		break;
	case 4:
		ck_assert_ptr_nonnull(buf_space(&buf, SIZE_MAX));
		break;
	default:
		free(mem_resize(NULL, SIZE_MAX / 2, 3));
	}
}

TEST(memory_is_never_null)
{
	char *empty = mem_resize(NULL, 0, 8), *zeroed = mem_new(64);

	ck_assert_ptr_nonnull(empty);
	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(zeroed[i], 0);
	memset(zeroed, 'x', 64);
	zeroed = mem_resize(zeroed, 100, 10);
	ck_assert_int_eq(zeroed[63], 'x');
	free(empty);
	free(zeroed);
}
