#include "core/compose.h"

#include <stdarg.h>
#include <string.h>

#include "core/json.h"

static void
put_escape(struct buf *out, unsigned unit)
{
	static const char hex[] = "0123456789abcdef";
	char escape[] = { '\\', 'u', hex[unit >> 12], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15] };

	buf_append(out, (struct span){ escape, sizeof(escape) });
}

/* The text in quotes, escaped as RFC 8259 section 7 requires. */
static void
put_string(struct buf *out, struct span text)
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

void
compose(struct buf *out, const char *format, ...)
{
	char storage[SPAN_NUMBER_MAX];
	struct span bytes;
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
			buf_append(out, span_number(va_arg(values, int64_t), storage));
		else if (*at == 'b')
			buf_append(out, va_arg(values, struct span));
		else if (*at == 't')
			put_string(out, va_arg(values, struct span));
		else if ((bytes = va_arg(values, struct span)).len > 0)
			compose(out, ",'_meta':{%b}", bytes);
	}
	va_end(values);
}

static void
put_data(struct buf *out, const struct answer *answer)
{
	compose(out, "{'cause':'%s','cancelled':%s", answer->cause, answer->cancelled ? "true" : "false");
	if (answer->method.len > 0) {
		compose(out, ",'method':%t", answer->method);
		compose(out, ",'elapsedMs':%d", answer->elapsed);
	}
	if (answer->timeout != MSEC_NEVER)
		compose(out, ",'timeoutMs':%d", answer->timeout);
	if (answer->status >= 0)
		compose(out, ",'status':%d", (int64_t)answer->status);
	if (answer->signal >= 0)
		compose(out, ",'signal':%d", (int64_t)answer->signal);
	compose(out, "}");
}

void
compose_error(struct buf *out, const struct answer *answer)
{
	compose(out, "{'jsonrpc':'2.0'");
	if (answer->id.len > 0 || !answer->omit_id)
		compose(out, ",'id':%b", answer->id.len > 0 ? answer->id : SPAN("null"));
	compose(out, ",'error':{'code':%d,'message':%t", (int64_t)answer->code, answer->message);
	if (answer->code_name != NULL) {
		compose(out, ",'data':{'code':'%s'}", answer->code_name);
	} else if (answer->cause != NULL) {
		compose(out, ",'data':");
		put_data(out, answer);
	}
	compose(out, "}}");
}

void
compose_tool_error(struct buf *out, const struct answer *answer, bool modern)
{
	compose(out, "{'jsonrpc':'2.0','id':%b,'result':{%s'content':[{'type':'text','text':%t}],'isError':true,",
	    answer->id, modern ? "\"resultType\":\"complete\"," : "", answer->message);
	compose(out, "'_meta':{'canceld/error':");
	put_data(out, answer);
	compose(out, "}}}");
}

void
compose_cancel(struct buf *out, const struct cancel *cancel, struct span id, struct span reason, struct span meta)
{
	compose(out, "{'jsonrpc':'2.0','method':'%s','params':{'%s':%b", cancel->method, cancel->key, id);
	if (reason.len > 0)
		compose(out, ",'reason':%b", reason);
	compose(out, "%m}}", meta);
}
