/*
 * process: what /proc tells about other processes. Nothing here changes anything but
 * process_sweep and process_guard.
 */
#ifndef E2E_PROCESS_H
#define E2E_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The variable that marks every process of a run: it is inherited, and /proc shows it. */
#define PROCESS_MARK "E2E_MARK"

/*
 * How many live processes bear a mark that starts with this one; zombies are not live. Their
 * names and ids are written to list, for a person to read.
 */
int process_marked(const char *mark, char *list, size_t size);

/* Ends all that process_marked counts. */
void process_sweep(const char *mark);

/*
 * Runs the tests of that name with a directory of their own (E2E_DIRECTORY), which is removed behind them, as
 * are the processes that a failed one has left (of E2E_FAMILY). What run returns.
 */
int process_guard(const char *name, int (*run)(void));

/* The id of the one live process below parent whose command line has the word in it; -1 if none. */
pid_t process_child(pid_t parent, const char *word);

pid_t process_first(pid_t parent);                  /* its oldest child; -1 if there is none */
bool process_has_child(pid_t parent, pid_t beside); /* a live one, beside this one */
pid_t process_group(pid_t pid);
pid_t process_session(pid_t pid);

long process_share(pid_t pid);                             /* PSS in bytes; -1 if that cannot be known */
long process_switches(pid_t pid);                          /* how often it was switched to or from so far */
long process_resident(pid_t pid);                          /* bytes in memory now; -1 if there is no such process */
long process_peak(pid_t pid);                              /* the most bytes there ever were */
double process_seconds(pid_t pid);                         /* CPU time so far */
int process_descriptors(pid_t pid);                        /* how many are open */
bool process_stopped(pid_t pid);                           /* by SIGSTOP or the like */
bool process_sleeps(pid_t pid);                            /* waits for something */
bool process_ended(pid_t pid);                             /* gone, or a zombie */
int sockets_below(const char *directory);                  /* how many socket files there are */
bool process_has_text(const char *path, const char *text); /* the file holds these bytes */

#endif
