#include "core/compose.h"

#include <stdarg.h>

#include "core/json.h"

static void
put_escaped(struct buf *out, struct span text)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t len; text.len > 0; text = span_from(text, len > 0 ? len : 1)) {
		unsigned char c = (unsigned char)text.ptr[0];
		char escape[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

		len = utf8_length(text);
		if (c == '"' || c == '\\')
			buf_append(out, SPAN("\\"));
		buf_append(out,
		    c < 0x20    ? span_at(escape, sizeof(escape)) :
			len > 0 ? span_head(text, len) :
				  SPAN("?"));
	}
}

static void
put(struct buf *out, bool json, const char *format, va_list values)
{
	char storage[SPAN_NUMBER_MAX];
	struct span bytes;
	size_t plain;

	do {
		plain = strcspn(format, "%");
		buf_append(out, span_at(format, plain));
		format += plain;
		format += *format == '%';
		switch (*format) {
		case '\0':
			break;
		case 's':
			bytes = span_of(va_arg(values, const char *));
			(json ? put_escaped : buf_append)(out, bytes);
			break;
		case 'd':
			buf_append(out, span_number(va_arg(values, int64_t), storage));
			break;
		case 'b':
			buf_append(out, va_arg(values, struct span));
			break;
		case 'e':
			put_escaped(out, va_arg(values, struct span));
			break;
		case 'm':
			if ((bytes = va_arg(values, struct span)).len > 0)
				compose_json(out, ",\"_meta\":{%b}", bytes);
			break;
		default:
			assert(false && "no such conversion");
		}
	} while (*format++ != '\0');
}

void
compose_text(struct buf *out, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	put(out, false, format, values);
	va_end(values);
}

void
compose_json(struct buf *out, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	put(out, true, format, values);
	va_end(values);
}
