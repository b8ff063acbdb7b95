#ifndef CTL_METRICS_H
#define CTL_METRICS_H

/*
 * The counters of all canceld in the text format of Prometheus. The sum over those of one server's name; counters never
 * go back while this lives, because those of a canceld that has ended stay in it. What is shown is bounded: at most
 * EXPOSITION_SERVERS names of servers, EXPOSITION_PAIRS pairs of a method and a name, EXPOSITION_WORDS others; the rest is
 * counted as "other".
 */

#include <jansson.h>

#include "core/buf.h"

enum { EXPOSITION_SERVERS = 64, EXPOSITION_PAIRS = 256, EXPOSITION_WORDS = 256, EXPOSITION_VALUE_MAX = 128 };

struct exposition {
	json_t *ended;                   /* samples of canceld that have ended */
	json_t *current;                 /* the last ones of each that runs, by a key of its own */
	json_t *servers, *pairs, *words; /* the values seen */
	json_t *next;                    /* becomes current */
};

void exposition_init(struct exposition *exposition);
void exposition_free(struct exposition *exposition);

/*
 * One look: begin, then add for each canceld that is there (stats: its answer to `stats`; NULL: it did not answer, so
 * that its last one counts), then write. key: tells it from all others as long as it runs.
 */
void exposition_begin(struct exposition *exposition);
void exposition_add(struct exposition *exposition, const char *key, const json_t *stats);
void exposition_write(struct exposition *exposition, struct buf *text);

/*
 * Answers GET /metrics, one visitor after the other, on ADDRESS:PORT, [ADDRESS]:PORT or PORT (then of 127.0.0.1; 0: any
 * free port), which it tells on stderr, until a signal ends the process. Returns an exit status if it cannot.
 */
int serve_metrics(const char *where, void (*compose)(void *user, struct buf *body), void *user);

#endif
