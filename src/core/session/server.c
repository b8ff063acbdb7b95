#include "core/state.h"

#include "core/limits.h"
#include "core/json.h"

void
server_init(struct server *server)
{
	*server = (struct server){ .life = SERVER_OPEN, .status = -1, .signal = -1 };
	buf_init(&server->said);
	buf_init(&server->quote);
	buf_init(&server->refusal);
}

void
server_free(struct server *server)
{
	buf_free(&server->said);
	buf_free(&server->quote);
	buf_free(&server->refusal);
}

void
server_enter(struct server *server, enum server_life life)
{
	server->life = life;
	if (life == SERVER_AWAY) {
		server->served = server->shut = false;
		buf_clear(&server->said);
	}
	if (life == SERVER_HANDSHAKE)
		server->restarted = true;
}

void
server_end(struct server *server, enum server_life life, int status, int signal)
{
	server->status = status;
	server->signal = signal;
	server_enter(server, life);
}

void
server_note_served(struct server *server)
{
	server->served = true;
}

/* As much of the end as is quoted, without line ends behind it. */
static struct span
last_words(struct span words)
{
	while (words.len > 0 && (words.ptr[words.len - 1] == '\n' || words.ptr[words.len - 1] == '\r'))
		words.len--;
	return words.len > LIMIT_LAST_WORDS ? span_part(words, words.len - LIMIT_LAST_WORDS, LIMIT_LAST_WORDS) : words;
}

void
server_note_said(struct server *server, struct span text)
{
	buf_append(&server->said, last_words(text));
	buf_append(&server->said, SPAN("\n"));
	if (server->said.len > LIMIT_LAST_WORDS)
		buf_consume(&server->said, server->said.len - LIMIT_LAST_WORDS);
}

/* What is no valid UTF-8 becomes '?'. */
static void
append_words(struct buf *text, struct span words)
{
	size_t at, len;

	for (at = 0; at<words.len; at += len> 0 ? len : 1) {
		len = utf8_length(words, at);
		buf_append(text, len > 0 ? span_part(words, at, len) : SPAN("?"));
	}
}

void
server_quote(struct server *server, struct span words)
{
	struct span all;
	struct buf both;

	buf_init(&both);
	buf_append(&both, buf_span(&server->said));
	buf_append(&both, words);
	all = last_words(buf_span(&both));
	buf_clear(&server->quote);
	append_words(&server->quote, all);
	buf_free(&both);
}

void
server_refuse(struct server *server, struct span words)
{
	buf_clear(&server->refusal);
	append_words(&server->refusal, words);
}
