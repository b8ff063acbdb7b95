#ifndef SHELL_PROC_H
#define SHELL_PROC_H

/* Reads proc(5). */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* true if /proc is mounted and is that of this pid namespace: otherwise its numbers name other processes. */
bool proc_is_own(void);

/* Reads as much of the file as there is room for, with a NUL at the end; empty and false if it cannot be read. */
bool proc_read(const char *path, char *to, size_t room);

/* The parent's pid; 0: there is none, or it cannot be found out. */
pid_t proc_parent(pid_t pid);

#endif
