#ifndef CTL_CTL_H
#define CTL_CTL_H

/* What all commands of cancelctl share: exit statuses, and errors on stderr. */

#include <stdbool.h>

enum {
	CTL_YES = 0,      /* done; the answer is yes */
	CTL_NO = 1,       /* not found, not done, or the answer is no */
	CTL_USAGE = 2,    /* the command line is wrong */
	CTL_FAILED = 125, /* cancelctl itself failed */
};

/* Writes one line, "cancelctl: ", to stderr, and returns the status. */
int ctl_tell(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ctl_no(...) ctl_tell(CTL_NO, __VA_ARGS__)
#define ctl_usage(...) ctl_tell(CTL_USAGE, __VA_ARGS__)
#define ctl_failed(...) ctl_tell(CTL_FAILED, __VA_ARGS__)

/* An option of a command; -h and --help are added. */
struct ctl_option {
	const char *name;
	char letter;       /* 0: none */
	bool *flag;        /* set to true; or NULL: the option has a value */
	const char **text; /* set to the value */
};

/*
 * Reads the options, which end with a name NULL, up to argv[optind]. -1, or the status to exit with: CTL_YES if the usage was
 * asked for and shown. stops: at the first word that is no option; else the words come to stand behind all options.
 */
int ctl_options(int argc, char *argv[], const struct ctl_option *options, bool stops, const char *usage);

/*
 * The command line of ls and stats: -j, -h, and at most one canceld; *which stays NULL if none is given. -1, or the
 * status to exit with.
 */
int ctl_words(int argc, char *argv[], const char *usage, bool *json, const char **which);

/* canceld itself: beside the program that runs now, else in PATH. false: nowhere, or its path is not UTF-8. */
enum { PROGRAM_SIZE = 4096 };
bool program_canceld(char path[PROGRAM_SIZE]);

#endif
