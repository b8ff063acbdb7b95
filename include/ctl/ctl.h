#pragma once

/*
 * What all commands of cancelctl share: exit statuses, and errors on stderr. What a command makes
 * once is not freed: it ends with the process.
 */

#include <stdbool.h>
#include <stddef.h>

enum {
	CTL_YES = 0,      /* done; the answer is yes */
	CTL_NO = 1,       /* not found, not done, or the answer is no */
	CTL_USAGE = 2,    /* the command line is wrong */
	CTL_FAILED = 125, /* cancelctl itself failed */
};

/*
 * The loop over what an owner has in `list`, `count` of them. item: a pointer to each, which it
 * declares. The body must not remove any.
 */
#define each_listed(item, owner) \
	/* NOLINTNEXTLINE: it declares */ \
	for (__typeof__(*(owner)->list) *item = (owner)->list; \
	     (item) != NULL && (item) < (owner)->list + (owner)->count; (item)++)

/* Writes one line, "cancelctl: ", to stderr, and returns the status. */
int ctl_tell(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ctl_no(...) ctl_tell(CTL_NO, __VA_ARGS__)
#define ctl_usage(...) ctl_tell(CTL_USAGE, __VA_ARGS__)
#define ctl_failed(...) ctl_tell(CTL_FAILED, __VA_ARGS__)

/* "unknown KIND 'X': it could be Y; WHERE": CTL_USAGE. X is what was typed. */
struct nearest;
int ctl_unknown(const char *kind, const struct nearest *nearest, const char *where);

/* An option of a command; -h and --help are added. */
struct ctl_option {
	const char *name; /* that of one with a value has a = before it */
	char letter;      /* 0: none */
	void *set; /* a bool, which becomes true; or a const char *, which becomes the value */
};

#define CTL_OPTIONS(...) ((const struct ctl_option[]){ __VA_ARGS__, { 0 } })

/*
 * Reads the options, which end with a name NULL, up to argv[optind]. -1, or the status to exit
 * with: CTL_YES if the usage was asked for and shown. stops: at the first word that is no option;
 * else the words come to stand behind all options.
 */
int ctl_options(int argc, char *argv[], const struct ctl_option *options, bool stops,
    const char *usage);

/*
 * The same, and exits where that returns a status. most: how many words may be there that are no
 * option; CTL_STOPS: any number, and the first one ends the options.
 */
enum { CTL_STOPS = -1 };
void ctl_line(int argc, char *argv[], const struct ctl_option *options, int most,
    const char *usage);

/*
 * Cuts argv at the first --. Returns how many words stand before it; *behind: what stands behind
 * it; NULL ends both.
 */
int ctl_cut(int argc, char *argv[], char ***behind);

/*
 * Appends to a list of words, which NULL ends, as it does words; both may be NULL. The list is the
 * caller's, not the words.
 */
void ctl_add_words(char ***list, char *const *words);

/*
 * The status to exit with: CTL_FAILED, which is told, if what was shown could not be written. A
 * reader that wants no more, such as head(1), is no fault. It is no less than ctl_least, for what
 * is told while the command goes on.
 */
extern int ctl_least;
int ctl_end(int status);

/*
 * Whether canceld of this user use the folder. If it is there, why not is told as by ctl_unread.
 */
bool ctl_folder(const char *directory);

/*
 * Tells once of each folder why canceld does not use it, or it cannot be read. That makes the
 * status CTL_FAILED, unless the folder is another user's (home_foreign): then canceld of this user
 * use the next one, if there is one.
 */
void ctl_unread(const char *directory, const char *why);

/*
 * canceld itself: beside the program that runs now, else in PATH. If it is nowhere, or its path is
 * not UTF-8, that is told, and the program ends.
 */
enum { PROGRAM_SIZE = 4096 };
extern const char *program_name; /* argv[0] */
void program_canceld(char path[PROGRAM_SIZE]);

/*
 * Parses the words, which NULL ends, as canceld does. count: the options with their values; a --
 * may follow, and the command. false: they are wrong, as canceld tells, or only ask for help. Call
 * options_free if it is true, unless the command does this once; parsed->command is invalid.
 */
struct options;
bool program_options(struct options *parsed, char *const *words, size_t *count);

/*
 * Makes it the path to be written down, as links do not change with versions: an absolute one in
 * PATH to the same file, else what it is; then a version in it is told. CTL_YES, or what is told
 * and the status: it is in a cache.
 */
int program_lasting(char path[PROGRAM_SIZE]);
