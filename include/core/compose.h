#ifndef CORE_COMPOSE_H
#define CORE_COMPOSE_H

/* The messages that canceld writes itself. Each function appends one whole message, not framed, to a buf. */

#include <stdbool.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/dialect.h"

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

/* ACP "Prompt Turn: Cancellation"; session_id as spelled. */
void compose_turn_cancel(struct buf *out, const char *method, struct span session_id);

/* A notification without params. */
void compose_notification(struct buf *out, const char *method);

/* The probe; id as spelled. */
void compose_probe(struct buf *out, const char *method, struct span id, struct span meta);

/* A response; id as spelled, result a JSON text. */
void compose_result(struct buf *out, struct span id, const char *result);

/* The acknowledgement of a cancel: id and target as spelled, outcome raw members. */
void compose_acknowledgement(struct buf *out, struct span id, struct span target, const char *outcome);

/* The request that cancels a task; id and task_id as spelled. */
void compose_task_cancel(struct buf *out, const struct dialect *dialect, struct span id, struct span task_id,
    struct span meta);

void compose_number(struct buf *out, int64_t number);

/* text in quotes, escaped as RFC 8259 section 7 requires. */
void compose_string(struct buf *out, struct span text);

#endif
