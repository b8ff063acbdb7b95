#pragma once

/* What both programs ask the system: the time, proc(5), and where the control sockets are. */

#include <sys/types.h>
#include <time.h>

#include "core/timeline.h"

/* Milliseconds since some time before the program started; never goes back (CLOCK_MONOTONIC). */
static inline msec_t
monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (msec_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* true if /proc is mounted and is that of this pid namespace: otherwise its numbers name other processes. */
bool proc_is_own(void);

/* Reads as much of the process's file in /proc as there is room for, with a NUL at the end; "" if it cannot be read. */
void proc_read(pid_t pid, const char *file, char *to, size_t room);

/* The name of the process, as ps(1) shows it; "" if it is unknown. */
enum { PROC_NAME = 20 }; /* room for the longest name that Linux keeps, 15 bytes, a newline and a NUL */
void proc_name(pid_t pid, char name[PROC_NAME]);

/*
 * The client's process is the nearest ancestor whose descriptor 0 is not the pipe or socket that is ours, as shells and
 * launchers hand theirs on; one whose descriptors cannot be read counts as the client. Returns a descriptor that is
 * readable once it has ended, and its pid. -1: it is not known, as our input is neither pipe nor socket, or the client
 * would be init. PR_SET_PDEATHSIG would report only the end of the thread that started this process.
 */
int proc_watch_client(int input, pid_t *process);

/*
 * Where control sockets are: PID-RANDOM.sock in a directory that only its user may enter. Clients strip the
 * environment, so a place depends on HOME at most. A socket is dead if connect(2) is refused; a pid tells nothing.
 */
enum {
	PLACES = 3,
	PLACE_PATH = 104, /* of a socket with its NUL; a longer one fits into no sockaddr_un everywhere */
	PLACE_DIRECTORY = 4096,
};

/*
 * The directory number i, below PLACES, in the order in which canceld tries them: /run/user/UID/canceld,
 * $HOME/.local/state/canceld, and the same in the home of the account. It need not exist. false: there is none.
 */
bool place_directory(int i, char path[PLACE_DIRECTORY]);

/* Whether it is a directory of this user's that nobody else may enter. */
bool place_is_private(const char *path);

/* Removes a socket without a listener. true: there is none of this name now. Never blocks; makes only system calls. */
bool place_remove_dead(const char *path);

/* Removes the dead sockets in a directory. */
void place_sweep(const char *directory);

/*
 * Listens on a new socket, mode 0600, under `given`, or, if that is "", under a fresh name in the first directory where
 * that is possible, which it creates. Returns the descriptor, with O_NONBLOCK, and the path; the caller closes the one
 * and unlinks the other. A dead socket is replaced, anything else stays. -1 with errno (EADDRINUSE: somebody listens
 * there), and *at: where it failed, for a person; a static string or `given`.
 */
int place_listen(const char *given, char path[PLACE_PATH], const char **at) __attribute__((warn_unused_result));
