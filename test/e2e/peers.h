/*
 * peers: servers of a kind that the demo server is not, as modes of the test program.
 *
 *   facts          answers every request with what it finds about its own process
 *   verbatim SEED  answers what wire_request says with what wire_answer says, in pieces and out
 *                  of order; exits with 9 if a request has changed on its way
 *   lockstep       reads a line, writes its answer, and reads nothing while it cannot write
 *   hungry         reads always and keeps the answers that it cannot write
 *   flood BYTES    answers the first request after so many bytes of notifications
 *   big BYTES ORDER answers each request with one result of so many bytes in writes of 4 KiB; ORDER
 *                  is first or last: where the id stands
 *   broken BYTES ORDER  the same, but not JSON at its end
 *   resting        answers the first request, then reads nothing until SIGUSR1; counts what came
 *   mute-out       closes stdout at the first request and lives on
 *   mute-in        answers the first request, closes stdin and lives on
 *   puppet [KIND]  leaves a process of that kind behind (brood.h); then answers ping, exits with 3 at exit, writes
 *                  half an answer at half, reads nothing any more at rest, answers nothing else. SIGUSR1: exits with 0;
 *                  SIGUSR2: closes stdout and lives on; SIGWINCH: closes stdin and lives on
 */
#ifndef E2E_PEERS_H
#define E2E_PEERS_H

#include <stddef.h>

#include "text.h"

int peer_main(int count, char **arguments);

/*
 * Starts a process named left-KIND, and returns when it is what its kind says: pipe, holds stdout; deaf, ignores
 * SIGTERM too; group, in a process group of its own; session, in a session of its own; daemon, forked twice; stopped,
 * in a session of its own; runaway, starts another and exits, for ever; many, hundreds of sessions. Most of them write
 * a line to stderr at SIGUSR1.
 */
void brood_start(const char *kind);

enum { WIRE_LONG_EVERY = 97 }; /* one answer in so many is longer than what is held whole */

/* What both ends of the stress tests derive from a number: no two neighbours are alike. */
void wire_id(struct text *text, long number);
void wire_request(struct text *text, long number);
void wire_answer(struct text *text, long number);

#endif
