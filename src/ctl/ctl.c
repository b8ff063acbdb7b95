#include "ctl/ctl.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "shell/printable.h"

static __attribute__((format(printf, 2, 0))) int
report(int status, const char *format, va_list values)
{
	char words[1024];
	struct buf line;

	buf_init(&line);
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

int
ctl_option(char *argv[], int got)
{
	/* A long option has no letter; the one that was refused is then the word before the next one. */
	const char *word = argv[optind - 1];

	if (got == ':')
		return ctl_usage("the option '%.60s' needs a value; see cancelctl %s --help", word, argv[0]);
	if (optopt != 0 && strncmp(word, "--", 2) != 0)
		return ctl_usage("unknown option '-%c'; see cancelctl %s --help", optopt, argv[0]);
	return ctl_usage("unknown option '%.60s'; see cancelctl %s --help", word, argv[0]);
}

int
ctl_help(const char *text)
{
	fputs(text, stdout);
	return CTL_YES;
}
