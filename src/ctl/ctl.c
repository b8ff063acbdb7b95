#include "ctl/ctl.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "shell/printable.h"

int
ctl_tell(int status, const char *format, ...)
{
	char words[1024];
	struct buf line;
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	buf_init(&line);
	buf_append(&line, SPAN("cancelctl: "));
	printable_append(&line, span_of(words), "");
	buf_append(&line, SPAN("\n"));
	fwrite(line.data, 1, line.len, stderr);
	buf_free(&line);
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

int
ctl_words(int argc, char *argv[], const char *usage, bool *json, const char **which)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int got;

	optind = 0;
	opterr = 0;
	while ((got = getopt_long(argc, argv, ":jh", options, NULL)) >= 0) {
		if (got == 'h')
			return ctl_help(usage);
		if (got != 'j')
			return ctl_option(argv, got);
		*json = true;
	}
	if (argc - optind > 1)
		return ctl_usage("more than one canceld is given; see cancelctl %s --help", argv[0]);
	*which = argv[optind];
	return -1;
}
