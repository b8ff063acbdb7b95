#include "ctl/ctl.h"

#include <getopt.h>
#include <stdarg.h>

#include "core/compose.h"
#include "ctl/show.h"
#include "shell/words.h"

enum { OPTIONS_MOST = 12, NO_LETTER = 256 /* and its number: an option without a letter */ };

int
ctl_tell(int status, const char *format, ...)
{
	BUF_AUTO line = { 0 };
	char words[20 << 10];
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	compose_text(&line, "cancelctl: ");
	printable_append(&line, span_of(words), "");
	compose_text(&line, "\n");
	fwrite(line.data, 1, line.len, stderr);
	return status;
}

int
ctl_unknown(const char *kind, const struct nearest *nearest, const char *where)
{
	return ctl_usage("unknown %s '%.*s'%s; %s", kind, (int)nearest->typed.len,
	    nearest->typed.ptr, nearest->told, where);
}

/* What getopt_long refused (it returned `got`), as a line on stderr. */
static int
refuse(char *argv[], const struct option *known, int got)
{
	const char *word = argv[optind - 1];
	struct nearest nearest = { .option = true };

	if (got == ':')
		return ctl_usage("the option '%.60s' needs a value; see cancelctl %s --help", word,
		    argv[0]);
	/* A letter in the middle of its word is told alone. */
	if (optopt != 0 && !text_begins(word, "--"))
		return ctl_usage("unknown option '-%c'; see cancelctl %s --help", optopt, argv[0]);
	for (nearest.typed = span_until(span_of(word + 2), "="); known->name != NULL; known++)
		nearest_offer(&nearest, known->name);
	return ctl_usage("unknown option '%.60s'%s; see cancelctl %s --help", word, nearest.told,
	    argv[0]);
}

int
ctl_options(int argc, char *argv[], const struct ctl_option *options, bool stops, const char *usage)
{
	struct option all[OPTIONS_MOST + 2] = { 0 };
	char letters[2 * OPTIONS_MOST + 4];
	size_t len = (size_t)print_into(letters, "%s:h", stops ? "+" : "");
	int count, got, i;

	for (count = 0; count < OPTIONS_MOST && options[count].name != NULL; count++) {
		const struct ctl_option *option = &options[count];
		bool value = option->name[0] == '=';

		all[count] =
		    (struct option){ option->name + value, value ? required_argument : no_argument,
			    NULL, option->letter != 0 ? option->letter : NO_LETTER + count };
		if (option->letter != 0)
			len += (size_t)snprintf(letters + len, sizeof(letters) - len, "%c%s",
			    option->letter, value ? ":" : "");
	}
	all[count] = (struct option){ "help", no_argument, NULL, 'h' };
	optind = 0;
	opterr = 0;
	while ((got = getopt_long(argc, argv, letters, all, NULL)) >= 0) {
		for (i = 0; i < count && all[i].val != got; i++)
			continue;
		if (got == 'h') {
			fputs(usage, stdout);
			return CTL_YES;
		}
		if (i == count)
			return refuse(argv, all, got);
		if (all[i].has_arg == required_argument)
			*(const char **)options[i].set = optarg;
		else
			*(bool *)options[i].set = true;
	}
	return -1;
}

void
ctl_line(int argc, char *argv[], const struct ctl_option *options, int most, const char *usage)
{
	int status = ctl_options(argc, argv, options, most == CTL_STOPS, usage);

	if (status < 0 && most != CTL_STOPS && argc - optind > most)
		status = ctl_usage("'%.100s' is one argument too many; see cancelctl %s --help",
		    argv[optind + most], argv[0]);
	if (status >= 0)
		exit(ctl_end(status));
}

int
ctl_cut(int argc, char *argv[], char ***behind)
{
	int words = 1;

	while (words < argc && !text_is(argv[words], "--"))
		words++;
	*behind = argv + words + (words < argc);
	argv[words] = NULL;
	return words;
}

void
ctl_add_words(char ***list, char *const *words)
{
	size_t count = 0;

	while (*list != NULL && (*list)[count] != NULL)
		count++;
	for (bool more = words != NULL; more; words++) {
		more = *words != NULL;
		mem_room(*list, count + 1);
		(*list)[count++] = *words;
	}
}

int ctl_least = CTL_YES;

void
ctl_unread(const char *directory, const char *why)
{
	static json_t *told;

	told = told != NULL ? told : json_object();
	if (show_has(told, directory))
		return;
	json_object_set_new_nocheck(told, directory, json_true());
	ctl_tell(CTL_YES, "%s: %s", directory, why);
	if (why != home_foreign)
		ctl_least = CTL_FAILED;
}

bool
ctl_folder(const char *directory)
{
	const char *why;

	errno = 0;
	why = home_obstacle(directory);
	if (why != NULL && errno != ENOENT)
		ctl_unread(directory, why);
	return why == NULL;
}

int
ctl_end(int status)
{
	int fault = show_flush();

	status = status < ctl_least ? ctl_least : status;
	return fault == 0 || fault == EPIPE ? status :
					      ctl_failed("standard output: %s", strerror(fault));
}
