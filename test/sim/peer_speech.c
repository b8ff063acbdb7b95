/* How the peers write their messages, and the junk that they write between them. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world_inside.h"

int
peer_next(const struct world *world)
{
	return world->oracle.sent_count;
}

/* Of a long number others may have the same nearest double. */
enum { NUMBER_LONG = 12 };

const char *
peer_spells(struct world *world, const char *id, char spelled[64])
{
	static const char *const ends[] = { ".0", "e0", "0e-1", ".00E+0" };
	bool zero = strcmp(id, "0") == 0;

	snprintf(spelled, 64, "%s", id);
	if (!world->respells || !chance_percent(&world->chance, 40))
		return spelled;
	if (id[0] == '"' && isalnum((unsigned char)id[1]))
		snprintf(spelled, 64, "\"\\u%04x%s", (unsigned)id[1], id + 2);
	else if (id[strspn(id, "-0123456789")] == '\0' && strlen(id) < NUMBER_LONG)
		snprintf(spelled, 64, "%s%s", id,
		    ends[chance_below(&world->chance, 4) & (zero ? 1U : 3U)]);
	return spelled;
}

bool
peer_is_open(const struct world *world)
{
	int i;

	for (i = 0; i < world->oracle.sent_count; i++)
		if (world->oracle.sent[i].from == CLIENT && world->oracle.sent[i].heard != 0)
			return true;
	return false;
}

/*
 * LSP "Header Part", with the variations of real peers before and after the number; the plain ones
 * come first.
 */
static const char *const headers[][2] = {
	{ "Content-Length: ", "\r\n\r\n" },
	{ "content-length: ", "\r\n\r\n" },
	{ "Content-Length:", "\n\n" },
	{ "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: ",
	    "\r\n\r\n" },
	{ "Content-Length: ",
	    "\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n" },
	{ "CONTENT-LENGTH :  ", " \r\n\r\n" },
	{ "Content-Length: ", "\r\nX-Trace: 7\r\n\r\n" },
	{ "X-Trace: a,b\r\nContent-Length: ", "\r\n\r\n" },
};

enum { HEADERS = sizeof(headers) / sizeof(headers[0]), HEADERS_PLAIN = 5 };

static unsigned
some_header(struct world *world)
{
	if (!chance_percent(&world->chance, 25))
		return 0;
	return chance_below(&world->chance, peer_is_open(world) ? HEADERS : HEADERS_PLAIN);
}

static char *
framed(struct world *world, const char *text)
{
	const char *end = chance_percent(&world->chance, 5) ? "\r\n" : "\n";
	char *bytes = NULL;
	unsigned kind;
	int len;

	if (world->in_batch)
		end = ""; /* the batch is framed */
	if (world->oracle.header && !world->in_batch) {
		kind = some_header(world);
		len = asprintf(&bytes, "%s%zu%s%s", headers[kind][0], strlen(text),
		    headers[kind][1], text);
	} else {
		len = asprintf(&bytes, "%s%s", text, end);
	}
	if (len < 0)
		abort();
	return bytes;
}

/* Takes ownership of bytes. */
static int
write_bytes(struct world *world, int from, enum kind kind, int ask, char *bytes,
    const char *arrives)
{
	struct peer *peer = &world->peer[from];
	size_t len = strlen(bytes);
	int sent;

	if (peer->count == QUEUE_MAX)
		abort();
	sent = oracle_say(&world->oracle, from, kind, ask, bytes, len, arrives);
	if (world->in_batch)
		return sent;
	peer->queue[(peer->first + peer->count++) % QUEUE_MAX] = sent;
	world_tell(world, "%s writes %.150s%s\n", from == CLIENT ? "client" : "server", bytes,
	    len > 150 ? "..." : "");
	return sent;
}

/* Text that reaches the client otherwise than its server wrote it. */
struct change {
	const char *written, *arrives;
	/* places that are changed only with --clean-text; 0: it is no UTF-8, and always is */
	int unclean;
};

static const struct change changes[] = {
	{ "caf\xe9 \xe2\x82", "caf\xef\xbf\xbd \xef\xbf\xbd", 0 },
	{ "half \\ud83d \\ud83d\\uDE00 \\\\ud83d", "half \\ufffd \\ud83d\\uDE00 \\\\ud83d", 1 },
	{ "halves \\uDE00\\uD83D\\ud83d\\ude00\\uD83D\\n",
	    "halves \\ufffd\\ufffd\\ud83d\\ude00\\ufffd\\n", 3 },
	{ "ends \xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7\\u2028",
	    "ends \\u2028\\u2029\xe2\x80\xa7\\u2028", 2 },
};

enum { CHANGES = sizeof(changes) / sizeof(changes[0]) };

/* As it arrives, if only these changes are made; NULL: it has none of them. */
static char *
changed(const char *text, const struct change *change)
{
	const char *at = strstr(text, change->written);
	char *other = NULL;

	if (at != NULL &&
	    asprintf(&other, "%.*s%s%s", (int)(at - text), text, change->arrives,
		at + strlen(change->written)) < 0)
		abort();
	return other;
}

/* Takes ownership of text. clean: with --clean-text. */
static char *
repair(char *text, bool clean, int *unclean)
{
	char *other;

	for (int i = 0; i < CHANGES; i++) {
		if ((changes[i].unclean > 0 && !clean) ||
		    (other = changed(text, &changes[i])) == NULL)
			continue;
		free(text);
		text = other;
		*unclean += changes[i].unclean;
	}
	return text;
}

/* What is written does not pass: a request is answered, and a notice of the client's. */
static void
note_too_long(struct world *world, int number)
{
	struct sent *sent = &world->oracle.sent[number];
	struct ask *ask = sent->ask < 0 ? NULL : &world->oracle.asks[sent->ask];

	sent->unclean = 0;
	if (sent->kind == KIND_REQUEST) {
		ask->too_long = ask->ours = true;
	} else if (sent->kind == KIND_RESPONSE) {
		sent->bad = sent->too_long = true;
	} else if (sent->kind != KIND_JUNK) {
		sent->kind = KIND_JUNK;
		sent->complain = sent->from == CLIENT;
	}
}

int
peer_says(struct world *world, int from, enum kind kind, int ask, const char *format, ...)
{
	va_list arguments;
	char *text = NULL, *sound, *bytes;
	int sent, unclean = 0;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	bytes = from == SERVER ? framed(world, text) : NULL;
	sound = repair(text, from == SERVER && world->oracle.clean_text, &unclean);
	sent = write_bytes(world, from, kind, ask, bytes == NULL ? framed(world, sound) : bytes,
	    sound);
	world->oracle.sent[sent].unclean = unclean;
	if (strlen(sound) > world->oracle.max_message)
		note_too_long(world, sent);
	free(sound);
	return sent;
}

/* The texts of the elements from that number on, as written or as they must arrive. */
static char *
join(struct world *world, int first, bool written)
{
	static const char *const commas[] = { ",", " , ", ",\t" };
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);

	if (stream == NULL)
		abort();
	for (int i = first; i < world->oracle.sent_count; i++)
		fprintf(stream, "%s%s", i == first ? "[" : commas[i % 3],
		    written ? world->oracle.sent[i].bytes : world->oracle.sent[i].arrives);
	fprintf(stream, "]");
	if (fclose(stream) != 0)
		abort();
	return text;
}

void
peer_says_batch(struct world *world, int from, int first)
{
	struct oracle *oracle = &world->oracle;
	char *text = join(world, first, true), *sound = join(world, first, false);
	bool junk = false;
	int unclean = 0, number;

	for (int i = first; i < oracle->sent_count; i++) {
		unclean += oracle->sent[i].unclean;
		oracle->sent[i].unclean = 0;
		oracle->sent[i].batch = oracle->sent_count;
		junk |= oracle->sent[i].bad || oracle->sent[i].kind == KIND_JUNK;
	}
	number =
	    write_bytes(world, from, junk ? KIND_JUNK : KIND_BATCH, -1, framed(world, text), sound);
	oracle->sent[number].first = first;
	oracle->sent[number].unclean = unclean;
	oracle->sent[number].bad = junk;
	oracle->sent[number].complain = junk && from == CLIENT;
	free(text);
	free(sound);
}

const char *
peer_large(void)
{
	static char large[PEER_LARGE + 1];

	memset(large, 'x', PEER_LARGE);
	large[0] = large[PEER_LARGE - 1] = '"';
	return large;
}

const char *
peer_payload(struct world *world)
{
	static const char *const texts[] = { "\"x\"", "1.10", "[18446744073709551615,1e300]",
		"\"\\u00e9\\\"id\\\":7\"", "{\"id\":1,\"method\":\"notifications/cancelled\"}",
		"null", "\"\xe2\x80\x8d\xe4\xb8\xad\"", "\"Content-Length: 9\\r\\n\\r\\n\"",
		"\"caf\xe9 \xe2\x82\"", "\"half \\ud83d \\ud83d\\uDE00 \\\\ud83d\"",
		"{\"halves \\uDE00\\uD83D\\ud83d\\ude00\\uD83D\\n\":1}",
		"\"caf\xe9 \xe2\x82 ends \xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7\\u2028\"" };

	if (!chance_percent(&world->chance, world->large) ||
	    (world->oracle.max_message < PEER_LARGE && !world->oracle.initialized))
		return texts[chance_below(&world->chance, sizeof(texts) / sizeof(texts[0]))];
	return peer_large();
}

static void
write_text(struct world *world, int from, const char *text, bool complain)
{
	char *copy = strdup(text);
	int sent;

	if (copy == NULL)
		abort();
	sent = write_bytes(world, from, KIND_JUNK, -1, copy, "");
	world->oracle.sent[sent].complain = complain;
}

static const char *const headlike[] = { "< Content-Length: 40\n\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\nServer: x\r\n\r\n" };

/*
 * Whether the server's last text may be the head of a message: then a brace begins the body of one.
 */
static bool
ends_like_a_head(const struct world *world)
{
	for (int i = world->oracle.sent_count; i-- > 0;) {
		const struct sent *sent = &world->oracle.sent[i];

		if (sent->from == SERVER && strcmp(sent->bytes, "\n") != 0)
			return strcmp(sent->bytes, headlike[0]) == 0 ||
			    strcmp(sent->bytes, headlike[1]) == 0;
	}
	return false;
}

/*
 * Junk between the messages; text that ends without a newline, or like a line of a header, stands
 * before a message.
 */
static void
writes_text(struct world *world, int from)
{
	const char *const texts[] = { "Loading...\n", "{\"level\":30,\"msg\":\"x\"}\n", "\n",
		"\xff\xfe\n", "17\n", "log: {\"level\":\"info\",\"id\":1,\"method\":\"x\"}\n",
		"{\"a\":\n", "Loading...", "Warning: x\r\n", "X-Content-Length: 5\r\n", headlike[0],
		headlike[1] };
	static const char *const client[] = { "Loading...\n", "{\"a\":1}\n", "\n", "17\n",
		"{\"a\":\n" };
	bool header = world->oracle.header && peer_is_open(world);
	const char *text = from == CLIENT ? client[chance_below(&world->chance, 5)] :
					    texts[chance_below(&world->chance, header ? 12 : 7)];

	if (text[0] == '{' && from == SERVER && ends_like_a_head(world))
		text = "Loading...\n";
	write_text(world, from, text, from == CLIENT && text[0] != '\n');
}

/* A frame whose body is not a message. */
static void
writes_no_message(struct world *world, int from)
{
	static const char *const texts[] = { "17", "{\"a\":", "{\"a\":1}", "Loading...", "\xff" };
	char *bytes = framed(world, texts[chance_below(&world->chance, 5)]);
	int sent = write_bytes(world, from, KIND_JUNK, -1, bytes, "");

	world->oracle.sent[sent].complain = from == CLIENT;
}

void
peer_writes_junk(struct world *world, int from)
{
	if (from == CLIENT && !peer_is_open(world))
		return; /* its first bytes show its framing */
	if (chance_percent(&world->chance, 30) && peer_is_open(world))
		writes_no_message(world, from);
	else
		writes_text(world, from);
}

void
peer_writes_among_text(struct world *world, int ask, const char *answer)
{
	char *text = NULL;
	int sent;

	if (asprintf(&text, "loading{ %s\n", answer) < 0)
		abort();
	sent = write_bytes(world, SERVER, KIND_RESPONSE, ask, text, answer);
	world->oracle.sent[sent].salvaged = true;
}

static void
write_update_of(struct world *world, unsigned number, bool idle, bool text, int mode)
{
	char session[16], update[96] = "";
	int sent;

	snprintf(session, sizeof(session), "\"s%u\"", number);
	snprintf(update, sizeof(update),
	    "\"update\":{\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"m%d\"},",
	    mode);
	sent = peer_says(world, SERVER, KIND_UPDATE, -1,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"q\":%d,\"p\":%s,%s\"sessionId\":%s}}",
	    peer_next(world), peer_payload(world),
	    idle         ? "\"update\":{\"state\":\"idle\"}," :
		text     ? "\"update\":{\"sessionUpdate\":\"agent_message_chunk\"}," :
		mode > 0 ? update :
			   "",
	    session);
	world->oracle.sent[sent].mode = mode;
	snprintf(world->oracle.sent[sent].session, sizeof(session), "%s", session);
	world->oracle.sent[sent].idle = idle;
	world->oracle.sent[sent].of_turn = text;
}

static void
write_update(struct world *world)
{
	bool idle = world->oracle.version > 1 && chance_percent(&world->chance, 40);
	bool text = !idle && !world->in_batch && chance_percent(&world->chance, 50);
	bool tells = world->strays && !idle && !text && !world->in_batch;
	int mode = tells ? (int)chance_below(&world->chance, 1 + PEER_MODES) : 0;

	write_update_of(world, chance_below(&world->chance, PEER_SESSIONS), idle, text, mode);
}

void
peer_repeats_history(struct world *world)
{
	for (unsigned i = 0; i < PEER_SESSIONS; i++)
		if (world->oracle.sessions[i].opening && chance_percent(&world->chance, 40))
			write_update_of(world, i, false, true, 0);
}

void
peer_changes_mode(struct world *world)
{
	const struct oracle *oracle = &world->oracle;

	for (unsigned i = 0; i < PEER_SESSIONS; i++)
		if (oracle->sessions[i].mode >= 0) {
			write_update_of(world, i, false, false,
			    1 + oracle->asks[oracle->sessions[i].mode].mode % PEER_MODES);
			return;
		}
}

/* MCP: behind a handshake only it opens the session. */
static const char *
some_notice(struct world *world)
{
	bool late = world->oracle.modern && !world->restarts && chance_percent(&world->chance, 30);

	return late ? world->oracle.protocol->opened : "it/changed";
}

void
peer_writes_notice(struct world *world, int from)
{
	if (from == SERVER && world->oracle.protocol == &protocols[ACP])
		write_update(world);
	else
		peer_says(world, from, KIND_NOTICE, -1,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"q\":%d,\"p\":%s}}",
		    from == CLIENT ? some_notice(world) : world->oracle.protocol->notice,
		    peer_next(world), peer_payload(world));
}
