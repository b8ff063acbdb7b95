#ifndef SHELL_OPTIONS_H
#define SHELL_OPTIONS_H

/* The command line. */

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/timeline.h"
#include "core/session.h"
#include "shell/log.h"
#include "shell/words.h"

enum {
	OPTIONS_RUN = -1,       /* there is a command to run */
	OPTIONS_MAX = 64,       /* rows of the table */
	STATUS_ERROR = 123,     /* --fail-on-error */
	STATUS_TIMED_OUT = 124, /* --fail-on-timeout */
	STATUS_FAILED = 125,    /* canceld itself */

	OPTIONS_PATH = 4096, /* bytes of a file's name with its NUL */
};

struct options {
	struct policy policy;
	struct session_config session; /* without what does not follow from an option alone: see loop.c */
	bool drain;
	msec_t drain_for;              /* MSEC_NEVER: as long as the deadlines allow */
	msec_t term_after, kill_after; /* MSEC_NEVER: the built-in times */
	bool sweep_group;              /* the sweep spares processes that have left the server's process group */
	size_t restarts;               /* 0: the server is not started again */
	msec_t restarts_within;        /* MSEC_NEVER: no window, `restarts` counts them all */
	bool fail_on_timeout, fail_on_error, no_control;
	char control[OPTIONS_PATH]; /* the name of the control socket; "": a fresh one in the usual place */
	struct log_config log;
	char log_path[OPTIONS_PATH];
	char config[OPTIONS_PATH]; /* the file of --config; "": the default one */
	bool given[OPTIONS_MAX];   /* which rows of the table the command line has */
	char name[NAME_SIZE];      /* of the server, for the log */
	char **command;            /* within argv, ended by NULL; never empty */
	char fault[4096];          /* what is wrong with the options, for the client; printable UTF-8, or "" */
};

/* What the long name of an option is as a key of the configuration file, and when a change of its value counts. */
enum options_key {
	KEY_START,   /* when canceld starts */
	KEY_RULES,   /* for requests that arrive later: the value may be an object of rules */
	KEY_LEVEL,   /* at once */
	KEY_UNKNOWN, /* it is no key */
};

struct setting;

/* THE TABLE of the options, ended by a row of zeros: getopt's, the help, completions, messages about wrong values. */
struct options_row {
	int letter, argument;                              /* 0: the option has only a name; as in struct option */
	const char *name;                                  /* NULL: a letter only */
	const char *(*set)(const struct setting *setting); /* NULL: help, the version, and what is ignored */
	size_t at;                                         /* what it sets, in struct options; 0: see there */
	const char *wanted;                                /* which values are right; or NULL */
	const char *shown, *help;                          /* the argument, or NULL, and the explanation in the help */
	const char *brief;                                 /* the line of -h; NULL: only --help has the option */
	const char *heading;                               /* what the help says before it; or NULL */
	enum options_key key;
};

extern const struct options_row options_rows[];

/*
 * Parses the command line. Returns OPTIONS_RUN, or the status to exit with: 0 after -h, --help and --version (written to
 * stdout), STATUS_FAILED after options_refuse. Call options_free in any case; command points into argv. options must not
 * move in memory.
 */
int options_parse(struct options *options, int argc, char *argv[]) __attribute__((warn_unused_result));
void options_free(struct options *options);

/*
 * Writes one line to stderr that tells what is wrong, and keeps it as the fault; the log then has failures only, on
 * stderr. Returns STATUS_FAILED.
 */
int options_refuse(struct options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The values without any option. options_parse calls it. */
void options_init(struct options *options);

/* The key of this name; KEY_UNKNOWN: there is none. */
enum options_key options_key(const char *key);

/*
 * Checks what the options and the file say together, and carries out what one says about another: a dry run has no
 * restarts. Returns OPTIONS_RUN, or STATUS_FAILED after options_refuse. Call it once, after the file was read.
 */
int options_settle(struct options *options) __attribute__((warn_unused_result));

/* Whether the command line says what the key says: then the file's value does not count. Rules add up. */
bool options_given(const struct options *options, const char *key);

/*
 * Sets what the option of this name sets; value as on the command line, or NULL: none. source: of a rule. The key must
 * be known. false: options is unchanged but for text, and fault gets what is wrong, for a person.
 */
bool options_set(struct options *options, const char *key, enum policy_source source, const char *value,
    struct buf *fault);

/* Appends the text of -h (brief) or --help. */
void options_help(struct buf *text, bool brief);

#endif
