#include "state.h"

void
server_enter(struct server *server, enum server_life life)
{
	server->life = life;
	if (life == SERVER_AWAY) {
		server->served = server->shut = server->spoke_text = server->logged_in = false;
		buf_clear(&server->said);
		server->kept = 0;
	}
	if (life == SERVER_HANDSHAKE)
		server->restarted = true;
}

/* Shortens the words to their first `kept` bytes, and as much of their end as is quoted. */
static void
shorten(struct buf *words, size_t kept)
{
	struct span end = span_from(buf_span(words), kept);
	size_t excess = end.len - span_last_lines(end, LIMIT_LAST_WORDS - kept).len;

	if (excess == 0)
		return;
	memmove(words->data + words->head + excess, words->data + words->head, kept);
	buf_consume(words, excess);
}

void
server_note_said(struct server *server, struct span text)
{
	buf_append(&server->said, text);
	shorten(&server->said, server->kept);
	compose_text(&server->said, "\n");
}

void
server_keep_said(struct server *server, struct span text)
{
	server_note_said(server, text);
	server->kept = server->said.len;
}

void
server_serves(struct server *server)
{
	if (!server->served)
		buf_clear(&server->said);
	server->served = true;
	server->kept = 0;
}

const char *
server_looks_like(const struct server *server, enum framing framing, struct span text, bool whole)
{
	bool lines = framing == FRAMING_NEWLINE;
	struct scan scan;

	if (server->served || text.len == 0)
		return NULL;
	if (lines && framing_names_length(text))
		return "headers, where lines are expected";
	if (!framing_begins_json(text))
		return NULL;
	scan_read(&scan, text);
	if (whole)
		return scan.fault == SCAN_CUT ? "one message over several lines" : NULL;
	if (memchr(text.ptr, '\r', text.len) != NULL)
		return "lines that end with CR alone";
	if (scan.fault != SCAN_FINE)
		return NULL;
	return lines ? "a message without its newline" :
		       "a message without its header (Content-Length)";
}

/* Quotes what has come of the server's first message, whose end has not come. */
static void
quote_unfinished(struct server *server, const struct lane *lane)
{
	struct span text = span_skip_space(lane_undecided(lane));
	const char *looks = server_looks_like(server, lane->framing, text, false);

	if (looks != NULL && server->quote.len == 0)
		compose_text(&server->quote, "its output looks like %s: %b", looks,
		    span_head(text, LIMIT_FIRST));
}

void
session_quote(struct session *session, struct span words)
{
	struct server *server = &session->server;
	struct buf *quote = &server->quote;

	buf_set(quote, buf_span(&server->said));
	quote_unfinished(server, session->server_party.lane);
	buf_append(quote, words);
	while (quote->len > 0 && strchr("\r\n", buf_span(quote).ptr[quote->len - 1]) != NULL)
		quote->len--;
	if (quote->len > server->kept)
		shorten(quote, server->kept);
}

void
session_refuse(struct session *session, struct span words)
{
	buf_set(&session->server.refusal, words);
	session->server.unstarted = true;
}

void
session_explain(struct session *session, const char *obstacle)
{
	session->server.obstacle = obstacle;
}
