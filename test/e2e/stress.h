/*
 * stress: what only much traffic shows. The client's side of it, for the tests of this program.
 */
#ifndef E2E_STRESS_H
#define E2E_STRESS_H

#include <check.h>

#include "harness.h"
#include "load.h"

enum { MEGABYTE = 1000000 };

/* What is asked of the mirror (see load.h) and of its client. */
struct plan {
	const char *options; /* for canceld */
	const char *kind;    /* of mirror */
	long requests;
	long window;          /* at most so many of them without an answer */
	long request, answer; /* bytes of padding */
};

/* A session with a mirror; canceld's memory is looked at every 10 ms as long as it lasts. */
struct traffic {
	struct plan plan;
	struct run *run;
	struct board *board;
	char path[300];
	struct end end;     /* the client's */
	bool client_pauses; /* the client reads nothing */
	long idle;          /* canceld's bytes in memory at the start */
	long peak;          /* the most there were since */
	long outstanding;   /* the most requests without an answer */
	long looked;        /* when the memory was last looked at */
	long moved;         /* when either end last read or wrote a byte */
	long long sum;      /* the bytes of both ends up to then */
};

struct traffic *traffic_start(const struct plan *plan);

/* Goes on until neither end has moved a byte for a while; the bytes of the client's so far. */
long long traffic_until_stuck(struct traffic *traffic);

/* Goes on until so many answers have come; the test fails if nothing moves before that. */
void traffic_until(struct traffic *traffic, long answers);

/* Expects that all answers have come, and the end of the session; frees. */
void traffic_end(struct traffic *traffic);

/* A line for a person, written at once: Check ends its children by _exit. */
__attribute__((format(printf, 1, 2))) void stress_report(const char *format, ...);

/* A server: verbatim SEED. Answers what wire_request says with what wire_answer says, in pieces
   and out of order; exits with 9 if a request has changed on its way. */
int verbatim_serve(int count, char **arguments);

Suite *suite_verbatim(void);
Suite *suite_order(void);
Suite *suite_memory(void);
Suite *suite_endings(void);
Suite *suite_cost(void);

#endif
