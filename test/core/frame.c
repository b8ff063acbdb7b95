#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/framing.h"

Suite *frame_suite(void);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { SEEN_MAX = 4096 };

/*
 * The frames found in the bytes, as words: "'a b\n' text, 5:'{}'": text, and bodies with the lengths of their headers.
 */
struct seen {
	char words[SEEN_MAX];
	size_t len;
};

static void
put_quoted(struct seen *seen, struct span bytes)
{
	ck_assert_uint_lt(seen->len + bytes.len + 8, SEEN_MAX);
	seen->len += (size_t)sprintf(seen->words + seen->len, "'%.*s'", (int)bytes.len, bytes.ptr);
}

static bool
is_cut(const struct frame *frame)
{
	if (frame->framing == FRAMING_NEWLINE)
		return scan_fault(frame->scan) == SCAN_CUT;
	ck_assert_uint_le(frame->scanned - frame->body, frame->length);
	return frame->scanned - frame->body < frame->length;
}

static void
note_frame(struct seen *seen, const struct frame *frame, struct span all)
{
	uint64_t body = frame->text ? frame->start : frame->body;

	ck_assert_uint_le(frame->start, body);
	ck_assert_uint_le(body, frame->scanned);
	ck_assert_uint_le(frame->scanned, all.len);
	ck_assert_uint_lt(frame->start, frame->scanned);
	if (seen->len > 0)
		seen->len += (size_t)sprintf(seen->words + seen->len, " ");
	if (frame->text)
		seen->len += (size_t)sprintf(seen->words + seen->len, "text");
	else
		seen->len += (size_t)sprintf(seen->words + seen->len, "%d:", (int)(body - frame->start));
	put_quoted(seen, span_part(all, body, frame->scanned - body));
	if (frame->text)
		return;
	ck_assert(scan_ended(frame->scan));
	if (is_cut(frame))
		seen->len += (size_t)sprintf(seen->words + seen->len, "cut");
}

/* Feeds the bytes between frame->scanned and `to`, as a session does: bytes that text gives back are read again. */
static void
feed_to(struct seen *seen, struct frame *frame, struct span all, size_t to)
{
	while (frame->scanned < to) {
		struct span piece = span_part(all, frame->scanned, to - (size_t)frame->scanned);

		if (!frame_feed(frame, piece)) {
			ck_assert_uint_eq(frame->scanned, to);
			return;
		}
		note_frame(seen, frame, all);
		frame_next(frame);
	}
}

static void
finish(struct seen *seen, struct frame *frame, struct span all)
{
	feed_to(seen, frame, all, all.len);
	if (frame_finish(frame)) {
		note_frame(seen, frame, all);
		frame_next(frame);
	}
	ck_assert_uint_eq(frame->start, all.len);
	ck_assert(!frame_finish(frame));
}

/* The same result in one piece, in two pieces cut anywhere, and byte by byte; the bytes end where the input does. */
static void
check_frames(enum framing framing, struct span all, const char *want)
{
	for (size_t cut = 0; cut <= all.len + 1; cut++) {
		struct seen seen = { .len = 0 };
		struct frame frame;

		frame_init(&frame, framing);
		for (size_t to = 1; cut > all.len && to <= all.len; to++)
			feed_to(&seen, &frame, all, to);
		if (cut <= all.len)
			feed_to(&seen, &frame, all, cut);
		finish(&seen, &frame, all);
		ck_assert_msg(strcmp(seen.words, want) == 0, "cut at %zu:\n%s\nis not\n%s", cut, seen.words, want);
		frame_free(&frame);
	}
}

/* Lines */

static const char text[] = "{\"id\":1}\n\n[2,\"a\\\"\"]\r\nno json {\n{\"a\":\"\xc3\xa9\"}\n";

START_TEST(lines_end_with_a_newline)
{
	check_frames(FRAMING_NEWLINE, SPAN(text),
	    "0:'{\"id\":1}\n' 0:'\n' 0:'[2,\"a\\\"\"]\r\n' 0:'no json {\n' 0:'{\"a\":\"\xc3\xa9\"}\n'");
	check_frames(FRAMING_NEWLINE, SPAN("1\n{\"a"), "0:'1\n' 0:'{\"a'cut");
	check_frames(FRAMING_NEWLINE, SPAN("Content-Length: 2\r\n\r\n{}"), "0:'Content-Length: 2\r\n' 0:'\r\n' 0:'{}'");
}
END_TEST

/* Headers */

static const struct {
	const char *bytes, *want;
} headers[] = {
	/* canonical headers */
	{ "Content-Length: 2\r\n\r\n{}", "21:'{}'" },
	{ "Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\ntrue", "21:'{}' 21:'true'" },
	{ "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}", "78:'{}'" },
	{ "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}", "78:'{}'" },
	{ "Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1", "21:'' 21:'1'" },
	{ "Content-Length: 4\r\n\r\n\"\xc3\xa9\"", "21:'\"\xc3\xa9\"'" },

	/* a body may contain any bytes, and is as long as its header says */
	{ "Content-Length: 23\r\n\r\nContent-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n1",
	    "22:'Content-Length: 2\r\n\r\n{}' 21:'1'" },
	{ "Content-Length: 4\r\n\r\n{\r\n}Content-Length: 3\r\n\r\n1\n\n", "21:'{\r\n}' 21:'1\n\n'" },

	/* the name in any case */
	{ "content-length: 2\r\n\r\n{}CONTENT-LENGTH: 2\r\n\r\n[]cOnTeNt-LeNgTh: 1\r\n\r\n1",
	    "21:'{}' 21:'[]' 21:'1'" },

	/* blanks around the colon and after the number */
	{ "Content-Length:2\r\n\r\n{}", "20:'{}'" },
	{ "Content-Length:   2 \t\r\n\r\n{}", "25:'{}'" },
	{ "Content-Length : 2\r\n\r\n{}", "22:'{}'" },
	{ "Content-Length:\t2\r\n\r\n{}", "21:'{}'" },
	{ "Content-Length: 0002\r\n\r\n{}", "24:'{}'" },

	/* a newline alone, everywhere or here and there */
	{ "Content-Length: 2\n\n{}", "19:'{}'" },
	{ "Content-Length: 2\r\n\n{}", "20:'{}'" },
	{ "Content-Length: 2\n\r\n{}", "20:'{}'" },
	{ "Content-Length: 2\nContent-Type: x\n\n{}", "35:'{}'" },

	{ "Content-Type: x; y=z\nContent-Length: 2\n\n{}content-type:x\nContent-Length: 1\n\n1", "40:'{}' 34:'1'" },
	{ "Content-Type: x\nContent-Type: y\r\nContent-Length: 2\n\n{}", "52:'{}'" },
	{ "Content-Types: x\nContent-Length: 2\n\n{}", "text'Content-Types: x\n' 19:'{}'" },
	{ "Content-Typ: x\nContent-Length: 2\n\n{}", "text'Content-Typ: x\n' 19:'{}'" },
	{ "XContent-Type: x\nContent-Length: 2\n\n{}", "text'XContent-Type: x\n' 19:'{}'" },
	{ "Content-Type x\nContent-Length: 2\n\n{}", "text'Content-Type x\n' 19:'{}'" },

	/* other and unknown fields, before and after */
	{ "X-Trace: 1\r\nContent-Length: 2\r\nY: z:z\r\n\r\n{}", "41:'{}'" },
	{ "Content-Length: 2\r\n# a comment\r\n\r\n{}", "34:'{}'" },
	{ "X-Content-Type: Content\r\nContent-Length: 1\r\n\r\n1", "46:'1'" },

	/* the same length twice is accepted */
	{ "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "40:'{}'" },

	/* noise before a header, with a newline and without */
	{ "hello\nContent-Length: 2\r\n\r\n{}", "text'hello\n' 21:'{}'" },
	{ "hello\r\n\r\nContent-Length: 2\r\n\r\n{}", "text'hello\r\n' text'\r\n' 21:'{}'" },
	{ "helloContent-Length: 2\r\n\r\n{}", "text'hello' 21:'{}'" },
	{ "12:30 info: up\nContent-Length: 2\r\n\r\n{}", "text'12:30 info: up\n' 21:'{}'" },
	{ "a note: b\nContent-Length: 2\r\n\r\n{}", "text'a note: b\n' 21:'{}'" },
	{ "Warning: b\nContent-Length: 2\r\n\r\n{}", "text'Warning: b\n' 21:'{}'" },
	{ "{\"a\":1}\nContent-Length: 2\r\n\r\n{}", "text'{\"a\":1}\n' 21:'{}'" },
	{ "Content-Length: 2\r\n\r\n{}\nContent-Length: 1\r\n\r\n1", "21:'{}' text'\n' 21:'1'" },
	{ "Content-Length: 2\r\n\r\n{}extra\r\nContent-Length: 1\r\n\r\n1", "21:'{}' text'extra\r\n' 21:'1'" },
	{ "ContentContent-Length: 2\r\n\r\n{}", "text'Content' 21:'{}'" },
	{ "Content-Content-Length: 2\r\n\r\n{}", "text'Content-' 21:'{}'" },
	{ "Content-Length Content-Length: 2\r\n\r\n{}", "text'Content-Length ' 21:'{}'" },
	{ "say Content-Length: two Content-Length: 2\r\n\r\n{}", "text'say Content-Length: two ' 21:'{}'" },
	{ "\xef\xbb\xbf"
	  "Content-Length: 2\r\n\r\n{}",
	    "text'\xef\xbb\xbf' 21:'{}'" },
	{ "a: \xff\xfe: Content-Length: 2\r\n\r\n{}", "text'a: \xff\xfe: ' 21:'{}'" },

	/* an invalid length is text, and the next header counts */
	{ "Content-Length: -2\r\n\r\n{}\nContent-Length: 1\r\n\r\n1",
	    "text'Content-Length: -2\r\n' text'\r\n' text'{}\n' 21:'1'" },
	{ "Content-Length: +2\r\n\r\n{}\nContent-Length: 1\r\n\r\n1",
	    "text'Content-Length: +2\r\n' text'\r\n' text'{}\n' 21:'1'" },
	{ "Content-Length:\r\n\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length:\r\n' text'\r\n' 21:'1'" },
	{ "Content-Length: two\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length: two\r\n' 21:'1'" },
	{ "Content-Length: 2x\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length: 2x\r\n' 21:'1'" },
	{ "Content-Length: 2.0\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length: 2.0\r\n' 21:'1'" },
	{ "Content-Length: 2 2\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length: 2 2\r\n' 21:'1'" },
	{ "Content-Length: 0x2\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length: 0x2\r\n' 21:'1'" },
	{ "Content-Length: 2, 2\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length: 2, 2\r\n' 21:'1'" },
	{ "Content-Length 2\r\nContent-Length: 1\r\n\r\n1", "text'Content-Length 2\r\n' 21:'1'" },
	{ "Content-Length: 1125899906842624\r\nContent-Length: 1\r\n\r\n1",
	    "text'Content-Length: 1125899906842624\r\n' 21:'1'" },
	{ "Content-Length: 99999999999999999999999999\r\nContent-Length: 1\r\n\r\n1",
	    "text'Content-Length: 99999999999999999999999999\r\n' 21:'1'" },
	{ "Content-Length: 18446744073709551617\r\nContent-Length: 1\r\n\r\n1",
	    "text'Content-Length: 18446744073709551617\r\n' 21:'1'" },

	/* two different lengths: to choose one would be a guess */
	{ "Content-Length: 2\r\nContent-Length: 1\r\n\r\n{}\nContent-Length: 1\r\n\r\n1",
	    "text'Content-Length: 2\r\nContent-Length: 1\r\n' text'\r\n' text'{}\n' 21:'1'" },

	/* a header without a length */
	{ "Content-Type: x\r\n\r\nContent-Length: 1\r\n\r\n1", "text'Content-Type: x\r\n\r\n' 21:'1'" },
	{ "\r\n\r\nContent-Length: 1\r\n\r\n1", "text'\r\n' text'\r\n' 21:'1'" },
	{ "\n\nContent-Length: 1\r\n\r\n1", "text'\n' text'\n' 21:'1'" },

	/* end of file at any place */
	{ "C", "text'C'" },
	{ "Content-Length: 2", "text'Content-Length: 2'" },
	{ "Content-Length: 2\r\n", "text'Content-Length: 2\r\n'" },
	{ "Content-Length: 2\r\n\r", "text'Content-Length: 2\r\n\r'" },
	{ "Content-Length: 2\r\n\r\n", "21:''cut" },
	{ "Content-Length: 3\r\n\r\n{}", "21:'{}'cut" },
	{ "Content-Length: 9\r\n\r\n{\"a\":", "21:'{\"a\":'cut" },
	{ "Content-Length: 2\r\n\r\n{}hello", "21:'{}' text'hello'" },
	{ "hello", "text'hello'" },
};

START_TEST(headers_as_real_peers_spell_them)
{
	check_frames(FRAMING_HEADER, span_of(headers[_i].bytes), headers[_i].want);
}
END_TEST

/* Noise without a newline is given up piece by piece; a header behind it is found wherever the pieces are cut. */
START_TEST(noise_without_an_end)
{
	size_t noise = FRAME_HEAD_MAX - 24 + (size_t)_i, at = 0, step;

	for (step = 1; step <= 4096; step *= 64) {
		struct buf bytes;
		struct frame frame;
		bool found = false;

		buf_init(&bytes);
		memset(buf_space(&bytes, noise), '.', noise);
		buf_added(&bytes, noise);
		buf_append(&bytes, SPAN("Content-Length: 1\r\n\r\n1"));
		frame_init(&frame, FRAMING_HEADER);
		for (at = 0; at < bytes.len; at = (size_t)frame.scanned) {
			size_t len = step < bytes.len - at ? step : bytes.len - at;

			if (!frame_feed(&frame, span_part(buf_span(&bytes), at, len)))
				continue;
			ck_assert_uint_le(frame.scanned - frame.start, FRAME_HEAD_MAX);
			if (!frame.text)
				ck_assert_uint_eq(frame.start, noise);
			found = !frame.text;
			frame_next(&frame);
		}
		ck_assert_msg(found, "%zu bytes of noise before it", noise);
		frame_free(&frame);
		buf_free(&bytes);
	}
}
END_TEST

/* A header may be long, but not without limit. */
START_TEST(a_long_header)
{
	char bytes[2 * FRAME_HEAD_MAX];
	struct frame frame;
	int len = sprintf(bytes, "Content-Length: 1\r\nX: %0*d\r\n\r\n1", _i, 0);

	frame_init(&frame, FRAMING_HEADER);
	ck_assert(frame_feed(&frame, (struct span){ bytes, (size_t)len }));
	ck_assert_int_eq(frame.text, len - 1 > FRAME_HEAD_MAX);
	ck_assert_uint_le(frame.scanned, frame.text ? FRAME_HEAD_MAX + 1 : (size_t)len);
	frame_free(&frame);
}
END_TEST

START_TEST(a_body_is_as_long_as_it_may_be)
{
	struct frame frame;
	char head[64];
	int len = sprintf(head, "Content-Length: %llu\r\n\r\n{", (unsigned long long)FRAME_LENGTH_MAX - 1);

	frame_init(&frame, FRAMING_HEADER);
	ck_assert(!frame_feed(&frame, (struct span){ head, (size_t)len }));
	ck_assert(frame.in_body);
	ck_assert_uint_eq(frame.length, FRAME_LENGTH_MAX - 1);
	ck_assert_uint_eq(frame.body + 1, frame.scanned);
	ck_assert(frame_finish(&frame));
	ck_assert(!frame.text);
	ck_assert_int_eq(scan_fault(frame.scan), SCAN_CUT);
	frame_free(&frame);
}
END_TEST

/* Bytes read in the wrong framing are read again, from the start of the frame. */
START_TEST(the_framing_may_change)
{
	static const char bytes[] = "Content-Length: 2\r\n\r\n{}";
	struct span all = SPAN(bytes);
	struct seen seen = { .len = 0 };
	struct frame frame;
	size_t cut = (size_t)_i;

	frame_init(&frame, FRAMING_NEWLINE);
	/* In FRAMING_NEWLINE the first line would be a frame. */
	if (cut < sizeof("Content-Length: 2\r\n") - 1)
		ck_assert(!frame_feed(&frame, span_part(all, 0, cut)));
	frame_set_framing(&frame, FRAMING_HEADER);
	ck_assert_uint_eq(frame.start, 0);
	ck_assert_uint_eq(frame.scanned, 0);
	finish(&seen, &frame, all);
	ck_assert_str_eq(seen.words, "21:'{}'");
	frame_free(&frame);
}
END_TEST

/* ... also after decided bytes. */
START_TEST(the_framing_may_change_later)
{
	static const char bytes[] = "noise\nContent-Length: 2\r\n\r\n{}{}\n{";
	struct span all = SPAN(bytes);
	struct seen seen = { .len = 0 };
	struct frame frame;

	frame_init(&frame, FRAMING_NEWLINE);
	feed_to(&seen, &frame, all, 14);
	frame_set_framing(&frame, FRAMING_HEADER);
	ck_assert_uint_eq(frame.scanned, 6);
	feed_to(&seen, &frame, all, 30);
	frame_set_framing(&frame, FRAMING_NEWLINE);
	ck_assert_uint_eq(frame.scanned, 29);
	finish(&seen, &frame, all);
	ck_assert_str_eq(seen.words, "0:'noise\n' 21:'{}' 0:'{}\n' 0:'{'cut");
	frame_free(&frame);
}
END_TEST

Suite *
frame_suite(void)
{
	Suite *suite = suite_create("frame");
	TCase *lines = tcase_create("lines"), *heads = tcase_create("headers");

	tcase_add_test(lines, lines_end_with_a_newline);
	tcase_add_loop_test(heads, headers_as_real_peers_spell_them, 0, COUNT(headers));
	tcase_add_loop_test(heads, noise_without_an_end, 0, 48);
	tcase_add_loop_test(heads, a_long_header, FRAME_HEAD_MAX - 32, FRAME_HEAD_MAX - 16);
	tcase_add_test(heads, a_body_is_as_long_as_it_may_be);
	tcase_add_loop_test(heads, the_framing_may_change, 0, 22);
	tcase_add_test(heads, the_framing_may_change_later);
	suite_add_tcase(suite, lines);
	suite_add_tcase(suite, heads);
	return suite;
}
