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
 */
#ifndef E2E_PEERS_H
#define E2E_PEERS_H

#include <stddef.h>

#include "text.h"

int peer_main(int count, char **arguments);

/* What both ends of the stress tests derive from a number: no two neighbours are alike. */
void wire_id(struct text *text, long number);
void wire_request(struct text *text, long number);
void wire_answer(struct text *text, long number);

#endif
