#ifndef CORE_COMPOSE_H
#define CORE_COMPOSE_H

/* The messages that canceld writes itself. Each function appends to a buf; messages are whole, and not framed. */

#include <stdbool.h>

#include "core/buf.h"
#include "core/timeline.h"
#include "core/dialect.h"

/*
 * Appends JSON or text. In the format ' stands for a quote, %s for a const char *, %d for an int64_t, %b for the bytes of
 * a span, %t for the text of a span as a JSON string, %m for a last member _meta with the raw members in a span, or
 * nothing if that is empty.
 */
void compose(struct buf *out, const char *format, ...);

#define COMPOSE_NOTIFICATION "{'jsonrpc':'2.0','method':'%s'}"
#define COMPOSE_RESULT "{'jsonrpc':'2.0','id':%b,'result':%s}"
#define COMPOSE_TURN_CANCEL "{'jsonrpc':'2.0','method':'%s','params':{'sessionId':%b}}" /* ACP "Prompt Turn" */

struct answer {
	struct span id; /* as spelled; empty: null, or left out with omit_id */
	bool omit_id;
	int code;
	struct span message;   /* UTF-8 text, not escaped; canceld's name is put before it */
	const char *code_name; /* error.data.code, without other data; NULL: see cause */
	const char *cause;     /* error.data.cause; NULL: no data at all */
	bool cancelled;
	struct span method; /* not escaped; empty: left out, as elapsed and timeout are */
	msec_t elapsed;
	msec_t timeout;     /* MSEC_NEVER: left out */
	int status, signal; /* exit status and signal of a server that has ended; -1: left out */
};

void compose_error(struct buf *out, const struct answer *answer);

/* The same as a tools/call result with isError, which the model reads; modern: adds resultType. */
void compose_tool_error(struct buf *out, const struct answer *answer, bool modern);

/* A cancel. id and reason as spelled; meta: raw members of _meta, joined by commas. Empty ones are left out. */
void compose_cancel(struct buf *out, const struct cancel *cancel, struct span id, struct span reason, struct span meta);

/* The reason in canceld's own cancels; always the same, as the receiver cannot tell a deadline from an abort. */
#define COMPOSE_REASON(requester) SPAN("\"The " requester " no longer waits for the answer\"")

#endif
