#include "ctl/wrap/change.h"

#include <check.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#define CANCELD "/opt/my tools/\"canceld\"/canceld"

enum { GENERATED = 4000, SLICES = 20 };

static char *const no_options[] = { NULL };
static char *const some_options[] = { (char[]){ "-t" }, (char[]){ "tools/call:a\\*=30s" },
	(char[]){ "-k5s" }, NULL };

/* A file of test/ctl/clients, and which of its servers are meant. */
struct sample {
	const char *file, *client;
	size_t commands; /* of servers that have one */
	bool languages;
};

/* Stands for the parser of canceld's options. */
static msec_t
count_options(char *const options[])
{
	msec_t count = 0;

	while (options[count] != NULL)
		count++;
	return count;
}

static struct change
wrapping(const struct client *client)
{
	return (struct change){ .client = client,
		.canceld = CANCELD,
		.options = no_options,
		.deadline = count_options,
		.names = no_options };
}

/* Appends the changed text; fails the test if it cannot be changed. */
static void
apply(struct change change, struct span text, struct buf *out)
{
	struct outcomes outcomes;

	if (change_text(&change, text, out, &outcomes) == -1)
		ck_abort_msg("%s, in:\n%.*s", outcomes.fault, (int)text.len, text.ptr);
	outcomes_free(&outcomes);
}

static void
unwrap(const struct client *client, struct span text, struct buf *out)
{
	struct change change = wrapping(client);

	change.unwrap = true;
	apply(change, text, out);
}

static void
expect_same(struct span got, struct span wanted, const char *what)
{
	if (!span_equal(got, wanted))
		ck_abort_msg("%s: got\n%.*s\ninstead of\n%.*s", what, (int)got.len, got.ptr,
		    (int)wanted.len, wanted.ptr);
}

static void
join(char **words, struct buf *line)
{
	for (size_t i = 0; words[i] != NULL; i++) {
		buf_append(line, span_of(words[i]));
		buf_append(line, SPAN("\r"));
	}
	entry_words_free(words);
}

/*
 * Appends each server's own words; if wrapped, checks those of canceld before them. Returns how
 * many have a command.
 */
static size_t
list_words(const struct sample *sample, struct span text, bool wrapped, struct buf *words)
{
	const struct client *client = client_named(sample->client);
	struct client_servers servers;
	size_t commands = 0;

	ck_assert_msg(client_read(client, text, &servers) == 0, "%s", servers.doc.fault);
	for (size_t i = 0; i < servers.count; i++) {
		struct entry entry = entry_read(servers.list[i]);
		const char *name = servers.list[i]->key.name.ptr;
		bool named = name[0] != '\0' && name[0] != '-' && strlen(name) < 64 &&
		    strchr(name, '/') == NULL;
		char wanted[300] = "";
		struct buf before;

		buf_append(words, servers.list[i]->key.name);
		buf_append(words, SPAN("\n"));
		if ((entry.state != ENTRY_PLAIN && entry.state != ENTRY_WRAPPED) ||
		    entry.language != sample->languages)
			continue;
		commands++;
		join(entry_words(&entry, entry.program, NULL), words);
		before = (struct buf){ 0 };
		join(entry_words(&entry, entry.first, entry.program), &before);
		if (wrapped)
			snprintf(wanted, sizeof(wanted),
			    CANCELD "\r%.*s\r%s%s%s%s-t\rtools/call:a\\*=30s\r-k5s\r--\r",
			    (int)entry.marker->text.len, entry.marker->text.ptr,
			    entry.language ? "-D\rlsp\r" : "", named ? "--name\r" : "",
			    named ? name : "", named ? "\r" : "");
		expect_same(buf_span(&before), span_of(wanted), "canceld's words");
		buf_free(&before);
	}
	client_servers_free(&servers);
	return commands;
}

/*
 * wrap(text) means what it should, and unwrap(wrap(text)) is text. Returns how many servers were
 * wrapped.
 */
static size_t
check_round(const struct sample *sample, struct span text, struct buf *wrapped)
{
	const struct client *client = client_named(sample->client);
	struct change change = wrapping(client);
	struct buf words[2], again;
	size_t count;

	words[0] = (struct buf){ 0 };
	words[1] = (struct buf){ 0 };
	again = (struct buf){ 0 };
	change.given = true;
	change.languages = sample->languages;
	change.options = some_options;
	apply(change, text, wrapped);
	count = list_words(sample, text, false, &words[0]);
	list_words(sample, buf_span(wrapped), true, &words[1]);
	expect_same(buf_span(&words[1]), buf_span(&words[0]), "words");
	unwrap(client, buf_span(wrapped), &again);
	expect_same(buf_span(&again), text, "unwrapped");
	/* Nothing is left to do. */
	buf_clear(&again);
	apply(change, buf_span(wrapped), &again);
	expect_same(buf_span(&again), buf_span(wrapped), "wrapped twice");
	/* Other options and back to none. */
	change.options = no_options;
	buf_clear(&again);
	apply(change, buf_span(wrapped), &again);
	buf_clear(&words[0]);
	unwrap(client, buf_span(&again), &words[0]);
	expect_same(buf_span(&words[0]), text, "wrapped anew and unwrapped");
	buf_free(&words[0]);
	buf_free(&words[1]);
	buf_free(&again);
	return count;
}

/*
 * Without comments it is JSON before and after; and a formatter that moves everything loses no
 * value.
 */
static void
check_json(const struct client *client, struct span text, struct span wrapped)
{
	const size_t strict = JSON_REJECT_DUPLICATES;
	struct span bom = SPAN("\xef\xbb\xbf");
	size_t skipped = text.len > 3 && span_equal(span_part(text, 0, 3), bom) ? 3 : 0;
	json_t *before = json_loadb(text.ptr + skipped, text.len - skipped, strict, NULL);
	json_t *after = json_loadb(wrapped.ptr + skipped, wrapped.len - skipped, strict, NULL),
	       *again;
	struct buf plain;
	char *formatted;

	ck_assert_msg(before != NULL, "not JSON: %.*s", (int)text.len, text.ptr);
	ck_assert_msg(after != NULL, "not JSON: %.*s", (int)wrapped.len, wrapped.ptr);
	formatted = json_dumps(after, JSON_INDENT(3) | JSON_SORT_KEYS);
	plain = (struct buf){ 0 };
	unwrap(client, span_of(formatted), &plain);
	again = json_loadb(plain.data, plain.len, strict, NULL);
	ck_assert_msg(again != NULL && json_equal(again, before), "%.*s\nis not\n%.*s",
	    (int)plain.len, plain.data, (int)text.len, text.ptr);
	buf_free(&plain);
	free(formatted);
	json_decref(again);
	json_decref(after);
	json_decref(before);
}

/*
 * The files of test/ctl/clients, named CLIENT or CLIENT-WHAT: what is in real ones, in their shape.
 */
static const struct sample samples[] = {
	{ "claude-desktop.json", "claude-desktop", .commands = 3 },
	{ "claude-desktop-windows.json", "claude-desktop", .commands = 2 },
	{ "claude-code.json", "claude-code", .commands = 2 },
	{ "cursor.json", "cursor", .commands = 2 },
	{ "vscode.jsonc", "vscode", .commands = 1 }, /* VS Code debugs the other */
	{ "copilot.json", "copilot", .commands = 1 },
	{ "windsurf.json", "windsurf", .commands = 1 },
	{ "zed.jsonc", "zed", .commands = 4 },
	{ "gemini.json", "gemini", .commands = 1 },
	{ "qwen.json", "qwen", .commands = 1 },
	{ "codex.toml", "codex", .commands = 3 },
	{ "codex-inline.toml", "codex", .commands = 3 },
	{ "codex-one.toml", "codex", .commands = 2 },
	{ "opencode.jsonc", "opencode", .commands = 3 },
	{ "opencode-2.json", "opencode", .commands = 1 },
	{ "cline.json", "cline", .commands = 1 },
	{ "roo.json", "roo", .commands = 1 },
	{ "lm-studio.json", "lm-studio", .commands = 1 },
	{ "kiro.json", "kiro", .commands = 2 },
	{ "junie.json", "junie", .commands = 1 },
	{ "kilo.json", "kilo", .commands = 1 },
	{ "kilo-new.jsonc", "kilo", .commands = 1 },
	{ "trae.json", "trae", .commands = 1 },
	{ "amazon-q-agent.json", "amazon-q", .commands = 2 },
	{ "crush.json", "crush", .commands = 2 },
	{ "factory.json", "factory", .commands = 2 },
	{ "antigravity.json", "antigravity", .commands = 1 },
	{ "jetbrains-acp.json", "jetbrains", .commands = 1 },
	{ "jetbrains-mcp.json", "jetbrains", .commands = 1 },
	{ "amp.json", "amp", .commands = 1 },
	{ "augment.json", "augment", .commands = 1 },
	{ "warp.json", "warp", .commands = 1 },
	{ "visual-studio.json", "visual-studio", .commands = 1 },
	{ "vscode-workspace.jsonc", "vscode", .commands = 1 },
	{ "gemini-extension.json", "gemini", .commands = 1 },
	{ "claude-plugin.json", "claude-plugin", 2, true },
	{ "claude-plugin-lsp.json", "claude-plugin", 1, true },
	{ "helix.toml", "helix", 2, true },
	{ "opencode-lsp.json", "opencode", 2, true },
	{ "crush-lsp.json", "crush", 3, true },
	{ "zed-lsp.jsonc", "zed", 2, true },
};

enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

/* Appends a file of test/ctl/clients. */
static void
read_sample(size_t i, struct buf *text)
{
	char path[128];
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "test/ctl/clients/%s", samples[i].file);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	while ((got = fread(buf_space(text, 4096), 1, 4096, file)) > 0)
		buf_added(text, got);
	fclose(file);
}

/* Random files: those of clients with other white space, comments and longer strings. */

#define ANCHOR "\"edited\"" /* stands once in each text, in no server */

struct kind {
	bool toml;
	bool comments; /* and commas before a closing bracket */
};

struct writer {
	struct buf *out;
	struct kind kind;
	uint64_t state;
	const char *newline;
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
put_comment(struct writer *writer)
{
	static const char *const blocks[] = { "/**/", "/* \"command\": \"x\", */", "/* [ { ' // */",
		"/*\n*/" };
	static const char *const lines[] = { "\"args\": [", "}, ]", "", "'''\"\"\"",
		"\xc3\xa4 [mcp_servers.x]" };

	if (!writer->kind.toml && draw(writer, 2) == 0) {
		put(writer, blocks[draw(writer, 4)]);
		return;
	}
	put(writer, writer->kind.toml ? "#" : "//");
	put(writer, lines[draw(writer, 5)]);
	put(writer, writer->newline);
}

/* lines: newlines and comments too. */
static void
put_blank(struct writer *writer, bool lines)
{
	static const char *const blanks[] = { "", "", " ", " ", "  ", "\t" };

	for (uint64_t i = draw(writer, 3); i > 0; i--) {
		uint64_t what = draw(writer, 12);

		if (what < 8 || !lines)
			put(writer, blanks[draw(writer, 6)]);
		else if (what < 11 || !writer->kind.comments)
			put(writer, writer->newline);
		else
			put_comment(writer);
	}
}

/* How long the token is that begins here: a string, a bracket or a comma, a comment, or a word. */
static size_t
token_length(struct span text)
{
	size_t quotes =
		   text.len > 2 && text.ptr[1] == text.ptr[0] && text.ptr[2] == text.ptr[0] ? 3 : 1,
	       at = quotes;

	if (text.ptr[0] == '#' || text.ptr[0] == '/') {
		for (at = 1; at < text.len && text.ptr[at] != (text.ptr[1] == '*' ? '/' : '\n');
		     at++)
			;
		return at + (text.ptr[1] == '*');
	}
	if (text.ptr[0] == '"' || text.ptr[0] == '\'') {
		while (memcmp(text.ptr + at, text.ptr, quotes) != 0)
			at += text.ptr[at] == '\\' && text.ptr[0] == '"' ? 2 : 1;
		return at + quotes;
	}
	for (at = 0; at < text.len && strchr(" \t\r\n{}[]:,=#\"'", text.ptr[at]) == NULL; at++)
		;
	return at > 0 ? at : 1;
}

/* A string, with something more in it if it may grow. */
static void
put_string(struct writer *writer, struct span token, bool grows)
{
	static const char *const pieces[] = { "a", "--", "\\\"", "\\\\", "\\u00e9", "\xc3\xa9", ",",
		"[", "]", "}", "//", "/*", " ", "\\n", "--wrapped", "#", "'" };

	for (size_t i = 0; i + 1 < token.len; i++)
		if (token.ptr[i] == '\n')
			put(writer, writer->newline);
		else
			buf_append(writer->out, span_part(token, i, 1));
	for (uint64_t i = draw(writer, 3); grows && i > 0; i--)
		put(writer, pieces[draw(writer, sizeof(pieces) / sizeof(pieces[0]))]);
	buf_append(writer->out, span_part(token, token.len - 1, 1));
}

static void
respace_json(struct writer *writer, struct span text)
{
	bool comma = false;
	char last = '\0';

	put_blank(writer, true);
	for (size_t at = 0, len; at < text.len; at += len) {
		struct span rest = span_part(text, at, text.len - at);
		char first = rest.ptr[0];

		len = token_length(rest);
		if (strchr(" \t\r\n/", first) != NULL)
			continue;
		if (first == '}' || first == ']')
			comma = strchr("{[", last) == NULL && writer->kind.comments &&
			    draw(writer, 4) == 0;
		if (comma || first == ',') {
			comma = first == ',';
			put(writer, comma ? "" : ",");
			put_blank(writer, true);
		}
		if (first == '"')
			put_string(writer, span_part(rest, 0, len),
			    rest.ptr[len + strspn(rest.ptr + len, " ")] != ':');
		else if (first != ',')
			buf_append(writer->out, span_part(rest, 0, len));
		if (last == '\0') {
			put(writer, ANCHOR ":1");
			comma = true;
		}
		put_blank(writer, true);
		last = first == ',' ? last : first;
	}
}

static void
respace_toml(struct writer *writer, struct span text)
{
	char last = '\n';

	put(writer, "anchor = " ANCHOR);
	put(writer, writer->newline);
	for (size_t at = 0, len; at < text.len; at += len) {
		struct span rest = span_part(text, at, text.len - at);
		char first = rest.ptr[0];

		len = token_length(rest);
		if (first == '"' || first == '\'') {
			put_string(writer, span_part(rest, 0, len),
			    first == '"' && strncmp(rest.ptr, "\"\"\"", 3) != 0 &&
				strchr("=[,", last) != NULL);
		} else if (first == '\n') {
			if (draw(writer, 4) == 0)
				put_comment(writer);
			else
				put(writer, writer->newline);
		} else if (first == ' ' && !(last >= '0' && last <= '9')) {
			put_blank(writer, false);
		} else {
			buf_append(writer->out, span_part(rest, 0, len));
			if (strchr(",={}", first) != NULL)
				put_blank(writer, false);
		}
		last = first == ' ' ? last : first;
	}
}

/* Appends a file that the client, which is returned, reads. The same seed gives the same text. */
static const struct sample *
generate(struct buf *out, struct kind kind, uint64_t seed)
{
	struct writer writer = { .out = out, .kind = kind, .state = seed };
	struct buf sample;
	size_t i;

	sample = (struct buf){ 0 };
	do
		i = draw(&writer, SAMPLES);
	while ((strstr(samples[i].file, ".toml") != NULL) != kind.toml);
	writer.newline = draw(&writer, 4) == 0 ? "\r\n" : "\n";
	read_sample(i, &sample);
	if (sample.data[0] == '\xef')
		buf_consume(&sample, strlen("\xef\xbb\xbf"));
	for (char *at; (at = memchr(buf_span(&sample).ptr, '\r', sample.len)) != NULL;)
		*at = ' ';
	if (draw(&writer, 5) == 0)
		put(&writer, "\xef\xbb\xbf");
	if (kind.toml)
		respace_toml(&writer, buf_span(&sample));
	else
		respace_json(&writer, buf_span(&sample));
	buf_free(&sample);
	return &samples[i];
}

/* Appends text with something put in at the anchor; which, depends on seed. */
static void
edit_elsewhere(struct buf *out, struct kind kind, struct span text, uint64_t seed)
{
	static const char *const json[] = { ":1,\"more\":{\"command\":1}", ":[]",
		":{\"mcpServers\":{}}", "  : \"\xc3\xa9 long text that moves all that follows\"" };
	static const char *const toml[] = { "\nmore = 'command = 1'", "\nmore.args = ['a']",
		" # args = []", "" };
	const char *found = memmem(text.ptr, text.len, ANCHOR, strlen(ANCHOR));
	size_t at;

	ck_assert_ptr_nonnull(found);
	at = (size_t)(found - text.ptr) + strlen(ANCHOR);
	buf_append(out, span_part(text, 0, at));
	buf_append(out, span_of((kind.toml ? toml : json)[seed % 4]));
	at += kind.toml ? 0 : strlen(":1");
	buf_append(out, span_part(text, at, text.len - at));
}

static const struct kind kinds[] = { { false, false }, { false, true }, { true, true } };

SUITE("change", .limit = 60);

TESTS(generated_files_come_back, 0, 3 * SLICES)
{
	struct kind kind = kinds[_i / SLICES];
	const struct sample *sample;
	/* Half of the JSON files have comments. */
	size_t count = GENERATED / SLICES / (kind.toml ? 1U : 2U), servers = 0;
	enum { TEXT, WRAPPED, EDITED, WANTED, PLAIN, TEXTS };
	struct buf texts[TEXTS] = { 0 };

	for (size_t i = 0; i < count; i++) {
		uint64_t seed = (uint64_t)_i * GENERATED + i;

		for (int k = 0; k < TEXTS; k++)
			buf_clear(&texts[k]);
		sample = generate(&texts[TEXT], kind, seed);
		servers += check_round(sample, buf_span(&texts[TEXT]), &texts[WRAPPED]);
		if (!kind.comments)
			check_json(client_named(sample->client), buf_span(&texts[TEXT]),
			    buf_span(&texts[WRAPPED]));
		edit_elsewhere(&texts[WANTED], kind, buf_span(&texts[TEXT]), seed);
		edit_elsewhere(&texts[EDITED], kind, buf_span(&texts[WRAPPED]), seed);
		unwrap(client_named(sample->client), buf_span(&texts[EDITED]), &texts[PLAIN]);
		expect_same(buf_span(&texts[PLAIN]), buf_span(&texts[WANTED]),
		    "edited and unwrapped");
	}
	ck_assert_uint_gt(servers, count);
	for (int k = 0; k < TEXTS; k++)
		buf_free(&texts[k]);
}

/* A byte is taken out, put in or replaced, at a place that seed chooses. */
static void
damage(struct buf *text, uint64_t seed)
{
	static const char bytes[] = "{}[]\",'/*#=:\\\n\r .-a0\x80";
	size_t at = seed / 97 % text->len;
	char byte = bytes[seed / 7 % (sizeof(bytes) - 1)];

	if (seed % 3 == 0) {
		memmove(text->data + at, text->data + at + 1, --text->len - at);
	} else if (seed % 3 == 1) {
		memset(buf_space(text, 1), 0, 1);
		memmove(text->data + at + 1, text->data + at, text->len++ - at);
		text->data[at] = byte;
	} else {
		text->data[at] = byte;
	}
}

TESTS(damaged_files_are_refused_or_come_back, 0, 3)
{
	struct kind kind = kinds[_i];
	struct buf text, wrapped;
	size_t refused = 0, count = 2000;

	text = (struct buf){ 0 };
	wrapped = (struct buf){ 0 };
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample;
		struct change change;
		struct outcomes outcomes;
		uint64_t seed = i * 2654435761U;
		json_t *json;

		buf_clear(&text);
		sample = generate(&text, kind, i);
		change = wrapping(client_named(sample->client));
		change.languages = sample->languages;
		for (size_t k = 0; k <= i % 3; k++)
			damage(&text, seed >> k);
		buf_clear(&wrapped);
		if (change_text(&change, buf_span(&text), &wrapped, &outcomes) == -1) {
			ck_assert_int_eq(strncmp(outcomes.fault, "line ", 5), 0);
			json = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
			ck_assert_msg(kind.toml || !json_is_object(json),
			    "%s, but this is JSON:\n%.*s", outcomes.fault, (int)text.len,
			    text.data);
			json_decref(json);
			refused++;
		} else {
			buf_clear(&wrapped);
			check_round(sample, buf_span(&text), &wrapped);
		}
		outcomes_free(&outcomes);
	}
	ck_assert_uint_gt(refused, count / 10);
	ck_assert_uint_lt(refused, count);
	buf_free(&text);
	buf_free(&wrapped);
}

TESTS(files_of_clients_come_back, 0, SAMPLES)
{
	struct buf text, wrapped;

	text = (struct buf){ 0 };
	wrapped = (struct buf){ 0 };
	read_sample((size_t)_i, &text);
	ck_assert_uint_eq(check_round(&samples[_i], buf_span(&text), &wrapped),
	    samples[_i].commands);
	buf_free(&text);
	buf_free(&wrapped);
}

TEST(every_sample_is_listed)
{
	DIR *folder = opendir("test/ctl/clients");
	const struct dirent *entry;
	size_t count = 0;

	ck_assert_ptr_nonnull(folder);
	while ((entry = readdir(folder)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(folder);
	ck_assert_uint_eq(count, SAMPLES);
}

/* What stands in the file afterwards, byte by byte. */
static const struct {
	const char *client, *before, *after;
} edits[] = {
	{ "cursor", "{\"mcpServers\":{\"a\":{\"command\":\"npx\",\"args\":[\"-y\"]}}}",
	    "{\"mcpServers\":{\"a\":{\"command\":\"/c/canceld\",\"args\":[\"--wrapped\", \"--name\", \"a\", \"-r\", \"--\", \"npx\", \"-y\"]}}}" },
	{ "cursor", "{\"mcpServers\":{\"a\":{\"command\":\"npx\",\"args\":[ \"-y\" ]}}}",
	    "{\"mcpServers\":{\"a\":{\"command\":\"/c/canceld\",\"args\":[ \"--wrapped\", \"--name\", \"a\", \"-r\", \"--\", \"npx\", \"-y\" ]}}}" },
	{ "cursor", "{\"mcpServers\":{\"a\":{\"args\":[],\"command\":\"\\u006epx\"}}}",
	    "{\"mcpServers\":{\"a\":{\"args\":[\"--wrapped\", \"--name\", \"a\", \"-r\", \"--\", \"\\u006epx\"],\"command\":\"/c/canceld\"}}}" },
	{ "cursor", "{\"mcpServers\":{\"a\":{\n\t\"command\" : \"npx\",\n}}}",
	    "{\"mcpServers\":{\"a\":{\n\t\"command\" : \"/c/canceld\",\n\t\"args\" : [\"--wrapped=a\", \"--name\", \"a\", \"-r\", \"--\", \"npx\"],\n}}}" },
	{ "zed", "{\"context_servers\":{\"a\":{\"command\":{\"path\":\"x\"}}}}",
	    "{\"context_servers\":{\"a\":{\"command\":{\"path\":\"/c/canceld\",\"args\":[\"--wrapped=a\", \"--name\", \"a\", \"-r\", \"--\", \"x\"]}}}}" },
	{ "zed", "{\"lsp\":{\"a\":{\"binary\":{\"path\":\"x\"}}}}",
	    "{\"lsp\":{\"a\":{\"binary\":{\"path\":\"/c/canceld\",\"arguments\":[\"--wrapped=a\", \"-D\", \"lsp\", \"--name\", \"a\", \"-r\", \"--\", \"x\"]}}}}" },
	{ "helix", "[language-server.a]\ncommand = 'x'\n",
	    "[language-server.a]\ncommand = \"/c/canceld\"\nargs = [\"--wrapped=a\", \"-D\", \"lsp\", \"--name\", \"a\", \"-r\", \"--\", 'x']\n" },
	{ "opencode", "{\"mcp\":{\"a\":{\"command\":[\"npx\"]}}}",
	    "{\"mcp\":{\"a\":{\"command\":[\"/c/canceld\", \"--wrapped\", \"--name\", \"a\", \"-r\", \"--\", \"npx\"]}}}" },
	{ "codex", "[mcp_servers.a]\ncommand = 'npx' # x\n",
	    "[mcp_servers.a]\ncommand = \"/c/canceld\"\nargs = [\"--wrapped=a\", \"--name\", \"a\", \"-r\", \"--\", 'npx'] # x\n" },
	{ "codex", "mcp_servers = { a.command = 'npx' }",
	    "mcp_servers = { a.command = \"/c/canceld\", a.args = [\"--wrapped=a\", \"--name\", \"a\", \"-r\", \"--\", 'npx'] }" },
	{ "codex", "mcp_servers.a.'command' = 'npx'",
	    "mcp_servers.a.'command' = \"/c/canceld\"\nmcp_servers.a.args = [\"--wrapped=a\", \"--name\", \"a\", \"-r\", \"--\", 'npx']" },
};

static struct outcomes outcomes;
static struct buf out;

static void
tear_down(void)
{
	outcomes_free(&outcomes);
	buf_free(&out);
}

/* Of the only server that it is about. */
static struct outcome *
change_one(struct change change, const char *text)
{
	ck_assert_int_eq(change_text(&change, span_of(text), &out, &outcomes), 0);
	ck_assert_uint_eq(outcomes.count, 1);
	return outcomes.list;
}

SUITE("change", .after = tear_down);

TESTS(edits_are_these, 0, COUNT(edits))
{
	struct change change = wrapping(client_named(edits[_i].client));

	change.canceld = "/c/canceld";
	change.given = true;
	change.languages = strstr(edits[_i].after, "\"-D\"") != NULL;
	change.options = (char *[]){ (char[]){ "-r" }, NULL };
	apply(change, span_of(edits[_i].before), &out);
	expect_same(buf_span(&out), span_of(edits[_i].after), "wrapped");
}

/* Unwrapped although something else has changed it. */
static const struct {
	const char *client, *before, *after;
} moved[] = {
	/* args was sorted before command, and is the first member */
	{ "cursor",
	    "{\"mcpServers\":{\"a\":{\n \"args\":[\"--wrapped=a\",\"--\",\"x\"],\n \"command\":\"canceld\"}}}",
	    "{\"mcpServers\":{\"a\":{\n \"command\":\"x\"}}}" },
	/* a comment came between them, and stays */
	{ "cursor",
	    "{\"mcpServers\":{\"a\":{\"command\":\"canceld\", /*c*/ \"args\":[\"--wrapped=a\",\"--\",\"x\"],\"t\":1}}}",
	    "{\"mcpServers\":{\"a\":{\"command\":\"x\", /*c*/ \"t\":1}}}" },
	{ "cursor",
	    "{\"mcpServers\":{\"a\":{\"args\":[\"--wrapped=a\",\"--\",\"x\"]/*c*/,\"command\":\"canceld\"}}}",
	    "{\"mcpServers\":{\"a\":{\"args\":[]/*c*/,\"command\":\"x\"}}}" },
	/* a person gave the server a first argument */
	{ "cursor",
	    "{\"mcpServers\":{\"a\":{\"command\":\"canceld\",\"args\":[\"--wrapped=a\",\"--\",\"x\",\"new\"]}}}",
	    "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[\"new\"]}}}" },
	/* and a comment behind it */
	{ "cursor",
	    "{\"mcpServers\":{\"a\":{\"command\":\"canceld\",\"args\":[\"--wrapped=a\",\"--\",\"x\"/*c*/]}}}",
	    "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[/*c*/]}}}" },
	/* a formatter: one word a line, a comma behind the last */
	{ "cursor",
	    "{\"mcpServers\":{\"a\":{\"command\":\"canceld\",\"args\":[\n \"--wrapped\",\n \"-t\",\n \"1s\",\n \"--\",\n \"x\",\n]}}}",
	    "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[\n]}}}" },
	{ "codex",
	    "[mcp_servers.a]\ncommand = 'canceld-1.2'\n# c\nargs = ['--wrapped=a', '--', 'x']\nb = 1",
	    "[mcp_servers.a]\ncommand = 'x'\n# c\nargs = []\nb = 1" },
	{ "codex",
	    "[mcp_servers.a]\nargs = ['--wrapped=a', '--', 'x'] # d\ncommand = '/usr/bin/canceld'",
	    "[mcp_servers.a]\nargs = [] # d\ncommand = 'x'" },
	/* Zed took the old form away */
	{ "zed",
	    "{\"context_servers\":{\"a\":{\"command\":\"canceld\",\"args\":[\"--wrapped\",\"--\",\"x\"]}}}",
	    "{\"context_servers\":{\"a\":{\"command\":\"x\",\"args\":[]}}}" },
};

TESTS(what_was_moved_comes_back_by_value, 0, COUNT(moved))
{
	unwrap(client_named(moved[_i].client), span_of(moved[_i].before), &out);
	expect_same(buf_span(&out), span_of(moved[_i].after), "unwrapped");
}

#define BLANK "its command has a blank: put each argument into args"
#define BY_HAND "canceld stands before its command already, put there by hand"

/* Nothing is edited, for this reason. */
static const struct {
	bool unwrap;
	const char *entry, *why;
	const char *result;
} kept[] = {
	{ false, "{\"url\":\"https://x\"}", "it is a remote server", "left alone" },
	{ false, "{\"command\":\"x\",\"url\":\"https://x\"}", "it is a remote server",
	    "left alone" },
	{ false, "{\"settings\":{}}", "it has no command", "left alone" },
	{ false, "7", "it is no object", "left alone" },
	{ false, "{\"command\":null}", "its command is no string", "left alone" },
	{ false, "{\"command\":[]}", "its command has no words", "left alone" },
	{ false, "{\"command\":[\"a\"],\"args\":[]}",
	    "its command is an array, and there is args too", "left alone" },
	{ false, "{\"command\":\"npx -y foo\"}", BLANK, "left alone" },
	{ false, "{\"command\":\"/bin/sh -c x\",\"args\":[\"y\"]}", BLANK, "left alone" },
	{ true, "{\"command\":\"npx -y\"}", BLANK, "not wrapped" },
	{ true, "{\"command\":\"~/my tools/x\"}", NULL, "not wrapped" },
	{ false, "{\"command\":\"a\",\"args\":null}", "its args are no array", "left alone" },
	{ false, "{\"command\":\"canceld\",\"args\":[\"-r\",\"--\",\"x\"]}", BY_HAND,
	    "left alone" },
	{ false, "{\"command\":\"C:\\\\canceld\",\"args\":[]}", BY_HAND, "left alone" },
	{ false, "{\"command\":\"canceld\",\"args\":[\"--wrapped\",\"-r\",/*c*/\"--\",\"x\"]}",
	    "a comment stands between the words of canceld: move it first", "left alone" },
	{ true, "{\"command\":\"canceld\",\"args\":[\"-r\",\"--\",\"x\"]}", BY_HAND, "left alone" },
	{ false,
	    "{\"command\":\"npx\",\"args\":[\"-y\",\"canceld\",\"-t\",\"30s\",\"--\",\"npx\",\"-y\",\"foo\"]}",
	    BY_HAND, "left alone" },
	{ false, "{\"command\":[\"/usr/bin/pnpm\",\"dlx\",\"canceld@0.9.1\",\"npx\",\"foo\"]}",
	    BY_HAND, "left alone" },
	{ false,
	    "{\"command\":\"npm\",\"args\":[\"exec\",\"--package\",\"x\",\"canceld@latest\",\"--\",\"x\"]}",
	    BY_HAND, "left alone" },
	{ false, "{\"command\":\"env\",\"args\":[\"A=b\",\"bunx\",\"canceld\",\"x\"]}", BY_HAND,
	    "left alone" },
	{ true, "{\"command\":\"bunx\",\"args\":[\"canceld\",\"--wrapped\",\"--\",\"x\"]}", BY_HAND,
	    "left alone" },
	{ true, "{\"command\":\"node\",\"args\":[\"/src/canceld/dist/index.js\",\"canceld-x\"]}",
	    NULL, "not wrapped" },
	{ true, "{\"command\":\"npx\",\"args\":[\"foo\",\"canceld\"]}", NULL, "not wrapped" },
	{ true, "{\"command\":\"mine\",\"args\":[\"--wrapped\",\"--\",\"x\"]}", NULL,
	    "not wrapped" },
	{ true, "{\"command\":\"canceld\",\"args\":[\"--wrapped-up\",\"--\",\"x\"]}", BY_HAND,
	    "left alone" },
	{ true, "{\"command\":\"canceld\",\"args\":[\"--wrapped\",\"--\"]}",
	    "its words do not end with -- and the server's command", "left alone" },
	{ true, "{\"command\":\"canceld\",\"args\":[\"--wrapped\",1,\"--\",\"x\"]}",
	    "its words do not end with -- and the server's command", "left alone" },
	{ true, "{\"command\":7}", "its command is no string", "not wrapped" },
	{ true, "{\"command\":\"canceld\",\"args\":[\"--wrapped\",/*c*/\"--\",\"x\"]}",
	    "a comment stands between the words of canceld: move it first", "left alone" },
	{ true, "{\"command\":\"canceld\",\"args\":[\"--wrapped\",\"--\",\"x\" // c\n,\"y\"]}",
	    "a comment stands between the words of canceld: move it first", "left alone" },
};

TESTS(what_is_not_understood_stays, 0, COUNT(kept))
{
	struct change change = wrapping(client_named("cursor"));
	const struct outcome *outcome;
	char text[256];

	change.unwrap = kept[_i].unwrap;
	snprintf(text, sizeof(text), "{\"mcpServers\":{\"a\":%s}}", kept[_i].entry);
	outcome = change_one(change, text);
	expect_same(buf_span(&out), span_of(text), "text");
	ck_assert_str_eq(outcome->result, kept[_i].result);
	ck_assert_pstr_eq(outcome->why, kept[_i].why);
}

/* Of language servers. */
static const struct {
	bool unwrap;
	const char *entry, *result;
} transports[] = {
	{ false, "{\"command\":\"x\",\"transport\":\"socket\"}", "left alone" },
	{ false, "{\"command\":\"x\",\"transport\":\"stdio\"}", "wrapped" },
	{ true, "{\"command\":\"x\",\"transport\":\"socket\"}", "not wrapped" },
	{ true,
	    "{\"command\":\"canceld\",\"args\":[\"--wrapped\",\"--\",\"x\"],\"transport\":\"socket\"}",
	    "unwrapped" },
};

TESTS(a_socket_is_no_stdio, 0, COUNT(transports))
{
	struct change change = wrapping(client_named("claude-plugin"));
	const struct outcome *outcome;
	char text[256];

	change.unwrap = transports[_i].unwrap;
	change.languages = true;
	snprintf(text, sizeof(text), "{\"lspServers\":{\"a\":%s}}", transports[_i].entry);
	outcome = change_one(change, text);
	ck_assert_str_eq(outcome->result, transports[_i].result);
	ck_assert_pstr_eq(outcome->why, outcome->changed ? NULL : "its transport is not stdio");
}

TEST(a_table_is_told_by_its_header)
{
	const struct outcome *outcome =
	    change_one(wrapping(client_named("codex")), "# c\n[mcp_servers.a]\nurl = 'x'\n");

	ck_assert_str_eq(outcome->result, "left alone");
	ck_assert_uint_eq(doc_line(&outcomes.before.doc, outcomes.before.list[0]->key.start), 2);
}

TEST(options_stay_when_canceld_moves)
{
	struct change change = wrapping(client_named("cursor"));
	const struct outcome *outcome;

	change.canceld = "/new/canceld";
	outcome = change_one(change,
	    "{\"mcpServers\":{\"a\":{\"command\":\"/old/canceld\",\"args\":[\"--wrapped\", \"-t\", \"5s\", \"--\", \"x\"]}}}");
	ck_assert_str_eq(outcome->result, "wrapped anew");
	ck_assert_int_eq(outcome->deadline, 2);
	expect_same(buf_span(&out),
	    SPAN(
		"{\"mcpServers\":{\"a\":{\"command\":\"/new/canceld\",\"args\":[\"--wrapped\", \"-t\", \"5s\", \"--\", \"x\"]}}}"),
	    "text");
}

/* Of the first version of opencode; not a group of servers, as in its second one. */
TEST(a_server_may_be_called_servers)
{
	static const char text[] =
	    "{\"mcp\":{\"servers\":{\"command\":{\"path\":\"x\",\"command\":\"y\",\"args\":[\"1\"]}}}}";

	ck_assert_uint_eq(check_round(&(struct sample){ .client = "opencode" }, span_of(text),
			      &out),
	    1);
	change_one(wrapping(client_named("opencode")), text);
	ck_assert(span_equal(outcomes.before.list[0]->key.name, SPAN("servers")));
}
