/* stress: the client's side of a session with much traffic. */
#pragma once

#include <check.h>

#include "harness.h"
#include "load.h"

enum { MEGABYTE = 1000000 };

/* The traffic between a client and the mirror (see load.h). */
struct plan {
	const char *options; /* for canceld */
	const char *kind;    /* of mirror */
	long requests;
	long window;          /* the most of them unanswered */
	long request, answer; /* bytes of padding */
};

/* A session with a mirror; canceld's memory is sampled every 10 ms. */
struct traffic {
	struct plan plan;
	struct run *run;
	struct board *board;
	char path[300];
	struct end end;     /* the client's */
	bool client_pauses; /* the client reads nothing */
	long idle;          /* canceld's bytes in memory at the start */
	long peak;          /* the most since then */
	long outstanding;   /* the most requests without an answer */
	long looked;        /* when the memory was last sampled */
	long moved;         /* when either end last read or wrote a byte */
	long long sum;      /* the bytes of both ends up to then */
};

struct traffic *traffic_start(const struct plan *plan);

/*
 * Goes on until neither end moves a byte any more; returns the bytes moved by the client's end so
 * far.
 */
long long traffic_until_stuck(struct traffic *traffic);

/* Goes on until so many answers have come; the test fails if nothing moves before that. */
void traffic_until(struct traffic *traffic, long answers);

/* Expects that all answers have come, and the end of the session; frees. */
void traffic_end(struct traffic *traffic);
