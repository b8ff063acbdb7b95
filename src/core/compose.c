#include "core/compose.h"

#include <string.h>

#include "core/utf8.h"

static void
put(struct buf *out, const char *text)
{
	buf_append(out, (struct span){ text, strlen(text) });
}

void
compose_number(struct buf *out, int64_t number)
{
	char digits[24], *first = digits + sizeof(digits);
	uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	do
		*--first = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (number < 0)
		*--first = '-';
	buf_append(out, (struct span){ first, (size_t)(digits + sizeof(digits) - first) });
}

static void
put_escape(struct buf *out, unsigned unit)
{
	static const char hex[] = "0123456789abcdef";
	char escape[] = { '\\', 'u', hex[unit >> 12], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15] };

	buf_append(out, (struct span){ escape, sizeof(escape) });
}

void
compose_string(struct buf *out, struct span text)
{
	unsigned unit;
	size_t i;

	put(out, "\"");
	for (i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c < 0x20) {
			put_escape(out, c);
		} else if ((unit = utf8_surrogate(text, i)) != 0) {
			put_escape(out, unit);
			i += 2;
		} else {
			if (c == '"' || c == '\\')
				put(out, "\\");
			buf_append(out, span_part(text, i, 1));
		}
	}
	put(out, "\"");
}

static void
put_member(struct buf *out, const char *key, int64_t number)
{
	put(out, ",\"");
	put(out, key);
	put(out, "\":");
	compose_number(out, number);
}

static void
put_data(struct buf *out, const struct answer *answer)
{
	put(out, "{\"cause\":\"");
	put(out, answer->cause);
	put(out, answer->cancelled ? "\",\"cancelled\":true" : "\",\"cancelled\":false");
	if (answer->method.len > 0) {
		put(out, ",\"method\":");
		compose_string(out, answer->method);
		put_member(out, "elapsedMs", answer->elapsed);
	}
	if (answer->timeout != MSEC_NEVER)
		put_member(out, "timeoutMs", answer->timeout);
	if (answer->status >= 0)
		put_member(out, "status", answer->status);
	if (answer->signal >= 0)
		put_member(out, "signal", answer->signal);
	put(out, "}");
}

static void
put_head(struct buf *out, struct span id)
{
	put(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_append(out, id.len > 0 ? id : SPAN("null"));
}

void
compose_error(struct buf *out, const struct answer *answer)
{
	if (answer->omit_id && answer->id.len == 0)
		put(out, "{\"jsonrpc\":\"2.0\"");
	else
		put_head(out, answer->id);
	put(out, ",\"error\":{\"code\":");
	compose_number(out, answer->code);
	put(out, ",\"message\":");
	compose_string(out, answer->message);
	if (answer->code_name != NULL) {
		put(out, ",\"data\":{\"code\":\"");
		put(out, answer->code_name);
		put(out, "\"}");
	} else if (answer->cause != NULL) {
		put(out, ",\"data\":");
		put_data(out, answer);
	}
	put(out, "}}");
}

void
compose_tool_error(struct buf *out, const struct answer *answer, bool modern)
{
	put_head(out, answer->id);
	put(out, ",\"result\":{");
	if (modern)
		put(out, "\"resultType\":\"complete\",");
	put(out, "\"content\":[{\"type\":\"text\",\"text\":");
	compose_string(out, answer->message);
	put(out, "}],\"isError\":true,\"_meta\":{\"canceld/error\":");
	put_data(out, answer);
	put(out, "}}}");
}

static void
put_meta(struct buf *out, struct span meta)
{
	if (meta.len == 0)
		return;
	put(out, ",\"_meta\":{");
	buf_append(out, meta);
	put(out, "}");
}

void
compose_cancel(struct buf *out, const struct cancel *cancel, struct span id, struct span reason, struct span meta)
{
	put(out, "{\"jsonrpc\":\"2.0\",\"method\":\"");
	put(out, cancel->method);
	put(out, "\",\"params\":{\"");
	put(out, cancel->key);
	put(out, "\":");
	buf_append(out, id);
	if (reason.len > 0) {
		put(out, ",\"reason\":");
		buf_append(out, reason);
	}
	put_meta(out, meta);
	put(out, "}}");
}

void
compose_turn_cancel(struct buf *out, const char *method, struct span session_id)
{
	put(out, "{\"jsonrpc\":\"2.0\",\"method\":\"");
	put(out, method);
	put(out, "\",\"params\":{\"sessionId\":");
	buf_append(out, session_id);
	put(out, "}}");
}

void
compose_notification(struct buf *out, const char *method)
{
	put(out, "{\"jsonrpc\":\"2.0\",\"method\":\"");
	put(out, method);
	put(out, "\"}");
}

void
compose_probe(struct buf *out, const char *method, struct span id, struct span meta)
{
	put_head(out, id);
	put(out, ",\"method\":\"");
	put(out, method);
	put(out, "\"");
	if (meta.len > 0) {
		put(out, ",\"params\":{\"_meta\":{");
		buf_append(out, meta);
		put(out, "}}");
	}
	put(out, "}");
}

void
compose_result(struct buf *out, struct span id, const char *result)
{
	put_head(out, id);
	put(out, ",\"result\":");
	put(out, result);
	put(out, "}");
}

void
compose_acknowledgement(struct buf *out, struct span id, struct span target, const char *outcome)
{
	put_head(out, id);
	put(out, ",\"result\":{\"id\":");
	buf_append(out, target);
	put(out, ",");
	put(out, outcome);
	put(out, "}}");
}

void
compose_task_cancel(struct buf *out, const struct dialect *dialect, struct span id, struct span task_id,
    struct span meta)
{
	put_head(out, id);
	put(out, ",\"method\":\"");
	put(out, dialect->task_cancel);
	put(out, "\",\"params\":{\"taskId\":");
	buf_append(out, task_id);
	put_meta(out, meta);
	put(out, "}}");
}
