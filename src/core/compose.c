#include "core/compose.h"

#include <stdarg.h>
#include <string.h>

#include "core/utf8.h"

void
compose_number(struct buf *out, int64_t number)
{
	char storage[SPAN_NUMBER_MAX];

	buf_append(out, span_number(number, storage));
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

	buf_append(out, SPAN("\""));
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c < 0x20) {
			put_escape(out, c);
		} else if ((unit = utf8_surrogate(text, i)) != 0) {
			put_escape(out, unit);
			i += 2;
		} else {
			if (c == '"' || c == '\\')
				buf_append(out, SPAN("\\"));
			buf_append(out, span_part(text, i, 1));
		}
	}
	buf_append(out, SPAN("\""));
}

/*
 * Appends JSON: ' in the format stands for a quote, %s for a const char *, %d for an int64_t, %b for the bytes of a
 * span, %t for the JSON string of the text in a span.
 */
static void
put(struct buf *out, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	for (const char *at = format; *at != '\0'; at++) {
		if (*at == '\'')
			buf_append(out, SPAN("\""));
		else if (*at != '%')
			buf_append(out, (struct span){ at, 1 });
		else if (*++at == 's')
			buf_append(out, span_of(va_arg(values, const char *)));
		else if (*at == 'd')
			compose_number(out, va_arg(values, int64_t));
		else if (*at == 'b')
			buf_append(out, va_arg(values, struct span));
		else
			compose_string(out, va_arg(values, struct span));
	}
	va_end(values);
}

static void
put_member(struct buf *out, const char *key, int64_t number)
{
	put(out, ",'%s':%d", key, number);
}

static void
put_data(struct buf *out, const struct answer *answer)
{
	put(out, "{'cause':'%s','cancelled':%s", answer->cause, answer->cancelled ? "true" : "false");
	if (answer->method.len > 0) {
		put(out, ",'method':%t", answer->method);
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

void
compose_error(struct buf *out, const struct answer *answer)
{
	put(out, "{'jsonrpc':'2.0'");
	if (answer->id.len > 0 || !answer->omit_id)
		put(out, ",'id':%b", answer->id.len > 0 ? answer->id : SPAN("null"));
	put(out, ",'error':{'code':%d,'message':%t", (int64_t)answer->code, answer->message);
	if (answer->code_name != NULL) {
		put(out, ",'data':{'code':'%s'}", answer->code_name);
	} else if (answer->cause != NULL) {
		put(out, ",'data':");
		put_data(out, answer);
	}
	put(out, "}}");
}

void
compose_tool_error(struct buf *out, const struct answer *answer, bool modern)
{
	put(out, "{'jsonrpc':'2.0','id':%b,'result':{%s'content':[{'type':'text','text':%t}],'isError':true,",
	    answer->id, modern ? "\"resultType\":\"complete\"," : "", answer->message);
	put(out, "'_meta':{'canceld/error':");
	put_data(out, answer);
	put(out, "}}}");
}

static void
put_meta(struct buf *out, struct span meta)
{
	if (meta.len > 0)
		put(out, ",'_meta':{%b}", meta);
}

void
compose_cancel(struct buf *out, const struct cancel *cancel, struct span id, struct span reason, struct span meta)
{
	put(out, "{'jsonrpc':'2.0','method':'%s','params':{'%s':%b", cancel->method, cancel->key, id);
	if (reason.len > 0)
		put(out, ",'reason':%b", reason);
	put_meta(out, meta);
	put(out, "}}");
}

void
compose_turn_cancel(struct buf *out, const char *method, struct span session_id)
{
	put(out, "{'jsonrpc':'2.0','method':'%s','params':{'sessionId':%b}}", method, session_id);
}

void
compose_notification(struct buf *out, const char *method)
{
	put(out, "{'jsonrpc':'2.0','method':'%s'}", method);
}

void
compose_probe(struct buf *out, const char *method, struct span id, struct span meta)
{
	put(out, "{'jsonrpc':'2.0','id':%b,'method':'%s'", id, method);
	if (meta.len > 0)
		put(out, ",'params':{'_meta':{%b}}", meta);
	put(out, "}");
}

void
compose_result(struct buf *out, struct span id, const char *result)
{
	put(out, "{'jsonrpc':'2.0','id':%b,'result':%s}", id, result);
}

void
compose_acknowledgement(struct buf *out, struct span id, struct span target, const char *outcome)
{
	put(out, "{'jsonrpc':'2.0','id':%b,'result':{'id':%b,%s}}", id, target, outcome);
}

void
compose_task_cancel(struct buf *out, const struct dialect *dialect, struct span id, struct span task_id,
    struct span meta)
{
	put(out, "{'jsonrpc':'2.0','id':%b,'method':'%s','params':{'taskId':%b", id, dialect->task_cancel, task_id);
	put_meta(out, meta);
	put(out, "}}");
}
