#ifndef SHELL_HOME_H
#define SHELL_HOME_H

/* The user's directory. Clients strip the environment, but for HOME; some strip that too. */

#include <stdbool.h>
#include <stddef.h>

/* HOME; where it is not set or not absolute, the home of the account. NULL: neither is known. Valid until the next call. */
const char *home_directory(void);

/* The home of the account, whatever HOME is: NULL if the account is unknown. Valid until the next call. */
const char *home_of_account(void);

/* Writes the path, with the home in place of a leading "~/". false: there is no home, or it is too long for size bytes. */
bool home_expand(const char *path, char *expanded, size_t size) __attribute__((warn_unused_result));

#endif
