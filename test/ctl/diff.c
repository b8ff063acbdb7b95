#include "ctl/diff.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

Suite *diff_suite(void);

static const struct {
	const char *before, *after, *diff;
} pairs[] = {
	{ "a\n", "a\n", "" },
	{ "", "a\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n" },
	{ "a\n", "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n" },
	{ "a", "b",
	    "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n" },
	{ "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nx\ny\n6\n",
	    "--- f\n+++ f\n@@ -2,5 +2,6 @@\n 2\n 3\n 4\n-5\n+x\n+y\n 6\n" },
	{ "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
	    "--- f\n+++ f\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n" },
	{ "a\n1\n2\n3\nb\n", "A\n1\n2\n3\nB\n", "--- f\n+++ f\n@@ -1,5 +1,5 @@\n-a\n+A\n 1\n 2\n 3\n-b\n+B\n" },
};

START_TEST(diffs_are_these)
{
	struct buf out;

	buf_init(&out);
	diff_append(&out, "f", span_of(pairs[_i].before), span_of(pairs[_i].after));
	ck_assert_msg(span_equal(buf_span(&out), span_of(pairs[_i].diff)), "%.*s", (int)out.len, buf_span(&out).ptr);
	buf_free(&out);
}
END_TEST

/* The next line, with its newline. */
static struct span
take(struct span *text)
{
	const char *newline = memchr(text->ptr, '\n', text->len);
	struct span line = span_part(*text, 0, newline != NULL ? (size_t)(newline - text->ptr) + 1 : text->len);

	*text = span_part(*text, line.len, text->len - line.len);
	return line;
}

/* What patch(1) does. */
static void
patch(struct span diff, struct span before, struct buf *after)
{
	unsigned long at = 1, from, len;

	take(&diff);
	take(&diff);
	while (diff.len > 0) {
		struct span line = take(&diff);

		if (line.ptr[0] == '@') {
			ck_assert_int_eq(sscanf(line.ptr, "@@ -%lu,%lu", &from, &len), 2);
			for (from += len == 0; at < from; at++)
				buf_append(after, take(&before));
			continue;
		}
		if (diff.len > 0 && diff.ptr[0] == '\\') {
			take(&diff);
			line.len--;
		}
		if (line.ptr[0] != '+') {
			ck_assert(span_equal(take(&before), span_part(line, 1, line.len - 1)));
			at++;
		}
		if (line.ptr[0] != '-')
			buf_append(after, span_part(line, 1, line.len - 1));
	}
	buf_append(after, before);
}

START_TEST(applied_it_gives_the_other_text)
{
	struct buf text[2], diff, after;

	srand(1);
	for (int i = 0; i < 2000; i++) {
		buf_init(&text[0]);
		buf_init(&text[1]);
		buf_init(&diff);
		buf_init(&after);
		for (int line = rand() % 200; line > 0; line--) {
			char same[16];
			int changed = rand() % 10;

			snprintf(same, sizeof(same), "%d\n", rand() % 5);
			for (int k = 0; k < 2; k++) {
				buf_append(&text[k], changed == k ? SPAN("x\n") : SPAN_NONE);
				buf_append(&text[k], changed != k + 2 ? span_of(same) : SPAN_NONE);
			}
		}
		buf_append(&text[i % 2], i % 5 == 0 ? SPAN("end") : SPAN_NONE);
		diff_append(&diff, "f", buf_span(&text[0]), buf_span(&text[1]));
		/* For sscanf. */
		*buf_space(&diff, 1) = '\0';
		if (diff.len == 0)
			buf_append(&after, buf_span(&text[0]));
		else
			patch(buf_span(&diff), buf_span(&text[0]), &after);
		ck_assert(span_equal(buf_span(&after), buf_span(&text[1])));
		buf_free(&text[0]);
		buf_free(&text[1]);
		buf_free(&diff);
		buf_free(&after);
	}
}
END_TEST

Suite *
diff_suite(void)
{
	Suite *suite = suite_create("diff");
	TCase *texts = tcase_create("texts");

	tcase_add_loop_test(texts, diffs_are_these, 0, sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_test(texts, applied_it_gives_the_other_text);
	suite_add_tcase(suite, texts);
	return suite;
}
