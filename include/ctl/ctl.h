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

/* For getopt_long with opterr 0 and optstring ":...": what it refused (it returned `got`), as a line on stderr. */
int ctl_option(char *argv[], int got);

/* The text to stdout: the usage of a command. */
int ctl_help(const char *text);

/*
 * The command line of ls and stats: -j, -h, and at most one canceld; *which stays NULL if none is given. -1, or the
 * status to exit with.
 */
int ctl_words(int argc, char *argv[], const char *usage, bool *json, const char **which);

#endif
