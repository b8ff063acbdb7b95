#ifndef SHELL_PROC_H
#define SHELL_PROC_H

/* What proc(5) tells. Nothing, where there is none. */

#include <stdbool.h>
#include <stddef.h>

/* Mounted, and for our pid namespace: in another one's the numbers are those of others. */
bool proc_is_own(void);

/* As much of the file as there is room for, with a NUL behind it; empty and false if it cannot be read. */
bool proc_read(const char *path, char *to, size_t room);

#endif
