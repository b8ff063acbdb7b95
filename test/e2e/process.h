/* process: what /proc tells about other processes. Only process_sweep and process_guard change anything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The variable that marks every process of a run: it is inherited, and /proc shows it. */
#define PROCESS_MARK "E2E_MARK"

/*
 * Counts the processes with a mark that starts with this one; zombies do not count. Writes their
 * names and ids to list, for failure messages.
 */
int process_marked(const char *mark, char *list, size_t size);

/* Whether there are such processes and each of them sleeps or is stopped. */
bool process_all_sleep(const char *mark);

/* Kills all that process_marked counts. */
void process_sweep(const char *mark);

/*
 * Runs the tests in a fresh directory (E2E_DIRECTORY, TMPDIR), with a home below it; removes it afterwards and kills what failed
 * tests have left (processes with a mark that starts with E2E_FAMILY). Returns what run returns.
 */
int process_guard(const char *name, int (*run)(void));

/* The id of the one live process below parent whose command line has the word in it; -1 if none. */
pid_t process_child(pid_t parent, const char *word);

pid_t process_first(pid_t parent);                  /* its oldest child; -1 if there is none */
bool process_has_child(pid_t parent, pid_t beside); /* a live one other than this */
pid_t process_group(pid_t pid);
pid_t process_session(pid_t pid);

long process_share(pid_t pid);                             /* PSS in bytes; -1 if that cannot be known */
long process_switches(pid_t pid);                          /* voluntary context switches so far */
long process_resident(pid_t pid);                          /* bytes in memory now; -1 if there is no such process */
long process_peak(pid_t pid);                              /* the most bytes so far */
double process_seconds(pid_t pid);                         /* CPU time so far */
int process_descriptors(pid_t pid);                        /* how many are open */
char process_state(pid_t pid);                             /* S: waits for something; T: stopped by a signal */
bool process_ended(pid_t pid);                             /* gone, or a zombie */
bool process_has_text(const char *path, const char *text); /* the file holds these bytes */
