#include "core/compose.h"

#include <stdarg.h>

#include "core/json.h"

/*
 * As the text of a string, escaped as RFC 8259 section 7 requires. What is not UTF-8 becomes '?'.
 */
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
		if (c < 0x20)
			buf_append(out, span_at(escape, sizeof(escape)));
		else
			buf_append(out, len > 0 ? span_part(text, 0, len) : SPAN("?"));
	}
}

void
compose(struct buf *out, const char *format, ...)
{
	char storage[SPAN_NUMBER_MAX];
	struct span bytes;
	va_list values;
	size_t plain;

	va_start(values, format);
	do {
		plain = strcspn(format, "'%");
		buf_append(out, span_at(format, plain));
		format += plain;
		format += *format == '%';
		switch (*format) {
		case '\0':
			break;
		case '\'':
			buf_append(out, SPAN("\""));
			break;
		case 's':
			buf_append(out, span_of(va_arg(values, const char *)));
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
				compose(out, ",'_meta':{%b}", bytes);
			break;
		default:
			assert(false && "no conversion of compose");
		}
	} while (*format++ != '\0');
	va_end(values);
}
