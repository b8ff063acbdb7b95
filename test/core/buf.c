#include "core/buf.h"

#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

SUITE("buf", .alone = true);

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

/*
 * Counts how often the queue moves: no byte may be moved again and again while others pass, and
 * memory stays as it is.
 */
TEST(bytes_are_kept_in_order_and_moved_rarely)
{
	enum { BACKLOG = 1 << 20, PIECE = 64, ROUNDS = 50000 };
	struct buf buf;
	size_t written = 0, taken = 0, moves = 0, head = 0;

	buf = (struct buf){ 0 };
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
	ck_assert_uint_le(buf.cap, 3 * BACKLOG);
	buf_free(&buf);
}

/* However much was consumed when it had to grow. */
TEST(the_memory_is_half_more_than_was_ever_held)
{
	enum { MOST = 1 << 20, PIECE = 4096, ROUNDS = 100 };
	struct buf buf;
	size_t written = 0, taken = 0, most = 0;

	buf = (struct buf){ 0 };
	for (size_t round = 1; round < ROUNDS; round++) {
		while (buf.len < round * (MOST / ROUNDS)) {
			put(&buf, &written, PIECE);
			most = buf.len > most ? buf.len : most;
			ck_assert_uint_le(buf.cap, most + most / 2 + PIECE);
		}
		take(&buf, &taken, buf.len / 3);
	}
	buf_free(&buf);
}

TEST(the_last_lines_are_whole_unless_one_is_long)
{
	static const struct {
		const char *text;
		size_t most;
		const char *lines;
	} rows[] = {
		{ "", 4, "" },
		{ "one\ntwo", 8, "one\ntwo" },
		{ "one\ntwo", 7, "one\ntwo" },
		{ "one\ntwo\nfour", 10, "two\nfour" },
		{ "one\ntwo\nfour", 8, "two\nfour" },
		{ "one\ntwo\nfour", 7, "four" },
		{ "a long line\nend", 8, "line\nend" },
		{ "a long line\nend", 6, "ne\nend" },
		{ "a long line", 4, "line" },
		{ "a long line", 0, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert(span_equal(span_last_lines(span_of(rows[i].text), rows[i].most),
		    span_of(rows[i].lines)));
}

static sigjmp_buf without_memory;

static void
on_exhausted(void)
{
	siglongjmp(without_memory, 1);
}

TEST(says_that_there_is_no_memory)
{
	void (*former)(void) = mem_exhausted;
	volatile size_t most = PTRDIFF_MAX;

	mem_exhausted = on_exhausted;
	if (sigsetjmp(without_memory, 0) == 0)
		ck_abort_msg("%p", mem_resize(NULL, most, 1));
	mem_exhausted = former;
}

TEST_SIGNAL(refuses_misuse, SIGABRT, 0, 6)
{
	struct buf buf;

	buf = (struct buf){ 0 };
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
