/* process: what /proc tells about other processes; and that those of a test end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The variable that marks every process of a run: it is inherited, and /proc shows it. */
#define PROCESS_MARK "E2E_MARK"

/*
 * Call it before a mark is made: what is there already cannot get it, and need not be looked at.
 * Only the first call of a process does something.
 */
void process_note_others(void);

/*
 * Counts the processes with a mark that starts with this one; zombies do not count. Writes their
 * names and ids to list, for failure messages.
 */
int process_marked(const char *mark, char *list, size_t size);

/* Whether there are such processes and each of them sleeps or is stopped. */
bool process_all_sleep(const char *mark);

/* Kills all that process_marked counts, until there is none. */
void process_sweep(const char *mark);

/*
 * Runs the tests in a fresh directory (E2E_DIRECTORY, TMPDIR), with a home below it, and with a
 * mark. Afterwards, even if this process was killed, the directory is removed, and what is left of
 * the processes with the mark is killed. Returns what run returns.
 */
int process_guard(const char *name, int (*run)(void));

pid_t process_fork(void); /* the child ends with its parent */

/* The same for a child that somebody else forks. */
void process_end_with_parent(void);

/* The id of the one live process below parent whose command line has the word in it; -1 if none. */
pid_t process_child(pid_t parent, const char *word);

/* Its child of this name, as ps(1) shows it; -1 if there is none. */
pid_t process_named(pid_t parent, const char *name);

pid_t process_first(pid_t parent); /* its oldest child that lives; -1 if there is none */
/*
 * Of this canceld, which has a starter beside it where processes have names of their own; -1 if
 * there is none.
 */
pid_t process_guardian(pid_t canceld);
bool process_has_child(pid_t parent, pid_t beside); /* a live one other than this */
pid_t process_group(pid_t pid);
pid_t process_session(pid_t pid);

long process_share(pid_t pid);      /* PSS in bytes; -1 if that cannot be known */
long process_switches(pid_t pid);   /* voluntary context switches so far */
long process_filters(pid_t pid);    /* filters of system calls (seccomp(2)); -1: it is unknown */
long process_resident(pid_t pid);   /* bytes in memory now; -1 if there is no such process */
long process_peak(pid_t pid);       /* the most bytes so far */
double process_seconds(pid_t pid);  /* CPU time so far */
int process_descriptors(pid_t pid); /* how many are open */
char process_state(pid_t pid);      /* S: waits for something; T: stopped by a signal */
bool process_ended(pid_t pid);      /* gone, or a zombie */
bool process_has_text(const char *path, const char *text); /* the file holds these bytes */
