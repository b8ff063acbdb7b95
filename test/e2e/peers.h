/*
 * peers: servers with a special behaviour, as modes of the test program.
 *
 *   facts          answers every request with its own descriptors and signal sets
 *   inherited      answers with what it was born with: facts; exits with 7 at crash, and reads
 *                  nothing after stuck
 *   unbound        answers ping; does not end with its guardian
 *   puppet [KIND]  starts a descendant of that kind; then answers ping, exits with 3 at exit,
 *   writes
 *                  half an answer at half, reads nothing after stop-reading, answers nothing else.
 *                  SIGUSR1: exits with 0; SIGUSR2: closes stdout; SIGWINCH: closes stdin
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

int peer_main(int count, char **arguments);

/* A JSON object of texts, to be freed: all that the process has inherited. */
char *inherited_facts(void);

enum {
	DESCENDANTS = 300, /* of the kind many */
	LINKS = 6          /* of the kind chain */
};

/*
 * Starts a process named left-KIND, and returns when it is what its kind says: pipe, holds stdout;
 * noterm, ignores SIGTERM too; group, in a process group of its own; session, in a session of its
 * own; daemon, forked twice; stopped, in a session of its own; runaway, forks and exits again and
 * again; many, hundreds of sessions; chain, some sessions, each of which is the parent of the next
 * and ignores SIGTERM. Most of them write a line to stderr at SIGUSR1.
 */
void descendant_start(const char *kind);

/*
 * Runs every cell of the matrix so many times, without npx unless asked for; prints the table of
 * passes; 0: none failed.
 */
int matrix(int rounds, bool with_npx);
