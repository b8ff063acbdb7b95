#ifndef CTL_RUNNING_H
#define CTL_RUNNING_H

/* Whether a program of this user runs that would write over its own configuration file. */

#include <stdbool.h>

/*
 * name: of the program, or of the script that node runs. home: only a process counts whose HOME this is, or cannot be
 * known. Always false where there is no /proc.
 */
bool running(const char *name, const char *home);

#endif
