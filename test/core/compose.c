#include "core/compose.h"

#include <check.h>

SUITE("compose");

static void
expect(struct buf *out, const char *text)
{
	ck_assert_msg(span_is(buf_span(out), text), "%.*s, not %s", (int)out->len, out->data, text);
	buf_free(out);
}

TEST(text_is_written_as_it_is)
{
	struct buf out = { 0 };

	compose_text(&out, "'%s' \"%b\" %d", "a\"\\", SPAN("b\"\n"), (int64_t)-7);
	expect(&out, "'a\"\\' \"b\"\n\" -7");
}

TEST(in_json_a_text_is_escaped_and_json_is_not)
{
	struct buf out = { 0 };

	compose_json(&out, "{\"a\":\"'%s'\",\"b\":\"%e\",\"c\":%b,\"d\":%d%m%m}", "a\"\\",
	    SPAN("b\n\xff"), SPAN("{\"e\":[]}"), (int64_t)7, SPAN_NONE, SPAN("\"x\":1"));
	expect(&out,
	    "{\"a\":\"'a\\\"\\\\'\",\"b\":\"b\\u000a?\",\"c\":{\"e\":[]},\"d\":7,\"_meta\":{\"x\":1}}");
}
