#ifndef SHELL_NAME_H
#define SHELL_NAME_H

/* A short name for a server, derived from its command: what runs, not what runs it. */

enum { NAME_SIZE = 64 };

/* Writes the name, cut to NAME_SIZE with its NUL; never empty if the command is not. command: ended by NULL. */
void name_of_command(char *const command[], char name[NAME_SIZE]);

#endif
