/*
 * process: what /proc tells about other processes. Nothing here changes anything but
 * process_sweep.
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

/* The id of the one live process below parent whose command line has the word in it; -1 if none. */
pid_t process_child(pid_t parent, const char *word);

long process_resident(pid_t pid);                          /* bytes in memory now; -1 if there is no such process */
long process_peak(pid_t pid);                              /* the most bytes there ever were */
double process_seconds(pid_t pid);                         /* CPU time so far */
int process_descriptors(pid_t pid);                        /* how many are open */
bool process_stopped(pid_t pid);                           /* by SIGSTOP or the like */
bool process_has_text(const char *path, const char *text); /* the file holds these bytes */

#endif
