/*
 * harness: starts canceld with a server behind it, as a client would, and holds the client's ends.
 * Whatever waits, waits for a condition and has a limit; when the limit passes, the running Check
 * test fails and both streams are printed. No process of a run outlives run_end unnoticed.
 */
#ifndef E2E_HARNESS_H
#define E2E_HARNESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <jansson.h>

#include "text.h"

enum {
	HARNESS_LIMIT = 10000, /* milliseconds after which a condition will never come */
	ANY_STATUS = -1,       /* any but death by a signal */
};

enum wiring {
	WIRED_PIPES,
	WIRED_SOCKETS,    /* a socket pair each for stdin and stdout, as Node does */
	WIRED_ONE_SOCKET, /* one for both */
};

/* How to start; all zero is: the demo server behind canceld without options, over pipes. */
struct setup {
	const char *options; /* words for canceld */
	const char *command; /* words; the first may be "demo", "peer" (a mode of this program), or
	                        "sh:SCRIPT" takes the rest; NULL is "demo" */
	const char
	    *behind; /* words: what the command is run by, the outermost first: npx, sh, canceld, deaf (to SIGTERM) */
	const char *before; /* the same for canceld; run->pid is then the outermost's */
	const char *mark;   /* NULL: a fresh one */
	const char *in;     /* a path to open as stdin, out as stdout, instead of the wiring */
	const char *out;
	enum wiring wiring;
	bool own_group;   /* start it in a process group of its own */
	bool as_init;     /* ... in a pid namespace of its own, as its first process; run->pid is who waits for it */
	bool bare;        /* run the command without canceld */
	bool keep;        /* keep copies of canceld's own ends in kept[] */
	bool ignore_pipe; /* start it with SIGPIPE ignored */
	bool stuffed;     /* its stderr takes nothing until it has ended */
	int blocked;      /* start it with this signal blocked */
	int extra;        /* start it with this descriptor open (0: none) */
};

struct run {
	pid_t pid;
	int to; /* the client's ends; -1 when closed */
	int from;
	int errors;
	int kept[2];
	struct text unsent;
	struct text out;   /* all that came on stdout and is not taken */
	struct text error; /* all that came on stderr */
	size_t taken;
	size_t piece;    /* not 0: each read and write has a random size up to this */
	json_t *message; /* the last that was taken */
	bool deaf;       /* does not read stdout */
	bool stuffed;    /* ... nor stderr, which is full */
	bool exited;
	int status; /* as waitpid gives it */
	char mark[64];
	char record[256]; /* what the demo server received */
};

struct run *run_start(const struct setup *setup);
struct run *run_options(const char *options, const char *command);

/* A run that another process started with this mark: only what is recorded and left of it. */
struct run *run_observe(const char *mark);

/* Moves bytes for at most wait milliseconds; returns early as soon as any were moved. */
void run_pump(struct run *run, int wait);

/* Not to be had here: as_init, without the right to it. The tests that need it are left out. */
bool can_be_init(void);

/* Closes the client's stdin end (after all is sent), its stdout end. */
void run_close_in(struct run *run);
void run_close_out(struct run *run);

/*
 * Fails the test unless it exits with this status within milliseconds (and a machine's slack), and reads the rest of its
 * stderr; or leaves that, as others hold it.
 */
void run_expect_exit(struct run *run, int status, long within);
void run_expect_exit_alone(struct run *run, int status, long within);
void run_expect_gone(struct run *run, long within); /* no process of the run is left */

/*
 * From now on what a run leaves becomes this process's child, and run_expect_gone sees it whether it bears the mark
 * (node overwrites it) or not.
 */
void adopt_orphans(void);

/* Closes all that is open, waits for the exit, expects that nothing is left, frees. */
void run_end(struct run *run);

/* For limits that the product promises: how much a busy machine may add. */
long slack(void);

void mark_new(char *mark, size_t size);
__attribute__((format(printf, 2, 3), noreturn)) void run_fail(struct run *run, const char *format, ...);

#endif
