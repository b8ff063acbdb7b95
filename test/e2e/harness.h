/*
 * harness: starts canceld with a server behind it, as a client would, and owns the client's ends.
 *
 * Every wait is for a condition and has a generous limit, so that a busy machine fails no test;
 * how long canceld may take is checked in times.c only. When a limit passes, the running Check test
 * fails and both streams are printed. run_end fails if a process of the run is left.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <jansson.h>

#include "text.h"

enum {
	HARNESS_LIMIT = 30000, /* milliseconds to wait for a condition */
	TEST_LIMIT = 40,       /* seconds for one test, for Check (times CK_TIMEOUT_MULTIPLIER) */
	ANY_STATUS = -1,       /* any exit status, but not death by a signal */
};

enum wiring {
	WIRED_PIPES,
	WIRED_SOCKETS,    /* a socket pair each for stdin and stdout, as Node does */
	WIRED_ONE_SOCKET, /* one for both */
};

/* How to start. All zero: the demo server behind canceld without options, over pipes. */
struct setup {
	const char *options; /* words for canceld */
	/*
	 * Words; the first may be "demo" or "peer" (a mode of this program, see peers.h), or it is
	 * "sh:SCRIPT". NULL: demo.
	 */
	const char *command;
	/*
	 * Words, the outermost first: wrappers of the command: npx, sh, canceld, noterm (ignores
	 * SIGTERM).
	 */
	const char *behind;
	const char *before; /* the same for canceld; run->pid is then the outermost wrapper's */
	/* shell commands in the process that becomes canceld, such as "ulimit -n 9" */
	const char *shell;
	void (*prepare)(void); /* called in that process, last, or before the shell; or NULL */
	const char *mark;      /* NULL: a fresh one */
	const char *in;        /* a path to open as stdin instead of the wiring */
	const char *out;       /* the same for stdout */
	enum wiring wiring;
	bool own_group; /* start it in a process group of its own */
	bool as_init;   /* start it as process 1 of a pid namespace; run->pid is then its parent */
	bool bare;      /* run the command without canceld */
	bool keep;      /* keep copies of canceld's own ends in kept[] */
	/* a pattern of paths that cannot be opened, looked at or read: see hide.h */
	const char *hides;
	int hides_as; /* ... with this error; 0: ENOENT */
	int blocked;  /* start it with this signal blocked */
};

struct run {
	pid_t pid;
	int to; /* the client's ends; -1 when closed */
	int from;
	int errors;
	int kept[2];
	struct hiding *hiding; /* NULL: it hides nothing */
	struct text unsent;
	struct text out;   /* what came on stdout; before `taken` it is consumed */
	struct text error; /* all that came on stderr */
	size_t taken;
	size_t piece;       /* not 0: each read and write has a random size up to this */
	json_t *message;    /* the last one taken */
	bool stdout_unread; /* run_pump does not read stdout */
	bool stderr_unread; /* run_pump does not read stderr until it has exited */
	bool exited;
	int status; /* as waitpid gives it */
	char mark[64];
	char record[256]; /* what the demo server received */
};

struct run *run_start(const struct setup *setup);
struct run *run_options(const char *options, const char *command);

/*
 * A run that another process started with this mark: to look at its record and its processes only.
 */
struct run *run_observe(const char *mark);

/*
 * Goes on until the condition holds; fails the test with this message if HARNESS_LIMIT passes
 * first.
 */
#define run_until(run, condition, ...) \
	for (long limit_ = milliseconds() + HARNESS_LIMIT; !(condition); run_pump(run, 5)) \
		if (milliseconds() > limit_) \
	run_fail(run, __VA_ARGS__)

/* Moves bytes for at most wait milliseconds; returns early as soon as any were moved. */
void run_pump(struct run *run, int wait);

/* Whether as_init is permitted here; tests that need it are skipped otherwise. */
bool can_be_init(void);

/* Closes the client's stdin end (after all is sent), its stdout end. */
void run_close_in(struct run *run);
void run_close_out(struct run *run);

/* Fails the test unless canceld exits with this status; then reads stderr to its end. */
void run_expect_exit(struct run *run, int status);

/* The same without the rest of stderr, which another process may hold open. */
void run_expect_exit_alone(struct run *run, int status);

/* Stops canceld, until SIGCONT, or the end of this test's process, however it ends. */
void run_stop(const struct run *run);
/* Waits until no process of the run is left. */
void run_expect_gone(struct run *run);

/*
 * Makes this process the parent of all orphans of later runs: it reaps them, and run_expect_gone
 * also sees those without a mark (node overwrites its environment).
 */
void adopt_orphans(void);

/* Closes the client's ends, waits for the exit, expects that no process is left, frees. */
void run_end(struct run *run);

/* run_expect_exit, then run_end. */
void run_finish(struct run *run, int status);

void mark_new(char *mark, size_t size);

/* A path for a file of this test; it lives until the fourth call after it. */
const char *path_of(const char *name);
void file_write(const char *path, const char *text, mode_t mode);

size_t count_of(const char *text, const char *wanted); /* how often it is in there */
int open_terminal(bool raw);                           /* its master */
__attribute__((format(printf, 2, 3), noreturn)) void run_fail(struct run *run, const char *format,
    ...);
