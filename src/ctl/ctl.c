#include "ctl/ctl.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/buf.h"
#include "shell/printable.h"

static __attribute__((format(printf, 2, 0))) int
report(int status, const char *format, va_list values)
{
	char words[1024];
	struct buf line;

	buf_init(&line);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is not seen behind other files */
	vsnprintf(words, sizeof(words), format, values);
	buf_append(&line, SPAN("cancelctl: "));
	printable_append(&line, span_of(words), "");
	buf_append(&line, SPAN("\n"));
	fwrite(line.data, 1, line.len, stderr);
	buf_free(&line);
	return status;
}

int
ctl_no(const char *format, ...)
{
	va_list values;
	int status;

	va_start(values, format);
	status = report(CTL_NO, format, values);
	va_end(values);
	return status;
}

int
ctl_usage(const char *format, ...)
{
	va_list values;
	int status;

	va_start(values, format);
	status = report(CTL_USAGE, format, values);
	va_end(values);
	return status;
}

int
ctl_failed(const char *format, ...)
{
	va_list values;
	int status;

	va_start(values, format);
	status = report(CTL_FAILED, format, values);
	va_end(values);
	return status;
}
