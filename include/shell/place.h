#pragma once

/* Where the control sockets are. */

#include "shell/system.h"

/*
 * Where control sockets are: PID-RANDOM.sock in a directory that only its user may enter. Clients
 * strip the environment, so a place depends on HOME at most. A socket is dead if connect(2) is
 * refused; a pid tells nothing.
 */
enum {
	PLACES = 3,
	/* of a socket with its NUL; a longer one fits into no sockaddr_un everywhere */
	PLACE_PATH = 104,
	PLACE_DIRECTORY = 4096,
};

/*
 * The directory number i, below PLACES, in the order in which canceld tries them:
 * /run/user/UID/canceld, $HOME/.local/state/canceld, and the same in the home of the account. It
 * need not exist. false: there is none.
 */
bool place_directory(int i, char path[PLACE_DIRECTORY]);

/*
 * Removes a socket without a listener. true: there is none of this name now; otherwise errno tells
 * why. Never blocks; makes only system calls.
 */
bool place_remove_dead(const char *path);

/* Removes the dead sockets in a directory. */
void place_sweep(const char *directory);

/*
 * Listens on a new socket, mode 0600, under `given`, or, if that is "", under a fresh name in the
 * first directory where that is possible, which it creates. Returns the descriptor, with
 * O_NONBLOCK, and the path; the caller closes the one and unlinks the other. A dead socket is
 * replaced, anything else stays. -1 with errno (EADDRINUSE: somebody listens there; 0: see
 * home_obstacle of *at), and *at: where it failed, for a person; a static string or `given`.
 */
int place_listen(const char *given, char path[PLACE_PATH], const char **at) MUST_USE;
