#ifndef CTL_CTL_H
#define CTL_CTL_H

/* What all commands of cancelctl share: exit statuses, and errors on stderr. */

enum {
	CTL_YES = 0,      /* done; the answer is yes */
	CTL_NO = 1,       /* not found, not done, or the answer is no */
	CTL_USAGE = 2,    /* the command line is wrong */
	CTL_FAILED = 125, /* cancelctl itself failed */
};

/* Each writes one line, "cancelctl: ", to stderr, and returns the status of its name. */
int ctl_no(const char *format, ...) __attribute__((format(printf, 1, 2)));
int ctl_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
int ctl_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For getopt_long with opterr 0 and optstring ":...": what it refused (it returned `got`), as a line on stderr. */
int ctl_option(char *argv[], int got);

/* The text to stdout: the usage of a command. */
int ctl_help(const char *text);

#endif
