#include "change_texts.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct writer {
	struct buf *out;
	struct text_kind kind;
	uint64_t state;
	bool returns; /* lines end as on Windows */
	int depth;
};

/* splitmix64 */
static uint64_t
draw(struct writer *writer, uint64_t below)
{
	uint64_t word = writer->state += 0x9e3779b97f4a7c15U;

	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9U;
	word = (word ^ word >> 27) * 0x94d049bb133111ebU;
	return (word ^ word >> 31) % below;
}

static void
put(struct writer *writer, const char *text)
{
	buf_append(writer->out, span_of(text));
}

static void
put_newline(struct writer *writer)
{
	put(writer, writer->returns ? "\r\n" : "\n");
}

static void
put_comment(struct writer *writer)
{
	static const char *const blocks[] = { "/**/", "/* \"command\": \"x\", */", "/* [ { ' // */", "/*\n*/" };
	static const char *const lines[] = { "\"args\": [", "}, ]", "", "'''\"\"\"", "\xc3\xa4 [mcp_servers.x]" };
	bool line = writer->kind.toml || draw(writer, 2) == 0;

	if (line) {
		put(writer, writer->kind.toml ? "#" : "//");
		put(writer, lines[draw(writer, 5)]);
		put_newline(writer);
	} else {
		put(writer, blocks[draw(writer, 4)]);
	}
}

/* Where blanks may be; lines: also newlines and comments. */
static void
put_blank(struct writer *writer, bool lines)
{
	static const char *const blanks[] = { "", "", " ", " ", "  ", "\t" };

	for (uint64_t i = draw(writer, 3); i > 0; i--) {
		uint64_t kind = draw(writer, 12);

		if (kind < 8 || !lines)
			put(writer, blanks[draw(writer, 6)]);
		else if (kind < 11 || !writer->kind.comments)
			put_newline(writer);
		else
			put_comment(writer);
	}
}

static void
put_json_string(struct writer *writer)
{
	static const char *const pieces[] = { "a", "npx", "-y", "--", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00",
		"\xc3\xa9", ",", "[", "]", "}", "//", "/*", " ", "\\/", "\\n", "--wrapped", "#", "'" };

	put(writer, "\"");
	for (uint64_t i = draw(writer, 5); i > 0; i--)
		put(writer, pieces[draw(writer, sizeof(pieces) / sizeof(pieces[0]))]);
	put(writer, "\"");
}

static void
put_toml_string(struct writer *writer, bool lines)
{
	static const char *const quotes[] = { "\"", "'", "\"\"\"", "'''" };
	static const char *const pieces[] = { "a", "npx", "-y", "--", ",", "[", "]", "}", "#", " ", "=", "\xc3\xa9" };
	static const char *const escaped[] = { "\\\"", "\\\\", "\\u00e9", "\\U0001F600", "\\t" };
	uint64_t kind = draw(writer, lines ? 4 : 2);

	put(writer, quotes[kind]);
	for (uint64_t i = draw(writer, 5); i > 0; i--) {
		uint64_t what = draw(writer, 8);

		if (what < 5)
			put(writer, pieces[draw(writer, sizeof(pieces) / sizeof(pieces[0]))]);
		else if (what == 5 && kind % 2 == 0)
			put(writer, escaped[draw(writer, 5)]);
		else if (what == 6 && kind >= 2)
			put_newline(writer);
		else if (what == 7 && kind == 2)
			put(writer, "\\\n   ");
		else if (what == 7 && kind >= 2)
			put(writer, kind == 2 ? "'\"'" : "\"'\"");
	}
	put(writer, quotes[kind]);
}

static void
put_string(struct writer *writer)
{
	if (writer->kind.toml)
		put_toml_string(writer, true);
	else
		put_json_string(writer);
}

/* An array of strings with at least so many. */
static void
put_strings(struct writer *writer, uint64_t least)
{
	uint64_t count = least + draw(writer, 4);

	put(writer, "[");
	put_blank(writer, true);
	for (uint64_t i = 0; i < count; i++) {
		put_string(writer);
		put_blank(writer, true);
		if (i + 1 < count || ((writer->kind.comments || writer->kind.toml) && draw(writer, 4) == 0))
			put(writer, ",");
		put_blank(writer, true);
	}
	put(writer, "]");
}

/* Any value that is no server. */
static void
put_value(struct writer *writer)
{
	static const char *const plain[] = { "0", "-1.5e3", "true", "false", "60000", "12" };
	static const char *const dates[] = { "2026-11-22", "2026-11-22T07:32:00Z", "2026-11-22 07:32:00", "+1_000",
		"inf", "0x1F" };

	switch (draw(writer, 4)) {
	case 0:
		put(writer,
		    writer->kind.toml && draw(writer, 2) == 0 ? dates[draw(writer, 6)] : plain[draw(writer, 6)]);
		break;
	case 1:
		put_string(writer);
		break;
	case 2:
		put_strings(writer, 0);
		break;
	default:
		put(writer, writer->kind.toml ? "{ k = " : "{\"k\":");
		writer->depth++;
		if (writer->depth < 4)
			put_value(writer);
		else
			put(writer, "1");
		writer->depth--;
		put(writer, "}");
	}
}

static void
put_json_member(struct writer *writer, const char *key, const char *value)
{
	put(writer, "\"");
	put(writer, key);
	put(writer, "\"");
	put_blank(writer, true);
	put(writer, ":");
	put_blank(writer, true);
	if (value != NULL)
		put(writer, value);
	else if (strcmp(key, "command") == 0)
		put_string(writer);
	else if (strcmp(key, "args") == 0)
		put_strings(writer, 0);
	else
		put_value(writer);
}

/* Between members and behind the last one. */
static void
put_json_comma(struct writer *writer, bool last)
{
	put_blank(writer, true);
	if (!last || (writer->kind.comments && draw(writer, 3) == 0))
		put(writer, ",");
	put_blank(writer, true);
}

/* command, perhaps args, and others, in any order. */
static void
put_json_server(struct writer *writer)
{
	static const char *const keys[] = { "command", "args", "env", "type", "timeout" };
	uint64_t first = draw(writer, 5), without = draw(writer, 3), left = 0;
	bool nested = draw(writer, 6) == 0, words = !nested && draw(writer, 6) == 0;

	put(writer, nested ? "{\"command\":{" : "{");
	put_blank(writer, true);
	for (int pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; i < 5; i++) {
			uint64_t key = (first + i) % 5;

			if (key == 1 && (without == 0 || words))
				continue;
			if (key > 1 && (nested || draw(writer, 2) == 0) && pass == 0)
				continue;
			if (pass == 0) {
				left |= 1U << key;
			} else if (left >> key & 1) {
				if (key == 0 && words) {
					put(writer, "\"command\":");
					put_strings(writer, 1);
				} else if (key == 0 && nested) {
					put(writer, "\"path\" : ");
					put_string(writer);
				} else {
					put_json_member(writer, keys[key], NULL);
				}
				left &= ~(1U << key);
				put_json_comma(writer, left == 0);
			}
		}
	put(writer, nested ? "}}" : "}");
}

static void
generate_json(struct writer *writer)
{
	uint64_t count = draw(writer, 5);
	char key[32];

	if (draw(writer, 5) == 0)
		put(writer, "\xef\xbb\xbf");
	put_blank(writer, true);
	put(writer, "{");
	put_blank(writer, true);
	put_json_member(writer, "before", NULL);
	put_json_comma(writer, false);
	put_json_member(writer, "mcpServers", "{");
	put_blank(writer, true);
	for (uint64_t i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "server-%d%s", (int)i, draw(writer, 4) == 0 ? "\\u002f\\n" : "");
		put_json_member(writer, key, "");
		put_json_server(writer);
		put_json_comma(writer, i + 1 == count);
	}
	put(writer, "}");
	put_json_comma(writer, false);
	put(writer, TEXT_ANCHOR ":1");
	put_json_comma(writer, true);
	put(writer, "}");
	put_blank(writer, true);
}

static void
end_line(struct writer *writer)
{
	put_blank(writer, false);
	if (draw(writer, 4) == 0)
		put_comment(writer);
	else
		put_newline(writer);
	while (draw(writer, 6) == 0)
		put_newline(writer);
}

/* The lines of a server behind its header; prefix: of their keys. */
static void
put_toml_lines(struct writer *writer, const char *prefix)
{
	static const char *const commands[] = { "command", "\"command\"", "'command'" };
	uint64_t order = draw(writer, 3);

	for (uint64_t i = 0; i < 3; i++) {
		uint64_t what = (i + order) % 3;

		if (what == 1 && order != 1 && draw(writer, 3) == 0)
			continue;
		put_blank(writer, false);
		put(writer, prefix);
		put(writer, what == 0 ? commands[draw(writer, 3)] : what == 1 ? "args" : "timeout");
		put_blank(writer, false);
		put(writer, "=");
		put_blank(writer, false);
		if (what == 0)
			put_string(writer);
		else if (what == 1)
			put_strings(writer, 0);
		else
			put_value(writer);
		end_line(writer);
	}
}

static void
put_toml_inline(struct writer *writer)
{
	bool first = draw(writer, 2) == 0, args = draw(writer, 3) > 0;

	put(writer, "{ ");
	if (!first) {
		put(writer, "other = ");
		put_value(writer);
		put(writer, ", ");
	}
	put(writer, "command = ");
	put_toml_string(writer, false);
	put_blank(writer, false);
	if (args) {
		put(writer, ",args=");
		put_strings(writer, 0);
	}
	if (first && draw(writer, 2) == 0)
		put(writer, " , env.x = 'y'");
	put(writer, "}");
}

static void
generate_toml(struct writer *writer)
{
	uint64_t count = draw(writer, 5);
	bool dotted;
	char text[64];

	if (draw(writer, 5) == 0)
		put(writer, "\xef\xbb\xbf");
	put(writer, "model = ");
	put_value(writer);
	end_line(writer);
	put(writer, "anchor = " TEXT_ANCHOR);
	end_line(writer);
	dotted = draw(writer, 3) == 0;
	if (dotted)
		put_toml_lines(writer, "mcp_servers . dotted.");
	for (uint64_t i = 0; i < count; i++) {
		if (draw(writer, 3) == 0) {
			snprintf(text, sizeof(text), "[t%d]", (int)i);
			put(writer, text);
			end_line(writer);
		}
		snprintf(text, sizeof(text), draw(writer, 3) == 0 ? "[mcp_servers.\"s.%d\"]" : "[ mcp_servers.s%d ]",
		    (int)i);
		put_blank(writer, false);
		put(writer, text);
		end_line(writer);
		put_toml_lines(writer, "");
		if (draw(writer, 4) == 0) {
			snprintf(text, sizeof(text), "[[list]]");
			put(writer, text);
			end_line(writer);
			put(writer, "command = 'no server'");
			end_line(writer);
		}
	}
	if (!dotted && draw(writer, 2) == 0) {
		put(writer, "[mcp_servers]");
		end_line(writer);
		put(writer, "inline = ");
		put_toml_inline(writer);
		if (draw(writer, 2) == 0)
			put_newline(writer);
	}
}

void
text_generate(struct buf *out, struct text_kind kind, uint64_t seed)
{
	struct writer writer = { .out = out, .kind = kind, .state = seed };

	writer.returns = draw(&writer, 4) == 0;
	if (kind.toml)
		generate_toml(&writer);
	else
		generate_json(&writer);
}

const struct client *
text_client(struct text_kind kind)
{
	return client_named(kind.toml ? "codex" : "cursor");
}

void
text_edit(struct buf *out, struct text_kind kind, struct span text, uint64_t seed)
{
	static const char *const json[] = { ":1,\"more\":{\"command\":1}", ":[]", ":{\"mcpServers\":{}}",
		"  : \"\xc3\xa9 long text that moves all that follows\"" };
	static const char *const toml[] = { "\nmore = 'command = 1'", "\nmore.args = ['a']", " # args = []", "" };
	const struct span anchor = SPAN(TEXT_ANCHOR);
	const char *found = memmem(text.ptr, text.len, anchor.ptr, anchor.len);
	size_t at;

	ck_assert_ptr_nonnull(found);
	at = (size_t)(found - text.ptr) + anchor.len;
	buf_append(out, span_part(text, 0, at));
	buf_append(out, span_of((kind.toml ? toml : json)[seed % 4]));
	at += kind.toml ? 0 : strlen(":1");
	buf_append(out, span_part(text, at, text.len - at));
}
