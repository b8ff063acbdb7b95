#pragma once

/* What people write, in options, files and for cancelctl, and what they are shown. */

#include <jansson.h>

#include "core/dialect.h"
#include "shell/system.h"

/* What units_read_duration accepts, for messages. */
#define UNITS_DURATION \
	"250ms, 30s, 5m, 2h or 1d, also 1m30s or 1.5s, at most 100000h; 0 or none for none"
#define UNITS_RULE \
	"[METHOD[:NAME]=]DURATION (up to 100000h; in ms, s, m, h and d, the largest first: 1m30s), " \
	"such as 30s or tools/call:NAME=5m"

/*
 * 250ms, 30s, 5m, 2h, 1d, 1m30s, 1.5s: numbers with their units, larger units first. *time in ms.
 * false: it is none.
 */
bool units_read_time(struct span text, uint64_t *time);

/*
 * The same, and 0 and none, which are MSEC_NEVER. false: it is none of these, and *duration is
 * unchanged.
 */
bool units_read_duration(const char *text, msec_t *duration);

/*
 * Digits; of bytes also with K, M or G (powers of 1024). false: something else, or not between
 * least and most.
 */
bool units_read_number(struct span text, bool bytes, size_t least, size_t most, size_t *number);

/* What a mistyped or shortened name was most likely meant to be. */
enum { NEAREST_TOLD = 256 };
struct nearest {
	/* The caller sets these two, and no other member. */
	struct span typed;
	bool option; /* the names are told with their "--" */
	/* the nearest of the names offered, borrowed; NULL: none of them is near */
	const char *name;
	size_t distance;
	/* for a message: ": it could be " and the name; empty if none is near */
	char told[NEAREST_TOLD];
};

void nearest_offer(struct nearest *nearest, const char *name);

/*
 * The user's directory: HOME; where it is not set or not absolute, as some clients strip it, the
 * home of the account. NULL: neither is known. Valid until the next call.
 */
const char *home_directory(void);

/*
 * The home of the account, whatever HOME is: NULL if the account is unknown. Valid until the next
 * call.
 */
const char *home_of_account(void);

/*
 * The directory below this home (NULL: false) in which canceld keeps something. false: the home is
 * not this user's, as that of a program that was started with sudo, or the path is too long for
 * size bytes.
 */
bool home_state(const char *home, char *path, size_t size) MUST_USE;

/*
 * Why it is no directory of this user's that nobody else may enter, for a person, with what helps;
 * home_foreign: it is somebody else's; NULL: it is one.
 */
extern const char home_foreign[];
const char *home_obstacle(const char *path);

/*
 * Creates the directory and those above it, for this user only, as far as they are missing. NULL,
 * or the first obstacle, with errno: 0 if it is one of home_obstacle. path is as before afterwards.
 */
const char *home_make_private(char *path) MUST_USE;

/*
 * Whether what there is of the path, itself or the nearest directory above it, is a symbolic link
 * that leads nowhere. status: of what the path leads to there, or of that link; zero if nothing can
 * be seen.
 */
bool home_leads_nowhere(const char *path, struct stat *status);

/*
 * Writes the path, with the home in place of a leading "~/". false: there is no home, or it is too
 * long for size bytes.
 */
bool home_expand(const char *path, char *expanded, size_t size) MUST_USE;

/*
 * Appends bytes of any kind, such as a hostile tool's name, as text that is safe for a terminal:
 * bytes that are not printable UTF-8 become \xNN. escaped: characters that get a backslash; may be
 * "".
 */
void printable_append(struct buf *text, struct span bytes, const char *escaped);

/*
 * Appends the bytes as JSON in ASCII; bytes that are not UTF-8 become U+FFFD. inside: they get into
 * a string, and do not have its quotes and backslashes yet.
 */
void printable_append_json(struct buf *text, struct span bytes, bool inside);

/* The bytes as a JSON string, which the caller owns; what is not UTF-8 becomes U+FFFD. */
json_t *printable_json(struct span bytes);

/*
 * Appends word i of a command, ended by NULL, as far as it is harmless: the program; the name of
 * the package, or the last part of the script's path, that tells the servers apart; -x, --long, and
 * --long=, of at most 32 lower-case letters, digits and hyphens. "*" stands for all else.
 */
void command_append_word(struct buf *text, char *const command[], size_t i);

/* Appends all words so, with blanks between them. */
void command_append(struct buf *line, char *const command[]);

/* What is told of ENOENT where a file is to be made. */
#define NO_SUCH_FOLDER "there is no such folder"

/*
 * Whether a whole command is written as the program, where no program has such a name; and what is
 * told of it.
 */
#define COMMAND_IS_LINE "its command has a blank: put each argument into args"
bool command_is_line(const char *program);

/*
 * Whether it is docker run, or the same of podman, maybe behind env or sudo; appends what helps
 * then.
 */
bool command_runs_container(char *const command[], struct buf *hint);

/*
 * Appends why the program could not be executed, with this errno: for a person, who may not know
 * what PATH it had.
 */
void command_explain(struct buf *text, const char *program, int error);

enum { NAME_SIZE = 64 };

/*
 * A server's name by what is shown of its command: what runs, not what runs it; "*" if nothing
 * there has a name.
 */
void name_of_command(char *const command[], char name[NAME_SIZE]);
