#ifndef CTL_PROGRAM_H
#define CTL_PROGRAM_H

/* Where canceld itself is: clients are given its absolute path, as a desktop starts them with a short PATH. */

#include <stdbool.h>

enum { PROGRAM_SIZE = 4096 };

/* Beside the program that runs now, else in PATH. false: nowhere, or its path is not UTF-8. */
bool program_canceld(char path[PROGRAM_SIZE]);

#endif
