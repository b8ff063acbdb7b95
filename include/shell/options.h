#pragma once

/* The options: THE TABLE of them, the command line, and the configuration file, canceld.conf(5). */

#include "shell/log.h"
#include "shell/words.h"

enum {
	OPTIONS_RUN = -1,       /* there is a command to run */
	OPTIONS_MAX = 64,       /* rows of the table */
	STATUS_ERROR = 123,     /* --fail-on-error */
	STATUS_TIMED_OUT = 124, /* --fail-on-timeout */
	STATUS_FAILED = 125,    /* canceld itself */

	OPTIONS_PATH = 4096,    /* bytes of a file's name with its NUL */
	OPTIONS_FAULT = 4096,   /* bytes of a fault with its NUL */
	CONFIGFILE_FAULTS = 16, /* that are kept */
};

/*
 * The configuration file: a JSON object with the long names of options as its keys, and sections
 * for servers. It says what the command line does not say; the section for the server comes before
 * the rest of the file.
 */
struct configfile {
	bool named;             /* by --config */
	bool counts;            /* it said something when it was read last */
	char server[NAME_SIZE]; /* its name, for the choice of the section */
	json_t *section;  /* owned: the key of the one that counts and says something, or NULL */
	json_t *in_force; /* owned: what the session runs with; NULL: it does not run yet */
	/*
	 * owned: what was wrong at last, for a person: strings, at most CONFIGFILE_FAULTS; or NULL
	 */
	json_t *faults;
};

struct options {
	struct policy policy;
	/*
	 * owned: the texts of rules' origins, each the name of itself; requests may outlive a rule
	 */
	json_t *origins;
	/* without what does not follow from an option alone: see loop.c */
	struct session_config session;
	bool drain;
	msec_t drain_for;              /* MSEC_NEVER: as long as the deadlines allow */
	msec_t term_after, kill_after; /* MSEC_NEVER: the built-in times */
	bool sweep_group; /* the sweep spares processes that have left the server's process group */
	size_t restarts;  /* 0: the server is not started again */
	msec_t restarts_within; /* MSEC_NEVER: no window, `restarts` counts them all */
	bool fail_on_timeout, fail_on_error, no_control, no_history, no_isolation;
	/* the name of the control socket; "": a fresh one in the usual place */
	char control[OPTIONS_PATH];
	struct log_config log; /* its file is the next, from configfile_load on */
	char log_path[OPTIONS_PATH];
	/* the file; "": none; before configfile_load only that of --config */
	char config[OPTIONS_PATH];
	struct configfile file;     /* from configfile_load on */
	bool given[OPTIONS_MAX];    /* which rows of the table the command line has */
	char name[NAME_SIZE];       /* of the server, for the log */
	char **command;             /* within argv, ended by NULL; never empty */
	char program[OPTIONS_PATH]; /* its first word, if that began with ~/ */
	char fault[OPTIONS_FAULT];  /* what is wrong with them, for a person; or "" */
};

struct setting;

enum option_trait {
	/* of the policy: the values add up; in the file it may be an object of them */
	OPTION_RULE = 1 << 0,
	OPTION_AT_ONCE = 1 << 1, /* a reload takes it; the others count at the next start */
	OPTION_TEXT = 1 << 2, /* any text: a number or a word without quotes in the file is none */

	OPTION_DEADLINE = OPTION_RULE | OPTION_AT_ONCE,
	OPTION_ANSWER = OPTION_RULE | OPTION_TEXT,
};

/*
 * A row of THE TABLE, which ends with a row of zeros: getopt's, the help (read by the completions)
 * and the keys of the file.
 */
struct options_row {
	int letter;      /* 0: none */
	unsigned traits; /* enum option_trait */
	/* false: the value is wrong; NULL: there is nothing to set */
	bool (*set)(const struct setting *setting);
	const char *name; /* NULL: none */
	size_t at;        /* what it sets, in struct options; of a rule its enum policy_kind */
	/* as the help shows it: "FILE", "text|json", "[=WHAT]" if it may be left out; NULL: none */
	const char *value;
	const char *want; /* which values are right; NULL: as the help shows */
	/* the explanation; without a letter and a name: a heading of the next rows */
	const char *help;
};

extern const struct options_row options_rows[];

#define each_option(row) \
	/* NOLINTNEXTLINE: it declares */ \
	for (const struct options_row *row = options_rows; (row)->help != NULL; (row)++)

/* The option for a key of the configuration file; NULL: it is no key. */
const struct options_row *options_key(const char *key);

/*
 * Parses the command line. Returns OPTIONS_RUN, or the status to exit with: 0 after --help and
 * --version (written to stdout), STATUS_FAILED after options_refuse. Call options_free in any case;
 * command points into argv, and its first word may be replaced. options must not move in memory.
 */
int options_parse(struct options *options, int argc, char *argv[]) MUST_USE;
void options_free(struct options *options);

/*
 * Writes one line to stderr that tells what is wrong, and keeps it as the fault, in printable
 * UTF-8; the log then has failures only, on stderr. Returns STATUS_FAILED.
 */
int options_refuse(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sets what the option sets; value as on the command line, or NULL: none. source: of a rule. false:
 * the value is wrong, and what it sets is undefined.
 */
bool options_set(struct options *options, const struct options_row *row, enum policy_source source,
    const char *value);

/* Whether the option may have this value; if not, appends why to the fault. */
bool options_check(char fault[OPTIONS_FAULT], const struct options_row *row, const char *value);

/* Appends to the fault. Always false: the caller's result. */
bool options_fault(char fault[OPTIONS_FAULT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Whether the command line says what this option says: then the file's value does not count. Rules
 * add up.
 */
bool options_given(const struct options *options, const struct options_row *row);

/*
 * Reads the file that --config names, or the one in the home if it is there, after options_parse;
 * then carries out what one option says about another: a dry run has no restarts. A key that is
 * wrong changes nothing, nor does a file that is no JSON, or not the user's; the faults tell.
 * Returns OPTIONS_RUN, or STATUS_FAILED after options_refuse if there are any in the file of
 * --config.
 */
int configfile_load(struct options *options) MUST_USE;

/* Logs CONFIG_REFUSED for each fault of the file, and RULE_DOUBTED. */
void configfile_report(struct options *options, struct log *log);

/*
 * Reads the file again and logs CONFIG_RELOADED: new rules count for requests that arrive from now
 * on, a new level of the log counts at once. Returns an object, which the caller owns: of the keys
 * whose values differ from those in force "changed" and "at_next_start", of the faults "refused",
 * of the sections those that do not fit, "unfit", and the one that counts, "section", and the
 * path, "file". NULL: the whole file is refused, as its only fault tells.
 */
json_t *configfile_reload(struct options *options, struct log *log);
