/*
 * A library that is loaded before those of canceld: what canceld starts, starts late, as on a busy
 * machine. A test that takes a server for started, or a message for read, when it was only sent,
 * fails.
 */
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LATE = 400 }; /* milliseconds: more than the deadlines that tests give */

int
execvp(const char *file, char *const arguments[])
{
	char name[16] = ""; /* canceld's own, or of what it has forked: cancel-guard */

	prctl(PR_GET_NAME, name);
	if (strncmp(name, "cancel", 6) == 0)
		usleep(LATE * 1000);
	return execvpe(file, arguments, environ);
}
